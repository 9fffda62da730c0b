#include "numerics/bound_sum.h"

#include <float.h>
#include <math.h>

#include "numerics/bound_forms.h"
#include "numerics/exact.h"

/* ---- Numbers ---- */

static double value_of(smma_number x) {
  const double magnitude = ldexp((double)x.significand, x.exponent - x.fraction_bits);
  if (x.kind == SMMA_NAN) return NAN;
  if (x.kind == SMMA_INFINITE) return x.negative ? -INFINITY : INFINITY;
  return x.negative ? -magnitude : magnitude;
}

double smma_bound_unit_of(smma_number x) {
  const uint64_t last = x.significand & (0 - x.significand);
  return last ? ldexp((double)last, x.exponent - x.fraction_bits) : SMMA_BOUND_GREAT;
}

static smma_subnormal_policy flush_of(const smma_rule *r, bool of_a) {
  if (r->algorithm == SMMA_FTZ_ADDMUL || r->algorithm == SMMA_FTZ_FMA) return SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  if (r->algorithm != SMMA_COMPOSITION) return SMMA_SUBNORMALS_KEPT;
  return of_a ? r->with.composition.subnormal_a : r->with.composition.subnormal_b;
}

bool smma_bound_flushes_factors(const smma_rule *r) {
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
  f.unit = smma_bound_unit_of(read) * smma_bound_unit_of(scale);
  f.lead = smma_power(scale.exponent);
  if (o->rule.algorithm != SMMA_GST_FDPA) f.lead *= smma_power(read.exponent);
  if (read.kind == SMMA_ZERO || scale.kind == SMMA_ZERO) f.lead = 0, f.unit = SMMA_BOUND_GREAT;
  return f;
}

smma_bound_rounding smma_bound_rounding_to(smma_format format, smma_rounding direction) {
  const smma_encoding f = smma_encoding_of(format);
  const smma_number largest = smma_decode(f, smma_largest_fields(f) << f.ignored_bits);
  smma_bound_rounding r = {smma_power(smma_minimum_exponent(f)),
                           smma_power(-f.fraction_bits),
                           value_of(largest),
                           f.fraction_bits,
                           direction,
                           false};
  if (direction == SMMA_ROUND_TOWARD_ZERO || direction == SMMA_ROUND_TO_ODD)
    r.limit += smma_power(largest.exponent - f.fraction_bits);
  if (direction == SMMA_ROUND_NEAREST_EVEN || direction == SMMA_ROUND_NEAREST_AWAY)
    r.limit += smma_power(largest.exponent - f.fraction_bits - 1);
  if (format == SMMA_F64) r.limit = DBL_MAX;
  return r;
}

/* ---- Sums ---- */

smma_bound_sum smma_bound_empty(smma_format format) {
  smma_bound_sum s = {.fraction_bits = smma_encoding_of(format).fraction_bits};
  for (int j = 0; j < SMMA_BOUND_LANES; j++) s.unit[j] = SMMA_BOUND_GREAT;
  return s;
}

double smma_bound_slack(size_t count) {
  const double roundings = 2 * (double)count + 16;
  return roundings * roundings * 0x1p-106;
}

void smma_bound_add_exact(smma_bound_sum *s, int lane, double x, double rest) {
  const smma_double_double sum = smma_add_product((smma_double_double){s->high[lane], s->low[lane]}, x, 1);
  s->high[lane] = sum.high, s->low[lane] = sum.low + rest;
  s->size[lane] += fabs(x) + fabs(rest);
}

/* Widens the range by the rounding errors of this computation. */
void smma_bound_range(const smma_bound_sum *s, int lane, double slack, double *from, double *to) {
  const double high = s->high[lane], low = s->low[lane], below = s->below[lane], above = s->above[lane];
  const double inexact = (fabs(high) + fabs(low)) * 0x1p-48 + s->size[lane] * slack;
  *from = high + (low - below) - (inexact + below * 0x1p-48);
  *to = high + (low + above) + (inexact + above * 0x1p-48);
}

void smma_bound_add_rounding(const smma_bound_rounding *r, double from, double to, double unit, double *below,
                             double *above) {
  const double most = smma_larger(-from, to), ulp = smma_larger(smma_power_below(most), r->least) * r->ulp;
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
    if (to > 0) down = smma_larger(down, smma_smaller(to, r->least));
    if (from < 0) up = smma_larger(up, smma_smaller(-from, r->least));
  }
  *below += down, *above += up;
}

void smma_bound_round(smma_bound_sum *s, int lane, double slack, const smma_bound_rounding *r) {
  double from, to;
  smma_bound_range(s, lane, slack, &from, &to);
  smma_bound_add_rounding(r, from, to, s->unit[lane], &s->below[lane], &s->above[lane]);
}

void smma_bound_join(const smma_bound_sum *part, int lane, smma_bound_sum *s) {
  const double size = s->size[lane] + part->size[lane];
  smma_bound_add_exact(s, lane, part->high[lane], part->low[lane]);
  s->size[lane] = size;
  s->below[lane] += part->below[lane], s->above[lane] += part->above[lane];
  s->unit[lane] = smma_smaller(s->unit[lane], part->unit[lane]);
}

smma_bounded smma_bound_end(const smma_bound_sum *s, int lane, double slack) {
  const double inexact = s->size[lane] * slack;
  smma_bounded x;
  x.exact = s->high[lane] + s->low[lane];
  x.rest = s->low[lane] - (x.exact - s->high[lane]);
  /* The bounds are sums of positive numbers in double. The rounding of the exact sum itself comes on top. */
  x.below = s->below[lane] * (1 + 0x1p-30) + inexact;
  x.above = s->above[lane] * (1 + 0x1p-30) + inexact;
  if (!isfinite(x.exact) || isnan(x.below) || isnan(x.above)) x.below = x.above = INFINITY;
  return x;
}
