#include "fixed_model.h"

#include <stdlib.h>

/* ---- Values ---- */

/* Returns 2^e, or 0 if 2^e is less than the unit of fixed-point values, because all values are multiples of the
   unit. */
static fixed power(int e) {
  if (e < -FIXED_UNIT) return 0;
  if (e > 126 - FIXED_UNIT) abort();
  return (fixed)1 << (e + FIXED_UNIT);
}

static fixed scaled(int64_t significand, int last) {
  if (significand == 0) return 0;
  if (last < -FIXED_UNIT) abort();
  return significand * power(last);
}

static fixed magnitude(fixed x) { return x < 0 ? -x : x; }

/* Returns floor(log2 |x|) of a nonzero value. */
static int exponent_of(fixed x) {
  __extension__ unsigned __int128 rest = (unsigned __int128)magnitude(x);
  const uint64_t high = (uint64_t)(rest >> 64), low = (uint64_t)rest;
  return (high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low)) - FIXED_UNIT;
}

/* Returns the largest multiple of 2^at that is not above x. */
static fixed rounded_down(fixed x, int at) {
  const fixed unit = power(at);
  return unit ? x & ~(unit - 1) : x;
}

/* Rounds x to a multiple of 2^at. */
static fixed rounded(fixed x, int at, smma_rounding direction) {
  const fixed unit = power(at), low = rounded_down(x, at), twice = 2 * (x - low);
  const bool odd = unit && (low & unit);
  bool up = false;
  if (low == x) return x;
  switch (direction) {
    case SMMA_ROUND_NEAREST_EVEN: up = twice > unit || (twice == unit && odd); break;
    case SMMA_ROUND_NEAREST_AWAY: up = twice > unit || (twice == unit && x > 0); break;
    case SMMA_ROUND_NEAREST_ZERO: up = twice > unit || (twice == unit && x < 0); break;
    case SMMA_ROUND_NEAREST_UP: up = twice >= unit; break;
    case SMMA_ROUND_NEAREST_DOWN: up = twice > unit; break;
    case SMMA_ROUND_TOWARD_ZERO: up = x < 0; break;
    case SMMA_ROUND_UP: up = true; break;
    case SMMA_ROUND_DOWN: break;
    case SMMA_ROUND_TO_ODD: up = !odd; break;
  }
  return up ? low + unit : low;
}

static bool is_nearest(smma_rounding direction) {
  return direction == SMMA_ROUND_NEAREST_EVEN || direction == SMMA_ROUND_NEAREST_AWAY ||
         direction == SMMA_ROUND_NEAREST_ZERO || direction == SMMA_ROUND_NEAREST_UP ||
         direction == SMMA_ROUND_NEAREST_DOWN;
}

/* ---- Formats ---- */

fixed fixed_value(const fixed_number *x) { return scaled(x->significand, x->last); }

fixed_number fixed_decode(const fixed_format *f, uint64_t code) {
  const layout *l = &f->fields;
  const uint64_t fields = code >> l->low_bits, fraction = fields & ((UINT64_C(1) << l->fraction_bits) - 1);
  const uint64_t exponent = fields >> l->fraction_bits & ((UINT64_C(1) << l->exponent_bits) - 1);
  const bool last_exponent = exponent + 1 == UINT64_C(1) << l->exponent_bits;
  const bool last_fraction = fraction + 1 == UINT64_C(1) << l->fraction_bits;
  const uint64_t all = (UINT64_C(1) << (l->exponent_bits + l->fraction_bits)) - 1, magnitude = fields & all;
  fixed_number x = {0, l->least_exponent - l->fraction_bits, l->least_exponent, FINITE, false, code};
  if (l->specials == OF_INTEGERS) {
    const int bits = l->fraction_bits + l->is_signed;
    x.significand = (int64_t)(code & ((UINT64_C(1) << bits) - 1));
    if (l->is_signed && x.significand >> (bits - 1)) x.significand -= INT64_C(1) << bits;
    x.negative = x.significand < 0;
    x.last = x.exponent = 0;
    return x;
  }
  x.negative = l->is_signed && (fields >> l->fraction_bits >> l->exponent_bits & 1);
  x.significand = (int64_t)fraction;
  if (l->specials == OF_POWERS) {
    x.significand = 1;
    x.exponent += (int)exponent;
  } else if (exponent) {
    x.significand += INT64_C(1) << l->fraction_bits;
    x.exponent += (int)exponent - 1;
  }
  x.last = x.exponent - l->fraction_bits;
  if (x.negative) x.significand = -x.significand;
  if (l->specials == OF_GREATEST_EXPONENT && last_exponent) x.class = fraction ? NOT_A_NUMBER : INFINITE;
  if ((l->specials == ALL_ONES || l->specials == OF_POWERS) && last_exponent && last_fraction) x.class = NOT_A_NUMBER;
  if (l->specials == OF_P3109 && magnitude == all - !l->is_signed) x.class = INFINITE;
  if (l->specials == OF_P3109 && !l->is_signed && magnitude == all) x.class = NOT_A_NUMBER;
  if (oracle_has_no_minus_zero(l) && x.negative && exponent == 0 && fraction == 0) x.class = NOT_A_NUMBER;
  return x;
}

static fixed_format format_of(smma_format format, smma_nan_policy nan) {
  fixed_format f = {.fields = oracle_layout(format)};
  f.sign = oracle_sign_bit(format, true);
  f.greatest_code = oracle_greatest(format);
  f.infinity[0] = oracle_infinity(format, false);
  f.infinity[1] = oracle_infinity(format, true);
  f.nan = oracle_nan(format, nan);
  f.quiet_nan = oracle_nan(format, SMMA_NAN_QUIET);
  f.marked_nan = oracle_marked_nan(format);
  if (f.fields.specials != OF_INTEGERS && f.fields.exponent_bits < 7) {
    const fixed_number greatest = fixed_decode(&f, f.greatest_code);
    f.greatest = fixed_value(&greatest);
    f.least = power(f.fields.least_exponent);
  } else {
    f.greatest = power(126 - FIXED_UNIT); /* larger than any value here */
  }
  return f;
}

