/* Compares plans of cuBLASLt with results that it returned on an H100 (tests/recorded_plans/README.md).
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/custom.h"
#include "softmma/softmma.h"
#include "support.h"

enum { MOST_PICKED = 12, LINE = 1024 };

typedef struct {
  char a[8], b[8], d[8], compute[12], kind[8], transposes[4], rows[64], columns[64], results[512];
  size_t m, n, k;
  int epilogue, fast, algo, stages, split_k, reduction, custom;
  double alpha, beta;
  size_t row[MOST_PICKED], column[MOST_PICKED], picked_rows, picked_columns;
} recorded;

/* ---- Operands ---- */

typedef struct {
  int exponent_bits, fraction_bits, bias, bytes;
} layout;

static layout layout_of(const char *format) {
  static const struct {
    const char *name;
    layout is;
  } all[] = {{"f16", {5, 10, 15, 2}}, {"bf16", {8, 7, 127, 2}}, {"f32", {8, 23, 127, 4}}, {"f64", {11, 52, 1023, 8}},
             {"e4m3", {4, 3, 7, 1}},  {"e5m2", {5, 2, 15, 1}},  {"s8", {0, 0, 0, 1}}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    if (strcmp(all[i].name, format) == 0) return all[i].is;
  fail_msg("no layout of %s", format);
  return all[0].is;
}

static uint64_t hash(uint64_t seed, uint64_t index) {
  uint64_t x = (index + (seed << 40)) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static void exponents_of(const char *kind, int *low, int *high) {
  *low = -2, *high = 1;
  if (strcmp(kind, "spread") == 0) *low = -8;
  if (strcmp(kind, "far") == 0) *low = -30, *high = 30;
}

/* Returns the encoding of number `index` of an operand; "cancel" is flat here. */
static uint64_t code_of(const char *format, const char *kind, uint64_t seed, uint64_t index) {
  const layout f = layout_of(format);
  const uint64_t x = hash(seed, index), y = hash(seed + 500, index);
  uint64_t code;
  int low, high;
  if (!f.exponent_bits) return x >> 56;
  if (strcmp(kind, "ones") == 0) return (uint64_t)f.bias << f.fraction_bits;
  exponents_of(kind, &low, &high);
  if (low < 1 - f.bias) low = 1 - f.bias;
  if (high > (1 << f.exponent_bits) - 3 - f.bias) high = (1 << f.exponent_bits) - 3 - f.bias;
  code = (y >> 5 & 1) << (f.exponent_bits + f.fraction_bits) |
         ((uint64_t)(f.bias + low) + (y >> 8) % (uint64_t)(high - low + 1)) << f.fraction_bits |
         (x >> 3 & ((UINT64_C(1) << f.fraction_bits) - 1));
  if (strncmp(kind, "ties", 4) == 0 && f.bytes == 4 && (y >> 4 & 1)) {
    const int dropped = atoi(kind + 4);
    code = code >> dropped << dropped | UINT64_C(1) << (dropped - 1);
  }
  return code;
}

static void put_code(const char *format, void *array, size_t index, uint64_t code) {
  memcpy((char *)array + index * (size_t)layout_of(format).bytes, &code,
         (size_t)layout_of(format).bytes); /* little endian */
}

/* Fills row i of A (seed 1) or column i of B (seed 2). Its numbers along K have the distance `across` in memory, or 1
   if `contiguous`. */
static void fill(const recorded *r, const char *format, uint64_t seed, bool contiguous, size_t across, size_t i,
                 void *array, size_t first) {
  const bool cancel = strcmp(r->kind, "cancel") == 0;
  const layout f = layout_of(format);
  const size_t half = r->k / 2;
  for (size_t k = 0; k < r->k; k++) {
    const bool again = cancel && k >= half && k < 2 * half;
    const size_t from = again ? k - half : k;
    uint64_t code = code_of(format, r->kind, seed, contiguous ? i * r->k + from : from * across + i);
    if (again && seed == 2) code ^= UINT64_C(1) << (f.exponent_bits + f.fraction_bits);
    put_code(format, array, first + k, code);
  }
}

/* ---- Instructions ---- */

typedef struct {
  const smma_instruction *instruction;
  const smma_instruction *own; /* to be released, or NULL */
} chosen;

static chosen cores(const char *format, const char *sums) {
  char text[200];
  smma_error error;
  chosen c;
  snprintf(text, sizeof text,
           "{\"softmma-unit\": 1, \"name\": \"fma\", \"algorithm\": \"FMA\", \"k\": 1, \"a\": \"%s\", \"b\": \"%s\", "
           "\"d\": \"%s\"}",
           format, format, sums);
  c.instruction = c.own = smma_custom_read("fma", text, strlen(text), &error);
  if (!c.own) fail_msg("%s", error.text);
  return c;
}

static bool is_one_of(int x, const int *all, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (x == all[i]) return true;
  return false;
}

/* Returns the instruction that a kernel multiplies with. */
static chosen choose(const recorded *r) {
  static const int algorithms[] = {11, 13, 14, 16, 20, 55, 56};
  const bool on_cores = is_one_of(r->algo, algorithms, sizeof algorithms / sizeof algorithms[0]);
  const bool f16_sums = strcmp(r->compute, "16f") == 0;
  char name[64];
  if (strcmp(r->a, "s8") == 0) return (chosen){find("H100", "mma.m16n8k32.s32.s8.s8.s32"), NULL};
  if (on_cores) return cores(r->a, f16_sums ? "f16" : strcmp(r->a, "f64") == 0 ? "f64" : "f32");
  if (strcmp(r->a, "f64") == 0) return (chosen){find("H100", "mma.m16n8k16.f64.f64.f64.f64"), NULL};
  if (strcmp(r->a, "f32") == 0) {
    if (r->algo == 25 || r->algo == 26) return (chosen){find("H100", "mma.m16n8k16.f32.f16.f16.f32"), NULL};
    if (r->algo == 27 || r->algo == 28) return (chosen){find("H100", "mma.m16n8k16.f32.bf16.bf16.f32"), NULL};
    return (chosen){find("H100", r->algo == 43 ? "wgmma.m64n8k8.f32.tf32.tf32" : "mma.m16n8k8.f32.tf32.tf32.f32"),
                    NULL};
  }
  if (f16_sums)
    return (chosen){find("H100", r->algo == 39 ? "wgmma.m64n8k16.f16.f16.f16" : "mma.m16n8k16.f16.f16.f16.f16"), NULL};
  if (r->algo == 66)
    snprintf(name, sizeof name, "wgmma.m64n8k%d.f32.%s.%s", layout_of(r->a).bytes == 1 ? 32 : 16, r->b, r->a);
  else
    snprintf(name, sizeof name, "mma.m16n8k16.f32.%s.%s.f32", r->a, r->b);
  return (chosen){find("H100", name), NULL};
}

/* ---- Products ---- */

/* Returns the plan of B^T A^T, the row-major product that cuBLASLt's column-major product is; its D is N x M. */
static smma_plan *plan_of(const recorded *r, const smma_instruction *instruction) {
  smma_plan_request q;
  smma_error error;
  smma_plan *plan;
  smma_plan_request_defaults(&q, sizeof q);
  q.name = "cublaslt:13.1/H100", q.instruction = instruction;
  q.d = smma_format_find(r->d);
  q.m = r->n, q.n = r->m, q.k = r->k;
  q.algo = r->algo, q.stages = r->stages, q.split_k = r->split_k, q.reduction = r->reduction, q.custom = r->custom;
  q.fast_accumulation = r->fast, q.epilogue = r->epilogue, q.with_c = r->beta != 0;
  q.a_strided = r->transposes[1] == 'T', q.b_strided = r->transposes[0] == 'N';
  plan = smma_plan_for(&q, &error);
  if (!plan) fail_msg("%s", error.text);
  return plan;
}

/* Rounds FP32 numbers in place to the instruction's narrower format, as the library does. */
static void narrow(const smma_instruction *instruction, const smma_plan *plan, smma_format to, void *array,
                   size_t count) {
  void *wide = malloc(count * 4);
  assert_non_null(wide);
  memcpy(wide, array, count * 4);
  assert_int_equal(smma_convert(SMMA_F32, wide, to, array, count, smma_operand_rounding(instruction, plan, to),
                                SMMA_OVERFLOW_INFINITY, NULL),
                   SMMA_OK);
  free(wide);
}

static float number_of(const char *format, uint64_t code) {
  return (float)smma_format_decode(smma_format_find(format), code);
}

typedef struct {
  void *a, *b; /* the product's own: B's columns, A's rows */
  float c[MOST_PICKED * MOST_PICKED], bias[MOST_PICKED];
  uint64_t d[MOST_PICKED * MOST_PICKED];
} operands;

static void make_operands(const recorded *r, operands *o) {
  const char *bias = layout_of(r->a).bytes == 1 && strcmp(r->d, "f16") != 0 ? "bf16" : r->d;
  o->a = malloc(r->picked_columns * r->k * 8), o->b = malloc(r->picked_rows * r->k * 8);
  assert_true(o->a && o->b);
  for (size_t j = 0; j < r->picked_columns; j++)
    fill(r, r->b, 2, r->transposes[1] == 'N', r->n, r->column[j], o->a, j * r->k);
  for (size_t i = 0; i < r->picked_rows; i++)
    fill(r, r->a, 1, r->transposes[0] == 'T', r->m, r->row[i], o->b, i * r->k);
  for (size_t i = 0; i < r->picked_rows; i++) {
    if (r->epilogue != 1) o->bias[i] = number_of(bias, code_of(bias, "flat", 3, r->row[i]));
    for (size_t j = 0; r->beta != 0 && j < r->picked_columns; j++) {
      const uint64_t code = code_of(r->d, "flat", 4, r->column[j] * r->m + r->row[i]);
      o->c[j * r->picked_rows + i] = number_of(r->d, code);
    }
  }
}

static void compute(const recorded *r, const smma_instruction *instruction, operands *o) {
  const smma_instruction_info info = describe(instruction);
  smma_plan *plan = plan_of(r, instruction);
  smma_gemm_arguments g;
  smma_error error;
  if (strcmp(r->a, "f32") == 0 && info.a != SMMA_F32) {
    narrow(instruction, plan, info.a, o->a, r->picked_columns * r->k);
    narrow(instruction, plan, info.a, o->b, r->picked_rows * r->k);
  }
  smma_gemm_defaults(&g, sizeof g);
  g.m = r->picked_columns, g.n = r->picked_rows, g.k = r->k, g.threads = 1;
  g.a = o->a, g.b = o->b, g.d = o->d, g.order_b = SMMA_COLUMN_MAJOR, g.plan = plan, g.error = &error;
  if (r->epilogue != 1) g.bias = o->bias;
  if (r->beta != 0) g.c = o->c, g.beta = r->beta; /* the instruction's C is f32 */
  g.alpha = r->alpha;
  if (smma_gemm(instruction, &g) != SMMA_OK) fail_msg("%s", error.text);
  smma_plan_free(plan);
}

static void check(const recorded *r, const char *origin, size_t line) {
  const size_t bytes = strcmp(r->d, "s32") == 0 ? 4 : (size_t)layout_of(r->d).bytes;
  const chosen c = choose(r);
  operands o = {0};
  const char *text = r->results;
  make_operands(r, &o);
  compute(r, c.instruction, &o);
  for (size_t i = 0; i < r->picked_rows; i++)
    for (size_t j = 0; j < r->picked_columns; j++) {
      char *end;
      const uint64_t expected = strtoull(text, &end, 16);
      uint64_t got = 0;
      memcpy(&got, (const char *)o.d + (j * r->picked_rows + i) * bytes, bytes);
      if (got != expected)
        fail_msg("%s:%zu: row %zu, column %zu is %llx, not %llx", origin, line, r->row[i], r->column[j],
                 (unsigned long long)got, (unsigned long long)expected);
      text = end + (*end == ',');
    }
  assert_int_equal(*text, '\0');
  free(o.a), free(o.b);
  if (c.own) smma_custom_release(c.own);
}

/* ---- Files ---- */

static size_t read_numbers(const char *text, size_t *numbers) {
  size_t count = 0;
  for (char *end; *text && count < MOST_PICKED; text = end + (*end == ',')) numbers[count++] = strtoul(text, &end, 10);
  return count;
}

static void check_file(const char *name, size_t lines) {
  char path[512], line[LINE];
  size_t number = 0, checked = 0;
  FILE *file;
  snprintf(path, sizeof path, "%s/%s", RECORDED_PLANS, name);
  file = fopen(path, "r");
  if (!file) fail_msg("cannot open %s", path);
  while (fgets(line, sizeof line, file)) {
    recorded r;
    number++;
    if (*line == '#') continue;
    if (sscanf(line, "%7s %7s %7s %11s %zu %zu %zu %7s %3s %d %lf %lf %d %d %d %d %d %d %63s %63s %511s", r.a, r.b, r.d,
               r.compute, &r.m, &r.n, &r.k, r.kind, r.transposes, &r.epilogue, &r.alpha, &r.beta, &r.fast, &r.algo,
               &r.stages, &r.split_k, &r.reduction, &r.custom, r.rows, r.columns, r.results) != 21)
      fail_msg("%s:%zu: not a recorded product", path, number);
    r.picked_rows = read_numbers(r.rows, r.row), r.picked_columns = read_numbers(r.columns, r.column);
    check(&r, name, number);
    checked++;
  }
  fclose(file);
  assert_int_equal(checked, lines);
}

static void test_products(void **state) { (void)state, check_file("products.txt", 895); }
static void test_kernels(void **state) { (void)state, check_file("kernels.txt", 1729); }
static void test_vectors(void **state) { (void)state, check_file("vectors.txt", 973); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_kernels),
                                     cmocka_unit_test(test_vectors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
