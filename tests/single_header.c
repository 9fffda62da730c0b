/* Compares the single header's clients with the library: the catalogue, names, formats, and bits of every operation.
   Reads names of GPUs from standard input, one a line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "single_header_client.h"
#include "softmma/rows.h"
#include "softmma/softmma.h"
#include "softmma/sparse.h"
extern const client client_in_cpp;

enum { ROWS = 48, MOST_K = 256, MOST_OPERATIONS = 1024, ALIASES_EVERY = 9 };

static size_t failures, compared;

#define EXPECT(condition, ...)                                           \
  do {                                                                   \
    compared++;                                                          \
    if (!(condition)) {                                                  \
      if (failures++ < 20) printf("FAILED  " __VA_ARGS__), printf("\n"); \
    }                                                                    \
  } while (0)

/* ---- The catalogue ---- */

static void describe(const smma_instruction *instruction, described *x) {
  smma_instruction_info i;
  smma_describe(instruction, &i, sizeof i);
  memset(x, 0, sizeof *x);
  snprintf(x->arch, sizeof x->arch, "%s", i.arch);
  snprintf(x->rule, sizeof x->rule, "%s", i.rule);
  snprintf(x->name, sizeof x->name, "%s", i.name);
  x->m = i.m, x->n = i.n, x->k = i.k;
  x->a = (int)i.a, x->b = (int)i.b, x->c = (int)i.c, x->d = (int)i.d, x->scale = (int)i.scale;
  x->scale_block = i.scale_block, x->sparse_group = smma_sparse_group(instruction);
}

static bool same_description(const described *x, const described *y) {
  return strcmp(x->arch, y->arch) == 0 && strcmp(x->rule, y->rule) == 0 && strcmp(x->name, y->name) == 0 &&
         memcmp(&x->m, &y->m, sizeof *x - offsetof(described, m)) == 0;
}

static void check_catalogue(const client *c) {
  const size_t count = smma_instruction_count();
  described x, y;
  for (size_t i = 0; i < count; i++) {
    describe(smma_instruction_at(i), &x);
    EXPECT(c->at(i, &y) && same_description(&x, &y), "%s: instruction %zu is not %s %s", c->language, i, x.arch,
           x.name);
  }
  EXPECT(!c->at(count, &y), "%s: there is an instruction %zu", c->language, count);
}

/* The indices of the first instruction of every function of the catalogue, and their number. */
static size_t operations[MOST_OPERATIONS], operation_count;

static bool same_operation(const described *x, const described *y) {
  return strcmp(x->rule, y->rule) == 0 && x->k == y->k && x->a == y->a && x->b == y->b && x->c == y->c &&
         x->d == y->d && x->scale == y->scale && x->scale_block == y->scale_block;
}

static void list_operations(void) {
  static described listed[MOST_OPERATIONS];
  for (size_t i = 0; i < smma_instruction_count(); i++) {
    size_t o = 0;
    describe(smma_instruction_at(i), &listed[operation_count]);
    while (o < operation_count && !same_operation(&listed[o], &listed[operation_count])) o++;
    if (o < operation_count || operation_count == MOST_OPERATIONS - 1) continue;
    operations[operation_count++] = i;
  }
}

/* ---- Names ---- */

static void check_name(const client *c, const char *gpu, const char *name) {
  smma_error error;
  const smma_instruction *expected = smma_find(gpu, name, &error);
  described x, y;
  const int status = c->find(gpu, name, &y);
  if (expected) {
    describe(expected, &x);
    EXPECT(status == CLIENT_FOUND && same_description(&x, &y), "%s: %s %s is not %s %s", c->language, gpu, name, x.arch,
           x.name);
  } else {
    const char *why = error.text;
    const int wanted = strncmp(why, "unknown GPU", 11) == 0 || strncmp(why, "no model of ", 12) == 0
                           ? (strncmp(why, "no model of '", 13) == 0 ? CLIENT_UNKNOWN_NAME : CLIENT_UNKNOWN_GPU)
                       : error.status == SMMA_AMBIGUOUS ? CLIENT_AMBIGUOUS
                                                        : CLIENT_UNKNOWN_NAME;
    EXPECT(status == wanted, "%s: the status of %s %s is %d, not %d: %s", c->language, gpu, name, status, wanted, why);
  }
}

