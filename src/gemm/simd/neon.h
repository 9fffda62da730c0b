/* The vector operations on NEON of ARMv8.0: 4 lanes; a truth value sets all bits of its lane. simd/README.md defines
   each operation. */
#ifndef SMMA_GEMM_SIMD_NEON_H
#define SMMA_GEMM_SIMD_NEON_H

#include <arm_neon.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WORDS_NAME neon
enum { LANES = 4, ROWS = 2 };
enum { REGISTERS = 32, FLUSHES_AFTER_ROUNDING = 0, FAST_HALVES = 0 };

typedef float32x4_t vf;
typedef int32x4_t vi;
typedef float64x2_t vd;
typedef uint8x16_t vb;
typedef uint32x4_t vm;

static inline vf vf_load(const float *p) { return vld1q_f32(p); }
static inline void vf_store(float *p, vf x) { vst1q_f32(p, x); }
static inline vf vf_set(float x) { return vdupq_n_f32(x); }
static inline vf vf_add(vf x, vf y) { return vaddq_f32(x, y); }
static inline vf vf_subtract(vf x, vf y) { return vsubq_f32(x, y); }
static inline vf vf_multiply(vf x, vf y) { return vmulq_f32(x, y); }
static inline vf vf_fma(vf x, vf y, vf z) { return vfmaq_f32(z, x, y); }
static inline vf vf_multiply_add(vf x, vf y, vf z) { return vfmaq_f32(z, x, y); }
static inline vf vf_flush(vf x) { return x; }
static inline vi vf_truncate(vf x) { return vcvtq_s32_f32(x); }
static inline vi vf_floor(vf x) { return vcvtmq_s32_f32(x); }
static inline vi vf_to_odd(vf x) { return vorrq_s32(vcvtmq_s32_f32(x), vandq_s32(vcvtpq_s32_f32(x), vdupq_n_s32(1))); }
static inline vi vf_bits(vf x) { return vreinterpretq_s32_f32(x); }

static inline vf vi_as_float(vi x) { return vreinterpretq_f32_s32(x); }
static inline vf vi_to_float(vi x) { return vcvtq_f32_s32(x); }
static inline vi vi_load(const int32_t *p) { return vld1q_s32(p); }
static inline vi vi_load_halves(const void *p) { return vreinterpretq_s32_u32(vmovl_u16(vld1_u16(p))); }
static inline vi vi_load_bytes(const void *p) {
  uint64_t eight = 0;
  memcpy(&eight, p, LANES);
  return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(eight)))));
}
static inline void vi_store(int32_t *p, vi x) { vst1q_s32(p, x); }
static inline vi vi_set(int32_t x) { return vdupq_n_s32(x); }
static inline vi vi_add(vi x, vi y) { return vaddq_s32(x, y); }
static inline vi vi_subtract(vi x, vi y) { return vsubq_s32(x, y); }
static inline vi vi_and(vi x, vi y) { return vandq_s32(x, y); }
static inline vi vi_or(vi x, vi y) { return vorrq_s32(x, y); }
static inline vi vi_xor(vi x, vi y) { return veorq_s32(x, y); }
static inline vi vi_and_not(vi x, vi y) { return vbicq_s32(x, y); }
static inline vi vi_max(vi x, vi y) { return vmaxq_s32(x, y); }
static inline vi vi_min(vi x, vi y) { return vminq_s32(x, y); }
static inline vi vf_exponent_above(vf x, vi y) {
  const vi bits = vreinterpretq_s32_f32(x), exponents = vdupq_n_s32(0x7f800000);
  const vi greater = vmaxq_s32(vandq_s32(bits, exponents), vandq_s32(y, exponents));
  return vorrq_s32(greater, vandq_s32(bits, vdupq_n_s32(INT32_MIN)));
}
#define vi_shift_left(x, n) vshlq_n_s32(x, n)
#define vi_shift_right(x, n) vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(x), n))
/* The instruction takes the shift count from the low byte of its lane; negative counts shift right. */
static inline vi vi_shift_left_by(vi x, vi n) { return vshlq_s32(x, vminq_s32(n, vdupq_n_s32(32))); }
static inline vi vi_shift_down_by(vi x, vi n) { return vshlq_s32(x, vnegq_s32(vminq_s32(n, vdupq_n_s32(32)))); }
static inline vi vi_overflow(vi sum, vi x, vi y) { return vandq_s32(veorq_s32(sum, x), veorq_s32(sum, y)); }
static inline bool vi_any_negative(vi x) { return vminvq_s32(x) < 0; }
static inline vi vi_keep(vi x) {
  __asm__("" : "+w"(x));
  return x;
}
static inline vb vb_keep(vb x) {
  __asm__("" : "+w"(x));
  return x;
}

