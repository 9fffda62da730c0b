/* Lemmas that are computed for all their arguments, or are arithmetic on constants. Prints a line for each. */
#include <stdio.h>
#include <stdlib.h>

#include "gemm/family/gst_fdpa.h"
#include "gemm/family/integer.h"
#include "gemm/family/slices.h"
#include "gemm/family/t_fdpa_narrow.h"
#include "isa/key.h"
#include "lemma.h"

/* A product of two 11-bit significands is exact in binary32, and adding to its exponent field and converting gives
   the term that is truncated at F bits below emax, however far below emax the product is. */
EXHAUSTIVE(t_fdpa_term) {
  const int bits = 25;
  for (int deficit = 0; deficit <= DEFICIT_MOST; deficit++)
    for (int a = 0; a < 2048; a++)
      for (int b = a; b < 2048; b++) {
        const vf x = vf_set((float)a * 0x1p-10f * smma_power_of_two(bits - T_FDPA_HEADROOM - deficit));
        const vf p = vf_multiply(x, vf_set((float)b * 0x1p-10f));
        const int32_t term = vf_truncate(vi_as_float(vi_add(vf_bits(p), vi_set(T_FDPA_HEADROOM << 23))))[0];
        const int shift = 20 - bits + deficit;
        if (term != (shift < 0 ? (int64_t)a * b << -shift : (int64_t)a * b >> shift)) return false;
      }
  return true;
}

/* F = 13: significands of FP8, as integers of 16 bits, shifted by their deficit. */
EXHAUSTIVE(t_fdpa_narrow_term) {
  for (int fraction = 2; fraction <= 3; fraction++)
    for (int a = 0; a < 2 << fraction; a++)
      for (int b = 0; b < 2 << fraction; b++)
        for (int deficit = 0; deficit < 70; deficit++) {
          const int up = NARROW_BITS - 2 * fraction;
          const vi product = vh_multiply(vi_set(a << up), vi_set(b));
          const int term = vh_shift_right_by(product, vi_set(deficit))[0] & 0xffff;
          if (a * b << up >= 1 << 15 || term != (deficit < 32 ? (a * b << up) >> deficit : 0)) return false;
        }
  return true;
}

/* A sum of two bytes is certain exactly if neither is a zero's nor a saturated deficit's, and fits in a byte. */
EXHAUSTIVE(certain_bytes) {
  for (int x = 0; x <= DEFICIT_MOST + 1; x++)
    for (int y = 0; y <= DEFICIT_MOST + 1; y++) {
      const bool zero = x > DEFICIT_MOST || y > DEFICIT_MOST, saturated = x == DEFICIT_MOST || y == DEFICIT_MOST;
      const int sum = (x > DEFICIT_MOST ? DEFICIT_ZERO : 2 * x) + (y > DEFICIT_MOST ? DEFICIT_ZERO : 2 * y);
      if (sum > 255 || ((zero || saturated) && sum <= DEFICIT_CERTAIN)) return false;
    }
  return true;
}

/* Terms of 16 products of 4-bit significands, or of 8 products, and that of c add up in 32 bits. */
EXHAUSTIVE(t_fdpa_sums) {
  const int64_t one = (int64_t)1 << 25, half = T_FDPA_HALF * 15 * 15 * (one >> 6), few = T_FDPA_NEVER_GREAT * 4 * one;
  return half < INT32_MAX && few + 2 * one < INT32_MAX;
}

/* Even runs of GST-FDPA: steps of 64 products of at most 144 quarters, times weights of 15 bits, and a low c. */
EXHAUSTIVE(gst_even_runs) {
  const int64_t weight = smma_maximum(1 << gst_even_spread(0), 15 * 15 << gst_even_spread(3));
  const int64_t sum = (int64_t)GST_EVEN_STEPS * GST_K * 12 * 12 * weight;
  return weight < 1 << 15 && sum + GST_EVEN_C < (int64_t)1 << 31;
}

/* A run of clamped integers: no more products than integer_needs_care can count. */
EXHAUSTIVE(integer_runs) {
  const int64_t products =
      SMMA_DEPTH > SMMA_LEAST_STEPS * SMMA_MAXIMUM_K ? SMMA_DEPTH : SMMA_LEAST_STEPS * SMMA_MAXIMUM_K;
  return products <= 1024 && products << 16 < INT32_MAX;
}

static int most_of(smma_algorithm algorithm, const char *name) {
  return smma_find_key(algorithm, name, strlen(name))->most;
}

static int step_limit(const char *name) { return smma_find_step_key(name, strlen(name))->most; }

/* `count` terms below 2^bits have a sum of at most 2^limit. */
static bool fits(int64_t count, int bits, int limit) { return bits < 57 && count <= (int64_t)1 << (limit - bits); }

