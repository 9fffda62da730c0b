/* OpenBLAS, with which bench compares the kernels of CPUs. The command loads it at run time; the library never uses
   it. */
#ifndef SMMA_BENCH_BLAS_H
#define SMMA_BENCH_BLAS_H

#include <stdbool.h>
#include <stddef.h>

#include "host/error.h"

/* cblas_sgemm and cblas_dgemm; order and transpositions are CBLAS's enumerations. */
typedef void smma_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                        int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void smma_dgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double *a,
                        int lda, const double *b, int ldb, double beta, double *c, int ldc);

typedef struct {
  smma_sgemm *sgemm;
  smma_dgemm *dgemm;
  char version[32], kernel[32]; /* as OpenBLAS reports them, for example "0.3.21" and "SkylakeX" */
} smma_blas;

/* Loads OpenBLAS for this number of threads, from `path`, or by its usual names if `path` is NULL. It stays loaded
   until the program ends. `core_type` is the kernel to request unless the environment sets OPENBLAS_CORETYPE; if it is
   NULL, OpenBLAS chooses. */
bool smma_blas_load(const char *path, const char *core_type, int threads, smma_blas *blas, smma_error *error);

/* Computes C = A B. The matrices are dense and row-major; their elements are doubles if `wide`, otherwise floats. The
   sizes are at most INT_MAX. */
void smma_blas_multiply(const smma_blas *blas, bool wide, size_t m, size_t n, size_t k, const void *a, const void *b,
                        void *c);

#endif
