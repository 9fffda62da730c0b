#include "cli/plans.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/custom_file.h"
#include "io/plan_file.h"
#include "plan/plan.h"
#include "product/product.h"

smma_plan *smma_require_plan(const char *text, const smma_instruction *instruction) {
  smma_plan_request request;
  smma_plan *plan;
  smma_error error;
  smma_plan_request_defaults(&request, sizeof request);
  request.name = text, request.instruction = instruction;
  plan = smma_is_custom_file(text) ? smma_plan_load(text, &error) : smma_plan_for(&request, &error);
  if (!plan) smma_die("--plan: %s", error.text);
  return plan;
}

static size_t count_of(const char *list) {
  size_t count = 1;
  for (; (list = strchr(list, ',')); list++) count++;
  return count;
}

void smma_require_plans(const char *list, const smma_instruction *const *instruction, size_t count,
                        smma_target_plan *plans) {
  const size_t given = list ? count_of(list) : 0;
  memset(plans, 0, count * sizeof *plans);
  if (given > 1 && given != count)
    smma_die("--plan: %zu plans for %zu targets; give one for all, or one for each, 'none' for one chain", given,
             count);
  for (size_t i = 0; list && i < count; i++) {
    const size_t length = strcspn(list, ",");
    if (length == 0 || length >= sizeof plans[i].text)
      smma_die("--plan: '%.*s' is no plan; give a file, a name, or 'none'", (int)length, list);
    memcpy(plans[i].text, list, length);
    if (strcmp(plans[i].text, "none") != 0) plans[i].plan = smma_require_plan(plans[i].text, instruction[i]);
    if (given > 1) list += length + (list[length] == ',');
  }
}

/* Returns the rounding mode of a word of --round-in; `otherwise` is the mode of "default". */
static smma_rounding mode_of(const char *word, size_t length, smma_rounding otherwise) {
  smma_rounding mode;
  smma_error error;
  if (!smma_rounding_of(word, length, otherwise, &mode, &error)) smma_die("%s", error.text);
  return mode;
}

void smma_require_roundings(const char *list, const smma_instruction *const *instruction, const smma_target_plan *plans,
                            size_t count, smma_target_rounding *rounding) {
  const size_t given = list ? count_of(list) : 0;
  if (given > 1 && given != count)
    smma_die("--round-in: %zu rounding modes for %zu targets; give one for all, or one for each", given, count);
  for (size_t i = 0; i < count; i++) {
    const smma_instruction *of = instruction[i];
    const size_t length = list ? strcspn(list, ",") : 0;
    rounding[i].a = smma_operand_rounding(of, plans[i].plan, of->a);
    rounding[i].b = smma_operand_rounding(of, plans[i].plan, of->b);
    if (list)
      rounding[i].a = mode_of(list, length, rounding[i].a), rounding[i].b = mode_of(list, length, rounding[i].b);
    if (list && of->scale_block && !(length == 7 && strncmp(list, "default", length) == 0))
      smma_die("--round-in: %s takes blocks with scale factors, which have a rule of their own; leave it out",
               of->name);
    if (given > 1) list += length + (list[length] == ',');
  }
}

void smma_check_plan(const smma_target_plan *plan, const smma_instruction *instruction, size_t k) {
  smma_error error;
  if (plan->plan && smma_plan_check(plan->plan, instruction, k, &error) != SMMA_OK)
    smma_die("--plan: %s: %s", plan->text, error.text);
}

void smma_die_no_place(const char *option, const char *plan) {
  smma_error error;
  smma_fail_no_place(option, plan, &error);
  smma_die("%s", error.text);
}

void smma_refuse_same_target(const char *label, const smma_instruction *instruction, const smma_target_plan *plan,
                             const char *other_label, const smma_instruction *other_instruction,
                             const smma_target_plan *other_plan) {
  const size_t length = strcspn(label, ":"), other_length = strcspn(other_label, ":"); /* without the formats */
  if (instruction == other_instruction && length == other_length && strncasecmp(label, other_label, length) == 0 &&
      strcmp(plan->text, other_plan->text) == 0)
    smma_die("--on: %s is given twice with the same instruction and plan; name each target once", label);
}
