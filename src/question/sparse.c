/* Question: in which blocks a sparse instruction adds the products that its metadata selects. */
#include "question/operands.h"
#include "question/question.h"

static bool is_sparse_sum(const smma_instruction *i) {
  return i->sparse && (i->rule->rule.algorithm == SMMA_T_FDPA || i->rule->rule.algorithm == SMMA_ST_FDPA);
}

enum { HALF = -1, TWICE = 1 };

static uint64_t in_other_blocks(const smma_operation *model, smma_operands x, uint64_t c, int which) {
  const int block = smma_block_of(model), other = which == HALF ? block / 2 : 2 * block;
  smma_operation o = *model;
  if (other < 1 || other > o.k || o.k % other) return smma_dot_add(model, x, c);
  o.rule.with.t_fdpa.block = other;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate blocks[] = {
    {"in blocks of half as many products, as those of a dense instruction that half are zeros", in_other_blocks, HALF},
    {"in blocks of twice as many products", in_other_blocks, TWICE},
    {0}};

const smma_question smma_question_sparse_blocks = {
    "sparse-blocks", "in which blocks a sparse instruction adds its products", is_sparse_sum, NULL, false, blocks};
