/* Compares one product on several targets, and results that the user supplies: the number of results that differ, and
   the distance of each from the exact product. */
#ifndef SMMA_COMPARE_COMPARE_H
#define SMMA_COMPARE_COMPARE_H

#include <stdio.h>

#include "compare/own.h"
#include "host/watch.h"
#include "numerics/compare.h"

/* The request. Each product has its matrices, and an allocated D that is dense, row-major and of the same format for
   all targets. */
typedef struct {
  smma_product_target *target; /* scale factors and a bias that a plan needs are added */
  size_t targets;
  const smma_own_result *own; /* results of the user's own; with the targets 2 to SMMA_MOST_TARGETS */
  size_t owns;
  smma_encoded_matrix a, b; /* the matrices before they were rounded to the targets' formats */
  bool has_tolerances;      /* whether rtol and atol, those of smma_count_beyond, decide if results are equal */
  double rtol, atol;
  smma_watcher *watch; /* may be NULL */
  void *context;
} smma_compare_request;

/* The result. Index i is target i, and index request->targets + i is the user's result i. */
typedef struct {
  const smma_compare_request *request; /* must outlive the result */
  smma_format d;
  smma_product_error error[SMMA_MOST_TARGETS]; /* against the exact product before rounding */
  smma_product_error
      unit_error[SMMA_MOST_TARGETS]; /* against the exact product of the rounded matrices; targets only */
  smma_comparison pair[SMMA_MOST_TARGETS][SMMA_MOST_TARGETS]; /* two results, the earlier first */
  size_t beyond[SMMA_MOST_TARGETS]; /* with tolerances: results that differ from the first target's by more */
  bool same;                        /* all results are equal or, with tolerances, within these of the first target's */
} smma_compare_result;

/* Checks that tolerances, if there are any, are finite and not negative. */
bool smma_check_tolerances(const smma_compare_request *request, smma_error *error);

/* Computes the products, and compares every two results. Returns false with an error message. */
bool smma_compare_run(const smma_compare_request *request, smma_compare_result *result, smma_error *error);

/* Prints the result as text. `matrix` names A and B. */
void smma_print_comparison(FILE *stream, const smma_compare_result *result, const char *const matrix[2]);

/* Returns the result as the record for --json. */
smma_datum *smma_compare_datum(const smma_compare_result *result);

#endif
