#include "explain/numbers.h"

#include <math.h>

double smma_sum_value(int64_t sum, int exponent) { return ldexp((double)sum, exponent); }

bool smma_fits_double(uint64_t significand) { return smma_bit_length(significand) <= 53; }

bool smma_is_zero_product(const smma_explain_row *row) { return row->product && row->exact.kind == SMMA_ZERO; }

int smma_count_zero_products(const smma_stage *stage) {
  int count = 0;
  for (int i = 0; i < stage->row_count; i++) count += smma_is_zero_product(&stage->row[i]);
  return count;
}

bool smma_zero_decides(const smma_stage *stage, const smma_explain_row *row) {
  if (stage->kind != SMMA_STAGE_ALIGN || row->exact.kind != SMMA_ZERO || !row->counts || row->exponent != stage->emax)
    return false;
  for (int i = 0; i < stage->row_count; i++)
    if (stage->row[i].exact.kind == SMMA_FINITE && stage->row[i].exponent == stage->emax) return false;
  return true;
}

smma_wide smma_stage_exact_sum(const smma_stage *stage) {
  smma_wide sum;
  smma_wide_clear(&sum);
  for (int i = 0; i < stage->row_count; i++) smma_wide_add_number(&sum, stage->row[i].exact, false);
  return sum;
}

smma_number smma_stage_result(const smma_stage *stage) {
  return smma_decode(smma_encoding_of(stage->result_format), stage->result);
}

smma_stage_sums smma_sums_of(const smma_stage *stage) {
  smma_stage_sums s;
  if (stage->kind == SMMA_STAGE_EXACT) {
    smma_wide sum = smma_stage_exact_sum(stage);
    s.sum_value = smma_wide_value(&sum);
    sum = smma_stage_exact_sum(stage);
    s.sum = smma_drawn_wide(&sum);
    s.sum_is_exact = s.sum.zero || s.sum.top - s.sum.bottom < 53;
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