static inline vm vi_less(vi x, vi y) { return vcltq_s32(x, y); }
static inline vm vi_equal(vi x, vi y) { return vceqq_s32(x, y); }
static inline vm vf_equal(vf x, vf y) { return vceqq_f32(x, y); }
static inline vm vm_or(vm x, vm y) { return vorrq_u32(x, y); }
static inline vm vm_and(vm x, vm y) { return vandq_u32(x, y); }
static inline vm vm_and_not(vm x, vm y) { return vbicq_u32(x, y); }
static inline unsigned vm_bits(vm x) {
  static const uint32_t bit[LANES] = {1, 2, 4, 8};
  return vaddvq_u32(vandq_u32(x, vld1q_u32(bit)));
}
static inline vi vi_select(vm m, vi x, vi y) { return vbslq_s32(m, x, y); }
static inline vf vf_select(vm m, vf x, vf y) { return vbslq_f32(m, x, y); }
static inline vf vf_add_where(vm m, vf x, vf y, vf other) { return vbslq_f32(m, vaddq_f32(x, y), other); }
static inline vi vi_or_where(vm m, vi x, vi y) { return vorrq_s32(x, vandq_s32(vreinterpretq_s32_u32(m), y)); }
static inline vm vi_has(vi x, vi bits) { return vtstq_s32(x, bits); }
static inline vf vf_replace_nan(vf x, vf nan) { return vbslq_f32(vceqq_f32(x, x), x, nan); }

static inline vi vf_floor_where(vm m, vf x) { return vandq_s32(vf_floor(x), vreinterpretq_s32_u32(m)); }

static inline vf vf_load_half(const void *p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }
static inline vi vh_max(vi x, vi y) {
  return vreinterpretq_s32_u16(vmaxq_u16(vreinterpretq_u16_s32(x), vreinterpretq_u16_s32(y)));
}
static inline vi vh_multiply(vi x, vi y) {
  return vreinterpretq_s32_s16(vmulq_s16(vreinterpretq_s16_s32(x), vreinterpretq_s16_s32(y)));
}
static inline vi vh_subtract(vi x, vi y) {
  return vreinterpretq_s32_s16(vsubq_s16(vreinterpretq_s16_s32(x), vreinterpretq_s16_s32(y)));
}
static inline vi vh_shift_right_by(vi x, vi n) {
  int16x8_t right = vreinterpretq_s16_u16(vminq_u16(vreinterpretq_u16_s32(n), vdupq_n_u16(16)));
  return vreinterpretq_s32_u16(vshlq_u16(vreinterpretq_u16_s32(x), vnegq_s16(right)));
}
static inline vi vi_dot2(vi sum, vi x, vi y) {
  int16x8_t a = vreinterpretq_s16_s32(x), b = vreinterpretq_s16_s32(y);
  return vaddq_s32(sum, vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b)));
}

static inline vb vb_load(const uint8_t *p) { return vld1q_u8(p); }
static inline void vb_store(uint8_t *p, vb x) { vst1q_u8(p, x); }
static inline vb vb_repeat(int32_t four) { return vreinterpretq_u8_s32(vdupq_n_s32(four)); }
static inline vb vb_min(vb x, vb y) { return vminq_u8(x, y); }
static inline vi vi_dots_begin(vi start) { return start; }
static inline vi vi_dots_add(vi sum, vb x, vb y) {
  int8x16_t u = vreinterpretq_s8_u8(x), s = vreinterpretq_s8_u8(y); /* x < 128 */
  int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(u), vget_low_s8(s)));
  int32x4_t high = vpaddlq_s16(vmull_high_s8(u, s));
  return vaddq_s32(sum, vpaddq_s32(low, high));
}
static inline vi vi_dots_end(vi sum) { return sum; }
static inline vi vi_dots_weigh(vi sum, vi low, vi high, vi w) {
  return vi_dot2(sum, vi_or(vi_and(low, vi_set(0xffff)), vi_shift_left(high, 16)), w);
}

/* If a negative product underflows, vf_floor returns 0 for its -0; the exact floor is -1. */
static inline vi vf_floor_units(vf c, vi field, vi g, vi scale) {
  const vf product = vmulq_f32(c, vi_as_float(scale));
  const uint32x4_t below = vandq_u32(vceqzq_f32(product), vcltzq_f32(c));
  (void)field, (void)g;
  return vorrq_s32(vf_floor(product), vreinterpretq_s32_u32(below));
}
static inline vi vi_magnitude(vi x) { return vabsq_s32(x); }
static inline vm vi_above(vi x, vi y) { return vcgtq_u32(vreinterpretq_u32_s32(x), vreinterpretq_u32_s32(y)); }
static inline vb vb_picker(int i) { return vreinterpretq_u8_s32(vdupq_n_s32(-8 * i)); }
static inline vi vb_pick(vb bytes, int i, vb picker) {
  (void)i;
  uint32x4_t byte = vandq_u32(vshlq_u32(vreinterpretq_u32_u8(bytes), vreinterpretq_s32_u8(picker)), vdupq_n_u32(255));
  return vreinterpretq_s32_u32(vshlq_n_u32(byte, 22));
}
static inline vb vb_and(vb x, vb y) { return vandq_u8(x, y); }
static inline vb vb_or(vb x, vb y) { return vorrq_u8(x, y); }
static inline vb vb_less(vb x, vb y) { return vcltq_u8(x, y); }
static inline bool vb_any_less(vb x, vb y) { return vmaxvq_u8(vb_less(x, y)) != 0; }
static inline bool vb_any_apart(vb x, vb y, vb by, vb limit) {
  const vb counts = vcleq_u8(vmaxq_u8(x, y), limit);
  return vmaxvq_u8(vandq_u8(vcgtq_u8(vabdq_u8(x, y), by), counts)) != 0;
}
static inline vb vb_add_four(vb x, const uint32_t *four) {
  return vaddq_u8(x, vreinterpretq_u8_u32(vdupq_n_u32(*four)));
}

