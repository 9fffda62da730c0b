#include "numerics/bound_sum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "numerics/exact.h"

enum { LANES = SMMA_BOUND_LANES };

#define GREAT 0x1p400 /* the `unit` of zero */

static double larger(double x, double y) { return x > y ? x : y; }
static double smaller(double x, double y) { return x < y ? x : y; }

/* Returns 2^floor(log2 x) for a normal x, infinity for infinity, and 0 for zero and subnormal x. */
static double power_below(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits &= UINT64_C(0x7ff) << 52;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static double power(int exponent) { return ldexp(1, exponent); }

/* ---- Numbers ---- */

static double value_of(smma_number x) {
  const double magnitude = ldexp((double)x.significand, x.exponent - x.fraction_bits);
  if (x.kind == SMMA_NAN) return NAN;
  if (x.kind == SMMA_INFINITE) return x.negative ? -INFINITY : INFINITY;
  return x.negative ? -magnitude : magnitude;
}

/* Returns the value of the last bit of the significand. */
static double unit_of(smma_number x) {
  const uint64_t last = x.significand & (0 - x.significand);
  return last ? ldexp((double)last, x.exponent - x.fraction_bits) : GREAT;
}

static smma_subnormal_policy flush_of(const smma_rule *r, bool of_a) {
  if (r->algorithm == SMMA_FTZ_ADDMUL || r->algorithm == SMMA_FTZ_FMA) return SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  if (r->algorithm != SMMA_COMPOSITION) return SMMA_SUBNORMALS_KEPT;
  return of_a ? r->with.composition.subnormal_a : r->with.composition.subnormal_b;
}

static bool flushes_factors(const smma_rule *r) {
  return flush_of(r, true) != SMMA_SUBNORMALS_KEPT || flush_of(r, false) != SMMA_SUBNORMALS_KEPT;
}

smma_bound_factor smma_bound_factor_of(const smma_operation *o, bool of_a, smma_number x, smma_number scale) {
  smma_bound_factor f;
  smma_number read = o->rule.algorithm == SMMA_FP8_BY_FP16 ? smma_widen_to_f16(x) : x;
  read = smma_flush(flush_of(&o->rule, of_a), read);
  if (o->rule.algorithm == SMMA_C_FDPA && x.exponent == smma_minimum_exponent(smma_encoding_of(SMMA_F32)))
    read = smma_flush_signed(read);
  f.value = value_of(x) * value_of(scale);
  f.used = value_of(read) * value_of(scale);
  f.unit = unit_of(read) * unit_of(scale);
  f.lead = power(scale.exponent);
  if (o->rule.algorithm != SMMA_GST_FDPA) f.lead *= power(read.exponent);
  if (read.kind == SMMA_ZERO || scale.kind == SMMA_ZERO) f.lead = 0, f.unit = GREAT;
  return f;
}

smma_bound_rounding smma_bound_rounding_to(smma_format format, smma_rounding direction) {
  const smma_encoding f = smma_encoding_of(format);
  const smma_number largest = smma_decode(f, smma_largest_fields(f) << f.ignored_bits);
  smma_bound_rounding r = {
      power(smma_minimum_exponent(f)), power(-f.fraction_bits), value_of(largest), f.fraction_bits, direction, false};
  if (direction == SMMA_ROUND_TOWARD_ZERO || direction == SMMA_ROUND_TO_ODD)
    r.limit += power(largest.exponent - f.fraction_bits);
  if (direction == SMMA_ROUND_NEAREST_EVEN || direction == SMMA_ROUND_NEAREST_AWAY)
    r.limit += power(largest.exponent - f.fraction_bits - 1);
  if (format == SMMA_F64) r.limit = DBL_MAX;
  return r;
}

/* ---- Sums ---- */

double smma_bound_slack(size_t count) {
  const double roundings = 2 * (double)count + 16;
  return roundings * roundings * 0x1p-106;
}

void smma_bound_add_exact(smma_bound_sum *s, int lane, double x, double rest) {
  const smma_double_double sum = smma_add_product((smma_double_double){s->high[lane], s->low[lane]}, x, 1);
  s->high[lane] = sum.high, s->low[lane] = sum.low + rest;
  s->size[lane] += fabs(x) + fabs(rest);
}

/* Returns the range of the sum, widened by the rounding errors of this computation. */
void smma_bound_range(const smma_bound_sum *s, int lane, double slack, double *from, double *to) {
  const double high = s->high[lane], low = s->low[lane], below = s->below[lane], above = s->above[lane];
  const double inexact = (fabs(high) + fabs(low)) * 0x1p-48 + s->size[lane] * slack;
  *from = high + (low - below) - (inexact + below * 0x1p-48);
  *to = high + (low + above) + (inexact + above * 0x1p-48);
}

/* Adds the largest errors that rounding a value in [from, to], a multiple of `unit`, can cause. */
static void add_rounding(const smma_bound_rounding *r, double from, double to, double unit, double *below,
                         double *above) {
  const double most = larger(-from, to), ulp = larger(power_below(most), r->least) * r->ulp;
  double down = 0, up = 0;
  if (!(most < r->limit)) { /* or NaN, if a double cannot hold the sum */
    *below = *above = INFINITY;
    return;
  }
  if (unit < ulp) switch (r->direction) {
      case SMMA_ROUND_TOWARD_ZERO: down = to > 0 ? ulp - unit : 0, up = from < 0 ? ulp - unit : 0; break;
      case SMMA_ROUND_DOWN: down = ulp - unit; break;
      case SMMA_ROUND_UP: up = ulp - unit; break;
      case SMMA_ROUND_TO_ODD: down = up = ulp - unit; break;
      default: down = up = ulp / 2;
    }
  if (r->flushes && unit < r->least && from < r->least && to > -r->least) {
    if (to > 0) down = larger(down, smaller(to, r->least));
    if (from < 0) up = larger(up, smaller(-from, r->least));
  }
  *below += down, *above += up;
}

void smma_bound_round(smma_bound_sum *s, int lane, double slack, const smma_bound_rounding *r) {
  double from, to;
  smma_bound_range(s, lane, slack, &from, &to);
  add_rounding(r, from, to, s->unit[lane], &s->below[lane], &s->above[lane]);
}

/* ---- Terms ---- */

/* Reports whether products can exceed a double's range or precision. */
static bool is_wide(smma_format format) { return !smma_is_in_range_of_f32(smma_encoding_of(format)); }

/* Reports whether the operation is a composition that is G-FDPA, except for coarse exponents, in formats whose products
   a double holds. */
static bool is_chain(const smma_operation *o, smma_g_fdpa *g) {
  smma_composition p;
  if (o->rule.algorithm != SMMA_COMPOSITION || smma_is_integer(o->a) || smma_is_integer(o->b) ||
      smma_is_integer(o->d) || is_wide(o->a) || is_wide(o->b))
    return false;
  p = o->rule.with.composition;
  p.step[0].reference_multiple = 1;
  return smma_is_g_fdpa(&p, o->k, o->d, g);
}

typedef struct {
  int count;
  bool flushes; /* operands may be read as zero */
  bool is_long; /* products may have more bits than a double */
  double value[SMMA_MAXIMUM_K][LANES], lead[SMMA_MAXIMUM_K][LANES], unit[SMMA_MAXIMUM_K][LANES];
} terms;

/* Adds the error of flushing an operand. */
static void note_flush(double exact, double used, double *below, double *above) {
  *below += larger(exact - used, 0);
  *above += larger(used - exact, 0);
}

/* Reports whether scaled products have more bits than a double: f32 with ue4m3. */
static bool has_long_products(const smma_operation *o) {
  const int scales = o->scale_block ? 2 * (smma_encoding_of(o->scale).fraction_bits + 1) : 0;
  return smma_encoding_of(o->a).fraction_bits + smma_encoding_of(o->b).fraction_bits + 2 + scales > 53;
}

/* Adds a product to the exact sum, and the product as the unit computes it to the terms, as term i. */
static void take_product(const smma_bound_factor *a, const smma_bound_factors *b, smma_bound_sum *s, terms *t, int i) {
  for (int j = 0; j < LANES; j++) {
    const double x = a->value * b->value[j], sum = s->high[j] + x, part = sum - s->high[j];
    s->low[j] += (s->high[j] - (sum - part)) + (x - part); /* Knuth's TwoSum */
    s->high[j] = sum;
    s->size[j] += fabs(x);
    t->value[i][j] = a->used * b->used[j];
    t->lead[i][j] = a->lead * b->lead[j];
    t->unit[i][j] = a->unit * b->unit[j];
  }
  for (int j = 0; t->is_long && j < LANES; j++) s->low[j] += fma(a->value, b->value[j], -(a->value * b->value[j]));
  for (int j = 0; t->flushes && j < LANES; j++)
    if (a->value != a->used || b->value[j] != b->used[j])
      note_flush(a->value * b->value[j], t->value[i][j], &s->below[j], &s->above[j]);
}

/* Replaces `count` terms by one term, their exact sum: products below 2^13 with scale factors of 8 bits. */
static void join_terms(terms *t, int first, int count, int into) {
  for (int j = 0; j < LANES; j++) {
    double value = 0, lead = 0, unit = GREAT;
    for (int i = first; i < first + count; i++) {
      value += t->value[i][j];
      lead = larger(lead, t->lead[i][j]);
      unit = smaller(unit, t->unit[i][j]);
    }
    t->value[into][j] = value, t->lead[into][j] = lead, t->unit[into][j] = unit;
  }
}

static void take_terms(const smma_operation *o, const smma_g_fdpa *g, const smma_bound_factor *a,
                       const smma_bound_factors *b, int block, smma_bound_sum *s, terms *t) {
  const int group = o->rule.algorithm == SMMA_GST_FDPA ? o->rule.with.gst_fdpa.group : 1;
  t->count = g ? g->block : smma_block_of(o);
  for (int i = 0; i < t->count; i++) {
    const int k = g ? smma_dealt_index(g->block, g->interleave, o->k, block, i) : smma_product_index(o, block, i);
    take_product(&a[k], &b[k], s, t, i);
  }
  if (group == 1) return;
  for (int i = 0; i < t->count / group; i++) join_terms(t, i * group, group, i);
  t->count /= group;
}

/* ---- Fused sums ---- */

/* How a term is rounded to a multiple of q, which is at most kept coarse 2^emax. The members give the share of q that a
   term can lose, downward and upward, by its sign. */
typedef struct {
  double kept;   /* 2^-F; 0: exact */
  double coarse; /* the most by which a coarse exponent raises q; 1: exponents are not coarse */
  double zero_lead;
  bool normalized, truncates; /* truncates: toward zero, so that the loss is at most the term itself */
  double positive_down, positive_up, negative_down, negative_up;
  double kept_unit; /* `unit` of the sum, in multiples of q */
  smma_bound_rounding rounding;
} fused;

static fused truncated(int bits, int zero_exponent, smma_format format, smma_rounding direction) {
  return (fused){.kept = power(-bits),
                 .coarse = 1,
                 .zero_lead = power(zero_exponent),
                 .truncates = true,
                 .positive_down = 1,
                 .negative_up = 1,
                 .kept_unit = 1,
                 .rounding = smma_bound_rounding_to(format, direction)};
}

static fused generic(const smma_g_fdpa *p) {
  fused f = truncated(p->alignment_bits, p->zero_exponent, p->output, p->rounding);
  const smma_rounding direction = p->alignment_rounding;
  f.normalized = p->product_exponent == SMMA_EXPONENT_NORMALIZED;
  f.rounding.flushes = p->subnormal_outputs != SMMA_SUBNORMALS_KEPT;
  if (p->zero_exponent == SMMA_NO_EXPONENT) f.zero_lead = 0;
  if (p->alignment_bits == SMMA_EXACT_ALIGNMENT) f.kept = 0;
  if (p->overflow != SMMA_SUM_TO_INFINITY)
    f.rounding.limit = smma_bound_rounding_to(p->output, SMMA_ROUND_DOWN).limit; /* above it a sum may saturate */
  if (!p->sticky_bit && direction == SMMA_ROUND_TOWARD_ZERO) return f;
  f.truncates = false;
  f.kept_unit = p->sticky_bit ? 0.5 : 1;
  f.positive_down = f.negative_down = f.positive_up = f.negative_up = 0.5;
  if (p->sticky_bit || direction == SMMA_ROUND_NEAREST_EVEN || direction == SMMA_ROUND_NEAREST_AWAY) return f;
  f.positive_down = f.negative_down = direction == SMMA_ROUND_DOWN;
  f.positive_up = f.negative_up = direction == SMMA_ROUND_UP;
  return f;
}

static fused fused_of(const smma_rule *r) {
  const smma_t_fdpa *t = r->algorithm == SMMA_GST_FDPA ? &r->with.gst_fdpa.fused : &r->with.t_fdpa;
  fused exact = truncated(0, 0, SMMA_F32, SMMA_ROUND_NEAREST_EVEN);
  exact.kept = 0;
  if (r->algorithm == SMMA_E_FDPA) return exact;
  return truncated(t->alignment_bits, t->zero_exponent, t->output, t->rounding);
}

/* The unit's accumulator before a block: its range, its magnitude, and the value of its last bit. */
typedef struct {
  double from, to, most, least, last;
  double lead_most, lead_least; /* 2^exponent, greatest and least; 0 if the accumulator is or may be zero */
} accumulator;

static accumulator accumulator_of(const smma_bound_sum *s, int lane, double slack, double least_normal) {
  accumulator c;
  smma_bound_range(s, lane, slack, &c.from, &c.to);
  c.most = larger(-c.from, c.to);
  c.least = c.from > 0 ? c.from : c.to < 0 ? -c.to : 0;
  c.lead_most = c.most > 0 ? larger(power_below(c.most), least_normal) : 0;
  c.lead_least = c.least > 0 ? larger(power_below(c.least), least_normal) : 0;
  c.last = larger(larger(c.lead_least, least_normal) * power(-s->fraction_bits), s->unit[lane]);
  return c;
}

/* Adds the truncation errors of the terms, for each lane with its own q. */
static void lose_terms(const fused *f, const terms *t, int first, int stride, const double q[LANES],
                       smma_bound_sum *s) {
  double positive[LANES] = {0}, negative[LANES] = {0};
  for (int i = first; i < t->count; i += stride)
    for (int j = 0; j < LANES; j++) {
      const double value = t->value[i][j], unit = t->unit[i][j], cut = unit < q[j] ? q[j] : 0;
      const double part = unit < q[j] ? q[j] - unit : 0, magnitude = fabs(value);
      const double loss = !f->truncates ? cut : part < magnitude ? part : magnitude;
      positive[j] += value > 0 ? loss : 0;
      negative[j] += value < 0 ? loss : 0;
    }
  for (int j = 0; j < LANES; j++) {
    s->below[j] += positive[j] * f->positive_down + negative[j] * f->negative_down;
    s->above[j] += positive[j] * f->positive_up + negative[j] * f->negative_up;
  }
}

static void lose_accumulator(const fused *f, const accumulator *c, double q, double *below, double *above) {
  double loss = c->last < q ? q : 0;
  if (f->truncates && loss > 0) loss = smaller(q - c->last, c->most);
  if (c->most == 0) return;
  if (c->to > 0) *below += loss * f->positive_down, *above += loss * f->positive_up;
  if (c->from < 0 && !(c->to > 0 && f->positive_down == f->negative_down))
    *below += loss * f->negative_down, *above += loss * f->negative_up;
}

static void greatest_leads(const terms *t, int first, int stride, double lead[LANES]) {
  for (int j = 0; j < LANES; j++) lead[j] = 0;
  for (int i = first; i < t->count; i += stride)
    for (int j = 0; j < LANES; j++) lead[j] = t->lead[i][j] > lead[j] ? t->lead[i][j] : lead[j];
}

/* Sets the leads to those of normalised products, whose values fit in a double. */
static void normalize_leads(terms *t) {
  for (int i = 0; i < t->count; i++)
    for (int j = 0; j < LANES; j++) t->lead[i][j] = power_below(fabs(t->value[i][j]));
}

static void lower_units(const terms *t, double unit[LANES]) {
  for (int i = 0; i < t->count; i++)
    for (int j = 0; j < LANES; j++) unit[j] = t->unit[i][j] < unit[j] ? t->unit[i][j] : unit[j];
}

/* Accounts for one block of T-FDPA, ST-FDPA, GST-FDPA, E-FDPA or G-FDPA. `c` is the accumulator before the block. */
static void fuse(const fused *f, const terms *t, const accumulator c[LANES], double slack, smma_bound_sum *s) {
  double lead[LANES], q[LANES], surely[LANES];
  greatest_leads(t, 0, 1, lead);
  for (int j = 0; j < LANES; j++) {
    q[j] = larger(larger(lead[j], f->zero_lead), c[j].lead_most) * f->kept * f->coarse;
    surely[j] = larger(lead[j], c[j].lead_least) * f->kept * f->kept_unit;
  }
  if (f->kept == 0) lower_units(t, s->unit);
  if (f->kept != 0) lose_terms(f, t, 0, 1, q, s);
  for (int j = 0; j < LANES; j++) {
    if (f->kept != 0) {
      lose_accumulator(f, &c[j], q[j], &s->below[j], &s->above[j]);
      s->unit[j] = surely[j];
    }
    smma_bound_round(s, j, slack, &f->rounding);
    if (f->kept != 0) s->unit[j] = 0;
  }
  s->fraction_bits = f->rounding.fraction_bits;
}

/* ---- TR-FDPA, GTR-FDPA ---- */

/* Truncates the products under their greatest exponent. With stride 2, even and odd products have separate
   exponents. Returns the exponent under which the sums are added. */
static void truncate_products(const smma_tr_fdpa *p, int stride, const terms *t, smma_bound_sum *s,
                              double joined[LANES]) {
  const fused f = {.truncates = true, .positive_down = 1, .negative_up = 1};
  const double kept = power(-p->alignment_bits);
  double lead[2][LANES] = {{0}}, q[LANES];
  for (int part = 0; part < stride; part++) {
    greatest_leads(t, part, stride, lead[part]);
    for (int j = 0; j < LANES; j++) q[j] = lead[part][j] * kept;
    lose_terms(&f, t, part, stride, q, s);
  }
  for (int j = 0; j < LANES; j++) {
    joined[j] = larger(lead[0][j], lead[1][j]);
    if (stride == 2 && smaller(lead[0][j], lead[1][j]) > 0 && lead[0][j] != lead[1][j])
      s->below[j] += joined[j] * kept; /* the smaller sum is rounded down */
  }
}

/* Rounds the sum of products and c down under their common exponent, then the total to F2 bits and to FP32. */
static void finish_rounding_down(const smma_rule *r, const accumulator *c, double products, double slack,
                                 smma_bound_sum *s, int lane) {
  const smma_tr_fdpa *p = &r->with.tr_fdpa;
  const smma_bound_rounding f32 = smma_bound_rounding_to(SMMA_F32, SMMA_ROUND_NEAREST_EVEN);
  const double common = larger(larger(products, c->lead_most), f32.least), kept = power(-p->alignment_bits);
  const double products_kept = common * power(-p->sum_bits - (p->revision > 1));
  double from, to;
  if (products > 0 && products * kept < products_kept) s->below[lane] += products_kept;
  if (c->most > 0 && c->last < common * kept) s->below[lane] += common * kept;
  if (r->algorithm == SMMA_GTR_FDPA && c->from < 0 && products > 0)
    s->above[lane] += smaller(-c->from, common * kept / 2); /* a c far below the sum of products counts as zero */
  s->unit[lane] = 0;
  smma_bound_range(s, lane, slack, &from, &to);
  if (p->revision > 1) s->below[lane] += larger(power_below(larger(-from, to)), f32.least) * power(-p->sum_bits);
  smma_bound_round(s, lane, slack, &f32);
}

static void round_down_block(const smma_rule *r, const terms *t, const accumulator c[LANES], double slack,
                             smma_bound_sum *s) {
  double products[LANES];
  truncate_products(&r->with.tr_fdpa, r->algorithm == SMMA_GTR_FDPA ? 2 : 1, t, s, products);
  for (int i = 0; i < t->count; i++)
    for (int j = 0; j < LANES; j++)
      if (fabs(t->value[i][j]) >= 0x1p128) s->below[j] = s->above[j] = INFINITY;
  for (int j = 0; j < LANES; j++) finish_rounding_down(r, &c[j], products[j], slack, s, j);
  s->fraction_bits = smma_encoding_of(SMMA_F32).fraction_bits;
}

/* ---- C-FDPA, GD-FDPA ---- */

/* Bounds the terms of C-FDPA, seen in the sign of c. Each term is at most one unit too small: a term with the sign
   of c is truncated, a term of the opposite sign becomes its complement. A term with the sign of c and no bits below
   a unit is exact; a zero c may have either sign. */
static void lose_to_complements(const terms *t, const accumulator *c, double q, smma_bound_sum *s, int lane) {
  double loss = c->last < q && c->most > 0 ? q : 0;
  for (int i = 0; i < t->count; i++) {
    const double value = t->value[i][lane];
    const bool agrees = (c->from > 0 && value > 0) || (c->to < 0 && value < 0);
    loss += agrees && t->unit[i][lane] >= q ? 0 : q;
  }
  if (c->to >= 0) s->below[lane] += loss;
  if (c->from <= 0) s->above[lane] += loss;
}

/* Bounds the terms that are rounded down: products within their group, then groups and c under the common unit. A c
   below that unit counts as zero. */
static void lose_downward(const smma_c_fdpa *p, const terms *t, const accumulator *c, double q, smma_bound_sum *s,
                          int lane) {
  const int length = smma_minimum(p->group, t->count);
  for (int first = 0; first < t->count; first += length) {
    double lead = 0, unit;
    for (int i = first; i < first + length; i++) lead = larger(lead, t->lead[i][lane]);
    unit = lead * power(-p->alignment_bits);
    for (int i = first; i < first + length; i++)
      if (t->unit[i][lane] < unit) s->below[lane] += unit;
    if (lead > 0 && unit < q) s->below[lane] += q;
  }
  if (c->most > 0 && c->last < q) s->below[lane] += q;
  if (c->from < 0) s->above[lane] += smaller(-c->from, q);
}

static void add_below_c(const smma_operation *o, const terms *t, const accumulator c[LANES], double slack,
                        smma_bound_sum *s) {
  const smma_c_fdpa *p = &o->rule.with.c_fdpa;
  const smma_format wide = p->output == SMMA_BF16 ? SMMA_F32 : p->output;
  const smma_bound_rounding half = smma_bound_rounding_to(SMMA_BF16, SMMA_ROUND_TOWARD_ZERO);
  smma_bound_rounding rounding = smma_bound_rounding_to(wide, SMMA_ROUND_NEAREST_EVEN);
  double lead[LANES];
  rounding.flushes = o->rule.algorithm == SMMA_C_FDPA && smma_c_fdpa_subnormals(o->d) != SMMA_SUBNORMALS_KEPT;
  if (p->overflow != SMMA_SUM_TO_INFINITY)
    rounding.limit = smma_bound_rounding_to(wide, SMMA_ROUND_DOWN).limit; /* above it a sum may saturate */
  greatest_leads(t, 0, 1, lead);
  for (int j = 0; j < LANES; j++) {
    const double q =
        larger(lead[j] * power(-p->alignment_bits), larger(c[j].lead_most, rounding.least) * power(-p->c_bits));
    if (lead[j] > 0 || c[j].most > 0) {
      if (o->rule.algorithm == SMMA_C_FDPA)
        lose_to_complements(t, &c[j], q, s, j);
      else
        lose_downward(p, t, &c[j], q, s, j);
    }
    s->unit[j] = 0;
    smma_bound_round(s, j, slack, &rounding);
    if (wide != p->output) smma_bound_round(s, j, slack, &half);
  }
  s->fraction_bits = smma_encoding_of(p->output).fraction_bits;
}

/* ---- Operations that round one after another ---- */

/* A partial sum: its value and the error of its roundings. */
typedef struct {
  double value, below, above, unit;
} rounded;

static void round_number(const smma_bound_rounding *r, rounded *x) {
  const double inexact = fabs(x->value) * 0x1p-48;
  add_rounding(r, x->value - x->below - inexact, x->value + x->above + inexact, x->unit, &x->below, &x->above);
}

static rounded add_numbers(const smma_bound_rounding *r, rounded x, rounded y) {
  rounded sum = {x.value + y.value, x.below + y.below, x.above + y.above, smaller(x.unit, y.unit)};
  round_number(r, &sum);
  return sum;
}

static rounded product_at(const smma_bound_rounding *r, const terms *t, int i, int lane) {
  rounded p = {t->value[i][lane], 0, 0, t->unit[i][lane]};
  round_number(r, &p);
  return p;
}

static void add_pairwise(const smma_operation *o, const smma_bound_rounding *f32, const smma_bound_factor *a,
                         const smma_bound_factors *b, double slack, smma_bound_sum *s) {
  const int width = o->rule.with.ftz_addmul.pairwise;
  terms t;
  t.flushes = true, t.is_long = false;
  for (int k = 0; k < o->k; k += width) {
    for (int i = 0; i < width; i++) take_product(&a[k + i], &b[k + i], s, &t, i);
    for (int j = 0; j < LANES; j++) {
      rounded sum = add_numbers(f32, product_at(f32, &t, 0, j), product_at(f32, &t, 1, j));
      if (width == 4)
        sum = add_numbers(f32, sum, add_numbers(f32, product_at(f32, &t, 2, j), product_at(f32, &t, 3, j)));
      s->below[j] += sum.below, s->above[j] += sum.above;
      s->unit[j] = smaller(s->unit[j], sum.unit);
      smma_bound_round(s, j, slack, f32);
    }
  }
}

/* Adds a product of FP64 factors, which a double cannot hold exactly. Includes the error of products below the least
   double. */
static void add_wide_product(const smma_bound_factor *a, const smma_bound_factors *b, smma_bound_sum *s) {
  for (int j = 0; j < LANES; j++) {
    const double x = a->value * b->value[j];
    smma_bound_add_exact(s, j, x, fma(a->value, b->value[j], -x));
    s->unit[j] = smaller(s->unit[j], a->unit * b->unit[j]);
    s->below[j] += 0x1p-1074, s->above[j] += 0x1p-1074;
  }
}

static void add_one_by_one(const smma_operation *o, const smma_bound_rounding *r, const smma_bound_factor *a,
                           const smma_bound_factors *b, double slack, smma_bound_sum *s) {
  const bool last_first = o->rule.algorithm == SMMA_FTZ_FMA;
  terms t;
  const bool wide = is_wide(o->a) || is_wide(o->b);
  t.count = 1, t.flushes = last_first, t.is_long = has_long_products(o);
  for (int i = 0; i < o->k; i++) {
    const int k = last_first ? o->k - 1 - i : i;
    if (wide) {
      add_wide_product(&a[k], &b[k], s);
    } else {
      take_product(&a[k], &b[k], s, &t, 0);
      lower_units(&t, s->unit);
    }
    for (int j = 0; j < LANES; j++) smma_bound_round(s, j, slack, r);
  }
}

static void add_pairs(const smma_operation *o, const smma_pairs *pairs, const smma_bound_rounding *r,
                      const smma_bound_factor *a, const smma_bound_factors *b, double slack, smma_bound_sum *s) {
  const bool wide = is_wide(o->a) || is_wide(o->b);
  const double least = wide ? 0x1p-1074 : 0; /* the error of an FP64 product below a double's range */
  smma_bound_rounding of_pair = *r;
  terms t;
  if (pairs->range != pairs->output) {
    const smma_bound_rounding range = smma_bound_rounding_to(pairs->range, pairs->rounding);
    of_pair.least = range.least, of_pair.limit = range.limit;
  }
  t.flushes = r->flushes, t.is_long = has_long_products(o);
  for (int k = 0; k < o->k; k += 2) {
    for (int i = 0; i < 2; i++) take_product(&a[k + i], &b[k + i], s, &t, i);
    for (int j = 0; j < LANES; j++) {
      rounded pair[2];
      for (int i = 0; i < 2; i++) {
        pair[i] = (rounded){t.value[i][j], least, least, t.unit[i][j]};
        if (!pairs->fused) round_number(r, &pair[i]);
      }
      pair[0] = add_numbers(&of_pair, pair[0], pair[1]);
      s->below[j] += pair[0].below, s->above[j] += pair[0].above;
      s->unit[j] = smaller(s->unit[j], pair[0].unit);
      smma_bound_round(s, j, slack, r);
    }
  }
}

/* Adds a sum to another, without rounding. */
static void join_part(const smma_bound_sum *part, smma_bound_sum *s) {
  for (int j = 0; j < LANES; j++) {
    const double size = s->size[j] + part->size[j];
    smma_bound_add_exact(s, j, part->high[j], part->low[j]);
    s->size[j] = size;
    s->below[j] += part->below[j], s->above[j] += part->above[j];
    s->unit[j] = smaller(s->unit[j], part->unit[j]);
  }
}

/* Adds a sum to another. */
static void add_part(const smma_bound_sum *part, const smma_bound_rounding *r, double slack, smma_bound_sum *s) {
  join_part(part, s);
  for (int j = 0; j < LANES; j++) smma_bound_round(s, j, slack, r);
}

/* ---- Compositions of exact sums ---- */

static smma_bound_sum zero_sum(int fraction_bits) {
  smma_bound_sum zero = {.fraction_bits = fraction_bits};
  for (int j = 0; j < LANES; j++) zero.unit[j] = GREAT;
  return zero;
}

/* Reports whether a fixed reference retains all bits of products. */
static bool retains_products(const smma_operation *o, const smma_step *s) {
  const smma_encoding a = smma_encoding_of(o->a), b = smma_encoding_of(o->b);
  const int last = smma_minimum_exponent(a) - a.fraction_bits + smma_minimum_exponent(b) - b.fraction_bits;
  return s->reference != SMMA_NONE && s->term.drop == SMMA_NONE && s->reference - s->term.bits <= last;
}

/* Reports whether every sum of the step is exact, and then rounded at most once. The rounding may be preceded by one to
   as many bits, for underflow. */
static bool is_exact_sum(const smma_operation *o, const smma_composition *p, int step) {
  const smma_step *s = &p->step[step];
  const bool unrounded = s->output == SMMA_NO_FORMAT;
  const bool exact = smma_is_exact_alignment(s) || (step == 0 && unrounded && retains_products(o, s));
  const bool once =
      s->narrow_bits == SMMA_NONE || (!unrounded && s->narrow_bits == smma_encoding_of(s->output).fraction_bits &&
                                      !s->narrow_subnormals && s->narrow_rounding == s->rounding);
  return exact && once && s->join != SMMA_JOIN_TREE && s->stride == 1 && !s->descending &&
         s->opposing == SMMA_OPPOSING_EXACT && s->width == SMMA_NONE && s->overflow == SMMA_SUM_TO_INFINITY &&
         s->least_reference == SMMA_NONE && s->minus_one_shift == 0 && s->term.again == 0 &&
         (unrounded ? step == 0 : !smma_is_integer(s->output) && !is_wide(s->output));
}

static bool has_exact_sums(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  if (p->widen != SMMA_NO_FORMAT || p->product_limit != SMMA_NONE || p->product != SMMA_PRODUCT_MULTIPLIED ||
      !smma_has_whole_products(p) || p->scaled_step > (p->step[0].output == SMMA_NO_FORMAT) || smma_is_integer(o->a) ||
      smma_is_integer(o->b) || is_wide(o->a) || is_wide(o->b) || o->k > SMMA_MAXIMUM_ROUNDED_K)
    return false;
  for (int step = 0; step < p->steps; step++)
    if (!is_exact_sum(o, p, step)) return false;
  return true;
}

/* Replaces `count` nodes by the sums of a step; returns their number. `c` is the accumulator. */
static int add_step(const smma_step *p, smma_bound_sum *node, int count, const smma_bound_sum *c, double slack) {
  const bool rounds = p->output != SMMA_NO_FORMAT;
  const int groups = count / p->take, in_window = p->window / p->take;
  const int sums = p->join == SMMA_JOIN_CHAIN ? p->chains : groups;
  smma_bound_rounding r = {0};
  smma_bound_sum sum[SMMA_MAXIMUM_ROUNDED_K];
  if (rounds) r = smma_bound_rounding_to(p->output, p->rounding);
  r.flushes = p->subnormal_outputs != SMMA_SUBNORMALS_KEPT;
  for (int n = 0; n < sums; n++) sum[n] = n == 0 && p->start == SMMA_START_C ? *c : zero_sum(r.fraction_bits);
  for (int group = 0; group < groups; group++) {
    smma_bound_sum *to = &sum[group % sums];
    for (int i = 0; i < p->take; i++)
      join_part(
          &node[group / in_window * p->window + (i / p->turn * in_window + group % in_window) * p->turn + i % p->turn],
          to);
    for (int j = 0; rounds && j < LANES; j++) smma_bound_round(to, j, slack, &r);
    if (rounds) to->fraction_bits = r.fraction_bits;
  }
  memcpy(node, sum, (size_t)sums * sizeof *sum);
  return sums;
}

/* Adds products step by step. */
static void add_steps(const smma_operation *o, const smma_bound_factor *a, const smma_bound_factors *b, double slack,
                      smma_bound_sum *s) {
  const smma_composition *p = &o->rule.with.composition;
  smma_bound_sum node[SMMA_MAXIMUM_ROUNDED_K];
  terms t;
  int count = o->k;
  t.count = 1, t.flushes = true, t.is_long = has_long_products(o);
  for (int k = 0; k < o->k; k++) {
    node[k] = zero_sum(0);
    take_product(&a[k], &b[k], &node[k], &t, 0);
    lower_units(&t, node[k].unit);
  }
  for (const smma_step *step = p->step; step < p->step + p->steps; step++)
    count = add_step(step, node, count, s, slack);
  *s = node[0];
}

/* ---- All ---- */

/* Accounts for a subnormal c that the unit reads as zero. */
static void flush_accumulator(const smma_bound_rounding *r, double slack, smma_bound_sum *s) {
  const smma_bound_rounding flush = {.least = r->least, .ulp = 0, .limit = INFINITY, .flushes = true};
  for (int j = 0; j < LANES; j++) smma_bound_round(s, j, slack, &flush);
}

static bool adds_below_c(const smma_rule *r) { return r->algorithm == SMMA_C_FDPA || r->algorithm == SMMA_GD_FDPA; }

/* Adds the blocks in order. */
static void add_blocks(const smma_operation *o, const smma_g_fdpa *g, const smma_bound_factor *a,
                       const smma_bound_factors *b, double slack, smma_bound_sum *s) {
  const bool rounds_down = o->rule.algorithm == SMMA_TR_FDPA || o->rule.algorithm == SMMA_GTR_FDPA;
  fused f = g ? generic(g) : rounds_down || adds_below_c(&o->rule) ? (fused){0} : fused_of(&o->rule);
  const int blocks = g ? o->k / g->block : smma_blocks_per_step(o);
  const double least = power(smma_minimum_exponent(smma_encoding_of(o->d)));
  accumulator c[LANES];
  terms t;
  t.flushes = flushes_factors(&o->rule) || o->rule.algorithm == SMMA_C_FDPA;
  t.is_long = has_long_products(o);
  if (g) f.coarse = power(o->rule.with.composition.step[0].reference_multiple - 1);
  for (int block = 0; block < blocks; block++) {
    for (int j = 0; j < LANES; j++) c[j] = accumulator_of(s, j, slack, least);
    take_terms(o, g, a, b, block, s, &t);
    if (f.normalized) normalize_leads(&t);
    if (adds_below_c(&o->rule))
      add_below_c(o, &t, c, slack, s);
    else if (rounds_down)
      round_down_block(&o->rule, &t, c, slack, s);
    else
      fuse(&f, &t, c, slack, s);
  }
}

/* Adds the blocks, starting from +0, and then c. */
static void add_apart(const smma_operation *o, const smma_g_fdpa *g, const smma_bound_factor *a,
                      const smma_bound_factors *b, double slack, const smma_bound_rounding *rounding,
                      smma_bound_sum *s) {
  smma_bound_sum part = {.fraction_bits = s->fraction_bits};
  add_blocks(o, g, a, b, slack, &part);
  for (int j = 0; j < LANES; j++) part.unit[j] = 0;
  add_part(&part, rounding, slack, s);
  s->fraction_bits = rounding->fraction_bits;
}

/* Adds the sum of a composition that is G-FDPA. */
static void add_chain(const smma_operation *o, const smma_g_fdpa *g, const smma_bound_factor *a,
                      const smma_bound_factors *b, double slack, smma_bound_sum *s) {
  const double limit = smma_bound_rounding_to(o->d, g->c_rounding).limit;
  smma_bound_rounding rounding = generic(g).rounding;
  if (g->c_joins == SMMA_C_JOINS_FIRST) {
    add_blocks(o, g, a, b, slack, s);
    return;
  }
  rounding.direction = g->c_rounding;
  rounding.limit = smaller(rounding.limit, limit);
  add_apart(o, g, a, b, slack, &rounding, s);
}

/* Reports whether all products are aligned together and rounded, and then c is added. */
static bool joins_c_last(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  const smma_step *s = &p->step[0], *last = &p->step[1];
  return p->steps == 2 && p->widen == SMMA_NO_FORMAT && p->product_limit == SMMA_NONE && p->scaled_step == 0 &&
         p->product == SMMA_PRODUCT_MULTIPLIED && p->subnormal_a == p->subnormal_b && !is_wide(o->a) &&
         !is_wide(o->b) && !smma_is_integer(o->a) && !smma_is_integer(o->b) && s->take == o->k &&
         s->join == SMMA_JOIN_APART && s->reference == SMMA_NONE && s->width == SMMA_NONE &&
         s->narrow_bits == SMMA_NONE && s->least_reference == SMMA_NONE && s->minus_one_shift == 0 &&
         smma_has_whole_products(p) && smma_aligns_alike(s) && s->overflow == SMMA_SUM_TO_INFINITY &&
         s->output == last->output && s->subnormal_outputs == last->subnormal_outputs &&
         smma_is_exact_step(last, 1, SMMA_JOIN_CHAIN) && last->start == SMMA_START_C;
}

void smma_bound_step(const smma_operation *o, const smma_bound_factor *a, const smma_bound_factors *b, double slack,
                     smma_bound_sum *s) {
  smma_g_fdpa g;
  smma_pairs pairs;
  smma_bound_rounding rounding =
      smma_bound_rounding_to(o->d, o->rule.algorithm == SMMA_FMA ? o->rule.with.fma.rounding : SMMA_ROUND_NEAREST_EVEN);
  const bool flushes =
      (o->rule.algorithm != SMMA_COMPOSITION && flushes_factors(&o->rule)) ||
      (o->rule.algorithm == SMMA_C_FDPA && smma_c_fdpa_subnormals(o->d) != SMMA_SUBNORMALS_KEPT) ||
      (o->rule.algorithm == SMMA_COMPOSITION && o->rule.with.composition.subnormal_c != SMMA_SUBNORMALS_KEPT);
  if (flushes) flush_accumulator(&rounding, slack, s);
  switch (o->rule.algorithm) {
    case SMMA_FMA: add_one_by_one(o, &rounding, a, b, slack, s); return;
    case SMMA_FTZ_FMA: rounding.flushes = true, add_one_by_one(o, &rounding, a, b, slack, s); return;
    case SMMA_FTZ_ADDMUL: rounding.flushes = true, add_pairwise(o, &rounding, a, b, slack, s); return;
    case SMMA_FP8_BY_FP16: add_apart(o, NULL, a, b, slack, &rounding, s); return;
    case SMMA_COMPOSITION:
      if (is_chain(o, &g)) {
        add_chain(o, &g, a, b, slack, s);
        return;
      }
      if (smma_is_sum_of_pairs(&o->rule.with.composition, &pairs) && o->k % 2 == 0 && !o->scale_block) {
        rounding = smma_bound_rounding_to(pairs.output, pairs.rounding);
        rounding.flushes = flushes;
        add_pairs(o, &pairs, &rounding, a, b, slack, s);
        return;
      }
      if (joins_c_last(o)) {
        g = smma_g_fdpa_of(&o->rule.with.composition);
        add_chain(o, &g, a, b, slack, s);
        return;
      }
      if (has_exact_sums(o)) {
        add_steps(o, a, b, slack, s);
        return;
      }
      break;
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_GST_FDPA:
    case SMMA_E_FDPA:
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA:
    case SMMA_INTEGER: add_blocks(o, NULL, a, b, slack, s); return;
    default: break;
  }
  /* No bound is known for the unit's sum; the exact sum continues. */
  add_one_by_one(o, &rounding, a, b, slack, s);
  for (int j = 0; j < LANES; j++) s->below[j] = s->above[j] = INFINITY;
}
