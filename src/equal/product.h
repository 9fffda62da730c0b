/* The product that a target computes, as a unit: one element of D, with any K. */
#ifndef SMMA_EQUAL_PRODUCT_H
#define SMMA_EQUAL_PRODUCT_H

#include "campaign/common.h"
#include "unit/unit.h"

typedef struct {
  smma_unit model, unit;
  smma_instruction step;
} smma_product_unit;

/* Opens a unit for vectors of `as`, with K filled up with zeros to a multiple of `tile`. `product` and `as` must
   stay unchanged until it is closed. If the formats of A and B differ, operands are common ones, and all NaN equal. */
bool smma_product_open(smma_product_unit *product, const smma_instruction *target, const smma_instruction *as, int tile,
                       const smma_common_operands *common, smma_error *error);
void smma_product_close(smma_product_unit *product);

/* Makes the instruction whose vectors both products compute, with this K. Its formats of A and B are the narrower ones,
   and its NaN policy is known only if both targets' are. Returns false if vectors must have c = +0: several steps need
   a c in d's format, which the instructions do not have. */
bool smma_product_rows(const smma_instruction *const target[2], int k, const int tile[2], smma_instruction *as);

/* A unit with two groups of k exchanged: a[k] and b[k] with their scale factors. */
typedef struct {
  smma_unit *inner, unit;
  int group, exchanged[2]; /* elements of a group; indices of the two groups */
} smma_exchanged_unit;
void smma_exchanged_open(smma_exchanged_unit *exchanged, smma_unit *inner, int group, int first, int second);

#endif