void fixed_prepare(fixed_model *m) {
  smma_format output = m->o.d;
  m->a = format_of(m->o.a, m->o.rule.nan);
  m->b = format_of(m->o.b, m->o.rule.nan);
  m->c = format_of(m->o.c, m->o.rule.nan);
  m->d = format_of(m->o.d, m->o.rule.nan);
  m->scale = format_of(m->o.scale, m->o.rule.nan);
  m->f32 = format_of(SMMA_F32, m->o.rule.nan);
  switch (m->kind == FIXED_RULE ? m->o.rule.algorithm : SMMA_COMPOSITION) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_FP8_BY_FP16: output = m->o.rule.with.t_fdpa.output; break;
    case SMMA_GST_FDPA: output = m->o.rule.with.gst_fdpa.fused.output; break;
    default: break;
  }
  if (m->kind == FIXED_G_FDPA) output = m->g_fdpa.output;
  m->output = format_of(output, m->o.rule.nan);
}

/* ---- Terms ---- */

typedef struct {
  fixed value;
  int exponent;
  class_of_value class;
  bool negative;  /* also set for zeros and infinities */
  bool brought;   /* the NaN is an operand, not the result of an operation */
  bool cancelled; /* true for a zero that is the sum of nonzero terms; its exponent still takes part in alignment */
} term;

static bool is_zero(const term *t) { return t->class == FINITE && t->value == 0 && !t->cancelled; }

static bool is_zero_number(const fixed_number *x) { return x->class == FINITE && x->significand == 0; }

static term term_of(const fixed_number *x) {
  return (term){
      x->class == FINITE ? fixed_value(x) : 0, x->exponent, x->class, x->negative, x->class == NOT_A_NUMBER, false};
}

static term product_of(const fixed_number *a, const fixed_number *b) {
  term t = {0, a->exponent + b->exponent, FINITE, a->negative != b->negative, false, false};
  if (a->class == NOT_A_NUMBER || b->class == NOT_A_NUMBER) {
    t.class = NOT_A_NUMBER;
    t.brought = true;
  } else if (a->class == INFINITE || b->class == INFINITE) {
    t.class = is_zero_number(a) || is_zero_number(b) ? NOT_A_NUMBER : INFINITE;
  } else {
    t.value = scaled(a->significand * b->significand, a->last + b->last);
  }
  return t;
}

fixed fixed_product(const fixed_number *a, const fixed_number *b) { return product_of(a, b).value; }

/* Multiplies a product by the product of two scale factors. */
static term scaled_term(term t, const fixed_number *x, const fixed_number *y) {
  t.exponent += x->exponent + y->exponent;
  if (x->class == NOT_A_NUMBER || y->class == NOT_A_NUMBER) t.class = NOT_A_NUMBER;
  if (t.class == INFINITE && (is_zero_number(x) || is_zero_number(y))) t.class = NOT_A_NUMBER;
  if (t.class != FINITE) return t;
  const int shift = x->last + y->last;
  t.value *= x->significand * y->significand;
  if (shift < 0 && (t.value & (((fixed)1 << -shift) - 1))) abort(); /* not exact */
  t.value = shift < 0 ? t.value >> -shift : t.value * ((fixed)1 << shift);
  return t;
}

/* Flushes numbers below the smallest normal number of their format, and -0, to zero: to zero of the same sign, or to
   +0. */
static fixed_number flushed(const fixed_format *f, fixed_number x, smma_subnormal_policy policy) {
  if (policy == SMMA_SUBNORMALS_KEPT || x.class != FINITE || f->fields.specials == OF_INTEGERS) return x;
  if (x.significand >> f->fields.fraction_bits > 0 || -x.significand >> f->fields.fraction_bits > 0) return x;
  x.significand = 0;
  x.negative = x.negative && policy == SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  return x;
}

/* ---- Results ---- */

static void lose(fixed_error *e, fixed below, fixed above) {
  e->below += below;
  e->above += above;
}

/* Returns one ulp of a value in a format. */
static fixed ulp(const fixed_format *f, fixed x) {
  const int least = f->fields.least_exponent;
  return power((x && exponent_of(x) > least ? exponent_of(x) : least) - f->fields.fraction_bits);
}

/* Adds the bound on the error of a rounding. To nearest, the error is at most half an ulp of the result in both
   directions. In other rounding modes it is less than one ulp in one direction. */
static void lose_rounding(fixed_error *e, const fixed_format *f, fixed result, smma_rounding direction) {
  const fixed unit = ulp(f, result);
  if (is_nearest(direction))
    lose(e, unit / 2, unit / 2);
  else
    lose(e, direction == SMMA_ROUND_UP ? 0 : unit, direction == SMMA_ROUND_DOWN ? 0 : unit);
}

static uint64_t zero_code(const fixed_format *f, bool negative) {
  return negative && !oracle_has_no_minus_zero(&f->fields) ? f->sign : 0;
}

/* Returns the encoding of a number that is representable in the format. */
static uint64_t code_of(const fixed_format *f, fixed x) {
  const layout *l = &f->fields;
  const int e = exponent_of(x), least = l->least_exponent;
  const int last = (e > least ? e : least) - l->fraction_bits;
  const uint64_t significand = (uint64_t)(magnitude(x) >> (last + FIXED_UNIT));
  return (x < 0 ? f->sign : 0) | (significand + ((uint64_t)(e > least ? e - least : 0) << l->fraction_bits))
                                     << l->low_bits;
}

static bool stops_at_greatest(smma_sum_overflow overflow, smma_rounding direction, bool negative) {
  if (overflow != SMMA_SUM_BY_DIRECTION) return overflow == SMMA_SUM_SATURATES;
  return direction == SMMA_ROUND_TOWARD_ZERO || direction == SMMA_ROUND_TO_ODD ||
         direction == (negative ? SMMA_ROUND_UP : SMMA_ROUND_DOWN);
}

/* Rounds a nonzero x once. A result of zero has the sign of x. */
static uint64_t encoded(const fixed_format *f, fixed x, smma_rounding direction, smma_sum_overflow overflow,
                        fixed_error *e) {
  const int least = f->fields.least_exponent, top = exponent_of(x);
  const fixed y = rounded(x, (top > least ? top : least) - f->fields.fraction_bits, direction);
  lose_rounding(e, f, y, direction);
  if (y == 0) return zero_code(f, x < 0);
  if (magnitude(y) > f->greatest) {
    e->overflows = true;
    return stops_at_greatest(overflow, direction, x < 0) ? (x < 0 ? f->sign : 0) | f->greatest_code
                                                         : f->infinity[x < 0];
  }
  return code_of(f, y);
}

