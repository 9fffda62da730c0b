/* Instructions as SystemVerilog: every function of the catalogue and random units are written, with the ports and the
   parameters of their rules; errors. tests/rtl_units.py compares what the modules compute. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/compose.h"
#include "isa/custom.h"
#include "random_unit.h"
#include "softmma/rtl.h"
#include "support.h"

enum { RANDOM_UNITS = 200, COMPOSITIONS = 4 };

/* Returns the module's text, which the caller frees. */
static char *text_of(const smma_instruction *i, int stages, int assertion) {
  smma_error error;
  const size_t length = smma_rtl_text(i, "unit", stages, assertion, NULL, 0, &error);
  char *text = malloc(length + 1);
  if (!length) fail_msg("%s: %s", i->name, error.text);
  assert_non_null(text);
  assert_int_equal(smma_rtl_text(i, "unit", stages, assertion, text, length + 1, &error), length);
  assert_int_equal(error.status, SMMA_OK);
  assert_int_equal(strlen(text), length);
  return text;
}

static void expect(const smma_instruction *i, const char *text, const char *words) {
  if (!strstr(text, words)) fail_msg("%s: there is no '%s' in\n%s", i->name, words, text);
}

static void expect_port(const smma_instruction *i, const char *text, const char *direction, const char *name,
                        int bits) {
  char line[128];
  snprintf(line, sizeof line, "    %s logic [%d:0] %s", direction, bits - 1, name);
  expect(i, text, line);
}

/* Expects a parameter's value, of any width. */
static void expect_parameter(const smma_instruction *i, const char *text, const char *name, int value) {
  char line[64], number[32];
  const char *at = text;
  snprintf(line, sizeof line, "] %s = ", name);
  snprintf(number, sizeof number, "sd%d;", value < 0 ? -value : value);
  while ((at = strstr(at, line))) {
    const char *of = at + strlen(line);
    const size_t length = strcspn(of, ";") + 1;
    if ((*of == '-') == (value < 0) && length > strlen(number) &&
        strncmp(of + length - strlen(number), number, strlen(number)) == 0)
      return;
    at = of;
  }
  fail_msg("%s: %s is not %d", i->name, name, value);
}

/* Expects a parameter whose value is a plain integer, unless it is `none`. */
static void expect_integer(const smma_instruction *i, const char *text, const char *name, int value, int none) {
  char line[64];
  if (value == none) return;
  snprintf(line, sizeof line, "  localparam integer %s = %d;", name, value);
  expect(i, text, line);
}

static void check_cut(const smma_instruction *i, const char *text, const smma_cut *cut) {
  if (cut->bits != SMMA_EXACT_ALIGNMENT) expect_parameter(i, text, "ALIGNMENT_BITS", cut->bits);
  expect_integer(i, text, "ROUND_AGAIN", cut->again, 0);
}

static void check_parameters(const smma_instruction *i, const char *text) {
  const smma_operation o = smma_operation_of(i);
  smma_composition p;
  assert_true(smma_compose(&o, &p));
  for (const smma_step *s = p.step; s < p.step + p.steps; s++) {
    check_cut(i, text, &s->term);
    if (s->join == SMMA_JOIN_CHAIN && s->start != SMMA_START_NOTHING) check_cut(i, text, &s->accumulator);
    if (s->narrow_bits != SMMA_NONE) expect_parameter(i, text, "NARROW_BITS", s->narrow_bits);
    if (s->least_reference != SMMA_NONE) expect_parameter(i, text, "LEAST_REFERENCE", s->least_reference);
    expect_integer(i, text, "MINUS_ONE_SHIFT", s->minus_one_shift, 0);
    if (s->term.bits != SMMA_EXACT_ALIGNMENT && s->reference == SMMA_NONE && s->term.brings != SMMA_BRINGS_NOTHING &&
        s->term.zero_exponent > SMMA_NO_EXPONENT)
      expect_parameter(i, text, "ZERO_EXPONENT", s->term.zero_exponent);
  }
  if (p.product_limit != SMMA_NONE) expect_parameter(i, text, "PRODUCT_LIMIT", p.product_limit);
  if (p.zero_product != SMMA_OWN_EXPONENT) expect_parameter(i, text, "ZERO_PRODUCT", p.zero_product);
  expect_integer(i, text, "SLICE_A", p.slice_a, 0);
  expect_integer(i, text, "SLICE_B", p.slice_b, 0);
  expect_integer(i, text, "BLOCK_BITS_A", p.block_bits_a, 0);
  expect_integer(i, text, "BLOCK_BITS_B", p.block_bits_b, 0);
}

static void check(const smma_instruction *i) {
  const smma_operation o = smma_operation_of(i);
  char *text = text_of(i, 0, 0);
  expect(i, text, "\nmodule unit (\n");
  expect_port(i, text, "input ", "a,", o.k * smma_encoding_of(o.a).bits);
  expect_port(i, text, "input ", "b,", o.k * smma_encoding_of(o.b).bits);
  expect_port(i, text, "input ", "c,", smma_encoding_of(o.c).bits);
  expect_port(i, text, "output", "d\n", smma_encoding_of(o.d).bits);
  if (o.scale_block)
    expect_port(i, text, "input ", "scale_a,", smma_scale_count(o.k, o.scale_block) * smma_encoding_of(o.scale).bits);
  if (strstr(text, "clk")) fail_msg("%s: a combinational module has a clock", i->name);
  check_parameters(i, text);
  free(text);
}