/* The sums of all algorithms fit, with the greatest parameters of custom units. */
EXHAUSTIVE(widths_of_sums) {
  const int t = most_of(SMMA_T_FDPA, "alignment_bits"), t_block = most_of(SMMA_T_FDPA, "block");
  const int tr = most_of(SMMA_TR_FDPA, "alignment_bits"), tr_sum = most_of(SMMA_TR_FDPA, "sum_bits");
  const int c = most_of(SMMA_C_FDPA, "alignment_bits"), c_bits = most_of(SMMA_C_FDPA, "c_bits");
  const int gst = most_of(SMMA_GST_FDPA, "alignment_bits"), k = most_of(SMMA_GST_FDPA, "k");
  const int g = most_of(SMMA_KEYS_OF_G_FDPA, "alignment_bits"), g_block = most_of(SMMA_KEYS_OF_G_FDPA, "block");
  const int64_t gst_most = (int64_t)k * 36 * 225 / 64 + 2; /* values of E2M1 products, of scales, and c */
  return fits(t_block + 1, t + 4, 62) && fits(g_block + 1, g + 5, 62) && gst_most < (int64_t)1 << (62 - gst) &&
         fits(most_of(SMMA_TR_FDPA, "block"), tr + 2, 38) && fits(2, tr_sum + 1 + 2 + 6, 50) &&
         fits(most_of(SMMA_C_FDPA, "block"), c + 3, 50) && fits(2, c_bits + 2, 50);
}

/* The exact accumulator has limbs for the last bit of every product of two F64 numbers, for the greatest such product,
   and for terms that are rounded to the greatest reference exponent of a composition. An addition uses three limbs from
   that of its exponent on, and reading the sum one more. Products with scale factors have the range of F32. */
EXHAUSTIVE(wide_range) {
  const smma_encoding f = smma_encoding_of(SMMA_F64), f32 = smma_encoding_of(SMMA_F32),
                      scale = smma_encoding_of(SMMA_UE8M0);
  const int least = 2 * (smma_minimum_exponent(f) - f.fraction_bits);
  const int scaled = 2 * (smma_minimum_exponent(f32) - f32.fraction_bits + smma_minimum_exponent(scale));
  const int high_word = 2 * (1023 - f.fraction_bits) + 64;
  const int reference = smma_maximum(
      step_limit("reference"),
      smma_maximum(step_limit("least_exponent"), step_limit("zero_exponent") + step_limit("exponent_offset")));
  const int limb = (smma_maximum(high_word, reference) - SMMA_WIDE_LEAST) / 32;
  return least >= SMMA_WIDE_LEAST && scaled >= SMMA_WIDE_LEAST && limb + 3 < SMMA_WIDE_LIMBS &&
         (2112 - SMMA_WIDE_LEAST) / 32 + 3 < SMMA_WIDE_LIMBS;
}

/* One fused multiply-add rounds a product of slices to nearest, ties away from zero: any slices, any distance of the
   product's exponent below that of the group, on either side of zero, at either end of a sum. */
EXHAUSTIVE(slices_product) {
  const vf start = vi_as_float(vi_add(vf_bits(vf_set(1)), vi_set(SLICES_START)));
  for (int sum = -30000; sum <= 30000; sum += 30000)
    for (int a = -127; a < 128; a++)
      for (int b = 0; b < 32; b++)
        for (int s = 0; s < 40; s++) {
          const vf x = vf_set((float)slices_raised(vi_set(a))[0] * 0x1p-23f),
                   y = vf_set((float)b * smma_power_of_two(-s));
          const vf before = vf_add(start, vf_set((float)sum * 0x1p-10f));
          const int term = vf_bits(vf_fma(x, y, before))[0] - vf_bits(before)[0];
          const int magnitude = s > 20 ? 0 : ((abs(a) * b << 1 >> s) + 1) >> 1;
          if (term != (a < 0 ? -magnitude : magnitude)) return false;
        }
  return true;
}

/* A sum of eight terms is rounded to nearest, ties up, at any distance of its exponent below the greatest. */
EXHAUSTIVE(slices_sum) {
  for (int sum = -32767; sum < 32768; sum++)
    for (int s = 0; s < 40; s++) {
      const vf x = vf_set((float)sum * smma_power_of_two(SLICES_SUM - SLICES_TERM - s));
      const int64_t units = (int64_t)sum << (SLICES_SUM - SLICES_TERM);
      if (slices_nearest_up(x)[0] != ((units << 1 >> s) + 1) >> 1) return false;
    }
  return true;
}

/* The total of two sums and an accumulator is rounded to 24 bits, ties away from zero. */
EXHAUSTIVE(slices_total) {
  for (int32_t total = 0; total < 1 << 30; total++) {
    const int cut = smma_maximum(smma_bit_length((uint64_t)total) - 24, 0);
    const double rounded = (double)(((((int64_t)total << 1 >> cut) + 1) >> 1) << cut);
    if ((double)slices_round_away(vi_set(total))[0] != rounded) return false;
    if ((double)slices_round_away(vi_set(-total))[0] != -rounded) return false;
  }
  return true;
}

#define RUN(name) printf("%s %d\n", #name, exhaustive_##name()), fflush(stdout)

int main(void) {
  RUN(t_fdpa_term);
  RUN(t_fdpa_narrow_term);
  RUN(certain_bytes);
  RUN(t_fdpa_sums);
  RUN(gst_even_runs);
  RUN(integer_runs);
  RUN(slices_product);
  RUN(slices_sum);
  RUN(slices_total);
  RUN(widths_of_sums);
  RUN(wide_range);
  return 0;
}
