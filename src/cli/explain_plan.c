#include "cli/explain_plan.h"

#include <stdlib.h>

#include "cli/explanation.h"
#include "cli/plans.h"
#include "cli/values.h"
#include "trace/planned.h"

void smma_explain_planned(const char *label, const smma_instruction *i, const char *plan, const smma_operand_options *o,
                          bool json) {
  smma_planned_request request = {.label = label, .instruction = i};
  smma_planned_result result;
  smma_target_plan taken;
  smma_target_rounding rounding;
  smma_error error;
  uint64_t *a, *b, c;
  int count, other;
  smma_require_plans(plan, &i, 1, &taken);
  rounding = smma_operands_rounding(i, o, &taken);
  a = smma_read_any_list(smma_require_option(o->a, "--a", "'1.5 0*127'"), "--a", i->a, rounding.a, o->hex, &count);
  b = smma_read_any_list(smma_require_option(o->b, "--b", "'1.5 0*127'"), "--b", i->b, rounding.b, o->hex, &other);
  if (count != other) smma_die("--b has %d elements, but --a has %d", other, count);
  if (o->c) {
    smma_read_list(o->c, "--c", i->c, SMMA_ROUND_NEAREST_EVEN, o->hex, 1, false, &c);
    request.c = &c;
  }
  request.plan = taken.plan, request.plan_text = taken.text;
  request.a = a, request.b = b, request.k = (size_t)count;
  if (!smma_planned_run(&request, &result, &error)) smma_die("%s", error.text);
  if (json)
    smma_print_datum(smma_planned_datum(&result));
  else
    smma_planned_print(stdout, &result, smma_terminal_width());
  smma_planned_free(&result);
  smma_plan_free(taken.plan);
  free(a), free(b);
}
