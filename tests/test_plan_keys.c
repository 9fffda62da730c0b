/* Every combination of a plan's keys, with every distinct operation of the catalogue in turn. Products by every kernel
   and on a device are compared with a separate composition (plan_composition.h). Their operands give infinities and NaN
   in chains, between chains and after them. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "device_gemm.h"
#include "isa/instruction.h"
#include "kernel_check.h"
#include "plan_composition.h"
#include "support.h"

/* A has only ROWS different rows, and B only COLUMNS different columns. They are repeated up to the sizes M and N. K is
   at most LONGEST, or twice the K of the longest instruction, which is 256. */
enum { ROWS = 6, COLUMNS = 5, MOST_M = 36, MOST_N = 40, LONGEST = 200, LONGEST_K = 512, TEXT = 2048 };

/* ---- Keys ---- */

static const char *const deals[] = {"contiguous", "every", "interleaved", "list"};
static const char *const folds[] = {"serial", "halving", "neighbours", "last-first", "strides"};
static const char *const withs[] = {"add", "fma", "multiply-fma", "multiply-b-fma"};
static const char *const formats[] = {"as-is", "d", "f16", "bf16", "tf32"};
static const char *const residues[] = {"last", "first", "first-tile", "none"};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* The keys of a level, and whether C begins the sum. */
typedef struct {
  size_t deal, fold, with, stored, total;
  bool from_zero, from_c;
} keys;

enum { COMBINATIONS = 4 * 5 * 4 * 5 * 5 * 2 * 2 };

static keys keys_of(size_t index) {
  keys x;
  x.from_c = index % 2, index /= 2;
  x.from_zero = index % 2, index /= 2;
  x.stored = index % COUNT(formats), index /= COUNT(formats);
  x.total = index % COUNT(formats), index /= COUNT(formats);
  x.with = index % COUNT(withs), index /= COUNT(withs);
  x.fold = index % COUNT(folds), index /= COUNT(folds);
  x.deal = index;
  return x;
}

/* Reports whether docs/plans.md allows this combination. */
static bool exists(const keys *x) {
  if (x->from_zero && x->fold != 0) return false;
  return x->with == 0 || (x->from_zero && x->deal == 1);
}

static size_t below(uint64_t *random, size_t n) { return (size_t)(random_bits(random) % n); }

