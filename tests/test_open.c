/* The experiments of `campaign --open`. For every rule, a unit that computes like one of the candidates is recognised
   as this candidate. Some results are compared with results derived by hand. Every open question names existing
   experiments. */
#include <string.h>

#include "host/load.h"
#include "isa/catalogue.h"
#include "isa/compose.h"
#include "isa/find.h"
#include "question/ask.h"
#include "rows/rows.h"
#include "support.h"

/* A unit that computes like the candidate of a trial, but flips some bits of every result. */
typedef struct {
  const smma_trial *trial;
  const smma_candidate *candidate;
  uint64_t flipped;
} candidate_unit;

static int run_candidate(void *unit, const smma_instruction_info *info, const smma_batch *batch, char *message,
                         size_t size) {
  const candidate_unit *u = unit;
  const smma_operation o = smma_operation_of(u->trial->instruction);
  const smma_rows rows = smma_rows_of_batch(u->trial->instruction, batch);
  (void)info, (void)message, (void)size;
  for (size_t i = 0; i < batch->rows; i++) {
    smma_row row;
    smma_decoded x;
    smma_rows_get(&rows, i, &row);
    smma_row_decode(&o, &row, &x);
    smma_store(smma_container_bytes(smma_encoding_of(o.d)), batch->d, i,
               u->flipped ^ u->candidate->compute(&o, smma_operands_of(&x), row.c, u->candidate->parameter));
  }
  return 0;
}

static smma_trial_result run_as(const smma_trial *t, const smma_candidate *candidate, uint64_t flipped) {
  static const smma_unit_methods methods = {.abi = SMMA_UNIT_ABI, .run = run_candidate};
  candidate_unit state = {t, candidate, flipped};
  smma_unit unit = {.methods = &methods, .state = &state};
  smma_trial_result r;
  smma_error error;
  assert_true(smma_trial_run(t, &unit, &r, &error));
  return r;
}

static void recognises_its_candidates(const smma_trial *t) {
  for (int n = 0; n < t->answers; n++) {
    const smma_trial_result r = run_as(t, t->answer[n], 0);
    if (r.answer != n)
      print_error("%s of %s: '%s' is taken for %d\n", t->question->name, t->instruction->name, t->answer[n]->text,
                  r.answer);
    assert_int_equal(r.answer, n);
    assert_int_equal(r.different<t->rows, n> 0);
  }
  if (!t->question->chained) assert_int_equal(run_as(t, t->answer[0], 2).answer, -1);
}

/* Finds the first instruction of the rule for which the question has a trial. Returns false if there is none. */
static bool find_trial(const smma_question *e, const smma_named_rule *rule, smma_trial *t) {
  const smma_instruction *last = NULL;
  for (size_t i = 0; i < smma_catalogue_count(); i++) {
    const smma_instruction *instruction = smma_catalogue_at(i);
    if (instruction->rule != rule || (last && smma_same_operation(last, instruction))) continue;
    last = instruction;
    if (smma_trial_prepare(e, instruction, t)) return true;
  }
  return false;
}

static const smma_named_rule *const rules[] = {
#define SMMA_RULE(name, ...) &smma_rule_##name, &smma_sparse_rule_##name,
#include "isa/rules.def"
#undef SMMA_RULE
};
enum { RULES = sizeof rules / sizeof *rules };

static void candidates_are_recognised(void **state) {
  smma_trial t;
  (void)state;
  for (size_t n = 0; n < SMMA_QUESTION_COUNT; n++)
    for (int rule = 0; rule < RULES; rule++)
      if (find_trial(smma_questions[n], rules[rule], &t)) recognises_its_candidates(&t);
}

/* Prepares a trial on an instruction and returns it. Checks its number of test vectors and its number of
   distinguishable answers. */
static smma_trial prepare(const char *experiment, const char *gpu, const char *name, int rows, int answers) {
  smma_trial t;
  assert_true(smma_trial_prepare(smma_find_question(experiment), find(gpu, name), &t));
  assert_int_equal(t.rows, rows);
  assert_int_equal(t.answers, answers);
  return t;
}

static void expects(const smma_trial *t, const uint64_t *d) {
  for (int n = 0; n < t->results; n++) assert_int_equal(t->expected[0][n], d[n]);
}

