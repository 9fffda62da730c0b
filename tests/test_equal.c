/* Compares proofs of equality with test vectors, for every two instructions of the catalogue with the same formats. A
   proved pair must agree on SOFTMMA_EQUAL_ROWS test vectors of each kind and as many directed ones. A pair that is not
   proved must have a counterexample, or be listed; this is checked for one of SOFTMMA_EQUAL_EVERY pairs. Changes that
   are declared to have no effect (zeros, permuted k) must have none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "core/row.h"
#include "equal/equal.h"
#include "equal/product.h"
#include "host/load.h"
#include "isa/catalogue.h"
#include "isa/compose.h"
#include "isa/custom.h"
#include "random_unit.h"
#include "rows/generate.h"
#include "rows/rows.h"
#include "support.h"

enum { MOST_OPERATIONS = 1024, SEARCHED = 200000 };

/* The different operations of the catalogue. `rows` is the number of catalogue rows that compute an operation;
   instructions that differ only in N are one row. */
typedef struct {
  const smma_instruction *instruction;
  int rows;
} entry;

static entry entries[MOST_OPERATIONS];
static int count;
static uint64_t rows_of_each_kind;

/* Reports whether both are one row of `softmma list`: equal except for M and N. */
static bool same_row(const smma_instruction *x, const smma_instruction *y) {
  return x && x->arch == y->arch && x->family == y->family && x->family != SMMA_FAMILY_MMA &&
         x->family != SMMA_FAMILY_MFMA && smma_same_operation(x, y);
}

static void collect(void) {
  const smma_instruction *i, *previous = NULL;
  for (size_t n = 0; (i = smma_catalogue_at(n)); n++) {
    int at = 0;
    if (same_row(previous, i)) continue;
    previous = i;
    while (at < count && !smma_same_operation(entries[at].instruction, i)) at++;
    if (at == count) {
      assert_true(count < MOST_OPERATIONS);
      entries[count++] = (entry){i, 0};
    }
    entries[at].rows++;
  }
}

static bool same_formats(const smma_instruction *x, const smma_instruction *y) {
  return x->a == y->a && x->b == y->b && x->c == y->c && x->d == y->d && x->scale_block == y->scale_block &&
         x->scale == y->scale;
}

static void name_pair(const smma_instruction *x, const smma_instruction *y) {
  print_error("%s %s and %s %s\n", smma_arch_name(x), x->name, smma_arch_name(y), y->name);
}

static void print_row(const smma_witness *w) {
  print_error("rows of %s, K = %d:", w->as.name, w->as.k);
  for (int k = 0; k < w->as.k; k++)
    if (w->row.a[k] || w->row.b[k])
      print_error(" %d: %llx %llx", k, (unsigned long long)w->row.a[k], (unsigned long long)w->row.b[k]);
  print_error(" c: %llx d: %llx other: %llx\n", (unsigned long long)w->row.c, (unsigned long long)w->row.d,
              (unsigned long long)w->other);
}

/* Reports whether test vectors of this K agree, with `rows` of each kind. K is padded to a multiple of the tiles. */
static bool agree(const smma_instruction *x, const smma_instruction *y, int k, int tile_x, int tile_y, uint64_t rows) {
  const smma_instruction *const target[2] = {x, y};
  const int tile[2] = {tile_x, tile_y};
  smma_product_unit product[2];
  smma_instruction as;
  smma_witness witness;
  smma_error error;
  const bool any_c = smma_product_rows(target, k, tile, &as);
  const smma_common_operands common = smma_common_operands_of(target);
  const smma_search search = {.common = &common,
                              .unit = {&product[0].unit, &product[1].unit},
                              .as = &as,
                              .rule = {&x->rule->rule, &y->rule->rule},
                              .without_c = !any_c,
                              .rows = 2 * SMMA_ROWS_IN_TURN * rows,
                              .seed = 1};
  for (int t = 0; t < 2; t++) assert_true(smma_product_open(&product[t], target[t], &as, tile[t], &common, &error));
  assert_true(smma_find_witness(&search, &witness, &error));
  for (int t = 0; t < 2; t++) smma_product_close(&product[t]);
  if (witness.found) {
    name_pair(x, y);
    print_row(&witness);
  }
  return !witness.found;
}

