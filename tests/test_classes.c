/* Classes of mismatches, for units with faults that the classifier does not know. Three faults at once give three
   classes, each with a test vector that shows one fault alone; one fault gives one class; no fault gives none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "classes/change.h"
#include "classes/kept.h"
#include "host/load.h"
#include "isa/custom.h"
#include "support.h"

enum { ROWS = 60000 };

/* ---- Units with faults ---- */

typedef enum {
  FAULT_PARAMETER, /* another parameter of the rule: see other_rule */
  FAULT_SIGN,      /* the product at k = 3 has the wrong sign; in floating point only if a is subnormal */
  FAULT_NAN,       /* a NaN in b[1] counts as zero */
  FAULT_FLUSHED_C, /* a subnormal c counts as zero */
  FAULT_OVERFLOW,  /* finite operands never give infinity */
  FAULT_CUT,       /* a product at k = 2 that is far smaller than c is lost */
  FAULT_LARGE,     /* results of at least 2^20 have an even last bit */
  FAULTS
} fault;

static const char *const fault_names[] = {"parameter", "sign", "nan", "flushed c", "overflow", "cut", "large"};

typedef struct {
  const smma_instruction *instruction;
  unsigned faults; /* bit fault */
} faulty;

static smma_operation other_rule(const smma_instruction *i) {
  smma_operation o = smma_operation_of(i);
  switch (smma_algorithm_of(&o.rule)) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA: o.rule.with.t_fdpa.alignment_bits--; break;
    case SMMA_TR_FDPA: o.rule.with.tr_fdpa.alignment_bits--; break;
    case SMMA_FMA: o.rule.with.fma.rounding = SMMA_ROUND_TOWARD_ZERO; break;
    case SMMA_INTEGER: o.rule.with.integer.overflow = SMMA_INTEGER_WRAPS; break;
    default: fail_msg("no other rule");
  }
  return o;
}

static bool has(unsigned faults, fault f) { return faults >> f & 1; }

static bool is_below_normal(smma_format format, smma_number x) {
  return smma_encoding_of(format).exponent_bits && smma_is_subnormal(x);
}

static int leading(smma_number x) { return x.exponent - x.fraction_bits + smma_bit_length(x.significand); }

static uint64_t compute(const smma_instruction *i, unsigned faults, const smma_row *row) {
  const smma_operation o = has(faults, FAULT_PARAMETER) ? other_rule(i) : smma_operation_of(i);
  const smma_encoding a = smma_encoding_of(i->a), b = smma_encoding_of(i->b), d = smma_encoding_of(i->d);
  const smma_number of_c = smma_decode(smma_encoding_of(i->c), row->c);
  smma_row x = *row;
  uint64_t result;
  smma_number r;
  bool finite = of_c.kind <= SMMA_FINITE;
  if (i->k > 3 && has(faults, FAULT_SIGN) &&
      (smma_is_fixed_point(i->a) || is_below_normal(i->a, smma_decode(a, row->a[3]))))
    x.a[3] = smma_negated(a, row->a[3]); /* -128 has no negation, and stays */
  if (has(faults, FAULT_NAN) && smma_decode(b, row->b[1]).kind == SMMA_NAN) x.b[1] = 0;
  if (has(faults, FAULT_FLUSHED_C) && is_below_normal(i->c, of_c)) x.c = 0;
  for (int k = 0; k < i->k; k++)
    finite = finite && smma_decode(a, row->a[k]).kind <= SMMA_FINITE && smma_decode(b, row->b[k]).kind <= SMMA_FINITE;
  if (has(faults, FAULT_CUT)) {
    const smma_number p = smma_decode(a, x.a[2]), q = smma_decode(b, x.b[2]);
    if (p.kind == SMMA_FINITE && q.kind == SMMA_FINITE && of_c.kind == SMMA_FINITE &&
        leading(p) + leading(q) + 6 < leading(of_c))
      x.a[2] = 0;
  }
  result = smma_row_compute(&o, &x);
  r = smma_decode(d, result);
  if (has(faults, FAULT_OVERFLOW) && finite && r.kind == SMMA_INFINITE) result--;
  r = smma_decode(d, result);
  if (has(faults, FAULT_LARGE) && r.kind == SMMA_FINITE && leading(r) > 20) result &= ~UINT64_C(1);
  return result;
}

static int faulty_computes(void *state, const smma_instruction_info *info, char *message, size_t size) {
  (void)state, (void)info, (void)message, (void)size;
  return 0;
}

static int faulty_run(void *state, const smma_instruction_info *info, const smma_batch *batch, char *message,
                      size_t size) {
  const faulty *u = state;
  const smma_rows rows = smma_rows_of_batch(u->instruction, batch);
  const size_t bytes = smma_container_bytes(smma_encoding_of(u->instruction->d));
  (void)info, (void)message, (void)size;
#pragma omp parallel for schedule(static)
  for (size_t n = 0; n < batch->rows; n++) {
    smma_row row;
    smma_rows_get(&rows, n, &row);
    smma_store(bytes, batch->d, n, compute(u->instruction, u->faults, &row));
  }
  return 0;
}

