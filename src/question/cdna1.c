/* Questions about the sums of CDNA 1. */
#include "question/operands.h"
#include "question/question.h"

static bool is_e_fdpa(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_E_FDPA; }

/* Sums products in pairs, then these sums in pairs until a block is one sum, then adds it to d; every step is rounded
   to f32. */
static uint64_t in_pairs(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const smma_encoding f32 = smma_encoding_of(SMMA_F32);
  const smma_nan_policy nan = model->rule.nan;
  const int block = smma_block_of(model);
  uint64_t d = smma_widen_c(model, c), product[SMMA_MAXIMUM_K];
  (void)parameter;
  for (int k = 0; k < model->k; k++) product[k] = smma_ieee_multiply(f32, nan, x.a[k], x.b[k]);
  for (int k = 0; k < model->k; k += block) {
    for (int width = 1; width < block; width *= 2)
      for (int i = k; i + width < k + block; i += 2 * width)
        product[i] = smma_ieee_add(f32, nan, product[i], product[i + width]);
    d = smma_ieee_add(f32, nan, d, product[k]);
  }
  return d;
}

static const smma_candidate cdna1_sums[] = {{"products summed in pairs, each sum rounded", in_pairs, 0}, {0}};

const smma_question smma_question_cdna1_pairs = {
    "cdna1-pairs", "whether CDNA 1 sums exactly or in pairs", is_e_fdpa, NULL, false, cdna1_sums};
