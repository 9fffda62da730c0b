/* Question: which exponent a zero has in sums with f16 output. */
#include "question/operands.h"
#include "question/question.h"

/* Reports whether inputs and output are f16. FP8 and narrower inputs cannot show the difference: their products are
   multiples of 2^-32, and the last retained bit is never above that. */
static bool is_f16_to_f16(const smma_instruction *i) {
  return i->a == SMMA_F16 && is_f16_output(i) && i->rule->rule.algorithm == SMMA_T_FDPA;
}

static uint64_t with_zero_exponent(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  o.rule.with.t_fdpa.zero_exponent = parameter;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate exponents_of_zero[] = {{"e_zero = -19", with_zero_exponent, -19},
                                                   {"e_zero = -20", with_zero_exponent, -20},
                                                   {"e_zero = -21", with_zero_exponent, -21},
                                                   {"e_zero = -22", with_zero_exponent, -22},
                                                   {"e_zero = -133, as for f32 output", with_zero_exponent, -133},
                                                   {0}};

/* Makes half the least f16 plus one lower bit. The sum rounds up if the lower bit is retained and to zero if it is
   truncated. The bit lies F bits below an e_zero of -19, -20 and so on. */
static const char *row_of_exponents(const smma_operation *o, int index, smma_row *row) {
  static const char *const what[] = {
      "a bit F below 2^-19 on half the least f16", "a bit F below 2^-20 on half the least f16",
      "a bit F below 2^-21 on half the least f16", "a bit F below 2^-22 on half the least f16",
      "a bit F below 2^-23 on half the least f16"};
  if (index == (int)(sizeof what / sizeof *what)) return NULL;
  clear_row(o, row);
  set_power(o, row, first_product(o, 0), false, -25);
  set_power(o, row, first_product(o, 1), false, -19 - index - o->rule.with.t_fdpa.alignment_bits);
  return what[index];
}

const smma_question smma_question_f16_exponent_of_zero = {
    "f16-exponent-of-zero",
    "the exponent that a zero term brings to the alignment, for f16 output",
    is_f16_to_f16,
    row_of_exponents,
    false,
    exponents_of_zero};