/* Applies the common rules for NaN and infinities. Returns false if there are none. */
static bool special(const term *t, int count, const fixed_format *f, fixed_error *e, uint64_t *d) {
  bool infinite[2] = {false, false}, none = false;
  for (int i = 0; i < count; i++) {
    none |= t[i].class == NOT_A_NUMBER;
    if (t[i].class == INFINITE) infinite[t[i].negative] = true;
  }
  if (!none && !infinite[0] && !infinite[1]) return false;
  none |= infinite[0] && infinite[1];
  *d = none ? f->nan : f->infinity[infinite[1]];
  e->special = true;
  e->nan |= none;
  return true;
}

/* Returns the zero, with its sign, of a sum that is exactly zero. Source: IEEE 754-2019, section 6.3. */
static uint64_t ieee_zero(const fixed_format *f, const term *t, int count, smma_rounding direction) {
  int plus = 0, minus = 0;
  for (int i = 0; i < count; i++)
    if (is_zero(&t[i])) t[i].negative ? minus++ : plus++;
  if (plus == count) return 0;
  return zero_code(f, minus == count || direction == SMMA_ROUND_DOWN);
}

/* Returns IEEE's sum of exact terms in a rounding mode. */
static uint64_t ieee_sum(const fixed_format *f, const term *t, int count, smma_rounding direction,
                         smma_sum_overflow overflow, fixed_error *e) {
  fixed sum = 0;
  uint64_t d;
  if (special(t, count, f, e, &d)) return d;
  for (int i = 0; i < count; i++) sum += t[i].value;
  return sum ? encoded(f, sum, direction, overflow, e) : ieee_zero(f, t, count, direction);
}

static term decoded(const fixed_format *f, uint64_t code) {
  const fixed_number x = fixed_decode(f, code);
  return term_of(&x);
}

/* ---- FMA ---- */

/* Returns a NaN operand in d's format, its fraction at the left. */
static uint64_t quieted(const fixed_model *m, const fixed_format *f, const fixed_number *x) {
  const layout *l = &f->fields;
  const uint64_t fraction = x->code >> l->low_bits & ((UINT64_C(1) << l->fraction_bits) - 1);
  return (x->negative ? m->d.sign : 0) | m->d.quiet_nan | fraction << (m->d.fields.fraction_bits - l->fraction_bits);
}

static uint64_t fma_chain(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t d,
                          fixed_error *e) {
  const smma_rounding direction = m->o.rule.with.fma.rounding;
  const bool keeps = m->o.rule.nan == SMMA_NAN_B_SUM_A;
  for (int k = 0; k < m->o.k; k++) {
    const fixed_number before = fixed_decode(&m->d, d);
    const term t[2] = {product_of(&a[k], &b[k]), term_of(&before)};
    d = ieee_sum(&m->d, t, 2, direction, is_nearest(direction) ? SMMA_SUM_TO_INFINITY : SMMA_SUM_BY_DIRECTION, e);
    if (!keeps || fixed_decode(&m->d, d).class != NOT_A_NUMBER) continue;
    if (b[k].class == NOT_A_NUMBER)
      d = quieted(m, &m->b, &b[k]);
    else if (before.class == NOT_A_NUMBER)
      d = quieted(m, &m->d, &before);
    else if (a[k].class == NOT_A_NUMBER)
      d = quieted(m, &m->a, &a[k]);
    else
      d = m->d.sign | m->d.quiet_nan;
  }
  return d;
}

/* ---- T-FDPA, ST-FDPA, GST-FDPA, FP8-by-FP16 ---- */

static uint64_t positive_zero(const fixed_format *f, uint64_t d) { return d == zero_code(f, true) ? 0 : d; }

static uint64_t truncated_sum(const smma_t_fdpa *p, const fixed_format *f, const term *t, int count, fixed_error *e) {
  int emax = -100000;
  fixed sum = 0;
  uint64_t d;
  if (special(t, count, f, e, &d)) return d;
  for (int i = 0; i < count; i++) {
    const int brought = is_zero(&t[i]) ? p->zero_exponent : t[i].exponent;
    emax = brought > emax ? brought : emax;
  }
  for (int i = 0; i < count; i++) {
    const fixed unit = power(emax - p->alignment_bits);
    sum += rounded(t[i].value, emax - p->alignment_bits, SMMA_ROUND_TOWARD_ZERO);
    if (t[i].value) lose(e, unit, unit);
  }
  return sum ? positive_zero(f, encoded(f, sum, p->rounding, SMMA_SUM_TO_INFINITY, e)) : 0;
}

/* Returns the product of element k, multiplied by its scale factors if there are any. */
static term scaled_product(const fixed_model *m, const fixed_number *a, const fixed_number *b, const fixed_number *x,
                           const fixed_number *y, int k) {
  const term t = product_of(&a[k], &b[k]);
  return m->o.scale_block ? scaled_term(t, &x[k / m->o.scale_block], &y[k / m->o.scale_block]) : t;
}

static int length_of(const fixed_model *m, int block) { return block < m->o.k ? block : m->o.k; }

static uint64_t t_fdpa(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t d,
                       const fixed_number *x, const fixed_number *y, fixed_error *e) {
  const smma_t_fdpa *p = &m->o.rule.with.t_fdpa;
  const int length = length_of(m, p->block);
  term t[SMMA_MAXIMUM_K + 1];
  for (int first = 0; first < m->o.k; first += length) {
    for (int i = 0; i < length; i++) t[i] = scaled_product(m, a, b, x, y, first + i);
    t[length] = decoded(&m->d, d);
    d = truncated_sum(p, &m->output, t, length + 1, e);
  }
  return d;
}