/* The lowest bit that affects the result with e_zero is 2^(e_zero - F). */
static void exponents_of_zero(void **state) {
  smma_trial volta = prepare("f16-exponent-of-zero", "V100", "mma.m8n8k4.f16.f16.f16.f16", 5, 5);
  smma_trial ampere = prepare("f16-exponent-of-zero", "A100", "mma.m16n8k16.f16.f16.f16.f16", 5, 5);
  smma_trial hopper = prepare("f16-exponent-of-zero", "H100", "mma.m16n8k16.f16.f16.f16.f16", 5, 5);
  smma_trial wgmma = prepare("f16-exponent-of-zero", "H100", "wgmma.m64n8k16.f16.f16.f16", 5, 5);
  smma_row row;
  (void)state;
  expects(&volta, (const uint64_t[]){1, 0, 0, 0, 0});
  expects(&ampere, (const uint64_t[]){1, 1, 0, 0, 0});
  expects(&hopper, (const uint64_t[]){1, 1, 1, 0, 0});
  expects(&wgmma, (const uint64_t[]){1, 1, 1, 0, 0});
  smma_trial_row(&hopper, 4, &row); /* 2^-25 + 2^-48 */
  assert_int_equal(row.a[0], 0x0c00);
  assert_int_equal(row.b[1], 0x0001);
}

static void written_down(void **state) {
  smma_trial rounding = prepare("f16-subnormal-rounding", "H100", "mma.m16n8k16.f16.f16.f16.f16", 1, 2);
  smma_trial zeros = prepare("zero-sign", "T4", "mma.m16n8k8.f32.f16.f16.f32", 9, 4);
  smma_trial ieee = prepare("zero-sign", "H100", "mma.m8n8k4.f64.f64.f64.f64", 9, 4);
  smma_trial tiny = prepare("underflow-sign", "H100", "mma.m16n8k8.f32.bf16.bf16.f32", 4, 3);
  (void)state;
  expects(&rounding, (const uint64_t[]){0x0201});
  assert_int_equal(rounding.expected[1][0], 0x0200);
  expects(&zeros, (const uint64_t[9]){0});
  expects(&ieee, (const uint64_t[]){UINT64_C(1) << 63, 0, 0, 0, 0, 0, 0, 0, UINT64_C(1) << 63});
  expects(&tiny, (const uint64_t[]){0, 0, 0, 0});
}

/* FTTN's loop: starting from zero, the models give the published results, except MI250X's, which is 0. */
static void porting_example(void **state) {
  smma_trial from_c = prepare("fttn-from-c", "V100", "mma.m8n8k4.f32.f16.f16.f32", 2048, 4);
  smma_trial volta = prepare("fttn-from-zero", "V100", "mma.m8n8k4.f32.f16.f16.f32", 2048, 3);
  smma_trial hopper = prepare("fttn-from-zero", "H100", "mma.m16n8k16.f32.f16.f16.f32", 512, 3);
  smma_trial cdna1 = prepare("fttn-from-zero", "MI100", "v_mfma_f32_16x16x16f16", 512, 3);
  smma_trial cdna2 = prepare("fttn-from-zero", "MI250X", "v_mfma_f32_16x16x16f16", 512, 3);
  (void)state;
  assert_int_equal(from_c.results, 1);
  expects(&from_c, (const uint64_t[]){0x433fe800}); /* 191.90625 */
  expects(&volta, (const uint64_t[]){0x49800000});  /* 2^20 */
  expects(&hopper, (const uint64_t[]){0x497ff402}); /* 2^20 - 191.875 */
  expects(&cdna1, (const uint64_t[]){0x497ff002});  /* 2^20 - 255.875 */
  expects(&cdna2, (const uint64_t[]){0x497ff002});
}

/* Units that follow no candidate. */
typedef enum { OF_CDNA1, OF_CDNA2, OF_CDNA3, TURING_22_BITS, RDNA4_FOUR_MORE } other_rule;

static uint64_t by_other_rule(const smma_operation *model, smma_operands x, uint64_t c, int rule) {
  smma_operation o = *model;
  switch ((other_rule)rule) {
    case OF_CDNA1: o.rule = smma_rule_cdna1_f16.rule; break;
    case OF_CDNA2: o.rule = smma_rule_cdna2_by_four.rule; break;
    case OF_CDNA3: o.rule = smma_rule_cdna3_half.rule; break;
    case TURING_22_BITS: o.rule.with.t_fdpa.alignment_bits = 22; break;
    case RDNA4_FOUR_MORE:
      smma_compose(model, &o.rule.with.composition);
      o.rule.algorithm = SMMA_COMPOSITION;
      o.rule.with.composition.step[o.rule.with.composition.steps - 1].accumulator.least = -124;
      break;
  }
  return smma_dot_add(&o, x, c);
}

