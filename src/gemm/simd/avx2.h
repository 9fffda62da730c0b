/* The vector operations on AVX2, FMA and F16C: 8 lanes; a truth value sets all bits of its lane. simd/README.md
   defines each operation. */
#ifndef SMMA_GEMM_SIMD_AVX2_H
#define SMMA_GEMM_SIMD_AVX2_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define WORDS_NAME avx2
enum { LANES = 8, ROWS = 1 };
enum { REGISTERS = 16, FLUSHES_AFTER_ROUNDING = 1, FAST_HALVES = 0 };

typedef __m256 vf;
typedef __m256i vi;
typedef __m256d vd;
typedef __m256i vb;
typedef __m256i vm;

static inline vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void vf_store(float *p, vf x) { _mm256_storeu_ps(p, x); }
static inline vf vf_set(float x) { return _mm256_set1_ps(x); }
static inline vf vf_add(vf x, vf y) { return _mm256_add_ps(x, y); }
static inline vf vf_subtract(vf x, vf y) { return _mm256_sub_ps(x, y); }
static inline vf vf_multiply(vf x, vf y) { return _mm256_mul_ps(x, y); }
static inline vf vf_fma(vf x, vf y, vf z) { return _mm256_fmadd_ps(x, y, z); }
static inline vf vf_multiply_add(vf x, vf y, vf z) { return _mm256_fmadd_ps(x, y, z); }
static inline vf vf_flush(vf x) { return x; }
static inline vf vf_round_to_half(vf x) { return _mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)); }
static inline vi vf_truncate(vf x) { return _mm256_cvttps_epi32(x); }
static inline vi vf_floor(vf x) {
  return _mm256_cvttps_epi32(_mm256_round_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
}
static inline vi vf_to_odd(vf x) {
  const vf down = _mm256_round_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  const vi inexact = _mm256_castps_si256(_mm256_cmp_ps(down, x, _CMP_NEQ_OQ));
  return _mm256_or_si256(_mm256_cvttps_epi32(down), _mm256_srli_epi32(inexact, 31));
}
static inline vi vf_bits(vf x) { return _mm256_castps_si256(x); }

static inline vf vi_as_float(vi x) { return _mm256_castsi256_ps(x); }
static inline vf vi_to_float(vi x) { return _mm256_cvtepi32_ps(x); }
static inline vi vi_load(const int32_t *p) { return _mm256_loadu_si256((const __m256i *)p); }
static inline vi vi_load_halves(const void *p) { return _mm256_cvtepu16_epi32(_mm_loadu_si128(p)); }
static inline vi vi_load_bytes(const void *p) { return _mm256_cvtepu8_epi32(_mm_loadl_epi64(p)); }
static inline void vi_store(int32_t *p, vi x) { _mm256_storeu_si256((__m256i *)p, x); }
static inline vi vi_set(int32_t x) { return _mm256_set1_epi32(x); }
static inline vi vi_add(vi x, vi y) { return _mm256_add_epi32(x, y); }
static inline vi vi_subtract(vi x, vi y) { return _mm256_sub_epi32(x, y); }
static inline vi vi_and(vi x, vi y) { return _mm256_and_si256(x, y); }
static inline vi vi_or(vi x, vi y) { return _mm256_or_si256(x, y); }
static inline vi vi_xor(vi x, vi y) { return _mm256_xor_si256(x, y); }
static inline vi vi_and_not(vi x, vi y) { return _mm256_andnot_si256(y, x); }
static inline vi vi_max(vi x, vi y) { return _mm256_max_epi32(x, y); }
static inline vi vi_min(vi x, vi y) { return _mm256_min_epi32(x, y); }
#define vi_shift_left(x, n) _mm256_slli_epi32(x, n)
#define vi_shift_right(x, n) _mm256_srli_epi32(x, n)
static inline vi vi_shift_left_by(vi x, vi n) { return _mm256_sllv_epi32(x, n); }
static inline vi vi_shift_down_by(vi x, vi n) { return _mm256_srav_epi32(x, n); }
static inline vi vf_exponent_above(vf x, vi y) {
  const vi bits = _mm256_castps_si256(x), exponents = _mm256_set1_epi32(0x7f800000),
           sign = _mm256_set1_epi32(INT32_MIN);
  const vi greater = _mm256_max_epi32(_mm256_and_si256(bits, exponents), _mm256_and_si256(y, exponents));
  return _mm256_or_si256(greater, _mm256_and_si256(bits, sign));
}
static inline vi vi_overflow(vi sum, vi x, vi y) {
  return _mm256_and_si256(_mm256_xor_si256(sum, x), _mm256_xor_si256(sum, y));
}
static inline bool vi_any_negative(vi x) { return _mm256_movemask_ps(_mm256_castsi256_ps(x)) != 0; }
static inline vi vi_keep(vi x) {
  __asm__("" : "+x"(x));
  return x;
}
/* Not hidden from the compiler: it may load x anew in each instruction that uses x, which saves a register. */
static inline vb vb_keep(vb x) { return x; }

static inline vm vi_less(vi x, vi y) { return _mm256_cmpgt_epi32(y, x); }
static inline vm vi_equal(vi x, vi y) { return _mm256_cmpeq_epi32(x, y); }
static inline vm vf_equal(vf x, vf y) { return _mm256_castps_si256(_mm256_cmp_ps(x, y, _CMP_EQ_OQ)); }
static inline vm vm_or(vm x, vm y) { return _mm256_or_si256(x, y); }
static inline vm vm_and(vm x, vm y) { return _mm256_and_si256(x, y); }
static inline vm vm_and_not(vm x, vm y) { return _mm256_andnot_si256(y, x); }
static inline unsigned vm_bits(vm x) { return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(x)); }
static inline vi vi_select(vm m, vi x, vi y) { return _mm256_blendv_epi8(y, x, m); }
static inline vf vf_select(vm m, vf x, vf y) { return _mm256_blendv_ps(y, x, _mm256_castsi256_ps(m)); }
static inline vf vf_add_where(vm m, vf x, vf y, vf other) { return vf_select(m, vf_add(x, y), other); }
static inline vi vi_or_where(vm m, vi x, vi y) { return _mm256_or_si256(x, _mm256_and_si256(m, y)); }
static inline vm vi_has(vi x, vi bits) {
  const vi none = _mm256_cmpeq_epi32(_mm256_and_si256(x, bits), _mm256_setzero_si256());
  return _mm256_xor_si256(none, _mm256_set1_epi32(-1));
}
static inline vf vf_replace_nan(vf x, vf nan) { return _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q)); }

