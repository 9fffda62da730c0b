#include "tree/summands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "isa/format_name.h"
#include "rows/place.h"

/* Fraction bits of the narrowest internal rounding of FP32 sums in a unit. */
enum { LEAST_FRACTION_BITS = 10 };

/* If there are more ones, a text has their number instead of their names. */
enum { MOST_NAMES = 3 };

/* The range of exponents of a format's powers of two: the least, the least of normal numbers, and the greatest. */
typedef struct {
  int least, least_normal, greatest;
} range;

static range range_of(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const int normal = smma_minimum_exponent(f);
  const smma_number largest = smma_decode(f, smma_largest_fields(f) << f.ignored_bits);
  if (smma_is_fixed_point(format)) return (range){normal - f.fraction_bits, normal - f.fraction_bits, normal - 1};
  return (range){normal - f.fraction_bits, normal, largest.exponent};
}

/* Returns the range of products of a factor with range x and one with range y. */
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

/* Returns the bits that suffice for M plus ones to round to M in d's format and in FP32, because the unit may use FP32
   internally. */
int smma_necessary_bits(const smma_summands *s) {
  const int precision = smma_encoding_of(s->instruction->d).fraction_bits + 1;
  return smma_maximum(precision, 24) + 1 + smma_bit_length((uint64_t)s->count);
}

/* Sets s->huge and s->one to the farthest exponents in range r. Uses subnormals only if necessary, because units may
   flush them. Returns whether M and ones are far enough from each other. */
static bool choose_range(smma_summands *s, range r) {
  const int bits = smma_necessary_bits(s);
  s->huge = r.greatest;
  s->one = r.greatest - r.least_normal >= bits ? r.least_normal : r.least;
  return s->huge - s->one >= bits;
}

bool smma_choose_summands(const smma_instruction *i, smma_summands *s, smma_error *why) {
  const range outer = intersection(range_of(i->c), range_of(i->d));
  *s = (smma_summands){.instruction = i, .count = i->k + 1, .products = 1};
  if (smma_is_integer(i->d)) return smma_fail(why, "sums of integers are exact, so no rounding shows their order");
  if (!smma_encoding_of(i->a).sign_bits && !smma_encoding_of(i->b).sign_bits)
    return smma_fail(why, "products of %s and %s have no sign: none cancels another", smma_format_text(i->a),
                     smma_format_text(i->b));
  if (choose_range(s, intersection(outer, product_range(i, false)))) return true;
  smma_fail(why, "the products of %s and %s span only %d bits, too few for a rounding to show their order",
            smma_format_text(i->a), smma_format_text(i->b), s->huge - s->one);
  if (!i->scale_block || i->k == i->scale_block) return false;
  s->products = i->scale_block;
  s->count = smma_scale_count(i->k, i->scale_block) + 1;
  return choose_range(s, intersection(outer, product_range(i, true)));
}

static int clamp(int x, int least, int greatest) { return x < least ? least : x > greatest ? greatest : x; }

/* Splits the exponent of a product into those of factors x and y: y gets half of it plus `lean`, as far as the ranges
   allow. Both factors are normal if possible. */
static void split(int exponent, int lean, range x, range y, int *of_x, int *of_y) {
  const bool normal = exponent >= x.least_normal + y.least_normal;
  const int least_x = normal ? x.least_normal : x.least, least_y = normal ? y.least_normal : y.least;
  *of_x = clamp(exponent - clamp(exponent / 2 + lean, least_y, y.greatest), least_x, x.greatest);
  *of_y = exponent - *of_x;
}