static const smma_unit_methods methods = {.abi = SMMA_UNIT_ABI, .computes = faulty_computes, .run = faulty_run};

/* ---- Results ---- */

static bool go_on(const smma_campaign_result *result, void *context) {
  (void)result, (void)context;
  return false;
}

/* The number of test vectors that the units were asked for never falls. */
static void watch(size_t asked, void *context) {
  size_t *known = context;
  assert_true(asked >= *known);
  *known = asked;
}

static void run(const smma_instruction *i, unsigned faults, smma_classes *classes, size_t *kept) {
  faulty state = {i, faults};
  smma_unit unit = {.name = "faulty", .methods = &methods, .state = &state}, model;
  smma_sample sample = {0};
  smma_campaign_result result = {.kept = &sample};
  smma_campaign campaign = {.unit = &unit, .against = &model, .rows = ROWS, .recipe = smma_campaign_best(0)};
  smma_campaign_rows numbered = {0};
  smma_error error = {SMMA_OK, ""};
  bool stopped;
  size_t gone = 0, known = 0;
  const smma_class_watcher watcher = {watch, &known};
  assert_true(smma_unit_open("model", &model, &error));
  if (!smma_campaign_run(&campaign, i, go_on, NULL, &numbered, &result, &stopped, &error)) fail_msg("%s", error.text);
  *kept = sample.count;
  classes->count = 0;
  if (sample.count && !smma_classify_kept(&campaign, i, &result, classes, &gone, SIZE_MAX, &watcher, &error))
    fail_msg("%s", error.text);
  assert_int_equal(gone, 0);
  if (sample.count) assert_true(known > 0 && known <= classes->asked);
  smma_campaign_rows_free(&numbered);
  smma_sample_free(&sample);
  smma_unit_close(&model);
}

/* Returns the faults that a test vector shows separately. */
static unsigned shown(const smma_instruction *i, unsigned faults, const smma_row *row) {
  const smma_operation o = smma_operation_of(i);
  unsigned all = 0;
  for (int f = 0; f < FAULTS; f++)
    if (has(faults, (fault)f) && !smma_same_result(&o, smma_row_compute(&o, row), compute(i, 1u << f, row)))
      all |= 1u << f;
  return all;
}

static void print_case(const smma_instruction *i, unsigned faults, const smma_classes *c) {
  printf("%s:", i->name);
  for (int f = 0; f < FAULTS; f++)
    if (has(faults, (fault)f)) printf(" %s;", fault_names[f]);
  printf(" %d classes\n", c->count);
  for (int n = 0; n < c->count; n++) {
    const smma_mismatch_class *x = &c->list[n];
    char text[400] = "";
    printf("  %zu rows, %.0f mismatches, shows", x->rows, x->mismatches);
    for (int f = 0; f < FAULTS; f++)
      if (has(shown(i, faults, &x->row), (fault)f)) printf(" %s;", fault_names[f]);
    if (!x->is_changed && x->rows < 3) {
      print_dot(i, &x->row, x->expected, x->row.d);
      printf(" places %lx ", x->places);
    }
    printf(" %s%s\n",
           x->is_changed  ? ""
           : x->is_partly ? "partly: "
                          : "none",
           x->is_changed || x->is_partly ? smma_change_words(&x->change, text, sizeof text) : "");
  }
}

static int judge(const smma_instruction *i, unsigned faults) {
  static smma_classes classes;
  size_t kept;
  unsigned seen = 0;
  int bad = 0;
  run(i, faults, &classes, &kept);
  for (int n = 0; n < classes.count; n++) {
    const unsigned one = shown(i, faults, &classes.list[n].row);
    bad += one == 0 || one & (one - 1) || one & seen;
    seen |= one;
  }
  bad += seen != faults;
  printf("%s ", bad ? "BAD" : "ok");
  print_case(i, faults, &classes);
  return bad;
}

/* An instruction, and combinations of faults that it can have. */
#define F(f) (1u << FAULT_##f)
typedef struct {
  const char *gpu, *name;
  unsigned faults[10];
} unit_case;

