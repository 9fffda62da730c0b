/* Compares the core with the oracle, for every parameter set of every algorithm, bit for bit. SOFTMMA_ORACLE_ROWS sets
   the number of test vectors of each test. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* clang-format off */
#include <cmocka.h>
/* clang-format on */

#include "amount.h"
#include "core/rule.h"
#include "isa/catalogue.h"
#include "isa/compose.h"
#include "isa/format_name.h"
#include "operands.h"
#include "oracle.h"
#include "random.h"

#define DEFAULT_ROWS 100000
#define CONTROL_ROWS 400000
#define SEED 20250101
#define MOST_OPERATIONS 512
#define MOST_REPORTS 5

static uint64_t rows_per_test(void) { return amount_of("SOFTMMA_ORACLE_ROWS", DEFAULT_ROWS); }

/* Operations. */

typedef struct {
  smma_operation of[MOST_OPERATIONS];
  int count;
} operation_list;

static void add(operation_list *list, smma_operation o) {
  assert_true(list->count < MOST_OPERATIONS);
  list->of[list->count++] = o;
}

/* The number of a format, by its short name. */
#define F(name) SMMA_FORMAT_NAMED(name)

static smma_operation operation(smma_algorithm algorithm, smma_nan_policy nan, smma_format a, smma_format b,
                                smma_format c, smma_format d, int k) {
  smma_operation o;
  memset(&o, 0, sizeof o);
  o.rule.algorithm = algorithm;
  o.rule.nan = nan;
  o.a = a;
  o.b = b;
  o.c = c;
  o.d = d;
  o.scale = F(none);
  o.k = k;
  return o;
}

/* Returns T-FDPA(F, L, e_zero): FP32 and e8m13 round toward zero, FP16 to nearest even. */
static smma_operation truncated(smma_format a, smma_format b, smma_format output, int k, int bits, int block,
                                int zero_exponent) {
  bool half = output == F(f16);
  smma_format d = half ? F(f16) : F(f32);
  smma_operation o = operation(SMMA_T_FDPA, SMMA_NAN_ALL_ONES, a, b, d, d, k);
  o.rule.with.t_fdpa.alignment_bits = bits;
  o.rule.with.t_fdpa.block = block;
  o.rule.with.t_fdpa.zero_exponent = zero_exponent;
  o.rule.with.t_fdpa.output = output;
  o.rule.with.t_fdpa.rounding = half ? SMMA_ROUND_NEAREST_EVEN : SMMA_ROUND_TOWARD_ZERO;
  return o;
}

/* Adds operations of one block and of three blocks. */
static void add_truncated(operation_list *list, smma_format a, smma_format b, smma_format output, int bits, int block,
                          int zero_exponent) {
  add(list, truncated(a, b, output, block, bits, block, zero_exponent));
  add(list, truncated(a, b, output, block > 16 ? 2 * block : 3 * block, bits, block, zero_exponent));
}

static void list_volta_turing(operation_list *list) {
  smma_operation mixed;
  add_truncated(list, F(f16), F(f16), F(f32), 23, 4, -131);
  add_truncated(list, F(f16), F(f16), F(f16), 23, 4, -19);
  for (int block = 4; block <= 8; block += 4) {
    add_truncated(list, F(f16), F(f16), F(f32), 24, block, -132);
    add_truncated(list, F(f16), F(f16), F(f16), 24, block, -20);
  }
  for (int i = 0; i < 5; i += 4) { /* m8n8k4 with C in FP16 and D in FP32 */
    mixed = list->of[i];
    mixed.c = F(f16);
    add(list, mixed);
  }
}

static void list_ampere_ada(operation_list *list) {
  add_truncated(list, F(f16), F(f16), F(f32), 24, 8, -132);
  add_truncated(list, F(f16), F(f16), F(f16), 24, 8, -20);
  add_truncated(list, F(bf16), F(bf16), F(f32), 24, 8, -132);
  add_truncated(list, F(tf32), F(tf32), F(f32), 24, 4, -132);
}

static const smma_format fp8[] = {F(e4m3), F(e5m2)};
static const smma_format fnuz[] = {F(e4m3fnuz), F(e5m2fnuz)};
static const smma_format small[] = {F(e4m3), F(e5m2), F(e3m2), F(e2m3), F(e2m1)};

static void list_ada_fp8(operation_list *list) {
  for (int i = 0; i < 4; i++) {
    add_truncated(list, fp8[i / 2], fp8[i % 2], F(e8m13), 13, 16, -132);
    add_truncated(list, fp8[i / 2], fp8[i % 2], F(f16), 13, 16, -20);
  }
}

