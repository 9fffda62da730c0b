/* The numbers of a stage, for both its text and its picture. */
#ifndef SMMA_EXPLAIN_NUMBERS_H
#define SMMA_EXPLAIN_NUMBERS_H

#include "explain/explain.h"
#include "explain/ruler.h"

double smma_sum_value(int64_t sum, int exponent);

bool smma_fits_double(uint64_t significand);

/* A term as it is shown, or several zero products in one. */
typedef struct {
  char label[40], exponent[8];
  const char *factors, *remark;  /* empty: none */
  const smma_explain_line *line; /* the first line, if zeros share the line */
  smma_drawn exact, kept;
  double value, kept_value;
  bool value_is_exact, kept_is_exact;
  bool is_cut; /* the term has bits below its last retained bit */
} smma_shown_term;

/* Fills `term` with the terms of a stage that has lines; products that are zero become one term. Returns the number of
   terms, which is at most stage->line_count. */
int smma_shown_terms(const smma_stage *stage, smma_shown_term *term);

smma_wide smma_stage_exact_sum(const smma_stage *stage);
smma_number smma_stage_result(const smma_stage *stage);

/* The numbers that a drawing shows below its terms. */
typedef struct {
  smma_drawn sum, rounded_down, result;
  double sum_value;
  bool sum_is_exact, has_result;
} smma_stage_sums;

smma_stage_sums smma_sums_of(const smma_stage *stage);

#endif
