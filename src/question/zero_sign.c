/* Questions about the signs of zero results. */
#include "isa/compose.h"
#include "question/operands.h"
#include "question/question.h"

typedef enum { ALL_NEGATIVE, ANY_NEGATIVE, SIGN_OF_C, NO_NEGATIVE } zero_rule;

/* Computes the model with a different sign for a zero result. */
static uint64_t with_sign_of_zero(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const uint64_t d = smma_dot_add(model, x, c);
  bool c_negative = smma_decode(smma_encoding_of(model->c), c).negative, all = c_negative, any = c_negative;
  if (smma_decode(smma_encoding_of(model->d), d).kind != SMMA_ZERO) return d;
  for (int k = 0; k < model->k; k++) {
    const bool negative = x.a[k].negative != x.b[k].negative;
    all = all && negative;
    any = any || negative;
  }
  switch ((zero_rule)parameter) {
    case ALL_NEGATIVE: return zero_of(model->d, all);
    case ANY_NEGATIVE: return zero_of(model->d, any);
    case SIGN_OF_C: return zero_of(model->d, c_negative);
    default: return zero_of(model->d, false);
  }
}

static const smma_candidate signs_of_zero[] = {
    {"every zero sum is +0", with_sign_of_zero, NO_NEGATIVE},
    {"-0 if every term is negative, else +0 (IEEE 754)", with_sign_of_zero, ALL_NEGATIVE},
    {"-0 if any term is negative (IEEE 754, rounding down)", with_sign_of_zero, ANY_NEGATIVE},
    {"the sign of c", with_sign_of_zero, SIGN_OF_C},
    {0}};

/* The value of a summand in a sum that is exactly zero. The table has one value for c, one for each of the first two
   products, and one for all other products. */
typedef enum { MINUS_ONE, MINUS_ZERO, PLUS_ZERO, PLUS_ONE, ZERO_BY_ZERO } zero_term;
typedef struct {
  const char *what;
  zero_term c, first, second, others;
} zero_case;

static const zero_case zero_cases[] = {
    {"-0 + (-1)(+0) + ...", MINUS_ZERO, MINUS_ZERO, MINUS_ZERO, MINUS_ZERO},
    {"+0 + (-1)(+0) + ...", PLUS_ZERO, MINUS_ZERO, MINUS_ZERO, MINUS_ZERO},
    {"-0 + (+1)(+0) + ...", MINUS_ZERO, PLUS_ZERO, PLUS_ZERO, PLUS_ZERO},
    {"+0 + (+1)(+0) + ...", PLUS_ZERO, PLUS_ZERO, PLUS_ZERO, PLUS_ZERO},
    {"-1 + 1 + (+1)(+0) + ...", MINUS_ONE, PLUS_ONE, PLUS_ZERO, PLUS_ZERO},
    {"1 - 1 + (-1)(+0) + ...", PLUS_ONE, MINUS_ONE, MINUS_ZERO, MINUS_ZERO},
    {"-0 + (-1)(+0) + (+1)(+0) + (-1)(+0) + ...", MINUS_ZERO, MINUS_ZERO, PLUS_ZERO, MINUS_ZERO},
    {"-0 + 1 - 1 + (-1)(+0) + ...", MINUS_ZERO, PLUS_ONE, MINUS_ONE, MINUS_ZERO},
    {"-0 + (-0)(+0) + ...", MINUS_ZERO, ZERO_BY_ZERO, ZERO_BY_ZERO, ZERO_BY_ZERO}};

static void set_zero_term(const smma_operation *o, smma_row *row, int k, zero_term term) {
  const bool negative = term == MINUS_ONE || term == MINUS_ZERO;
  const bool zero = term == MINUS_ZERO || term == PLUS_ZERO;
  if (k >= o->k) return;
  set_product(row, k, term == ZERO_BY_ZERO ? zero_of(o->a, true) : power_of_two(o->a, negative, 0),
              zero || term == ZERO_BY_ZERO ? 0 : power_of_two(o->b, false, 0));
}

