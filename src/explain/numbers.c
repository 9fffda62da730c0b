#include "explain/numbers.h"

#include <stdio.h>
#include <string.h>

static void add_exact_term(smma_wide *sum, const smma_explain_line *line) {
  smma_wide_add_number(sum, line->exact, false);
  smma_wide_add_number(sum, line->low, false);
}

smma_drawn smma_exact_term(const smma_explain_line *line) {
  smma_wide term;
  smma_wide_clear(&term);
  add_exact_term(&term, line);
  return smma_drawn_wide(&term);
}

static void add_kept_term(smma_wide *sum, const smma_stage *stage, const smma_explain_line *line) {
  if (stage->kind != SMMA_STAGE_ALIGN && !line->is_dropped)
    add_exact_term(sum, line);
  else if (line->aligned)
    smma_wide_add(sum, line->aligned < 0, smma_magnitude(line->aligned), line->cut);
}

smma_drawn smma_kept_term(const smma_stage *stage, const smma_explain_line *line) {
  smma_wide term;
  smma_wide_clear(&term);
  add_kept_term(&term, stage, line);
  return smma_drawn_wide(&term);
}

static bool is_zero_product(const smma_explain_line *line) {
  return line->product && line->exact.kind == SMMA_ZERO && !line->is_flushed;
}

/* Reports whether two lines are zero products that share one line, because the drawing shows the same of them. The
   first difference has a line of its own. */
static bool share_line(const smma_stage *stage, const smma_explain_line *x, const smma_explain_line *y) {
  if (!is_zero_product(x) || !is_zero_product(y) || x->is_first_difference || y->is_first_difference) return false;
  if (stage->kind != SMMA_STAGE_ALIGN) return true;
  return x->has_exponent == y->has_exponent && (!x->has_exponent || x->exponent == y->exponent);
}

/* Returns the number of lines that share the line of index i, or 0 if a line before it stands for it. */
static int count_sharing(const smma_stage *stage, int i) {
  int count = 1;
  for (int j = 0; j < i; j++)
    if (share_line(stage, &stage->line[j], &stage->line[i])) return 0;
  for (int j = i + 1; j < stage->line_count; j++) count += share_line(stage, &stage->line[i], &stage->line[j]);
  return count;
}

/* Reports whether the line is a zero term that has the greatest exponent of the stage, and no other term has it. */
static bool zero_decides(const smma_stage *stage, const smma_explain_line *line) {
  if (stage->kind != SMMA_STAGE_ALIGN || line->exact.kind != SMMA_ZERO || !line->has_exponent ||
      line->exponent != stage->emax)
    return false;
  for (int i = 0; i < stage->line_count; i++)
    if (stage->line[i].exact.kind == SMMA_FINITE && stage->line[i].exponent == stage->emax) return false;
  return true;
}

static smma_shown_term shown_term(const smma_stage *stage, const smma_explain_line *line) {
  const bool align = stage->kind == SMMA_STAGE_ALIGN;
  smma_shown_term t = {
      .factors = line->factors, .line = line, .exact = smma_exact_term(line), .kept = smma_kept_term(stage, line)};
  const char *remark = line->is_dropped ? "counts as 0" : zero_decides(stage, line) ? "decides the exponent" : "";
  snprintf(t.remark, sizeof t.remark, "%s%s%s", line->is_flushed ? "flushed" : "",
           line->is_flushed && *remark ? ", " : "", remark);
  snprintf(t.label, sizeof t.label, "%s", line->label);
  if (line->has_exponent && (align || !t.exact.zero)) snprintf(t.exponent, sizeof t.exponent, "%d", line->exponent);
  t.is_negative_zero = t.exact.zero && line->exact.kind == SMMA_ZERO && line->exact.negative;
  t.is_cut = align && !t.exact.zero && t.exact.bottom < line->cut;
  return t;
}

void smma_term_text(char *text, size_t size, const smma_shown_term *term, int digits) {
  if (term->is_negative_zero)
    snprintf(text, size, "-0");
  else
    smma_quantity_text(text, size, smma_drawn_quantity(&term->exact), digits);
}

int smma_shown_terms(const smma_stage *stage, smma_shown_term *term) {
  int count = 0;
  for (int i = 0; i < stage->line_count; i++) {
    const smma_explain_line *line = &stage->line[i];
    const int zeros = count_sharing(stage, i);
    if (zeros == 0) continue;
    term[count] = shown_term(stage, line);
    if (zeros > 1) {
      snprintf(term[count].label, sizeof term->label, "%d zero %s", zeros,
               strncmp(line->label, "group", 5) ? "products" : "groups");
      term[count].factors = "";
      term[count].is_negative_zero = false;
    }
    count++;
  }
  return count;
}

smma_wide smma_stage_exact_sum(const smma_stage *stage) {
  smma_wide sum;
  smma_wide_clear(&sum);
  for (int i = 0; i < stage->line_count; i++) add_exact_term(&sum, &stage->line[i]);
  return sum;
}

smma_wide smma_stage_kept_sum(const smma_stage *stage) {
  smma_wide sum;
  smma_wide_clear(&sum);
  for (int i = 0; i < stage->line_count; i++) add_kept_term(&sum, stage, &stage->line[i]);
  return sum;
}

smma_number smma_stage_result(const smma_stage *stage) {
  return smma_with_policy(stage->nan, smma_decode(smma_encoding_of(stage->result_format), stage->result));
}

void smma_result_text(char *text, size_t size, const smma_stage *stage) {
  const smma_number read = smma_stage_result(stage);
  const bool is_special = smma_decode(smma_encoding_of(stage->result_format), stage->result).kind > SMMA_FINITE;
  if (is_special && read.kind <= SMMA_FINITE)
    smma_quantity_text(text, size, smma_quantity_of_number(read), 8);
  else
    smma_encoding_text(text, size, stage->result_format, stage->result);
}

smma_stage_sums smma_sums_of(const smma_stage *stage) {
  smma_stage_sums s;
  if (stage->kind == SMMA_STAGE_EXACT) {
    smma_wide sum = smma_stage_kept_sum(stage);
    s.sum = smma_drawn_wide(&sum);
  } else {
    s.sum = smma_drawn_sum(stage->sum, stage->sum_exponent);
  }
  s.has_result = stage->result_format != SMMA_NO_FORMAT && smma_stage_result(stage).kind <= SMMA_FINITE;
  s.result = smma_drawn_number(s.has_result ? smma_stage_result(stage) : smma_zero());
  s.rounded_down = smma_drawn_number(stage->rounds_down && stage->rounded_down.kind <= SMMA_FINITE ? stage->rounded_down
                                                                                                   : smma_zero());
  return s;
}
