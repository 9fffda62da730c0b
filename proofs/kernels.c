/* Lemmas on the kernels in src/gemm/family, with the portable vector operations. */
#include "gemm/family/c_fdpa.h"
#include "gemm/family/e_fdpa.h"
#include "gemm/family/gst_fdpa.h"
#include "gemm/family/integer.h"
#include "gemm/family/pairs.h"
#include "gemm/family/t_fdpa_narrow.h"
#include "lemma.h"

static inline float as_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline smma_encoding f32(void) { return smma_encoding_of(SMMA_F32); }
static inline bool is_finite(uint32_t x) { return (x & 0x7f800000) != 0x7f800000; }
static inline bool is_nan(uint32_t x) { return (x & 0x7fffffff) > 0x7f800000; }

/* ---- Vector operations ---- */

LEMMA(round_to_half)(uint32_t x) {
  const uint32_t d = bits_of(vf_round_to_half(vf_set(as_float(x)))[0]);
  const smma_encoding f16 = smma_encoding_of(SMMA_F16);
  ASSUME(!is_nan(x));
  return d == smma_encode_number(f32(),
                                 smma_decode(f16, smma_encode_number(f16, smma_decode(f32(), x),
                                                                     SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY)),
                                 SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

LEMMA_DOWN(add_odd)(uint32_t x, uint32_t y) {
  const uint32_t d = bits_of(vf_add_odd(vf_set(as_float(x)), vf_set(as_float(y)))[0]);
  ASSUME(is_finite(x) && is_finite(y) && (x & 0x7fffffff) < 0x7e800000 && (y & 0x7fffffff) < 0x7e800000);
  ASSUME((x & 0x7f800000) && (y & 0x7f800000));
  const float down = as_float(x) + as_float(y);
  const float up = -(-as_float(x) - as_float(y));
  const float toward_zero = down < 0 ? up : down;
  uint32_t odd = bits_of(toward_zero);
  ASSUME((odd & 0x7f800000) != 0);
  return d == (odd | (down != up));
}

/* ---- T-FDPA ---- */

/* c truncated at F bits below emax, as smma_align does. */
LEMMA(t_fdpa_term_of_c)(uint32_t c, int32_t emax, uint8_t bits) {
  const smma_number x = smma_decode(f32(), c);
  ASSUME((bits == NARROW_BITS || (bits >= 23 && bits <= 25)) && x.kind == SMMA_FINITE && x.exponent <= emax &&
         emax < 1000);
  return t_fdpa_term_of_c(bits, vf_set(as_float(c)), vi_set(emax))[0] == smma_align(x, emax, bits);
}

/* The sum of the terms rounds as smma_encode rounds the exact sum to `output`, whose bits the constants retain; if
   `great`, also a sum of 33 bits. */
static inline bool t_fdpa_finishes(smma_encoding output, t_fdpa_constants t, bool great, int32_t sum, int32_t rest,
                                   int32_t emax, uint32_t c) {
  const smma_number x = smma_decode(f32(), c);
  ASSUME(x.kind <= SMMA_FINITE && emax >= -133 && emax < 300 && (x.kind == SMMA_ZERO || x.exponent <= emax));
  const int64_t of_c = smma_align(x, emax, t.alignment_bits), others = rest + of_c, total = sum + others;
  ASSUME(others == (int32_t)others && (great || total == (int32_t)total));
  const uint32_t d = bits_of(t_fdpa_finish(&t, great, vi_set(sum), vi_set(rest), vi_set(emax), vf_set(as_float(c)))[0]);
  const uint64_t code = smma_encode_sum(output, total, emax - t.alignment_bits, SMMA_ROUND_TOWARD_ZERO);
  const uint64_t exact = code << (32 - output.bits);
  return d == (exact == 0x80000000 ? 0 : exact);
}

static const t_fdpa_constants wide = {.length = 32, .alignment_bits = 25, .zero_exponent = -133, .retained = -1};
static const t_fdpa_constants narrow = {
    .length = 32, .alignment_bits = NARROW_BITS, .zero_exponent = -133, .retained = NARROW_CUT};

LEMMA_TOWARD_ZERO(t_fdpa_finish)(int32_t sum, int32_t rest, int32_t emax, uint32_t c) {
  return t_fdpa_finishes(f32(), wide, false, sum, rest, emax, c);
}

LEMMA_TOWARD_ZERO(t_fdpa_finish_great)(int32_t sum, int32_t rest, int32_t emax, uint32_t c) {
  return t_fdpa_finishes(f32(), wide, true, sum, rest, emax, c);
}

LEMMA_TOWARD_ZERO(t_fdpa_finish_narrow)(int32_t sum, int32_t rest, int32_t emax, uint32_t c) {
  return t_fdpa_finishes(smma_encoding_of(SMMA_E8M13), narrow, false, sum, rest, emax, c);
}

/* ---- C-FDPA and GD-FDPA ---- */

/* GD-FDPA of BF16: within `visible` no packed number and no product vanishes. */
static inline bool remains_visible(int visible, uint16_t a, uint16_t b, int greatest_a, int greatest_b) {
  const smma_operation o = {.rule = {.algorithm = SMMA_GD_FDPA}, .a = SMMA_BF16, .b = SMMA_BF16};
  const deficit_decoder d = {.fields = vi_set(0x7fff),
                             .largest = vi_set(0x7f7f),
                             .nan = vi_set(-1),
                             .ignored = vi_set(0),
                             .to_float = vi_set(16),
                             .to_sign = vi_set(16),
                             .fraction_bits = vi_set(7),
                             .as_binary32 = true};
  const int32_t of_a[LANES] = {greatest_a, greatest_a, greatest_a, greatest_a};
  const int32_t of_b[LANES] = {greatest_b, greatest_b, greatest_b, greatest_b};
  const int field_a = a >> 7 & 255, field_b = b >> 7 & 255;
  ASSUME((a & 0x7fff) && (b & 0x7fff) && field_a < 255 && field_b < 255);
  ASSUME(greatest_a >= (field_a ? field_a : 1) && greatest_a < 255 && greatest_b >= (field_b ? field_b : 1) &&
         greatest_b < 255);
  const deficit_number x = deficit_decode(&d, true, false, true, vi_set(a), NULL, deficit_origin_of(&d, true, of_a));
  const deficit_number y = deficit_decode(&d, true, false, true, vi_set(b), NULL, deficit_origin_of(&d, true, of_b));
  const float row = x.value[0] * smma_power_of_two(24 - deficit_top(&o)), column = y.value[0];
  const int bases = greatest_a - 127 + greatest_b - 127;
  ASSUME(bases >= TR_LEAST_BASE && bases <= TR_GREATEST_BASE);
  ASSUME(x.twice[0] + y.twice[0] <= visible);
  return row != 0 && column != 0 && row * column != 0;
}

LEMMA(visible)(uint16_t a, uint16_t b, uint8_t greatest_a, uint8_t greatest_b) {
  return remains_visible(DEFICIT_VISIBLE, a, b, greatest_a, greatest_b);
}

/* C-FDPA: numbers whose deficits are certain include no subnormals. */
LEMMA(certain_is_normal)(uint8_t field, uint8_t greatest) {
  ASSUME(greatest < 255 && field <= greatest && greatest >= 1);
  ASSUME(greatest - 127 >= C_FDPA_LEAST_NORMAL_BASE && 2 * (greatest - (field ? field : 1)) <= DEFICIT_CERTAIN);
  return field != 0;
}

/* ---- Pairs ---- */

/* The range of eight numbers, two in each lane, encloses the finite ones, apart from zeros. */
LEMMA(range)(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t f, uint32_t g, uint32_t h) {
  const float x[8] = {as_float(a), as_float(b), as_float(c), as_float(d),
                      as_float(e), as_float(f), as_float(g), as_float(h)};
  const pairs_range r = pairs_range_of(x, 8);
  const double magnitude = (double)as_float(a & 0x7fffffff);
  ASSUME(is_finite(a) && (a & 0x7fffffff));
  return magnitude <= r.most && magnitude >= r.least;
}

/* ---- E-FDPA ---- */

/* Where no lane is in doubt, every partial sum is a multiple of 2^q below 2^X with X - q <= 52, so binary64 holds it.
 */
LEMMA(e_fdpa_doubt)(uint32_t c, int16_t ea, int16_t eb, int16_t la, int16_t lb) {
  ASSUME(la >= E_FDPA_LEAST && la < E_FDPA_MOST && lb >= E_FDPA_LEAST && lb < E_FDPA_MOST && ea < 128 && eb < 128);
  ASSUME(ea >= la && eb >= lb && is_finite(c) && (c & 0x7fffffff) >= 0x00800000);
  const int raised_a = la + E_FDPA_RAISE, raised_b = lb + E_FDPA_RAISE;
  const int limit = (smma_minimum(raised_a, E_FDPA_MOST) + smma_minimum(raised_b, E_FDPA_MOST)) * (1 << 23);
  const int t = ea + eb + 2 + E_FDPA_RUN_LOG2, top = t + 126;
  const vi doubt = e_fdpa_doubt(vf_set(as_float(c)), (top > 255 ? 255 : top < 0 ? 0 : top) << 23, vi_set(limit));
  const int ec = (int)(c >> 23 & 255) - 127;
  const int most = smma_maximum(ec + 1, t) + 1, least = smma_minimum(la + lb, ec - 23);
  return doubt[0] < 0 || most - least <= 52;
}

/* ---- Pairs and FTZ ---- */

static inline bool same_f32(float x, float y) { return bits_of(x) == bits_of(y); }

static inline double as_double(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Binary64 rounds sums of FP32 numbers so finely that rounding again gives FP32's sum. The numbers are arguments in
   both formats, because clang knows this lemma. */
LEMMA(double_rounding)(uint32_t x, uint32_t y, uint64_t wide_x, uint64_t wide_y) {
  ASSUME(is_finite(x) && is_finite(y));
  ASSUME((double)as_float(x) == as_double(wide_x) && (double)as_float(y) == as_double(wide_y));
  const float sum = as_float(x) + as_float(y);
  return sum == 0 || same_f32((float)(as_double(wide_x) + as_double(wide_y)), sum);
}

/* Products of BF16 are exact in FP32 between 2^-126 and 2^127. */
LEMMA(bf16_product)(uint16_t x, uint16_t y) {
  const float a = as_float((uint32_t)x << 16), b = as_float((uint32_t)y << 16), p = a * b;
  ASSUME(p >= 0x1p-126f && p < 0x1p127f);
  return (double)p == (double)a * (double)b;
}

LEMMA(ftz_product)(uint16_t x, uint16_t y) {
  const uint32_t a = (uint32_t)x << 16, b = (uint32_t)y << 16;
  const smma_number m = smma_decode(f32(), a), n = smma_decode(f32(), b);
  ASSUME(m.kind <= SMMA_FINITE && n.kind <= SMMA_FINITE && !smma_is_subnormal(m) && !smma_is_subnormal(n));
  ASSUME(m.kind == SMMA_FINITE && n.kind == SMMA_FINITE);
  return bits_of(vf_flush(vf_multiply(vf_set(as_float(a)), vf_set(as_float(b))))[0]) == smma_ftz_multiply(m, n);
}

/* ---- INTEGER ---- */

LEMMA(integer_needs_care)(int32_t x, int32_t step, uint16_t products) {
  int32_t d[INTEGER_SUMS * LANES] = {x};
  ASSUME(products <= 1024 && step >= -((int32_t)products << 16) && step <= (int32_t)products << 16);
  const int64_t sum = (int64_t)x + step;
  return integer_needs_care(d, products) || sum == (int32_t)sum;
}

LEMMA(dot_of_pairs)(int32_t sum, int32_t x, int32_t y) {
  const int32_t d = vi_dot2(vi_set(sum), vi_set(x), vi_set(y))[0];
  const int32_t low = (int16_t)x * (int16_t)y, high = (x >> 16) * (y >> 16);
  ASSUME((int16_t)x >= -128 && (int16_t)x <= 255 && (int16_t)y >= -128 && (int16_t)y <= 255);
  ASSUME(x >> 16 >= -128 && x >> 16 <= 255 && y >> 16 >= -128 && y >> 16 <= 255);
  return (uint32_t)d == (uint32_t)sum + (uint32_t)low + (uint32_t)high;
}