static uint64_t gst_fdpa(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t c,
                         const fixed_number *x, const fixed_number *y, fixed_error *e) {
  const int group = m->o.rule.with.gst_fdpa.group, groups = m->o.k / group;
  term t[SMMA_MAXIMUM_K + 1];
  for (int g = 0; g < groups; g++) {
    const int s = g * group / m->o.scale_block;
    term sum = {0, 0, FINITE, false, false, false};
    for (int k = g * group; k < (g + 1) * group; k++) {
      const term product = product_of(&a[k], &b[k]);
      sum.cancelled |= !is_zero(&product);
      sum.value += product.value;
    }
    sum.cancelled &= !is_zero_number(&x[s]) && !is_zero_number(&y[s]);
    t[g] = scaled_term(sum, &x[s], &y[s]);
  }
  t[groups] = decoded(&m->d, c);
  return truncated_sum(&m->o.rule.with.gst_fdpa.fused, &m->output, t, groups + 1, e);
}

/* Widens an FP8 number to FP16, which has every FP8 number and exponents down to -14. */
static fixed_number widened(fixed_number x) {
  if (x.class != FINITE || x.significand == 0) return x;
  x.exponent = exponent_of(fixed_value(&x));
  if (x.exponent < -14) x.exponent = -14;
  return x;
}

static uint64_t fp8_by_fp16(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t c,
                            fixed_error *e) {
  uint64_t d = 0;
  for (int half = 0; half < 2; half++) {
    term t[SMMA_MAXIMUM_K + 1];
    int count = 0;
    for (int k = 0; k < m->o.k; k++)
      if (k % 4 / 2 == half) {
        const fixed_number x = widened(a[k]), y = widened(b[k]);
        t[count++] = product_of(&x, &y);
      }
    t[count] = decoded(&m->d, d);
    d = truncated_sum(&m->o.rule.with.t_fdpa, &m->output, t, count + 1, e);
  }
  const term t[2] = {decoded(&m->d, d), decoded(&m->d, c)};
  return ieee_sum(&m->d, t, 2, SMMA_ROUND_NEAREST_EVEN, SMMA_SUM_TO_INFINITY, e);
}

/* ---- E-FDPA ---- */

static uint64_t e_fdpa(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t d, fixed_error *e) {
  const int length = length_of(m, m->o.rule.with.e_fdpa.block);
  term t[SMMA_MAXIMUM_K + 1];
  for (int first = 0; first < m->o.k; first += length) {
    fixed sum = 0;
    for (int i = 0; i < length; i++) t[i] = product_of(&a[first + i], &b[first + i]);
    t[length] = decoded(&m->d, d);
    if (special(t, length + 1, &m->d, e, &d)) continue;
    for (int i = 0; i <= length; i++) sum += t[i].value;
    d = sum ? encoded(&m->d, sum, SMMA_ROUND_NEAREST_EVEN, SMMA_SUM_TO_INFINITY, e) : 0;
  }
  return d;
}

/* ---- FTZ-AddMul, FTZ-FMA, sums of pairs, sums in two chains ---- */

/* Flushes a rounded result below the smallest normal number to zero, and adds the error. */
static uint64_t flushed_result(const fixed_format *f, uint64_t d, smma_subnormal_policy policy, fixed_error *e) {
  const fixed_number x = fixed_decode(f, d), y = flushed(f, x, policy);
  if (is_zero_number(&y) && !is_zero_number(&x)) lose(e, f->least, f->least);
  return is_zero_number(&y) ? zero_code(f, y.negative) : d;
}

/* Rounds the sum of exact terms, then flushes it. */
static uint64_t flushing_sum(const fixed_format *f, const term *t, int count, smma_rounding direction,
                             smma_subnormal_policy policy, fixed_error *e) {
  const uint64_t d = ieee_sum(f, t, count, direction, SMMA_SUM_TO_INFINITY, e);
  return policy == SMMA_SUBNORMALS_KEPT ? d : flushed_result(f, d, policy, e);
}

static uint64_t flushing_add(const fixed_format *f, uint64_t x, uint64_t y, smma_rounding direction,
                             smma_subnormal_policy policy, fixed_error *e) {
  const term t[2] = {decoded(f, x), decoded(f, y)};
  return flushing_sum(f, t, 2, direction, policy, e);
}

static uint64_t ftz_addmul(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t c,
                           fixed_error *e) {
  const smma_subnormal_policy signed_zero = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  const smma_rounding nearest = SMMA_ROUND_NEAREST_EVEN;
  const int pairwise = m->o.rule.with.ftz_addmul.pairwise;
  const fixed_number start = flushed(&m->d, fixed_decode(&m->d, c), SMMA_SUBNORMALS_TO_POSITIVE_ZERO);
  uint64_t d = is_zero_number(&start) ? 0 : c, p[4];
  for (int k = 0; k < m->o.k; k += pairwise) {
    for (int i = 0; i < pairwise; i++) {
      const fixed_number x = flushed(&m->a, a[k + i], SMMA_SUBNORMALS_TO_POSITIVE_ZERO);
      const fixed_number y = flushed(&m->b, b[k + i], SMMA_SUBNORMALS_TO_POSITIVE_ZERO);
      const term t = product_of(&x, &y);
      p[i] = flushing_sum(&m->d, &t, 1, nearest, signed_zero, e);
    }
    uint64_t sum = flushing_add(&m->d, p[0], p[1], nearest, signed_zero, e);
    if (pairwise == 4)
      sum = flushing_add(&m->d, sum, flushing_add(&m->d, p[2], p[3], nearest, signed_zero, e), nearest, signed_zero, e);
    d = flushing_add(&m->d, d, sum, nearest, signed_zero, e);
  }
  return d;
}

/* Flushes a sum that x86 regards as subnormal: it is below the smallest normal number after rounding to the format's
   bits with unlimited exponent. */
static uint64_t early_flushing_sum(const fixed_format *f, const term *t, int count, fixed_error *e) {
  fixed sum = 0;
  uint64_t d;
  if (special(t, count, f, e, &d)) return d;
  for (int i = 0; i < count; i++) sum += t[i].value;
  if (sum == 0) return ieee_zero(f, t, count, SMMA_ROUND_NEAREST_EVEN);
  const fixed q = rounded(sum, exponent_of(sum) - f->fields.fraction_bits, SMMA_ROUND_NEAREST_EVEN);
  if (magnitude(q) < f->least) {
    lose(e, f->least, f->least);
    return zero_code(f, sum < 0);
  }
  return encoded(f, sum, SMMA_ROUND_NEAREST_EVEN, SMMA_SUM_TO_INFINITY, e);
}

