/* The public functions about plans. */
#include <stdio.h>

#include "api/text.h"
#include "isa/instruction.h"
#include "plan/library.h"
#include "plan/schedule.h"
#include "softmma/softmma.h"

smma_xplan *smma_xplan_parse(const char *origin, const char *text, size_t size, char *message, size_t message_size) {
  message_size = smma_start_text(message, message_size);
  if (text) return smma_xplan_read(origin ? origin : "plan", text, size, message, message_size);
  snprintf(message, message_size, "the text of the plan is missing");
  return NULL;
}

void smma_plan_request_defaults(smma_plan_request *request) {
  if (!request) return;
  *request = (smma_plan_request){.size = sizeof *request, .d = SMMA_NO_FORMAT};
  request->algo = request->tile = request->split_k = request->reduction = request->swizzle = -1;
  request->custom = request->stages = request->inner = request->cluster = -1;
}

smma_xplan *smma_xplan_for(const smma_plan_request *request, char *message, size_t message_size) {
  message_size = smma_start_text(message, message_size);
  if (request && request->size == sizeof *request && request->instruction)
    return smma_xplan_of_library(request, message, message_size);
  snprintf(message, message_size, "the instruction of the plan is missing");
  return NULL;
}

const char *smma_xplan_library(size_t index) { return smma_xplan_library_name(index); }

void smma_xplan_free(smma_xplan *plan) { smma_xplan_release(plan); }

size_t smma_xplan_text(const smma_xplan *plan, char *text, size_t size) {
  size = smma_start_text(text, size);
  return plan ? smma_xplan_write(plan, text, size) : 0;
}

smma_status smma_xplan_check(const smma_xplan *plan, const smma_instruction *instruction, size_t k, char *message,
                             size_t message_size) {
  smma_operation operation;
  smma_schedule schedule;
  smma_status status;
  message_size = smma_start_text(message, message_size);
  if (!plan || !instruction) return SMMA_INVALID_ARGUMENT;
  operation = smma_operation_of(instruction);
  status = smma_schedule_make(plan, &operation, k, &schedule, message, message_size);
  if (status == SMMA_OK) smma_schedule_free(&schedule);
  return status;
}

smma_format smma_xplan_d(const smma_xplan *plan, const smma_instruction *instruction) {
  if (plan && plan->d != SMMA_NO_FORMAT) return plan->d;
  return instruction ? instruction->d : SMMA_NO_FORMAT;
}

size_t smma_xplan_scaled_k(const smma_xplan *plan) {
  const smma_plan_level *level = plan ? smma_xplan_scaled_level(plan) : NULL;
  return level ? level->grain : 0;
}
