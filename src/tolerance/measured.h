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

/* Sets M, N and K of the result, and how many rows and columns of them are measured. */
void smma_measured_sizes(const smma_tolerance_request *request, smma_tolerance_result *result);

/* Makes the operands of a target: rows and columns that lie evenly in its product, or generated ones. Returns false
   with one line. Either way smma_measured_free. */
bool smma_measured_make(const smma_tolerance_result *sizes, const smma_product_target *target, smma_measured *sample,
                        smma_error *error);
void smma_measured_free(smma_measured *sample);

#endif
