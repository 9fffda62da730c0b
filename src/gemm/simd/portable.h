/* The vector operations with the vector extensions of gcc and clang, for any little-endian machine: 4 lanes; a truth
   value sets all bits of its lane. simd/README.md defines each operation. */
#ifndef SMMA_GEMM_SIMD_PORTABLE_H
#define SMMA_GEMM_SIMD_PORTABLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "host/float.h"

#define WORDS_NAME portable
enum { LANES = 4, ROWS = 1 };
#ifndef SMMA_FAST_HALVES /* mutation tests define it as 1, to test t_fdpa_narrow.h */
#define SMMA_FAST_HALVES 0
#endif
enum { REGISTERS = 16, FLUSHES_AFTER_ROUNDING = 0, FAST_HALVES = SMMA_FAST_HALVES };

typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
typedef double vd __attribute__((vector_size(16)));
typedef uint8_t vb __attribute__((vector_size(16)));
typedef vi vm;

/* Vectors with other elements. Arithmetic on unsigned elements wraps. */
typedef uint32_t vector_of_words __attribute__((vector_size(16)));
typedef int64_t vector_of_longs __attribute__((vector_size(16)));
typedef uint16_t vector_of_halves __attribute__((vector_size(16)));
typedef int16_t vector_of_signed_halves __attribute__((vector_size(16)));
typedef uint8_t vector_of_four_bytes __attribute__((vector_size(4)));

static inline vf vf_load(const float *p) {
  vf x;
  memcpy(&x, p, sizeof x);
  return x;
}
static inline void vf_store(float *p, vf x) { memcpy(p, &x, sizeof x); }
static inline vf vf_set(float x) { return (vf){x, x, x, x}; }
static inline vf vf_add(vf x, vf y) { return x + y; }
static inline vf vf_subtract(vf x, vf y) { return x - y; }
static inline vf vf_multiply(vf x, vf y) { return x * y; }
static inline vf vf_fma(vf x, vf y, vf z) {
  return (vf){fmaf(x[0], y[0], z[0]), fmaf(x[1], y[1], z[1]), fmaf(x[2], y[2], z[2]), fmaf(x[3], y[3], z[3])};
}
static inline vf vf_multiply_add(vf x, vf y, vf z) { return x * y + z; }
/* Converts numbers out of range as 0, because their conversion would be undefined. */
static inline vi vf_truncate(vf x) {
  vi within = (x >= vf_set(-0x1p31f)) & (x < vf_set(0x1p31f));
  return __builtin_convertvector((vf)((vi)x & within), vi);
}
static inline vi vf_floor(vf x) {
  vi truncated = vf_truncate(x);
  return truncated + (vi)(__builtin_convertvector(truncated, vf) > x);
}
static inline vi vf_to_odd(vf x) {
  const vi down = vf_floor(x);
  return down | ((__builtin_convertvector(down, vf) != x) & 1);
}
static inline vi vf_bits(vf x) { return (vi)x; }