static void check_aliases(const client *c) {
  static const char *const others[][2] = {{"H100", "HMMA.16816"},
                                          {"h100", " MMA.M16N8K16.F32.F16.F16.F32"},
                                          {"B200", "UTCHMMA"},
                                          {"H100", "nothing"},
                                          {"Z999", "HMMA.16816"},
                                          {"MI350X", "v_mfma_f32_32x32x8_f16"},
                                          {"RDNA 4", "swmmac_f32"},
                                          {"x86", "top4"},
                                          {"", ""},
                                          {"volta", "hmma.884.f32.f32"}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) check_name(c, others[i][0], others[i][1]);
  for (size_t o = 0; o < operation_count; o++) {
    const smma_instruction *i = smma_instruction_at(operations[o]);
    described x;
    char alias[256];
    describe(i, &x);
    check_name(c, x.arch, x.name);
    for (size_t a = 0; o % ALIASES_EVERY == 0 && smma_instruction_alias(i, a, alias, sizeof alias); a++)
      check_name(c, x.arch, alias);
  }
}

/* Checks the client's architecture of a GPU: the library must find its first instruction by the GPU's name. */
static void check_gpu(const client *c, const char *gpu) {
  const char *arch = c->arch_of(gpu);
  smma_error error;
  described x;
  for (size_t i = 0; arch && i < smma_instruction_count(); i++) {
    describe(smma_instruction_at(i), &x);
    if (strcmp(x.arch, arch) != 0) continue;
    EXPECT(smma_find(gpu, x.name, NULL) == smma_instruction_at(i), "%s: %s is not of %s", c->language, gpu, arch);
    return;
  }
  EXPECT(!smma_find(gpu, "?", &error) && (strstr(error.text, "no model of") || strstr(error.text, "unknown GPU")),
         "%s: there is no GPU %s", c->language, gpu);
}

/* ---- Bits ---- */

typedef struct {
  uint64_t a[ROWS * MOST_K], b[ROWS * MOST_K], c[ROWS], scale_a[ROWS * MOST_K], scale_b[ROWS * MOST_K], d[ROWS];
} arrays;

static uint64_t load(const void *array, size_t bytes, size_t index) {
  uint64_t element = 0;
  memcpy(&element, (const char *)array + index * bytes, bytes); /* this machine is little-endian */
  return element;
}

static void widen(const void *array, smma_format format, size_t first, size_t count, uint64_t *out) {
  const size_t bytes = smma_format_bytes(format);
  for (size_t i = 0; i < count; i++) out[i] = load(array, bytes, first + i);
}

