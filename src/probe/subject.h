/* A unit under examination: how probes place numbers in a row, ask for results, and read them. */
#ifndef SMMA_PROBE_SUBJECT_H
#define SMMA_PROBE_SUBJECT_H

#include "rows/text.h"
#include "unit/unit.h"

/* An exact value, significand * 2^exponent, the significand odd or zero; or what is none. */
typedef struct {
  enum { SMMA_IS_DYADIC, SMMA_NOT_FINITE } kind;
  int64_t significand;
  int exponent;
} smma_dyadic;

/* The summands of a row: products 0 to K - 1, and c, which is number K. */
typedef struct {
  smma_unit *unit;
  const smma_instruction *instruction;
  unsigned long long rows, calls; /* asked so far */
  smma_error error;               /* why the unit failed, if smma_ask_subject returned false */
} smma_subject;

smma_dyadic smma_dyadic_of(int64_t significand, int exponent);
bool smma_is_exactly(smma_dyadic x, int64_t significand, int exponent);

/* x in units of 2^exponent; false if it is no multiple or too many. */
bool smma_in_units(smma_dyadic x, int exponent, int64_t *units);

/* Zeros, and scale factors of one. */
smma_row smma_blank_row(const smma_subject *s);

/* Summand `index` becomes significand * 2^exponent; of a product, b gets a power of two. False if no normal operands
   have it. */
bool smma_place(const smma_subject *s, smma_row *row, int index, int64_t significand, int exponent);

/* c as well where it is subnormal. */
bool smma_place_subnormal_c(const smma_subject *s, smma_row *row, int64_t significand, int exponent);

/* The exponents of powers of two that a summand, or d, can be as normal numbers. */
typedef struct {
  int least, greatest;
} smma_range;

smma_range smma_range_of_format(smma_format format);
smma_range smma_range_of(const smma_subject *s, int index);

smma_range smma_range_of_d(const smma_subject *s);

/* d of every row. False if the unit fails, with s->error. */
bool smma_ask_subject(smma_subject *s, smma_row *rows, size_t count);

smma_dyadic smma_result(const smma_subject *s, const smma_row *row);

#endif