static uint64_t ftz_fma(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t c,
                        fixed_error *e) {
  const smma_subnormal_policy policy = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  const fixed_number start = flushed(&m->d, fixed_decode(&m->d, c), policy);
  uint64_t d = is_zero_number(&start) ? zero_code(&m->d, start.negative) : c;
  for (int k = m->o.k - 1; k >= 0; k--) {
    const fixed_number x = flushed(&m->a, a[k], policy), y = flushed(&m->b, b[k], policy), z = fixed_decode(&m->d, d);
    const term t[2] = {product_of(&x, &y), term_of(&z)};
    if (x.class == NOT_A_NUMBER || y.class == NOT_A_NUMBER || z.class == NOT_A_NUMBER) {
      d = x.class == NOT_A_NUMBER   ? quieted(m, &m->a, &x)
          : y.class == NOT_A_NUMBER ? quieted(m, &m->b, &y)
                                    : quieted(m, &m->d, &z);
      e->special = true;
    } else {
      d = early_flushing_sum(&m->d, t, 2, e);
      if (fixed_decode(&m->d, d).class == NOT_A_NUMBER) d = m->d.sign | m->d.quiet_nan;
    }
  }
  return d;
}

/* Rounds a sum to this number of fraction bits, with unlimited exponent. */
static term narrowed(const term *t, int count, int bits, const fixed_format *f, smma_rounding direction,
                     fixed_error *e) {
  term sum = {0, 0, FINITE, false, false, false};
  uint64_t d;
  fixed_error of_pair = {0, 0, 0, false, false, false};
  if (special(t, count, f, &of_pair, &d)) {
    e->special = true;
    e->nan |= of_pair.nan;
    sum.class = of_pair.nan ? NOT_A_NUMBER : INFINITE;
    sum.negative = d != f->infinity[0];
    return sum;
  }
  for (int i = 0; i < count; i++) sum.value += t[i].value;
  if (sum.value == 0) {
    sum.negative = ieee_zero(f, t, count, direction) != 0;
    return sum;
  }
  sum.value = rounded(sum.value, exponent_of(sum.value) - bits, direction);
  lose(e, power(exponent_of(sum.value) - bits) / 2, power(exponent_of(sum.value) - bits) / 2);
  sum.negative = sum.value < 0;
  return sum;
}

static uint64_t pairs(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t c, fixed_error *e) {
  const fixed_number start = flushed(&m->d, fixed_decode(&m->d, c), m->subnormals);
  uint64_t d = is_zero_number(&start) ? zero_code(&m->d, start.negative) : c;
  for (int k = 0; k < m->o.k; k += 2) {
    term t[2], sum[2];
    for (int i = 0; i < 2; i++) {
      const fixed_number x = flushed(&m->a, a[k + i], m->subnormals), y = flushed(&m->b, b[k + i], m->subnormals);
      t[i] = product_of(&x, &y);
      if (!m->fused) t[i] = decoded(&m->d, flushing_sum(&m->d, &t[i], 1, m->rounding, m->subnormals, e));
    }
    if (m->wide)
      sum[0] = narrowed(t, 2, m->d.fields.fraction_bits, &m->d, m->rounding, e);
    else
      sum[0] = decoded(&m->d, flushing_sum(&m->d, t, 2, m->rounding, m->subnormals, e));
    sum[1] = decoded(&m->d, d);
    d = flushing_sum(&m->d, sum, 2, m->rounding, m->subnormals, e);
  }
  return d;
}

static uint64_t two_chains(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t c,
                           fixed_error *e) {
  const smma_subnormal_policy policy = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  const fixed_number start = flushed(&m->d, fixed_decode(&m->d, c), policy);
  uint64_t chain[2] = {0, 0};
  for (int k = 0; k < m->o.k; k++) {
    const fixed_number x = flushed(&m->a, a[k], m->subnormals), y = flushed(&m->b, b[k], m->subnormals);
    const term t[2] = {product_of(&x, &y), decoded(&m->d, chain[k % 2])};
    chain[k % 2] = early_flushing_sum(&m->d, t, 2, e);
  }
  return flushing_add(&m->d, flushing_add(&m->d, chain[0], chain[1], SMMA_ROUND_NEAREST_EVEN, policy, e),
                      is_zero_number(&start) ? zero_code(&m->d, start.negative) : c, SMMA_ROUND_NEAREST_EVEN, policy,
                      e);
}

/* ---- TR-FDPA, GTR-FDPA ---- */

typedef struct {
  fixed sum;
  int exponent; /* NOTHING if all products are zero */
} partial;

enum { NOTHING = -100000 };

static int greater(int x, int y) { return x > y ? x : y; }

/* Adds every `stride`-th product from number `first` on, truncated toward zero relative to their largest exponent. */
static partial cut_products(const term *t, int count, int first, int stride, int bits, fixed_error *e) {
  partial s = {0, NOTHING};
  for (int i = first; i < count; i += stride)
    if (!is_zero(&t[i])) s.exponent = greater(s.exponent, t[i].exponent);
  if (s.exponent == NOTHING) return s;
  for (int i = first; i < count; i += stride) {
    s.sum += rounded(t[i].value, s.exponent - bits, SMMA_ROUND_TOWARD_ZERO);
    lose(e, power(s.exponent - bits), power(s.exponent - bits));
  }
  return s;
}

