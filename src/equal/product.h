/* The product that a target computes, as a unit: one element of D, with any K. */
#ifndef SMMA_EQUAL_PRODUCT_H
#define SMMA_EQUAL_PRODUCT_H

#include "unit/unit.h"

typedef struct {
  smma_unit model, unit;
  smma_instruction step;
} smma_product_unit;

/* Rows of `as`, K filled with zeros to a multiple of `tile`; `product` and `as` must stay as they are until it is
   closed. */
bool smma_product_open(smma_product_unit *product, const smma_instruction *target, const smma_instruction *as, int tile,
                       smma_error *error);
void smma_product_close(smma_product_unit *product);

/* The instruction whose rows both products compute, with this K; NaN is known only where it is of both. False where
   rows are to have c = +0 alone, as several steps need a c in d's format that the instructions do not have. */
bool smma_product_rows(const smma_instruction *const target[2], int k, const int tile[2], smma_instruction *as);

/* The same with two groups of k exchanged, a[k] and b[k] with their scale factors. */
typedef struct {
  smma_unit *inner, unit;
  int group, exchanged[2]; /* elements of a group; the groups' numbers */
} smma_exchanged_unit;
void smma_exchanged_open(smma_exchanged_unit *exchanged, smma_unit *inner, int group, int first, int second);

#endif
