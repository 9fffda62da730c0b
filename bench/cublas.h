/* cuBLAS, with which bench compares the kernels of NVIDIA GPUs. The command loads it at run time, like OpenBLAS.
   cublas.def has its types and functions. */
#ifndef SMMA_BENCH_CUBLAS_H
#define SMMA_BENCH_CUBLAS_H

#include <stdint.h>

#include "device/device.h"
#include "host/error.h"
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
  cublasLtHandle_t light; /* handle of cublasLt; NULL until it is needed */
  const smma_device *device;
  char name[32]; /* "cuBLAS 13.0.2" */
} smma_cublas;

/* Loads cuBLAS from `path`, or by its usual names if `path` is NULL, for a CUDA device that this thread has opened. It
   stays loaded until the program ends. */
bool smma_cublas_load(const char *path, const smma_device *device, smma_cublas *cublas, smma_error *error);

/* The types by which cuBLAS names the formats of a product. */
typedef struct {
  cudaDataType_t a, b, d, scalar;
  cublasComputeType_t compute;
  bool light; /* whether cublasLtMatmul computes the product, as it does in FP8 */
} smma_cublas_formats;

/* Reports whether cuBLAS has products of these two formats. smma_cublas_prepare fails if the device does not have
   them. */
bool smma_cublas_takes(smma_format a, smma_format b);

/* A product whose operands are on the device. */
typedef struct {
  smma_cublas *by;
  smma_cublas_formats formats;
  size_t m, n, k;
  void *a, *b, *d;
  cublasLtMatmulDesc_t description; /* for cublasLtMatmul only, as are the layouts of B, A and D */
  cublasLtMatrixLayout_t layout[3];
} smma_cublas_product;

/* Uploads A (M x K) and B (K x N) and multiplies them once, on the unit that cuBLAS chooses for their format. The
   descriptors of the product are freed only when the program ends. */
bool smma_cublas_prepare(smma_cublas *cublas, const smma_tensor *a, const smma_tensor *b, smma_cublas_product *p,
                         smma_error *error);

/* Computes D = A B. `*seconds` becomes the device's time. */
bool smma_cublas_run(const smma_cublas_product *p, double *seconds, smma_error *error);

void smma_cublas_release(smma_cublas_product *p);

#endif
