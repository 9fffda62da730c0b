/* Converts a tensor into an operand of a product as a recipe prescribes: scales the elements, rounds them to a format,
   and returns the shared scale factors. The formulas are in docs/recipes.md. */
#ifndef SMMA_NUMERICS_OPERAND_H
#define SMMA_NUMERICS_OPERAND_H

#include <stdbool.h>
#include <stddef.h>

#include "softmma/softmma.h"

/* How a recipe converts the elements of one operand. */
typedef struct {
  smma_format format;
  smma_format factor;   /* SMMA_F32, SMMA_UE8M0, SMMA_UE4M3 (with an FP32 factor per tensor), or SMMA_NO_FORMAT: none */
  size_t rows, columns; /* number of lines, and of elements along K, that share a factor; 0: all; both 0: the tensor */
  bool power_of_two;    /* scales of SMMA_F32 are rounded down to a power of two */
  bool round_up;        /* factors of SMMA_UE8M0 are the least ones that keep all elements in range */
  smma_format compute;  /* results are elements times factors in this format; SMMA_NO_FORMAT: results are elements */
  float given;          /* the tensor's scale (SMMA_F32) or factor (SMMA_UE4M3); 0: computed from the elements */
  const double *random; /* stochastic rounding: a number in [0, 1) for each element of each line, compared with the
                           upper neighbour's share; NULL: use `rounding` */
  smma_rounding rounding;
} smma_operand_rule;

/* Statistics of the conversion of elements. */
typedef struct {
  size_t zeros, saturated, infinite, nan;
  double error, norm; /* sums of squares over finite elements: of the errors, and of the elements */
} smma_operand_statistics;

/* A tensor of `batch` matrices of `outer` times `inner` elements without gaps. A line along K is a row or a column
   of a matrix. */
typedef struct {
  const void *x;
  bool f64; /* else FP32 */
  size_t batch, outer, inner;
  bool k_inner;
  void *values;   /* the results, in the order of `x` */
  void *scales;   /* scale factors of each line's blocks along K: FP32 if `columns` gives a number of elements, UE8M0 or
                     UE4M3; or NULL */
  float *factor;  /* the factor of each line (`rows` = 1), or of the tensor; or NULL */
  float greatest; /* the tensor's greatest magnitude, if one SMMA_F32 factor applies to the whole tensor */
  bool measure;
  smma_operand_statistics statistics; /* zero unless `measure` */
  int threads;
} smma_operand;

/* Returns the scale (SMMA_F32) that multiplies elements with this greatest magnitude. */
float smma_operand_scale(float greatest, smma_format format, bool power_of_two);

/* Multiplies blocks of 16 elements along K by the signs and the Hadamard matrix, and divides by 4, in binary64;
   rounds to FP32. The last block is padded with zeros. x has lines of k elements, y has lines of whole blocks. */
void smma_hadamard(const float *x, size_t lines, size_t k, const double signs[16], float *y);

/* Converts the operand. Errors: SMMA_NO_MEMORY. */
smma_status smma_make_operand(const smma_operand_rule *rule, smma_operand *operand);

#endif
