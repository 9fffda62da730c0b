#include "rows/place.h"

#include "core/rounding.h"

static int trailing_zeros(uint64_t x) { return x ? __builtin_ctzll(x) : 0; }

smma_dyadic smma_dyadic_of(int64_t significand, int exponent) {
  const int zeros = trailing_zeros((uint64_t)significand);
  if (significand == 0) return (smma_dyadic){.significand = 0};
  return (smma_dyadic){.significand = significand / ((int64_t)1 << zeros), .exponent = exponent + zeros};
}

bool smma_is_exactly(smma_dyadic x, int64_t significand, int exponent) {
  const smma_dyadic y = smma_dyadic_of(significand, exponent);
  return x.kind == SMMA_IS_DYADIC && x.significand == y.significand && x.exponent == y.exponent;
}

bool smma_in_units(smma_dyadic x, int exponent, int64_t *units) {
  const int shift = x.exponent - exponent;
  *units = 0;
  if (x.kind != SMMA_IS_DYADIC) return false;
  if (x.significand == 0) return true;
  if (shift < 0 || shift > 61 || smma_bit_length(smma_magnitude(x.significand)) + shift > 62) return false;
  *units = x.significand * ((int64_t)1 << shift);
  return true;
}

/* ---- Placing ---- */

/* Encodes significand * 2^exponent if the format has this value; unless `subnormal`, only as a normal number. */
static bool encode(smma_format format, int64_t significand, int exponent, bool subnormal, uint64_t *encoding) {
  const smma_encoding f = smma_encoding_of(format);
  smma_number back;
  *encoding = smma_encode(f, significand < 0, smma_magnitude(significand), exponent, false, SMMA_ROUND_TOWARD_ZERO,
                          SMMA_OVERFLOW_SATURATE);
  back = smma_decode(f, *encoding);
  if (back.kind != SMMA_FINITE) return false;
  if (!subnormal && f.exponent_bits && f.fraction_bits && !(back.significand >> f.fraction_bits)) return false;
  return smma_is_exactly(smma_dyadic_of((int64_t)back.significand, back.exponent - back.fraction_bits),
                         (int64_t)smma_magnitude(significand), exponent);
}

bool smma_place_subnormal_c_in(const smma_instruction *i, smma_row *row, int64_t significand, int exponent) {
  return encode(i->c, significand, exponent, true, &row->c);
}

/* Divides the exponent between a and b as evenly as their formats allow. a gets the sign, or b if a is unsigned. */
bool smma_place_product_in(const smma_instruction *i, smma_row *row, int k, int64_t significand_a,
                           int64_t significand_b, int exponent) {
  const smma_encoding b = smma_encoding_of(i->b);
  const int64_t sign_of_b = significand_a < 0 && !smma_encoding_of(i->a).sign_bits ? -1 : 1;
  const int reach = (1 << b.exponent_bits) + (exponent < 0 ? -exponent : exponent);
  for (int step = 0; step <= reach; step++)
    for (int sign = -1; sign <= 1; sign += 2) {
      const int of_b = exponent / 2 + sign * step;
      if (encode(i->b, sign_of_b * significand_b, of_b, false, &row->b[k]) &&
          encode(i->a, sign_of_b * significand_a, exponent - of_b, false, &row->a[k]))
        return true;
    }
  return false;
}

bool smma_place_in(const smma_instruction *i, smma_row *row, int index, int64_t significand, int exponent) {
  if (index == i->k) return encode(i->c, significand, exponent, false, &row->c);
  return smma_place_product_in(i, row, index, significand, 1, exponent);
}

smma_row smma_zero_row(const smma_instruction *i) {
  const int scales = smma_scale_count(i->k, i->scale_block);
  smma_row row = {.c = 0};
  for (int j = 0; j < scales; j++) {
    encode(i->scale, 1, 0, false, &row.scale_a[j]);
    row.scale_b[j] = row.scale_a[j];
  }
  return row;
}

/* ---- Ranges ---- */

smma_range smma_range_of_format(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const smma_number greatest = smma_decode(f, smma_largest_fields(f) << f.ignored_bits);
  const int least = smma_minimum_exponent(f);
  if (smma_is_fixed_point(format)) return (smma_range){.least = least - f.fraction_bits, .greatest = least - 1};
  return (smma_range){.least = least, .greatest = greatest.exponent};
}

smma_range smma_summand_range(const smma_instruction *i, int index) {
  const smma_range a = smma_range_of_format(i->a), b = smma_range_of_format(i->b);
  if (index == i->k) return smma_range_of_format(i->c);
  return (smma_range){.least = a.least + b.least, .greatest = a.greatest + b.greatest};
}

smma_dyadic smma_result_of(const smma_instruction *i, const smma_row *row) {
  const smma_number d = smma_decode(smma_encoding_of(i->d), row->d);
  if (d.kind > SMMA_FINITE) return (smma_dyadic){.kind = SMMA_NOT_FINITE, .significand = d.negative ? -1 : 1};
  return smma_dyadic_of(d.negative ? -(int64_t)d.significand : (int64_t)d.significand, d.exponent - d.fraction_bits);
}