static uint64_t tr_block(const fixed_model *m, term *t, int count, fixed_error *e) {
  const smma_tr_fdpa *p = &m->o.rule.with.tr_fdpa;
  const int bits = p->alignment_bits, emin = m->d.fields.least_exponent;
  const bool halves = m->o.rule.algorithm == SMMA_GTR_FDPA, last = p->revision > 1;
  const term *c = &t[count - 1];
  partial s;
  uint64_t d;
  if (special(t, count, &m->d, e, &d)) return d;
  if (halves) {
    const partial even = cut_products(t, count - 1, 0, 2, bits, e), odd = cut_products(t, count - 1, 1, 2, bits, e);
    s.exponent = greater(even.exponent, odd.exponent);
    s.sum = 0;
    if (s.exponent != NOTHING) {
      s.sum = rounded_down(even.sum, s.exponent - bits) + rounded_down(odd.sum, s.exponent - bits);
      lose(e, power(s.exponent - bits), 0); /* error of the half with the smaller exponent */
    }
  } else {
    s = cut_products(t, count - 1, 0, 1, bits, e);
  }
  const int e_c = is_zero(c) ? emin : c->exponent, greatest = greater(s.exponent, e_c);
  const fixed unit = power(greatest - bits);
  fixed u = s.exponent == NOTHING ? 0 : rounded_down(s.sum, greatest - (p->sum_bits + last));
  lose(e, power(greatest - (p->sum_bits + last)) + unit, 0);
  if (!halves || e_c >= greatest - bits - 1)
    u += rounded_down(c->value, greatest - bits);
  else
    lose(e, 0, unit / 2);
  if (last && u) {
    const int at = greater(exponent_of(u), emin) - p->sum_bits;
    u = rounded_down(u, at);
    lose(e, power(at), 0);
  }
  return u ? encoded(&m->d, u, SMMA_ROUND_NEAREST_EVEN, SMMA_SUM_TO_INFINITY, e) : 0;
}

static uint64_t tr_fdpa(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t d,
                        fixed_error *e) {
  const int length = length_of(m, m->o.rule.with.tr_fdpa.block);
  term t[SMMA_MAXIMUM_K + 1];
  for (int first = 0; first < m->o.k; first += length) {
    for (int i = 0; i < length; i++) t[i] = product_of(&a[first + i], &b[first + i]);
    t[length] = decoded(&m->d, d);
    d = tr_block(m, t, length + 1, e);
  }
  return d;
}

/* ---- C-FDPA, GD-FDPA ---- */

/* Applies the rules for NaN and infinities that depend on their source. In this order: a NaN factor; a NaN that the
   products generate; a NaN c; a NaN that c and the products generate. */
static bool special_by_source(const fixed_model *m, const term *t, int count, uint64_t c, fixed_error *e, uint64_t *d) {
  uint64_t ignored;
  if (!special(t, count, &m->d, e, d)) return false;
  if (m->o.rule.nan != SMMA_NAN_BY_SOURCE && m->o.rule.nan != SMMA_NAN_MARKED) return true;
  const uint64_t made = m->o.rule.nan == SMMA_NAN_MARKED ? m->d.marked_nan : m->d.sign | m->d.quiet_nan;
  const bool of_products =
      special(t, count - 1, &m->d, e, &ignored) && fixed_decode(&m->d, ignored).class == NOT_A_NUMBER;
  for (int i = 0; i < count - 1; i++)
    if (t[i].brought) {
      *d = m->d.marked_nan;
      return true;
    }
  if (of_products)
    *d = made;
  else if (t[count - 1].class == NOT_A_NUMBER)
    *d = c | m->d.quiet_nan;
  else if (fixed_decode(&m->d, *d).class == NOT_A_NUMBER)
    *d = made;
  return true;
}

static int exponent_of_c(const fixed_model *m, const term *c) {
  const int emin = m->d.fields.least_exponent;
  return c->value ? greater(exponent_of(c->value), emin) : emin;
}

static bool is_zero_code(const fixed_format *f, uint64_t code) {
  const fixed_number x = fixed_decode(f, code);
  return is_zero_number(&x);
}

/* Rounds a sum to d's format. FP16 and FP32 have their own exponent range; with `flushes`, a sum that is below the
   smallest normal number when rounded to 24 bits becomes zero. BF16 is the upper half of FP32. A zero result is +0. */
static uint64_t rdna_output(const fixed_model *m, fixed sum, bool flushes, fixed_error *e) {
  const smma_sum_overflow overflow = m->o.rule.with.c_fdpa.overflow;
  const bool halved = m->o.d == SMMA_BF16;
  const fixed_format *f = halved ? &m->f32 : &m->d;
  uint64_t d;
  if (sum == 0) return 0;
  if (flushes &&
      magnitude(rounded(sum, exponent_of(sum) - f->fields.fraction_bits, SMMA_ROUND_NEAREST_EVEN)) < f->least) {
    lose(e, f->least, f->least);
    return 0;
  }
  d = encoded(f, sum, SMMA_ROUND_NEAREST_EVEN, overflow, e);
  if (halved) {
    const fixed_number x = fixed_decode(f, d);
    d >>= 16;
    lose_rounding(e, &m->d, fixed_value(&x), SMMA_ROUND_TOWARD_ZERO);
  }
  return is_zero_code(&m->d, d) ? 0 : d;
}

static uint64_t c_block(const fixed_model *m, const term *t, int count, uint64_t code, bool flushes, fixed_error *e) {
  const smma_c_fdpa *p = &m->o.rule.with.c_fdpa;
  const term *c = &t[count - 1];
  int greatest = NOTHING;
  bool all_zero = true;
  fixed sum = 0;
  uint64_t d;
  if (special_by_source(m, t, count, code, e, &d)) return d;
  for (int i = 0; i < count; i++) all_zero &= is_zero(&t[i]);
  if (all_zero) return 0;
  for (int i = 0; i < count - 1; i++)
    if (!is_zero(&t[i])) greatest = greater(greatest, t[i].exponent);
  const int at = greater(greatest - p->alignment_bits, exponent_of_c(m, c) - p->c_bits);
  const fixed unit = power(at);
  if (unit == 0) abort(); /* the complement must change the value */
  for (int i = 0; i < count; i++) {
    const fixed kept = rounded_down(magnitude(t[i].value), at);
    const fixed in_sign_of_c = t[i].negative == c->negative ? kept : -kept - unit;
    sum += c->negative ? -in_sign_of_c : in_sign_of_c;
    lose(e, unit, unit);
  }
  return rdna_output(m, sum, flushes, e);
}

