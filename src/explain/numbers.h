/* The numbers of a stage that its text and its picture both show. */
#ifndef SMMA_EXPLAIN_NUMBERS_H
#define SMMA_EXPLAIN_NUMBERS_H

#include "explain/explain.h"
#include "explain/ruler.h"

double smma_sum_value(int64_t sum, int exponent);

bool smma_fits_double(uint64_t significand);

/* Products that are zero are drawn together. */
bool smma_is_zero_product(const smma_explain_row *row);
int smma_count_zero_products(const smma_stage *stage);

/* Whether a zero term, and nothing else, has the greatest exponent. */
bool smma_zero_decides(const smma_stage *stage, const smma_explain_row *row);

smma_wide smma_stage_exact_sum(const smma_stage *stage);
smma_number smma_stage_result(const smma_stage *stage);

/* The numbers of a drawing below its terms. */
typedef struct {
  smma_drawn sum, rounded_down, result;
  double sum_value;
  bool sum_is_exact, has_result;
} smma_stage_sums;

smma_stage_sums smma_sums_of(const smma_stage *stage);

#endif
