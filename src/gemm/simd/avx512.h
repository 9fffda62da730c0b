/* The vector operations on AVX-512 (F, BW, DQ, VL, VNNI): 16 lanes. simd/README.md defines each operation. */
#ifndef SMMA_GEMM_SIMD_AVX512_H
#define SMMA_GEMM_SIMD_AVX512_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define WORDS_NAME avx512
enum { LANES = 16, ROWS = 2 };
enum { REGISTERS = 32, FLUSHES_AFTER_ROUNDING = 1, FAST_HALVES = 1 };

typedef __m512 vf;
typedef __m512i vi;
typedef __m512d vd;
typedef __m512i vb;
typedef __mmask16 vm;

static inline vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store(float *p, vf x) { _mm512_storeu_ps(p, x); }
static inline vf vf_set(float x) { return _mm512_set1_ps(x); }
static inline vf vf_add(vf x, vf y) { return _mm512_add_ps(x, y); }
static inline vf vf_subtract(vf x, vf y) { return _mm512_sub_ps(x, y); }
static inline vf vf_multiply(vf x, vf y) { return _mm512_mul_ps(x, y); }
static inline vf vf_fma(vf x, vf y, vf z) { return _mm512_fmadd_ps(x, y, z); }
static inline vf vf_multiply_add(vf x, vf y, vf z) { return _mm512_fmadd_ps(x, y, z); }
static inline vf vf_flush(vf x) { return x; }
static inline vf vf_round_to_half(vf x) {
  return _mm512_cvtph_ps(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
static inline vi vf_truncate(vf x) { return _mm512_cvttps_epi32(x); }
static inline vi vf_floor(vf x) { return _mm512_cvt_roundps_epi32(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
/* down | (up & 1) */
static inline vi vf_to_odd(vf x) {
  const __m512i up = _mm512_cvt_roundps_epi32(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  return _mm512_ternarylogic_epi32(vf_floor(x), up, _mm512_set1_epi32(1), 0xf8);
}
static inline vi vf_bits(vf x) { return _mm512_castps_si512(x); }
static inline vi vf_exponent_above(vf x, vi y) {
  const __m512 greater = _mm512_range_ps(x, _mm512_castsi512_ps(y), 3);
  return _mm512_and_si512(_mm512_castps_si512(greater), _mm512_set1_epi32((int)0xff800000));
}

static inline vf vi_as_float(vi x) { return _mm512_castsi512_ps(x); }
static inline vf vi_to_float(vi x) { return _mm512_cvtepi32_ps(x); }
static inline vi vi_load(const int32_t *p) { return _mm512_loadu_si512(p); }
static inline vi vi_load_halves(const void *p) { return _mm512_cvtepu16_epi32(_mm256_loadu_si256(p)); }
static inline vi vi_load_bytes(const void *p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128(p)); }
static inline void vi_store(int32_t *p, vi x) { _mm512_storeu_si512(p, x); }
static inline vi vi_set(int32_t x) { return _mm512_set1_epi32(x); }
static inline vi vi_add(vi x, vi y) { return _mm512_add_epi32(x, y); }
static inline vi vi_subtract(vi x, vi y) { return _mm512_sub_epi32(x, y); }
static inline vi vi_and(vi x, vi y) { return _mm512_and_si512(x, y); }
static inline vi vi_or(vi x, vi y) { return _mm512_or_si512(x, y); }
static inline vi vi_xor(vi x, vi y) { return _mm512_xor_si512(x, y); }
static inline vi vi_max(vi x, vi y) { return _mm512_max_epi32(x, y); }
static inline vi vi_min(vi x, vi y) { return _mm512_min_epi32(x, y); }
#define vi_shift_left(x, n) _mm512_slli_epi32(x, n)
#define vi_shift_right(x, n) _mm512_srli_epi32(x, n)
static inline vi vi_shift_left_by(vi x, vi n) { return _mm512_sllv_epi32(x, n); }
static inline vi vi_shift_down_by(vi x, vi n) { return _mm512_srav_epi32(x, n); }
/* (sum ^ x) & (sum ^ y) */
static inline vi vi_overflow(vi sum, vi x, vi y) { return _mm512_ternarylogic_epi32(sum, x, y, 0x18); }
static inline vi vi_and_not(vi x, vi y) { return _mm512_andnot_si512(y, x); }
static inline bool vi_any_negative(vi x) { return _mm512_movepi32_mask(x) != 0; }
static inline vi vi_keep(vi x) {
  __asm__("" : "+v"(x));
  return x;
}
static inline vb vb_keep(vb x) { return vi_keep(x); }

static inline vm vi_less(vi x, vi y) { return _mm512_cmplt_epi32_mask(x, y); }
static inline vm vi_equal(vi x, vi y) { return _mm512_cmpeq_epi32_mask(x, y); }
static inline vm vf_equal(vf x, vf y) { return _mm512_cmp_ps_mask(x, y, _CMP_EQ_OQ); }
static inline vm vm_or(vm x, vm y) { return _kor_mask16(x, y); }
static inline vm vm_and(vm x, vm y) { return _kand_mask16(x, y); }
static inline vm vm_and_not(vm x, vm y) { return _kandn_mask16(y, x); }
static inline unsigned vm_bits(vm x) { return _cvtmask16_u32(x); }
static inline vf vf_add_where(vm m, vf x, vf y, vf other) { return _mm512_mask_add_ps(other, m, x, y); }
static inline vf vf_replace_nan(vf x, vf nan) {
  return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), nan);
}
static inline vi vi_or_where(vm m, vi x, vi y) { return _mm512_mask_or_epi32(x, m, x, y); }
static inline vm vi_has(vi x, vi bits) { return _mm512_test_epi32_mask(x, bits); }
static inline vi vi_select(vm m, vi x, vi y) { return _mm512_mask_mov_epi32(y, m, x); }
static inline vf vf_select(vm m, vf x, vf y) { return _mm512_mask_mov_ps(y, m, x); }

static inline vi vf_floor_where(vm m, vf x) {
  return _mm512_maskz_cvt_roundps_epi32(m, x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

static inline vf vf_load_half(const void *p) { return _mm512_cvtph_ps(_mm256_loadu_si256(p)); }
static inline vi vh_max(vi x, vi y) { return _mm512_max_epu16(x, y); }
static inline vi vh_multiply(vi x, vi y) { return _mm512_mullo_epi16(x, y); }
static inline vi vh_subtract(vi x, vi y) { return _mm512_sub_epi16(x, y); }
static inline vi vh_shift_right_by(vi x, vi n) { return _mm512_srlv_epi16(x, n); }
static inline vi vi_dot2(vi sum, vi x, vi y) { return _mm512_dpwssd_epi32(sum, x, y); }

static inline vb vb_load(const uint8_t *p) { return _mm512_loadu_si512(p); }
static inline void vb_store(uint8_t *p, vb x) { _mm512_storeu_si512(p, x); }
static inline vb vb_repeat(int32_t four) { return _mm512_set1_epi32(four); }
static inline vb vb_min(vb x, vb y) { return _mm512_min_epu8(x, y); }
static inline vi vi_dots_begin(vi start) { return start; }
static inline vi vi_dots_add(vi sum, vb x, vb y) { return _mm512_dpbusd_epi32(sum, x, y); }
static inline vi vi_dots_end(vi sum) { return sum; }
static inline vi vi_dots_weigh(vi sum, vi low, vi high, vi w) {
  return vi_dot2(sum, vi_or(vi_and(low, vi_set(0xffff)), vi_shift_left(high, 16)), w);
}

static inline vi vf_floor_units(vf c, vi field, vi g, vi scale) {
  (void)field, (void)g;
  return vf_floor(_mm512_mul_round_ps(c, vi_as_float(scale), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
}
static inline vi vi_magnitude(vi x) { return _mm512_abs_epi32(x); }
static inline vm vi_above(vi x, vi y) { return _mm512_cmpgt_epu32_mask(x, y); }
static inline vb vb_picker(int i) { return _mm512_set1_epi32(64 << (i % 2 ? 24 : 16)); }
static inline vi vb_pick(vb bytes, int i, vb picker) {
  return _mm512_maddubs_epi16(i < 2 ? _mm512_slli_epi32(bytes, 16) : bytes, picker);
}
static inline vb vb_and(vb x, vb y) { return _mm512_and_si512(x, y); }
static inline vb vb_or(vb x, vb y) { return _mm512_or_si512(x, y); }
static inline vb vb_less(vb x, vb y) { return _mm512_movm_epi8(_mm512_cmplt_epu8_mask(x, y)); }
static inline bool vb_any_less(vb x, vb y) { return _mm512_cmplt_epu8_mask(x, y) != 0; }
static inline bool vb_any_apart(vb x, vb y, vb by, vb limit) {
  const __m512i greater = _mm512_max_epu8(x, y), apart = _mm512_sub_epi8(greater, _mm512_min_epu8(x, y));
  return _mm512_mask_cmpgt_epu8_mask(_mm512_cmple_epu8_mask(greater, limit), apart, by) != 0;
}
static inline vb vb_add_four(vb x, const uint32_t *four) {
  vb sum;
  __asm__("vpaddd %2%{1to16%}, %1, %0" : "=v"(sum) : "v"(x), "m"(*four));
  return sum;
}
static inline vd vd_load(const double *p) { return _mm512_loadu_pd(p); }
static inline void vd_store(double *p, vd x) { _mm512_storeu_pd(p, x); }
static inline vd vd_set(double x) { return _mm512_set1_pd(x); }
static inline vd vd_add(vd x, vd y) { return _mm512_add_pd(x, y); }
static inline vd vd_subtract(vd x, vd y) { return _mm512_sub_pd(x, y); }
static inline vd vd_multiply(vd x, vd y) { return _mm512_mul_pd(x, y); }
static inline vd vd_fma(vd x, vd y, vd z) { return _mm512_fmadd_pd(x, y, z); }
static inline vf vf_add_odd(vf x, vf y) {
  __m512 down = _mm512_add_round_ps(x, y, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  __mmask16 even = _mm512_testn_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1));
  return _mm512_mask_add_round_ps(down, even, x, y, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}
static inline vf vf_fma_odd(vf x, vf y, vf z) {
  __m512 down = _mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  __mmask16 odd = _mm512_test_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1));
  return _mm512_mask_mov_ps(_mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC), odd, down);
}
/* If magnitudes are equal, a positive number counts as greater than a negative one. */
static inline vd vd_greater(vd x, vd y) { return _mm512_range_pd(x, y, 7); }
static inline vd vd_lesser(vd x, vd y) { return _mm512_range_pd(x, y, 6); }
/* If the sums rounded up and down differ, they are adjacent, so exactly one has an odd last bit: the result. */
static inline vd vd_add_odd(vd x, vd y) {
  __m512d up = _mm512_add_round_pd(x, y, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  __m512d down = _mm512_add_round_pd(x, y, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  return _mm512_mask_mov_pd(up, _mm512_test_epi64_mask(_mm512_castpd_si512(down), _mm512_set1_epi64(1)), down);
}
static inline vd vd_round_to_float(vd x) {
  __m512i bits = _mm512_castpd_si512(x), last = _mm512_and_si512(_mm512_srli_epi64(bits, 29), _mm512_set1_epi64(1));
  bits = _mm512_add_epi64(bits, _mm512_add_epi64(last, _mm512_set1_epi64(0x0fffffff)));
  return _mm512_castsi512_pd(_mm512_and_si512(bits, _mm512_set1_epi64(~0x1fffffffLL)));
}
static inline vd vd_multiply_add(vd x, vd y, vd z) { return _mm512_fmadd_pd(x, y, z); }
static inline vd vd_signed_as(vd x, vd y) {
  const __m512i sign = _mm512_set1_epi64(INT64_MIN); /* x | (y & sign) */
  return _mm512_castsi512_pd(_mm512_ternarylogic_epi64(_mm512_castpd_si512(x), _mm512_castpd_si512(y), sign, 0xf8));
}
static inline vd vd_where_nan(vd x, vd y, vd z) {
  return _mm512_mask_mov_pd(z, _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q), y);
}
static inline vd vd_replace_nan(vd x, vd nan) { return vd_where_nan(x, nan, x); }
static inline vd vd_to_float(vd x) { return _mm512_cvtps_pd(_mm512_cvtpd_ps(x)); }
static inline vd vd_low(vf x) { return _mm512_cvtps_pd(_mm512_castps512_ps256(x)); }
static inline vd vd_high(vf x) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)); }
static inline vd vd_low_int(vi x) { return _mm512_cvtepi32_pd(_mm512_castsi512_si256(x)); }
static inline vd vd_high_int(vi x) { return _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(x, 1)); }
static inline vd vd_power(__m256i x) {
  return _mm512_castsi512_pd(
      _mm512_slli_epi64(_mm512_cvtepi32_epi64(_mm256_add_epi32(x, _mm256_set1_epi32(1023))), 52));
}
static inline vd vd_low_power(vi x) { return vd_power(_mm512_castsi512_si256(x)); }
static inline vd vd_high_power(vi x) { return vd_power(_mm512_extracti64x4_epi64(x, 1)); }
static inline vf vf_narrow(vd low, vd high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}

#endif