static uint64_t gd_block(const fixed_model *m, const term *t, int count, uint64_t code, fixed_error *e) {
  const smma_c_fdpa *p = &m->o.rule.with.c_fdpa;
  const term *c = &t[count - 1];
  const int group = p->group < count - 1 ? p->group : count - 1, exponent = exponent_of_c(m, c);
  fixed sum = 0, part[SMMA_MAXIMUM_K];
  int at = exponent - p->c_bits, parts = 0;
  uint64_t d;
  if (special_by_source(m, t, count, code, e, &d)) return d;
  for (int first = 0; first < count - 1; first += group) {
    int greatest = NOTHING;
    for (int i = first; i < first + group; i++)
      if (!is_zero(&t[i])) greatest = greater(greatest, t[i].exponent);
    if (greatest == NOTHING) continue;
    part[parts] = 0;
    for (int i = first; i < first + group; i++) part[parts] += rounded_down(t[i].value, greatest - p->alignment_bits);
    lose(e, group * power(greatest - p->alignment_bits), 0);
    at = greater(at, greatest - p->alignment_bits);
    parts++;
  }
  for (int i = 0; i < parts; i++) sum += rounded_down(part[i], at);
  lose(e, (parts + 1) * power(at), exponent < at ? power(at) : 0);
  if (exponent >= at) sum += rounded_down(c->value, at);
  return rdna_output(m, sum, false, e);
}

static bool has_exponents_of_f32(const fixed_format *f) { return f->fields.least_exponent == -126; }

static uint64_t rdna(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t d, fixed_error *e) {
  const smma_c_fdpa *p = &m->o.rule.with.c_fdpa;
  const int length = length_of(m, p->block), blocks = m->o.k / length;
  const bool third = m->o.rule.algorithm == SMMA_C_FDPA;
  const smma_subnormal_policy zero = SMMA_SUBNORMALS_TO_SIGNED_ZERO, kept = SMMA_SUBNORMALS_KEPT;
  const smma_subnormal_policy of_a = third && has_exponents_of_f32(&m->a) ? zero : kept;
  const smma_subnormal_policy of_b = third && has_exponents_of_f32(&m->b) ? zero : kept;
  const smma_subnormal_policy of_c = third && (m->as_f32 || has_exponents_of_f32(&m->d)) ? zero : kept;
  term t[SMMA_MAXIMUM_K + 1];
  for (int start = 0; start < p->stride; start++)
    for (int block = start; block < blocks; block += p->stride) {
      const fixed_number c = flushed(&m->d, fixed_decode(&m->d, d), of_c);
      for (int i = 0; i < length; i++) {
        const int k = block * length + i;
        const fixed_number x = flushed(&m->a, a[k], of_a), y = flushed(&m->b, b[k], of_b);
        t[i] = product_of(&x, &y);
      }
      t[length] = term_of(&c);
      if (third)
        d = c_block(m, t, length + 1, d, of_c == zero, e);
      else
        d = gd_block(m, t, length + 1, d, e);
    }
  return d;
}

/* ---- INTEGER ---- */

static uint64_t integer(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t c,
                        fixed_error *e) {
  const smma_integer *p = &m->o.rule.with.integer;
  int64_t d = (int32_t)(uint32_t)c;
  for (int stage = 0; stage < (p->two_stages ? 2 : 1); stage++) {
    for (int k = 0; k < m->o.k; k++)
      if (!p->two_stages || k % 16 / 8 == stage) d += a[k].significand * b[k].significand;
    if (d <= INT32_MAX && d >= INT32_MIN) continue;
    e->overflows = true;
    if (p->overflow == SMMA_INTEGER_SATURATES)
      d = d < 0 ? INT32_MIN : INT32_MAX;
    else
      d = (int32_t)(uint32_t)(uint64_t)d;
  }
  return (uint32_t)(int32_t)d;
}

/* ---- G-FDPA ---- */

static uint64_t general_rounded(const fixed_model *m, const fixed_format *f, const term *t, int count, fixed sum,
                                smma_rounding direction, fixed_error *e) {
  const smma_g_fdpa *p = &m->g_fdpa;
  uint64_t d;
  if (sum)
    d = encoded(f, sum, direction, p->overflow, e);
  else
    d = p->zero_sign == SMMA_ZERO_IEEE ? ieee_zero(f, t, count, direction) : 0;
  if (p->subnormal_outputs != SMMA_SUBNORMALS_KEPT) d = flushed_result(f, d, p->subnormal_outputs, e);
  return p->zero_sign == SMMA_ZERO_ALWAYS_POSITIVE ? positive_zero(f, d) : d;
}

/* Aligns a term: rounds it at F bits below emax. */
static fixed general_aligned(const smma_g_fdpa *p, const term *t, int emax, fixed_error *e) {
  const int at = emax - p->alignment_bits;
  const fixed unit = power(at);
  fixed kept;
  if (p->alignment_bits == SMMA_EXACT_ALIGNMENT) return t->value;
  if (p->sticky_bit) {
    kept = rounded(t->value, at, SMMA_ROUND_TOWARD_ZERO);
    lose(e, unit / 2, unit / 2);
    return kept == t->value ? kept : t->value < 0 ? kept - unit / 2 : kept + unit / 2;
  }
  kept = rounded(t->value, at, p->alignment_rounding);
  if (is_nearest(p->alignment_rounding))
    lose(e, unit / 2, unit / 2);
  else
    lose(e, p->alignment_rounding == SMMA_ROUND_UP ? 0 : unit, p->alignment_rounding == SMMA_ROUND_DOWN ? 0 : unit);
  return kept;
}