static inline vi vf_floor_where(vm m, vf x) { return _mm256_and_si256(vf_floor(x), m); }

static inline vf vf_load_half(const void *p) { return _mm256_cvtph_ps(_mm_loadu_si128(p)); }
static inline vi vh_max(vi x, vi y) { return _mm256_max_epu16(x, y); }
static inline vi vh_multiply(vi x, vi y) { return _mm256_mullo_epi16(x, y); }
static inline vi vh_subtract(vi x, vi y) { return _mm256_sub_epi16(x, y); }
/* Shifts each 16-bit half of a lane by its own count. Bits that a half receives from the other half are masked out. */
static inline vi vh_shift_right_by(vi x, vi n) {
  const vi low = _mm256_set1_epi32(0xffff);
  vi even = _mm256_srlv_epi32(_mm256_and_si256(x, low), _mm256_and_si256(n, low));
  return _mm256_blend_epi16(even, _mm256_srlv_epi32(x, _mm256_srli_epi32(n, 16)), 0xaa);
}
static inline vi vi_dot2(vi sum, vi x, vi y) { return _mm256_add_epi32(sum, _mm256_madd_epi16(x, y)); }

static inline vb vb_load(const uint8_t *p) { return _mm256_loadu_si256((const __m256i *)p); }
static inline void vb_store(uint8_t *p, vb x) { _mm256_storeu_si256((__m256i *)p, x); }
static inline vb vb_repeat(int32_t four) { return _mm256_set1_epi32(four); }
static inline vb vb_min(vb x, vb y) { return _mm256_min_epu8(x, y); }
/* Each half of a lane adds two of four products. */
static inline vi vi_dots_begin(vi start) { return _mm256_and_si256(start, _mm256_set1_epi32(0xffff)); }
static inline vi vi_dots_add(vi sum, vb x, vb y) { return _mm256_add_epi16(sum, _mm256_maddubs_epi16(x, y)); }
static inline vi vi_dots_end(vi sum) { return _mm256_madd_epi16(sum, _mm256_set1_epi16(1)); }
static inline vi vi_dots_weigh(vi sum, vi low, vi high, vi w) {
  const vi twice_low = _mm256_broadcastsi128_si256(_mm_set_epi32(0x0d0c0d0c, 0x09080908, 0x05040504, 0x01000100));
  const vi twice_high = _mm256_broadcastsi128_si256(_mm_set_epi32(0x0f0e0f0e, 0x0b0a0b0a, 0x07060706, 0x03020302));
  sum = _mm256_add_epi32(sum, _mm256_madd_epi16(low, _mm256_shuffle_epi8(w, twice_low)));
  return _mm256_add_epi32(sum, _mm256_madd_epi16(high, _mm256_shuffle_epi8(w, twice_high)));
}