static void check_operation(const client *const clients[2], size_t index) {
  static arrays x;
  const smma_instruction *instruction = smma_instruction_at(index);
  uint64_t a[MOST_K], b[MOST_K], scale_a[MOST_K], scale_b[MOST_K];
  smma_instruction_info i;
  smma_row_request rows = {sizeof rows, NULL, 1, 0, ROWS, x.a, x.b, x.c, x.scale_a, x.scale_b};
  smma_batch batch = {sizeof batch, ROWS, x.a, x.b, x.c, x.scale_a, x.scale_b, x.d};
  size_t k, scales;
  smma_describe(instruction, &i, sizeof i);
  k = (size_t)i.k, scales = i.scale_block ? k / (size_t)i.scale_block : 0;
  if (!scales) rows.scale_a = rows.scale_b = NULL, batch.scale_a = batch.scale_b = NULL;
  EXPECT(smma_make_rows(instruction, &rows) == SMMA_OK && smma_dot_rows(instruction, &batch, 1) == SMMA_OK,
         "%s %s: no rows", i.arch, i.name);
  for (size_t row = 0; row < ROWS; row++) {
    const uint64_t c = load(x.c, smma_format_bytes(i.c), row), d = load(x.d, smma_format_bytes(i.d), row);
    widen(x.a, i.a, row * k, k, a), widen(x.b, i.b, row * k, k, b);
    if (scales)
      widen(x.scale_a, i.scale, row * scales, scales, scale_a),
          widen(x.scale_b, i.scale, row * scales, scales, scale_b);
    for (int l = 0; l < 2; l++) {
      const uint64_t got = clients[l]->dot(index, a, b, c, scales ? scale_a : NULL, scales ? scale_b : NULL);
      EXPECT(got == d, "%s: %s %s, row %zu of seed 1: %llx, not %llx", clients[l]->language, i.arch, i.name, row,
             (unsigned long long)got, (unsigned long long)d);
      EXPECT(clients[l]->same(index, d, d ^ 1) == !!smma_is_same_result(instruction, d, d ^ 1),
             "%s: %s %s: whether %llx is as %llx", clients[l]->language, i.arch, i.name, (unsigned long long)d,
             (unsigned long long)(d ^ 1));
    }
  }
}

/* ---- Formats ---- */

static bool same_number(double x, double y) { return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y)); }

static void check_formats(const client *c) {
  uint64_t state = 1;
  for (int f = 0; f <= (int)SMMA_B1; f++) {
    const smma_format format = (smma_format)f;
    EXPECT(strcmp(c->format_name(f), smma_format_name(format)) == 0 && c->format_bits(f) == smma_format_bits(format),
           "%s: format %d is not %s", c->language, f, smma_format_name(format));
    for (int n = 0; n < 400; n++) {
      const uint64_t encoding = random_bits(&state), other = random_bits(&state);
      const int rounding = n % 5, overflow = n % 3, to = n % ((int)SMMA_B1 + 1);
      double value;
      uint64_t from = 0, converted = 0;
      memcpy(&value, &other, sizeof value);
      if (n % 2) value = ldexp((double)(int64_t)other, n % 40 - 80);
      EXPECT(same_number(c->value(f, encoding), smma_format_decode(format, encoding)), "%s: the value of %llx in %s",
             c->language, (unsigned long long)encoding, smma_format_name(format));
      EXPECT(c->encode(f, value, rounding, overflow) ==
                 smma_format_encode(format, value, (smma_rounding)rounding, (smma_overflow)overflow),
             "%s: %a in %s", c->language, value, smma_format_name(format));
      memcpy(&from, &encoding, smma_format_bytes(format));
      smma_convert(format, &from, (smma_format)to, &converted, 1, (smma_rounding)rounding, (smma_overflow)overflow,
                   NULL);
      EXPECT(c->convert(f, from, to, rounding, overflow) == converted, "%s: %llx in %s as %s", c->language,
             (unsigned long long)from, smma_format_name(format), smma_format_name((smma_format)to));
    }
  }
}

int main(void) {
  const client *const clients[2] = {&client_in_c, &client_in_cpp};
  char gpu[256];
  size_t gpus = 0;
  list_operations();
  for (int l = 0; l < 2; l++) {
    EXPECT(strcmp(clients[l]->version, smma_version()) == 0, "the version is %s", clients[l]->version);
    check_catalogue(clients[l]);
    check_formats(clients[l]);
  }
  while (fgets(gpu, sizeof gpu, stdin)) {
    gpu[strcspn(gpu, "\n")] = 0;
    check_gpu(clients[gpus++ % 2], gpu);
  }
  check_aliases(clients[0]);
  for (size_t o = 0; o < operation_count; o++) check_operation(clients, operations[o]);
  printf("%zu instructions, %zu operations, %zu names of GPUs: %zu comparisons, %zu failed\n", smma_instruction_count(),
         operation_count, gpus, compared, failures);
  return failures != 0 || gpus < 100 || operation_count < 300;
}
