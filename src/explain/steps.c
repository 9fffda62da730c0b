/* Explains the sequential algorithms: one line for each rounded operation. */
#include <math.h>
#include <string.h>

#include "explain/builder.h"
#include "isa/catalogue.h"

static smma_number decode_f32(uint64_t encoding) { return smma_decode(smma_encoding_of(SMMA_F32), encoding); }

/* Writes the operands as a text a * b + c, or a * b if `c` is NULL. */
static void operands_text(char *text, size_t size, smma_number a, smma_number b, const smma_number *c) {
  smma_number factor[2] = {a, b};
  char addend[32];
  smma_explain_factors(text, size, factor, 2);
  if (!c) return;
  smma_explain_factors(addend, sizeof addend, c, 1);
  snprintf(text + strlen(text), size - strlen(text), " + %s", addend);
}

/* Sets the operands of a step, a product (unless `factor` is NULL) and addends, and the amount that the step's rounding
   loses. step->format and step->result must be set. */
static void set_terms(smma_explain_step *step, const smma_number *factor, const smma_number *addend, int addends) {
  smma_number term[3] = {smma_zero(), smma_zero(), smma_zero()};
  smma_wide exact;
  smma_wide_clear(&exact);
  step->factors = factor ? 2 : 0;
  step->addends = addends;
  if (factor) {
    memcpy(step->factor, factor, sizeof step->factor);
    smma_number product = smma_product(factor[0], factor[1]);
    if (product.kind > SMMA_FINITE) term[2] = product;
    if (product.kind <= SMMA_FINITE) smma_wide_add_product(&exact, factor[0], factor[1]);
  }
  for (int i = 0; i < addends; i++) {
    term[i] = step->addend[i] = addend[i];
    smma_wide_add_number(&exact, addend[i], false);
  }
  smma_number result = smma_decode(smma_encoding_of(step->format), step->result);
  smma_wide_add_number(&exact, result, true);
  step->lost = result.kind > SMMA_FINITE || smma_special_sum(term, 3).kind != SMMA_FINITE
                   ? (smma_quantity){.significand = NAN}
                   : smma_quantity_of(&exact);
}

static smma_explain_step *add_fma_step(smma_explain_builder *b, int k, smma_number c, const char *name_of_c,
                                       uint64_t result) {
  smma_explain_step *step = smma_explain_add_step(b, b->operation->d, result);
  smma_number factor[2] = {b->x.a[k], b->x.b[k]};
  snprintf(step->text, sizeof step->text, "d = fma(a[%d], b[%d], %s)", k, k, name_of_c);
  operands_text(step->operands, sizeof step->operands, factor[0], factor[1], &c);
  set_terms(step, factor, &c, 1);
  return step;
}

uint64_t smma_explain_fma(smma_explain_builder *b) {
  const smma_operation *o = b->operation;
  smma_encoding f = smma_encoding_of(o->d);
  smma_stage *stage = smma_explain_add_stage(b, SMMA_STAGE_STEPS);
  uint64_t d = b->c;
  snprintf(stage->title, sizeof stage->title,
           "fused multiply-adds in order of k, each rounded once %s (IEEE 754, subnormals kept)",
           smma_rounding_words(o->rule.with.fma.rounding));
  for (int k = 0; k < o->k; k++) {
    smma_number c = smma_decode(f, d);
    d = smma_chained_fma(f, o->rule.nan, o->rule.with.fma.rounding, b->x.a[k], b->x.b[k], c);
    add_fma_step(b, k, c, k ? "d" : "c", d);
  }
  return d;
}

/* Appends "name flushed" to the note. */
static void note_flushed(smma_explain_step *step, const char *name) {
  size_t length = strlen(step->note);
  snprintf(step->note + length, sizeof step->note - length, "%s%s flushed", length ? ", " : "", name);
}

static void note_flushed_operands(smma_explain_step *step, smma_number a, smma_number b) {
  if (smma_is_subnormal(a)) note_flushed(step, "a");
  if (smma_is_subnormal(b)) note_flushed(step, "b");
  step->product_flushed = smma_is_subnormal(a) || smma_is_subnormal(b);
}

static void note_flushed_result(smma_explain_step *step) {
  note_flushed(step, "result");
  step->result_flushed = true;
}

/* Writes a note on the origin of a NaN result. */
static void note_nan(smma_explain_step *step, smma_number a, smma_number b, smma_number c) {
  const char *operand = a.kind == SMMA_NAN ? "a" : b.kind == SMMA_NAN ? "b" : c.kind == SMMA_NAN ? "the addend" : NULL;
  size_t length = strlen(step->note);
  snprintf(step->note + length, sizeof step->note - length, "%s%s%s", length ? ", " : "",
           operand ? "the NaN of " : "no operand is NaN", operand ? operand : "");
}