static void units_that_follow_no_candidate(void **state) {
  static const struct {
    const char *experiment, *gpu, *name;
    other_rule rule;
  } units[] = {{"cdna1-pairs", "MI100", "v_mfma_f32_16x16x16f16", OF_CDNA3},
               {"cdna2-width", "MI250X", "v_mfma_f32_16x16x16f16", OF_CDNA1},
               {"cdna2-width", "MI250X", "v_mfma_f32_16x16x8bf16", OF_CDNA1},
               {"cdna2-width", "MI250X", "v_mfma_f32_16x16x16f16", OF_CDNA3},
               {"amx-order", "AMX", "tdpfp16ps", OF_CDNA2},
               {"rdna4-fp8-order", "RX 9070", "v_wmma_f32_16x16x16_fp8_fp8", OF_CDNA1},
               {"turing-k4-bits", "T4", "mma.m8n8k4.f32.f16.f16.f32", TURING_22_BITS},
               {"rdna4-floor", "RX 9070", "v_wmma_f32_16x16x16_bf16", RDNA4_FOUR_MORE}};
  (void)state;
  for (size_t n = 0; n < sizeof units / sizeof *units; n++) {
    const smma_candidate other = {"another rule", by_other_rule, (int)units[n].rule};
    smma_trial t;
    assert_true(smma_trial_prepare(smma_find_question(units[n].experiment), find(units[n].gpu, units[n].name), &t));
    if (run_as(&t, &other, 0).answer != -1) print_error("%s of %s\n", units[n].experiment, units[n].name);
    assert_int_equal(run_as(&t, &other, 0).answer, -1);
  }
}

/* Searched rows fill the trial, and their NaN results do not come from invalid sums. */
static void check_searched_rows(const smma_trial *t) {
  const smma_encoding d = smma_encoding_of(t->instruction->d);
  const bool is_of_specials = strstr(t->question->name, "specials") != NULL;
  assert_int_equal(t->rows, SMMA_MOST_TRIAL_ROWS);
  for (int n = 0; n < t->answers && !is_of_specials; n++)
    for (int row = 0; row < t->rows; row++) assert_int_not_equal(smma_decode(d, t->expected[n][row]).kind, SMMA_NAN);
}

static void searched_rows(void **state) {
  smma_trial t;
  (void)state;
  for (size_t n = 0; n < SMMA_QUESTION_COUNT; n++)
    for (int rule = 0; rule < RULES && !smma_questions[n]->row; rule++)
      if (find_trial(smma_questions[n], rules[rule], &t)) check_searched_rows(&t);
}

/* Computes like an answer to a question, but with another NaN. */
static const smma_candidate *original;

static uint64_t with_negative_nan(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const uint64_t d = original->compute(model, x, c, original->parameter);
  (void)parameter;
  return d == 0x7fc00000 ? 0xffc00001 : d;
}

/* If the NaN of the rule is open, every NaN agrees with it, except if the question is which NaN it is. */
static void nans_that_are_open(void **state) {
  static const smma_candidate other_nan = {"another NaN", with_negative_nan, 0};
  smma_trial ace = prepare("ace-fp8-specials", "ACE", "top4mxbf8ps", SMMA_MOST_TRIAL_ROWS, 2);
  smma_trial tensix = prepare("tensix-specials", "wormhole", "mvmul.hifi4.f32.f16.f16", SMMA_MOST_TRIAL_ROWS, 2);
  smma_trial payload = prepare("nan-payload", "MI300X", "v_mfma_f32_16x16x16_f16", 7, 5);
  smma_trial_result r;
  (void)state;
  original = ace.answer[0];
  r = run_as(&ace, &other_nan, 0);
  assert_int_equal(r.answer, 0);
  assert_int_equal(r.different, ace.rows);
  original = tensix.answer[1];
  assert_int_equal(run_as(&tensix, &other_nan, 0).answer, 1);
  original = payload.answer[0];
  assert_int_equal(run_as(&payload, &other_nan, 0).answer, -1);
}

/* Every row of the question about NaN gives a NaN: it has the NaN or the infinity that its description names. */
static void nan_rows(void **state) {
  smma_trial t = prepare("nan-payload", "x86", "tdphbf8ps", 7, 5); /* only b has an infinity */
  (void)state;
  for (int rule = 0; rule < RULES; rule++)
    if (find_trial(smma_find_question("nan-payload"), rules[rule], &t))
      for (int row = 0; row < t.rows; row++)
        assert_int_equal(smma_decode(smma_encoding_of(t.instruction->d), t.expected[0][row]).kind, SMMA_NAN);
}

