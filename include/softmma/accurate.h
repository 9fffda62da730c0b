/* Accurate products of FP64 matrices, computed by a narrow unit. Each number becomes a sum of words or slices in the
 * unit's input formats, and smma_gemm computes the products of these, bit for bit (docs/numerics.md).
 *
 * This header may change in any version, unlike softmma.h. The rules of softmma.h for threads, errors and the bits of
 * results apply. Arrays of doubles may have any alignment, like all other arrays. */
#ifndef SOFTMMA_ACCURATE_H
#define SOFTMMA_ACCURATE_H

#include "softmma/softmma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A product D = A B. Members that have the name of a member of smma_gemm_arguments have the same meaning. split_k,
 * promote_every, threads and kernel apply to each product that the unit computes. Block-scaled instructions get scale
 * factors of 1. */
typedef struct {
  size_t size; /* sizeof this struct; smma_f64_product_defaults sets it, and a struct without it is refused */
  size_t m, n, k;
  const double *a, *b; /* M x K and K x N */
  double *d;           /* M x N; may not overlap A or B */
  size_t lda, ldb, ldd;
  smma_order order_a, order_b, order_d;
  size_t split_k, promote_every;
  int threads;
  const char *kernel;
  smma_error *error;
  /* As in smma_gemm_arguments, but both numbers count the rows of all products of the unit: rows done, and their total.
   */
  bool (*progress)(size_t rows_done, size_t rows, void *context);
  void *progress_context;
} smma_f64_product;

/* Sets `size` and all defaults: matrices of size 0, pointers NULL, row-major and dense, one slice of K, no promotion,
 * all threads. `size` is sizeof *product. Does nothing with NULL. */
SMMA_API void smma_f64_product_defaults(smma_f64_product *product, size_t size);

/* ---- Words ---- */

#define SMMA_MOST_WORDS 32

/* Methods of splitting numbers into words in the instruction's input formats. */
typedef enum {
  /* Mary and Mikaitis: rows of A and columns of B are scaled by powers of two to at most theta, the smaller of f_max
   * and sqrt(F_max / K). Word i is the remainder, multiplied by u^-i and rounded. The products A_i B_j with i + j < p
   * are computed. */
  SMMA_WORDS_SCALED,
  /* Markidis et al.: each word is the rounded remainder. The products A_i B_j for all i and j are computed. */
  SMMA_WORDS_RESIDUAL,
  /* CUTLASS's FP32 from BF16: word i is the remainder, multiplied by u^-i and rounded, without scaled rows and columns.
   * The products A_i B_j for all i and j are computed. A and B must hold FP32 numbers: the bits of FP64 numbers beyond
   * the words are lost, and numbers beyond the input format's range saturate. */
  SMMA_WORDS_SHIFTED
} smma_words_method;

/* The place where the products of words are added, smallest first except with SMMA_SUM_UNIT. */
typedef enum {
  SMMA_SUM_F64, /* outside the unit, RNE in FP64 */
  SMMA_SUM_F32, /* outside the unit: each product is rounded to FP32 and added, RNE */
  /* In the unit: D of each product is C of the next, in order of i and j. A_i is multiplied by the factor u^(i + j) and
   * rounded to its format, so words that become too small are lost. */
  SMMA_SUM_UNIT,
  /* In the unit, smallest first: C is multiplied by the factors and rounded to its format. */
  SMMA_SUM_UNIT_SCALED,
  /* Like SMMA_SUM_UNIT_SCALED, for the K of one instruction after the other. The results of these blocks of K are added
   * outside the unit, to 0 and in order of k: RNE in FP32, or in FP64 if D is f64. */
  SMMA_SUM_BLOCKS
} smma_words_sum;

typedef struct {
  size_t size; /* sizeof this struct; smma_words_defaults sets it, and a struct without it is refused */
  smma_words_method method;
  bool flush_subnormals; /* words are zero or normal numbers; the unit may still flush or keep subnormals of its own */
  int words;             /* p: 1 to SMMA_MOST_WORDS */
  smma_words_sum sum;
} smma_words;

