#include "numerics/bound_plan.h"

#include <math.h>

#include "core/range.h"

enum { LANES = SMMA_BOUND_LANES };

void smma_bound_round_to(smma_format format, double slack, int lane, smma_bound_sum *s) {
  const smma_bound_rounding rounding = smma_bound_rounding_to(format, SMMA_ROUND_NEAREST_EVEN);
  smma_bound_round(s, lane, slack, &rounding);
}

/* Bounds the product of the unit's sum and x, compared with the product of the exact sum and x + rest. Does not account
   for a rounding of the unit's product. */
static void scale(double x, double rest, int lane, smma_bound_sum *s) {
  const double high = s->high[lane] * x, lost = s->high[lane] * rest;
  const double low = fma(s->high[lane], x, -high) + s->low[lane] * x;
  const double below = x < 0 ? s->above[lane] : s->below[lane], above = x < 0 ? s->below[lane] : s->above[lane];
  s->high[lane] = high, s->low[lane] = low + lost;
  s->size[lane] *= fabs(x) + fabs(rest);
  s->below[lane] = below * fabs(x) + (lost > 0 ? lost : 0) + fabs(lost) * 0x1p-40;
  s->above[lane] = above * fabs(x) + (lost < 0 ? -lost : 0) + fabs(lost) * 0x1p-40;
  s->unit[lane] = 0;
}

/* ---- Between chains ---- */

static void round_as(int stored, double slack, int lane, smma_bound_sum *s) {
  if (stored != SMMA_STORED_AS_IS) smma_bound_round_to((smma_format)stored, slack, lane, s);
}

/* Multiplies by a part's scale factors a and b, with the unit's roundings. a * b is exact in double, because each has
   24 bits. */
static void scale_part(const smma_task *t, smma_format outer, double slack, double a, double b, int lane,
                       smma_bound_sum *s) {
  const double factor = (double)(float)(a * b);
  if (t->with == SMMA_WITH_FMA) scale(factor, a * b - factor, lane, s);
  if (t->with == SMMA_WITH_FMA) return;
  scale(t->with == SMMA_WITH_MULTIPLY_FMA ? a : b, 0, lane, s);
  smma_bound_round_to(outer, slack, lane, s);
  scale(t->with == SMMA_WITH_MULTIPLY_FMA ? b : a, 0, lane, s);
}

void smma_bound_task(const smma_task *t, smma_format outer, double slack, double scale_a, const double *scale_b,
                     const smma_bound_sum *from, smma_bound_sum *to) {
  smma_bound_sum part = *from;
  for (int j = 0; j < LANES; j++) {
    round_as(t->stored, slack, j, &part);
    if (t->kind == SMMA_TASK_MOVE) continue;
    if (t->with != SMMA_WITH_ADD) scale_part(t, outer, slack, scale_a, scale_b[j], j, &part);
    smma_bound_join(&part, j, to);
    smma_bound_round_to(outer, slack, j, to);
  }
  if (t->kind == SMMA_TASK_MOVE) *to = part;
  for (int j = 0; j < LANES; j++) round_as(t->total, slack, j, to);
  if (t->kind == SMMA_TASK_FOLD) to->fraction_bits = smma_encoding_of(outer).fraction_bits;
}

/* ---- Epilogues ---- */

/* Returns the bounds of a product that the unit rounds to the outer format. */
static smma_bound_sum product(double x, double y, smma_format outer, double slack, int lane) {
  smma_bound_sum s = smma_bound_empty(outer);
  s.unit[lane] = 0;
  smma_bound_add_exact(&s, lane, x * y, fma(x, y, -(x * y)));
  smma_bound_round_to(outer, slack, lane, &s);
  return s;
}

static double between(double x, double least, double most) { return x < least ? least : x > most ? most : x; }

/* Clamps the exact sum and the unit's sum to [least, most]. The unit's clamped sum lies between its clamped bounds. */
static void clamp(double least, double most, double slack, int lane, smma_bound_sum *s) {
  const double sum = s->high[lane] + s->low[lane], exact = between(sum, least, most);
  double from, to;
  smma_bound_range(s, lane, slack, &from, &to);
  if (isfinite(s->below[lane]) && isfinite(s->above[lane])) {
    s->below[lane] = fmax(exact - between(from, least, most), 0);
    s->above[lane] = fmax(between(to, least, most) - exact, 0);
  }
  if (exact != sum) s->high[lane] = exact, s->low[lane] = 0;
  s->unit[lane] = 0;
}

void smma_bound_epilogue(const smma_epilogue *e, smma_format outer, double slack, const smma_bound_operands *with,
                         int lane, smma_bound_sum *s) {
  smma_bound_sum addend;
  smma_encoding f;
  switch (e->kind) {
    case SMMA_EPILOGUE_ALPHA: scale(with->alpha, 0, lane, s); break;
    case SMMA_EPILOGUE_SCALE_D: scale(with->scale_d, 0, lane, s); break;
    case SMMA_EPILOGUE_LINEAR:
      addend = product(with->beta, with->c, outer, slack, lane);
      scale(with->alpha, 0, lane, s);
      smma_bound_join(&addend, lane, s);
      break;
    case SMMA_EPILOGUE_BETA:
      addend = product(with->beta, with->c, outer, slack, lane);
      smma_bound_join(&addend, lane, s);
      break;
    case SMMA_EPILOGUE_BIAS:
      smma_bound_add_exact(s, lane, with->bias, 0);
      s->unit[lane] = 0;
      break;
    case SMMA_EPILOGUE_RELU: clamp(0, INFINITY, slack, lane, s); return;
    case SMMA_EPILOGUE_ROUND: smma_bound_round_to(e->format, slack, lane, s); return;
    case SMMA_EPILOGUE_CLAMP:
      f = smma_encoding_of(e->format);
      clamp(smma_format_decode(e->format, smma_least_of(f)), smma_format_decode(e->format, smma_greatest_of(f)), slack,
            lane, s);
      return;
  }
  smma_bound_round_to(outer, slack, lane, s);
}
