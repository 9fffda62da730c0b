/* Compositions. Every rule of the catalogue and random custom units, written as a composition, compute the results of
   their own code; random compositions agree with the oracle; the JSON form is written and read back; explanations.
   SOFTMMA_COMPOSITIONS sets the number of random compositions, SOFTMMA_COMPOSITION_ROWS the test vectors for each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "explain/explain.h"
#include "gemm/kernel.h"
#include "isa/compose.h"
#include "isa/custom.h"
#include "operands.h"
#include "oracle.h"
#include "random_unit.h"
#include "support.h"

#define SEED 91
#define EXPLAINED 8
#define TEXT 16384

static int unit_count(void) { return (int)amount_of("SOFTMMA_COMPOSITIONS", 600); }
static int row_count(void) { return (int)amount_of("SOFTMMA_COMPOSITION_ROWS", 400); }

static const char *text_of(const smma_instruction *i) {
  static char text[TEXT];
  assert_true(smma_custom_text(i, text, sizeof text) < sizeof text);
  return text;
}

static const smma_instruction *parse(const char *text) {
  smma_error error;
  const smma_instruction *i = smma_custom_read("unit.json", text, strlen(text), &error);
  if (!i) fail_msg("%s\n%s", error.text, text);
  return i;
}

static void check_explanation(const smma_operation *o, const smma_row *x) {
  FILE *nowhere = fopen("/dev/null", "w");
  smma_explanation e;
  assert_non_null(nowhere);
  assert_true(smma_explain(o, x, &e));
  assert_true(e.result == smma_row_compute(o, x));
  smma_explain_print(nowhere, o, &e, 120);
  fclose(nowhere);
  smma_explanation_free(&e);
}

/* Computes d by the composition's steps, without shortcuts. */
static uint64_t compute_steps(const smma_operation *o, const smma_row *row) {
  smma_decoded x;
  smma_row_decode(o, row, &x);
  return smma_returned(o, smma_composition_dot(o, smma_operands_of(&x), smma_widen_c(o, row->c)));
}

static void expect(const smma_instruction *i, const smma_row *x, uint64_t row, uint64_t expected, uint64_t got) {
  if (expected == got) return;
  print_dot(i, x, expected, got);
  fail_msg("row %" PRIu64 " of\n%s", row, text_of(i));
}

/* Makes `c` the instruction written as a composition. Returns false if the instruction cannot be written in steps. */
static bool compose(const smma_instruction *i, smma_custom *c) {
  const smma_operation o = smma_operation_of(i);
  *c = smma_custom_of(i);
  if (!smma_compose(&o, &c->named.rule.with.composition)) return false;
  c->named.rule.algorithm = SMMA_COMPOSITION;
  c->instruction.rule = &c->named;
  return true;
}

/* An instruction written as a composition computes the same results. If the composition's text is read back, it has the
   instruction's algorithm again. */
static void check_composed(const smma_instruction *i, int rows) {
  const smma_operation o = smma_operation_of(i);
  const smma_instruction *back;
  smma_operation p;
  smma_custom c;
  if (!compose(i, &c)) {
    assert_int_equal(o.rule.algorithm, SMMA_GTR_FDPA);
    return;
  }
  p = smma_operation_of(&c.instruction);
  for (int row = 0; row < rows; row++) {
    const smma_row x = operands_row(&o, seed_of(SEED), (uint64_t)row);
    expect(&c.instruction, &x, (uint64_t)row, smma_row_compute(&o, &x), smma_row_compute(&p, &x));
    expect(&c.instruction, &x, (uint64_t)row, smma_row_compute(&o, &x), compute_steps(&p, &x));
    if (row < EXPLAINED) check_explanation(&p, &x);
  }
  back = parse(text_of(&c.instruction));
  if (back->rule->rule.algorithm == SMMA_COMPOSITION && o.rule.algorithm != SMMA_COMPOSITION)
    fail_msg("not recognised:\n%s", text_of(&c.instruction));
  p = smma_operation_of(back);
  for (int row = 0; row < EXPLAINED; row++) {
    const smma_row x = operands_row(&o, SEED, (uint64_t)row);
    expect(back, &x, (uint64_t)row, smma_row_compute(&o, &x), smma_row_compute(&p, &x));
  }
  smma_custom_release(back);
}

