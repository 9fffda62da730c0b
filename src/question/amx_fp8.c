/* Questions about dot products of FP8 in AMX-FP8 and ACE. */
#include "question/operands.h"
#include "question/question.h"

static bool is_amx_fp8(const smma_instruction *i) {
  return i->rule == &smma_rule_x86_amx_bf8 || i->rule == &smma_rule_x86_amx_bhf8 ||
         i->rule == &smma_rule_x86_amx_hbf8 || i->rule == &smma_rule_x86_amx_hf8;
}

/* Sums `count` products exactly, rounds the sum and adds it to c. Then does the same with the next `count` products,
   and so on. */
static uint64_t with_exact_sums(const smma_operation *model, smma_operands x, uint64_t c, int count) {
  smma_operation o = *model;
  smma_composition *p = &o.rule.with.composition;
  p->step[0].take = p->step[0].turn = p->step[0].window = count;
  p->step[1] = p->step[3];
  p->steps = 2;
  return smma_dot_add(&o, x, c);
}

/* Adds products of even and of odd k in two chains, as AMX-BF16 does. */
static uint64_t without_pairs(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  smma_composition *p = &o.rule.with.composition;
  (void)parameter;
  for (int step = 1; step < p->steps; step++) p->step[step - 1] = p->step[step];
  p->step[0].window = o.k;
  p->steps--;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate orders[] = {{"one exact sum of all products, then c", with_exact_sums, 64},
                                        {"exact sums of four, added to c one after the other", with_exact_sums, 4},
                                        {"two chains of products, as AMX-BF16", without_pairs, 0},
                                        {0}};

const smma_question smma_question_amx_fp8_order = {
    "amx-fp8-order", "in which order AMX-FP8 adds products", is_amx_fp8, NULL, false, orders};

typedef enum { BOTH_KEPT, BOTH_ZERO } subnormal_factors;

static uint64_t with_subnormals(const smma_operation *model, smma_operands x, uint64_t c, int what) {
  smma_operation o = *model;
  o.rule.with.composition.subnormal_a = o.rule.with.composition.subnormal_b =
      what == BOTH_KEPT ? SMMA_SUBNORMALS_KEPT : SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate subnormals[] = {{"all subnormal factors count", with_subnormals, BOTH_KEPT},
                                            {"all subnormal factors are zero", with_subnormals, BOTH_ZERO},
                                            {0}};

const smma_question smma_question_amx_fp8_subnormals = {
    "amx-fp8-subnormals", "whether AMX-FP8 counts subnormal factors", is_amx_fp8, NULL, false, subnormals};

/* ---- ACE ---- */

static bool is_ace_fp8(const smma_instruction *i) { return i->rule == &smma_rule_ace_fp8; }

/* Returns the number that the fields of an infinity or a NaN would be if they had no special meaning. */
static smma_number as_number(smma_number x) {
  if (x.kind != SMMA_ZERO) x.kind = SMMA_FINITE;
  return x;
}

static uint64_t with_numbers(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_number a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K];
  (void)parameter;
  for (int k = 0; k < model->k; k++) a[k] = as_number(x.a[k]), b[k] = as_number(x.b[k]);
  return smma_dot_add(model, (smma_operands){a, b, x.scale_a, x.scale_b}, c);
}

static const smma_candidate specials[] = {{"numbers, as their fields would say", with_numbers, 0}, {0}};

const smma_question smma_question_ace_fp8_specials = {
    "ace-fp8-specials", "what ACE makes of infinities and NaN of FP8", is_ace_fp8, NULL, false, specials};
