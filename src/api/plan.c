/* The public functions about plans. */
#include <stdio.h>

#include "api/text.h"
#include "isa/instruction.h"
#include "plan/library.h"
#include "plan/schedule.h"
#include "softmma/softmma.h"

smma_plan *smma_plan_parse(const char *origin, const char *text, size_t size, char *message, size_t message_size) {
  message_size = smma_start_text(message, message_size);
  if (text) return smma_plan_read(origin ? origin : "plan", text, size, message, message_size);
  snprintf(message, message_size, "the text of the plan is missing");
  return NULL;
}

void smma_plan_request_defaults(smma_plan_request *request) {
  if (!request) return;
  *request = (smma_plan_request){.size = sizeof *request, .d = SMMA_NO_FORMAT};
  request->algo = request->tile = request->split_k = request->reduction = request->swizzle = -1;
  request->custom = request->stages = request->inner = request->cluster = -1;
  request->workspace = -1;
}

smma_plan *smma_plan_for(const smma_plan_request *request, char *message, size_t message_size) {
  message_size = smma_start_text(message, message_size);
  if (request && request->size == sizeof *request) return smma_plan_of_library(request, message, message_size);
  snprintf(message, message_size, "the request is missing, or has another size");
  return NULL;
}

const char *smma_plan_library(size_t index) { return smma_plan_library_name(index); }

void smma_plan_free(smma_plan *plan) { smma_plan_release(plan); }

size_t smma_plan_text(const smma_plan *plan, char *text, size_t size) {
  size = smma_start_text(text, size);
  return plan ? smma_plan_write(plan, text, size) : 0;
}

smma_status smma_plan_check(const smma_plan *plan, const smma_instruction *instruction, size_t k, char *message,
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

smma_format smma_plan_d(const smma_plan *plan, const smma_instruction *instruction) {
  if (plan && plan->d != SMMA_NO_FORMAT) return plan->d;
  return instruction ? instruction->d : SMMA_NO_FORMAT;
}

size_t smma_plan_scaled_k(const smma_plan *plan) {
  const smma_plan_level *level = plan ? smma_plan_scaled_level(plan) : NULL;
  return level ? level->grain : 0;
}
