/* Tensors as operands of a product, as recipes say: elements rounded to a format, and factors that they share. The
   formulas are in docs/recipes.md. */
#ifndef SMMA_NUMERICS_OPERAND_H
#define SMMA_NUMERICS_OPERAND_H

#include <stdbool.h>
#include <stddef.h>

#include "softmma/softmma.h"

typedef struct {
  smma_format format;
  smma_format factor;   /* SMMA_F32, SMMA_UE8M0, SMMA_UE4M3 with one of the tensor in FP32; SMMA_NO_FORMAT: none */
  size_t rows, columns; /* lines, and elements along K, that share a factor; 0: all; both 0: the tensor */
  bool power_of_two;    /* scales of SMMA_F32 are cut down to one */
  bool round_up;        /* factors of SMMA_UE8M0 are the least that no element exceeds */
  smma_format compute;  /* elements times factors are rounded to this format; SMMA_NO_FORMAT: they are not */
  float given;          /* the tensor's scale (SMMA_F32) or factor (SMMA_UE4M3); 0: from its greatest magnitude */
  const double *random; /* in [0, 1), for each element of each line: the upper neighbour's share; NULL: `rounding` */
  smma_rounding rounding;
} smma_operand_rule;

/* What became of elements. */
typedef struct {
  size_t zeros, saturated, infinite, nan;
  double error, norm; /* sums of squares of finite elements: of their differences, and their own */
} smma_operand_statistics;

/* `batch` matrices of `outer` times `inner` elements without gaps; a line along K is a row of one, or a column. */
typedef struct {
  const void *x;
  bool f64; /* else FP32 */
  size_t batch, outer, inner;
  bool k_inner;
  void *values; /* as x */
  void *
      scales; /* of each line, its blocks along K: FP32 if `columns` says of how many elements, UE8M0, UE4M3; or NULL */
  float *factor;  /* of each line (`rows` = 1), or of the tensor; or NULL */
  float greatest; /* SMMA_F32 of the tensor: the greatest magnitude */
  bool measure;
  smma_operand_statistics statistics; /* if measured */
  int threads;
} smma_operand;

/* What elements whose greatest magnitude is given are multiplied by (SMMA_F32). */
float smma_operand_scale(float greatest, smma_format format, bool power_of_two);

/* Blocks of 16 along K, the last filled with zeros, times signs, times the Hadamard matrix, by 4, in binary64, rounded
   to FP32. x has lines of k elements, y of as many blocks as it takes. */
void smma_hadamard(const float *x, size_t lines, size_t k, const double signs[16], float *y);

/* Errors: SMMA_NO_MEMORY. */
smma_status smma_make_operand(const smma_operand_rule *rule, smma_operand *operand);

#endif
