/* Equality of products with plans: answers derived by hand; for random plans, proofs and counterexamples compared with
   products by smma_gemm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "equal/planned_unit.h"
#include "support.h"

static smma_plan *plan_of(const char *members) {
  char text[2048];
  smma_error error;
  smma_plan *plan;
  if (!members) return NULL;
  snprintf(text, sizeof text, "{\"softmma-plan\": 1, \"name\": \"test\", %s}", members);
  plan = smma_plan_parse("plan.json", text, strlen(text), &error);
  if (!plan) fail_msg("%s\n%s", error.text, text);
  return plan;
}

typedef struct {
  smma_planned target[2];
  const char *members[2];
} pair;

static pair pair_of(const smma_instruction *x, const char *plan_x, const smma_instruction *y, const char *plan_y) {
  const pair p = {{{"x", x, plan_of(plan_x)}, {"y", y, plan_of(plan_y)}}, {plan_x, plan_y}};
  return p;
}

static void free_pair(pair *p) {
  for (int t = 0; t < 2; t++) smma_plan_free((smma_plan *)p->target[t].plan);
}

/* ---- Products ---- */

enum { SIDE = 12 };

static uint64_t ones(smma_format f) {
  return smma_format_bits(f) == 64 ? UINT64_MAX : (UINT64_C(1) << smma_format_bits(f)) - 1;
}

typedef enum { FINITE, SPECIAL, SPARSE, NEAR_ONE, SMALL, THEMES } theme;

static bool is_finite(smma_format f, uint64_t x) { return smma_decode(smma_encoding_of(f), x).kind <= SMMA_FINITE; }

/* Returns a random encoding by its theme: any finite number; any encoding, so that some are NaN or infinite; mostly a
   zero of either sign; a number from -4 to 4; or one of the smallest numbers. */
