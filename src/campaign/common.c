#include "campaign/common.h"

#include <math.h>

#include "isa/formats.h"
#include "softmma/softmma.h"

/* Returns a number below 0 if `x` is narrower than `y`, above 0 if `y` is narrower. */
static int compare_widths(smma_format x, smma_format y) {
  const smma_encoding f = smma_encoding_of(x), g = smma_encoding_of(y);
  if (smma_is_fixed_point(x) != smma_is_fixed_point(y)) return smma_is_fixed_point(x) ? -1 : 1;
  if (smma_is_fixed_point(x)) return f.bits - g.bits;
  if (smma_minimum_exponent(f) != smma_minimum_exponent(g)) return smma_minimum_exponent(g) - smma_minimum_exponent(f);
  return f.fraction_bits != g.fraction_bits ? f.fraction_bits - g.fraction_bits : f.bits - g.bits;
}

int smma_narrower_operands(const smma_instruction *const i[2]) {
  const int of_a = compare_widths(i[0]->a, i[1]->a), of_b = compare_widths(i[0]->b, i[1]->b);
  return (of_a ? of_a : of_b) > 0;
}

smma_common_operands smma_common_operands_of(const smma_instruction *const i[2]) {
  const int narrow = smma_narrower_operands(i);
  const bool numbers = i[0]->rule->rule.nan == SMMA_NAN_NUMBERS || i[1]->rule->rule.nan == SMMA_NAN_NUMBERS;
  return (smma_common_operands){{i[narrow]->a, i[narrow]->b}, {i[!narrow]->a, i[!narrow]->b}, numbers};
}

bool smma_are_same_operands(const smma_common_operands *c) {
  return c->of[0] == c->other[0] && c->of[1] == c->other[1];
}

static bool same_number(double x, double y) { return isnan(x) ? isnan(y) : x == y && !signbit(x) == !signbit(y); }

static uint64_t encode(smma_format f, double value) {
  return smma_format_encode(f, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

uint64_t smma_common_operand(const smma_common_operands *c, int operand, uint64_t x) {
  enum { ROUNDS = 4 };
  const smma_format of = c->of[operand], other = c->other[operand];
  if (of == other) return x;
  double value = smma_format_decode(of, x);
  if (c->finite_only && !isfinite(value)) return 0;
  for (int round = 0; round < ROUNDS; round++) {
    const double there = smma_format_decode(other, encode(other, value));
    if (same_number(value, there)) return x;
    x = encode(of, there);
    value = smma_format_decode(of, x);
    if (same_number(value, there)) return x;
  }
  return 0;
}

void smma_make_operands_common(const smma_common_operands *c, int k, smma_row *row) {
  for (int i = 0; i < k; i++) {
    row->a[i] = smma_common_operand(c, 0, row->a[i]);
    row->b[i] = smma_common_operand(c, 1, row->b[i]);
  }
}
