/* Question: in which order AMX adds products of BF16 and FP16. */
#include "question/operands.h"
#include "question/question.h"

static bool is_amx_sum(const smma_instruction *i) {
  return i->rule == &smma_rule_x86_amx_bf16 || i->rule == &smma_rule_x86_amx_f16;
}

typedef enum { EVEN_FIRST, ODD_FIRST } first_of_pair;

/* Computes one chain of single products, starting from c. If `first` is ODD_FIRST, the products of each pair are
   exchanged. */
static uint64_t in_one_chain(const smma_operation *model, smma_operands x, uint64_t c, int first) {
  smma_operation o = *model;
  smma_step *step = &o.rule.with.composition.step[0];
  smma_number a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K];
  for (int k = 0; k < o.k; k++) {
    a[k] = x.a[first == ODD_FIRST ? k ^ 1 : k];
    b[k] = x.b[first == ODD_FIRST ? k ^ 1 : k];
  }
  x.a = a, x.b = b;
  o.rule.with.composition.steps = 1;
  step->chains = 1;
  step->start = SMMA_START_C;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate orders[] = {
    {"one chain from c, k in order (the Intrinsics Guide)", in_one_chain, EVEN_FIRST},
    {"one chain from c, odd k before even k (vdpbf16ps)", in_one_chain, ODD_FIRST},
    {0}};

const smma_question smma_question_amx_order = {
    "amx-order", "in which order AMX adds products of BF16 and FP16", is_amx_sum, NULL, false, orders};
