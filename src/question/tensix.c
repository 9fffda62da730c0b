/* Questions about Tenstorrent's Wormhole and Blackhole. */
#include "question/operands.h"
#include "question/question.h"

static const smma_composition *composition_of(const smma_instruction *i) {
  return i->rule->rule.algorithm == SMMA_COMPOSITION ? &i->rule->rule.with.composition : NULL;
}

/* ---- Infinities and NaN ---- */

static bool reads_numbers(const smma_instruction *i) { return i->rule->rule.nan == SMMA_NAN_NUMBERS; }

static uint64_t with_specials(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  (void)parameter;
  o.rule.nan = SMMA_NAN_DEFAULT;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate specials[] = {{"infinities and NaN, as IEEE 754 has them", with_specials, 0}, {0}};

const smma_question smma_question_tensix_specials = {
    "tensix-specials", "whether encodings of infinities and NaN are numbers", reads_numbers, NULL, false, specials};

/* ---- Sums of -1 unit ---- */

static bool shifts_minus_one(const smma_instruction *i) {
  const smma_composition *p = composition_of(i);
  return p && p->step[p->steps - 1].minus_one_shift;
}

/* Makes the product 1 and a c of -(1 + 2^-23). */
static const char *minus_one_row(const smma_operation *o, int index, smma_row *row) {
  const smma_encoding f = smma_encoding_of(o->c);
  if (index > 0) return NULL;
  clear_row(o, row);
  set_power(o, row, 0, false, 0);
  row->c = smma_encode_one(f, true) + 1;
  return "1 - (1 + 2^-23)";
}

static uint64_t without_shift(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  smma_composition *p = &o.rule.with.composition;
  (void)parameter;
  p->step[p->steps - 1].minus_one_shift = 0;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate shifts[] = {{"-1 unit, as on Blackhole", without_shift, 0}, {0}};

const smma_question smma_question_tensix_minus_one = {"tensix-minus-one",
                                                      "what a sum of -1 unit of its last bit becomes",
                                                      shifts_minus_one,
                                                      minus_one_row,
                                                      false,
                                                      shifts};
