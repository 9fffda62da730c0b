/* The numbers of a stage, for both its text and its picture. */
#ifndef SMMA_EXPLAIN_NUMBERS_H
#define SMMA_EXPLAIN_NUMBERS_H

#include "explain/explain.h"
#include "explain/ruler.h"

/* A term as it is shown, or several zero products in one. */
typedef struct {
  char label[40], exponent[8], remark[40];
  const char *factors;           /* empty: none */
  const smma_explain_line *line; /* the first line, if zeros share the line */
  smma_drawn exact, kept;
  bool is_negative_zero;
  bool is_cut; /* the term has bits below its last retained bit */
} smma_shown_term;

/* Writes the exact value of a term. */
void smma_term_text(char *text, size_t size, const smma_shown_term *term, int digits);

/* Fills `term` with the terms of a stage that has lines; products that are zero and bring the same exponent become one
   term. Returns the number of terms, which is at most stage->line_count. */
int smma_shown_terms(const smma_stage *stage, smma_shown_term *term);

/* Returns a term exactly. */
smma_drawn smma_exact_term(const smma_explain_line *line);

/* Returns the part of a term that the stage's sum contains. */
smma_drawn smma_kept_term(const smma_stage *stage, const smma_explain_line *line);

/* Returns the sum of the terms, and the sum of their retained parts. */
smma_wide smma_stage_exact_sum(const smma_stage *stage);
smma_wide smma_stage_kept_sum(const smma_stage *stage);

/* Returns the result as the unit reads it. */
smma_number smma_stage_result(const smma_stage *stage);

/* Writes the result as the unit reads it. */
void smma_result_text(char *text, size_t size, const smma_stage *stage);

/* The numbers that a drawing shows below its terms. */
typedef struct {
  smma_drawn sum, rounded_down, result;
  bool has_result;
} smma_stage_sums;

smma_stage_sums smma_sums_of(const smma_stage *stage);

#endif
