/* The normal form of a product: what is left of an operation's rule once everything is left out that cannot change a
   bit with these formats. Operations of the same formats and form compute the same function. */
#ifndef SMMA_EQUAL_FORM_H
#define SMMA_EQUAL_FORM_H

#include "core/rule.h"

typedef struct {
  smma_rule rule; /* T-, ST- and E-FDPA and FMA as the G-FDPA that they are; L is that of the operation; NaN: quiet */
  int step;       /* the chain goes on in the same way behind every so many products */
  bool chained;   /* wherever an instruction ends; else its K is the step */

  /* What has been left out. */
  bool exact;             /* F and what belongs to it: alignment never cuts a bit */
  bool zero_without_bits; /* e_zero: a zero's exponent never cuts a bit */
  bool zero_is_least;     /* e_zero: no other term has an exponent below it */
} smma_form;

smma_form smma_form_of(const smma_operation *operation);
bool smma_same_form(const smma_form *x, const smma_form *y);

/* The last bit that a product can have, 2^this, and the last that c or a sum can have. */
int smma_last_bit_of_products(const smma_operation *operation);
int smma_last_bit_of_sums(const smma_operation *operation);

/* Whether products of zeros behind the last one change no sum: proved, so false where it is not known. */
bool smma_zeros_add_nothing(const smma_operation *operation);

/* Whether k may be in any order, proved. */
bool smma_any_order(const smma_operation *operation);

#endif