static bool is_new(size_t index) {
  for (size_t earlier = 0; earlier < index; earlier++)
    if (smma_same_operation(smma_instruction_at(earlier), smma_instruction_at(index))) return false;
  return true;
}

static void test_catalogue(void **state) {
  (void)state;
  for (size_t index = 0; index < smma_instruction_count(); index++)
    if (is_new(index)) check_composed(smma_instruction_at(index), row_count());
}

static void test_random_units(void **state) {
  (void)state;
  for (int u = 0; u < unit_count(); u++) {
    const smma_custom c = random_any_unit((uint64_t)u);
    const smma_instruction *i = smma_custom_make(&c);
    assert_non_null(i);
    check_composed(i, row_count() / 4);
    smma_custom_release(i);
  }
}

/* Sums that are rounded to another format than D, to which C is then added, are read in their own format. */
static void test_sums_in_another_format(void **state) {
  static const smma_format outputs[] = {SMMA_F32, SMMA_F16, SMMA_BF16, SMMA_TF32, SMMA_E8M13, SMMA_F64, SMMA_E5M2};
  int units = 0;
  (void)state;
  for (int u = 0; u < unit_count(); u++) {
    smma_custom c = random_realistic_unit((uint64_t)u);
    smma_step *first = &c.named.rule.with.composition.step[0];
    smma_custom_fault fault;
    const smma_instruction *i;
    if (c.named.rule.with.composition.steps != 2 || first->output == SMMA_NO_FORMAT) continue;
    first->output = outputs[u % 7];
    if (!smma_custom_check(&c, &fault)) continue;
    i = smma_custom_make(&c);
    units++;
    for (int row = 0; row < row_count() / 4; row++) {
      const smma_operation o = smma_operation_of(i);
      const smma_row x = operands_row(&o, SEED, (uint64_t)row);
      expect(i, &x, (uint64_t)row, compute_steps(&o, &x), smma_row_compute(&o, &x));
    }
    smma_custom_release(i);
  }
  assert_true(units > unit_count() / 20);
}

/* Written, read and written again, the text is unchanged, or is that of the algorithm that the composition equals. */
static void check_text(const smma_instruction *i) {
  char text[TEXT];
  const smma_instruction *back;
  const smma_operation o = smma_operation_of(i);
  smma_operation p;
  snprintf(text, sizeof text, "%s", text_of(i));
  back = parse(text);
  p = smma_operation_of(back);
  if (p.rule.algorithm == SMMA_COMPOSITION) {
    assert_string_equal(text, text_of(back));
    assert_true(smma_same_operation(i, back));
  }
  for (int row = 0; row < EXPLAINED; row++) {
    const smma_row x = operands_row(&o, SEED, (uint64_t)row);
    expect(i, &x, (uint64_t)row, smma_row_compute(&o, &x), smma_row_compute(&p, &x));
  }
  smma_custom_release(back);
}

/* Compares composition `u` with the oracle, step by step and as it is computed otherwise. */
static void check_composition(smma_custom *c, int u, int rows) {
  smma_operation o;
  c->instruction.rule = &c->named;
  o = smma_operation_of(&c->instruction);
  check_text(&c->instruction);
  for (int row = 0; row < rows; row++) {
    const uint64_t number = (uint64_t)u * (uint64_t)row_count() + (uint64_t)row;
    const smma_row x = operands_row(&o, SEED, number);
    const uint64_t expected = oracle_dot_add(&o, x.a, x.b, x.c, x.scale_a, x.scale_b);
    expect(&c->instruction, &x, number, expected, smma_row_compute(&o, &x));
    expect(&c->instruction, &x, number, expected, compute_steps(&o, &x));
    if (row < EXPLAINED) check_explanation(&o, &x);
  }
}

static void test_random_compositions(void **state) {
  (void)state;
  for (int u = 0; u < unit_count(); u++) {
    smma_custom c = random_composition((uint64_t)u);
    check_composition(&c, u, row_count() / 4);
  }
}

