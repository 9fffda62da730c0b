/* Traces of one element: sums and errors derived by hand; the last sum is the product's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/target.h"
#include "isa/catalogue.h"
#include "isa/instruction.h"
#include "numerics/trace.h"
#include "support.h"

static smma_plan *plan_of(const char *members) {
  char text[4096];
  smma_error error;
  smma_plan *plan;
  snprintf(text, sizeof text, "{\"softmma-plan\": 1, \"name\": \"test\", %s}", members);
  plan = smma_plan_parse("plan.json", text, strlen(text), &error);
  if (!plan) fail_msg("%s\n%s", error.text, text);
  return plan;
}

static bool same_number(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

static void check_error(const smma_instruction *i, const smma_gemm_arguments *g, size_t row, size_t column,
                        const smma_trace *t, const smma_exact_element *sum) {
  const smma_trace_event *last = t->events ? &t->event[t->events - 1] : NULL;
  smma_error_of_element e;
  assert_int_equal(smma_element_error(i, g, row, column, t->d, sum, &e), SMMA_OK);
  if (last && (!same_number(e.exact, last->exact) || !same_number(e.error, last->error)))
    fail_msg("%s: exact %.17g, error %g; not %.17g, %g", i->name, e.exact, e.error, last->exact, last->error);
}

/* Checks that the error of the element's result alone is that of the trace's last event, also if the exact sum of its
   products is given. */
static void check_element_error(const smma_instruction *i, const smma_gemm_arguments *g, size_t row, size_t column,
                                const smma_trace *t) {
  const smma_product_target target = {.instruction = i, .product = *g};
  smma_encoded_matrix a, b;
  void *of_a = NULL, *of_b = NULL;
  bool sums;
  check_error(i, g, row, column, t, NULL);
  assert_int_equal(smma_sums_all_products(i, g, &sums), SMMA_OK);
  if (!sums) return;
  smma_exact_tile *tile = smma_exact_tile_create();
  assert_true(smma_target_numbers(&target, true, 1, &a, &of_a) && smma_target_numbers(&target, false, 1, &b, &of_b));
  check_error(i, g, row, column, t, smma_exact_tile_compute(tile, &a, &b, row, 1, column, 1));
  smma_exact_tile_free(tile);
  free(of_a), free(of_b);
}

static smma_trace trace_of(const smma_instruction *i, const smma_gemm_arguments *g, size_t row, size_t column) {
  smma_trace t;
  assert_int_equal(smma_trace_element(i, g, row, column, &t), SMMA_OK);
  check_element_error(i, g, row, column, &t);
  return t;
}

static void check_event(const smma_trace *t, size_t event, smma_trace_kind kind, size_t products, double sum,
                        double exact) {
  const smma_trace_event *e = &t->event[event];
  assert_true(event < t->events);
  if (e->kind != kind || e->products != products || e->value + e->rest != sum || e->exact != exact ||
      e->error != sum - exact)
    fail_msg("event %zu is kind %d behind %zu: %.17g, exact %.17g, error %g; not kind %d behind %zu: %.17g, %.17g",
             event, e->kind, e->products, e->value + e->rest, e->exact, e->error, kind, products, sum, exact);
}

/* ---- Derived by hand ---- */

enum { MOST = 512 };

/* One row and one column, in FP16. */
typedef struct {
  uint16_t a[MOST], b[MOST];
  float c, d;
  smma_gemm_arguments g;
} small;

