#include "tree/summands.h"

#include <math.h>
#include <stdio.h>

#include "isa/format_name.h"

/* Exponents of a format's powers of two. */
typedef struct {
  int least, least_normal, greatest;
} range;

static range range_of(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const int normal = smma_minimum_exponent(f);
  const smma_number largest = smma_decode(f, smma_largest_fields(f) << f.ignored_bits);
  return (range){normal - f.fraction_bits, normal, largest.exponent};
}

/* Of products. */
static range times(range x, range y) {
  return (range){x.least + y.least, x.least_normal + y.least_normal, x.greatest + y.greatest};
}

static range intersection(range x, range y) {
  return (range){smma_maximum(x.least, y.least), smma_maximum(x.least_normal, y.least_normal),
                 x.greatest < y.greatest ? x.greatest : y.greatest};
}

static range product_range(const smma_instruction *i, bool scaled) {
  const range product = times(range_of(i->a), range_of(i->b));
  return scaled ? times(product, times(range_of(i->scale), range_of(i->scale))) : product;
}

/* Bits between M and a one at which M + K ones rounds to M in d's format, and in FP32, which may be within. */
static int necessary_bits(const smma_instruction *i, int count) {
  const int precision = smma_encoding_of(i->d).fraction_bits + 1;
  return smma_maximum(precision, 24) + 1 + smma_bit_length((uint64_t)count);
}

/* Subnormals only where it cannot be done without: units may flush them. */
static bool choose_range(smma_summands *s, range r) {
  const int bits = necessary_bits(s->instruction, s->count);
  s->huge = r.greatest;
  s->one = r.greatest - r.least_normal >= bits ? r.least_normal : r.least;
  return s->huge - s->one >= bits;
}

bool smma_choose_summands(const smma_instruction *i, smma_summands *s, smma_error *why) {
  const range outer = intersection(range_of(i->c), range_of(i->d));
  *s = (smma_summands){.instruction = i, .count = i->k + 1, .products = 1};
  if (smma_is_integer(i->d)) return smma_fail(why, "sums of integers are exact: no rounding shows their order");
  if (choose_range(s, intersection(outer, product_range(i, false)))) return true;
  smma_fail(why, "the products of %s and %s span only %d bits, too few for a rounding to show their order",
            smma_format_text(i->a), smma_format_text(i->b), s->huge - s->one);
  if (!i->scale_block || i->k == i->scale_block) return false;
  s->products = i->scale_block;
  s->count = smma_scale_count(i->k, i->scale_block) + 1;
  return choose_range(s, intersection(outer, product_range(i, true)));
}

static int clamp(int x, int least, int greatest) { return x < least ? least : x > greatest ? greatest : x; }

/* Splits the exponent of a product; both factors are normal if that can be. */
static void split(int exponent, range x, range y, int *of_x, int *of_y) {
  const bool normal = exponent >= x.least_normal + y.least_normal;
  const int least_x = normal ? x.least_normal : x.least, least_y = normal ? y.least_normal : y.least;
  *of_x = clamp(exponent - clamp(exponent / 2, least_y, y.greatest), least_x, x.greatest);
  *of_y = exponent - *of_x;
}

/* The encoding of 2^exponent. */
static uint64_t power(smma_format format, int exponent, bool negative) {
  const smma_number x = {.significand = 1, .exponent = exponent, .kind = SMMA_FINITE, .negative = negative};
  return smma_encode_number(smma_encoding_of(format), x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

static void put_product(const smma_summands *s, int index, int exponent, bool negative, smma_row *row) {
  const smma_instruction *i = s->instruction;
  const range a = range_of(i->a), b = range_of(i->b);
  int of_a, of_b;
  if (s->products > 1) {
    const range scale = range_of(i->scale), scales = times(scale, scale);
    int of_product, of_scales, x, y;
    split(exponent, times(a, b), scales, &of_product, &of_scales);
    split(of_scales, scale, scale, &x, &y);
    row->scale_a[index] = power(i->scale, x, false);
    row->scale_b[index] = power(i->scale, y, false);
    exponent = of_product;
  }
  split(exponent, a, b, &of_a, &of_b);
  row->a[index * s->products] = power(i->a, of_a, negative);
  row->b[index * s->products] = power(i->b, of_b, false);
}

void smma_put_summands(const smma_summands *s, const smma_summand *what, smma_rows *rows, size_t at) {
  const smma_instruction *i = s->instruction;
  smma_row row = {.c = 0};
  for (int k = 0; k < smma_scale_count(i->k, i->scale_block); k++)
    row.scale_a[k] = row.scale_b[k] = power(i->scale, 0, false);
  for (int n = 0; n < s->count; n++) {
    const int exponent = what[n] == SMMA_SUMMAND_ONE ? s->one : s->huge;
    const bool negative = what[n] == SMMA_SUMMAND_ONE ? s->negative_ones : what[n] == SMMA_SUMMAND_MINUS_HUGE;
    if (what[n] == SMMA_SUMMAND_ZERO) continue;
    if (n == s->count - 1)
      row.c = power(i->c, exponent, negative);
    else
      put_product(s, n, exponent, negative, &row);
  }
  smma_rows_put(rows, at, &row);
}

int smma_count_ones(const smma_summands *s, uint64_t d) {
  const smma_number x = smma_decode(smma_encoding_of(s->instruction->d), d);
  const double ones = ldexp((double)x.significand, x.exponent - x.fraction_bits - s->one);
  if (x.kind == SMMA_ZERO) return 0;
  if (x.kind != SMMA_FINITE || x.negative != s->negative_ones || ones > s->count || ones != floor(ones)) return -1;
  return (int)ones;
}

const char *smma_summand_name(const smma_summands *s, int index, char text[32]) {
  const int k = index * s->products;
  if (index == s->count - 1)
    snprintf(text, 32, "c");
  else if (s->products == 1)
    snprintf(text, 32, "k = %d", k);
  else
    snprintf(text, 32, "k = %d..%d", k, k + s->products - 1);
  return text;
}