static inline vf vi_as_float(vi x) { return (vf)x; }
static inline vf vi_to_float(vi x) { return __builtin_convertvector(x, vf); }
static inline vi vi_load(const int32_t *p) {
  vi x;
  memcpy(&x, p, sizeof x);
  return x;
}
static inline vi vi_load_halves(const void *p) {
  uint16_t x[LANES];
  memcpy(x, p, sizeof x);
  return (vi){x[0], x[1], x[2], x[3]};
}
static inline vi vi_load_bytes(const void *p) {
  uint8_t x[LANES];
  memcpy(x, p, sizeof x);
  return (vi){x[0], x[1], x[2], x[3]};
}
static inline void vi_store(int32_t *p, vi x) { memcpy(p, &x, sizeof x); }
static inline vi vi_set(int32_t x) { return (vi){x, x, x, x}; }
static inline vi vi_add(vi x, vi y) { return (vi)((vector_of_words)x + (vector_of_words)y); }
static inline vi vi_subtract(vi x, vi y) { return (vi)((vector_of_words)x - (vector_of_words)y); }
static inline vi vi_and(vi x, vi y) { return x & y; }
static inline vi vi_or(vi x, vi y) { return x | y; }
static inline vi vi_xor(vi x, vi y) { return x ^ y; }
static inline vi vi_and_not(vi x, vi y) { return x & ~y; }
static inline vi vi_select(vm m, vi x, vi y) { return (x & m) | (y & ~m); }
static inline vf vf_select(vm m, vf x, vf y) { return (vf)vi_select(m, (vi)x, (vi)y); }
static inline vi vi_or_where(vm m, vi x, vi y) { return x | (m & y); }
static inline vm vi_has(vi x, vi bits) { return (x & bits) != 0; }
static inline vf vf_replace_nan(vf x, vf nan) { return vf_select(x == x, x, nan); }
static inline vi vi_max(vi x, vi y) { return vi_select(x > y, x, y); }
static inline vi vi_min(vi x, vi y) { return vi_select(x < y, x, y); }
static inline vi vf_exponent_above(vf x, vi y) {
  return vi_max((vi)x & 0x7f800000, y & 0x7f800000) | ((vi)x & INT32_MIN);
}
static inline vi vi_shift_left(vi x, int n) { return (vi)((vector_of_words)x << n); }
static inline vi vi_shift_right(vi x, int n) { return (vi)((vector_of_words)x >> n); }
static inline vi vi_shift_left_by(vi x, vi n) {
  return (vi)((vector_of_words)x << (vector_of_words)(n & 31)) & (n < 32);
}
static inline vi vi_shift_down_by(vi x, vi n) { return x >> vi_min(n, vi_set(31)); }
static inline vi vi_overflow(vi sum, vi x, vi y) { return (sum ^ x) & (sum ^ y); }
static inline bool vi_any_negative(vi x) { return (x[0] | x[1] | x[2] | x[3]) < 0; }
static inline vi vi_keep(vi x) { return x; }
static inline vb vb_keep(vb x) { return x; }

static inline vm vi_less(vi x, vi y) { return x < y; }
static inline vm vi_equal(vi x, vi y) { return x == y; }
static inline vm vf_equal(vf x, vf y) { return x == y; }
static inline vm vm_or(vm x, vm y) { return x | y; }
static inline vm vm_and(vm x, vm y) { return x & y; }
static inline vm vm_and_not(vm x, vm y) { return x & ~y; }
static inline unsigned vm_bits(vm x) { return (unsigned)((x[0] & 1) | (x[1] & 2) | (x[2] & 4) | (x[3] & 8)); }
static inline vf vf_add_where(vm m, vf x, vf y, vf other) { return vf_select(m, x + y, other); }
static inline vi vf_floor_where(vm m, vf x) { return vf_floor(x) & m; }
static inline vf vf_flush(vf x) {
  vi subnormal = vi_equal((vi)x & 0x7f800000, vi_set(0));
  return (vf)((vi)x & ~(subnormal & 0x7fffffff));
}

/* Moves FP16's fields to those of binary32, then corrects the exponent by 2^112. Both steps are exact for subnormals,
   too. */
static inline vf vf_load_half(const void *p) {
  const vi code = vi_load_halves(p);
  return (vf)(((code & 0x7fff) << 13) | vi_shift_left(code & 0x8000, 16)) * 0x1p112f;
}
static inline vi vh_max(vi x, vi y) { return vi_select((vi)((vector_of_halves)x > (vector_of_halves)y), x, y); }
static inline vi vh_multiply(vi x, vi y) { return (vi)((vector_of_halves)x * (vector_of_halves)y); }
static inline vi vh_subtract(vi x, vi y) { return (vi)((vector_of_halves)x - (vector_of_halves)y); }
static inline vi vh_shift_right_by(vi x, vi n) {
  vector_of_halves by = (vector_of_halves)n;
  return (vi)((vector_of_halves)x >> (by & 15)) & (vi)(by < 16);
}
static inline vi vi_dot2(vi sum, vi x, vi y) {
  vi even = (vi_shift_left(x, 16) >> 16) * (vi_shift_left(y, 16) >> 16);
  return vi_add(sum, vi_add(even, (x >> 16) * (y >> 16)));
}

