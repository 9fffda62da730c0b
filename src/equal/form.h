/* The normal form of a product: the operation's rule without everything that cannot change a bit in these formats.
   Operations with the same formats and form compute the same function. */
#ifndef SMMA_EQUAL_FORM_H
#define SMMA_EQUAL_FORM_H

#include <stddef.h>

#include "core/rule.h"

typedef struct {
  bool is_chain; /* a chain of fused sums: T-, ST- and E-FDPA, FMA and similar compositions have the same form */
  smma_g_fdpa chain;
  smma_rule rule; /* the rule, if it is not such a chain; L is the operation's, and NaN is quiet */
  int block;      /* products of one fused sum */
  int step;       /* the chain repeats after this many products */
  bool chained;   /* instructions may end anywhere; otherwise `step` is the K of an instruction */

  /* Parameters removed because they have no effect: */
  bool exact;             /* F and related parameters have no effect: alignment never truncates a bit */
  bool zero_without_bits; /* e_zero has no effect: the exponent of a zero never truncates a bit */
  bool zero_is_least;     /* e_zero has no effect: no other term has a smaller exponent */
} smma_form;

smma_form smma_form_of(const smma_operation *operation);
bool smma_same_form(const smma_form *x, const smma_form *y);

/* Reports whether NaN results count as equal; a policy with an unknown payload equals any policy. */
bool smma_same_nan(smma_nan_policy x, smma_nan_policy y);

/* Return the exponents of the last bit that a product can have, and that c or a sum can have. */
int smma_last_bit_of_products(const smma_operation *operation);
int smma_last_bit_of_sums(const smma_operation *operation);

/* Reports whether it is proved that zero products after the last one change no sum. */
bool smma_zeros_add_nothing(const smma_operation *operation);

/* Reports whether it is proved that a sum is never -0: for any c if `began_off` is false, otherwise for every c except
   -0. */
bool smma_is_off_negative_zero(const smma_operation *operation, bool began_off);

/* smma_zeros_keep_sums is like smma_zeros_add_nothing for sums other than -0. smma_zeros_in_block_are_idle reports
   whether zeros within a block change nothing either. */
bool smma_zeros_keep_sums(const smma_operation *operation);
bool smma_zeros_in_block_are_idle(const smma_operation *operation, bool began_off);

/* smma_sums_are_exact reports whether every sum of up to `products` products, starting from +0, is exact, so that
   their order does not matter. smma_holds_sums reports whether all such sums are numbers of a format. */
bool smma_sums_are_exact(const smma_operation *operation, size_t products);
bool smma_holds_sums(const smma_operation *operation, size_t products, smma_format format);

/* Reports whether it is proved that k may be in any order. */
bool smma_any_order(const smma_operation *operation);

#endif