/* Adds the operations of Hopper, and Blackwell's in larger formats. */
static void list_hopper(operation_list *list) {
  static const int f16_zero[] = {-21, -133};
  add_truncated(list, F(f16), F(f16), F(f32), 25, 16, -133);
  add_truncated(list, F(bf16), F(bf16), F(f32), 25, 16, -133);
  add_truncated(list, F(tf32), F(tf32), F(f32), 25, 8, -133);
  for (int i = 0; i < 2; i++) add_truncated(list, F(f16), F(f16), F(f16), 25, 16, f16_zero[i]);
  /* m16n8k8 and m16n8k4: less than one block of Hopper's */
  add(list, truncated(F(bf16), F(bf16), F(f32), 8, 25, 8, -133));
  add(list, truncated(F(tf32), F(tf32), F(f32), 4, 25, 4, -133));
}

static void list_hopper_fp8(operation_list *list) {
  for (int i = 0; i < 4; i++) {
    add_truncated(list, fp8[i / 2], fp8[i % 2], F(e8m13), 13, 32, -133);
    add_truncated(list, fp8[i / 2], fp8[i % 2], F(f16), 13, 32, -133);
  }
}

static void list_blackwell_f8f6f4(operation_list *list) {
  for (int i = 0; i < 25; i++) {
    smma_format a = small[i / 5], b = small[i % 5];
    add(list, truncated(a, b, F(f32), 32, 25, 32, -133));
    add(list, truncated(a, b, F(f16), 32, 25, 32, -22));
    add(list, truncated(a, b, F(f16), 32, 25, 32, -133));
    add(list, truncated(a, b, F(f32), 64, 25, 32, -133));
  }
}

static void list_st_fdpa(operation_list *list) {
  for (int i = 0; i < 50; i++) {
    smma_operation o = truncated(small[i / 10], small[i / 2 % 5], F(f32), i % 2 ? 64 : 32, 25, 32, -133);
    o.rule.algorithm = SMMA_ST_FDPA;
    o.scale = F(ue8m0);
    o.scale_block = 32;
    add(list, o);
  }
}

static void list_gst_fdpa(operation_list *list) {
  for (int i = 0; i < 4; i++) {
    smma_operation o = operation(SMMA_GST_FDPA, SMMA_NAN_ALL_ONES, F(e2m1), F(e2m1), F(f32), F(f32), 64);
    smma_t_fdpa fused = truncated(F(e2m1), F(e2m1), F(f32), 64, 35, 4, -139).rule.with.t_fdpa;
    o.rule.with.gst_fdpa.group = 16;
    o.rule.with.gst_fdpa.fused = fused;
    o.scale = i % 2 ? F(ue4m3) : F(ue8m0);
    o.scale_block = i / 2 ? 32 : 16;
    add(list, o);
  }
}

static void list_fp8_by_fp16(operation_list *list) {
  for (int i = 0; i < 16; i++) {
    smma_format output = i / 4 % 2 ? F(f16) : F(f32);
    int k = i / 8 ? 16 : 32;
    smma_operation o = truncated(fp8[i / 2 % 2], fp8[i % 2], output, k, 25, k / 2, i / 4 % 2 ? -21 : -133);
    o.rule.algorithm = SMMA_FP8_BY_FP16;
    o.rule.nan = SMMA_NAN_QUIET; /* the last step is an ordinary addition */
    add(list, o);
  }
}

static smma_operation amd(smma_algorithm algorithm, smma_format a, smma_format b, int k) {
  return operation(algorithm, SMMA_NAN_QUIET, a, b, F(f32), F(f32), k);
}

static void list_e_fdpa(operation_list *list) {
  static const int lengths[] = {4, 8, 16};
  for (int i = 0; i < 3; i++) {
    smma_operation half = amd(SMMA_E_FDPA, F(f16), F(f16), lengths[i]);
    smma_operation bfloat = amd(SMMA_E_FDPA, F(bf16), F(bf16), lengths[i] / 2);
    half.rule.with.e_fdpa.block = 4;
    bfloat.rule.with.e_fdpa.block = 2;
    add(list, half);
    add(list, bfloat);
  }
}

static void list_ftz_addmul(operation_list *list) {
  static const smma_format formats[] = {F(f16), F(bf16), F(bf16)};
  static const int pairwise[] = {4, 2, 4};
  for (int i = 0; i < 9; i++) {
    smma_operation o = amd(SMMA_FTZ_ADDMUL, formats[i % 3], formats[i % 3], pairwise[i % 3] << i / 3);
    o.rule.with.ftz_addmul.pairwise = pairwise[i % 3];
    add(list, o);
  }
}

static void add_rounded_down(operation_list *list, smma_algorithm algorithm, smma_format a, smma_format b, int block) {
  for (int i = 0; i < 4; i++) {
    smma_operation o = amd(algorithm, a, b, block << i / 2);
    o.rule.with.tr_fdpa.alignment_bits = 24;
    o.rule.with.tr_fdpa.sum_bits = 31;
    o.rule.with.tr_fdpa.block = block;
    o.rule.with.tr_fdpa.revision = 2 - i % 2;
    add(list, o);
  }
}

