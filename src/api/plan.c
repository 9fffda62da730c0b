/* Public functions for plans. */
#include "api/text.h"
#include "host/error.h"
#include "host/sized.h"
#include "isa/instruction.h"
#include "plan/library.h"
#include "plan/schedule.h"
#include "softmma/softmma.h"

smma_plan *smma_plan_parse(const char *origin, const char *text, size_t size, smma_error *error) {
  smma_clear_error(error);
  if (text) return smma_plan_read(origin ? origin : "plan", text, size, error);
  smma_set_error(error, SMMA_INVALID_ARGUMENT, "the text of the plan is missing");
  return NULL;
}

static const smma_plan_request request_defaults = {.d = SMMA_NO_FORMAT,
                                                   .algo = -1,
                                                   .tile = -1,
                                                   .split_k = -1,
                                                   .reduction = -1,
                                                   .swizzle = -1,
                                                   .custom = -1,
                                                   .stages = -1,
                                                   .inner = -1,
                                                   .cluster = -1,
                                                   .workspace = -1,
                                                   .epilogue = -1};

void smma_plan_request_defaults(smma_plan_request *request, size_t size) {
  smma_give_defaults(request, size, &request_defaults, sizeof request_defaults);
}

smma_plan *smma_plan_for(const smma_plan_request *request, smma_error *error) {
  smma_plan_request own = request_defaults;
  smma_clear_error(error);
  if (smma_end_error(error, smma_take_struct(request, &own, sizeof own)) != SMMA_OK) return NULL;
  return smma_plan_of_library(&own, error);
}

const char *smma_plan_library(size_t index) { return smma_plan_library_name(index); }

void smma_plan_free(smma_plan *plan) { smma_plan_release(plan); }

size_t smma_plan_text(const smma_plan *plan, char *text, size_t size) {
  size = smma_start_text(text, size);
  return plan ? smma_plan_write(plan, text, size) : 0;
}

smma_status smma_plan_check(const smma_plan *plan, const smma_instruction *instruction, size_t k, smma_error *error) {
  smma_operation operation;
  smma_schedule schedule;
  smma_status status;
  smma_clear_error(error);
  if (!plan || !instruction) return smma_end_error(error, SMMA_INVALID_ARGUMENT);
  operation = smma_operation_of(instruction);
  status = smma_schedule_make(plan, &operation, k, &schedule, error);
  if (status == SMMA_OK) smma_schedule_free(&schedule);
  return status;
}

smma_format smma_plan_d_format(const smma_plan *plan, const smma_instruction *instruction) {
  if (plan && plan->d != SMMA_NO_FORMAT) return plan->d;
  return instruction ? instruction->d : SMMA_NO_FORMAT;
}

size_t smma_plan_scaled_k(const smma_plan *plan) {
  const smma_plan_level *level = plan ? smma_plan_scaled_level(plan) : NULL;
  return level ? level->grain : 0;
}