static void test_catalogue(void **state) {
  int functions = 0;
  (void)state;
  for (size_t index = 0; index < smma_instruction_count(); index++) {
    const smma_instruction *i = smma_instruction_at(index);
    bool is_new = true;
    for (size_t earlier = 0; earlier < index && is_new; earlier++)
      is_new = !smma_same_operation(smma_instruction_at(earlier), i);
    if (!is_new) continue;
    check(i);
    functions++;
  }
  assert_true(functions > 300);
}

static void test_random_units(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < RANDOM_UNITS; seed++) {
    const smma_custom c = seed % COMPOSITIONS ? random_composition(seed) : random_any_unit(seed);
    const smma_instruction *i = smma_custom_make(&c);
    const smma_operation o = smma_operation_of(i);
    smma_composition p;
    assert_non_null(i);
    if (smma_compose(&o, &p)) check(i);
    smma_custom_release(i);
  }
}

/* Returns how often a text contains words. */
static int count_of(const char *text, const char *words) {
  int count = 0;
  while ((text = strstr(text, words))) count++, text += strlen(words);
  return count;
}

/* A keyword of SystemVerilog or a port is refused as --name, and changed if a unit has it. */
static void test_names(void **state) {
  static const char *const reserved[] = {"ref", "wire", "logic", "a", "clk", "scale_b", "4bit"};
  const smma_instruction *i = smma_find("V100", "mma.m8n8k4.f32.f16.f16.f32", NULL);
  smma_error error;
  (void)state;
  for (size_t n = 0; n < sizeof reserved / sizeof *reserved; n++) {
    smma_custom custom = smma_custom_of(i);
    char text[1 << 16], line[64];
    assert_int_equal(smma_rtl_text(i, reserved[n], 0, 0, NULL, 0, &error), 0);
    if (!strstr(error.text, "is not a module name")) fail_msg("%s: %s", reserved[n], error.text);
    custom.instruction.name = reserved[n];
    custom.instruction.rule = &custom.named;
    assert_true(smma_rtl_text(&custom.instruction, NULL, 0, 0, text, sizeof text, &error) < sizeof text);
    snprintf(line, sizeof line, "\nmodule u_%s (\n", reserved[n]);
    expect(i, text, line);
  }
  assert_true(smma_rtl_text(i, "wires", 0, 0, NULL, 0, &error) > 0);
}

static void test_stages(void **state) {
  const smma_instruction *i =
      find("MI300X", "v_mfma_f32_32x32x8_f16"); /* its parts are products, step 1, step 2 and its rounding */
  char *text;
  smma_error error;
  (void)state;
  for (int stages = 0; stages <= 4; stages++) {
    char words[64];
    text = text_of(i, stages, 0);
    snprintf(words, sizeof words, "d follows the operands after %d clock cycle", stages);
    if (stages) expect(i, text, words);
    assert_true(count_of(text, "always_ff") >= stages);
    assert_int_equal(count_of(text, "(stage 1)") > 0, stages > 0);
    free(text);
  }
  assert_int_equal(smma_rtl_text(i, NULL, 5, 0, NULL, 0, &error), 0);
  assert_string_equal(error.text, "5 stages: the rule of v_mfma_f32_32x32x8_f16 has places for 0 to 4 registers");
  for (int stages = 1 << 20; stages > 0 && stages < 1 << 30; stages *= 32) /* no text is written first */
    assert_int_equal(smma_rtl_text(i, NULL, stages, 1, NULL, 0, &error), 0);
  assert_int_equal(smma_rtl_text(i, NULL, INT32_MAX, 1, NULL, 0, &error), 0);
  assert_int_equal(smma_rtl_text(i, NULL, -1, 0, NULL, 0, &error), 0);
  text = text_of(i, 2, 1);
  expect(i, text, "\nmodule unit_check (\n");
  expect(i, text, "if (pending[1]) assert (d === expected || both_nan);");
  free(text);
}

static void test_errors(void **state) {
  const smma_instruction *i = find("V100", "mma.m8n8k4.f32.f16.f16.f32");
  static const char *const wrong[] = {"", "2nd", "a-b", "x y", "\xc3\xa4"};
  smma_error error;
  char few[16];
  (void)state;
  assert_int_equal(smma_rtl_text(NULL, NULL, 0, 0, NULL, 0, &error), 0);
  assert_int_equal(error.status, SMMA_INVALID_ARGUMENT);
  for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
    assert_int_equal(smma_rtl_text(i, wrong[n], 0, 0, NULL, 0, &error), 0);
    assert_int_equal(error.status, SMMA_INVALID_ARGUMENT);
  }
  assert_true(smma_rtl_text(i, NULL, 0, 0, few, sizeof few, NULL) > sizeof few);
  assert_string_equal(few, "// mma.m8n8k4.f");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_catalogue), cmocka_unit_test(test_random_units), cmocka_unit_test(test_names),
      cmocka_unit_test(test_stages),    cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