static void list_tr_fdpa(operation_list *list) {
  add_rounded_down(list, SMMA_TR_FDPA, F(f16), F(f16), 8);
  add_rounded_down(list, SMMA_TR_FDPA, F(bf16), F(bf16), 8);
  add_rounded_down(list, SMMA_TR_FDPA, F(tf32), F(tf32), 4);
  add_rounded_down(list, SMMA_TR_FDPA, F(f16), F(f16), 4); /* K = 4: half a block */
  add_rounded_down(list, SMMA_TR_FDPA, F(bf16), F(bf16), 4);
}

static void list_gtr_fdpa(operation_list *list) {
  for (int i = 0; i < 4; i++) add_rounded_down(list, SMMA_GTR_FDPA, fnuz[i / 2], fnuz[i % 2], 16);
}

static smma_operation opposing(smma_algorithm algorithm, smma_format a, smma_format b, smma_format d, int k, int block,
                               int group, int stride) {
  smma_operation o = operation(algorithm, SMMA_NAN_BY_SOURCE, a, b, d, d, k);
  o.rule.with.c_fdpa = (smma_c_fdpa){24, 26, block, stride, d, SMMA_SUM_TO_INFINITY, group};
  return o;
}

/* Adds operations with each output format, both overflow rules, and scale factors that the units do not have. */
static void list_c_fdpa(operation_list *list) {
  static const smma_format factors[] = {F(f16), F(bf16), F(f32), F(e5m2)}, outputs[] = {F(f32), F(f16), F(bf16)};
  for (int i = 0; i < 12; i++) {
    smma_operation o = opposing(SMMA_C_FDPA, factors[i / 3], factors[i / 3], outputs[i % 3], 16, 2, 2, 1);
    add(list, o);
    o.rule.with.c_fdpa.overflow = SMMA_SUM_SATURATES;
    o.rule.with.c_fdpa.block = 4;
    o.rule.with.c_fdpa.stride = 2;
    o.a = F(f16);
    add(list, o);
  }
}

static void list_gd_fdpa(operation_list *list) {
  static const smma_format factors[] = {F(f16), F(bf16), F(f32), F(e4m3)}, outputs[] = {F(f32), F(f16), F(bf16)};
  for (int i = 0; i < 12; i++) {
    smma_operation o = opposing(SMMA_GD_FDPA, factors[i / 3], factors[i / 3], outputs[i % 3], 16, 4, 2, 1 + i % 2);
    add(list, o);
    o.rule.nan = SMMA_NAN_MARKED;
    o.rule.with.c_fdpa.overflow = SMMA_SUM_SATURATES;
    o.rule.with.c_fdpa.group = 4;
    o.b = F(e5m2);
    add(list, o);
  }
}

static void list_fma(operation_list *list) {
  for (int k = 1; k <= 16; k *= 2) {
    add(list, amd(SMMA_FMA, F(f32), F(f32), k));
    add(list, operation(SMMA_FMA, SMMA_NAN_QUIET, F(f64), F(f64), F(f64), F(f64), k));
  }
  for (smma_rounding direction = SMMA_ROUND_TOWARD_ZERO; direction <= SMMA_ROUND_NEAREST_AWAY; direction++) {
    smma_operation wide = operation(SMMA_FMA, SMMA_NAN_QUIET, F(f64), F(f64), F(f64), F(f64), 4);
    smma_operation single = amd(SMMA_FMA, F(f16), F(f32), 4);
    wide.rule.with.fma.rounding = single.rule.with.fma.rounding = direction;
    add(list, wide);
    add(list, single);
  }
}

static smma_operation ftz_fma(void) {
  return operation(SMMA_FTZ_FMA, SMMA_NAN_OPERAND, F(bf16), F(bf16), F(f32), F(f32), 2);
}

static void list_ftz_fma(operation_list *list) { add(list, ftz_fma()); }

/* Lists operations on single bits. They count the positions at which a and b are both set, or at which they differ. */
static void list_bits(operation_list *list) {
  static const int lengths[] = {1, 16, 128, 256};
  for (int i = 0; i < 16; i++) {
    smma_operation o = operation(SMMA_INTEGER, SMMA_NAN_QUIET, F(b1), F(b1), F(s32), F(s32), lengths[i / 4]);
    o.rule.with.integer.overflow = i % 2 ? SMMA_INTEGER_SATURATES : SMMA_INTEGER_WRAPS;
    o.rule.with.integer.product = i / 2 % 2 ? SMMA_PRODUCT_XOR : SMMA_PRODUCT_MULTIPLIED;
    add(list, o);
  }
}