/* Shifts the significand of c, which has 30 bits here. A subnormal's has fewer, and is shifted by 30 or more. To leave
   the fraction and the hidden bit of c, subtracts `surplus`: `field` minus 2^23, or 0 if `field` is 0. AVX2 has such a
   subtraction only for 16 bits; the lower 16 bits of `field` are 0. */
static inline vi vf_floor_units(vf c, vi field, vi g, vi scale) {
  const vi bits = vf_bits(c), surplus = _mm256_subs_epu16(field, vi_set(1 << 23));
  const vi significand = vi_shift_left(vi_subtract(bits, surplus), 6);
  (void)scale;
  return vi_shift_down_by(_mm256_sign_epi32(significand, bits), vi_shift_right(vi_subtract(g, field), 23));
}
static inline vi vi_magnitude(vi x) { return _mm256_abs_epi32(x); }
static inline vm vi_above(vi x, vi y) {
  return _mm256_xor_si256(_mm256_cmpeq_epi32(_mm256_max_epu32(x, y), y), _mm256_set1_epi32(-1));
}
static inline vb vb_picker(int i) { return _mm256_set1_epi32(64 << (i % 2 ? 24 : 16)); }
static inline vi vb_pick(vb bytes, int i, vb picker) {
  return _mm256_maddubs_epi16(i < 2 ? _mm256_slli_epi32(bytes, 16) : bytes, picker);
}
static inline vb vb_and(vb x, vb y) { return _mm256_and_si256(x, y); }
static inline vb vb_or(vb x, vb y) { return _mm256_or_si256(x, y); }
static inline vb vb_less(vb x, vb y) {
  return _mm256_xor_si256(_mm256_cmpeq_epi8(_mm256_max_epu8(x, y), x), _mm256_set1_epi32(-1));
}
static inline bool vb_any_less(vb x, vb y) {
  return _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(x, y), x)) != -1;
}
static inline bool vb_any_apart(vb x, vb y, vb by, vb limit) {
  const __m256i greater = _mm256_max_epu8(x, y), apart = _mm256_sub_epi8(greater, _mm256_min_epu8(x, y));
  const __m256i counts = _mm256_cmpeq_epi8(_mm256_max_epu8(greater, limit), limit);
  return !_mm256_testc_si256(_mm256_cmpeq_epi8(_mm256_max_epu8(apart, by), by), counts);
}
static inline vb vb_add_four(vb x, const uint32_t *four) { return _mm256_add_epi32(x, _mm256_set1_epi32((int)*four)); }

static inline vd vd_load(const double *p) { return _mm256_loadu_pd(p); }
static inline void vd_store(double *p, vd x) { _mm256_storeu_pd(p, x); }
static inline vd vd_set(double x) { return _mm256_set1_pd(x); }
static inline vd vd_add(vd x, vd y) { return _mm256_add_pd(x, y); }
static inline vd vd_subtract(vd x, vd y) { return _mm256_sub_pd(x, y); }
static inline vd vd_multiply(vd x, vd y) { return _mm256_mul_pd(x, y); }
static inline vd vd_fma(vd x, vd y, vd z) { return _mm256_fmadd_pd(x, y, z); }
static inline vd vd_is_above(vd x, vd y) { /* in magnitude */
  const vd sign = _mm256_set1_pd(-0.0);
  return _mm256_cmp_pd(_mm256_andnot_pd(sign, x), _mm256_andnot_pd(sign, y), _CMP_GT_OQ);
}
static inline vd vd_greater(vd x, vd y) { return _mm256_blendv_pd(y, x, vd_is_above(x, y)); }
static inline vd vd_lesser(vd x, vd y) { return _mm256_blendv_pd(x, y, vd_is_above(x, y)); }
/* Rounds to nearest, then decrements the magnitude if the error has the other sign, and sets the last bit if the sum
   is inexact. */