/* Sets `size` and all defaults: SMMA_WORDS_SCALED, two words, SMMA_SUM_F64, words may be subnormal. `size` is sizeof
 * *how. Does nothing with NULL. */
SMMA_API void smma_words_defaults(smma_words *how, size_t size);

/* Computes D = A B from the products of the words of A and B; smma_gemm computes each product. Arithmetic outside the
 * unit is RNE in FP64, whatever the thread's rounding mode, except where FP32 is stated.
 *
 * A finite element beyond the input format saturates, and the remainder goes to the next word (this happens only with
 * SMMA_WORDS_RESIDUAL). If a row of A or a column of B holds infinity or NaN, d is the IEEE result for the products
 * with these.
 *
 * Errors: as smma_gemm; SMMA_INVALID_ARGUMENT also if A, B or D has fixed point or A or B has no sign, and for a sum in
 * a unit whose formats of C and D differ. D is unchanged after any error, including SMMA_STOPPED. */
SMMA_API smma_status smma_gemm_words(const smma_instruction *instruction, const smma_f64_product *product,
                                     const smma_words *how);

/* Returns the smallest number of words p that represents A and B to a relative accuracy: (p + 1) u^p <= accuracy, with
 * the larger u of both formats. Returns 0 if SMMA_MOST_WORDS words are not sufficient, or if the instruction is NULL.
 * The error of the unit itself is additional. */
SMMA_API int smma_words_for(const smma_instruction *instruction, double accuracy);

/* ---- Slices ---- */

#define SMMA_MOST_SLICES 2098 /* bits between the largest and the smallest FP64 number */

/* The products of slices that are added: A_(i) B_(j), with i and j from 1, has the weight 2^(-bits (i + j)). */
typedef enum {
  SMMA_PRODUCTS_LEADING, /* i + j <= slices + 1. Each other product has at most the weight of A_(slices + 1) B_(1),
                            which is missing anyway because A has no slice with this number. */
  SMMA_PRODUCTS_ALL      /* all i and j */
} smma_products;

/* The place where the products of slices are added. */
typedef enum {
  SMMA_SLICES_F64,  /* each s32 result, times its power of two, is added in FP64, RNE, smallest first */
  SMMA_SLICES_EXACT /* exactly; the sum is rounded once to FP64, RNE */
} smma_slices_sum;

/* Parameters of the block fixed-point form: a row of A or a column of B shares an exponent, and each of its numbers is
 * a sum of slices, signed integers of `bits` bits. */
typedef struct {
  size_t size; /* sizeof this struct; smma_slices_defaults sets it, and a struct without it is refused */
  int slices;  /* 1 to SMMA_MOST_SLICES; 0: the number that makes A exact, and the number that makes B exact */
  int bits;    /* bits of a slice without its sign: 1 to 7 */
  smma_products products;
  smma_slices_sum sum;
  int *used; /* two numbers that receive the slices of A and of B, or NULL; only after SMMA_OK */
} smma_slices;

/* Sets `size` and all defaults: as many slices as are exact, of 7 bits, SMMA_PRODUCTS_ALL, SMMA_SLICES_EXACT, NULL.
 * These give the exact product, rounded once. `size` is sizeof *how. Does nothing with NULL. */
SMMA_API void smma_slices_defaults(smma_slices *how, size_t size);

/* Computes D = A B by the Ozaki scheme: smma_gemm multiplies the slices, on an instruction with A and B in s8 and D in
 * s32. The products of slices are exact, because K is cut where a sum might not fit 32 bits. With slices = 0,
 * SMMA_PRODUCTS_ALL and SMMA_SLICES_EXACT, D is the exact product, rounded once. Infinity and NaN are treated as in
 * smma_gemm_words. A sum that is zero is +0.
 *
 * Errors: as smma_gemm; SMMA_INVALID_ARGUMENT also for an instruction with other formats. D is unchanged after any
 * error, including SMMA_STOPPED. */
SMMA_API smma_status smma_gemm_slices(const smma_instruction *instruction, const smma_f64_product *product,
                                      const smma_slices *how);

#ifdef __cplusplus
}
#endif

#endif
