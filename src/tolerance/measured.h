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

/* Sets the numbers of rows and columns of an M x N product that are measured. `given` is true if the caller has passed
   matrices. */
void smma_measured_part(bool given, size_t m, size_t n, size_t *rows, size_t *columns);

/* Sets M, N and K of the result, and the numbers of rows and columns that are measured. */
void smma_measured_sizes(const smma_tolerance_request *request, smma_tolerance_result *result);

/* Sorts the values and computes their quantiles, which are NaN if `count` is 0. */
void smma_take_quantiles(double *values, size_t count, double result[SMMA_QUANTILES]);

/* Returns a record of quantiles, by "50", "90", ..., "max". */
smma_datum *smma_quantiles_datum(const double value[SMMA_QUANTILES]);

/* Puts a target, and "error", "bound", "unbounded" and "left_out", into a record. */
void smma_put_target_error(smma_datum *record, const smma_product_target *target, const smma_target_error *error);

/* Makes the operands of a target: evenly spaced rows and columns of its product, or generated ones. Returns false with
   an error message. Call smma_measured_free in either case. */
bool smma_measured_make(const smma_tolerance_result *sizes, const smma_product_target *target, smma_measured *sample,
                        smma_error *error);
void smma_measured_free(smma_measured *sample);

#endif
