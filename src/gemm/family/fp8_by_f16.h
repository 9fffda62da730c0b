/* FP8 by FP16 (mma.sync on Hopper and Blackwell): in each step the blocks are computed as in t_fdpa.h, from an
   accumulator of zero. Then their result is added to c. */
#ifndef SMMA_GEMM_FAMILY_FP8_BY_F16_H
#define SMMA_GEMM_FAMILY_FP8_BY_F16_H

#include "gemm/family/fma.h"
#include "gemm/family/t_fdpa.h"

static bool fp8_by_f16_takes(const smma_operation *o) {
  return o->rule.algorithm == SMMA_FP8_BY_FP16 && (smma_block_of(o) == 8 || smma_block_of(o) == 16);
}

/* Adds `partial` to the accumulators, rounded to nearest even in FP32, or in FP16 if `to_half`. (Rounding the sum of
   two FP16 numbers to FP32 first does not change the result.) A NaN, from infinities of opposite signs, becomes the
   rule's NaN, because a plan may keep FP16 sums in FP32. The function is called through a pointer, because it needs
   another floating-point mode than its caller (host/float.h). */
static void fp8_by_f16_add(bool to_half, smma_nan_policy policy, float *accumulator, const float *partial,
                           size_t count) {
  const vf nan = fma_f32_nan(policy, vf_set(0));
  for (size_t i = 0; i < count; i += LANES) {
    const vf sum = vf_add(vf_load(accumulator + i), vf_load(partial + i));
    vf_store(accumulator + i, vf_replace_nan(to_half ? vf_round_to_half(sum) : sum, nan));
  }
}

static inline __attribute__((always_inline)) void fp8_by_f16_panel(const smma_run *r, int length, bool to_half) {
  const t_fdpa_constants t = t_fdpa_constants_of(&r->multiplier->operation);
  const t_fdpa_words w = t_fdpa_words_of(&t);
  const size_t blocks = deficit_blocks(&r->multiplier->operation);
  void (*volatile const add)(bool, smma_nan_policy, float *, const float *, size_t) = fp8_by_f16_add;
  const smma_nan_policy nan = r->multiplier->operation.rule.nan;
  float partial[DEFICIT_CHUNK * PANEL];
  for (size_t step = r->first; step < r->last; step++)
    for (size_t row = 0; row < r->rows; row += DEFICIT_CHUNK) {
      const size_t rows = deficit_chunk_rows(r, row);
      smma_float_state state;
      memset(partial, 0, sizeof partial);
      for (size_t block = step * blocks; block < (step + 1) * blocks; block++)
        t_fdpa_block(r, &t, &w, length, false, to_half, false, row, rows, block, partial);
      state = smma_float_enter(SMMA_MODE_NEAREST_EVEN);
      add(to_half, nan, (float *)r->accumulator + row * PANEL, partial, rows * PANEL);
      smma_float_leave(state);
    }
}

static void fp8_by_f16_run_8(const smma_run *r) { fp8_by_f16_panel(r, 8, false); }
static void fp8_by_f16_run_16(const smma_run *r) { fp8_by_f16_panel(r, 16, false); }
static void fp8_by_f16_run_to_half_8(const smma_run *r) { fp8_by_f16_panel(r, 8, true); }
static void fp8_by_f16_run_to_half_16(const smma_run *r) { fp8_by_f16_panel(r, 16, true); }

static void fp8_by_f16_run(const smma_run *r) {
  static void (*const run[2][2])(const smma_run *) = {{fp8_by_f16_run_8, fp8_by_f16_run_16},
                                                      {fp8_by_f16_run_to_half_8, fp8_by_f16_run_to_half_16}};
  run[r->multiplier->operation.d == SMMA_F16][smma_block_of(&r->multiplier->operation) == 16](r);
}

#endif
