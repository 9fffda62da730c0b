/* OpenBLAS, what bench compares with. It is loaded at run time and by the command only; the library never uses it. */
#ifndef SMMA_BENCH_BLAS_H
#define SMMA_BENCH_BLAS_H

#include <stdbool.h>
#include <stddef.h>

#include "io/error.h"

/* cblas_sgemm and cblas_dgemm; order and transpositions are CBLAS's enumerations. */
typedef void smma_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                        int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void smma_dgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double *a,
                        int lda, const double *b, int ldb, double beta, double *c, int ldc);

typedef struct {
  smma_sgemm *sgemm;
  smma_dgemm *dgemm;
  char version[32], kernel[32]; /* "0.3.21", "SkylakeX": what OpenBLAS says it uses */
} smma_blas;

/* Loads OpenBLAS from `path`, or under its usual names where that is NULL, for this many threads. It stays until the
   program ends. `core_type` is the kernel to ask for, unless the environment's OPENBLAS_CORETYPE does; NULL leaves the
   choice to OpenBLAS. */
bool smma_blas_load(const char *path, const char *core_type, int threads, smma_blas *blas, smma_error *error);

/* C = A B, dense and row-major; of double where `wide`, else of float. The sizes are at most INT_MAX. */
void smma_blas_multiply(const smma_blas *blas, bool wide, size_t m, size_t n, size_t k, const void *a, const void *b,
                        void *c);

#endif
