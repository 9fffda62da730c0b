/* The functions of softmma_pkg.sv. Compiled with the simulator's svdpi.h, as C or as C++; of that header it uses what
   IEEE 1800-2017, annex H, has for open arrays, and nothing of one simulator.

   Errors stay in one text: simulators call functions that are not pure one at a time. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softmma/softmma.h"
#include "svdpi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { PART_A, PART_B, PART_C, PART_SCALE_A, PART_SCALE_B, PART_D, PARTS } part;

typedef struct {
  smma_instruction_info info;
  smma_format format[PARTS];
  int bits[PARTS];
  unsigned char *memory[PARTS]; /* a copy of each array, in the containers of its format */
  size_t capacity[PARTS];
} model;

/* An argument of the running function. */
typedef struct {
  const char *name;
  svOpenArrayHandle array;
  size_t count; /* elements that it must have */
} argument;

static char error[2048], command[8192];

/* 1, which is what functions return that have failed; 0 is done. */
static int fail(const char *function, const char *format, ...) {
  va_list values;
  int length = snprintf(error, sizeof error, "%s: ", function);
  va_start(values, format);
  vsnprintf(error + length, sizeof error - (size_t)length, format, values);
  va_end(values);
  return 1;
}

const char *softmma_error(void) { return error; }

/* ---- Opening ---- */

static int is_file(const char *gpu) {
  const size_t length = strlen(gpu);
  return strchr(gpu, '/') || (length > 5 && strcmp(gpu + length - 5, ".json") == 0);
}

static const smma_instruction *open_file(const char *path) {
  static char text[1 << 16];
  char message[1024];
  const smma_instruction *found;
  FILE *file = fopen(path, "rb");
  size_t size;
  if (!file) {
    fail("softmma_open", "%s: %s", path, strerror(errno));
    return NULL;
  }
  size = fread(text, 1, sizeof text, file);
  if (ferror(file) || size == sizeof text) {
    fail("softmma_open", "%s: %s", path, ferror(file) ? strerror(errno) : "too long for the description of a unit");
    fclose(file);
    return NULL;
  }
  fclose(file);
  found = smma_custom_parse(path, text, size, message, sizeof message);
  if (!found) fail("softmma_open", "%s", message);
  return found;
}

static const smma_instruction *find(const char *gpu, const char *name) {
  char message[1024];
  const smma_instruction *found = smma_find_or_explain(gpu, name, message, sizeof message);
  if (!found) fail("softmma_open", "%s", message);
  return found;
}

void softmma_close(void *unit) {
  model *m = (model *)unit;
  int p;
  if (!m) return;
  for (p = 0; p < PARTS; p++) free(m->memory[p]);
  smma_custom_free(m->info.instruction);
  free(m);
}

void *softmma_open(const char *gpu, const char *instruction) {
  const smma_instruction *found = is_file(gpu) ? open_file(gpu) : find(gpu, instruction);
  model *m;
  int p;
  if (!found) return NULL;
  m = (model *)calloc(1, sizeof *m);
  if (!m) {
    smma_custom_free(found);
    fail("softmma_open", "out of memory");
    return NULL;
  }
  smma_describe(found, &m->info, sizeof m->info);
  if (is_file(gpu) && *instruction && strcmp(instruction, m->info.name) != 0) {
    fail("softmma_open", "%s describes '%s', not '%s'; give that name or \"\"", gpu, m->info.name, instruction);
    softmma_close(m);
    return NULL;
  }
  m->format[PART_A] = m->info.a, m->format[PART_B] = m->info.b;
  m->format[PART_C] = m->info.c, m->format[PART_D] = m->info.d;
  m->format[PART_SCALE_A] = m->format[PART_SCALE_B] = m->info.scale;
  for (p = 0; p < PARTS; p++) m->bits[p] = smma_format_bits(m->format[p]);
  return m;
}

static int check_open(const char *function, const void *unit) {
  return unit ? 0 : fail(function, "the unit is null: softmma_open has found none");
}