/* Adds the operations of m8n8k16, of m16n8k32 and of the shortest MFMA. */
static void list_integer(operation_list *list) {
  static const smma_format formats[] = {F(s8), F(u8), F(s4), F(u4)};
  static const int lengths[] = {4, 16, 32, 64};
  for (int i = 0; i < 128; i++) {
    smma_operation o =
        operation(SMMA_INTEGER, SMMA_NAN_QUIET, formats[i / 4 % 4], formats[i % 4], F(s32), F(s32), lengths[i / 32]);
    o.rule.with.integer.overflow = i / 16 % 2 ? SMMA_INTEGER_SATURATES : SMMA_INTEGER_WRAPS;
    add(list, o);
    if (o.k % 16) continue;
    o.rule.with.integer.two_stages = 1;
    add(list, o);
  }
}

/* Every operation of the catalogue once, including those that the lists above leave out. */
static void list_catalogue(operation_list *list) {
  const smma_instruction *i;
  for (size_t index = 0; (i = smma_catalogue_at(index)); index++)
    if (smma_catalogue_twin(i) == i) add(list, smma_operation_of(i));
}

/* Lists operations with every format as a factor. The format of c and d holds all products exactly, except for f64. */
static void list_formats(operation_list *list) {
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++)
    add(list, operation(SMMA_FMA, SMMA_NAN_QUIET, smma_format_at(row), smma_format_at(row), F(f64), F(f64), 1));
}

/* Comparison. */

static void print_operation(const smma_operation *o) {
  const char *name;
  char value[SMMA_PARAMETER_SIZE];
  printf("%s a=%s b=%s c=%s d=%s k=%d", smma_model_name(&o->rule), smma_format_text(o->a), smma_format_text(o->b),
         smma_format_text(o->c), smma_format_text(o->d), o->k);
  if (o->scale_block) printf(" scale=%s per %d", smma_format_text(o->scale), o->scale_block);
  for (int i = 0; smma_parameter(&o->rule, i, &name, value, sizeof value); i++) printf(" %s=%s", name, value);
  printf("\n");
}

static void print_encodings(const char *name, const uint64_t *x, int count) {
  printf("  %s", name);
  for (int i = 0; i < count; i++) printf(" %" PRIx64, x[i]);
  printf("\n");
}

static void print_row(const smma_operation *o, const smma_row *r) {
  int scales = o->scale_block ? o->k / o->scale_block : 0;
  print_encodings("a", r->a, o->k);
  print_encodings("b", r->b, o->k);
  print_encodings("c", &r->c, 1);
  if (scales) print_encodings("scale_a", r->scale_a, scales);
  if (scales) print_encodings("scale_b", r->scale_b, scales);
}

static void decode_all(smma_format format, const uint64_t *x, int count, smma_number *decoded) {
  smma_encoding f = smma_encoding_of(format);
  for (int i = 0; i < count; i++) decoded[i] = smma_decode(f, x[i]);
}

static uint64_t core_dot_add(const smma_operation *o, const smma_row *r) {
  smma_number a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K], scale_a[SMMA_MAXIMUM_ROUNDED_K], scale_b[SMMA_MAXIMUM_ROUNDED_K];
  smma_operands x = {a, b, scale_a, scale_b};
  int scales = o->scale_block ? o->k / o->scale_block : 0;
  decode_all(o->a, r->a, o->k, a);
  decode_all(o->b, r->b, o->k, b);
  decode_all(o->scale, r->scale_a, scales, scale_a);
  decode_all(o->scale, r->scale_b, scales, scale_b);
  return smma_dot_add(o, x, r->c);
}

/* Reports whether results are equal; any two NaNs are equal if the payload is unknown. */
static bool same_result(const smma_operation *o, uint64_t x, uint64_t y) {
  return x == y || (o->rule.nan == SMMA_NAN_QUIET && oracle_is_nan(o->d, x) && oracle_is_nan(o->d, y));
}

static bool same_on_row(const smma_operation *o, const smma_row *r, const char *where, uint64_t number, int *reports) {
  uint64_t expected = oracle_dot_add(o, r->a, r->b, r->c, r->scale_a, r->scale_b), got = core_dot_add(o, r);
  if (same_result(o, expected, got)) return true;
  if ((*reports)++ < MOST_REPORTS) {
    print_operation(o);
    printf("  %s %" PRIu64 ", seed %" PRIu64 "\n", where, number, seed_of(SEED));
    print_row(o, r);
    printf("  expected %" PRIx64 " got %" PRIx64 "\n", expected, got);
  }
  return false;
}

/* Runs at least rows_per_test() test vectors, spread evenly over the operations; each operation gets its own test
   vectors. */