static inline vb vb_load(const uint8_t *p) {
  vb x;
  memcpy(&x, p, sizeof x);
  return x;
}
static inline void vb_store(uint8_t *p, vb x) { memcpy(p, &x, sizeof x); }
static inline vb vb_repeat(int32_t four) { return (vb)vi_set(four); }
static inline vb vb_min(vb x, vb y) {
  vb less = (vb)(x < y);
  return (x & less) | (y & ~less);
}
/* Each half of a lane adds two of four products. */
static inline vi vi_dots_begin(vi start) { return start & 0xffff; }
static inline vi vi_dots_add(vi sum, vb x, vb y) {
  vector_of_signed_halves even =
      ((vector_of_signed_halves)x & 255) * ((vector_of_signed_halves)((vector_of_signed_halves)y << 8) >> 8);
  vector_of_signed_halves odd = ((vector_of_signed_halves)x >> 8 & 255) * ((vector_of_signed_halves)y >> 8);
  return (vi)((vector_of_signed_halves)sum + even + odd);
}
static inline vi vi_dots_end(vi sum) { return vi_add(vi_shift_left(sum, 16) >> 16, sum >> 16); }
static inline vi vi_dots_weigh(vi sum, vi low, vi high, vi w) {
  const vi twice_low = (w & 0xffff) | vi_shift_left(w, 16), twice_high = vi_shift_right(w, 16) | (w & ~0xffff);
  return vi_dot2(vi_dot2(sum, low, twice_low), high, twice_high);
}

/* If a negative product underflows, vf_floor returns 0 for its -0; the exact floor is -1. */
static inline vi vf_floor_units(vf c, vi field, vi g, vi scale) {
  const vf product = c * vi_as_float(scale);
  (void)field, (void)g;
  return vf_floor(product) | ((product == vf_set(0)) & (c < vf_set(0)));
}
static inline vi vi_magnitude(vi x) { return vi_select(x < 0, (vi)(-(vector_of_words)x), x); }
static inline vm vi_above(vi x, vi y) { return (vector_of_words)x > (vector_of_words)y; }
static inline vb vb_picker(int i) { return (vb)vi_set(8 * i); }
static inline vi vb_pick(vb bytes, int i, vb picker) {
  (void)picker;
  return (vi)(((vector_of_words)bytes >> (uint32_t)(8 * i) & 255) << 22);
}
static inline vb vb_and(vb x, vb y) { return x & y; }
static inline vb vb_or(vb x, vb y) { return x | y; }
static inline vb vb_less(vb x, vb y) { return (vb)(x < y); }
static inline bool vb_any_less(vb x, vb y) {
  vi less = (vi)vb_less(x, y);
  return less[0] | less[1] | less[2] | less[3];
}
static inline bool vb_any_apart(vb x, vb y, vb by, vb limit) {
  const vb lesser = vb_min(x, y), greater = x + y - lesser;
  return vb_any_less(by & (vb)(greater <= limit), (greater - lesser) & (vb)(greater <= limit));
}
static inline vb vb_add_four(vb x, const uint32_t *four) { return x + vb_repeat((int32_t)*four); }

