/* The errors of accurate products, from words or slices of FP64 matrices. */
#ifndef SMMA_TOLERANCE_ACCURATE_H
#define SMMA_TOLERANCE_ACCURATE_H

#include "tolerance/sweep.h"

/* Checks one value of a sweep over words or slices. Returns false with an error message. */
bool smma_accurate_check(const smma_sweep_request *request, size_t value, const smma_instruction *instruction,
                         smma_error *error);

/* Measures the product of `row->value` words or slices, against the exact product of the FP64 matrices. Sets the sizes
   and the automatic numbers of slices of the result. There are no bounds. */
bool smma_accurate_measure(smma_sweep_result *result, const smma_instruction *instruction, smma_sweep_row *row,
                           smma_error *error);

#endif
