/* Questions about the rounding direction of a chain of FMAs. */
#include "question/operands.h"
#include "question/question.h"

static bool is_directed_fma(const smma_instruction *i) {
  const smma_rule *rule = &i->rule->rule;
  return rule->algorithm == SMMA_FMA && smma_is_directed(rule->with.fma.rounding);
}

static uint64_t in_direction(const smma_operation *model, smma_operands x, uint64_t c, int direction) {
  smma_operation o = *model;
  o.rule.with.fma.rounding = (smma_rounding)direction;
  return smma_dot_add(&o, x, c);
}

/* Computes the model, with overflow and exact zeros as IEEE 754 requires for the rounding direction. */
static uint64_t but_overflows(const smma_operation *model, smma_operands x, uint64_t c, int unused) {
  const smma_encoding f = smma_encoding_of(model->d);
  const uint64_t d = smma_dot_add(model, x, c);
  const smma_number nearest = smma_decode(f, in_direction(model, x, c, SMMA_ROUND_NEAREST_EVEN));
  (void)unused;
  return nearest.kind == SMMA_INFINITE ? smma_overflowed(f, nearest.negative, SMMA_OVERFLOW_INFINITY) : d;
}

static uint64_t but_zeros(const smma_operation *model, smma_operands x, uint64_t c, int unused) {
  const uint64_t d = smma_dot_add(model, x, c);
  (void)unused;
  return smma_decode(smma_encoding_of(model->d), d).kind == SMMA_ZERO
             ? in_direction(model, x, c, SMMA_ROUND_NEAREST_EVEN)
             : d;
}

static const smma_candidate directions[] = {{"to nearest even", in_direction, SMMA_ROUND_NEAREST_EVEN},
                                            {"toward zero", in_direction, SMMA_ROUND_TOWARD_ZERO},
                                            {"toward negative infinity", in_direction, SMMA_ROUND_DOWN},
                                            {"toward positive infinity", in_direction, SMMA_ROUND_UP},
                                            {"in that direction, but overflow gives infinity", but_overflows, 0},
                                            {"in that direction, but exact zeros are +0", but_zeros, 0},
                                            {0}};

enum { BELOW = -60, LARGE = 600 };

/* Makes test vectors with c and one product. They show the direction in which a bit is rounded off, for both signs;
   overflow; and the sign of an exact zero. */
static const char *row_of_directions(const smma_operation *o, int index, smma_row *row) {
  static const char *const what[] = {"1 + 2^-60", "-1 - 2^-60", "1 - 2^-60", "-1 + 2^-60",
                                     "overflow",  "-overflow",  "1 - 1"};
  enum { OVERFLOWS = 4, ZERO = 6 };
  const bool overflows = index >= OVERFLOWS && index < ZERO, negative = index % 2;
  if (index == (int)(sizeof what / sizeof *what)) return NULL;
  clear_row(o, row);
  for (int k = 1; k < o->k; k++) set_product(row, k, 0, zero_of(o->b, index == ZERO)); /* -0 preserves a sign */
  if (overflows) {
    set_product(row, 0, power_of_two(o->a, negative, LARGE), power_of_two(o->b, false, LARGE));
    return what[index];
  }
  row->c = power_of_two(o->c, index == 1 || index == 3, 0);
  set_power(o, row, 0, index == 1 || index == 2 || index == ZERO, index == ZERO ? 0 : BELOW);
  return what[index];
}

const smma_question smma_question_fma_direction = {"fma-direction", "in which direction a chain of FMAs rounds",
                                                   is_directed_fma, row_of_directions,
                                                   false,           directions};
