/* State of the conversion of one operand, shared by operand.c (elements), operand_factors.c (scale factors) and
   operand_two_levels.c (NVFP4's factors). */
#ifndef SMMA_NUMERICS_OPERAND_WORK_H
#define SMMA_NUMERICS_OPERAND_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numerics/operand.h"

enum { SMMA_OPERAND_CHUNK = 1024 };

/* NVFP4's first level: the factors of a tensor or a line. */
typedef struct {
  float amax;   /* greatest magnitude of the tensor or line */
  float encode; /* factor that scales elements */
  float factor; /* factor that restores elements */
} smma_first_level;

/* How a library computes FP32 factors from the greatest magnitude. */
typedef struct {
  bool factor_first;    /* factor = amax / max, scale = 1 / factor; otherwise scale = max / amax, factor = 1 / scale */
  bool by_xla;          /* divisions by max and by the factor are products with reciprocals in FP32 */
  bool divides;         /* elements are divided by the factor; otherwise multiplied by the scale */
  bool native_factor;   /* the factor is computed in the tensor's format */
  bool native_elements; /* the elements are computed in the tensor's format */
  double least_amax;    /* a smaller amax becomes this number */
  float below[3], becomes[3]; /* a factor below `below` becomes `becomes`: for tensors in FP32, BF16, and FP16 */
} smma_number_formula;

typedef struct {
  const smma_operand_rule *rule;
  smma_operand *operand;
  size_t batch, outer, inner;      /* dimensions of the operand; one matrix if a tensor has a single factor */
  size_t block_outer, block_inner; /* size of a block of elements that share a factor */
  size_t strips, blocks;           /* rows and columns of blocks in a matrix */
  size_t chunk;                    /* number of elements of a row processed at a time */
  size_t bytes;                    /* bytes of an encoding */
  bool f64;                        /* scaled elements are FP64 */
  int max_exponent;                /* exponent of the format's greatest number */
  double max, min;                 /* the format's greatest and least number */
  double beyond;                   /* the least magnitude that does not round to a finite number */
  bool narrow;                     /* an encoding is one byte, sign and magnitude */
  /* Value of each encoding of one byte, if rule->random, operand->measure or rule->compute need it. */
  double value[256];
  float factor_value[128]; /* value of each encoding of UE4M3, if factors have that format */
  double *amax;            /* greatest magnitude of each block; with zero points, its greatest number or 0 */
  double *least;           /* with zero points: each block's least number or 0 */
  float *scale;            /* for each block: the number that multiplies elements before they are rounded */
  float *element;          /* for each block: the factor that restores the values */
  float *zero;             /* with zero points: the zero point of each block */
  unsigned char *code;     /* for each block: the factor as UE8M0 or UE4M3 */
  smma_first_level *first; /* first-level factors of the tensor or of each line, if there are two levels of factors */
  const smma_number_formula *number; /* the formula of FP32 factors */
  bool makes_zeros_positive;         /* -0 becomes 0 */
  bool divides;                      /* elements are divided by `element`; otherwise multiplied by `scale` */
  smma_format arithmetic;            /* results of operations on elements are rounded to this format */
  smma_operand_statistics *measured; /* statistics of each row; or NULL */
  unsigned char *memory;             /* `room` bytes for each thread */
  size_t room;
  int threads;
} smma_operand_work;

static inline size_t smma_smaller(size_t x, size_t y) { return x < y ? x : y; }

static inline double smma_element_at(const smma_operand_work *w, size_t i) {
  return w->operand->f64 ? ((const double *)w->operand->x)[i] : ((const float *)w->operand->x)[i];
}

static inline size_t smma_count_blocks(const smma_operand_work *w) { return w->batch * w->strips * w->blocks; }

/* Returns the index of the block to which an element belongs. */
static inline size_t smma_block_at(const smma_operand_work *w, size_t matrix, size_t row, size_t column) {
  return (matrix * w->strips + row / w->block_outer) * w->blocks + column / w->block_inner;
}

/* Reports whether scaled elements are rounded to integers before the zero point is added, as in torchao. */
static inline bool smma_rounds_first(const smma_operand_work *w) {
  return w->rule->formula == SMMA_FORMULA_TORCHAO || w->rule->formula == SMMA_FORMULA_TORCHAO_INTX;
}

/* Reports whether amax ignores NaN, as Transformer Engine's kernels do. */
static inline bool smma_ignores_nan(smma_scale_formula formula) {
  return formula == SMMA_FORMULA_TE || formula >= SMMA_FORMULA_TE_4OVER6;
}

/* Returns x, rounded to the format if that is BF16 or FP16. */
float smma_rounded_to(smma_format format, float x);

/* Runs all tasks on threads, in the usual floating-point mode. Each task is called through a pointer, so that compilers
   cannot move its arithmetic out of that mode. */
void smma_run_tasks(const smma_operand_work *, size_t tasks, void (*task)(const smma_operand_work *, size_t, void *));

/* ---- operand_factors.c ---- */

/* Sets the members that say how elements are scaled, and the range of their format. */
void smma_find_arithmetic(smma_operand_work *);

/* Divides each matrix into blocks that share a factor. If the whole tensor shares one factor, the blocks are rows until
   smma_find_block_factors merges them. */
void smma_divide_operand(smma_operand_work *);

/* Computes the factors of all blocks. */
void smma_find_block_factors(smma_operand_work *);

/* Stores factors and zero points in the operand. */
void smma_give_factors(smma_operand_work *);

/* Returns the greater magnitude; NaN if one is NaN, unless the formula ignores NaN. */
double smma_greater_magnitude(const smma_operand_work *, double x, double y);

/* ---- operand_two_levels.c ---- */

/* Returns the number of first-level factors. */
size_t smma_count_first_levels(const smma_operand_work *);

/* Computes the first level from the greatest magnitudes of the blocks. */
void smma_find_first_level(smma_operand_work *);

/* Computes the factors of `count` blocks, at most SMMA_OPERAND_CHUNK, starting at block `first`. `memory` has room for
   one number per block. */
void smma_find_second_level(const smma_operand_work *, size_t first, size_t count, float *memory);

#endif
