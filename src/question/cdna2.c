/* Questions about the sums of CDNA 2. */
#include "question/operands.h"
#include "question/question.h"

static bool is_ftz_addmul(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_FTZ_ADDMUL; }

/* Adds products to d one at a time. */
static uint64_t one_at_a_time(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  uint64_t d = smma_ftz_addmul_start(smma_widen_c(model, c));
  (void)parameter;
  for (int k = 0; k < model->k; k++) d = smma_ftz_add(d, smma_ftz_multiply(x.a[k], x.b[k]));
  return d;
}

static const smma_candidate cdna2_widths[] = {{"one at a time, FTTN's width of 1", one_at_a_time, 0}, {0}};

const smma_question smma_question_cdna2_width = {
    "cdna2-width", "how many products CDNA 2 adds before they join d", is_ftz_addmul, NULL, false, cdna2_widths};