static int common_multiple(int x, int y) {
  int multiple = x;
  while (multiple % y) multiple += x;
  return multiple;
}

/* Checks a proof for every K: values of K that both take without padding, and values that the instruction with the
   larger K pads with zeros. */
static void check_proof(const smma_instruction *x, const smma_instruction *y, int multiple, uint64_t rows) {
  const int least = x->k < y->k ? x->k : y->k, common = common_multiple(x->k, y->k);
  if (common <= MOST_K) assert_true(agree(x, y, common, x->k, y->k, rows));
  if (multiple == 1 && x->k != y->k) assert_true(agree(x, y, least, x->k, y->k, rows));
}

/* Pairs that are not proved and have no counterexample. */
static const char *const unknown[] = {NULL};

static bool is_listed(const smma_instruction *x, const smma_instruction *y) {
  char pair[512];
  snprintf(pair, sizeof pair, "%s %s and %s %s", smma_arch_name(x), x->name, smma_arch_name(y), y->name);
  for (int n = 0; unknown[n]; n++)
    if (strcmp(unknown[n], pair) == 0) return true;
  return false;
}

static void test_catalogue(void **state) {
  const uint64_t every = amount_of("SOFTMMA_EQUAL_EVERY", 1);
  long pairs[3] = {0}, operations[3] = {0}, of_some_k = 0, not_proved = 0;
  (void)state;
  for (int i = 0; i < count; i++) {
    pairs[SMMA_PROVED] += (long)entries[i].rows * (entries[i].rows - 1) / 2;
    for (int j = 0; j < i; j++) {
      const smma_instruction *x = entries[j].instruction, *y = entries[i].instruction;
      smma_equality e;
      smma_error error;
      if (!same_formats(x, y)) continue;
      if (smma_prove_equal(x, y, &e.multiple)) {
        e.answer = SMMA_PROVED;
        of_some_k += e.multiple > 1;
        check_proof(x, y, e.multiple, rows_of_each_kind);
      } else {
        if (not_proved++ % (long)every) continue;
        assert_true(smma_find_equality(x, y, SEARCHED, 0, &e, &error));
        assert_true(e.answer != SMMA_PROVED);
        if (e.answer == SMMA_CANNOT_TELL && !is_listed(x, y)) {
          name_pair(x, y);
          fail_msg("neither proved nor told apart: %s", e.why);
        }
      }
      operations[e.answer]++;
      pairs[e.answer] += (long)entries[i].rows * entries[j].rows;
    }
  }
  printf(
      "%d operations; pairs of them: %ld equal (%ld of them for multiples of K), %ld different, %ld not known; pairs "
      "of the catalogue's rows: %ld, %ld, %ld\n",
      count, operations[SMMA_PROVED], of_some_k, operations[SMMA_REFUTED], operations[SMMA_CANNOT_TELL],
      pairs[SMMA_PROVED], pairs[SMMA_REFUTED], pairs[SMMA_CANNOT_TELL]);
  assert_true(operations[SMMA_PROVED] > 0 && operations[SMMA_REFUTED] > 0);
}

/* ---- Operand formats that differ ---- */

static bool same_results(const smma_instruction *x, const smma_instruction *y) {
  return x->c == y->c && x->d == y->d && x->scale_block == y->scale_block && x->scale == y->scale;
}

/* Checks that both instructions read each common operand of A as one number: a product with 1 has one result. (A unit
   may also read subnormal numbers as zeros.) */