uint64_t smma_explain_ftz_fma(smma_explain_builder *b) {
  const smma_operation *o = b->operation;
  smma_stage *stage = smma_explain_add_stage(b, SMMA_STAGE_STEPS);
  uint64_t d = b->c;
  snprintf(
      stage->title, sizeof stage->title,
      "fused multiply-adds, highest k first, each rounded to nearest even; subnormals in and out become signed zeros");
  for (int k = o->k - 1; k >= 0; k--) {
    smma_number c = decode_f32(d);
    uint64_t flushed = smma_ftz_fma(b->x.a[k], b->x.b[k], d);
    uint64_t rounded = smma_ieee_fma(smma_encoding_of(SMMA_F32), SMMA_NAN_QUIET, smma_flush_signed(b->x.a[k]),
                                     smma_flush_signed(b->x.b[k]), smma_flush_signed(c));
    smma_explain_step *step = add_fma_step(b, k, c, k == o->k - 1 ? "c" : "d", flushed);
    note_flushed_operands(step, b->x.a[k], b->x.b[k]);
    step->addend_flushed = smma_is_subnormal(c);
    if (step->addend_flushed) note_flushed(step, "c");
    if (decode_f32(flushed).kind == SMMA_NAN)
      note_nan(step, b->x.a[k], b->x.b[k], c);
    else if (flushed != rounded)
      note_flushed_result(step);
    d = flushed;
  }
  return d;
}

static uint64_t add_product_step(smma_explain_builder *b, int k) {
  smma_number factor[2] = {b->x.a[k], b->x.b[k]};
  uint64_t flushed = smma_ftz_multiply(factor[0], factor[1]);
  uint64_t rounded = smma_ieee_multiply(smma_encoding_of(SMMA_F32), SMMA_NAN_QUIET, smma_flush_positive(factor[0]),
                                        smma_flush_positive(factor[1]));
  smma_explain_step *step = smma_explain_add_step(b, SMMA_F32, flushed);
  snprintf(step->text, sizeof step->text, "p%d = a[%d] * b[%d]", k, k, k);
  operands_text(step->operands, sizeof step->operands, factor[0], factor[1], NULL);
  set_terms(step, factor, NULL, 0);
  note_flushed_operands(step, factor[0], factor[1]);
  if (flushed != rounded) note_flushed_result(step);
  return flushed;
}

static smma_explain_step *add_addition_step(smma_explain_builder *b, smma_format format, uint64_t x, uint64_t y,
                                            uint64_t result, const char *text) {
  smma_explain_step *step = smma_explain_add_step(b, format, result);
  smma_number addend[2] = {smma_decode(smma_encoding_of(format), x), smma_decode(smma_encoding_of(format), y)};
  char first[32], second[32];
  smma_explain_factors(first, sizeof first, addend, 1);
  smma_explain_factors(second, sizeof second, addend + 1, 1);
  snprintf(step->text, sizeof step->text, "%s", text);
  snprintf(step->operands, sizeof step->operands, "%s + %s", first, second);
  set_terms(step, NULL, addend, 2);
  return step;
}

static uint64_t add_ftz_addition(smma_explain_builder *b, uint64_t x, uint64_t y, const char *text) {
  uint64_t flushed = smma_ftz_add(x, y);
  uint64_t rounded = smma_ieee_add(smma_encoding_of(SMMA_F32), SMMA_NAN_QUIET, x, y);
  smma_explain_step *step = add_addition_step(b, SMMA_F32, x, y, flushed, text);
  if (flushed != rounded) note_flushed_result(step);
  return flushed;
}

/* Explains the sum of `pairwise` products, 2 or 4, from k on, in the order of smma_ftz_pairwise_sum. Returns the
   sum. */
static uint64_t add_pairwise_sum(smma_explain_builder *b, int k, int pairwise) {
  uint64_t p[4] = {0, 0, 0, 0}, s, t;
  char text[40];
  for (int i = 0; i < pairwise; i++) p[i] = add_product_step(b, k + i);
  snprintf(text, sizeof text, "s = p%d + p%d", k, k + 1);
  s = add_ftz_addition(b, p[0], p[1], text);
  if (pairwise == 2) return s;
  snprintf(text, sizeof text, "t = p%d + p%d", k + 2, k + 3);
  t = add_ftz_addition(b, p[2], p[3], text);
  return add_ftz_addition(b, s, t, "s = s + t");
}

uint64_t smma_explain_ftz_addmul(smma_explain_builder *b) {
  const smma_operation *o = b->operation;
  int pairwise = o->rule.with.ftz_addmul.pairwise;
  uint64_t d = smma_ftz_addmul_start(b->c);
  for (int k = 0; k < o->k; k += pairwise) {
    smma_stage *stage = smma_explain_add_stage(b, SMMA_STAGE_STEPS);
    snprintf(stage->title, sizeof stage->title,
             "k = %d..%d: %d products summed pairwise, then added to d; each operation rounded to nearest even in FP32",
             k, k + pairwise - 1, pairwise);
    if (k == 0 && d != b->c)
      snprintf(stage->note, sizeof stage->note, "c is %s: it is read as +0",
               smma_is_subnormal(decode_f32(b->c)) ? "subnormal" : "-0");
    d = add_ftz_addition(b, d, add_pairwise_sum(b, k, pairwise), k ? "d = d + s" : "d = c + s");
  }
  return d;
}

uint64_t smma_explain_last_addition(smma_explain_builder *b, uint64_t x, uint64_t y) {
  const smma_operation *o = b->operation;
  uint64_t d = smma_ieee_add(smma_encoding_of(o->d), o->rule.nan, x, y);
  smma_stage *stage = smma_explain_add_stage(b, SMMA_STAGE_STEPS);
  snprintf(stage->title, sizeof stage->title, "last, c is added to the result of the blocks, rounded to nearest even");
  add_addition_step(b, o->d, x, y, d, "d = blocks + c");
  return d;
}