static void add_text(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_text(char *text, const char *format, ...) {
  const size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  assert_true(vsnprintf(text + used, TEXT - used, format, arguments) < (int)(TEXT - used));
  va_end(arguments);
}

static void add_level(const keys *x, size_t k, uint64_t *random, char *text) {
  const size_t parts = 1 + below(random, k < 9 ? k : 9), grain = 1 + below(random, 20);
  const size_t cut = 1 + below(random, k), second = cut < k ? cut + 1 + below(random, k - cut) : k;
  add_text(text, "{\"deal\": \"%s\"", deals[x->deal]);
  if (x->deal == 0) add_text(text, ", \"parts\": %zu, \"grain\": %zu", parts, grain);
  if (x->deal == 1) add_text(text, ", \"k\": %zu", 1 + below(random, k) / (1 + below(random, 6)) + k / 40);
  if (x->deal == 2)
    add_text(text, ", \"parts\": %zu, \"tile\": %zu, \"fits\": %s, \"whole\": %s", parts, grain,
             below(random, 2) ? "true" : "false", below(random, 5) ? "false" : "true");
  if (x->deal == 3 && cut == k) add_text(text, ", \"list\": [[[0, %zu]]]", k);
  if (x->deal == 3 && cut < k) {
    const size_t some = cut / 2;
    add_text(text, ", \"list\": [[[%zu, %zu]", cut, second);
    if (some) add_text(text, ", [0, %zu]", some);
    add_text(text, "], [[%zu, %zu]]%s", some, cut, second < k ? "" : "]");
    if (second < k) add_text(text, ", [[%zu, %zu]]]", second, k);
  }
  add_text(text, ", \"fold\": \"%s\"", folds[x->fold]);
  if (x->fold == 4) add_text(text, ", \"strides\": [%s1]", below(random, 2) ? "4, 3, " : below(random, 2) ? "2, " : "");
  add_text(text, ", \"from\": \"%s\", \"with\": \"%s\", \"stored\": \"%s\", \"total\": \"%s\"}",
           x->from_zero ? "zero" : "first", withs[x->with], formats[x->stored], formats[x->total]);
}

static keys any_keys(uint64_t *random) {
  keys x;
  do x = keys_of(below(random, COMBINATIONS));
  while (!exists(&x) || x.with || x.deal == 3);
  return x;
}

static void add_epilogue(uint64_t *random, char *text) {
  static const char *const rounded[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "e2m1", "ue4m3", "ue8m0", "f64"};
  static const char *const plain[] = {"\"alpha\"", "\"linear\"", "\"beta\"", "\"bias\"", "\"scale-d\"", "\"relu\""};
  const size_t count = below(random, 4);
  if (count == 0) return;
  add_text(text, ", \"epilogue\": [");
  for (size_t i = 0; i < count; i++) {
    const size_t kind = below(random, 7);
    add_text(text, i ? ", " : "");
    if (kind < COUNT(plain)) add_text(text, "%s", plain[kind]);
    if (kind >= COUNT(plain))
      add_text(text, "{\"%s\": \"%s\"}", kind == 5 ? "round" : "clamp", rounded[below(random, COUNT(rounded))]);
  }
  add_text(text, "]");
}

/* Makes a plan whose first or second level has these keys. All other keys are random, or absent if `bare`. */
static smma_plan *make_plan(const keys *x, bool bare, size_t instruction_k, size_t k, uint64_t *random, char *text) {
  static const char *const d[] = {"f32", "f16", "bf16", "e4m3", "e5m2", "f64", "tf32"};
  const size_t residue = below(random, 2) ? 0 : below(random, COUNT(residues)), place = below(random, 3);
  const keys other = any_keys(random);
  smma_error error;
  smma_plan *plan;
  strcpy(text, "{\"softmma-plan\": 1, \"name\": \"test\"");
  if (x->from_c) add_text(text, ", \"start\": \"c\"");
  if (!bare && below(random, 2)) add_text(text, ", \"d\": \"%s\"", d[below(random, COUNT(d))]);
  if (!bare && below(random, 3) == 0) add_text(text, ", \"group\": %zu", 1 + below(random, instruction_k));
  if (!bare) add_text(text, ", \"residue\": \"%s\"", residues[residue]);
  if (!bare && residue == 2) add_text(text, ", \"tile\": %zu", 1 + below(random, 40));
  if (!bare && place < 2 && x->deal == 0 && below(random, 2))
    add_text(text, ", \"lost_tail\": %zu", 1 + below(random, k));
  add_text(text, ", \"sum\": [");
  if (!bare && place == 2 && x->deal != 3) add_level(&other, k, random, text), add_text(text, ", ");
  add_level(x, k, random, text);
  if (!bare && place == 1) add_text(text, ", "), add_level(&other, k, random, text);
  add_text(text, "]");
  if (!bare) add_epilogue(random, text);
  add_text(text, "}");
  plan = smma_plan_parse("plan.json", text, strlen(text), &error);
  if (!plan) fail_msg("%s\n%s", error.text, text);
  return plan;
}

/* ---- Operands ---- */

typedef struct {
  const smma_instruction *instruction;
  smma_instruction_info info;
  smma_plan *plan;
  char text[TEXT];
  smma_gemm_arguments with;
  uint64_t a[ROWS][LONGEST_K], b[COLUMNS][LONGEST_K], scale_a[ROWS][LONGEST], scale_b[COLUMNS][LONGEST];
  uint64_t c[ROWS][COLUMNS], d[ROWS][COLUMNS];
  float part_a[ROWS][LONGEST], part_b[COLUMNS][LONGEST], bias[COLUMNS];
  /* the matrices in the form that smma_gemm takes */
  uint64_t matrix_a[MOST_M * LONGEST_K], matrix_b[LONGEST_K * MOST_N], matrix_c[MOST_M * MOST_N],
      matrix_d[MOST_M * MOST_N];
  uint64_t scales_a[MOST_M * LONGEST], scales_b[MOST_N * LONGEST];
  float all_bias[MOST_N];
} product;

static uint64_t rounded(smma_format f, double x) {
  return smma_format_encode(f, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

/* Returns an encoding for a rare case: a largest number, infinity or NaN, a least number or zero, or any encoding. */
static uint64_t special(smma_format format, size_t kind, uint64_t *random) {
  const smma_encoding f = smma_encoding_of(format);
  const uint64_t sign = f.sign_bits ? UINT64_C(1) << (f.bits - 1) : 0, one = UINT64_C(1) << f.ignored_bits;
  const uint64_t largest = smma_largest_fields(f) << f.ignored_bits;
  const uint64_t infinity = f.specials == SMMA_SPECIALS_IEEE ? largest + one : largest;
  switch (kind % 10) {
    case 0: return largest;
    case 1: return largest | sign;
    case 2: return infinity;
    case 3: return infinity | sign;
    case 4: return f.specials == SMMA_SPECIALS_FINITE || smma_is_integer(format) ? sign : infinity + 5 * one; /* NaN */
    case 5: return f.specials == SMMA_SPECIALS_IEEE ? (infinity + one) | sign : sign; /* signalling, negative */
    case 6: return random_bits(random) & (f.bits == 64 ? UINT64_MAX : (UINT64_C(1) << f.bits) - 1);
    case 7: return one;
    case 8: return sign;
    default: return rounded(format, (double)(int)(below(random, 33) - 16) / 8);
  }
}

static uint64_t usual(smma_format f, uint64_t *random) {
  return rounded(f, (double)((int)below(random, 257) - 128) / 64);
}

/* Fills a line along K with one of three kinds of numbers: numbers near 1; these and some special values; the largest
   numbers, first all of one sign, then all of the other. */
static void fill_line(smma_format f, size_t theme, size_t k, uint64_t *random, uint64_t *line) {
  const size_t kind = below(random, 10), turn = below(random, k + 1);
  for (size_t i = 0; i < k; i++) {
    line[i] = usual(f, random);
    if (theme == 1 && below(random, 12) == 0) line[i] = special(f, below(random, 10), random);
    if (theme == 2) line[i] = special(f, i < turn ? 0 : 1, random);
    if (theme == 3 && i == turn) line[i] = special(f, kind, random);
    if (theme == 4) line[i] = special(f, 0, random);
  }
}

static float any_float(uint64_t *random) {
  static const uint32_t some[] = {0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00001, 0xffc12345,
                                  0x7f800001, 0xff900000, 0,          0x80000000, 0x7f7fffff, 0x00000001};
  const uint32_t bits = some[below(random, COUNT(some))];
  float x = (float)((int)below(random, 2001) - 1000) / 256;
  if (below(random, 4) == 0) memcpy(&x, &bits, sizeof x);
  return x;
}

/* Fills the bias, alpha, beta, scale_d and C that the plan uses. */
static void fill_factors(product *p, uint64_t *random) {
  smma_gemm_arguments *g = &p->with;
  const bool linear = smma_plan_has(p->plan, SMMA_EPILOGUE_LINEAR), adds_c = smma_plan_adds_c(p->plan);
  for (size_t j = 0; j < COLUMNS; j++) p->bias[j] = any_float(random);
  if (smma_plan_has(p->plan, SMMA_EPILOGUE_BIAS)) g->bias = p->all_bias;
  if (smma_plan_has(p->plan, SMMA_EPILOGUE_ALPHA) || linear) g->alpha = any_float(random);
  if (adds_c) g->beta = any_float(random);
  if (smma_plan_has(p->plan, SMMA_EPILOGUE_SCALE_D)) g->scale_d = any_float(random);
  if (adds_c || p->plan->starts_from_c) g->c = p->matrix_c;
}

static size_t scales_of(const product *p) {
  const size_t part = smma_plan_scaled_k(p->plan), each = part ? part : (size_t)p->info.scale_block;
  return each ? (p->with.k + each - 1) / each : 0;
}

static void fill(product *p, size_t theme, uint64_t *random) {
  const smma_instruction_info *f = &p->info;
  const size_t k = p->with.k;
  for (size_t i = 0; i < ROWS; i++) fill_line(f->a, (theme + i) % 5, k, random, p->a[i]);
  for (size_t j = 0; j < COLUMNS; j++) fill_line(f->b, j == 0 ? 4 : (theme + j) % 3 == 1, k, random, p->b[j]);
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < COLUMNS; j++)
      p->c[i][j] = below(random, 2) ? usual(f->c, random) : special(f->c, below(random, 10), random);
  for (size_t x = 0; x < LONGEST; x++) {
    for (size_t i = 0; i < ROWS; i++) p->part_a[i][x] = any_float(random);
    for (size_t j = 0; j < COLUMNS; j++) p->part_b[j][x] = any_float(random);
    if (!f->scale_block) continue;
    for (size_t i = 0; i < ROWS; i++) p->scale_a[i][x] = rounded(f->scale, (double)(1 + below(random, 4)));
    for (size_t j = 0; j < COLUMNS; j++) p->scale_b[j][x] = rounded(f->scale, (double)(1 + below(random, 4)));
    if (below(random, 8) == 0) p->scale_a[below(random, ROWS)][x] = random_bits(random) & 0xff;
  }
}

static void lay_out(product *p) {
  const smma_instruction_info *f = &p->info;
  const smma_gemm_arguments *g = &p->with;
  const size_t k = g->k, scales = scales_of(p);
  const bool parts = smma_plan_scaled_k(p->plan);
  for (size_t i = 0; i < g->m; i++) {
    for (size_t x = 0; x < k; x++) store_element(f->a, p->matrix_a, i * k + x, p->a[i % ROWS][x]);
    for (size_t j = 0; j < g->n; j++) store_element(f->c, p->matrix_c, i * g->n + j, p->c[i % ROWS][j % COLUMNS]);
    if (parts) memcpy((float *)p->scales_a + i * scales, p->part_a[i % ROWS], scales * sizeof(float));
    for (size_t x = 0; x < scales && !parts; x++)
      store_element(f->scale, p->scales_a, i * scales + x, p->scale_a[i % ROWS][x]);
  }
  for (size_t j = 0; j < g->n; j++) {
    p->all_bias[j] = p->bias[j % COLUMNS];
    for (size_t x = 0; x < k; x++) store_element(f->b, p->matrix_b, x * g->n + j, p->b[j % COLUMNS][x]);
    if (parts) memcpy((float *)p->scales_b + j * scales, p->part_b[j % COLUMNS], scales * sizeof(float));
    for (size_t x = 0; x < scales && !parts; x++)
      store_element(f->scale, p->scales_b, j * scales + x, p->scale_b[j % COLUMNS][x]);
  }
}

/* ---- Products ---- */

static void compose(product *p) {
  const smma_gemm_arguments *g = &p->with;
  plan_operands x = {.plan = p->plan, .operation = smma_operation_of(p->instruction), .k = g->k};
  x.alpha = (float)g->alpha, x.beta = g->beta == 0 ? 0 : (float)g->beta, x.scale_d = (float)g->scale_d;
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < COLUMNS; j++) {
      x.a = p->a[i], x.b = p->b[j], x.scale_a = p->scale_a[i], x.scale_b = p->scale_b[j];
      x.part_a = p->part_a[i], x.part_b = p->part_b[j], x.bias = p->bias[j];
      x.c = g->beta == 0 ? 0 : p->c[i][j];
      p->d[i][j] = compose_plan(&x);
    }
}

static void check_d(const product *p, const char *kernel) {
  const smma_gemm_arguments *g = &p->with;
  const smma_format f = smma_plan_d_format(p->plan, p->instruction);
  for (size_t i = 0; i < g->m; i++)
    for (size_t j = 0; j < g->n; j++) {
      const uint64_t expected = p->d[i % ROWS][j % COLUMNS], got = load_element(f, p->matrix_d, i * g->n + j);
      if (got != expected)
        fail_msg("%s %s by %s, %zu x %zu, K = %zu, alpha %g, beta %g:\n%s\n(%zu, %zu) is %llx, not %llx", p->info.arch,
                 p->info.name, kernel, g->m, g->n, g->k, g->alpha, g->beta, p->text, i, j, (unsigned long long)got,
                 (unsigned long long)expected);
    }
}

/* Computes the product with each kernel, and sometimes on the tests' device, with matrices in the host's memory and in
   the device's. */
static void multiply(product *p, bool on_devices) {
  static const char *const devices[] = {"opencl", "cuda"};
  smma_gemm_arguments *g = &p->with;
  for (size_t i = 0; smma_kernel_name(i); i++) {
    g->kernel = smma_kernel_name(i);
    memset(p->matrix_d, 0xee, sizeof p->matrix_d);
    assert_int_equal(smma_gemm(p->instruction, g), SMMA_OK);
    check_d(p, g->kernel);
  }
  for (size_t i = 0; on_devices && i < COUNT(devices); i++) {
    g->kernel = devices[i];
    memset(p->matrix_d, 0xee, sizeof p->matrix_d);
    assert_int_equal(i ? gemm_on_device(p->instruction, g) : smma_gemm(p->instruction, g), SMMA_OK);
    check_d(p, g->kernel);
  }
}

/* Checks one product of an instruction with a combination of keys; returns false if the instruction cannot follow any
   plan that was tried. */
static bool check_product(product *p, const smma_instruction *i, const keys *x, size_t number, uint64_t *random) {
  static const size_t sizes[][2] = {{1, 5}, {3, 4}, {6, 40}, {36, 20}};
  const size_t *size = sizes[number % COUNT(sizes)];
  smma_gemm_arguments *g = &p->with;
  p->instruction = i, p->info = describe(i);
  for (size_t attempt = 0; attempt < 12; attempt++) {
    const size_t most = 2 * (size_t)p->info.k + 30;
    smma_gemm_defaults(g, sizeof *g);
    g->m = size[0], g->n = size[1], g->k = 1 + below(random, most < LONGEST ? most : LONGEST);
    if (attempt % 2) g->k = (size_t)p->info.k * (1 + g->k % 2);
    assert_true(g->k <= LONGEST_K);
    p->plan = make_plan(x, attempt > 6, (size_t)p->info.k, g->k, random, p->text);
    if (smma_plan_check(p->plan, i, g->k, NULL) == SMMA_OK) break;
    smma_plan_free(p->plan), p->plan = NULL;
  }
  if (!p->plan) return false;
  g->plan = p->plan, g->a = p->matrix_a, g->b = p->matrix_b, g->d = p->matrix_d, g->threads = 1;
  fill_factors(p, random);
  if (scales_of(p)) g->scale_a = p->scales_a, g->scale_b = p->scales_b;
  fill(p, number, random);
  lay_out(p);
  compose(p);
  multiply(p, number % 16 == 0);
  smma_plan_free(p->plan);
  return true;
}

/* Returns the keys without roundings and scale factors, for FP64 and integer accumulators, which have neither. */
static keys keys_for(const smma_instruction *i, const keys *x) {
  const smma_format d = describe(i).d;
  keys own = *x;
  if (d == SMMA_F64 || d == SMMA_S32) own.stored = own.total = own.with = 0;
  return own;
}

static void test_every_combination(void **state) {
  const size_t rounds = amount_of("SOFTMMA_PLAN_ROUNDS", 2);
  static const smma_instruction *list[MOST_OPERATIONS];
  static unsigned char checked[MOST_OPERATIONS];
  const size_t count = kernel_operations(list);
  product *p = calloc(1, sizeof *p);
  uint64_t random = 20261126;
  size_t number = 0, products = 0;
  (void)state;
  assert_non_null(p);
  for (size_t round = 0; round < rounds; round++)
    for (size_t index = 0; index < COMBINATIONS; index++) {
      const keys x = keys_of(index);
      bool done = false;
      if (!exists(&x)) continue;
      for (size_t attempt = 0; attempt < count && !done; attempt++) {
        const size_t which = number++ % count;
        const keys own = keys_for(list[which], &x);
        const bool multiplied = check_product(p, list[which], &own, number, &random);
        checked[which] |= multiplied;
        done = multiplied && own.stored == x.stored && own.total == x.total && own.with == x.with;
      }
      if (!done) fail_msg("combination %zu has no product", index);
      products++;
    }
  for (size_t i = 0; i < count && rounds > 1; i++)
    if (!checked[i]) fail_msg("%s has no product", describe(list[i]).name);
  printf("%zu products of %zu operations\n", products, count);
  free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_combination)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