static void check_common_operands(const smma_instruction *x, const smma_instruction *y) {
  const smma_instruction *const target[2] = {x, y};
  const smma_common_operands common = smma_common_operands_of(target);
  const smma_instruction *narrow = target[smma_narrower_operands(target)], *wide = narrow == x ? y : x;
  for (uint64_t code = 0; code < 1u << 16; code++) {
    const uint64_t a = smma_common_operand(&common, 0, code);
    const double value = smma_format_decode(narrow->a, a);
    const double one = 1;
    double d[2];
    for (int t = 0; t < 2; t++) {
      const smma_instruction *i = t ? wide : narrow;
      const uint64_t own = t ? smma_format_encode(i->a, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT) : a;
      smma_row row = {.a = {own}};
      row.b[0] = smma_format_encode(i->b, one, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
      const smma_operation o = smma_operation_of(i);
      d[t] = smma_format_decode(i->d, smma_row_compute(&o, &row));
    }
    if (d[0] == 0 || d[1] == 0 || d[0] == d[1] || (isnan(d[0]) && isnan(d[1]))) continue;
    name_pair(x, y);
    fail_msg("a = 0x%llx", (unsigned long long)a);
  }
}

/* Proofs over common operands, for every two operations with the same formats of results, and answers worked by hand.
 */
static void test_common_operands(void **state) {
  static const struct {
    const char *x, *y; /* instructions of an H100, or of a B200 */
    const char *gpu;
    smma_answer answer;
  } known[] = {
      /* 2^-24 has the exponent -14 in FP16, where it is subnormal, and -24 in TF32. So alignment truncates c = 2^-71
         only in FP16. */
      {"wgmma.m64n8k16.f32.f16.f16", "wgmma.m64n8k8.f32.tf32.tf32", "H100", SMMA_REFUTED},
      {"wgmma.m64n8k16.f32.bf16.bf16", "wgmma.m64n8k8.f32.tf32.tf32", "H100", SMMA_REFUTED}, /* L */
      /* Their exponents are the same, from 0 on, and F and L too. */
      {"tcgen05.m64n8k32.f32.e2m1.e2m1", "tcgen05.m64n8k32.f32.e2m3.e2m3", "B200", SMMA_PROVED},
      {"tcgen05.m64n8k32.f32.e2m1.e2m1", "tcgen05.m64n8k32.f32.e3m2.e3m2", "B200", SMMA_REFUTED}, /* from -2 on */
  };
  smma_equality e;
  smma_error error;
  int proved = 0;
  (void)state;
  for (size_t n = 0; n < sizeof known / sizeof *known; n++) {
    const smma_instruction *x = smma_find(known[n].gpu, known[n].x, NULL),
                           *y = smma_find(known[n].gpu, known[n].y, NULL);
    assert_true(smma_find_equality(x, y, SEARCHED, 0, &e, &error));
    assert_int_equal(e.answer, known[n].answer);
    assert_true(e.answer == SMMA_PROVED || e.witness.is_common);
  }
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++) {
      const smma_instruction *x = entries[j].instruction, *y = entries[i].instruction;
      if (same_formats(x, y) || !same_results(x, y) || !smma_prove_equal(x, y, &e.multiple)) continue;
      proved++;
      check_proof(x, y, e.multiple, rows_of_each_kind / 10 + 1);
    }
  check_common_operands(smma_find("n150", "mvmul.hifi4.f32.bf16.bf16", NULL),
                        smma_find("n150", "mvmul.hifi4.f32.tf32.tf32", NULL));
  check_common_operands(smma_find("n150", "mvmul.hifi4.f32.f16.f16", NULL),
                        smma_find("n150", "mvmul.hifi4.f32.tf32.tf32", NULL));
  check_common_operands(smma_find("H100", "wgmma.m64n8k16.f32.f16.f16", NULL),
                        smma_find("H100", "wgmma.m64n8k8.f32.tf32.tf32", NULL));
  printf("%d pairs with other operand formats proved equal over the common operands\n", proved);
  assert_true(proved > 0);
}

