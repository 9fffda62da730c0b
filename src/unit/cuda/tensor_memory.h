/* Wrappers for tcgen05: tensor memory, its instruction, and synchronisation. For CUDA's compiler only. */
#ifndef SMMA_UNIT_CUDA_TENSOR_MEMORY_H
#define SMMA_UNIT_CUDA_TENSOR_MEMORY_H

#include <cstdint>

#include "assembly.h"

namespace cuda_unit {
namespace {

enum kind { F16, TF32, F8F6F4, I8, MXF8F6F4, MXF4, MXF4NVF4 };

/* Addresses in tensor memory of the operands other than D. */
struct addresses {
  uint32_t scales_a, scales_b, metadata;
};

__device__ uint32_t shared_address(const void *at) { return (uint32_t)__cvta_generic_to_shared(at); }

/* ---- Tensor memory ---- */

/* Allocates tensor memory for a warp; the address is written to shared memory. */
template <int COLUMNS>
__device__ void allocate(uint32_t *address) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(address)),
               "n"(COLUMNS)
               : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
}

template <int COLUMNS>
__device__ void release(uint32_t address) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "n"(COLUMNS) : "memory");
}

/* Store and load eight columns of the warp's 32 lanes, one lane per thread. */
__device__ void store(uint32_t address, const uint32_t *v) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"r"(address),
               "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "r"(v[4]), "r"(v[5]), "r"(v[6]), "r"(v[7])
               : "memory");
}

__device__ void load(uint32_t address, uint32_t *v) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];\n"
      "tcgen05.wait::ld.sync.aligned;"
      : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]), "=r"(v[7])
      : "r"(address)
      : "memory");
}

__device__ void wait_for_stores() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }

/* ---- The instruction ---- */

#define MMA(text, ...)                           \
  asm volatile(                                  \
      "{\n"                                      \
      ".reg .pred add;\n"                        \
      "setp.eq.u32 add, 0, 0;\n"                 \
      "tcgen05.mma" text                         \
      ", add;\n"                                 \
      "}" ::"r"(d),                              \
      "l"(a), "l"(b), "r"(descriptor)__VA_ARGS__ \
      : "memory")
#define KIND(kind) ".cta_group::1.kind::" kind
#define DENSE(kind) MMA(KIND(kind) " [%0], %1, %2, %3")
#define SPARSE(kind) MMA(".sp" KIND(kind) " [%0], %1, %2, [%4], %3", , "r"(beside.metadata))
#define EITHER(kind)       \
  if constexpr (IS_SPARSE) \
    SPARSE(kind);          \
  else                     \
    DENSE(kind)
#define SCALES , "r"(beside.scales_a), "r"(beside.scales_b)
#define SCALED(kind)                                                                               \
  if constexpr (IS_SPARSE)                                                                         \
    MMA(".sp" KIND(kind) " [%0], %1, %2, [%6], %3, [%4], [%5]", SCALES, "r"(beside.metadata));     \
  else                                                                                             \
    MMA(KIND(kind) " [%0], %1, %2, %3, [%4], [%5]", SCALES)

template <kind KIND, bool IS_SPARSE>
__device__ void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t descriptor, addresses beside) {
  if constexpr (KIND == F16) {
    EITHER("f16");
  } else if constexpr (KIND == TF32) {
    EITHER("tf32");
  } else if constexpr (KIND == F8F6F4) {
    EITHER("f8f6f4");
  } else if constexpr (KIND == I8) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1030
    __trap(); /* sm_103a has no integers */
#else
    EITHER("i8");
#endif
  } else if constexpr (KIND == MXF8F6F4) {
    SCALED("mxf8f6f4.block_scale.scale_vec::1X");
  } else if constexpr (KIND == MXF4) {
    SCALED("mxf4.block_scale.scale_vec::2X");
  } else {
    SCALED("mxf4nvf4.block_scale.scale_vec::4X");
  }
}

/* ---- Order ---- */

/* Fences before and after __syncthreads. */
__device__ void fence_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
__device__ void fence_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

__device__ void begin_barrier(uint32_t barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

/* Ends the barrier's phase when the operations that this thread has started are complete. */
__device__ void commit(uint32_t barrier) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier) : "memory");
}

__device__ void wait_for(uint32_t barrier, uint32_t phase) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(barrier),
      "r"(phase)
      : "memory");
}

}  // namespace
}  // namespace cuda_unit

#endif
