/* Lane functions of the algorithms that are sequences of IEEE operations, with native arithmetic. The thread must round
   to nearest and must not flush subnormals. `n` is the number of lanes; `d` holds c, then the result. */
#ifndef SMMA_GEMM_LANES_NATIVE_H
#define SMMA_GEMM_LANES_NATIVE_H

#include <math.h>

#include "gemm/lanes/number.h"

/* Lets GCC make vectors of the next loop, which it would rather unroll. */
#define LOOP _Pragma("GCC unroll 1")

LANE_BODY float lane_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

LANE_BODY uint32_t lane_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

LANE_BODY bool lane_is_nan(uint32_t x) { return (x & 0x7fffffff) > 0x7f800000; }

/* Flushes subnormals to zero of the same sign. */
LANE_BODY uint32_t lane_flush(uint32_t x) { return x & lane_select((x & 0x7f800000) != 0, ~UINT32_C(0), 0x80000000); }

LANE_BODY void lane_fma_f32(const smma_operation *o, const smma_lanes *x, int n, uint32_t *d) {
  const uint32_t nan = (uint32_t)smma_nan_of(smma_encoding_of(SMMA_F32), o->rule.nan);
  float sum[SMMA_LANES];
  for (int i = 0; i < n; i++) sum[i] = lane_float(d[i]);
  for (int k = 0; k < o->k; k++) {
    LOOP for (int i = 0; i < n; i++) sum[i] = fmaf(lane_float(x->a.code[k][i]), lane_float(x->b.code[k][i]), sum[i]);
  }
  for (int i = 0; i < n; i++) d[i] = lane_is_nan(lane_bits(sum[i])) ? nan : lane_bits(sum[i]);
}

LANE_BODY bool lane_is_nan_f64(uint64_t x) { return x << 1 > UINT64_C(0x7ff) << 53; }

/* Computes FMA in FP64 with the policy SMMA_NAN_B_SUM_A. After each k, a NaN result is the first NaN among b, the
   accumulator and a, made quiet, or the rule's NaN if none of them is NaN. */
LANE_BODY void lane_fma_f64_nan(const smma_operation *o, const smma_lanes *x, int n, uint64_t *d) {
  const uint64_t made = smma_nan_of(smma_encoding_of(SMMA_F64), SMMA_NAN_B_SUM_A), quiet = UINT64_C(1) << 51;
  for (int k = 0; k < o->k; k++)
    for (int i = 0; i < n; i++) {
      uint64_t a, b, c = d[i], sum;
      double result;
      memcpy(&a, &x->a.f64[k][i], sizeof a);
      memcpy(&b, &x->b.f64[k][i], sizeof b);
      memcpy(&result, &c, sizeof result);
      result = fma(x->a.f64[k][i], x->b.f64[k][i], result);
      memcpy(&sum, &result, sizeof sum);
      sum = lane_select_64(lane_is_nan_f64(sum), made, sum);
      sum = lane_select_64(lane_is_nan_f64(a), a | quiet, sum);
      sum = lane_select_64(lane_is_nan_f64(c), c | quiet, sum);
      d[i] = lane_select_64(lane_is_nan_f64(b), b | quiet, sum);
    }
}

LANE_BODY void lane_fma_f64(const smma_operation *o, const smma_lanes *x, int n, uint64_t *d) {
  const uint64_t nan = smma_nan_of(smma_encoding_of(SMMA_F64), o->rule.nan);
  double sum[SMMA_LANES];
  if (o->rule.nan == SMMA_NAN_B_SUM_A) {
    lane_fma_f64_nan(o, x, n, d);
    return;
  }
  memcpy(sum, d, sizeof sum);
  for (int k = 0; k < o->k; k++) {
    LOOP for (int i = 0; i < n; i++) sum[i] = fma(x->a.f64[k][i], x->b.f64[k][i], sum[i]);
  }
  memcpy(d, sum, sizeof sum);
  for (int i = 0; i < n; i++) d[i] = lane_is_nan_f64(d[i]) ? nan : d[i];
}

/* Returns a factor as FTZ-AddMul reads it, in binary32: subnormals and -0 become +0. */
LANE_BODY float lane_normal(lane_format f, uint32_t code) {
  const lane_number x = lane_decode(f, code);
  const uint32_t sign = x.negative << 31, fraction = x.significand << (23 - f.fraction_bits) & 0x7fffff;
  const uint32_t normal = sign | (uint32_t)(x.exponent + 127) << 23 | fraction;
  const uint32_t special = x.kind == SMMA_NAN ? 0x7fc00000 : sign | 0x7f800000;
  const uint32_t finite = x.significand >> f.fraction_bits ? normal : 0;
  return lane_float(x.kind > SMMA_FINITE ? special : finite);
}

LANE_BODY float lane_flushed(float x) { return lane_float(lane_flush(lane_bits(x))); }

LANE_BODY void lane_ftz_addmul(const smma_operation *o, const smma_lanes *x, int n, uint32_t *d) {
  const lane_format a = lane_format_of(o->a), b = lane_format_of(o->b);
  const int pairwise = o->rule.with.ftz_addmul.pairwise;
  float sum[SMMA_LANES], group[SMMA_LANES], product[4][SMMA_LANES];
  for (int i = 0; i < n; i++) sum[i] = lane_float(d[i] & 0x7f800000 ? d[i] : 0);
  for (int k = 0; k < o->k; k += pairwise) {
    for (int j = 0; j < pairwise; j++)
      for (int i = 0; i < n; i++)
        product[j][i] = lane_flushed(lane_normal(a, x->a.code[k + j][i]) * lane_normal(b, x->b.code[k + j][i]));
    for (int i = 0; i < n; i++) group[i] = lane_flushed(product[0][i] + product[1][i]);
    if (pairwise == 4)
      for (int i = 0; i < n; i++) group[i] = lane_flushed(group[i] + lane_flushed(product[2][i] + product[3][i]));
    for (int i = 0; i < n; i++) sum[i] = lane_flushed(sum[i] + group[i]);
  }
  for (int i = 0; i < n; i++) d[i] = lane_is_nan(lane_bits(sum[i])) ? 0x7fc00000 : lane_bits(sum[i]);
}

/* Computes FTZ-FMA of BF16 (x86). A result of the least normal magnitude may have been rounded up from a subnormal.
   Sets `rare` for such lanes, which the core must compute. */
LANE_BODY void lane_ftz_fma(const smma_operation *o, const smma_lanes *x, int n, uint32_t *d, int32_t *rare) {
  for (int k = o->k - 1; k >= 0; k--)
    for (int i = 0; i < n; i++) {
      const uint32_t a = lane_flush(x->a.code[k][i] << 16), b = lane_flush(x->b.code[k][i] << 16), c = lane_flush(d[i]);
      const uint32_t sum = lane_bits(fmaf(lane_float(a), lane_float(b), lane_float(c)));
      const uint32_t quiet = 0x400000, nan = lane_select(lane_is_nan(c), c | quiet, 0xffc00000);
      const uint32_t of_operands = lane_select(lane_is_nan(a), a | quiet, lane_select(lane_is_nan(b), b | quiet, nan));
      rare[i] |= (sum & 0x7fffffff) == 0x00800000;
      d[i] = lane_select(lane_is_nan(sum), of_operands, lane_flush(sum));
    }
}

#endif
