/* How far a unit's product can be from the exact one: a bound for each element that holds for its operands, proved from
   the rule alone. docs/tolerance.md derives every term. */
#ifndef SMMA_NUMERICS_BOUND_H
#define SMMA_NUMERICS_BOUND_H

#include <stdbool.h>

#include "softmma/softmma.h"

/* The bound for one element of D.

   If all operands are finite, the exact alpha A B + beta C is exact + rest, and the unit's result lies between exact +
   rest - below and exact + rest + above. `below` and `above` are infinite if a sum may leave the range of a format, or
   an exact sum the range of a double.

   If an operand is NaN or infinite, `exact` is the unit's result, NaN or an infinity, and the bounds are 0; if a sum
   may overflow before that, the bounds are infinite. */
typedef struct {
  double exact, rest, below, above;
} smma_bounded;

/* Bounds the elements of rows first .. first + rows - 1, N in each row, of the product that smma_gemm would compute
   from `product`. Ignores the members d, threads, kernel and progress of `product`. Results are finally rounded to
   `stored`, to nearest even, and on overflow to infinity or the largest finite number; if `stored` is SMMA_NO_FORMAT,
   to D's format. `bounds` receives rows x N elements, row by row. Errors: as smma_gemm; SMMA_INVALID_ARGUMENT also for
   alpha other than 1 with SMMA_SCALING_OPERANDS. */
smma_status smma_bound_rows(const smma_instruction *instruction, const smma_gemm_arguments *product, smma_format stored,
                            size_t first, size_t rows, smma_bounded *bounds);

/* Reports whether the sums of an instruction have a bound. If not, all bounds of its products are infinite. */
bool smma_has_bound(const smma_instruction *instruction);

/* Returns `result` minus the exact value, rounded once or twice; NaN if either is not finite. */
double smma_bounded_error(const smma_bounded *x, double result);

/* Reports whether the bound allows this result. */
bool smma_bounded_accepts(const smma_bounded *x, double result);

#endif
