/* The study behind `softmma equal`: two targets compared, or the order of k of one, with plans or without; the answer
   as data. */
#ifndef SMMA_EQUAL_STUDY_H
#define SMMA_EQUAL_STUDY_H

#include "datum/datum.h"
#include "equal/planned.h"

typedef struct {
  const char *label; /* as given: "H100:bf16" */
  const smma_instruction *instruction;
  const char *plan_name; /* as given; NULL: none was */
  const smma_plan *plan; /* NULL: one chain, which C begins */
} smma_equal_target;

typedef struct {
  smma_equal_target target[2];
  int targets;  /* 2: whether they are equal; 1: whether the order of k matters */
  bool planned; /* products with plans, or of the K that `k` gives */
  size_t k;     /* 0: every K */
  uint64_t rows, seed;
} smma_equal_request;

/* One answer: `equality` of two targets, `freedom` of one, `planned_...` with plans. */
typedef struct {
  char shown[2][1040]; /* labels with the names of plans */
  union {
    smma_equality equality;
    smma_freedom freedom;
    smma_planned_equality planned_equality;
    smma_planned_freedom planned_freedom;
  };
} smma_equal_result;

/* Returns false with one line where products are not of the same formats, no plan can be followed or a unit fails. */
bool smma_equal(const smma_equal_request *request, smma_equal_result *result, smma_error *error);

/* Returns whether the targets are equal, or the order of k is free. */
smma_answer smma_equal_answer(const smma_equal_request *request, const smma_equal_result *result);

/* Returns the answer as a record: what --json prints. */
smma_datum *smma_equal_datum(const smma_equal_request *request, const smma_equal_result *result);

#endif