/* Compositions accept P3109 formats as factors. Half of the tested compositions have these formats also as c and d. */
static void test_p3109_compositions(void **state) {
  static const char *const factors[] = {"binary8p3se", "binary6p3se", "binary8p4ue", "binary10p6se"};
  static const char *const sums[] = {"binary8p4se", "binary10p6se"};
  int checked = 0;
  (void)state;
  for (int u = 0; u < unit_count(); u++) {
    smma_custom c = random_composition((uint64_t)u);
    smma_custom_fault fault;
    smma_composition *p = &c.named.rule.with.composition;
    c.instruction.a = smma_format_find(factors[u % 4]), c.instruction.b = smma_format_find(factors[u / 4 % 4]);
    if (u % 2) c.instruction.c = c.instruction.d = p->step[p->steps - 1].output = smma_format_find(sums[u / 2 % 2]);
    if (!smma_custom_check(&c, &fault)) continue;
    check_composition(&c, u, row_count() / 8);
    checked++;
  }
  assert_in_range(checked, unit_count() / 4, unit_count());
}

/* No kernel computes a rule of the catalogue whose products, or whose reference exponents, have been changed. */
static void test_kernels_take_no_changes(void **state) {
  int families = 0;
  (void)state;
  for (size_t index = 0; index < smma_instruction_count(); index++) {
    const smma_kernel_family *family;
    const char *kernel;
    smma_custom c;
    if (!compose(smma_instruction_at(index), &c)) continue;
    for (int change = 0; change < 10; change++) {
      smma_composition *p = &c.named.rule.with.composition;
      const smma_composition before = *p;
      smma_custom_fault fault;
      smma_step *last = &p->step[p->steps - 1];
      smma_operation o;
      if (change == 1) p->slice_a = 3;
      if (change == 2) p->slice_b = 3;
      if (change == 3) p->block_bits_a = 3;
      if (change == 4) p->block_bits_b = 3;
      if (change == 5) p->zero_product = -3;
      if (change == 6 && !p->slice_a) p->phases = 2; /* kernels of slices take any phases */
      if (change == 7) p->step[0].reference_multiple = 8;
      if (change == 8) last->reference_multiple = 8;
      if (change == 9) p->step[0].cancelled_is_zero = 1;
      o = smma_operation_of(&c.instruction);
      assert_true(smma_choose_kernel(&o, NULL, &family, &kernel));
      if (change && family && smma_custom_check(&c, &fault) && !smma_same_composition(p, &before))
        fail_msg("%s takes a change (%d) of %s", kernel, change, c.instruction.name);
      families += family != NULL;
      *p = before;
    }
  }
  assert_true(families > 0);
}

/* A member without a key would not be compared, described, read or written. */
static void test_every_member_has_a_key(void **state) {
  size_t bytes = 0;
  (void)state;
  for (const smma_key *key = NULL; (key = smma_next_step_key(key));) bytes += sizeof(int);
  assert_int_equal(bytes, sizeof(smma_step));
}

static void test_every_key_counts(void **state) {
  (void)state;
  for (uint64_t u = 0; u < 50; u++) {
    smma_custom c = random_composition(u), other = c;
    smma_composition *p = &other.named.rule.with.composition;
    c.instruction.rule = &c.named;
    other.instruction.rule = &other.named;
    for (int step = 0; step < p->steps; step++)
      for (const smma_key *key = NULL; (key = smma_next_step_key(key));) {
        const int value = smma_key_of_step(&p->step[step], key);
        assert_true(smma_same_operation(&c.instruction, &other.instruction));
        smma_set_key_of_step(&p->step[step], key, value ^ 1);
        if (smma_same_operation(&c.instruction, &other.instruction)) fail_msg("%s is not compared", key->key);
        smma_set_key_of_step(&p->step[step], key, value);
      }
  }
}

/* The argument is a pattern of the tests to run. */
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_catalogue),
      cmocka_unit_test(test_random_units),
      cmocka_unit_test(test_sums_in_another_format),
      cmocka_unit_test(test_random_compositions),
      cmocka_unit_test(test_p3109_compositions),
      cmocka_unit_test(test_kernels_take_no_changes),
      cmocka_unit_test(test_every_member_has_a_key),
      cmocka_unit_test(test_every_key_counts),
  };
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
