#include "cli/plans.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/custom_file.h"
#include "io/plan_file.h"
#include "isa/key.h"
#include "plan/plan.h"

smma_plan *smma_require_plan(const char *text, const smma_instruction *instruction) {
  smma_plan_request request;
  smma_plan *plan;
  smma_error error;
  smma_plan_request_defaults(&request);
  request.name = text, request.instruction = instruction;
  plan =
      smma_is_custom_file(text) ? smma_plan_load(text, &error) : smma_plan_for(&request, error.text, sizeof error.text);
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

/* A word of --round-in; "default" leaves the decision to smma_operand_rounding. */
static bool take_mode(const char *word, size_t length, smma_rounding *mode) {
  static const char *const plain = "default";
  char allowed[128] = "";
  for (int i = 0; smma_roundings[i]; i++) {
    *mode = (smma_rounding)i;
    if (strlen(smma_roundings[i]) == length && strncmp(word, smma_roundings[i], length) == 0) return true;
    smma_append_text(allowed, sizeof allowed, "%s, ", smma_roundings[i]);
  }
  if (length == strlen(plain) && strncmp(word, plain, length) == 0) return false;
  smma_die("--round-in: '%.*s' is no rounding mode; give %s%s", length > 40 ? 40 : (int)length, word, allowed, plain);
}

smma_target_rounding smma_require_rounding(const char *text, smma_target_rounding otherwise) {
  smma_rounding mode;
  return take_mode(text, strlen(text), &mode) ? (smma_target_rounding){mode, mode} : otherwise;
}

void smma_require_roundings(const char *list, const smma_instruction *const *instruction, const smma_target_plan *plans,
                            size_t count, smma_target_rounding *rounding) {
  const size_t given = list ? count_of(list) : 0;
  if (given > 1 && given != count)
    smma_die("--round-in: %zu rounding modes for %zu targets; give one for all, or one for each", given, count);
  for (size_t i = 0; i < count; i++) {
    const smma_instruction *of = instruction[i];
    const size_t length = list ? strcspn(list, ",") : 0;
    smma_rounding mode;
    rounding[i].a = smma_operand_rounding(of, plans[i].plan, of->a);
    rounding[i].b = smma_operand_rounding(of, plans[i].plan, of->b);
    if (list && take_mode(list, length, &mode)) {
      if (of->scale_block)
        smma_die("--round-in: %s takes blocks with scale factors, which have a rule of their own; leave it out",
                 of->name);
      rounding[i].a = rounding[i].b = mode;
    }
    if (given > 1) list += length + (list[length] == ',');
  }
}

void smma_check_plan(const smma_target_plan *plan, const smma_instruction *instruction, size_t k) {
  smma_error error;
  if (plan->plan && smma_plan_check(plan->plan, instruction, k, error.text, sizeof error.text) != SMMA_OK)
    smma_die("--plan: %s: %s", plan->text, error.text);
}

void smma_die_no_place(const char *option, const char *plan) {
  static const char *const places[][2] = {
      {"-C", "to add C give it \"start\": \"c\", or \"epilogue\": [\"linear\"] (alpha A B + beta C)"},
      {"--c", "to add c give it \"start\": \"c\", or \"epilogue\": [\"linear\"]"},
      {"--with-c", "to add C give it \"start\": \"c\", or \"epilogue\": [\"linear\"]"},
      {"--beta", "give it \"start\": \"c\", or \"epilogue\": [\"linear\"]"},
      {"--alpha", "give it \"epilogue\": [\"alpha\"], or [\"linear\"]"},
      {"--bias", "give it \"epilogue\": [\"bias\"]"},
      {"--scale-d", "give it \"epilogue\": [\"scale-d\"]"},
      {"--split-k", "its \"sum\" says how K is cut; leave it out"},
      {"--promote-every", "its \"sum\" says how K is cut; leave it out"}};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    if (strcmp(option, places[i][0]) == 0)
      smma_die("%s: the plan of %s has no place for it; %s", option, plan, places[i][1]);
  smma_die("%s: the plan of %s has no place for it; leave it out", option, plan);
}

void smma_refuse_same_target(const char *label, const smma_instruction *instruction, const smma_target_plan *plan,
                             const char *other_label, const smma_instruction *other_instruction,
                             const smma_target_plan *other_plan) {
  const size_t length = strcspn(label, ":"), other_length = strcspn(other_label, ":"); /* without formats */
  if (instruction == other_instruction && length == other_length && strncasecmp(label, other_label, length) == 0 &&
      strcmp(plan->text, other_plan->text) == 0)
    smma_die("--on: %s is given twice with the same instruction and plan; name each target once", label);
}