static uint64_t g_fdpa(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t c,
                       const fixed_number *x, const fixed_number *y, fixed_error *e) {
  const smma_g_fdpa *p = &m->g_fdpa;
  const int blocks = m->o.k / p->block;
  const bool first = p->c_joins == SMMA_C_JOINS_FIRST;
  fixed_number start = flushed(&m->d, fixed_decode(&m->d, c), p->subnormal_inputs);
  if (is_zero_number(&start)) c = zero_code(&m->d, start.negative);
  uint64_t d = first ? c : 0;
  for (int block = 0; block < blocks; block++) {
    term t[SMMA_MAXIMUM_K + 1];
    int count = 0, emax = NOTHING;
    fixed sum = 0;
    for (int k = 0; k < m->o.k; k++) {
      if (k / p->interleave % blocks != block) continue;
      const fixed_number u = flushed(&m->a, a[k], p->subnormal_inputs), v = flushed(&m->b, b[k], p->subnormal_inputs);
      t[count] = product_of(&u, &v);
      if (m->o.scale_block) t[count] = scaled_term(t[count], &x[k / m->o.scale_block], &y[k / m->o.scale_block]);
      if (p->product_exponent == SMMA_EXPONENT_NORMALIZED && t[count].class == FINITE && t[count].value)
        t[count].exponent = exponent_of(t[count].value);
      count++;
    }
    t[count++] = decoded(&m->d, d);
    if (special(t, count, &m->output, e, &d)) continue;
    for (int i = 0; i < count; i++)
      if (!is_zero(&t[i]))
        emax = greater(emax, t[i].exponent);
      else if (p->zero_exponent != SMMA_NO_EXPONENT)
        emax = greater(emax, p->zero_exponent);
    for (int i = 0; i < count && emax != NOTHING; i++) sum += general_aligned(p, &t[i], emax, e);
    d = general_rounded(m, &m->output, t, count, sum, p->rounding, e);
  }
  if (first) return d;
  const term t[2] = {decoded(&m->d, d), decoded(&m->d, c)};
  if (special(t, 2, &m->d, e, &d)) return d;
  return general_rounded(m, &m->d, t, 2, t[0].value + t[1].value, p->c_rounding, e);
}

/* ---- Entry ---- */

static void add_exact(const fixed_model *m, const fixed_number *a, const fixed_number *b, const term *c,
                      const fixed_number *x, const fixed_number *y, fixed_error *e) {
  *e = (fixed_error){0, 0, 0, false, c->class != FINITE, c->class == NOT_A_NUMBER};
  e->exact = c->value;
  for (int k = 0; k < m->o.k; k++) {
    const term t = scaled_product(m, a, b, x, y, k);
    e->special |= t.class != FINITE;
    e->nan |= t.class == NOT_A_NUMBER;
    e->exact += t.value;
  }
}

/* Adds the error of flushed operands. */
static void lose_flushed(const fixed_model *m, const fixed_number *a, const fixed_number *b, const term *c,
                         fixed_error *e) {
  smma_subnormal_policy of_a = SMMA_SUBNORMALS_KEPT, of_b = of_a, of_c = of_a;
  const smma_algorithm algorithm = m->o.rule.algorithm;
  if (m->kind == FIXED_PAIRS) of_a = of_b = of_c = m->subnormals;
  if (m->kind == FIXED_G_FDPA) of_a = of_b = of_c = m->g_fdpa.subnormal_inputs;
  if (m->kind == FIXED_CHAINS) of_a = of_b = m->subnormals, of_c = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  if (m->kind == FIXED_RULE) {
    if (algorithm == SMMA_FTZ_ADDMUL || algorithm == SMMA_FTZ_FMA) of_a = of_b = of_c = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
    if (algorithm == SMMA_C_FDPA) {
      if (has_exponents_of_f32(&m->a)) of_a = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
      if (has_exponents_of_f32(&m->b)) of_b = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
      if (m->as_f32 || has_exponents_of_f32(&m->d)) of_c = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
    }
  }
  if (of_a == SMMA_SUBNORMALS_KEPT && of_b == of_a && of_c == of_a) return;
  for (int k = 0; k < m->o.k; k++) {
    const fixed_number x = flushed(&m->a, a[k], of_a), y = flushed(&m->b, b[k], of_b);
    const term before = product_of(&a[k], &b[k]), after = product_of(&x, &y);
    if (before.class == FINITE && after.value != before.value)
      lose(e, magnitude(before.value), magnitude(before.value));
  }
  if (of_c != SMMA_SUBNORMALS_KEPT && magnitude(c->value) < m->d.least)
    lose(e, magnitude(c->value), magnitude(c->value));
}

static uint64_t rule_dot_add(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t c,
                             const fixed_number *x, const fixed_number *y, fixed_error *e) {
  if (m->kind == FIXED_PAIRS) return pairs(m, a, b, c, e);
  if (m->kind == FIXED_G_FDPA) return g_fdpa(m, a, b, c, x, y, e);
  if (m->kind == FIXED_CHAINS) return two_chains(m, a, b, c, e);
  switch (m->o.rule.algorithm) {
    case SMMA_FMA: return fma_chain(m, a, b, c, e);
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA: return t_fdpa(m, a, b, c, x, y, e);
    case SMMA_GST_FDPA: return gst_fdpa(m, a, b, c, x, y, e);
    case SMMA_E_FDPA: return e_fdpa(m, a, b, c, e);
    case SMMA_FTZ_ADDMUL: return ftz_addmul(m, a, b, c, e);
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: return tr_fdpa(m, a, b, c, e);
    case SMMA_FP8_BY_FP16: return fp8_by_fp16(m, a, b, c, e);
    case SMMA_FTZ_FMA: return ftz_fma(m, a, b, c, e);
    case SMMA_INTEGER: return integer(m, a, b, c, e);
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA: return rdna(m, a, b, c, e);
    default: break;
  }
  abort();
}

/* c is first widened to d's format. If a rule has only one NaN, and d's format has no infinity, a sum that overflows
   gives that NaN, without a sign. */
uint64_t fixed_dot_add(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t c,
                       const fixed_number *scale_a, const fixed_number *scale_b, fixed_error *error) {
  const term addend = decoded(&m->c, c);
  fixed_error rounding = {0, 0, 0, false, false, false};
  add_exact(m, a, b, &addend, scale_a, scale_b, error);
  lose_flushed(m, a, b, &addend, error);
  if (m->o.c != m->o.d && !special(&addend, 1, &m->d, &rounding, &c))
    c = addend.value ? encoded(&m->d, addend.value, SMMA_ROUND_NEAREST_EVEN, SMMA_SUM_TO_INFINITY, &rounding)
                     : zero_code(&m->d, addend.negative);
  const uint64_t d = rule_dot_add(m, a, b, c, scale_a, scale_b, error);
  if (m->o.rule.nan > SMMA_NAN_DEFAULT || m->d.fields.specials != ALL_ONES) return d;
  return fixed_decode(&m->d, d).class == NOT_A_NUMBER ? m->d.nan : d;
}
