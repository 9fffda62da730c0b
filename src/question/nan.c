/* Questions about NaN. */
#include "question/operands.h"
#include "question/question.h"

/* Reports whether the encoding of NaN results is unknown, or known only from recordings on Hopper (FP64, and FP8
   computed on the FP16 unit). */
static bool has_unknown_nan(const smma_instruction *i) {
  const smma_rule *rule = &i->rule->rule;
  return rule->nan == SMMA_NAN_QUIET || rule->nan == SMMA_NAN_B_SUM_A || rule->algorithm == SMMA_FP8_BY_FP16;
}

/* Returns the first NaN among c, a, b, or NULL if the NaN arises in the sum. */
static const smma_number *operand_nan(const smma_operation *o, const smma_operands *x, const smma_number *c) {
  if (c->kind == SMMA_NAN) return c;
  for (int k = 0; k < o->k; k++) {
    if (x->a[k].kind == SMMA_NAN) return &x->a[k];
    if (x->b[k].kind == SMMA_NAN) return &x->b[k];
  }
  return NULL;
}

typedef enum { ALL_ONES, NEGATIVE, OPERAND, OPERAND_OR_NEGATIVE } nan_rule;

static uint64_t with_nan(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const smma_encoding f = smma_encoding_of(model->d);
  const smma_number number = smma_decode(smma_encoding_of(model->c), c), *nan = operand_nan(model, &x, &number);
  const uint64_t d = smma_dot_add(model, x, c);
  if (smma_decode(f, d).kind != SMMA_NAN) return d;
  if (parameter == ALL_ONES) return smma_nan_of(f, SMMA_NAN_ALL_ONES);
  if (parameter != NEGATIVE && nan) return smma_quieted(f, *nan);
  return smma_default_nan(f) | smma_sign_and_fields(f, parameter != OPERAND, 0);
}

static const smma_candidate nans[] = {
    {"all ones except the sign (0x7fffffff of f32)", with_nan, ALL_ONES},
    {"the quiet NaN with a sign (0xffc00000 of f32)", with_nan, NEGATIVE},
    {"the operand's NaN made quiet, else the quiet NaN", with_nan, OPERAND},
    {"the operand's NaN made quiet, else the quiet NaN with a sign", with_nan, OPERAND_OR_NEGATIVE},
    {0}};

/* Returns a negative NaN with payload 1 if the format has such a NaN, otherwise its default NaN. */
static uint64_t nan_with_payload(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  if (f.specials != SMMA_SPECIALS_IEEE) return smma_default_nan(f);
  return smma_default_nan(f) | smma_sign_and_fields(f, true, 1);
}

static bool has_nan(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  return smma_decode(f, smma_default_nan(f)).kind == SMMA_NAN;
}

typedef enum { NAN_TIMES_ONE, OTHER_NAN_TIMES_ONE, NAN_IN_C, SIGNALLING_C, ALL_NAN, INVALID, DIFFERENCE } nan_row;
enum { NAN_ROWS = DIFFERENCE + 1 };

static const char *const nan_rows[NAN_ROWS] = {
    "NaN times 1",           "another NaN times 1", "c is a negative NaN with payload",
    "c is a signalling NaN", "a, b and c are NaN",  "-infinity times 0",
    "infinity - infinity"};

/* Reports whether the formats of the operation have the special numbers of a row. */
static bool has_row(const smma_operation *o, nan_row what) {
  switch (what) {
    case NAN_TIMES_ONE:
    case OTHER_NAN_TIMES_ONE: return has_nan(o->a) || has_nan(o->b);
    case ALL_NAN: return has_nan(o->a) && has_nan(o->b);
    case INVALID:
    case DIFFERENCE: return smma_has_infinity(smma_encoding_of(o->a)) || smma_has_infinity(smma_encoding_of(o->b));
    default: return true;
  }
}

/* Sets product 0 to two factors: in a and b, or exchanged if `in_b`. */
static void set_factors(smma_row *row, bool in_b, uint64_t special, uint64_t other) {
  set_product(row, 0, in_b ? other : special, in_b ? special : other);
}

static void fill_row(const smma_operation *o, nan_row what, smma_row *row) {
  const uint64_t infinity_of_c = smma_largest_fields(smma_encoding_of(o->c)) + 1;
  const bool nan_in_b = !has_nan(o->a), infinity_in_b = !smma_has_infinity(smma_encoding_of(o->a));
  const smma_format nan = nan_in_b ? o->b : o->a, infinite = infinity_in_b ? o->b : o->a;
  const smma_format other = infinity_in_b ? o->a : o->b;
  clear_row(o, row);
  switch (what) {
    case NAN_TIMES_ONE:
    case OTHER_NAN_TIMES_ONE:
      set_factors(row, nan_in_b,
                  what == NAN_TIMES_ONE ? smma_default_nan(smma_encoding_of(nan)) : nan_with_payload(nan),
                  power_of_two(nan_in_b ? o->a : o->b, false, 0));
      break;
    case NAN_IN_C: row->c = nan_with_payload(o->c); break;
    case SIGNALLING_C: row->c = infinity_of_c | 1; break;
    case ALL_NAN:
      set_product(row, 0, nan_with_payload(o->a), smma_default_nan(smma_encoding_of(o->b)));
      row->c = infinity_of_c | 3;
      break;
    default:
      set_factors(row, infinity_in_b, smma_overflowed(smma_encoding_of(infinite), true, SMMA_OVERFLOW_INFINITY),
                  what == INVALID ? 0 : power_of_two(other, false, 0));
      row->c = what == INVALID ? 0 : infinity_of_c;
  }
}

static const char *row_of_nans(const smma_operation *o, int index, smma_row *row) {
  for (int what = 0; what < NAN_ROWS; what++) {
    if (!has_row(o, (nan_row)what) || index-- > 0) continue;
    fill_row(o, (nan_row)what, row);
    return nan_rows[what];
  }
  return NULL;
}

const smma_question smma_question_nan_payload = {
    "nan-payload", "sign and payload of NaN results, where they are not known", has_unknown_nan, row_of_nans, false,
    nans};
