/* Questions about RISC-V. */
#include "question/operands.h"
#include "question/question.h"

static bool is_riscv_f32(const smma_instruction *i) { return i->rule == &smma_rule_riscv_f32; }

static uint64_t by_fma(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  (void)parameter;
  o.rule = smma_rule_arm_fma.rule;
  return smma_dot_add(&o, x, c);
}

/* Adds the rounded products pairwise, then c. */
static uint64_t in_a_tree(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  smma_composition *p = &o.rule.with.composition;
  (void)parameter;
  p->step[2] = p->step[1];
  p->step[1] = p->step[0];
  p->step[1].take = p->step[1].turn = 2;
  p->step[1].window = o.k;
  p->step[1].join = SMMA_JOIN_TREE;
  p->steps = 3;
  return smma_dot_add(&o, x, c);
}

static uint64_t rounded_once(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  smma_composition *p = &o.rule.with.composition;
  (void)parameter;
  p->step[0] = p->step[1];
  p->step[0].take = p->step[0].turn = p->step[0].window = o.k;
  p->steps = 1;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate orders[] = {{"fused multiply-adds, k in order", by_fma, 0},
                                        {"a tree of rounded products, then c", in_a_tree, 0},
                                        {"one exact sum, rounded once", rounded_once, 0},
                                        {0}};

const smma_question smma_question_riscv_f32_order = {
    "riscv-f32-order", "in which order FP32 products are added", is_riscv_f32, NULL, false, orders};
