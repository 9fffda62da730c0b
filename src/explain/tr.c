/* Explains TR-FDPA and GTR-FDPA: first the sum t of the products, then t + c, rounded down. */
#include "explain/builder.h"

/* Adds a stage for the products i = first, first + stride, ..., truncated relative to their own greatest exponent.
   Returns their sum. */
static smma_partial_sum add_products(smma_explain_builder *b, int block, const smma_number *term, int count, int first,
                                     int stride, const char *what, const char *sum_name) {
  int bits = b->operation->rule.with.tr_fdpa.alignment_bits;
  smma_partial_sum t = smma_truncated_sum(term + first, count - 1 - first, stride, bits);
  bool empty = t.exponent == SMMA_NO_EXPONENT;
  smma_stage *stage = smma_explain_add_stage(b, empty ? SMMA_STAGE_NOTE : SMMA_STAGE_ALIGN);
  char where[64];
  smma_explain_block_text(b, block, where, sizeof where);
  stage->sum_name = sum_name;
  if (empty) {
    stage->reason = SMMA_REASON_ZERO;
    snprintf(stage->title, sizeof stage->title, "%s, %s: all are zero, so %s = 0 and brings no exponent", where, what,
             sum_name);
    return t;
  }
  snprintf(stage->title, sizeof stage->title, "%s, %s: edot = %d; truncated toward zero at F = %d bits below it (%s)",
           where, what, t.exponent, bits, smma_text_of_power(t.exponent - bits).text);
  for (int i = first; i < count - 1; i += stride) {
    smma_explain_line *line = smma_explain_add_line(b, "", term[i]);
    smma_explain_describe_term(b, block, i, count, line);
    line->has_exponent = term[i].kind == SMMA_FINITE;
    line->cut = t.exponent - bits;
    if (line->has_exponent) line->aligned = smma_align(term[i], t.exponent, bits);
  }
  stage->emax = t.exponent;
  stage->sum = t.sum;
  stage->sum_exponent = t.exponent - bits;
  return t;
}

/* Returns a partial sum, whose last bit is `bits` bits below its exponent, as a number. */
static smma_number as_number(smma_partial_sum t, int bits) {
  smma_number x = smma_zero();
  if (t.exponent == SMMA_NO_EXPONENT) return x;
  x.kind = t.sum ? SMMA_FINITE : SMMA_ZERO;
  x.significand = smma_magnitude(t.sum);
  x.exponent = t.exponent;
  x.fraction_bits = (int16_t)bits;
  x.negative = t.sum < 0;
  return x;
}

static smma_explain_line *add_partial_sum(smma_explain_builder *b, const char *name, smma_partial_sum t, int bits) {
  smma_explain_line *line = smma_explain_add_line(b, name, as_number(t, bits));
  line->has_exponent = t.exponent != SMMA_NO_EXPONENT;
  line->rounds_down = true;
  return line;
}

static smma_partial_sum add_join(smma_explain_builder *b, int block, smma_partial_sum even, smma_partial_sum odd) {
  int bits = b->operation->rule.with.tr_fdpa.alignment_bits;
  smma_partial_sum t = smma_join_down(even, odd), half[2] = {even, odd};
  smma_stage *stage = smma_explain_add_stage(b, t.exponent == SMMA_NO_EXPONENT ? SMMA_STAGE_NOTE : SMMA_STAGE_ALIGN);
  char where[64];
  smma_explain_block_text(b, block, where, sizeof where);
  if (stage->kind == SMMA_STAGE_NOTE) {
    stage->reason = SMMA_REASON_ZERO;
    snprintf(stage->title, sizeof stage->title, "%s, even + odd: t = 0", where);
    return t;
  }
  snprintf(stage->title, sizeof stage->title,
           "%s, even + odd: edot = %d; both rounded down at F = %d bits below it (%s)", where, t.exponent, bits,
           smma_text_of_power(t.exponent - bits).text);
  for (int i = 0; i < 2; i++) {
    smma_partial_sum nothing = {0, t.exponent};
    smma_explain_line *line = add_partial_sum(b, i ? "odd" : "even", half[i], bits);
    line->aligned = smma_join_down(half[i], nothing).sum;
    line->cut = t.exponent - bits;
  }
  stage->emax = t.exponent;
  stage->sum_name = "t";
  stage->sum = t.sum;
  stage->sum_exponent = t.exponent - bits;
  return t;
}