static uint16_t half(double x) {
  return (uint16_t)smma_format_encode(SMMA_F16, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

/* Fills the product 2^24, then 1 with every instruction of 16. */
static void begin(small *s, size_t k) {
  memset(s, 0, sizeof *s);
  s->a[0] = s->b[0] = half(4096);
  for (size_t i = 16; i < k; i += 16) s->a[i] = s->b[i] = half(1);
  smma_gemm_defaults(&s->g, sizeof s->g);
  s->g.m = s->g.n = 1, s->g.k = k, s->g.a = s->a, s->g.b = s->b, s->g.d = &s->d;
}

/* Hopper's accumulator has 24 bits and truncates: each 1 is lost. */
static void test_chain(void **state) {
  static small s;
  smma_trace t;
  (void)state;
  begin(&s, 64);
  t = trace_of(find("H100", "wgmma.m64n8k16.f32.f16.f16"), &s.g, 0, 0);
  assert_int_equal(t.events, 4);
  for (size_t i = 0; i < 4; i++) check_event(&t, i, SMMA_TRACE_INSTRUCTION, 16 * (i + 1), 0x1p24, 0x1p24 + (double)i);
  assert_int_equal(t.d, 0x4b800000);
  assert_int_equal(t.best, 0x4b800002); /* 2^24 + 3 is halfway between two numbers, and rounds to even */
  smma_trace_free(&t);
}

/* Parts of 16 are added in FP32, to nearest even: 2^24 + 1 gives 2^24. In between, the chain and the total together are
   exact. */
static void test_promotion(void **state) {
  static small s;
  smma_trace t;
  smma_plan *plan = plan_of("\"d\": \"f16\", \"sum\": [{\"deal\": \"every\", \"k\": 16, \"from\": \"zero\"}]");
  (void)state;
  begin(&s, 48);
  s.g.plan = plan;
  t = trace_of(find("H100", "wgmma.m64n8k16.f32.f16.f16"), &s.g, 0, 0);
  assert_int_equal(t.events, 7);
  check_event(&t, 0, SMMA_TRACE_INSTRUCTION, 16, 0x1p24, 0x1p24);
  check_event(&t, 1, SMMA_TRACE_FOLD, 16, 0x1p24, 0x1p24);
  check_event(&t, 2, SMMA_TRACE_INSTRUCTION, 32, 0x1p24 + 1, 0x1p24 + 1);
  check_event(&t, 3, SMMA_TRACE_FOLD, 32, 0x1p24, 0x1p24 + 1);
  check_event(&t, 5, SMMA_TRACE_FOLD, 48, 0x1p24, 0x1p24 + 2);
  assert_int_equal(t.event[2].encoding, 0x3f800000);
  assert_int_equal(t.event[6].kind, SMMA_TRACE_STORE);
  assert_true(isinf(t.event[6].value) && isinf(t.event[6].error)); /* beyond FP16 */
  assert_int_equal(t.d, 0x7c00);
  assert_int_equal(smma_trace_addend(&t, 2), 0);
  smma_trace_free(&t);
  smma_plan_free(plan);
}

/* 3 * (-2), then 0.5 x, x + bias, relu, FP16. C = 1 begins the sum. */
static void test_epilogue(void **state) {
  static small s;
  const float bias = 5.0f + 0x1p-20f;
  smma_trace t;
  smma_plan *plan = plan_of("\"epilogue\": [\"linear\", \"bias\", \"relu\", {\"round\": \"f16\"}, \"scale-d\"]");
  (void)state;
  begin(&s, 16);
  s.a[0] = half(3), s.b[0] = half(-2), s.c = 1;
  s.g.plan = plan, s.g.c = &s.c, s.g.bias = &bias, s.g.alpha = 0.5, s.g.beta = -1, s.g.scale_d = 3;
  t = trace_of(find("H100", "wgmma.m64n8k16.f32.f16.f16"), &s.g, 0, 0);
  assert_int_equal(t.events, 6);
  check_event(&t, 0, SMMA_TRACE_INSTRUCTION, 16, -6, -6);
  check_event(&t, 1, SMMA_TRACE_EPILOGUE, 16, -4, -4);
  check_event(&t, 2, SMMA_TRACE_EPILOGUE, 16, 1 + 0x1p-20, 1 + 0x1p-20);
  check_event(&t, 3, SMMA_TRACE_EPILOGUE, 16, 1 + 0x1p-20, 1 + 0x1p-20);
  check_event(&t, 4, SMMA_TRACE_EPILOGUE, 16, 1, 1 + 0x1p-20);
  check_event(&t, 5, SMMA_TRACE_EPILOGUE, 16, 3, 3 + 3 * 0x1p-20);
  smma_trace_free(&t);
  smma_plan_free(plan);
}

/* The exact sum of the parts includes their scale factors. */
static void test_scaled_parts(void **state) {
  static small s;
  const smma_instruction *h100 = find("H100", "wgmma.m64n8k16.f32.f16.f16");
  const float scale_a[2] = {2, 0.25}, scale_b[2] = {3, 8};
  bool sums = false;
  smma_trace t;
  smma_plan *plan =
      plan_of("\"sum\": [{\"deal\": \"every\", \"k\": 16, \"from\": \"zero\", \"with\": \"fma\"}], \"start\": \"c\"");
  (void)state;
  begin(&s, 32);
  s.a[0] = half(5), s.b[0] = half(7), s.a[16] = half(11), s.b[16] = half(13), s.c = 100;
  s.g.plan = plan, s.g.scale_a = scale_a, s.g.scale_b = scale_b, s.g.c = &s.c;
  assert_int_equal(smma_sums_all_products(h100, &s.g, &sums), SMMA_OK);
  assert_true(sums); /* so that trace_of checks the exact sum of a tile, too */
  t = trace_of(h100, &s.g, 0, 0);
  check_event(&t, 0, SMMA_TRACE_START, 0, 100, 100);
  check_event(&t, 1, SMMA_TRACE_INSTRUCTION, 16, 310, 310);
  check_event(&t, 2, SMMA_TRACE_FOLD, 16, 310, 310);
  check_event(&t, 3, SMMA_TRACE_INSTRUCTION, 32, 596, 596);
  check_event(&t, 4, SMMA_TRACE_FOLD, 32, 596, 596);
  assert_int_equal(t.event[3].encoding, 0x430f0000); /* 143, not yet multiplied by the scale factors */
  smma_trace_free(&t);
  smma_plan_free(plan);
}

/* K = 0 gives beta C, a NaN has no error, and an infinite sum has an infinite error. */
static void test_special(void **state) {
  static small s;
  smma_trace t;
  const smma_instruction *h100 = find("H100", "wgmma.m64n8k16.f32.f16.f16");
  (void)state;
  begin(&s, 0);
  s.c = -3, s.g.c = &s.c, s.g.alpha = 0.5, s.g.beta = 2;
  t = trace_of(h100, &s.g, 0, 0);
  assert_int_equal(t.events, 1);
  check_event(&t, 0, SMMA_TRACE_EPILOGUE, 0, -6, -6);
  smma_trace_free(&t);
  begin(&s, 0);
  t = trace_of(h100, &s.g, 0, 0);
  assert_int_equal(t.events, 0);
  assert_int_equal(t.d, 0);
  smma_trace_free(&t);
  begin(&s, 48);
  s.a[20] = 0x7e01;
  t = trace_of(h100, &s.g, 0, 0);
  check_event(&t, 0, SMMA_TRACE_INSTRUCTION, 16, 0x1p24, 0x1p24);
  for (size_t i = 1; i < 3; i++) assert_true(isnan(t.event[i].value) && isnan(t.event[i].exact));
  assert_int_equal(t.d, 0x7fffffff);
  assert_false(t.has_best);
  smma_trace_free(&t);
  begin(&s, 48);
  t = trace_of(find("H100", "wgmma.m64n8k16.f16.f16.f16"), &s.g, 0, 0);
  assert_true(isinf(t.event[0].value) && t.event[0].exact == 0x1p24 && t.event[0].error == INFINITY);
  smma_trace_free(&t);
  assert_int_equal(smma_trace_element(h100, &s.g, 1, 0, &t), SMMA_INVALID_DIMENSION);
  assert_int_equal(smma_trace_element(h100, &s.g, 0, 1, &t), SMMA_INVALID_DIMENSION);
  smma_trace_free(&t);
}

/* ---- Where two traces diverge ---- */

static smma_divergence divergence_of(const small *s, const smma_instruction *one, const smma_plan *plan,
                                     const smma_instruction *other, const smma_plan *other_plan) {
  smma_gemm_arguments g[2] = {s->g, s->g};
  smma_trace t[2];
  smma_divergence p;
  g[0].plan = plan, g[1].plan = other_plan;
  t[0] = trace_of(one, &g[0], 0, 0), t[1] = trace_of(other, &g[1], 0, 0);
  p = smma_find_divergence(&t[0], &t[1]);
  smma_trace_free(&t[0]), smma_trace_free(&t[1]);
  return p;
}

static void test_divergence(void **state) {
  static small s;
  const smma_instruction *h100 = find("H100", "wgmma.m64n8k16.f32.f16.f16");
  const smma_instruction *v100 = find("V100", "mma.m8n8k4.f32.f16.f16.f32");
  smma_plan *every = plan_of("\"sum\": [{\"deal\": \"every\", \"k\": 32, \"from\": \"zero\"}]");
  smma_plan *rounded = plan_of("\"sum\": [{\"deal\": \"every\", \"k\": 32, \"total\": \"bf16\"}]");
  smma_plan *relu = plan_of("\"epilogue\": [\"relu\"]"),
            *bf16_output = plan_of("\"epilogue\": [{\"round\": \"bf16\"}]");
  smma_plan *lanes = plan_of("\"sum\": [{\"deal\": \"interleaved\", \"parts\": 2, \"tile\": 16}]");
  smma_divergence p;
  (void)state;
  begin(&s, 64);
  assert_false(divergence_of(&s, h100, NULL, h100, NULL).diverges);
  assert_false(divergence_of(&s, h100, NULL, h100, relu).diverges);
  assert_false(divergence_of(&s, h100, NULL, h100, bf16_output).diverges); /* 2^24 is a number of BF16 */
  /* The sums 2^24 + 1, 2^24 + 2 and 2^24 + 3. A chain loses each 1, but if two of the ones are in one part, they are
     added. */
  p = divergence_of(&s, h100, NULL, h100, every);
  assert_true(p.diverges && p.kind == SMMA_TRACE_INSTRUCTION);
  assert_int_equal(p.before, 32), assert_int_equal(p.products, 48);
  assert_int_equal(p.first[0], 2), assert_int_equal(p.last[0], 2);
  assert_int_equal(p.first[1], 3), assert_int_equal(p.last[1], 3);
  /* The small product is half an ulp of 2^9 in BF16. It is lost when the total is rounded. */
  s.a[0] = half(16), s.b[0] = half(32), s.a[16] = s.b[16] = half(1);
  p = divergence_of(&s, h100, NULL, h100, rounded);
  assert_true(p.diverges && p.kind == SMMA_TRACE_FOLD);
  assert_int_equal(p.products, 32);
  p = divergence_of(&s, h100, NULL, h100, bf16_output);
  assert_true(p.diverges && p.kind == SMMA_TRACE_EPILOGUE);
  /* Four instructions of a V100 equal one of an H100. 1 + 2^-24 + 2^-24: Volta, four products at a time, loses both. */
  begin(&s, 64);
  s.a[0] = s.b[0] = half(1), s.a[16] = s.a[20] = half(0x1p-12), s.b[16] = s.b[20] = half(0x1p-12);
  for (size_t i = 32; i < 64; i++) s.a[i] = 0;
  p = divergence_of(&s, v100, NULL, h100, NULL);
  assert_true(p.diverges && p.kind == SMMA_TRACE_INSTRUCTION);
  assert_int_equal(p.before, 16), assert_int_equal(p.products, 32);
  assert_int_equal(p.first[0], 4), assert_int_equal(p.last[0], 7);
  /* Different orders of k give the same sum at the end, here of integers. */
  s.a[16] = s.a[20] = half(2), s.b[16] = s.b[20] = half(3);
  assert_false(divergence_of(&s, h100, NULL, h100, lanes).diverges);
  smma_plan_free(every), smma_plan_free(rounded), smma_plan_free(relu), smma_plan_free(bf16_output),
      smma_plan_free(lanes);
}

/* ---- Every instruction, many plans ---- */

enum { ROWS = 3, COLUMNS = 2, LENGTH = 200 };

static uint64_t random_encoding(smma_format f, uint64_t *random) {
  const double x = (double)(int64_t)(random_bits(random) % 65537 - 32768) / 8192;
  if (smma_is_integer(f) || random_bits(random) % 89 == 0)
    return random_bits(random) & (UINT64_MAX >> (64 - smma_format_bits(f)));
  return smma_format_encode(f, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

static void fill(smma_format f, void *matrix, size_t count, uint64_t *random) {
  for (size_t i = 0; i < count; i++) store_element(f, matrix, i, random_encoding(f, random));
}

/* Checks the product's bits, the last event's bits, and that between two events only the reported change happens. */
static void check_traces(const smma_instruction *i, const smma_gemm_arguments *g, const char *what) {
  const smma_format d = g->plan ? smma_plan_d_format(g->plan, i) : i->d;
  for (size_t row = 0; row < ROWS; row++)
    for (size_t column = 0; column < COLUMNS; column++) {
      const uint64_t expected = load_element(d, g->d, row * COLUMNS + column);
      smma_trace t = trace_of(i, g, row, column);
      const smma_trace_event *last = t.events ? &t.event[t.events - 1] : NULL;
      const double value = smma_format_decode(d, expected);
      if (t.d != expected || !last || (last->value != value && !(isnan(last->value) && isnan(value))))
        fail_msg("%s on %s, %s, K = %zu: [%zu, %zu] is %llx, traced %llx, last %.17g", i->name, smma_arch_name(i), what,
                 g->k, row, column, (unsigned long long)expected, (unsigned long long)t.d, last ? last->value : 0);
      smma_trace_free(&t);
    }
}

static void check_product(const smma_instruction *i, size_t k, const char *members, uint64_t *random) {
  static uint64_t a[ROWS * LENGTH], b[LENGTH * COLUMNS], c[ROWS * COLUMNS], d[ROWS * COLUMNS];
  static uint64_t scale_a[ROWS * LENGTH], scale_b[LENGTH * COLUMNS];
  static float part_a[ROWS * LENGTH], part_b[LENGTH * COLUMNS], bias[COLUMNS];
  smma_plan *plan = members ? plan_of(members) : NULL;
  smma_gemm_arguments g;
  smma_error error;
  smma_gemm_defaults(&g, sizeof g);
  fill(i->a, a, ROWS * k, random), fill(i->b, b, k * COLUMNS, random), fill(i->c, c, ROWS * COLUMNS, random);
  for (size_t x = 0; x < ROWS * LENGTH; x++) part_a[x] = (float)(random_bits(random) % 200) / 16 - 5;
  for (size_t x = 0; x < LENGTH * COLUMNS; x++) part_b[x] = (float)(random_bits(random) % 200) / 16 - 5;
  for (size_t x = 0; x < COLUMNS; x++) bias[x] = (float)(random_bits(random) % 200) / 7;
  g.m = ROWS, g.n = COLUMNS, g.k = k, g.a = a, g.b = b, g.d = d, g.plan = plan, g.threads = 1, g.scale_d = 0.3;
  if (i->scale_block) {
    fill(i->scale, scale_a, ROWS * k, random), fill(i->scale, scale_b, k * COLUMNS, random);
    g.scale_a = scale_a, g.scale_b = scale_b;
  }
  if (plan && smma_plan_scaled_k(plan)) g.scale_a = part_a, g.scale_b = part_b;
  if (plan && smma_plan_has(plan, SMMA_EPILOGUE_BIAS)) g.bias = bias;
  if (!plan || plan->starts_from_c || smma_plan_has(plan, SMMA_EPILOGUE_LINEAR)) g.c = c;
  if (plan && smma_plan_has(plan, SMMA_EPILOGUE_LINEAR)) g.alpha = -1.7, g.beta = 0.3;
  if (!plan || smma_plan_check(plan, i, k, &error) == SMMA_OK) {
    assert_int_equal(smma_gemm(i, &g), SMMA_OK);
    check_traces(i, &g, members ? members : "no plan");
  }
  if (!plan) {
    g.alpha = 0.7, g.beta = -0.3;
    assert_int_equal(smma_gemm(i, &g), SMMA_OK);
    check_traces(i, &g, "alpha and beta");
    g.scaling = SMMA_SCALING_OPERANDS; /* block-scaled instructions and integers have none */
    if (smma_gemm(i, &g) == SMMA_OK) check_traces(i, &g, "alpha and beta on the operands");
    g.scaling = SMMA_SCALING_DEFAULT;
    g.alpha = 1, g.beta = 1, g.split_k = 3, g.promote_every = 2 * (size_t)i->k;
    assert_int_equal(smma_gemm(i, &g), SMMA_OK);
    check_traces(i, &g, "split and promoted");
  }
  smma_plan_free(plan);
}

#define EVERY "{\"deal\": \"every\", \"k\": 32, \"from\": \"zero\""

static void test_products(void **state) {
  static const char *const plans[] = {
      NULL,
      "\"start\": \"c\", \"residue\": \"first\", \"sum\": [{\"deal\": \"contiguous\", \"parts\": 3, \"grain\": 8}]",
      "\"start\": \"c\", \"sum\": [{\"deal\": \"contiguous\", \"parts\": 2}, " EVERY "}]",
      "\"sum\": [{\"deal\": \"interleaved\", \"parts\": 4, \"tile\": 3, \"fold\": \"halving\"}]",
      "\"d\": \"bf16\", \"sum\": [" EVERY ", \"with\": \"fma\"}], \"epilogue\": [\"bias\", \"scale-d\"]",
      "\"sum\": [{\"deal\": \"contiguous\", \"parts\": 2}, " EVERY ", \"with\": \"multiply-fma\"}]",
      "\"d\": \"f16\", \"sum\": [{\"deal\": \"every\", \"k\": 48, \"stored\": \"d\", \"total\": \"bf16\"}], "
      "\"epilogue\": [\"linear\", \"relu\", {\"clamp\": \"e4m3\"}]",
      "\"sum\": [{\"deal\": \"list\", \"list\": [[[60, 70], [0, 17]], [[17, 60]]]}]",
  };
  uint64_t random = 4;
  (void)state;
  for (size_t index = 0; index < smma_instruction_count(); index++) {
    const smma_instruction *i = smma_instruction_at(index);
    /* wider ones compute the same function; sparse ones use smma_gemm_sparse */
    bool seen = (i->n > 8 && i->family != SMMA_FAMILY_MFMA) || i->sparse;
    for (size_t x = 0; x < sizeof plans / sizeof plans[0] && !seen; x++) {
      check_product(i, 70, plans[x], &random);
      check_product(i, LENGTH - 1, plans[x], &random);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chain),        cmocka_unit_test(test_promotion), cmocka_unit_test(test_epilogue),
      cmocka_unit_test(test_scaled_parts), cmocka_unit_test(test_special),   cmocka_unit_test(test_divergence),
      cmocka_unit_test(test_products),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