/* Reports whether K products and the format of a can represent the case. */
static bool has_case(const smma_operation *o, const zero_case *z) {
  if (o->k == 1 && z->second != z->others) return false;
  return z->first != ZERO_BY_ZERO || !smma_has_nan_for_negative_zero(smma_encoding_of(o->a));
}

static const char *row_of_zeros(const smma_operation *o, int index, smma_row *row) {
  for (size_t n = 0; n < sizeof zero_cases / sizeof *zero_cases; n++) {
    const zero_case *z = &zero_cases[n];
    const bool negative = z->c == MINUS_ONE || z->c == MINUS_ZERO;
    if (!has_case(o, z) || index-- > 0) continue;
    clear_row(o, row);
    row->c = z->c == MINUS_ONE || z->c == PLUS_ONE ? power_of_two(o->c, negative, 0) : zero_of(o->c, negative);
    for (int k = 0; k < o->k; k++) set_zero_term(o, row, k, k == 0 ? z->first : k == 1 ? z->second : z->others);
    return z->what;
  }
  return NULL;
}

/* Computes the model, except that a zero result has the sign `parameter` if a product is negative and not zero. */
static uint64_t with_sign_of_underflow(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const uint64_t d = smma_dot_add(model, x, c);
  bool negative = false;
  for (int k = 0; k < model->k; k++)
    negative =
        negative || (x.a[k].kind == SMMA_FINITE && x.b[k].kind == SMMA_FINITE && x.a[k].negative != x.b[k].negative);
  if (!negative || smma_decode(smma_encoding_of(model->d), d).kind != SMMA_ZERO) return d;
  return zero_of(model->d, parameter);
}

/* Computes the model, except that a negative sum that rounds to zero gives -0. */
static uint64_t with_sign_of_sum(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  smma_composition *p = &o.rule.with.composition, composed;
  (void)parameter;
  if (!smma_compose(model, &composed)) return smma_dot_add(model, x, c);
  *p = composed;
  o.rule.algorithm = SMMA_COMPOSITION;
  for (smma_step *s = p->step; s < p->step + p->steps; s++)
    if (s->zero_sign == SMMA_ZERO_ALWAYS_POSITIVE) s->zero_sign = SMMA_ZERO_POSITIVE;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate signs_of_underflow[] = {{"+0 for every underflow", with_sign_of_underflow, false},
                                                    {"-0 for every negative underflow", with_sign_of_underflow, true},
                                                    {"the sign of the sum that rounds to zero", with_sign_of_sum, 0},
                                                    {0}};

/* Makes one product negative. In scaled instructions, which have one block, the first scale factors make it small. */
static const char *row_of_underflows(const smma_operation *o, int index, smma_row *row) {
  static const char *const what[] = {"-1/4 of the least result, c = +0", "-1/4 of the least result, c = -0",
                                     "the least negative product, c = +0", "the least negative product, c = -0"};
  const int quarter = least_exponent(o->d) - 2, k = last_product(o);
  if (o->scale_block ? 2 * least_exponent(o->scale) > quarter : !reaches(o, quarter)) index += 2;
  if (index >= (int)(sizeof what / sizeof *what)) return NULL;
  clear_row(o, row);
  row->c = zero_of(o->c, index % 2);
  if (o->scale_block) {
    const int least = least_exponent(o->scale);
    set_power(o, row, k, true, 0);
    row->scale_a[0] = power_of_two(o->scale, false, index < 2 ? quarter / 2 : least);
    row->scale_b[0] = power_of_two(o->scale, false, index < 2 ? quarter - quarter / 2 : least);
  } else if (index < 2) {
    set_power(o, row, k, true, quarter);
  } else {
    set_product(row, k, power_of_two(o->a, true, least_exponent(o->a)),
                power_of_two(o->b, false, least_exponent(o->b)));
  }
  return what[index];
}

const smma_question smma_question_zero_sign = {
    "zero-sign", "the sign of a sum that is exactly zero", is_any, row_of_zeros, false, signs_of_zero};

const smma_question smma_question_underflow_sign = {
    "underflow-sign",  "the sign of a negative sum that rounds to zero", is_any, row_of_underflows, false,
    signs_of_underflow};
