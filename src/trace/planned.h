/* One row with more products than a call takes, as the plan around the instruction sums them: call by call, explained,
   and addition by addition. */
#ifndef SMMA_TRACE_PLANNED_H
#define SMMA_TRACE_PLANNED_H

#include "datum/datum.h"
#include "explain/difference.h"
#include "plan/schedule.h"

typedef struct {
  const char *label; /* the target's name to show */
  const smma_instruction *instruction;
  const smma_plan *plan;
  const char *plan_text; /* its name to show */
  const uint64_t *a, *b; /* k encodings each */
  size_t k;
  const uint64_t *c; /* an encoding, or NULL */
} smma_planned_request;

typedef enum {
  SMMA_PLANNED_IDLE, /* calls of zeros alone, which leave the sum as it is */
  SMMA_PLANNED_CALL,
  SMMA_PLANNED_ADDITION /* what a task of the schedule does */
} smma_planned_kind;

typedef struct {
  smma_planned_kind kind;
  size_t call, calls;           /* the first call, and how many; of an addition 0 */
  uint64_t before, result;      /* the sum before and after a call; `result` of an addition */
  smma_explanation explanation; /* of a call */
  const smma_task *task;        /* of an addition */
  uint64_t from, to;            /* its two operands */
} smma_planned_event;

typedef struct {
  const smma_planned_request *request; /* which must outlive this */
  smma_operation operation;            /* of a call, c in d's format */
  smma_format format, d_format;        /* of sums, and of d */
  smma_schedule schedule;
  smma_planned_event *event;
  size_t events;
  uint64_t sum, d; /* before the epilogue, whose factors are 1 and whose bias is 0, and after */
} smma_planned_result;

/* Returns false with one line, also where the row has scale factors, or one call takes all of its products. Either way
   smma_planned_free. */
bool smma_planned_run(const smma_planned_request *request, smma_planned_result *result, smma_error *error);
void smma_planned_free(smma_planned_result *result);

/* Returns {"unit", "instruction", "plan", "events", "sum", "d"}: what --json prints. */
smma_datum *smma_planned_datum(const smma_planned_result *result);

/* Draws it in lines of `width` columns. */
void smma_planned_print(FILE *stream, const smma_planned_result *result, int width);

#endif
