/* A unit under examination. The functions write numbers into a vector, let the unit compute the vector, and read its
   result. */
#ifndef SMMA_PROBE_SUBJECT_H
#define SMMA_PROBE_SUBJECT_H

#include "rows/place.h"
#include "unit/unit.h"

typedef struct {
  smma_unit *unit;
  const smma_instruction *instruction;
  int place[SMMA_MAXIMUM_ROUNDED_K]; /* the k of each product in the vectors that the unit computes */
  size_t repeated;                   /* number of vectors that the unit computes again */
  unsigned long long rows, calls;    /* vectors that the unit has computed, and its calls, so far */
  smma_error error;                  /* why the unit failed, after smma_ask_subject returned false */
} smma_subject;

/* Returns a subject whose products are not moved, and whose unit has computed nothing yet. */
smma_subject smma_subject_of(smma_unit *unit, const smma_instruction *instruction);

/* The following functions are those of rows/place.h, for the subject's instruction. */
static inline smma_row smma_blank_row(const smma_subject *s) { return smma_zero_row(s->instruction); }

static inline bool smma_place(const smma_subject *s, smma_row *row, int index, int64_t significand, int exponent) {
  return smma_place_in(s->instruction, row, index, significand, exponent);
}

static inline bool smma_place_product(const smma_subject *s, smma_row *row, int k, int64_t significand_a,
                                      int64_t significand_b, int exponent) {
  return smma_place_product_in(s->instruction, row, k, significand_a, significand_b, exponent);
}

static inline bool smma_place_subnormal_c(const smma_subject *s, smma_row *row, int64_t significand, int exponent) {
  return smma_place_subnormal_c_in(s->instruction, row, significand, exponent);
}

static inline smma_range smma_range_of(const smma_subject *s, int index) {
  return smma_summand_range(s->instruction, index);
}

static inline smma_range smma_range_of_d(const smma_subject *s) { return smma_range_of_format(s->instruction->d); }

static inline smma_dyadic smma_result(const smma_subject *s, const smma_row *row) {
  return smma_result_of(s->instruction, row);
}

/* Returns the vector as the unit computes it: with products moved as s->place says. */
smma_row smma_placed_row(const smma_subject *s, const smma_row *row);

/* Lets the unit compute the vectors, and fills in d of each. If the unit fails, returns false and sets s->error. */
bool smma_ask_subject(smma_subject *s, smma_row *rows, size_t count);

#endif
