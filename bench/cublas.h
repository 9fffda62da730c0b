/* cuBLAS, what bench compares NVIDIA GPUs' kernels with. It is loaded at run time and by the command only, as OpenBLAS
   is. Types and functions: cublas.def. */
#ifndef SMMA_BENCH_CUBLAS_H
#define SMMA_BENCH_CUBLAS_H

#include <stdint.h>

#include "device/device.h"
#include "io/error.h"
#include "matrix/tensor.h"

#define SMMA_CUBLAS_TYPE(name, type) typedef type name;
#define SMMA_CUBLAS_CONSTANT(name, value)
#define SMMA_CUBLAS_FUNCTION(result, member, name, parameters)
#include "bench/cublas.def"
#undef SMMA_CUBLAS_TYPE
#undef SMMA_CUBLAS_FUNCTION

typedef struct cublasLtMatmulAlgo_t cublasLtMatmulAlgo_t;

typedef struct {
#define SMMA_CUBLAS_TYPE(name, type)
#define SMMA_CUBLAS_FUNCTION(result, member, name, parameters) result(*member) parameters;
#include "bench/cublas.def"
#undef SMMA_CUBLAS_TYPE
#undef SMMA_CUBLAS_CONSTANT
#undef SMMA_CUBLAS_FUNCTION
  cublasHandle_t handle;
  cublasLtHandle_t light; /* NULL until it is needed */
  const smma_device *device;
  char name[32]; /* "cuBLAS 13.0.2" */
} smma_cublas;

/* Loads cuBLAS from `path`, or under its usual names where that is NULL, for a device of CUDA, which this thread has
   opened. It stays until the program ends. */
bool smma_cublas_load(const char *path, const smma_device *device, smma_cublas *cublas, smma_error *error);

/* What cuBLAS calls a product's formats. */
typedef struct {
  cudaDataType_t a, b, d, scalar;
  cublasComputeType_t compute;
  bool light; /* by cublasLtMatmul, as FP8 */
} smma_cublas_formats;

/* Whether cuBLAS has products of two formats; whether the device has them is seen when one is prepared. */
bool smma_cublas_takes(smma_format a, smma_format b);

/* A product whose operands are on the device. */
typedef struct {
  smma_cublas *by;
  smma_cublas_formats formats;
  size_t m, n, k;
  void *a, *b, *d;
  cublasLtMatmulDesc_t description; /* and of B, A and D, of light ones */
  cublasLtMatrixLayout_t layout[3];
} smma_cublas_product;

/* Uploads A (M x K) and B (K x N) and multiplies once, by the unit that cuBLAS takes for their format. What describes
   products to cuBLAS stays until the program ends. */
bool smma_cublas_prepare(smma_cublas *cublas, const smma_tensor *a, const smma_tensor *b, smma_cublas_product *p,
                         smma_error *error);

/* D = A B; how long the device took. */
bool smma_cublas_run(const smma_cublas_product *p, double *seconds, smma_error *error);

void smma_cublas_release(smma_cublas_product *p);

#endif