static void finish_with_c(smma_explain_builder *b, smma_stage *stage, smma_partial_sum t, smma_number c, bool ignored) {
  const smma_tr_fdpa *p = &b->operation->rule.with.tr_fdpa;
  int t_bits = p->sum_bits + (p->revision > 1), bits = p->alignment_bits;
  smma_explain_line *line = add_partial_sum(b, "t", t, bits);
  line->aligned = smma_tr_fdpa_align_products(p, t, stage->emax);
  line->cut = stage->emax - t_bits;
  stage->sum = line->aligned;
  line = smma_explain_add_line(b, "c", c);
  line->rounds_down = true;
  line->aligned = ignored ? 0 : smma_align_down(c, stage->emax, bits);
  line->cut = stage->emax - bits;
  stage->sum += line->aligned * ((int64_t)1 << (t_bits - bits));
  stage->sum_exponent = stage->emax - t_bits;
}

static void add_c(smma_explain_builder *b, int block, smma_partial_sum t, smma_number c, uint64_t result) {
  const smma_rule *rule = &b->operation->rule;
  const smma_tr_fdpa *p = &rule->with.tr_fdpa;
  int emax = smma_tr_fdpa_exponent(t, c), t_bits = p->sum_bits + (p->revision > 1);
  bool ignored = rule->algorithm == SMMA_GTR_FDPA && smma_gtr_fdpa_ignores(p, c, emax);
  smma_stage *stage = smma_explain_add_stage(b, SMMA_STAGE_ALIGN);
  char where[64];
  smma_explain_block_text(b, block, where, sizeof where);
  snprintf(stage->title, sizeof stage->title,
           "%s, t + c: E = %d; rounded down: t at %s = %d bits below it (%s), c at F = %d (%s)", where, emax,
           p->revision > 1 ? "F2 + 1" : "F2", t_bits, smma_text_of_power(emax - t_bits).text, p->alignment_bits,
           smma_text_of_power(emax - p->alignment_bits).text);
  stage->emax = emax;
  finish_with_c(b, stage, t, c, ignored);
  if (block) snprintf(stage->line[1].label, sizeof stage->line[1].label, "c = block %d", block);
  if (ignored && c.kind != SMMA_ZERO)
    snprintf(stage->note, sizeof stage->note, "c counts as 0: its exponent %d is below E - F - 1 = %d", c.exponent,
             emax - p->alignment_bits - 1);
  stage->rounds_down = p->revision > 1;
  if (stage->rounds_down) stage->rounded_down = smma_tr_fdpa_round_down(p, stage->sum, stage->sum_exponent);
  snprintf(stage->rounding, sizeof stage->rounding, "RNE-FP32, to nearest even");
  stage->result_format = SMMA_F32;
  stage->result = result;
}

void smma_explain_tr_block(smma_explain_builder *b, int block, const smma_number *term, int count, uint64_t result) {
  smma_partial_sum t;
  if (b->operation->rule.algorithm == SMMA_TR_FDPA) {
    t = add_products(b, block, term, count, 0, 1, "products", "t");
  } else {
    smma_partial_sum even = add_products(b, block, term, count, 0, 2, "even k", "even");
    smma_partial_sum odd = add_products(b, block, term, count, 1, 2, "odd k", "odd");
    t = add_join(b, block, even, odd);
  }
  add_c(b, block, t, term[count - 1], result);
}