static inline vd vd_add_odd(vd x, vd y) {
  vd sum = _mm256_add_pd(x, y), part = _mm256_sub_pd(sum, x), zero = _mm256_setzero_pd();
  vd error = _mm256_add_pd(_mm256_sub_pd(x, _mm256_sub_pd(sum, part)), _mm256_sub_pd(y, part));
  vd inexact = _mm256_cmp_pd(error, zero, _CMP_NEQ_OQ);
  __m256i back = _mm256_castpd_si256(_mm256_blendv_pd(zero, inexact, _mm256_xor_pd(sum, error)));
  __m256i odd = _mm256_srli_epi64(_mm256_castpd_si256(inexact), 63);
  return _mm256_castsi256_pd(_mm256_or_si256(_mm256_add_epi64(_mm256_castpd_si256(sum), back), odd));
}
static inline vd vd_round_to_float(vd x) {
  __m256i bits = _mm256_castpd_si256(x), last = _mm256_and_si256(_mm256_srli_epi64(bits, 29), _mm256_set1_epi64x(1));
  bits = _mm256_add_epi64(bits, _mm256_add_epi64(last, _mm256_set1_epi64x(0x0fffffff)));
  return _mm256_castsi256_pd(_mm256_and_si256(bits, _mm256_set1_epi64x(~0x1fffffffLL)));
}
/* Selects the smaller in magnitude of the sums rounded down and up, and sets its last bit if they differ. */
static inline vf vf_odd_of(vf rounded_down, vf negated_up) {
  const __m256i down = _mm256_castps_si256(rounded_down), sign = _mm256_set1_epi32(INT32_MIN);
  const __m256i up = _mm256_xor_si256(_mm256_castps_si256(negated_up), sign);
  const __m256i odd = _mm256_and_si256(_mm256_xor_si256(down, up), _mm256_set1_epi32(1));
  return _mm256_castsi256_ps(_mm256_or_si256(_mm256_min_epu32(down, up), odd));
}
static inline vf vf_add_odd(vf x, vf y) {
  return vf_odd_of(_mm256_add_ps(x, y), _mm256_fnmsub_ps(x, _mm256_set1_ps(1), y));
}
static inline vf vf_fma_odd(vf x, vf y, vf z) { return vf_odd_of(_mm256_fmadd_ps(x, y, z), _mm256_fnmsub_ps(x, y, z)); }
static inline vd vd_multiply_add(vd x, vd y, vd z) { return _mm256_fmadd_pd(x, y, z); }
static inline vd vd_signed_as(vd x, vd y) { return _mm256_or_pd(x, _mm256_and_pd(y, _mm256_set1_pd(-0.0))); }
static inline vd vd_where_nan(vd x, vd y, vd z) { return _mm256_blendv_pd(z, y, _mm256_cmp_pd(x, x, _CMP_UNORD_Q)); }
static inline vd vd_replace_nan(vd x, vd nan) { return vd_where_nan(x, nan, x); }
static inline vd vd_to_float(vd x) { return _mm256_cvtps_pd(_mm256_cvtpd_ps(x)); }
static inline vd vd_low(vf x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); }
static inline vd vd_high(vf x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); }
static inline vd vd_low_int(vi x) { return _mm256_cvtepi32_pd(_mm256_castsi256_si128(x)); }
static inline vd vd_high_int(vi x) { return _mm256_cvtepi32_pd(_mm256_extracti128_si256(x, 1)); }
static inline vd vd_power(__m128i x) {
  return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm_add_epi32(x, _mm_set1_epi32(1023))), 52));
}
static inline vd vd_low_power(vi x) { return vd_power(_mm256_castsi256_si128(x)); }
static inline vd vd_high_power(vi x) { return vd_power(_mm256_extracti128_si256(x, 1)); }
static inline vf vf_narrow(vd low, vd high) { return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low)); }

#endif