static void check_operations(void (*fill)(operation_list *)) {
  static operation_list list;
  uint64_t mismatches = 0, rows, row = 0;
  int reports = 0;
  list.count = 0;
  fill(&list);
  rows = (rows_per_test() + (uint64_t)list.count - 1) / (uint64_t)list.count;
  for (int i = 0; i < list.count; i++) {
    for (uint64_t n = 0; n < rows; n++, row++) {
      smma_row r;
      operands_generate(&list.of[i], seed_of(SEED), row, &r);
      mismatches += !same_on_row(&list.of[i], &r, "row", row, &reports);
    }
  }
  print_message("%d operations, rows=%" PRIu64 " mismatches=%" PRIu64 "\n", list.count, row, mismatches);
  assert_int_equal(mismatches, 0);
}

#define ORACLE_TEST(name)                 \
  static void test_##name(void **state) { \
    (void)state;                          \
    check_operations(list_##name);        \
  }

ORACLE_TEST(volta_turing)
ORACLE_TEST(ampere_ada)
ORACLE_TEST(ada_fp8)
ORACLE_TEST(hopper)
ORACLE_TEST(hopper_fp8)
ORACLE_TEST(blackwell_f8f6f4)
ORACLE_TEST(st_fdpa)
ORACLE_TEST(gst_fdpa)
ORACLE_TEST(fp8_by_fp16)
ORACLE_TEST(e_fdpa)
ORACLE_TEST(ftz_addmul)
ORACLE_TEST(tr_fdpa)
ORACLE_TEST(gtr_fdpa)
ORACLE_TEST(c_fdpa)
ORACLE_TEST(gd_fdpa)
ORACLE_TEST(fma)
ORACLE_TEST(ftz_fma)
ORACLE_TEST(integer)
ORACLE_TEST(bits)
ORACLE_TEST(catalogue)
ORACLE_TEST(formats)

/* Compares the oracle itself with the C library's correctly rounded fma. */
static void test_oracle_fma(void **state) {
  smma_operation single = amd(SMMA_FMA, F(f32), F(f32), 1);
  smma_operation wide = operation(SMMA_FMA, SMMA_NAN_QUIET, F(f64), F(f64), F(f64), F(f64), 1);
  uint64_t rows = rows_per_test();
  (void)state;
  for (uint64_t row = 0; row < rows; row++) {
    smma_row r;
    uint32_t bits[4];
    uint64_t result;
    float x[3];
    double y[3];
    operands_generate(&single, seed_of(SEED), row, &r);
    bits[0] = (uint32_t)r.a[0];
    bits[1] = (uint32_t)r.b[0];
    bits[2] = (uint32_t)r.c;
    memcpy(x, bits, sizeof x);
    x[0] = fmaf(x[0], x[1], x[2]);
    memcpy(&bits[3], &x[0], sizeof x[0]);
    assert_true(same_result(&single, oracle_dot_add(&single, r.a, r.b, r.c, NULL, NULL), bits[3]));
    operands_generate(&wide, seed_of(SEED), row, &r);
    memcpy(&y[0], &r.a[0], sizeof y[0]);
    memcpy(&y[1], &r.b[0], sizeof y[1]);
    memcpy(&y[2], &r.c, sizeof y[2]);
    y[0] = fma(y[0], y[1], y[2]);
    memcpy(&result, &y[0], sizeof result);
    assert_true(same_result(&wide, oracle_dot_add(&wide, r.a, r.b, r.c, NULL, NULL), result));
  }
}

/* Returns a NaN of any sign and payload, quiet or signalling, in half of all calls; else an infinity, zero or 1. */
static uint64_t often_nan(uint64_t *state, smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const uint64_t infinity = smma_largest_fields(f) + 1, sign = (uint64_t)random_below(state, 2) << (f.bits - 1);
  switch (random_below(state, 8)) {
    case 0: return sign | infinity;
    case 1: return sign;
    case 2:
    case 3: return sign | (uint64_t)f.bias << f.fraction_bits;
    default: return sign | infinity | (smma_low_bits(random_bits(state), f.fraction_bits) | 1);
  }
}

static void check_rows_of_nan(const smma_operation *o) {
  uint64_t draws = SEED, mismatches = 0;
  int reports = 0;
  for (uint64_t row = 0; row < 4000; row++) {
    smma_row r = {.c = often_nan(&draws, o->c)};
    for (int k = 0; k < o->k; k++) r.a[k] = often_nan(&draws, o->a), r.b[k] = often_nan(&draws, o->b);
    mismatches += !same_on_row(o, &r, "row", row, &reports);
  }
  assert_int_equal(mismatches, 0);
}

/* Test vectors with several NaN, for the policies that determine which of them a step returns: steps of FMA, and other
   steps. */
