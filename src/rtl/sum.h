/* One sum of a step: how its terms are added, and the parts of its module. Each part is a file. */
#ifndef SMMA_RTL_SUM_H
#define SMMA_RTL_SUM_H

#include "rtl/unit.h"

/* The terms of one class: the nodes of the group, or the accumulator. */
typedef struct {
  const char *name;
  const smma_cut *cut;
  smma_rtl_shape shape;
  int count;
} smma_rtl_terms;

/* How a sum adds its terms. */
typedef enum {
  SMMA_RTL_ADD_ALIGNED, /* as multiples of one unit */
  SMMA_RTL_ADD_FIXED,   /* exactly, as multiples of the least unit that any term can have */
  SMMA_RTL_ADD_MIXED,   /* like SMMA_RTL_ADD_FIXED, after a class of terms has been rounded at the alignment */
  SMMA_RTL_ADD_TWO,     /* two terms exactly, with a sticky bit */
  SMMA_RTL_ADD_ONE      /* a single term */
} smma_rtl_addition;

typedef struct {
  const smma_step *s;
  smma_rtl_terms terms[2];
  int classes, count; /* number of classes; number of all terms */
  smma_rtl_addition method;
  int reference_least, reference_most;
  bool with_reference, with_exponents;
  int bits;             /* fraction bits of an aligned sum */
  int unit;             /* exponent of the last bit (SMMA_RTL_ADD_FIXED, SMMA_RTL_ADD_MIXED) */
  int width;            /* bits of a term's magnitude */
  int sum_width;        /* bits of the sum in two's complement */
  smma_rtl_total total; /* the magnitude */
} smma_rtl_sum_plan;

/* Plans a sum; `accumulator` is NULL if it is no term of the sum. */
smma_rtl_sum_plan smma_rtl_plan_sum(const smma_step *s, smma_rtl_shape term, const smma_rtl_shape *accumulator);

/* Notes the ranges of all exponents that a sum computes. */
void smma_rtl_reach_of_sum(smma_rtl_unit *u, const smma_rtl_sum_plan *p);

/* Reports whether the alignment rounds the terms of the class. */
bool smma_rtl_is_cut(const smma_rtl_terms *terms);

/* Reports whether the sum wraps, as integers of a fixed width do. */
bool smma_rtl_wraps(const smma_step *s);

/* Reports whether a term can reach 2^112 units, the greatest term of a sum that does not wrap. */
bool smma_rtl_reaches_limit(const smma_rtl_sum_plan *p, const smma_rtl_terms *terms);

/* Returns an upper bound on the number of bits by which a significand is shifted to the left. */
int smma_rtl_bound_left(const smma_rtl_sum_plan *p, const smma_rtl_terms *terms);

/* ---- Special values ---- */

/* Declares vectors with the flags of all terms: nan, infinite, zero and negative, and, if needed, beyond, invalid and
   of_a. The terms of the group come first. */
void smma_rtl_put_flags(smma_rtl_unit *u, const smma_rtl_sum_plan *p);

/* Declares is_nan, is_infinite and is_negative; with payloads also is_invalid, nan_negative and nan_payload. */
void smma_rtl_put_special(smma_rtl_unit *u, const smma_rtl_sum_plan *p);

/* Declares `special_code`, the encoding of a special sum. */
void smma_rtl_put_special_code(smma_rtl_unit *u, const smma_rtl_sum_plan *p);

/* ---- The reference exponent ---- */

/* Writes the module that computes a term's exponent for the alignment. Its ports are the term `x`, whether it has such
   an exponent (`brings`), and the exponent `e`. */
smma_rtl_words smma_rtl_exponent_module(smma_rtl_unit *u, const char *name, const smma_rtl_terms *terms);

/* Declares `reference`, the exponent to which terms are aligned, and `e` and `brings` of all terms. */
void smma_rtl_put_reference(smma_rtl_unit *u, const smma_rtl_sum_plan *p, const smma_rtl_words module[2]);

/* ---- Alignment ---- */

/* Writes the module that aligns a term; ports `x`, `reference`, `dropped` and `magnitude`. */
smma_rtl_words smma_rtl_align_module(smma_rtl_unit *u, const char *name, const smma_rtl_sum_plan *p,
                                     const smma_rtl_terms *terms);

/* Declares `magnitudes`, those of all terms, aligned. */
void smma_rtl_put_alignment(smma_rtl_unit *u, const smma_rtl_sum_plan *p, const smma_rtl_words module[2]);

#endif
