/* Accurate products of FP64 matrices from those of a narrow unit: numbers become sums of words or slices in its input
 * formats, and products of these are smma_gemm's, bit for bit (docs/numerics.md).
 *
 * This header may change in any version, unlike softmma.h. What softmma.h says of threads, errors and the bits of
 * results holds here. Arrays of doubles are read and written byte by byte: like all others they may have any alignment.
 */
#ifndef SOFTMMA_ACCURATE_H
#define SOFTMMA_ACCURATE_H

#include "softmma/softmma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* D = A B. What bears the name of a member of smma_gemm_arguments is as there; split_k, promote_every, threads and
 * kernel apply to each product that the unit computes. Block-scaled instructions get scale factors of 1. */
typedef struct {
  size_t size; /* of this struct: smma_f64_product_defaults sets it, and without it nothing is computed */
  size_t m, n, k;
  const double *a, *b; /* M x K and K x N */
  double *d;           /* M x N; may not overlap A or B */
  size_t lda, ldb, ldd;
  smma_order order_a, order_b, order_d;
  size_t split_k, promote_every;
  int threads;
  const char *kernel;
  smma_error *error;
  /* As there, with the rows done of all products of the unit, and how many that will be. */
  bool (*progress)(size_t rows_done, size_t rows, void *context);
  void *progress_context;
} smma_f64_product;

/* Fills in `size`; matrices of size 0, pointers NULL, row-major and dense, one slice of K, no promotion, all threads.
 * `size` is sizeof *product. Does nothing with NULL. */
SMMA_API void smma_f64_product_defaults(smma_f64_product *product, size_t size);

/* ---- Words ---- */

#define SMMA_MOST_WORDS 32

/* How numbers become sums of words in the instruction's input formats. */
typedef enum {
  /* Mary and Mikaitis: rows of A and columns of B are scaled by powers of two to at most theta = min(f_max,
   * sqrt(F_max / K)); word i is the rest rounded after a multiplication by u^-i; products A_i B_j with i + j < p. */
  SMMA_WORDS_SCALED,
  /* Markidis et al.: each word is the rest rounded; all products A_i B_j. */
  SMMA_WORDS_RESIDUAL
} smma_words_method;

/* Where the products of words are added. All but SMMA_SUM_UNIT add the smallest first. */
typedef enum {
  SMMA_SUM_F64, /* outside, RNE in FP64 */
  SMMA_SUM_F32, /* outside, each product rounded to FP32 and added, RNE */
  /* In the unit: each product's D is the next one's C, in order of i and j, where A_i takes the factor u^(i + j),
   * rounded to its format: words that become too small are lost. */
  SMMA_SUM_UNIT,
  /* In the unit, smallest first: C takes the factors, rounded to its format. */
  SMMA_SUM_UNIT_SCALED
} smma_words_sum;

typedef struct {
  size_t size; /* of this struct: smma_words_defaults sets it, and without it nothing is computed */
  smma_words_method method;
  bool flush_subnormals; /* words are zero or normal numbers; what the unit does with subnormals is its own */
  int words;             /* p: 1 to SMMA_MOST_WORDS */
  smma_words_sum sum;
} smma_words;

/* Fills in `size`; SMMA_WORDS_SCALED, two words, SMMA_SUM_F64, subnormal words. `size` is sizeof *how. Does
 * nothing with NULL. */
SMMA_API void smma_words_defaults(smma_words *how, size_t size);

/* D = A B from smma_gemm of the words of A and B. What is not said to be FP32 or the unit's is RNE in FP64, whatever
 * the thread's mode.
 *
 * Finite elements beyond the input format saturate, the rest goes to the next word (only SMMA_WORDS_RESIDUAL meets
 * any). Where a row of A or a column of B holds infinity or NaN, d is what IEEE arithmetic makes of the products with
 * these.
 *
 * Errors: as smma_gemm; SMMA_INVALID_ARGUMENT also for a sum in a unit whose C and D formats differ, and instructions
 * of integers. D is not touched on an error, SMMA_STOPPED included. */
SMMA_API smma_status smma_gemm_words(const smma_instruction *instruction, const smma_f64_product *product,
                                     const smma_words *how);

/* The fewest words p that represent A and B well enough for a relative accuracy: (p + 1) u^p <= accuracy, with the
 * larger u of both formats. 0 if SMMA_MOST_WORDS are too few or the instruction is NULL. The unit's own error comes on
 * top. */
SMMA_API int smma_words_for(const smma_instruction *instruction, double accuracy);

/* ---- Slices ---- */

#define SMMA_MOST_SLICES 2098 /* the bits from the greatest FP64 number to the least */

/* Which products of slices are added: A_(i) B_(j), i and j from 1, counts 2^(-bits (i + j)). */
typedef enum {
  SMMA_PRODUCTS_LEADING, /* i + j <= slices + 1: what is left out is less than what more slices would bring */
  SMMA_PRODUCTS_ALL
} smma_products;

/* Where they are added. */
typedef enum {
  SMMA_SLICES_F64,  /* each s32 result, times its power of two, RNE in FP64, smallest first */
  SMMA_SLICES_EXACT /* exactly, and the sum is rounded once to FP64, RNE */
} smma_slices_sum;

/* How numbers become block fixed-point: a row of A or a column of B shares an exponent, and each of its numbers is a
 * sum of signed integers of `bits` bits, its slices. */
typedef struct {
  size_t size; /* of this struct: smma_slices_defaults sets it, and without it nothing is computed */
  int slices;  /* 1 to SMMA_MOST_SLICES; 0: as many as A and B each need to be exact */
  int bits;    /* of a slice, without its sign: 1 to 7 */
  smma_products products;
  smma_slices_sum sum;
} smma_slices;

/* Fills in `size`; as many slices as are exact, of 7 bits, SMMA_PRODUCTS_ALL, SMMA_SLICES_EXACT: the exact product,
 * rounded once. `size` is sizeof *how. Does nothing with NULL. */
SMMA_API void smma_slices_defaults(smma_slices *how, size_t size);

/* D = A B by the Ozaki scheme: from smma_gemm of slices on an instruction with A and B in s8 and D in s32. The products
 * of slices are exact: K is cut where a sum might not fit 32 bits. With slices = 0, SMMA_PRODUCTS_ALL and
 * SMMA_SLICES_EXACT D is the exact product, rounded once. Infinity and NaN: as smma_gemm_words. A sum that is zero is
 * +0.
 *
 * Errors: as smma_gemm; SMMA_INVALID_ARGUMENT also for an instruction of other formats. D is not touched on an error,
 * SMMA_STOPPED included. */
SMMA_API smma_status smma_gemm_slices(const smma_instruction *instruction, const smma_f64_product *product,
                                      const smma_slices *how);

#ifdef __cplusplus
}
#endif

#endif