/* Operands are cast alike in large batches, which cast each encoding once, and in small ones. */
static void test_batches_of_common_operands(void **state) {
  enum { ROWS = 6000, FEW = 100 };
  const smma_instruction *const target[2] = {find("MI300X", "v_mfma_f32_16x16x16_f16"),
                                             find("H100", "wgmma.m64n8k16.f32.bf16.bf16")};
  const int tile[2] = {target[0]->k, target[1]->k};
  const smma_common_operands common = smma_common_operands_of(target);
  static uint32_t d[2][ROWS];
  smma_instruction as;
  smma_rows rows;
  smma_error error;
  (void)state;
  smma_product_rows(target, 16, tile, &as);
  assert_true(smma_rows_allocate(&as, ROWS, &rows));
  uint64_t random = 1;
  for (size_t i = 0; i < (size_t)ROWS * 16; i++)
    for (int p = SMMA_PART_A; p <= SMMA_PART_B; p++) smma_store(2, rows.part[p], i, random_bits(&random) >> 48);
  for (size_t i = 0; i < ROWS; i++) smma_store(4, rows.part[SMMA_PART_C], i, random_bits(&random) >> 32);
  for (int t = 0; t < 2; t++) {
    smma_product_unit product;
    assert_true(smma_product_open(&product, target[t], &as, tile[t], &common, &error));
    assert_true(smma_unit_ask(&product.unit, &rows, 0, ROWS, d[0], &error));
    for (size_t first = 0; first < ROWS; first += FEW)
      assert_true(smma_unit_ask(&product.unit, &rows, first, FEW, &d[1][first], &error));
    assert_memory_equal(d[0], d[1], sizeof d[0]);
    smma_product_close(&product);
  }
  smma_rows_free(&rows);
}

/* Gives the unit another format of A, B or both. */
static void change_formats(uint64_t *state, smma_custom *to) {
  static const smma_format formats[] = {SMMA_F16,  SMMA_BF16, SMMA_TF32,     SMMA_F32,      SMMA_E4M3, SMMA_E5M2,
                                        SMMA_E2M3, SMMA_E3M2, SMMA_E2M1,     SMMA_E4M3FNUZ, SMMA_S8,   SMMA_S4,
                                        SMMA_U8,   SMMA_U4,   SMMA_E5M2FNUZ, SMMA_F64};
  const unsigned which = 1 + random_below(state, 3);
  if (which & 1) to->instruction.a = formats[random_below(state, sizeof formats / sizeof *formats)];
  if (which & 2) to->instruction.b = formats[random_below(state, sizeof formats / sizeof *formats)];
}

/* ---- Custom units: parameters that no instruction has ---- */

/* Returns a random key of `keys`; for a composition, a key of the G-FDPA that it is. */
static const smma_key *random_key(uint64_t *state, smma_algorithm algorithm) {
  const smma_key *key = NULL;
  int keys = 0;
  while ((key = smma_next_key(algorithm, key))) keys += key->of_rule || key->of_chain;
  if (keys == 0) return NULL;
  for (int n = (int)random_below(state, (unsigned)keys); n >= 0; n -= key->of_rule || key->of_chain)
    key = smma_next_key(algorithm, key);
  return key;
}

/* Makes `to` this G-FDPA; returns false if that is not a valid unit. */
static bool make_chain(smma_custom *to, const smma_g_fdpa *g) {
  smma_custom_fault fault;
  if (!smma_custom_check_chain(to, g, &fault)) return false;
  to->named.rule.algorithm = SMMA_COMPOSITION;
  to->named.rule.with.composition = smma_compose_g_fdpa(g, to->instruction.k, to->instruction.d);
  return true;
}

/* Changes one key of the unit; returns false if the result is not a valid unit. */
static bool change_key(uint64_t *state, smma_custom *to) {
  smma_g_fdpa g;
  const smma_key_values told = smma_key_values_of(&to->named.rule, &g);
  const smma_key *key = random_key(state, told.algorithm);
  const int by = random_between(state, -3, 3);
  if (!key) return false;
  if (key->of_chain) {
    smma_set_key_of_chain(&g, key, smma_key_of_chain(&g, key) + by);
    return make_chain(to, &g);
  }
  smma_custom_set(to, key, smma_custom_get(to, key) + by);
  return true;
}

/* Makes the unit with one key changed, with another K, or as G-FDPA; returns false if the result is not a valid unit.
 */
