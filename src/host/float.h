/* The thread's floating-point mode: rounding direction, and whether subnormals are flushed. */
#ifndef SMMA_HOST_FLOAT_H
#define SMMA_HOST_FLOAT_H

#include <stdint.h>

typedef enum {
  SMMA_MODE_NEAREST_EVEN,
  SMMA_MODE_TOWARD_ZERO,
  SMMA_MODE_DOWN,
  SMMA_MODE_UP,
  SMMA_MODE_FLUSH,
  SMMA_MODE_FLUSH_DOWN
} smma_float_mode;

/* smma_float_enter sets the mode, masks every exception, and returns the previous state, which smma_float_leave
   restores. Code whose result depends on the mode must be called through a pointer, because compilers move arithmetic
   across these calls. SMMA_MODE_FLUSH rounds to nearest even, SMMA_MODE_FLUSH_DOWN rounds down; both flush subnormal
   operands and results to zero if the machine can. */
#if defined(__x86_64__)
#include <xmmintrin.h>
typedef unsigned smma_float_state;
static inline smma_float_state smma_float_enter(smma_float_mode mode) {
  static const unsigned control[] = {0x1f80, 0x7f80, 0x3f80, 0x5f80, 0x9fc0, 0xbfc0};
  smma_float_state state = _mm_getcsr();
  _mm_setcsr(control[mode]);
  return state;
}
static inline void smma_float_leave(smma_float_state state) { _mm_setcsr(state); }
#elif defined(__aarch64__)
typedef uint64_t smma_float_state;
static inline void smma_float_leave(smma_float_state state) { __asm__ volatile("msr fpcr, %0" : : "r"(state)); }
static inline smma_float_state smma_float_enter(smma_float_mode mode) {
  static const uint64_t control[] = {0,
                                     UINT64_C(3) << 22,
                                     UINT64_C(2) << 22,
                                     UINT64_C(1) << 22,
                                     UINT64_C(1) << 24,
                                     UINT64_C(1) << 24 | UINT64_C(2) << 22};
  smma_float_state state;
  __asm__ volatile("mrs %0, fpcr" : "=r"(state));
  smma_float_leave(control[mode]);
  return state;
}
#else
#include <fenv.h>
typedef fenv_t smma_float_state;
static inline smma_float_state smma_float_enter(smma_float_mode mode) {
  smma_float_state state;
  fegetenv(&state);
  fesetenv(FE_DFL_ENV);
  if (mode == SMMA_MODE_TOWARD_ZERO) fesetround(FE_TOWARDZERO);
  if (mode == SMMA_MODE_DOWN || mode == SMMA_MODE_FLUSH_DOWN) fesetround(FE_DOWNWARD);
  if (mode == SMMA_MODE_UP) fesetround(FE_UPWARD);
  return state;
}
static inline void smma_float_leave(smma_float_state state) { fesetenv(&state); }
#endif

#endif
