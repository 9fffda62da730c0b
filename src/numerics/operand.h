/* Converts a tensor into an operand of a product as a recipe prescribes: scales the elements, rounds them to a format,
   and returns the shared scale factors. The formulas are in docs/recipes.md. */
#ifndef SMMA_NUMERICS_OPERAND_H
#define SMMA_NUMERICS_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softmma/softmma.h"

/* Libraries whose formulas compute scale factors (docs/recipes.md). In FP32 factors, the formulas differ in order of
   operations and in the treatment of small numbers; in UE8M0, also in the treatment of NaN and infinity. */
typedef enum {
  SMMA_FORMULA_TE, /* Transformer Engine */
  SMMA_FORMULA_OCP,
  SMMA_FORMULA_TORCHAO,
  SMMA_FORMULA_TORCHAO_INTX,
  SMMA_FORMULA_TORCHAO_FLOAT8,
  SMMA_FORMULA_DEEPGEMM,
  SMMA_FORMULA_DEEPSEEK,
  SMMA_FORMULA_COMPRESSED_TENSORS,
  SMMA_FORMULA_QWIX,
  SMMA_FORMULA_MODELOPT,
  SMMA_FORMULA_TE_4OVER6, /* Transformer Engine's NVFP4, in which the greatest element of a block becomes 4 or 6,
                             whichever has the smaller sum of absolute errors */
  SMMA_FORMULA_TE_4OVER6_MSE,
  SMMA_FORMULA_TE_4OVER6_448, /* UE4M3 factors up to 448 instead of 256 */
  SMMA_FORMULA_TE_4OVER6_MSE_448
} smma_scale_formula;

/* How the exponent of a factor of SMMA_UE8M0 follows from the greatest magnitude of its block, amax. */
typedef enum {
  SMMA_SCALE_FLOOR, /* floor(log2 amax) - floor(log2 max) */
  SMMA_SCALE_CEIL,  /* ceil(log2 amax) - floor(log2 max) */
  SMMA_SCALE_EVEN,  /* like SMMA_SCALE_FLOOR, but amax is first rounded to the significand of the elements' format */
  SMMA_SCALE_RCEIL  /* ceil(log2(amax / max)) */
} smma_scale_rounding;

/* Names of formulas and of scale roundings, in the order of their numbers; NULL ends each list. */
extern const char *const smma_scale_formulas[], *const smma_scale_roundings[];

/* How a recipe converts the elements of one operand. */
typedef struct {
  smma_format format;
  smma_format factor; /* format of scale factors: SMMA_F32, SMMA_UE8M0 or SMMA_UE4M3 (with an FP32 factor per tensor);
                         SMMA_NO_FORMAT: no factors */
  size_t rows;        /* number of lines that share a factor; 0: all lines */
  size_t columns;     /* number of elements along K that share a factor; 0: the whole K. If `rows` is 0, too, the tensor
                         has one factor */
  smma_scale_formula formula;
  smma_scale_rounding scale_rounding; /* of factors of SMMA_UE8M0 */
  bool power_of_two;                  /* factors of SMMA_F32 are powers of two */
  bool zero_points;   /* integer formats: a block's least and greatest element become the ends of the format's range */
  bool line_factors;  /* each line has its own FP32 factor in addition to its SMMA_UE4M3 factors; `rows` is 1 */
  bool keeps_nan;     /* amax of a block with a NaN is NaN; otherwise SMMA_FORMULA_TE ignores NaN in amax */
  smma_format tensor; /* SMMA_BF16 or SMMA_F16 if the tensor has that format; some formulas compute in it */
  smma_overflow overflow;
  smma_format compute; /* SMMA_NO_FORMAT: the results are the converted elements; otherwise the results are elements
                          times factors, rounded to this format */
  float given; /* the caller's value of the tensor's scale (SMMA_F32) or factor (SMMA_UE4M3); 0: computed from the
                  elements */
  const double *random; /* for stochastic rounding: a number in [0, 1) for each element of each line; an element is
                           rounded up if its number is below the upper neighbour's probability. NULL: use `rounding` */
  smma_rounding rounding;
} smma_operand_rule;

/* Statistics of the conversion of elements. */
typedef struct {
  size_t zeros;         /* number of nonzero elements that became zero */
  size_t saturated;     /* number of elements beyond the format's range that became finite and nonzero */
  size_t infinite, nan; /* numbers of elements that became infinite, and NaN */
  double error, norm;   /* sum of the squared errors of finite elements; sum of their squares */
} smma_operand_statistics;

/* A tensor of `batch` matrices of `outer` times `inner` elements without gaps. A line along K is a row or a column
   of a matrix. */
typedef struct {
  const void *x;
  bool f64; /* elements are FP64; otherwise FP32 */
  size_t batch, outer, inner;
  bool k_inner;  /* lines along K are rows; otherwise columns */
  void *values;  /* the results, in the order of `x` */
  void *scales;  /* scale factors of each line's blocks along K, in the rule's format; FP32 only if rule->columns is not
                    0; or NULL */
  float *factor; /* the FP32 factor of each line (if rule->rows is 1, or with line_factors) or of the tensor; or NULL */
  int32_t *zero_points; /* zero points of each line's blocks along K; NULL if the rule has none */
  float greatest;       /* the tensor's greatest magnitude, if one SMMA_F32 factor applies to the whole tensor */
  bool measure;
  smma_operand_statistics statistics; /* zero unless `measure` */
  int threads;
} smma_operand;

/* Returns the scale for elements with this greatest magnitude, for factors of SMMA_F32 by SMMA_FORMULA_TE. */
float smma_operand_scale(float greatest, smma_format format, bool power_of_two);

/* Multiplies blocks of 16 elements along K by the signs and the Hadamard matrix, and divides by 4, in binary64;
   rounds to a format (SMMA_F32 or SMMA_BF16). The last block is padded with zeros. x has lines of k elements, y has
   lines of whole blocks. */
void smma_hadamard(const float *x, size_t lines, size_t k, const double signs[16], smma_format format, float *y);

/* Converts the operand. Errors: SMMA_NO_MEMORY. */
smma_status smma_make_operand(const smma_operand_rule *rule, smma_operand *operand);

#endif