static inline vd vd_load(const double *p) {
  vd x;
  memcpy(&x, p, sizeof x);
  return x;
}
static inline void vd_store(double *p, vd x) { memcpy(p, &x, sizeof x); }
static inline vd vd_set(double x) { return (vd){x, x}; }
static inline vd vd_add(vd x, vd y) { return x + y; }
static inline vd vd_subtract(vd x, vd y) { return x - y; }
static inline vd vd_multiply(vd x, vd y) { return x * y; }
static inline vd vd_fma(vd x, vd y, vd z) { return (vd){fma(x[0], y[0], z[0]), fma(x[1], y[1], z[1])}; }
static inline vd vd_choose(vector_of_longs m, vd x, vd y) {
  return (vd)(((vector_of_longs)x & m) | ((vector_of_longs)y & ~m));
}
static inline vector_of_longs vd_is_above(vd x, vd y) { /* in magnitude */
  return ((vector_of_longs)x & INT64_MAX) > ((vector_of_longs)y & INT64_MAX);
}
static inline vd vd_greater(vd x, vd y) { return vd_choose(vd_is_above(x, y), x, y); }
static inline vd vd_lesser(vd x, vd y) { return vd_choose(vd_is_above(x, y), y, x); }
/* Rounds to nearest, then decrements the magnitude if the error has the other sign, and sets the last bit if the sum
   is inexact. */
static inline vd vd_add_odd(vd x, vd y) {
  vd sum = x + y, part = sum - x, error = (x - (sum - part)) + (y - part), zero = vd_set(0);
  vector_of_longs inexact = (error < zero) | (error > zero), signs = (vector_of_longs)sum ^ (vector_of_longs)error;
  return (vd)(((vector_of_longs)sum + (inexact & signs >> 63)) | (inexact & 1));
}
static inline vd vd_round_to_float(vd x) {
  vector_of_longs bits = (vector_of_longs)x;
  return (vd)((bits + 0x0fffffff + (bits >> 29 & 1)) & ~0x1fffffffLL);
}
/* Selects the smaller in magnitude of the sums rounded down and up, and sets its last bit if they differ. */
static inline vf vf_odd_of(vi down, vi up) { return (vf)(vi_select(vi_above(up, down), down, up) | ((down ^ up) & 1)); }
static inline vf vf_add_odd(vf x, vf y) { return vf_odd_of((vi)(x + y), (vi) - (-x - y)); }
static inline vf vf_fma_odd(vf x, vf y, vf z) { return vf_odd_of((vi)vf_fma(x, y, z), (vi)-vf_fma(-x, y, -z)); }
static inline vd vd_multiply_add(vd x, vd y, vd z) { return x * y + z; }
static inline vd vd_signed_as(vd x, vd y) {
  return (vd)((vector_of_longs)x | ((vector_of_longs)y & (vector_of_longs){INT64_MIN, INT64_MIN}));
}
static inline vd vd_where_nan(vd x, vd y, vd z) { return vd_choose(x == x, z, y); }
static inline vd vd_replace_nan(vd x, vd nan) { return vd_where_nan(x, nan, x); }

/* These functions convert whole vectors. If elements are converted one by one, gcc 12 omits a conversion to float that
   is followed by one to double. */
typedef float vector_of_two_floats __attribute__((vector_size(8)));
static inline vd vd_to_float(vd x) {
  return __builtin_convertvector(__builtin_convertvector(x, vector_of_two_floats), vd);
}
static inline vd vd_low(vf x) { return __builtin_convertvector(((vector_of_two_floats){x[0], x[1]}), vd); }
static inline vd vd_high(vf x) { return __builtin_convertvector(((vector_of_two_floats){x[2], x[3]}), vd); }
static inline vd vd_low_int(vi x) { return (vd){x[0], x[1]}; }
static inline vd vd_high_int(vi x) { return (vd){x[2], x[3]}; }
static inline vd vd_low_power(vi x) { return (vd)((vector_of_longs){x[0] + 1023, x[1] + 1023} << 52); }
static inline vd vd_high_power(vi x) { return (vd)((vector_of_longs){x[2] + 1023, x[3] + 1023} << 52); }
static inline vf vf_narrow(vd low, vd high) {
  const vector_of_two_floats x = __builtin_convertvector(low, vector_of_two_floats),
                             y = __builtin_convertvector(high, vector_of_two_floats);
  return (vf){x[0], x[1], y[0], y[1]};
}

#include "gemm/simd/half.inc"

#endif
