/* Questions about FP8 through mma.sync. */
#include "question/operands.h"
#include "question/question.h"

static bool is_fp8_by_fp16(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_FP8_BY_FP16; }

static bool is_fp8_k16(const smma_instruction *i) { return is_fp8_by_fp16(i) && i->k == 16; }

typedef enum { OTHER_HALF_FIRST, HALVES_OF_K, EVEN_AND_ODD } fp8_order;

/* Computes the model with the elements distributed differently over its two blocks. */
static uint64_t with_order(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_number a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K];
  const int half = smma_block_of(model);
  for (int block = 0; block < 2; block++)
    for (int i = 0; i < half; i++) {
      const int to = smma_product_index(model, block, i);
      const int from = parameter == OTHER_HALF_FIRST ? smma_product_index(model, 1 - block, i)
                       : parameter == HALVES_OF_K    ? block * half + i
                                                     : 2 * i + block;
      a[to] = x.a[from], b[to] = x.b[from];
    }
  return smma_dot_add(model, (smma_operands){a, b, NULL, NULL}, c);
}

/* Computes one sum of all products. If `with_c`, the sum includes c; otherwise c is added last. */
static uint64_t in_one_sum(const smma_operation *model, smma_operands x, uint64_t c, int with_c) {
  smma_operation o = *model;
  o.rule.with.t_fdpa.block = o.k;
  return with_c ? smma_fused_chain(&o, x, c) : smma_dot_add(&o, x, c);
}

/* Includes c in the sum of the first half. */
static uint64_t from_c(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  (void)parameter;
  return smma_fused_chain(model, x, c);
}

/* Computes both halves' sums from zero, adds them, then adds c. */
static uint64_t both_from_zero(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const smma_encoding f = smma_encoding_of(model->d);
  smma_number term[SMMA_MAXIMUM_K + 1];
  uint64_t half[2];
  (void)parameter;
  for (int block = 0; block < 2; block++) {
    const int count = smma_fused_terms(model, x, block, 0, term);
    half[block] = smma_fused_sum(&model->rule, term, count);
  }
  return smma_ieee_add(f, model->rule.nan, smma_ieee_add(f, model->rule.nan, half[0], half[1]), c);
}

static const smma_candidate fp8_k16_sums[] = {{"k < 8, then the others, then c", with_order, HALVES_OF_K},
                                              {"even k, then odd k, then c", with_order, EVEN_AND_ODD},
                                              {"one sum of all k, then c", in_one_sum, false},
                                              {"one sum of all k and c", in_one_sum, true},
                                              {0}};

static const smma_candidate fp8_halves[] = {{"k mod 4 >= 2 first", with_order, OTHER_HALF_FIRST},
                                            {"c in the first half's sum", from_c, 0},
                                            {"both halves from zero, added, then c", both_from_zero, 0},
                                            {0}};

const smma_question smma_question_fp8_mma_sync_k16 = {
    "fp8-mma-sync-k16", "FP8 mma.sync with K = 16: two halves or one sum, and of which k", is_fp8_k16, NULL, false,
    fp8_k16_sums};

const smma_question smma_question_fp8_mma_sync_halves = {
    "fp8-mma-sync-halves",
    "FP8 mma.sync: which half of k comes first, and where c is added",
    is_fp8_by_fp16,
    NULL,
    false,
    fp8_halves};
