#include "compare/plans.h"

#include <string.h>

#include "io/custom_file.h"
#include "io/plan_file.h"
#include "plan/plan.h"
#include "product/take.h"

const char smma_example_of_cublaslt[] =
    "softmma plan cublaslt:13.1 H100:f16 -m 8 -n 4096 -k 8192 --algo 66 --stages 35 -o plan.json";

bool smma_is_cublaslt(const char *name) {
  return strncmp(name, "cublas", strlen("cublas")) == 0 && !strstr(name, ".json");
}

smma_plan *smma_named_plan(const char *text, const smma_instruction *instruction, smma_error *error) {
  smma_plan_request request;
  smma_plan *plan;
  smma_error why;
  if (smma_is_cublaslt(text)) {
    smma_fail(error,
              "--plan: '%s': a plan of cuBLASLt is that of one algorithm; write it to a file, as in '%s', and "
              "give --plan plan.json",
              text, smma_example_of_cublaslt);
    return NULL;
  }
  smma_plan_request_defaults(&request, sizeof request);
  request.name = text, request.instruction = instruction;
  plan = smma_is_custom_file(text) ? smma_plan_load(text, &why) : smma_plan_for(&request, &why);
  if (!plan) smma_fail(error, "--plan: %s", why.text);
  return plan;
}

/* Returns the length of the first plan of a list. The names of some plans contain commas. */
static size_t plan_length(const char *list) {
  size_t longest = smma_custom_item(list);
  const char *name;
  for (size_t i = 0; (name = smma_plan_library(i)); i++) {
    const size_t length = strlen(name);
    if (length > longest && strncmp(list, name, length) == 0 && strchr(",", list[length])) longest = length;
  }
  return longest;
}

static size_t rounding_length(const char *list) { return strcspn(list, ","); }

/* Counts the items of a list. `length_of` returns the length of the first item. */
static size_t count_of(const char *list, size_t (*length_of)(const char *list)) {
  size_t count = 1;
  while (*(list += length_of(list))) list++, count++;
  return count;
}

static bool fill_plans(const char *list, const smma_instruction *const *instruction, size_t count,
                       smma_target_plan *plans, smma_error *error) {
  const size_t given = list ? count_of(list, plan_length) : 0;
  if (given > 1 && given != count)
    return smma_fail(error,
                     "--plan: %zu plans for %zu target%s; give one for all, or one for each, 'none' for one chain",
                     given, count, count == 1 ? "" : "s");
  for (size_t i = 0; list && i < count; i++) {
    const size_t length = plan_length(list);
    if (length == 0 || length >= sizeof plans[i].text)
      return smma_fail(error, "--plan: '%.*s' is no plan; give a file, a name, or 'none'", (int)length, list);
    memcpy(plans[i].text, list, length);
    if (strcmp(plans[i].text, "none") != 0 && !(plans[i].plan = smma_named_plan(plans[i].text, instruction[i], error)))
      return false;
    if (given > 1) list += length + (list[length] == ',');
  }
  return true;
}

bool smma_target_plans(const char *list, const smma_instruction *const *instruction, size_t count,
                       smma_target_plan *plans, smma_error *error) {
  memset(plans, 0, count * sizeof *plans);
  if (fill_plans(list, instruction, count, plans, error)) return true;
  for (size_t i = 0; i < count; i++) smma_plan_free(plans[i].plan), plans[i].plan = NULL;
  return false;
}

bool smma_check_target_plan(const smma_target_plan *plan, const smma_instruction *instruction, size_t k,
                            smma_error *error) {
  smma_error why;
  return !plan->plan || smma_plan_check(plan->plan, instruction, k, &why) == SMMA_OK ||
         smma_fail(error, "--plan: %s: %s", plan->text, why.text);
}

bool smma_target_roundings(const char *list, const smma_instruction *const *instruction, const smma_target_plan *plans,
                           size_t count, smma_target_rounding *rounding, smma_error *error) {
  const size_t given = list ? count_of(list, rounding_length) : 0;
  if (given > 1 && given != count)
    return smma_fail(error, "--round-in: %zu rounding modes for %zu target%s; give one for all, or one for each", given,
                     count, count == 1 ? "" : "s");
  for (size_t i = 0; i < count; i++) {
    const smma_instruction *of = instruction[i];
    const size_t length = list ? rounding_length(list) : 0;
    smma_target_rounding *r = &rounding[i];
    r->a = smma_operand_rounding(of, plans[i].plan, of->a);
    r->b = smma_operand_rounding(of, plans[i].plan, of->b);
    if (list &&
        (!smma_rounding_of(list, length, r->a, &r->a, error) || !smma_rounding_of(list, length, r->b, &r->b, error)))
      return false;
    if (list && of->scale_block && !(length == 7 && strncmp(list, "default", length) == 0))
      return smma_fail(error,
                       "--round-in: %s takes blocks with scale factors, which have a rule of their own; leave it out",
                       of->name);
    if (given > 1) list += length + (list[length] == ',');
  }
  return true;
}
