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

static const char *row_of_nans(const smma_operation *o, int index, smma_row *row) {
  const smma_encoding a = smma_encoding_of(o->a), c = smma_encoding_of(o->c);
  const uint64_t infinity_of_c = smma_largest_fields(c) + 1;
  const uint64_t one = power_of_two(o->b, false, 0);
  clear_row(o, row);
  switch (index) {
    case 0: set_product(row, 0, smma_default_nan(a), one); return "NaN times 1";
    case 1: set_product(row, 0, nan_with_payload(o->a), one); return "another NaN times 1";
    case 2: row->c = nan_with_payload(o->c); return "c is a negative NaN with payload";
    case 3: row->c = infinity_of_c | 1; return "c is a signalling NaN";
    case 4:
      set_product(row, 0, nan_with_payload(o->a), smma_default_nan(smma_encoding_of(o->b)));
      row->c = infinity_of_c | 3;
      return "a, b and c are NaN";
    default: break;
  }
  if (!smma_has_infinity(a)) return NULL;
  set_product(row, 0, smma_overflowed(a, true, SMMA_OVERFLOW_INFINITY), index == 5 ? 0 : one);
  if (index == 5) return "-infinity times 0";
  row->c = infinity_of_c;
  return index == 6 ? "infinity - infinity" : NULL;
}

const smma_question smma_question_nan_payload = {
    "nan-payload", "sign and payload of NaN results, where they are not known", has_unknown_nan, row_of_nans, false,
    nans};
