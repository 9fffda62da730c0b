/* The measured part of a target's product: its operands, results and bounds. */
#ifndef SMMA_TOLERANCE_MEASURED_H
#define SMMA_TOLERANCE_MEASURED_H

#include "numerics/bound.h"
#include "tolerance/tolerance.h"

typedef struct {
  const smma_product_target *of;
  smma_format stored;
  smma_gemm_arguments product; /* matrices are dense and row-major */
  void *matrix[SMMA_VIEWS], *neutral;
  smma_bounded *bound; /* of each element */
  double *values;      /* the target's */
} smma_measured;

/* Sets M, N and K of the result, and the numbers of rows and columns that are measured. */
void smma_measured_sizes(const smma_tolerance_request *request, smma_tolerance_result *result);

/* Makes the operands of a target: evenly spaced rows and columns of its product, or generated ones. Returns false with
   an error message. Call smma_measured_free in either case. */
bool smma_measured_make(const smma_tolerance_result *sizes, const smma_product_target *target, smma_measured *sample,
                        smma_error *error);
void smma_measured_free(smma_measured *sample);

#endif
