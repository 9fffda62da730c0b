/* Question: how subnormal f16 results are rounded. */
#include "question/operands.h"
#include "question/question.h"

/* Rounds to 11 bits with the exponent range of f32, then to f16. */
static uint64_t round_twice(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const smma_encoding f16 = smma_encoding_of(SMMA_F16), wide = smma_encoding_of(SMMA_TF32);
  const bool adds_c = model->rule.algorithm == SMMA_FP8_BY_FP16;
  smma_rule rule = model->rule;
  smma_number term[SMMA_MAXIMUM_K + 1];
  uint64_t d = adds_c ? 0 : c;
  (void)parameter;
  rule.with.t_fdpa.output = SMMA_TF32;
  for (int block = 0; block < smma_blocks_per_step(model); block++) {
    const int count = smma_fused_terms(model, x, block, d, term);
    d = smma_encode_number(f16, smma_decode(wide, smma_fused_sum(&rule, term, count)), SMMA_ROUND_NEAREST_EVEN,
                           SMMA_OVERFLOW_INFINITY);
  }
  return adds_c ? smma_ieee_add(f16, rule.nan, d, c) : d;
}

static const smma_candidate subnormal_roundings[] = {{"rounded twice: to 11 bits, then to a subnormal", round_twice, 0},
                                                     {0}};

static const char *row_of_roundings(const smma_operation *o, int index, smma_row *row) {
  if (index > 0) return NULL;
  clear_row(o, row);
  set_power(o, row, first_product(o, 0), false, -15);
  set_power(o, row, first_product(o, 1), false, -25);
  set_power(o, row, first_product(o, 2), false, -27);
  return "2^-15 + 2^-25 + 2^-27";
}

/* Reports whether the rule rounds sums of three or more products to f16, as the candidate does, and the row's products
   exist. */
static bool has_fine_products(const smma_instruction *i) {
  const smma_operation o = smma_operation_of(i);
  const bool rounds_fused_sums = o.rule.algorithm == SMMA_T_FDPA || o.rule.algorithm == SMMA_FP8_BY_FP16;
  return is_f16_output(i) && rounds_fused_sums && smma_block_of(&o) >= 3 && reaches(&o, -27);
}

const smma_question smma_question_f16_subnormal_rounding = {"f16-subnormal-rounding",
                                                            "whether a subnormal f16 result is rounded once or twice",
                                                            has_fine_products,
                                                            row_of_roundings,
                                                            false,
                                                            subnormal_roundings};