static inline vd vd_load(const double *p) { return vld1q_f64(p); }
static inline void vd_store(double *p, vd x) { vst1q_f64(p, x); }
static inline vd vd_set(double x) { return vdupq_n_f64(x); }
static inline vd vd_add(vd x, vd y) { return vaddq_f64(x, y); }
static inline vd vd_subtract(vd x, vd y) { return vsubq_f64(x, y); }
static inline vd vd_multiply(vd x, vd y) { return vmulq_f64(x, y); }
static inline vd vd_fma(vd x, vd y, vd z) { return vfmaq_f64(z, x, y); }
/* vd_greater returns the operand of greater magnitude, vd_lesser the other operand. */
static inline vd vd_greater(vd x, vd y) { return vbslq_f64(vcagtq_f64(x, y), x, y); }
static inline vd vd_lesser(vd x, vd y) { return vbslq_f64(vcagtq_f64(x, y), y, x); }
/* Rounds to nearest, then decrements the magnitude if the error has the other sign, and sets the last bit if the sum
   is inexact. */
static inline vd vd_add_odd(vd x, vd y) {
  vd sum = vaddq_f64(x, y), part = vsubq_f64(sum, x);
  vd error = vaddq_f64(vsubq_f64(x, vsubq_f64(sum, part)), vsubq_f64(y, part));
  int64x2_t bits = vreinterpretq_s64_f64(sum), inexact = vreinterpretq_s64_u64(vcagtq_f64(error, vdupq_n_f64(0)));
  int64x2_t back = vandq_s64(inexact, vshrq_n_s64(veorq_s64(bits, vreinterpretq_s64_f64(error)), 63));
  return vreinterpretq_f64_s64(vorrq_s64(vaddq_s64(bits, back), vandq_s64(inexact, vdupq_n_s64(1))));
}
static inline vd vd_round_to_float(vd x) {
  int64x2_t bits = vreinterpretq_s64_f64(x), last = vandq_s64(vshrq_n_s64(bits, 29), vdupq_n_s64(1));
  bits = vaddq_s64(bits, vaddq_s64(last, vdupq_n_s64(0x0fffffff)));
  return vreinterpretq_f64_s64(vandq_s64(bits, vdupq_n_s64(~0x1fffffffLL)));
}
/* Selects the smaller in magnitude of the sums rounded down and up, and sets its last bit if they differ. */
static inline vf vf_odd_of(vf rounded_down, vf negated_up) {
  const uint32x4_t down = vreinterpretq_u32_f32(rounded_down), up = vreinterpretq_u32_f32(vnegq_f32(negated_up));
  return vreinterpretq_f32_u32(vorrq_u32(vminq_u32(down, up), vandq_u32(veorq_u32(down, up), vdupq_n_u32(1))));
}
static inline vf vf_add_odd(vf x, vf y) { return vf_odd_of(vaddq_f32(x, y), vsubq_f32(vnegq_f32(x), y)); }
static inline vf vf_fma_odd(vf x, vf y, vf z) { return vf_odd_of(vfmaq_f32(z, x, y), vfmsq_f32(vnegq_f32(z), x, y)); }
static inline vd vd_multiply_add(vd x, vd y, vd z) { return vfmaq_f64(z, x, y); }
static inline vd vd_signed_as(vd x, vd y) { return vbslq_f64(vdupq_n_u64(UINT64_C(1) << 63), y, x); }
static inline vd vd_where_nan(vd x, vd y, vd z) { return vbslq_f64(vceqq_f64(x, x), z, y); }
static inline vd vd_replace_nan(vd x, vd nan) { return vd_where_nan(x, nan, x); }
static inline vd vd_to_float(vd x) { return vcvt_f64_f32(vcvt_f32_f64(x)); }
static inline vd vd_low(vf x) { return vcvt_f64_f32(vget_low_f32(x)); }
static inline vd vd_high(vf x) { return vcvt_high_f64_f32(x); }
static inline vd vd_low_int(vi x) { return vcvtq_f64_s64(vmovl_s32(vget_low_s32(x))); }
static inline vd vd_high_int(vi x) { return vcvtq_f64_s64(vmovl_high_s32(x)); }
static inline vd vd_low_power(vi x) {
  return vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(vmovl_s32(vget_low_s32(x)), vdupq_n_s64(1023)), 52));
}
static inline vd vd_high_power(vi x) {
  return vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(vmovl_high_s32(x), vdupq_n_s64(1023)), 52));
}
static inline vf vf_narrow(vd low, vd high) { return vcvt_high_f32_f64(vcvt_f32_f64(low), high); }

#include "gemm/simd/half.inc"

#endif