int softmma_describe(void *unit, int *m, int *n, int *k, int *a_bits, int *b_bits, int *c_bits, int *d_bits,
                     int *scale_bits, int *scale_block) {
  const model *x = (const model *)unit;
  *m = *n = *k = *a_bits = *b_bits = *c_bits = *d_bits = *scale_bits = *scale_block = 0;
  if (check_open("softmma_describe", x)) return 1;
  *m = x->info.m, *n = x->info.n, *k = x->info.k;
  *a_bits = x->bits[PART_A], *b_bits = x->bits[PART_B], *c_bits = x->bits[PART_C], *d_bits = x->bits[PART_D];
  *scale_bits = x->bits[PART_SCALE_A], *scale_block = x->info.scale_block;
  return 0;
}

/* ---- Arrays ---- */

/* Elements from the lowest index on; they may be anywhere. */
static uint64_t *element(svOpenArrayHandle array, size_t i) {
  return (uint64_t *)svGetArrElemPtr1(array, svLow(array, 1) + (int)i);
}

/* The first of `count` elements that lie side by side, or NULL. */
static uint64_t *side_by_side(svOpenArrayHandle array, size_t count) {
  uint64_t *first = count ? element(array, 0) : NULL;
  return first && element(array, count - 1) == first + (count - 1) ? first : NULL;
}

static uint64_t mask_of(int bits) { return ~UINT64_C(0) >> (64 - bits); }

/* Elements of a format's container from and to those of SystemVerilog, with a constant for the container so that
   compilers make vectors of the loops. */
#define NARROW(type)                                                    \
  do {                                                                  \
    type *out = (type *)(void *)to;                                     \
    for (i = 0; i < count; i++) all |= from[i], out[i] = (type)from[i]; \
  } while (0)
#define WIDEN(type)                                    \
  do {                                                 \
    const type *in = (const type *)(const void *)from; \
    for (i = 0; i < count; i++) to[i] = in[i];         \
  } while (0)

/* All bits that are set in any of them. */
static uint64_t narrow(size_t bytes, const uint64_t *from, size_t count, unsigned char *to) {
  uint64_t all = 0;
  size_t i;
  switch (bytes) {
    case 1: NARROW(uint8_t); break;
    case 2: NARROW(uint16_t); break;
    case 4: NARROW(uint32_t); break;
    default: NARROW(uint64_t); break;
  }
  return all;
}

static void widen(size_t bytes, const unsigned char *from, size_t count, uint64_t *to) {
  size_t i;
  switch (bytes) {
    case 1: WIDEN(uint8_t); break;
    case 2: WIDEN(uint16_t); break;
    case 4: WIDEN(uint32_t); break;
    default: WIDEN(uint64_t); break;
  }
}

static int check_size(const char *function, const argument *x) {
  if (svDimensions(x->array) != 1)
    return fail(function, "%s has %d dimensions; it must have one", x->name, svDimensions(x->array));
  if ((size_t)svSize(x->array, 1) != x->count)
    return fail(function, "%s has %d elements; it must have %zu", x->name, svSize(x->array, 1), x->count);
  return 0;
}

/* Memory for that many elements of a part. */
static int make_room(const char *function, model *m, part p, size_t count) {
  const size_t size = count * smma_format_bytes(m->format[p]);
  unsigned char *memory;
  if (size <= m->capacity[p]) return 0;
  memory = (unsigned char *)realloc(m->memory[p], size);
  if (!memory) return fail(function, "out of memory");
  m->memory[p] = memory;
  m->capacity[p] = size;
  return 0;
}

static int too_wide(const char *function, const model *m, part p, const char *name, uint64_t code) {
  return fail(function, "%s is 0x%llx; encodings of %s have %d bits", name, (unsigned long long)code,
              smma_format_name(m->format[p]), m->bits[p]);
}

/* An array's elements as the library takes them. */
static int take(const char *function, model *m, part p, const argument *x) {
  const size_t bytes = smma_format_bytes(m->format[p]);
  const uint64_t mask = mask_of(m->bits[p]), *from;
  char name[32];
  uint64_t all = 0;
  size_t i;
  if (check_size(function, x) || make_room(function, m, p, x->count)) return 1;
  from = side_by_side(x->array, x->count);
  if (from)
    all = narrow(bytes, from, x->count, m->memory[p]);
  else
    for (i = 0; i < x->count; i++) all |= narrow(bytes, element(x->array, i), 1, m->memory[p] + i * bytes);
  if ((all & ~mask) == 0) return 0;
  for (i = 0; (*element(x->array, i) & ~mask) == 0;) i++;
  snprintf(name, sizeof name, "%s[%d]", x->name, svLow(x->array, 1) + (int)i);
  return too_wide(function, m, p, name, *element(x->array, i));
}