static uint64_t random_encoding(smma_format f, theme t, uint64_t *random) {
  const double near = (double)(int)(random_bits(random) % 4097 - 2048) / 512;
  const unsigned kind = random_bits(random) % 16;
  uint64_t x = random_bits(random) & ones(f);
  if (kind == 0 || (t == SPARSE && kind < 13))
    return smma_format_encode(f, random_bits(random) % 2 ? -0.0 : 0.0, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
  if (t == NEAR_ONE) return smma_format_encode(f, near, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
  if (t == SMALL) x &= smma_sign_and_fields(smma_encoding_of(f), true, 7) | 7;
  while (!is_finite(f, x) && (t != SPECIAL || kind > 2)) x = random_bits(random) & ones(f);
  return x;
}

static void *random_matrix(smma_format f, size_t count, theme of, uint64_t *random) {
  void *matrix = calloc(count, 8);
  assert_non_null(matrix);
  for (size_t i = 0; i < count; i++) store_element(f, matrix, i, random_encoding(f, of, random));
  return matrix;
}

static void multiply(const smma_planned *t, smma_gemm_arguments g, void *d) {
  g.plan = t->plan, g.d = d;
  assert_int_equal(smma_gemm(t->instruction, &g), SMMA_OK);
}

/* Checks that both targets give the same bits for random matrices. */
static void check_proof(const pair *p, size_t k, bool with_c) {
  const smma_instruction_info info = describe(p->target[0].instruction);
  const smma_format d = smma_plan_d_format(p->target[0].plan, p->target[0].instruction);
  uint64_t random = k;
  for (theme of = FINITE; of < THEMES; of++) {
    void *a = random_matrix(info.a, SIDE * k, of, &random), *b = random_matrix(info.b, SIDE * k, of, &random);
    void *c = random_matrix(info.c, SIDE * SIDE, of, &random);
    uint64_t result[2][SIDE * SIDE];
    smma_gemm_arguments g;
    smma_gemm_defaults(&g, sizeof g);
    g.m = g.n = SIDE, g.k = k, g.a = a, g.b = b, g.c = with_c ? c : NULL;
    for (int t = 0; t < 2; t++) multiply(&p->target[t], g, result[t]);
    for (size_t i = 0; i < SIDE * SIDE; i++)
      if (!same_or_nan(d, load_element(d, result[0], i), load_element(d, result[1], i)))
        fail_msg("%s, K = %zu: %s and %s differ", info.name, k, p->members[0], p->members[1]);
    free(a), free(b), free(c);
  }
}

/* Checks that no test vector distinguishes the pair. Tries vectors of every kind, and vectors that are designed to show
   a difference at any k. */
static void check_rows(const pair *p, size_t k, bool with_c) {
  static const smma_plan chain = {.d = SMMA_NO_FORMAT, .starts_from_c = true};
  static const smma_planned_factors factors = {0x3f800000, 0x3f800000, 0, 0x3f800000, 0x3f800000, 0x3f800000};
  smma_instruction as = *p->target[0].instruction;
  smma_planned_unit unit[2];
  smma_search search = {
      .unit = {&unit[0].unit, &unit[1].unit}, .as = &as, .without_c = !with_c, .rows = 2000, .seed = k};
  smma_witness witness;
  smma_error error;
  size_t place[SMMA_MAXIMUM_ROUNDED_K];
  uint64_t random = k;
  as.k = k < SMMA_MAXIMUM_ROUNDED_K ? (int)k : SMMA_MAXIMUM_ROUNDED_K;
  as.d = smma_plan_d_format(p->target[0].plan, &as);
  for (size_t i = 0, at = 0; i < (size_t)as.k; i++, at++) {
    const size_t spare = k - (size_t)as.k - (at - i);
    if (spare) at += random_bits(&random) % (2 * (k / (size_t)as.k) - 1) % (spare + 1);
    place[i] = at;
  }
  for (int t = 0; t < 2; t++) {
    const smma_plan *plan = p->target[t].plan ? p->target[t].plan : &chain;
    const smma_operation o = smma_operation_of(p->target[t].instruction);
    smma_schedule schedule;
    search.rule[t] = &p->target[t].instruction->rule->rule;
    assert_int_equal(smma_schedule_make(plan, &o, k, &schedule, &error), SMMA_OK);
    assert_true(smma_planned_open(&unit[t], &p->target[t], plan, &schedule, k, &as, place, with_c, &factors, &error));
    smma_schedule_free(&schedule);
  }
  assert_true(smma_find_witness(&search, &witness, &error));
  for (int t = 0; t < 2; t++) smma_planned_close(&unit[t]);
  if (witness.found) fail_msg("%s, K = %zu: a row tells %s and %s apart", as.name, k, p->members[0], p->members[1]);
}

/* Checks that the two results of a counterexample are those of products, and differ. */
static void check_row(const pair *p, const smma_planned_witness *w, bool with_c) {
  const smma_instruction *as = &w->witness.as;
  const uint64_t expected[2] = {w->witness.row.d, w->witness.other};
  uint64_t *a = calloc(w->k, 8), *b = calloc(w->k, 8), c = 0, d = 0;
  smma_gemm_arguments g;
  assert_true(a && b);
  for (int i = 0; i < as->k; i++) {
    assert_true(w->place[i] < w->k || !w->witness.row.a[i]);
    if (w->place[i] >= w->k) continue;
    store_element(as->a, a, w->place[i], w->witness.row.a[i]);
    store_element(as->b, b, w->place[i], w->witness.row.b[i]);
  }
  store_element(as->c, &c, 0, w->witness.row.c);
  smma_gemm_defaults(&g, sizeof g);
  g.m = g.n = 1, g.k = w->k, g.a = a, g.b = b, g.c = with_c ? &c : NULL;
  for (int t = 0; t < 2; t++) {
    multiply(&p->target[t], g, &d);
    if (load_element(as->d, &d, 0) != expected[t])
      fail_msg("%s, K = %zu, %s: the row's result is %llx, not %llx", as->name, w->k, p->members[t],
               (unsigned long long)load_element(as->d, &d, 0), (unsigned long long)expected[t]);
  }
  assert_false(same_or_nan(as->d, expected[0], expected[1]));
  free(a), free(b);
}

static smma_answer judge(pair *p, size_t k, uint64_t rows, smma_planned_equality *e) {
  const bool with_c = !p->target[0].plan && !p->target[1].plan;
  static const size_t some[] = {9, 17, 40, 64, 130};
  smma_error error;
  if (!smma_find_planned_equality(p->target, k, rows, 1, e, &error)) fail_msg("%s", error.text);
  if (e->answer == SMMA_PROVED)
    for (size_t n = 0; n < (e->k ? 1 : sizeof some / sizeof *some); n++) {
      check_proof(p, e->k ? e->k : some[n], with_c);
      check_rows(p, e->k ? e->k : some[n], with_c);
    }
  if (e->answer == SMMA_REFUTED && !*e->row.with) check_row(p, &e->row, with_c);
  return e->answer;
}

/* ---- Derived by hand ---- */

#define EVERY(k) "\"sum\": [{\"deal\": \"every\", \"k\": " #k ", \"from\": \"zero\"}]"
#define SPLIT(parts, grain) "{\"deal\": \"contiguous\", \"parts\": " #parts ", \"grain\": " #grain

typedef struct {
  const char *gpu, *name, *x, *y;
  size_t k;
  smma_answer answer;
  size_t answered; /* K of the answer */
} answer;

#define H100 "H100", "wgmma.m64n8k16.f32.f16.f16"
#define A100 "A100", "mma.m16n8k16.f32.f16.f16.f32"
#define CDNA "MI300X", "v_mfma_f32_32x32x8_f16"
#define INTEGERS "H100", "wgmma.m64n8k32.s32.s8.s8"
#define FP4 "B200", "tcgen05.m64n8k32.f32.e2m1.e2m1"

static const answer answers[] = {
    /* Another BLOCK_K for promotion: equal as long as K does not exceed the smaller one. */
    {H100, EVERY(64), EVERY(128), 64, SMMA_PROVED, 64},
    {H100, EVERY(64), EVERY(128), 0, SMMA_REFUTED, 65},
    {CDNA, EVERY(64), EVERY(128), 0, SMMA_REFUTED, 65},
    /* Another description of the same tree. */
    {H100, "\"sum\": [" SPLIT(2, 64) "}]", "\"sum\": [{\"deal\": \"list\", \"list\": [[[0, 64]], [[64, 128]]]}]", 128,
     SMMA_PROVED, 128},
    {H100, "\"sum\": [" SPLIT(2, 64) "}]", "\"sum\": [{\"deal\": \"list\", \"list\": [[[0, 64]], [[64, 127]]]}]", 128,
     SMMA_REFUTED, 128},
    {H100, "\"sum\": [" SPLIT(2, 64) "}]", "\"sum\": [{\"deal\": \"interleaved\", \"parts\": 2, \"tile\": 64}]", 128,
     SMMA_PROVED, 128},
    {H100, "\"sum\": [" SPLIT(2, 64) "}]", EVERY(64), 128, SMMA_PROVED, 128},
    /* Another order of k within a fused sum, and across fused sums. */
    {H100, "\"sum\": [{\"deal\": \"list\", \"list\": [[[8, 16], [0, 8], [16, 32]]]}]", "\"start\": \"zero\"", 32,
     SMMA_PROVED, 32},
    {H100, "\"sum\": [{\"deal\": \"list\", \"list\": [[[16, 32], [0, 16]]]}]", "\"start\": \"zero\"", 32, SMMA_REFUTED,
     32},
    {"A100", "mma.m16n8k16.f32.f16.f16.f32", "\"sum\": [{\"deal\": \"list\", \"list\": [[[8, 16], [0, 8]]]}]",
     "\"start\": \"zero\"", 16, SMMA_REFUTED, 16},
    /* Additions commute, but are not associative. */
    {H100, "\"sum\": [{\"deal\": \"list\", \"list\": [[[0, 16]], [[16, 32]]]}]",
     "\"sum\": [{\"deal\": \"list\", \"list\": [[[16, 32]], [[0, 16]]]}]", 32, SMMA_PROVED, 32},
    {H100, "\"sum\": [{\"deal\": \"every\", \"k\": 16}]",
     "\"sum\": [{\"deal\": \"every\", \"k\": 16, \"fold\": \"neighbours\"}]", 48, SMMA_PROVED, 48},
    {H100, "\"sum\": [{\"deal\": \"every\", \"k\": 16}]",
     "\"sum\": [{\"deal\": \"every\", \"k\": 16, \"fold\": \"neighbours\"}]", 64, SMMA_REFUTED, 64},
    /* Groups of 8 products are the steps of the A100's rule, but not of the H100's. */
    {A100, "\"group\": 8", "\"start\": \"zero\"", 0, SMMA_PROVED, 0},
    {H100, "\"group\": 8", "\"start\": \"zero\"", 0, SMMA_REFUTED, 9},
    /* Starting from the first part or from +0: no sum of this kind is -0. */
    {H100, "\"sum\": [" SPLIT(2, 1) "}]", "\"sum\": [" SPLIT(2, 1) ", \"from\": \"zero\"}]", 0, SMMA_PROVED, 0},
    /* ... but a rounded sum may be -0. */
    {H100, "\"d\": \"f16\", \"sum\": [" SPLIT(2, 1) ", \"stored\": \"d\"}]",
     "\"d\": \"f16\", \"sum\": [" SPLIT(2, 1) ", \"stored\": \"d\", \"from\": \"zero\"}]", 32, SMMA_REFUTED, 32},
    {H100, "\"d\": \"f16\", \"sum\": [" SPLIT(2, 1) ", \"stored\": \"d\"}]",
     "\"d\": \"f16\", \"sum\": [" SPLIT(2, 1) ", \"stored\": \"f16\"}]", 0, SMMA_PROVED, 0},
    {H100, "\"d\": \"f16\", \"sum\": [" SPLIT(2, 1) ", \"total\": \"d\"}]",
     "\"d\": \"f16\", \"sum\": [" SPLIT(2, 1) ", \"stored\": \"d\"}]", 32, SMMA_REFUTED, 32},
    /* Integers wrap; sums of FP4 are exact as long as they are short. */
    {INTEGERS, "\"sum\": [" SPLIT(3, 1) "}]", NULL, 0, SMMA_PROVED, 0},
    {FP4, "\"sum\": [" SPLIT(3, 1) "}]", "\"start\": \"zero\"", 4096, SMMA_PROVED, 4096},
    {FP4, "\"sum\": [{\"deal\": \"list\", \"list\": [[[0, 7]]]}]", "\"start\": \"zero\"", 8, SMMA_REFUTED, 8},
    /* A lost tail: if 129 products are divided into two parts with stages of 64, the last product is lost. */
    {H100, "\"lost_tail\": 64, \"sum\": [" SPLIT(2, 64) "}]", "\"sum\": [" SPLIT(2, 64) "}]", 129, SMMA_REFUTED, 129},
    {H100, "\"lost_tail\": 64, \"sum\": [" SPLIT(2, 64) "}]", "\"sum\": [" SPLIT(2, 64) "}]", 130, SMMA_REFUTED, 130},
    /* Operands of the epilogue. */
    {H100, "\"epilogue\": [\"alpha\", \"bias\"]", "\"epilogue\": [\"bias\", \"alpha\"]", 16, SMMA_REFUTED, 16},
    {H100, "\"epilogue\": [\"relu\"]", "\"start\": \"zero\"", 16, SMMA_REFUTED, 16},
};

static void test_answers(void **state) {
  (void)state;
  for (size_t n = 0; n < sizeof answers / sizeof *answers; n++) {
    static smma_planned_equality e;
    const answer *a = &answers[n];
    const smma_instruction *i = find(a->gpu, a->name);
    pair p = pair_of(i, a->x, i, a->y);
    if (strstr(a->x, "lost_tail")) { /* whether K mod 64 is less than the number of parts */
      assert_true(smma_find_planned_equality(p.target, a->k, 20000, 1, &e, NULL));
      assert_int_equal(e.answer, a->k % 64 < 2 ? SMMA_REFUTED : SMMA_PROVED);
    } else if (strstr(a->x, "bias")) {
      assert_true(smma_find_planned_equality(p.target, a->k, 20000, 1, &e, NULL));
      assert_int_equal(e.answer, a->answer);
    } else if (judge(&p, a->k, 20000, &e) != a->answer || e.k != a->answered) {
      fail_msg("%s, K = %zu: %s and %s: answer %d for K = %zu, not %d for %zu; %s", a->name, a->k, a->x, a->y,
               (int)e.answer, e.k, (int)a->answer, a->answered, e.why);
    }
    free_pair(&p);
  }
}

/* Questions that are refused. */
static void test_refused(void **state) {
  static smma_planned_equality e;
  smma_error error;
  pair p = pair_of(find(H100), "\"d\": \"bf16\"", find(H100), NULL);
  (void)state;
  assert_false(smma_find_planned_equality(p.target, 16, 1, 1, &e, &error));
  assert_non_null(strstr(error.text, "D is bf16 and f32"));
  free_pair(&p);
  p = pair_of(find(H100), "\"sum\": [" SPLIT(9, 1) "}]", find(H100), NULL);
  assert_false(smma_find_planned_equality(p.target, 8, 1, 1, &e, &error));
  assert_non_null(strstr(error.text, "x: K = 8: 9 parts of 8 products"));
  free_pair(&p);
}

/* ---- Random plans ---- */

static const char *one_of(const char *const *texts, size_t count, uint64_t *random) {
  return texts[random_bits(random) % count];
}
#define ONE_OF(...) one_of((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / 8, random)

static void random_plan(bool rounds, char *text, size_t size, uint64_t *random) {
  const unsigned levels = random_bits(random) % 3;
  int used = snprintf(
      text, size, "%s\"sum\": [",
      ONE_OF("", "", "\"group\": 8, ", "\"residue\": \"first\", ", "\"residue\": \"first-tile\", \"tile\": 32, "));
  for (unsigned n = 0; n < levels; n++) {
    const char *deal = ONE_OF("\"deal\": \"contiguous\", \"parts\": 2", "\"deal\": \"contiguous\", \"parts\": 2",
                              "\"deal\": \"contiguous\", \"parts\": 3, \"grain\": 16", "\"deal\": \"every\", \"k\": 32",
                              "\"deal\": \"every\", \"k\": 48", "\"deal\": \"interleaved\", \"parts\": 2, \"tile\": 8",
                              "\"deal\": \"interleaved\", \"parts\": 2, \"tile\": 32");
    const char *more =
        ONE_OF("", "", ", \"from\": \"zero\"", ", \"fold\": \"neighbours\"", ", \"fold\": \"last-first\"");
    const char *rounding = rounds ? ONE_OF("", "", "", ", \"stored\": \"bf16\"", ", \"total\": \"f16\"") : "";
    used += snprintf(text + used, size - (size_t)used, "%s{%s%s%s}", n ? ", " : "", deal, more, rounding);
  }
  snprintf(text + used, size - (size_t)used, "]");
}

static void test_random(void **state) {
  static const char *const units[][2] = {{H100},
                                         {A100},
                                         {CDNA},
                                         {INTEGERS},
                                         {FP4},
                                         {"MI250X", "v_mfma_f32_32x32x8f16"},
                                         {"MI250X", "v_mfma_f32_32x32x8bf16_1k"},
                                         {"MI100", "v_mfma_f32_32x32x8f16"},
                                         {"MI300X", "v_mfma_f32_16x16x32_fp8_fp8"},
                                         {"H100", "wgmma.m64n8k16.f32.bf16.bf16"},
                                         {"H100", "mma.m16n8k32.f32.e4m3.e4m3.f32"},
                                         {"H100", "wgmma.m64n8k16.f16.f16.f16"},
                                         {"H100", "wgmma.m64n8k32.f32.e4m3.e4m3"},
                                         {"MI300X", "v_mfma_f32_32x32x2_f32"},
                                         {"A100", "mma.m8n8k4.f64.f64.f64.f64"}};
  static const size_t lengths[] = {8, 17, 32, 48, 64, 96, 100, 128, 257};
  long count[3] = {0};
  uint64_t random = 1, *const r = &random;
  (void)state;
  const char *many = getenv("SOFTMMA_EQUAL_PLANS");
  const int most = many ? atoi(many) : 60;
  for (int n = 0; n < most; n++) {
    static smma_planned_equality e;
    const char *const *unit = units[random_bits(r) % (sizeof units / sizeof *units)];
    const smma_instruction *i = find(unit[0], unit[1]);
    const size_t k = lengths[random_bits(r) % (sizeof lengths / sizeof *lengths)];
    const bool rounds = i->d == SMMA_F32;
    char x[1024], y[1024];
    smma_error error;
    random_plan(rounds, x, sizeof x, r);
    random_plan(rounds, y, sizeof y, r);
    if (i->k < 8 && (strstr(x, "group") || strstr(y, "group"))) continue;
    pair p = pair_of(i, x, i, y);
    if (smma_plan_check(p.target[0].plan, i, k, &error) == SMMA_OK &&
        smma_plan_check(p.target[1].plan, i, k, &error) == SMMA_OK)
      count[judge(&p, k, 20000, &e)]++;
    if (e.answer == SMMA_CANNOT_TELL && e.k == k && getenv("SOFTMMA_SHOW"))
      print_message("%s, K = %zu: %s and %s: %s\n", i->name, k, x, y, e.why);
    free_pair(&p);
  }
  print_message("%ld proved, %ld refuted, %ld unknown\n", count[SMMA_PROVED], count[SMMA_REFUTED],
                count[SMMA_CANNOT_TELL]);
  assert_true(count[SMMA_PROVED] > 5 && count[SMMA_REFUTED] > 30);
  assert_true(10 * count[SMMA_CANNOT_TELL] < count[SMMA_PROVED] + count[SMMA_REFUTED]);
}

/* ---- The order of k ---- */

static void test_freedom(void **state) {
  static smma_planned_freedom f;
  const smma_planned promoted = {"x", find(H100), plan_of(EVERY(64))};
  const smma_planned turns = {"x", find(H100),
                              plan_of("\"sum\": [{\"deal\": \"interleaved\", \"parts\": 2, \"tile\": 8}]")};
  const smma_planned integers = {"x", find(INTEGERS), plan_of("\"sum\": [" SPLIT(2, 1) "}]")};
  smma_error error;
  (void)state;
  assert_true(smma_find_planned_freedom(&promoted, 0, 20000, 1, &f, &error));
  assert_int_equal(f.order.answer, SMMA_REFUTED);
  assert_string_equal(f.within, "1 to 15");
  assert_true(smma_find_planned_freedom(&turns, 64, 20000, 1, &f, &error));
  assert_int_equal(f.order.answer, SMMA_REFUTED);
  assert_string_equal(f.within, "1 to 7, 16 to 23");
  assert_true(smma_find_planned_freedom(&integers, 100, 20000, 1, &f, &error));
  assert_int_equal(f.order.answer, SMMA_PROVED);
  smma_plan_free((smma_plan *)promoted.plan), smma_plan_free((smma_plan *)turns.plan);
  smma_plan_free((smma_plan *)integers.plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_freedom), cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
