/* How far a unit's product can be from the exact one: a bound for each element that holds for its operands, proved from
   the rule alone. docs/tolerance.md derives every term. */
#ifndef SMMA_NUMERICS_BOUND_H
#define SMMA_NUMERICS_BOUND_H

#include <stdbool.h>

#include "softmma/softmma.h"

/* One element of D. Where operands are finite: the exact alpha A B + beta C is exact + rest, and the unit's result is
   not below that by more than `below`, nor above it by more than `above`; these are infinite where a sum may leave the
   range of a format, or exact ones that of a double. Where an operand is NaN or infinite: `exact` is what the unit
   returns, NaN or an infinity, with bounds of 0; or bounds are infinite where a sum may overflow before. */
typedef struct {
  double exact, rest, below, above;
} smma_bounded;

/* The elements of rows first .. first + rows - 1, N each, of the product that smma_gemm would compute from `product`,
   of which d, threads, kernel and progress do not count. `stored` is the format that results are rounded to at last, to
   nearest even and to infinity or the end of its range; D's if it is SMMA_NO_FORMAT.
   Errors: as smma_gemm; SMMA_INVALID_ARGUMENT also for alpha other than 1 with SMMA_SCALING_OPERANDS. */
smma_status smma_bound_rows(const smma_instruction *instruction, const smma_gemm_arguments *product, smma_format stored,
                            size_t first, size_t rows, smma_bounded *bounds);

/* Result minus exact, rounded once or twice; NaN where one of them is not finite. */
double smma_bounded_error(const smma_bounded *x, double result);

/* Whether a result is one that the unit could have returned, as far as the bound says. */
bool smma_bounded_accepts(const smma_bounded *x, double result);

#endif