static void give(const model *m, part p, const argument *x) {
  const size_t bytes = smma_format_bytes(m->format[p]);
  uint64_t *to = side_by_side(x->array, x->count);
  size_t i;
  if (to)
    widen(bytes, m->memory[p], x->count, to);
  else
    for (i = 0; i < x->count; i++) widen(bytes, m->memory[p] + i * bytes, 1, element(x->array, i));
}

/* Whether scale factors are there exactly where the unit has them. */
static int check_scales(const char *function, const model *m, int scaled) {
  if (scaled == (m->info.scale_block != 0)) return 0;
  if (scaled) return fail(function, "%s has no scale factors: call the function without _scaled", m->info.name);
  return fail(function, "%s has scale factors: call %s_scaled", m->info.name, function);
}

static int status(const char *function, smma_status s) {
  return s == SMMA_OK ? 0 : fail(function, "%s", smma_status_text(s));
}

/* ---- Computing ---- */

/* Elements of the arrays of rows or, where `whole` is not 0, of one instruction. */
typedef struct {
  size_t a, b, c, scale_a, scale_b;
  int whole;
} sizes;

/* D of what is in memory. */
static smma_status run(model *m, const sizes *n) {
  unsigned char *const *x = m->memory;
  const void *scale_a = m->info.scale_block ? x[PART_SCALE_A] : NULL;
  const void *scale_b = m->info.scale_block ? x[PART_SCALE_B] : NULL;
  const smma_batch rows = {sizeof rows, n->c, x[PART_A], x[PART_B], x[PART_C], scale_a, scale_b, x[PART_D]};
  return n->whole ? smma_mma(m->info.instruction, x[PART_A], x[PART_B], x[PART_C], scale_a, scale_b, x[PART_D])
                  : smma_dot_rows(m->info.instruction, &rows, 1);
}

static int compute(const char *function, model *m, const sizes *n, svOpenArrayHandle a, svOpenArrayHandle b,
                   svOpenArrayHandle c, svOpenArrayHandle scale_a, svOpenArrayHandle scale_b, svOpenArrayHandle d) {
  const argument in[] = {{"a", a, n->a},
                         {"b", b, n->b},
                         {"c", c, n->c},
                         {"scale_a", scale_a, n->scale_a},
                         {"scale_b", scale_b, n->scale_b}};
  const argument out = {"d", d, n->c};
  smma_status s;
  int p;
  if (check_scales(function, m, scale_a != NULL)) return 1;
  for (p = PART_A; p <= (scale_a ? PART_SCALE_B : PART_C); p++)
    if (take(function, m, (part)p, &in[p])) return 1;
  if (check_size(function, &out) || make_room(function, m, PART_D, n->c)) return 1;
  s = run(m, n);
  if (s == SMMA_OK) give(m, PART_D, &out);
  return status(function, s);
}

static size_t scales_of(const model *m) { return m->info.scale_block ? (size_t)(m->info.k / m->info.scale_block) : 0; }

static sizes sizes_of_rows(const model *m, size_t rows) {
  const size_t k = rows * (size_t)m->info.k, scales = rows * scales_of(m);
  const sizes n = {k, k, rows, scales, scales, 0};
  return n;
}

static int compute_rows(const char *function, void *unit, svOpenArrayHandle a, svOpenArrayHandle b, svOpenArrayHandle c,
                        svOpenArrayHandle scale_a, svOpenArrayHandle scale_b, svOpenArrayHandle d) {
  model *m = (model *)unit;
  sizes n;
  if (check_open(function, m)) return 1;
  n = sizes_of_rows(m, (size_t)svSize(c, 1));
  return compute(function, m, &n, a, b, c, scale_a, scale_b, d);
}

int softmma_rows(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, const svOpenArrayHandle c,
                 const svOpenArrayHandle d) {
  return compute_rows("softmma_rows", unit, a, b, c, NULL, NULL, d);
}

int softmma_rows_scaled(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, const svOpenArrayHandle c,
                        const svOpenArrayHandle scale_a, const svOpenArrayHandle scale_b, const svOpenArrayHandle d) {
  return compute_rows("softmma_rows_scaled", unit, a, b, c, scale_a, scale_b, d);
}

