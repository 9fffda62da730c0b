/* Question about Power's xvbf16ger2pp. */
#include "question/operands.h"
#include "question/question.h"

static bool is_power_bf16(const smma_instruction *i) { return i->rule == &smma_rule_power_bf16; }

/* Computes pairs of products in the range of binary32, as Arm's instruction and qemu do. */
static uint64_t with_pairs_in_range(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  (void)parameter;
  o.rule.with.composition.step[0] = smma_rule_arm_fused_pairs.rule.with.composition.step[0];
  return smma_dot_add(&o, x, c);
}

static const smma_candidate pair_range[] = {{"binary32's: subnormal, or infinite", with_pairs_in_range, 0}, {0}};

const smma_question smma_question_power_pair_range = {
    "power-pair-range",
    "whether a pair of BF16 products keeps its bits outside the range of binary32",
    is_power_bf16,
    NULL,
    false,
    pair_range};
