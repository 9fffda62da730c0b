#include "explain/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double smma_sum_value(int64_t sum, int exponent) { return ldexp((double)sum, exponent); }

bool smma_fits_double(uint64_t significand) { return smma_bit_length(significand) <= 53; }

static bool is_zero_product(const smma_explain_line *line) { return line->product && line->exact.kind == SMMA_ZERO; }

/* Returns the number of zero products that are not marked as the first difference. They share one line. */
static int count_shared_zeros(const smma_stage *stage) {
  int count = 0;
  for (int i = 0; i < stage->line_count; i++)
    count += is_zero_product(&stage->line[i]) && !stage->line[i].is_first_difference;
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
  smma_shown_term t = {.factors = line->factors,
                       .remark = zero_decides(stage, line) ? "decides the exponent" : "",
                       .line = line,
                       .exact = smma_drawn_number(line->exact),
                       .kept = smma_drawn_sum(line->aligned, line->cut),
                       .value = smma_number_value(line->exact),
                       .kept_value = smma_sum_value(line->aligned, line->cut),
                       .value_is_exact = smma_fits_double(line->exact.significand),
                       .kept_is_exact = smma_fits_double(smma_magnitude(line->aligned))};
  snprintf(t.label, sizeof t.label, "%s", line->label);
  if (line->has_exponent && (align || !t.exact.zero)) snprintf(t.exponent, sizeof t.exponent, "%d", line->exponent);
  t.is_cut = align && !t.exact.zero && t.exact.bottom < line->cut;
  return t;
}

int smma_shown_terms(const smma_stage *stage, smma_shown_term *term) {
  const int zeros = count_shared_zeros(stage);
  bool shared = false;
  int count = 0;
  for (int i = 0; i < stage->line_count; i++) {
    const smma_explain_line *line = &stage->line[i];
    const bool shares = zeros > 1 && is_zero_product(line) && !line->is_first_difference;
    if (shares && shared) continue;
    term[count] = shown_term(stage, line);
    if (shares) {
      snprintf(term[count].label, sizeof term->label, "%d zero %s", zeros,
               strncmp(line->label, "group", 5) ? "products" : "groups");
      term[count].factors = "";
      term[count].value = 0;
      shared = true;
    }
    count++;
  }
  return count;
}

smma_wide smma_stage_exact_sum(const smma_stage *stage) {
  smma_wide sum;
  smma_wide_clear(&sum);
  for (int i = 0; i < stage->line_count; i++) smma_wide_add_number(&sum, stage->line[i].exact, false);
  return sum;
}

smma_number smma_stage_result(const smma_stage *stage) {
  return smma_decode(smma_encoding_of(stage->result_format), stage->result);
}

smma_stage_sums smma_sums_of(const smma_stage *stage) {
  smma_stage_sums s;
  if (stage->kind == SMMA_STAGE_EXACT) {
    smma_wide sum = smma_stage_exact_sum(stage);
    s.sum_value = smma_wide_value(&sum, &s.sum_is_exact);
    sum = smma_stage_exact_sum(stage);
    s.sum = smma_drawn_wide(&sum);
  } else {
    s.sum = smma_drawn_sum(stage->sum, stage->sum_exponent);
    s.sum_value = smma_sum_value(stage->sum, stage->sum_exponent);
    s.sum_is_exact = smma_fits_double(smma_magnitude(stage->sum));
  }
  s.has_result = stage->result_format != SMMA_NO_FORMAT && smma_stage_result(stage).kind <= SMMA_FINITE;
  s.result = smma_drawn_number(s.has_result ? smma_stage_result(stage) : smma_zero());
  s.rounded_down = smma_drawn_number(stage->rounds_down && stage->rounded_down.kind <= SMMA_FINITE ? stage->rounded_down
                                                                                                   : smma_zero());
  return s;
}