static void test_order_of_nan(void **state) {
  (void)state;
  for (int k = 2; k <= 8; k *= 2) {
    smma_operation of[] = {operation(SMMA_FMA, SMMA_NAN_B_SUM_A, F(f64), F(f64), F(f64), F(f64), k),
                           operation(SMMA_FMA, SMMA_NAN_B_SUM_A, F(f16), F(bf16), F(f32), F(f32), k),
                           operation(SMMA_E_FDPA, SMMA_NAN_B_SUM_A, F(f16), F(bf16), F(f32), F(f32), k),
                           operation(SMMA_GTR_FDPA, SMMA_NAN_B_SUM_A, F(f16), F(bf16), F(f32), F(f32), k)};
    of[2].rule.with.e_fdpa.block = 2;
    of[3].rule.with.tr_fdpa = (smma_tr_fdpa){24, 31, 2, 2};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
      smma_operation composed = of[i];
      composed.rule.algorithm = SMMA_COMPOSITION;
      assert_true(smma_compose(&of[i], &composed.rule.with.composition));
      check_rows_of_nan(&composed);
      if (of[i].rule.algorithm == SMMA_FMA) check_rows_of_nan(&of[i]);
    }
  }
}

/* Test vectors for cases that random operands seldom reach. */
static void test_zeros_of_flushing_rules(void **state) {
  /* c + p0 is flushed to -0; then a = -0 reads as +0, and the sum is +0. Source: MMA-Sim, section IV-B. */
  smma_row cdna2 = {.a = {0x0080, 0, 0x8000, 0x8000}, .b = {0x3f80, 0, 0x3f80, 0x3f80}, .c = 0x80800001};
  /* 2^-126 minus a little more than 2^-151, recorded on x86: flushed before it could round to 2^-126. */
  smma_row x86 = {.a = {0x99ff, 0x19ff}, .b = {0x1981, 0x1981}, .c = 0x00800000};
  smma_operation pairs = amd(SMMA_FTZ_ADDMUL, F(bf16), F(bf16), 4), fma = ftz_fma();
  int reports = 0;
  (void)state;
  pairs.rule.with.ftz_addmul.pairwise = 2;
  assert_int_equal(oracle_dot_add(&pairs, cdna2.a, cdna2.b, cdna2.c, NULL, NULL), 0);
  assert_true(same_on_row(&pairs, &cdna2, "row", 0, &reports));
  assert_true(same_on_row(&fma, &x86, "row", 1, &reports));
}

/* Runs every pair of elements among zeros, with c = 0 and scale factors of one. Returns the number of mismatches. */

static uint64_t mismatches_of_all_pairs(const smma_operation *o, uint64_t *rows, int *reports) {
  uint64_t codes_a = UINT64_C(1) << smma_encoding_of(o->a).bits, codes_b = UINT64_C(1) << smma_encoding_of(o->b).bits;
  uint64_t mismatches = 0;
  smma_row r;
  memset(&r, 0, sizeof r);
  for (int s = 0; s < SMMA_MAXIMUM_ROUNDED_K; s++) r.scale_a[s] = r.scale_b[s] = o->scale == F(ue4m3) ? 0x38 : 127;
  for (uint64_t a = 0; a < codes_a; a++) {
    for (uint64_t b = 0; b < codes_b; b++, ++*rows) {
      r.a[0] = a;
      r.b[0] = b;
      mismatches += !same_on_row(o, &r, "pair", a * codes_b + b, reports);
    }
  }
  return mismatches;
}

/* Checks the operations of a list with one block; with two blocks if the rule has two. */
static void check_all_pairs(void (*fill)(operation_list *)) {
  static operation_list list;
  uint64_t mismatches = 0, rows = 0;
  int reports = 0;
  list.count = 0;
  fill(&list);
  for (int i = 0; i < list.count; i++) {
    const smma_operation *o = &list.of[i];
    if (o->k == smma_block_of(o) || o->rule.algorithm == SMMA_FP8_BY_FP16)
      mismatches += mismatches_of_all_pairs(o, &rows, &reports);
  }
  print_message("pairs=%" PRIu64 " mismatches=%" PRIu64 "\n", rows, mismatches);
  assert_int_equal(mismatches, 0);
}

#define EXHAUSTIVE_TEST(name)                       \
  static void test_all_pairs_##name(void **state) { \
    (void)state;                                    \
    check_all_pairs(list_##name);                   \
  }

EXHAUSTIVE_TEST(ada_fp8)
EXHAUSTIVE_TEST(hopper_fp8)
EXHAUSTIVE_TEST(blackwell_f8f6f4)
EXHAUSTIVE_TEST(st_fdpa)
EXHAUSTIVE_TEST(gst_fdpa)
EXHAUSTIVE_TEST(fp8_by_fp16)
EXHAUSTIVE_TEST(gtr_fdpa)
EXHAUSTIVE_TEST(integer)

/* A negative control. If the core's parameters differ from the oracle's, there must be mismatches. */