static int compute_mma(const char *function, void *unit, svOpenArrayHandle a, svOpenArrayHandle b, svOpenArrayHandle c,
                       svOpenArrayHandle scale_a, svOpenArrayHandle scale_b, svOpenArrayHandle d) {
  model *m = (model *)unit;
  sizes n;
  if (check_open(function, m)) return 1;
  n.a = (size_t)m->info.m * (size_t)m->info.k, n.b = (size_t)m->info.n * (size_t)m->info.k;
  n.c = (size_t)m->info.m * (size_t)m->info.n;
  n.scale_a = (size_t)m->info.m * scales_of(m), n.scale_b = (size_t)m->info.n * scales_of(m);
  n.whole = 1;
  return compute(function, m, &n, a, b, c, scale_a, scale_b, d);
}

int softmma_mma(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, const svOpenArrayHandle c,
                const svOpenArrayHandle d) {
  return compute_mma("softmma_mma", unit, a, b, c, NULL, NULL, d);
}

int softmma_mma_scaled(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, const svOpenArrayHandle c,
                       const svOpenArrayHandle scale_a, const svOpenArrayHandle scale_b, const svOpenArrayHandle d) {
  return compute_mma("softmma_mma_scaled", unit, a, b, c, scale_a, scale_b, d);
}

static int compute_dot(const char *function, void *unit, svOpenArrayHandle a, svOpenArrayHandle b, uint64_t c,
                       svOpenArrayHandle scale_a, svOpenArrayHandle scale_b, uint64_t *d) {
  model *m = (model *)unit;
  const void *with_scales[2] = {NULL, NULL};
  smma_status s;
  int p;
  *d = 0;
  if (check_open(function, m) || check_scales(function, m, scale_a != NULL)) return 1;
  const size_t k = (size_t)m->info.k, scales = scales_of(m);
  const argument in[] = {
      {"a", a, k}, {"b", b, k}, {"c", NULL, 0}, {"scale_a", scale_a, scales}, {"scale_b", scale_b, scales}};
  for (p = PART_A; p <= (scale_a ? PART_SCALE_B : PART_B); p++)
    if (p != PART_C && take(function, m, (part)p, &in[p])) return 1;
  if (make_room(function, m, PART_C, 1) || make_room(function, m, PART_D, 1)) return 1;
  if (c & ~mask_of(m->bits[PART_C])) return too_wide(function, m, PART_C, "c", c);
  narrow(smma_format_bytes(m->format[PART_C]), &c, 1, m->memory[PART_C]);
  if (scale_a) with_scales[0] = m->memory[PART_SCALE_A], with_scales[1] = m->memory[PART_SCALE_B];
  s = smma_dot(m->info.instruction, m->memory[PART_A], m->memory[PART_B], m->memory[PART_C], with_scales[0],
               with_scales[1], m->memory[PART_D]);
  if (s == SMMA_OK) widen(smma_format_bytes(m->format[PART_D]), m->memory[PART_D], 1, d);
  return status(function, s);
}

int softmma_dot(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, uint64_t c, uint64_t *d) {
  return compute_dot("softmma_dot", unit, a, b, c, NULL, NULL, d);
}

int softmma_dot_scaled(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, uint64_t c,
                       const svOpenArrayHandle scale_a, const svOpenArrayHandle scale_b, uint64_t *d) {
  return compute_dot("softmma_dot_scaled", unit, a, b, c, scale_a, scale_b, d);
}

/* ---- Rows ---- */

