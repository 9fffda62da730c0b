/* Compares bench/cublas.def with the headers of cuBLAS: this file compiles only if they agree. */
#include <cublasLt.h>
#include <cublas_v2.h>

#define SMMA_CUBLAS_TYPE(name, type) _Static_assert(sizeof(name) == sizeof(type), #name);
#define SMMA_CUBLAS_CONSTANT(name, value) _Static_assert((int)name == (value), #name);
#define SMMA_CUBLAS_FUNCTION(result, member, name, parameters) \
  _Static_assert(__builtin_types_compatible_p(__typeof__(name), result parameters), #name);
#include "bench/cublas.def"
