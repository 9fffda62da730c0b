/* Explains how a plan sums a test vector that has more products than one call of the instruction. Each call is
   explained, and each addition is listed. */
#ifndef SMMA_TRACE_PLANNED_H
#define SMMA_TRACE_PLANNED_H

#include "datum/datum.h"
#include "explain/difference.h"
#include "plan/schedule.h"

typedef struct {
  const char *label; /* text that names the target in the output */
  const smma_instruction *instruction;
  const smma_plan *plan;
  const char *plan_text; /* text that names the plan in the output */
  const uint64_t *a, *b; /* k encodings each */
  size_t k;
  const uint64_t *c; /* an encoding, or NULL */
} smma_planned_request;

typedef enum {
  SMMA_PLANNED_IDLE, /* consecutive calls that add only zeros and do not change the sum */
  SMMA_PLANNED_CALL,
  SMMA_PLANNED_ADDITION /* an addition, which is a task of the schedule */
} smma_planned_event_kind;

typedef struct {
  smma_planned_event_kind kind;
  size_t call, calls;           /* index of the first call, and number of calls; 0 for an addition */
  uint64_t before;              /* of a call: the sum before it */
  uint64_t result;              /* the sum after a call, or the result of an addition */
  smma_explanation explanation; /* of a call */
  const smma_task *task;        /* of an addition */
  uint64_t from, to;            /* of an addition: its two operands */
} smma_planned_event;

typedef struct {
  const smma_planned_request *request; /* must outlive the result */
  smma_operation operation;            /* operation of a call, with c in d's format */
  smma_format format, d_format;        /* format of sums, and of d */
  smma_schedule schedule;
  smma_planned_event *event;
  size_t events;
  uint64_t sum; /* the sum before the epilogue */
  uint64_t d;   /* the result after the epilogue, whose factors are 1 and whose bias is 0 */
} smma_planned_result;

/* Computes the events. Returns false with an error message if memory runs out, if the instruction or the plan has scale
   factors, if one call adds all products of the test vector, or if the plan cannot be followed. Call smma_planned_free
   in all cases. */
bool smma_planned_run(const smma_planned_request *request, smma_planned_result *result, smma_error *error);
void smma_planned_free(smma_planned_result *result);

/* Returns the record that --json prints: {"unit", "instruction", "plan", "events", "sum", "d"}. */
smma_datum *smma_planned_datum(const smma_planned_result *result);

/* Prints the events, with a drawing of each call, in lines of at most `width` columns if possible. */
void smma_planned_print(FILE *stream, const smma_planned_result *result, int width);

#endif