static bool change(uint64_t *state, const smma_custom *from, smma_custom *to) {
  const smma_algorithm algorithm = from->named.rule.algorithm;
  const smma_t_fdpa t = from->named.rule.with.t_fdpa;
  const int block = t.block < from->instruction.k ? t.block : from->instruction.k;
  const smma_g_fdpa truncated = {.block = block,
                                 .interleave = block,
                                 .alignment_bits = t.alignment_bits,
                                 .alignment_rounding = SMMA_ROUND_TOWARD_ZERO,
                                 .zero_exponent = t.zero_exponent,
                                 .output = t.output,
                                 .rounding = t.rounding};
  const bool is_truncated = algorithm == SMMA_T_FDPA || algorithm == SMMA_ST_FDPA;
  smma_custom_fault fault;
  smma_g_fdpa g;
  *to = *from;
  switch (random_below(state, 3)) {
    case 0:
      to->instruction.k = random_below(state, 2) ? to->instruction.k * 2 : to->instruction.k / 2;
      if (smma_key_values_of(&from->named.rule, &g).algorithm == SMMA_KEYS_OF_G_FDPA && !make_chain(to, &g))
        return false;
      break;
    case 1:
      if (!is_truncated || !make_chain(to, &truncated)) return false;
      break;
    default:
      if (!change_key(state, to)) return false;
  }
  return smma_custom_check(to, &fault);
}

static void check_zeros(const smma_instruction *x) {
  const smma_operation o = smma_operation_of(x);
  if (smma_zeros_add_nothing(&o)) assert_true(agree(x, x, x->k, x->k, 2 * x->k, 40));
}

/* Compares a unit with itself in other formats of A and B. Returns whether they are proved equal over common operands.
 */
static bool check_other_formats(uint64_t *state, uint64_t seed) {
  smma_custom one = random_any_unit(seed), other = one;
  smma_custom_fault fault;
  int multiple;
  change_formats(state, &other);
  if (!smma_custom_check(&other, &fault)) return false;
  const smma_instruction *x = smma_custom_make(&one), *y = smma_custom_make(&other);
  assert_true(x && y);
  const bool proved = !same_formats(x, y) && smma_prove_equal(x, y, &multiple);
  if (proved) check_proof(x, y, multiple, 40);
  smma_custom_release(x);
  smma_custom_release(y);
  return proved;
}

static void test_custom_units(void **state) {
  const char *units = getenv("SOFTMMA_EQUAL_UNITS");
  const uint64_t last = units ? strtoull(units, NULL, 10) : 2000;
  int proved = 0, zeros = 0, common = 0;
  (void)state;
  for (uint64_t seed = 0; seed < last; seed++) {
    smma_custom one = random_any_unit(seed), other;
    uint64_t random = seed;
    int multiple;
    if (!change(&random, &one, &other)) continue;
    const smma_instruction *x = smma_custom_make(&one), *y = smma_custom_make(&other);
    const smma_operation o = smma_operation_of(x);
    assert_true(x && y);
    zeros += smma_zeros_add_nothing(&o);
    check_zeros(x);
    if (same_formats(x, y) && smma_prove_equal(x, y, &multiple)) {
      proved++;
      check_proof(x, y, multiple, 40);
    }
    smma_custom_release(x);
    smma_custom_release(y);
    common += check_other_formats(&random, seed);
  }
  printf("%d pairs of custom units proved equal, and %d over common operands; zeros add nothing to %d\n", proved,
         common, zeros);
  assert_true(proved > 0 && common > 0 && zeros > 0);
}

/* ---- One target ---- */

static smma_freedom freedom_of(const char *gpu, const char *name) {
  smma_freedom f;
  smma_error error;
  assert_true(smma_find_freedom(find(gpu, name), 100000, 0, &f, &error));
  return f;
}