static const unit_case cases[] = {
    {"H100",
     "mma.m16n8k16.f32.f16.f16.f32",
     {F(PARAMETER), F(SIGN), F(CUT), F(LARGE), F(PARAMETER) | F(SIGN) | F(NAN), F(SIGN) | F(FLUSHED_C) | F(CUT),
      F(SIGN) | F(NAN) | F(LARGE)}},
    {"MI300X",
     "v_mfma_f32_32x32x8_bf16",
     {F(PARAMETER), F(FLUSHED_C), F(OVERFLOW), F(CUT), F(PARAMETER) | F(SIGN) | F(OVERFLOW),
      F(NAN) | F(FLUSHED_C) | F(CUT), F(NAN) | F(FLUSHED_C) | F(LARGE)}},
    {"H100",
     "mma.m16n8k8.f64.f64.f64.f64",
     {F(PARAMETER), F(OVERFLOW), F(CUT), F(SIGN) | F(NAN) | F(OVERFLOW), F(NAN) | F(FLUSHED_C) | F(CUT)}},
    {"H100", "mma.m16n8k32.satfinite.s32.s8.s8.s32", {F(PARAMETER), F(CUT), F(LARGE)}},
    {"B200",
     "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0",
     {F(PARAMETER), F(NAN), F(CUT), F(PARAMETER) | F(SIGN) | F(NAN), F(SIGN) | F(FLUSHED_C) | F(CUT)}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void test_faults(void **state) {
  const int every = (int)amount_of("SOFTMMA_CLASSES_EVERY", 1); /* runs one of this number of combinations */
  int bad = 0;
  (void)state;
  for (int c = 0; c < CASES; c++) {
    const smma_instruction *i = find(cases[c].gpu, cases[c].name);
    for (int n = 0; cases[c].faults[n]; n++)
      if (n % every == 0) bad += judge(i, cases[c].faults[n]);
  }
  assert_int_equal(bad, 0);
}

static void test_no_fault(void **state) {
  static smma_classes classes;
  size_t kept;
  (void)state;
  for (int c = 0; c < CASES; c++) {
    run(find(cases[c].gpu, cases[c].name), 0, &classes, &kept);
    assert_int_equal(kept, 0);
  }
}

/* The retained sample does not depend on the order of the test vectors, and counts all of them. */
static void test_sample(void **state) {
  const smma_operation o = smma_operation_of(find("H100", "mma.m16n8k16.f32.f16.f16.f32"));
  smma_sample forward = {0}, backward = {0};
  enum { MANY = 5000 };
  (void)state;
  for (uint64_t n = 0; n < MANY; n++) {
    const uint64_t m = MANY - 1 - n;
    assert_true(smma_sample_add(&forward, &o, (int)(n % 8), n, 0x3f800000, 0x3f800000 + 1 + n % 3, NULL));
    assert_true(smma_sample_add(&backward, &o, (int)(m % 8), m, 0x3f800000, 0x3f800000 + 1 + m % 3, NULL));
  }
  assert_int_equal(forward.count, backward.count);
  for (size_t s = 0; s < forward.count; s++) {
    const smma_sort *x = &forward.sort[s], *y = &backward.sort[backward.place[x->sort] - 1];
    uint64_t of_x = 0, of_y = 0;
    assert_int_equal(x->sort, y->sort);
    assert_int_equal(x->count, y->count);
    assert_int_equal(x->kept, SMMA_KEPT_OF_SORT);
    for (int n = 0; n < x->kept; n++) of_x += x->row[n] * x->row[n], of_y += y->row[n] * y->row[n];
    assert_int_equal(of_x, of_y);
  }
  smma_sample_free(&forward);
  smma_sample_free(&backward);
}

/* Returns d of a row that has only c, without c. */
static uint64_t without_c(const smma_instruction *i, uint64_t c) {
  const smma_row row = {.c = c};
  size_t count;
  smma_change *changes = smma_changes_of(i, &count);
  smma_changed changed;
  uint64_t d = 1;
  bool made = false;
  assert_non_null(changes);
  for (size_t n = 0; n < count && !made; n++) {
    char text[256];
    if (strcmp(smma_change_words(&changes[n], text, sizeof text), "c is left out") != 0) continue;
    made = smma_changed_make(i, &changes[n], 1, &changed);
    d = smma_changed_row(&changed, &row);
  }
  free(changes);
  assert_true(made);
  return d;
}

/* Zero in place of a negative number is zero also for integers, and in formats whose -0 is NaN. */
static void test_zero_in_place(void **state) {
  static const char text[] =
      "{\"softmma-unit\": 1, \"name\": \"x\", \"algorithm\": \"G-FDPA\", \"k\": 4, \"a\": "
      "\"e4m3fnuz\", \"b\": \"e4m3fnuz\", \"d\": \"e4m3fnuz\", \"alignment_bits\": 25}";
  smma_error error;
  const smma_instruction *unit = smma_custom_read("custom", text, strlen(text), &error);
  (void)state;
  if (!unit) fail_msg("%s", error.text);
  assert_int_equal(without_c(find("A100", "mma.m16n8k32.s32.s8.s8.s32"), 0xfffffffb), 0);
  assert_int_equal(without_c(unit, 0xc0), 0);
  smma_custom_release(unit);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_zero_in_place), cmocka_unit_test(test_sample),
                                     cmocka_unit_test(test_no_fault), cmocka_unit_test(test_faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
