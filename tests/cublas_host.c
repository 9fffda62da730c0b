/* A stand-in for cuBLAS on the tests' driver, whose addresses are host addresses with an extra bit. It reads all of A
   and B, writes all of D, and prints each call on stderr. Like cuBLAS it takes FP8 only in multiples of sixteen. */
#include <stdio.h>
#include <string.h>

#include "bench/cublas.h"
#include "host_address.h"

enum {
#define SMMA_CUBLAS_TYPE(name, type)
#define SMMA_CUBLAS_CONSTANT(name, value) name = value,
#define SMMA_CUBLAS_FUNCTION(result, member, name, parameters)
#include "bench/cublas.def"
  NOT_SUPPORTED = 15
};
#undef SMMA_CUBLAS_CONSTANT
#undef SMMA_CUBLAS_FUNCTION
#define SMMA_CUBLAS_CONSTANT(name, value)
#define SMMA_CUBLAS_FUNCTION(result, member, name, parameters) \
  __attribute__((visibility("default"))) result name parameters;
#include "bench/cublas.def"

typedef struct {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t apart;
} layout;

static layout layouts[64];
static size_t layouts_used;
static int transposed;
static unsigned char seen;

static size_t bytes_of(const layout *x) {
  const size_t each = x->type == CUDA_R_64F                             ? 8
                      : x->type == CUDA_R_32F || x->type == CUDA_R_32I  ? 4
                      : x->type == CUDA_R_16F || x->type == CUDA_R_16BF ? 2
                                                                        : 1;
  return (size_t)x->apart * x->columns * each;
}

static void multiply(const void *a, const layout *of_a, const void *b, const layout *of_b, void *d,
                     const layout *of_d) {
  for (size_t i = 0; i < bytes_of(of_a); i++) seen ^= ((const unsigned char *)here(a))[i];
  for (size_t i = 0; i < bytes_of(of_b); i++) seen ^= ((const unsigned char *)here(b))[i];
  memset(here(d), seen, bytes_of(of_d));
}

size_t cublasLtGetVersion(void) { return 130002; }

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) { return *handle = &seen, CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) { return *handle = &seen, CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transpose_a, cublasOperation_t transpose_b, int m,
                            int n, int k, const void *alpha, const void *a, cudaDataType_t a_type, int lda,
                            const void *b, cudaDataType_t b_type, int ldb, const void *beta, void *d,
                            cudaDataType_t d_type, int ldd, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  const layout of_a = {a_type, (uint64_t)k, (uint64_t)m, lda}, of_b = {b_type, (uint64_t)k, (uint64_t)n, ldb};
  const layout of_d = {d_type, (uint64_t)m, (uint64_t)n, ldd};
  const double one = d_type == CUDA_R_64F   ? *(const double *)alpha
                     : d_type == CUDA_R_32I ? *(const int *)alpha
                                            : *(const float *)alpha;
  const double zero = d_type == CUDA_R_64F   ? *(const double *)beta
                      : d_type == CUDA_R_32I ? *(const int *)beta
                                             : *(const float *)beta;
  if (handle != &seen || transpose_a != CUBLAS_OP_T || transpose_b != CUBLAS_OP_N || algorithm != CUBLAS_GEMM_DEFAULT)
    return NOT_SUPPORTED;
  fprintf(stderr, "cublasGemmEx %d %d %d types %d %d %d apart %d %d %d by %d scaled %g %g\n", m, n, k, a_type, b_type,
          d_type, lda, ldb, ldd, compute, one, zero);
  multiply(a, &of_a, b, &of_b, d, &of_d);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *description, cublasComputeType_t compute,
                                        cudaDataType_t type) {
  *description = &transposed;
  return compute == CUBLAS_COMPUTE_32F && type == CUDA_R_32F ? CUBLAS_STATUS_SUCCESS : NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t which,
                                              const void *value, size_t bytes) {
  if (which != CUBLASLT_MATMUL_DESC_TRANSA || bytes != sizeof transposed) return NOT_SUPPORTED;
  memcpy(description, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *made, cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t apart) {
  layout *x = &layouts[layouts_used++ % (sizeof layouts / sizeof *layouts)];
  *x = (layout){type, rows, columns, apart};
  *made = x;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t of_a, const void *b, cublasLtMatrixLayout_t of_b,
                              const void *beta, const void *c, cublasLtMatrixLayout_t of_c, void *d,
                              cublasLtMatrixLayout_t of_d, const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  const layout *x = of_a, *y = of_b, *z = of_d;
  if (handle != &seen || description != &transposed || transposed != CUBLAS_OP_T || c != d || of_c != of_d ||
      algorithm || workspace || workspace_bytes || stream || x->rows % 16 || x->columns % 16 || x->rows != y->rows)
    return NOT_SUPPORTED;
  fprintf(stderr, "cublasLtMatmul %d %d %d types %d %d %d apart %d %d %d scaled %g %g\n", (int)z->rows, (int)z->columns,
          (int)x->rows, x->type, y->type, z->type, (int)x->apart, (int)y->apart, (int)z->apart,
          (double)*(const float *)alpha, (double)*(const float *)beta);
  multiply(a, x, b, y, d, z);
  return CUBLAS_STATUS_SUCCESS;
}
