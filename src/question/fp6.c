/* Questions about FP6 inputs. */
#include "question/operands.h"
#include "question/question.h"

static bool is_fp6(smma_format format) { return format == SMMA_E3M2 || format == SMMA_E2M3; }

static bool has_fp6(const smma_instruction *i) { return is_fp6(i->a) || is_fp6(i->b); }

static uint64_t with_block(const smma_operation *model, smma_operands x, uint64_t c, int block) {
  smma_operation o = *model;
  o.rule.with.t_fdpa.block = block;
  return smma_dot_add(&o, x, c);
}

/* Computes like FP8 mma.sync, which uses the FP16 unit. That unit has no scale factors, so instructions with scale
   factors keep their algorithm. */
static uint64_t by_fp16(const smma_operation *model, smma_operands x, uint64_t c, int block) {
  smma_operation o = *model;
  if (!o.scale_block) o.rule.algorithm = SMMA_FP8_BY_FP16;
  o.rule.with.t_fdpa.block = block;
  return smma_dot_add(&o, x, c);
}

/* Gives subnormal inputs the exponent of their leading bit. */
static uint64_t with_normal_inputs(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_number a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K];
  (void)parameter;
  for (int k = 0; k < model->k; k++) a[k] = smma_widen_to_f16(x.a[k]), b[k] = smma_widen_to_f16(x.b[k]);
  return smma_dot_add(model, (smma_operands){a, b, x.scale_a, x.scale_b}, c);
}

static const smma_candidate fp6_sums[] = {
    {"F = 13", with_alignment_bits, 13},
    {"blocks of 16", with_block, 16},
    {"widened to f16, two halves, then c (as FP8 mma.sync of Hopper)", by_fp16, 16},
    {"subnormal inputs count as normal", with_normal_inputs, 0},
    {0}};

const smma_question smma_question_fp6_sum = {
    "fp6-sum", "whether FP6 inputs are summed as FP8 and FP4 are", has_fp6, NULL, false, fp6_sums};