static void assert_noticed(const smma_operation *o, const smma_operation *other) {
  for (uint64_t row = 0; row < CONTROL_ROWS; row++) {
    smma_row r;
    operands_generate(o, SEED, row, &r);
    if (!same_result(o, oracle_dot_add(o, r.a, r.b, r.c, r.scale_a, r.scale_b), core_dot_add(other, &r))) return;
  }
  print_operation(o);
  print_operation(other);
  fail_msg("no row of %d tells these operations apart", CONTROL_ROWS);
}

static smma_t_fdpa *truncation_of(smma_operation *o) {
  return o->rule.algorithm == SMMA_GST_FDPA ? &o->rule.with.gst_fdpa.fused : &o->rule.with.t_fdpa;
}

static smma_operation first_of(void (*fill)(operation_list *)) {
  static operation_list list;
  list.count = 0;
  fill(&list);
  return list.of[0];
}

static void test_notices_alignment_bits(void **state) {
  smma_operation all[] = {truncated(F(f16), F(f16), F(f32), 4, 23, 4, -131),
                          truncated(F(f16), F(f16), F(f16), 8, 24, 8, -21),
                          truncated(F(bf16), F(bf16), F(f32), 8, 24, 8, -132),
                          truncated(F(tf32), F(tf32), F(f32), 8, 25, 8, -133),
                          truncated(F(e4m3), F(e4m3), F(e8m13), 16, 13, 16, -132),
                          truncated(F(e5m2), F(e5m2), F(f16), 32, 13, 32, -133),
                          first_of(list_st_fdpa),
                          first_of(list_gst_fdpa),
                          first_of(list_fp8_by_fp16)};
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    for (int step = -1; step <= 1; step += 2) {
      smma_operation other = all[i];
      truncation_of(&other)->alignment_bits += step;
      assert_noticed(&all[i], &other);
    }
  }
}

/* The difference shows if products extend below e_zero. */
static void test_notices_zero_exponent(void **state) {
  smma_operation all[] = {
      truncated(F(bf16), F(bf16), F(f32), 8, 24, 8, -132), truncated(F(bf16), F(bf16), F(f32), 16, 25, 16, -133),
      truncated(F(tf32), F(tf32), F(f32), 8, 25, 8, -133), first_of(list_st_fdpa), first_of(list_gst_fdpa)};
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    for (int step = -1; step <= 1; step += 2) {
      smma_operation other = all[i];
      truncation_of(&other)->zero_exponent += step;
      assert_noticed(&all[i], &other);
    }
  }
}

static void test_notices_output_and_block(void **state) {
  smma_operation narrow = truncated(F(e4m3), F(e4m3), F(e8m13), 16, 13, 16, -132), other = narrow;
  smma_operation chain = truncated(F(f16), F(f16), F(f32), 16, 24, 8, -132);
  (void)state;
  truncation_of(&other)->output = F(f32);
  assert_noticed(&narrow, &other);
  other = narrow;
  truncation_of(&other)->rounding = SMMA_ROUND_NEAREST_EVEN;
  assert_noticed(&narrow, &other);
  other = narrow;
  other.rule.nan = SMMA_NAN_QUIET;
  assert_noticed(&narrow, &other);
  other = chain;
  truncation_of(&other)->block = 4;
  assert_noticed(&chain, &other);
  other = first_of(list_fp8_by_fp16);
  other.rule.algorithm = SMMA_T_FDPA;
  chain = first_of(list_fp8_by_fp16);
  assert_noticed(&chain, &other);
}

static void test_notices_rounding_down(void **state) {
  smma_operation all[] = {first_of(list_tr_fdpa), first_of(list_gtr_fdpa)};
  (void)state;
  for (int i = 0; i < 2; i++) {
    smma_operation other = all[i];
    other.rule.with.tr_fdpa.revision = 1;
    assert_noticed(&all[i], &other);
    assert_noticed(&other, &all[i]);
    for (int step = -1; step <= 1; step += 2) {
      other = all[i];
      other.rule.with.tr_fdpa.alignment_bits += step;
      assert_noticed(&all[i], &other);
      other = all[i];
      other.rule.with.tr_fdpa.sum_bits += step;
      assert_noticed(&all[i], &other);
    }
    other = all[i];
    other.rule.algorithm = i ? SMMA_TR_FDPA : SMMA_GTR_FDPA;
    assert_noticed(&all[i], &other);
  }
}

