/* The study behind `softmma diff --prove`: compares two targets, or examines the order of one target's k, with or
   without plans. Returns the answer as data. */
#ifndef SMMA_EQUAL_STUDY_H
#define SMMA_EQUAL_STUDY_H

#include <stdio.h>

#include "datum/datum.h"
#include "equal/planned.h"

typedef struct {
  const char *label; /* as given, for example "H100:bf16" */
  const smma_instruction *instruction;
  const char *plan_name; /* as given; NULL if not given */
  const smma_plan *plan; /* NULL: a single chain that starts from C */
} smma_equal_target;

typedef struct {
  smma_equal_target target[2];
  int targets;  /* 2: compare them; 1: examine the order of k */
  bool planned; /* products have plans, or the K in `k` */
  size_t k;     /* 0: every K */
  uint64_t rows, seed;
} smma_equal_request;

/* The answer: `equality` for two targets, `freedom` for one, `planned_...` with plans. */
typedef struct {
  char shown[2][1040]; /* labels with the names of plans */
  union {
    smma_equality equality;
    smma_freedom freedom;
    smma_planned_equality planned_equality;
    smma_planned_freedom planned_freedom;
  };
} smma_equal_result;

/* Answers a request. Returns false with a message if the products have different formats, no plan can be followed,
   or a unit fails. */
bool smma_equal(const smma_equal_request *request, smma_equal_result *result, smma_error *error);

/* Returns whether the targets are equal, or the order of k is free. */
smma_answer smma_equal_answer(const smma_equal_request *request, const smma_equal_result *result);

/* Prints the answer as text. */
void smma_print_equal(FILE *stream, const smma_equal_request *request, const smma_equal_result *result);

/* Returns the answer as the record that --json prints. */
smma_datum *smma_equal_datum(const smma_equal_request *request, const smma_equal_result *result);

#endif
