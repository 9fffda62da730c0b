/* The normal form of a product: what is left of an operation's rule once everything is left out that cannot change a
   bit with these formats. Operations of the same formats and form compute the same function. */
#ifndef SMMA_EQUAL_FORM_H
#define SMMA_EQUAL_FORM_H

#include <stddef.h>

#include "core/rule.h"

typedef struct {
  bool is_chain; /* of fused sums: T-, ST- and E-FDPA, FMA and compositions like them have the same form */
  smma_g_fdpa chain;
  smma_rule rule; /* of all others; L is that of the operation; NaN: quiet */
  int block;      /* products of one fused sum */
  int step;       /* the chain goes on in the same way behind every so many products */
  bool chained;   /* wherever an instruction ends; else its K is the step */

  /* What has been left out. */
  bool exact;             /* F and what belongs to it: alignment never cuts a bit */
  bool zero_without_bits; /* e_zero: a zero's exponent never cuts a bit */
  bool zero_is_least;     /* e_zero: no other term has an exponent below it */
} smma_form;

smma_form smma_form_of(const smma_operation *operation);
bool smma_same_form(const smma_form *x, const smma_form *y);

/* Whether results that are NaN count as the same: one whose payload is not known is any. */
bool smma_same_nan(smma_nan_policy x, smma_nan_policy y);

/* The last bit that a product can have, 2^this, and the last that c or a sum can have. */
int smma_last_bit_of_products(const smma_operation *operation);
int smma_last_bit_of_sums(const smma_operation *operation);

/* Whether products of zeros behind the last one change no sum: proved, so false where it is not known. */
bool smma_zeros_add_nothing(const smma_operation *operation);

/* Whether a sum is never -0: of any c, or where it began with a sum that is not -0 either. Proved, so false where it is
   not known. */
bool smma_is_off_negative_zero(const smma_operation *operation, bool began_off);

/* The same of sums that are not -0 themselves, and whether zeros within a block change nothing either. */
bool smma_zeros_keep_sums(const smma_operation *operation);
bool smma_zeros_in_block_are_idle(const smma_operation *operation, bool began_off);

/* Whether every sum of so many products, from +0 on, is exact, so that no order shows; and is a number of a format. */
bool smma_sums_are_exact(const smma_operation *operation, size_t products);
bool smma_holds_sums(const smma_operation *operation, size_t products, smma_format format);

/* Whether k may be in any order, proved. */
bool smma_any_order(const smma_operation *operation);

#endif