static void test_notices_opposing(void **state) {
  const smma_operation all[] = {opposing(SMMA_C_FDPA, F(bf16), F(bf16), F(f32), 16, 2, 2, 1),
                                opposing(SMMA_GD_FDPA, F(f16), F(f16), F(f16), 16, 4, 2, 1)};
  (void)state;
  for (int i = 0; i < 2; i++) {
    smma_operation other = all[i];
    other.rule.algorithm = i ? SMMA_C_FDPA : SMMA_GD_FDPA;
    assert_noticed(&all[i], &other);
    for (int step = -1; step <= 1; step += 2) {
      other = all[i];
      other.rule.with.c_fdpa.alignment_bits += step;
      assert_noticed(&all[i], &other);
      other = all[i];
      other.rule.with.c_fdpa.c_bits += step;
      assert_noticed(&all[i], &other);
    }
    other = all[i];
    other.rule.with.c_fdpa.block = 8;
    assert_noticed(&all[i], &other);
    other = all[i];
    other.rule.with.c_fdpa.stride = 2;
    assert_noticed(&all[i], &other);
    other = all[i];
    other.rule.nan = SMMA_NAN_MARKED;
    assert_noticed(&all[i], &other);
  }
  smma_operation other = all[1];
  other.rule.with.c_fdpa.group = 4;
  assert_noticed(&all[1], &other);
  other = all[1];
  other.rule.with.c_fdpa.overflow = SMMA_SUM_SATURATES;
  assert_noticed(&all[1], &other);
}

static void test_notices_order_of_sums(void **state) {
  smma_operation exact = first_of(list_e_fdpa), pairs = first_of(list_ftz_addmul), fma = first_of(list_ftz_fma), other;
  (void)state;
  other = exact;
  other.rule.with.e_fdpa.block = 2;
  assert_noticed(&exact, &other);
  other = pairs;
  other.rule.with.ftz_addmul.pairwise = 2;
  assert_noticed(&pairs, &other);
  other = fma;
  other.rule.algorithm = SMMA_FMA;
  other.rule.with.fma.rounding = SMMA_ROUND_NEAREST_EVEN;
  assert_noticed(&fma, &other);
  fma = other;
  other.rule.with.fma.rounding = SMMA_ROUND_DOWN;
  assert_noticed(&fma, &other);
}

static void test_notices_overflow_of_integers(void **state) {
  smma_operation wraps = first_of(list_integer), saturates = wraps, is_unsigned = wraps;
  (void)state;
  saturates.rule.with.integer.overflow = SMMA_INTEGER_SATURATES;
  is_unsigned.a = F(u8);
  assert_noticed(&wraps, &saturates);
  assert_noticed(&wraps, &is_unsigned);
  saturates.k = 32;
  smma_operation stages = saturates;
  stages.rule.with.integer.two_stages = 1;
  assert_noticed(&saturates, &stages);
  smma_operation all = first_of(list_bits), differing = all;
  all.k = differing.k = 128;
  differing.rule.with.integer.product = SMMA_PRODUCT_XOR;
  assert_noticed(&all, &differing);
}

/* The argument is a pattern of the tests to run. */
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_volta_turing),
      cmocka_unit_test(test_ampere_ada),
      cmocka_unit_test(test_ada_fp8),
      cmocka_unit_test(test_hopper),
      cmocka_unit_test(test_hopper_fp8),
      cmocka_unit_test(test_blackwell_f8f6f4),
      cmocka_unit_test(test_st_fdpa),
      cmocka_unit_test(test_gst_fdpa),
      cmocka_unit_test(test_fp8_by_fp16),
      cmocka_unit_test(test_e_fdpa),
      cmocka_unit_test(test_ftz_addmul),
      cmocka_unit_test(test_tr_fdpa),
      cmocka_unit_test(test_gtr_fdpa),
      cmocka_unit_test(test_c_fdpa),
      cmocka_unit_test(test_gd_fdpa),
      cmocka_unit_test(test_fma),
      cmocka_unit_test(test_ftz_fma),
      cmocka_unit_test(test_integer),
      cmocka_unit_test(test_bits),
      cmocka_unit_test(test_catalogue),
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_oracle_fma),
      cmocka_unit_test(test_order_of_nan),
      cmocka_unit_test(test_zeros_of_flushing_rules),
      cmocka_unit_test(test_all_pairs_ada_fp8),
      cmocka_unit_test(test_all_pairs_hopper_fp8),
      cmocka_unit_test(test_all_pairs_blackwell_f8f6f4),
      cmocka_unit_test(test_all_pairs_st_fdpa),
      cmocka_unit_test(test_all_pairs_gst_fdpa),
      cmocka_unit_test(test_all_pairs_fp8_by_fp16),
      cmocka_unit_test(test_all_pairs_gtr_fdpa),
      cmocka_unit_test(test_all_pairs_integer),
      cmocka_unit_test(test_notices_alignment_bits),
      cmocka_unit_test(test_notices_zero_exponent),
      cmocka_unit_test(test_notices_output_and_block),
      cmocka_unit_test(test_notices_rounding_down),
      cmocka_unit_test(test_notices_opposing),
      cmocka_unit_test(test_notices_order_of_sums),
      cmocka_unit_test(test_notices_overflow_of_integers),
  };
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
