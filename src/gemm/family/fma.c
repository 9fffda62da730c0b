#include "gemm/family/fma.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(fma_f32) = {
    fma_f32_takes,        FMA_F32_COLUMNS, fma_f32_bytes,          fma_f32_bytes, fma_f32_pack_rows,
    fma_f32_pack_columns, fma_f32_run,     SMMA_MODE_NEAREST_EVEN, true,          false};

/* Defines the family for D in FP16 or BF16. It rounds to odd, for which its mode rounds down, then to the format. */
#define FMA_16_FAMILY(name, format)                                                                          \
  static bool name##_takes(const smma_operation *o) { return fma_is_all(o, format); }                        \
  static void name##_block(const float *a, const float *b, size_t count, smma_nan_policy policy, float *d) { \
    fma_block(format, a, b, count, policy, d);                                                               \
  }                                                                                                          \
  static void name##_run(const smma_run *r) { fma_run(r, name##_block); }                                    \
  const smma_kernel_family SMMA_OF_KERNEL(name) = {                                                          \
      name##_takes,         FMA_F32_COLUMNS, fma_f32_bytes,  fma_f32_bytes, fma_f32_pack_rows,               \
      fma_f32_pack_columns, name##_run,      SMMA_MODE_DOWN, true,          false};
FMA_16_FAMILY(fma_f16, SMMA_F16)
FMA_16_FAMILY(fma_bf16, SMMA_BF16)
#undef FMA_16_FAMILY

/* Defines the family for FP64 and a rounding direction. All directions have the same code, in different modes. */
#define FMA_F64_FAMILY(name, direction)                                                               \
  static bool name##_takes(const smma_operation *o) { return fma_is_f64(o, SMMA_ROUND_##direction); } \
  const smma_kernel_family SMMA_OF_KERNEL(name) = {                                                   \
      name##_takes,         FMA_F64_COLUMNS, fma_f64_bytes,         fma_f64_bytes, fma_f64_pack_rows, \
      fma_f64_pack_columns, fma_f64_run,     SMMA_MODE_##direction, true,          false};
FMA_F64_FAMILY(fma_f64, NEAREST_EVEN)
FMA_F64_FAMILY(fma_f64_zero, TOWARD_ZERO)
FMA_F64_FAMILY(fma_f64_down, DOWN)
FMA_F64_FAMILY(fma_f64_up, UP)
#undef FMA_F64_FAMILY