static void test_freedom(void **state) {
  smma_freedom f = freedom_of("A100", "mma.m16n8k32.s32.s8.s8.s32");
  (void)state;
  assert_int_equal(f.order.answer, SMMA_PROVED);
  assert_int_equal(f.filled.answer, SMMA_PROVED);
  f = freedom_of("A100", "mma.m16n8k16.satfinite.s32.u8.u8.s32");
  assert_int_equal(f.order.answer, SMMA_PROVED);
  f = freedom_of("A100", "mma.m16n8k16.satfinite.s32.s8.s8.s32");
  assert_int_equal(f.order.answer, SMMA_REFUTED);
  f = freedom_of("H100", "mma.m16n8k16.f32.f16.f16.f32");
  assert_int_equal(f.order.answer, SMMA_REFUTED);
  assert_int_equal(f.filled.answer, SMMA_PROVED);
  f = freedom_of("H100", "mma.m16n8k16.f32.bf16.bf16.f32");
  assert_int_equal(f.filled.answer, SMMA_PROVED);
  f = freedom_of("V100", "mma.m8n8k4.f32.f16.f16.f16");
  assert_int_equal(f.order.answer, SMMA_REFUTED);
  assert_int_equal(f.order.witness.row.c, 0);
  f = freedom_of("x86", "vdpbf16ps");
  assert_int_equal(f.order.answer, SMMA_REFUTED);
}

static smma_answer answer_of(const char *gpu, const char *name, const char *other_gpu, const char *other_name,
                             int *multiple) {
  smma_equality e;
  smma_error error;
  assert_true(smma_find_equality(find(gpu, name), find(other_gpu, other_name), SEARCHED, 0, &e, &error));
  *multiple = e.multiple;
  return e.answer;
}

static void test_examples(void **state) {
  const char *f16 = "mma.m16n8k16.f32.f16.f16.f32";
  int multiple;
  (void)state;
  assert_int_equal(
      answer_of("H100", "wgmma.m64n8k16.f32.bf16.bf16", "B200", "tcgen05.m64n8k16.f32.bf16.bf16", &multiple),
      SMMA_PROVED);
  assert_int_equal(multiple, 1);
  assert_int_equal(
      answer_of("H100", "wgmma.m64n8k32.f32.e4m3.e4m3", "B200", "tcgen05.m64n8k32.f32.e4m3.e4m3", &multiple),
      SMMA_REFUTED);
  assert_int_equal(answer_of("A100", f16, "A100", "mma.m16n8k8.f32.f16.f16.f32", &multiple), SMMA_PROVED);
  assert_int_equal(multiple, 1);
  assert_int_equal(
      answer_of("A100", "mma.m16n8k16.f32.bf16.bf16.f32", "A100", "mma.m16n8k8.f32.bf16.bf16.f32", &multiple),
      SMMA_PROVED);
  assert_int_equal(multiple, 1);
  assert_int_equal(answer_of("H100", f16, "H100", "mma.m16n8k8.f32.f16.f16.f32", &multiple), SMMA_REFUTED);
  assert_int_equal(
      answer_of("MI300X", "v_mfma_f32_16x16x32_fp8_fp8", "cdna3-r1", "v_mfma_f32_16x16x32_fp8_fp8", &multiple),
      SMMA_REFUTED);
}

static void test_other_formats(void **state) {
  smma_equality e;
  smma_error error;
  (void)state;
  assert_false(smma_find_equality(find("H100", "mma.m16n8k16.f32.f16.f16.f32"),
                                  find("H100", "mma.m16n8k32.s32.s8.s8.s32"), 1, 0, &e, &error));
  assert_non_null(strstr(error.text, "C is f32 and s32"));
}

int main(int argc, char **argv) {
  const char *rows = getenv("SOFTMMA_EQUAL_ROWS");
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples),
                                     cmocka_unit_test(test_other_formats),
                                     cmocka_unit_test(test_freedom),
                                     cmocka_unit_test(test_common_operands),
                                     cmocka_unit_test(test_batches_of_common_operands),
                                     cmocka_unit_test(test_custom_units),
                                     cmocka_unit_test(test_catalogue)};
  if (argc == 2) cmocka_set_test_filter(argv[1]);
  rows_of_each_kind = rows ? strtoull(rows, NULL, 10) : 500;
  collect();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