static int answers_with_ue4m3, answers_with_k32, answers_of_signed;

static void count_answer(const smma_trial *t, const smma_trial_result *r, void *context) {
  (void)r, (void)context;
  answers_with_ue4m3 += t->instruction->scale == SMMA_UE4M3;
  answers_with_k32 += t->instruction->k == 32;
  answers_of_signed += smma_encoding_of(t->instruction->a).sign_bits;
}

static void ask_model(const char *experiment, const char *arch) {
  smma_unit unit;
  smma_error error;
  smma_open_answers answers;
  answers_with_ue4m3 = answers_with_k32 = answers_of_signed = 0;
  assert_true(smma_unit_open("model", &unit, &error));
  const smma_question_request request = {
      .unit = &unit, .arch = smma_find_arch(arch), .only = smma_find_question(experiment), .answered = count_answer};
  assert_true(smma_ask_questions(&request, &answers, &error));
  smma_free_open_answers(&answers);
  smma_unit_close(&unit);
}

/* Without --all, a question is put to one instruction of each rule, family and scale format, and to integers of each K
   and sign. */
static void instructions_that_are_asked(void **state) {
  (void)state;
  ask_model("scaled-groups", "rtx-blackwell");
  assert_int_equal(answers_with_ue4m3, 2); /* dense and sparse */
  ask_model("integer-overflow", "turing");
  assert_true(answers_with_k32 > 0); /* s4 */
  ask_model("integer-overflow", "riscv");
  assert_true(answers_of_signed > 0);
}

/* An experiment that could not distinguish any answers has no trial. */
static void nothing_to_tell(void **state) {
  static const struct {
    const char *experiment, *gpu, *name;
  } none[] = {{"f16-exponent-of-zero", "H100", "mma.m16n8k32.f16.e5m2.e5m2.f16"},
              {"f16-subnormal-rounding", "H100", "mma.m16n8k32.f16.e4m3.e5m2.f16"},
              {"f16-subnormal-rounding", "Apple M1", "fma16"},
              {"f16-subnormal-rounding", "wormhole", "mvmul.hifi4.f16.f16.f16"},
              {"underflow-sign", "H100", "mma.m16n8k16.f32.f16.f16.f32"},
              {"underflow-sign", "rtx-blackwell", "mma.m16n8k64.block16.f32.e2m1.e2m1.f32.ue4m3"},
              {"fp8-mma-sync-k16", "H100", "mma.m16n8k32.f32.e4m3.e4m3.f32"},
              {"nan-payload", "H100", "mma.m16n8k16.f32.f16.f16.f32"},
              {"scaled-products", "B200", "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0"}};
  (void)state;
  for (size_t n = 0; n < sizeof none / sizeof *none; n++) {
    smma_trial t;
    assert_false(smma_trial_prepare(smma_find_question(none[n].experiment), find(none[n].gpu, none[n].name), &t));
  }
}

/* Reports whether the text of an open question names an experiment that has a trial on an instruction of the rule. */
static bool has_trial(const smma_named_rule *rule, const char *question) {
  smma_trial t;
  for (size_t n = 0; n < SMMA_QUESTION_COUNT; n++)
    if (strstr(question, smma_questions[n]->name) && find_trial(smma_questions[n], rule, &t)) return true;
  return false;
}

static bool has_instruction(const smma_named_rule *rule) {
  for (size_t i = 0; i < smma_catalogue_count(); i++)
    if (smma_catalogue_at(i)->rule == rule) return true;
  return false; /* most rules have no sparse instruction */
}

static void questions_name_experiments(void **state) {
  (void)state;
  for (int rule = 0; rule < RULES; rule++)
    for (const char *const *q = rules[rule]->questions; *q && has_instruction(rules[rule]); q++) {
      const bool found = has_trial(rules[rule], *q);
      if (!found) print_error("%s: no experiment for '%s'\n", rules[rule]->name, *q);
      assert_true(found);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(candidates_are_recognised),
      cmocka_unit_test(exponents_of_zero),
      cmocka_unit_test(written_down),
      cmocka_unit_test(porting_example),
      cmocka_unit_test(units_that_follow_no_candidate),
      cmocka_unit_test(searched_rows),
      cmocka_unit_test(nans_that_are_open),
      cmocka_unit_test(nan_rows),
      cmocka_unit_test(instructions_that_are_asked),
      cmocka_unit_test(nothing_to_tell),
      cmocka_unit_test(questions_name_experiments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