static int make_rows(const char *function, void *unit, const char *kind, uint64_t seed, uint64_t first,
                     svOpenArrayHandle a, svOpenArrayHandle b, svOpenArrayHandle c, svOpenArrayHandle scale_a,
                     svOpenArrayHandle scale_b, svOpenArrayHandle d) {
  model *m = (model *)unit;
  smma_row_request request;
  smma_status s;
  sizes n;
  int p;
  if (check_open(function, m) || check_scales(function, m, scale_a != NULL)) return 1;
  n = sizes_of_rows(m, (size_t)svSize(c, 1));
  const argument out[] = {
      {"a", a, n.a}, {"b", b, n.b}, {"c", c, n.c}, {"scale_a", scale_a, n.scale_a}, {"scale_b", scale_b, n.scale_b},
      {"d", d, n.c}};
  for (p = 0; p < PARTS; p++)
    if (out[p].array && (check_size(function, &out[p]) || make_room(function, m, (part)p, out[p].count))) return 1;
  memset(&request, 0, sizeof request);
  request.size = sizeof request;
  request.kind = *kind ? kind : NULL;
  request.seed = seed, request.first = first, request.rows = n.c;
  request.a = m->memory[PART_A], request.b = m->memory[PART_B], request.c = m->memory[PART_C];
  if (scale_a) request.scale_a = m->memory[PART_SCALE_A], request.scale_b = m->memory[PART_SCALE_B];
  s = smma_make_rows(m->info.instruction, &request);
  if (s == SMMA_INVALID_ARGUMENT) /* nothing else can be */
    return fail(
        function,
        "there is no kind '%s' of rows: it is random, normal, edge, zeros, tiny, cancellation, ill, network, or "
        "\"\" for all in turn",
        kind);
  if (s == SMMA_OK) s = run(m, &n);
  for (p = 0; s == SMMA_OK && p < PARTS; p++)
    if (out[p].array) give(m, (part)p, &out[p]);
  return status(function, s);
}

int softmma_make_rows(void *unit, const char *kind, uint64_t seed, uint64_t first, const svOpenArrayHandle a,
                      const svOpenArrayHandle b, const svOpenArrayHandle c, const svOpenArrayHandle d) {
  return make_rows("softmma_make_rows", unit, kind, seed, first, a, b, c, NULL, NULL, d);
}

int softmma_make_rows_scaled(void *unit, const char *kind, uint64_t seed, uint64_t first, const svOpenArrayHandle a,
                             const svOpenArrayHandle b, const svOpenArrayHandle c, const svOpenArrayHandle scale_a,
                             const svOpenArrayHandle scale_b, const svOpenArrayHandle d) {
  return make_rows("softmma_make_rows_scaled", unit, kind, seed, first, a, b, c, scale_a, scale_b, d);
}

int softmma_same(void *unit, uint64_t d, uint64_t other) {
  return check_open("softmma_same", unit) == 0 && smma_same(((const model *)unit)->info.instruction, d, other);
}

/* ---- Explaining ---- */

static void append(const char *format, ...) {
  const size_t length = strlen(command);
  va_list values;
  va_start(values, format);
  vsnprintf(command + length, sizeof command - length, format, values);
  va_end(values);
}

static const char *explain(const char *function, void *unit, svOpenArrayHandle a, svOpenArrayHandle b,
                           svOpenArrayHandle c, svOpenArrayHandle scale_a, svOpenArrayHandle scale_b, unsigned row) {
  model *m = (model *)unit;
  int p;
  *command = 0;
  if (check_open(function, m) || check_scales(function, m, scale_a != NULL)) return command;
  const size_t rows = (size_t)svSize(c, 1), k = (size_t)m->info.k, scales = scales_of(m);
  const argument in[] = {
      {"a", a, k}, {"b", b, k}, {"c", c, 1}, {"scale-a", scale_a, scales}, {"scale-b", scale_b, scales}};
  if (row >= rows) {
    fail(function, "there is no row %u: c has %zu elements", row, rows);
    return command;
  }
  for (p = PART_A; p <= (scale_a ? PART_SCALE_B : PART_C); p++) {
    const argument all = {in[p].name, in[p].array, in[p].count * rows};
    if (check_size(function, &all)) return command;
  }
  append("softmma dot --on '%s' --instr %s --hex --explain", m->info.arch, m->info.name);
  for (p = PART_A; p <= (scale_a ? PART_SCALE_B : PART_C); p++) {
    size_t i;
    append(" --%s", in[p].name);
    for (i = 0; i < in[p].count; i++)
      append("%s%0*llx", i ? " " : " '", (m->bits[p] + 3) / 4,
             (unsigned long long)*element(in[p].array, row * in[p].count + i));
    append("'");
  }
  return command;
}

const char *softmma_command(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, const svOpenArrayHandle c,
                            unsigned row) {
  return explain("softmma_command", unit, a, b, c, NULL, NULL, row);
}

const char *softmma_command_scaled(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b,
                                   const svOpenArrayHandle c, const svOpenArrayHandle scale_a,
                                   const svOpenArrayHandle scale_b, unsigned row) {
  return explain("softmma_command_scaled", unit, a, b, c, scale_a, scale_b, row);
}

#ifdef __cplusplus
}
#endif