/* Returns the encoding of 2^exponent times a significand with `fraction_bits` bits after the binary point. */
static uint64_t encoded(smma_format format, uint64_t significand, int fraction_bits, int exponent, bool negative) {
  const smma_number x = {.significand = significand,
                         .exponent = exponent,
                         .fraction_bits = fraction_bits,
                         .kind = SMMA_FINITE,
                         .negative = negative};
  return smma_encode_number(smma_encoding_of(format), x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

static uint64_t power(smma_format format, int exponent, bool negative) {
  return encoded(format, 1, 0, exponent, negative);
}

static uint64_t put_c(const smma_instruction *i, int exponent, bool negative, bool odd) {
  const int places = smma_encoding_of(i->d).fraction_bits;
  return odd ? encoded(i->c, (UINT64_C(1) << places) + 1, places, exponent, negative) : power(i->c, exponent, negative);
}

void smma_split_product(const smma_instruction *i, int exponent, int lean, bool negative, uint64_t *a, uint64_t *b) {
  const bool a_has_sign = smma_encoding_of(i->a).sign_bits;
  int of_a, of_b;
  split(exponent, lean, range_of(i->a), range_of(i->b), &of_a, &of_b);
  *a = power(i->a, of_a, negative && a_has_sign);
  *b = power(i->b, of_b, negative && !a_has_sign);
}

static void put_product(const smma_summands *s, const smma_tree_question *q, int index, int exponent, bool negative,
                        smma_row *row) {
  const smma_instruction *i = s->instruction;
  const int k = index * s->products + q->product[index], lean = q->lean[index];
  if (s->products > 1) {
    const range scale = range_of(i->scale), scales = times(scale, scale);
    int of_product, of_scales, x, y;
    split(exponent, lean, product_range(i, false), scales, &of_product, &of_scales);
    split(of_scales, 0, scale, scale, &x, &y);
    row->scale_a[index] = power(i->scale, x, false);
    row->scale_b[index] = power(i->scale, y, false);
    exponent = of_product;
  }
  smma_split_product(i, exponent, lean, negative, &row->a[k], &row->b[k]);
}

smma_tree_question smma_pair_question(const smma_summands *s, int plus, int minus, smma_summand others) {
  smma_tree_question q = {.what = {SMMA_SUMMAND_ZERO}};
  for (int n = 0; n < s->count; n++) q.what[n] = others;
  q.what[plus] = SMMA_SUMMAND_HUGE;
  q.what[minus] = SMMA_SUMMAND_MINUS_HUGE;
  return q;
}

void smma_put_summands(const smma_summands *s, const smma_tree_question *q, smma_rows *rows, size_t at) {
  const smma_instruction *i = s->instruction;
  smma_row row = smma_zero_row(i);
  for (int n = 0; n < s->count; n++) {
    const int exponent = (q->what[n] == SMMA_SUMMAND_ONE ? s->one : s->huge) - q->smaller[n];
    const bool negative = q->what[n] == SMMA_SUMMAND_ONE ? s->negative_ones : q->what[n] == SMMA_SUMMAND_MINUS_HUGE;
    if (q->what[n] == SMMA_SUMMAND_ZERO) continue;
    if (n == s->count - 1)
      row.c = put_c(i, exponent, negative, q->odd_c);
    else
      put_product(s, q, n, exponent, negative, &row);
  }
  smma_rows_put(rows, at, &row);
}

int smma_greatest_one(const smma_summands *s) {
  const int lost = s->huge - smma_necessary_bits(s);
  return s->left ? smma_minimum(lost, s->huge - s->left - smma_bit_length((uint64_t)s->count)) : lost;
}

/* Counts the ones in d in the case that M and -M leave a remainder. All ones have the same sign, and their sum is less
   than a unit of the remainder. */
static int count_ones_with_remainder(const smma_summands *s, smma_number x) {
  const double units = ldexp(1, s->huge - s->left - s->one);
  const double ones = ldexp((double)x.significand, x.exponent - x.fraction_bits - s->one);
  double rest = fmod(x.negative == s->negative_ones ? ones : -ones, units);
  if (rest < 0) rest += units;
  return x.kind != SMMA_FINITE || rest > s->count || rest != floor(rest) ? -1 : (int)rest;
}

int smma_count_ones(const smma_summands *s, uint64_t d) {
  const smma_number x = smma_decode(smma_encoding_of(s->instruction->d), d);
  const double ones = ldexp((double)x.significand, x.exponent - x.fraction_bits - s->one);
  if (x.kind == SMMA_ZERO) return 0;
  if (s->left) return count_ones_with_remainder(s, x);
  if (x.kind != SMMA_FINITE || x.negative != s->negative_ones || ones > s->count || ones != floor(ones)) return -1;
  return (int)ones;
}

bool smma_is_huge(const smma_summands *s, uint64_t d, bool negative) {
  const smma_encoding f = smma_encoding_of(s->instruction->d);
  const smma_number x = smma_decode(f, d);
  const double units = ldexp((double)x.significand, x.exponent - x.fraction_bits - s->huge);
  const int bits = f.fraction_bits < LEAST_FRACTION_BITS ? f.fraction_bits : LEAST_FRACTION_BITS;
  return x.kind == SMMA_FINITE && x.negative == negative && fabs(units - 1) <= ldexp(1, -bits);
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

/* Appends a text such as ", 2^30 at c" for each summand with the value `what`. If there are more than MOST_NAMES ones,
   appends their number instead. */
static void append_summands(const smma_summands *s, const smma_tree_question *q, smma_summand what, char text[256]) {
  const bool negative = what == SMMA_SUMMAND_ONE ? s->negative_ones : what == SMMA_SUMMAND_MINUS_HUGE;
  const int exponent = what == SMMA_SUMMAND_ONE ? s->one : s->huge;
  char name[32];
  int count = 0;
  for (int n = 0; n < s->count; n++) count += q->what[n] == what;
  for (int n = 0; n < s->count && count > 0; n++) {
    const size_t used = strlen(text);
    const bool many = what == SMMA_SUMMAND_ONE && count > MOST_NAMES;
    if (!many && q->what[n] != what) continue;
    snprintf(text + used, 256 - used, "%s%s2^%d at ", used ? ", " : "", negative ? "-" : "", exponent);
    if (many) {
      snprintf(text + strlen(text), 256 - strlen(text), "%d others", count);
      return;
    }
    snprintf(text + strlen(text), 256 - strlen(text), "%s", smma_summand_name(s, n, name));
  }
}

const char *smma_question_text(const smma_summands *s, const smma_tree_question *q, char text[256]) {
  text[0] = 0;
  append_summands(s, q, SMMA_SUMMAND_HUGE, text);
  append_summands(s, q, SMMA_SUMMAND_MINUS_HUGE, text);
  append_summands(s, q, SMMA_SUMMAND_ONE, text);
  return text;
}
