/* The operands that two instructions have in common: numbers that the formats of both instructions hold. If the
   instructions agree on these operands, a cast of such operands to the other instruction's formats does not change the
   product. */
#ifndef SMMA_CAMPAIGN_COMMON_H
#define SMMA_CAMPAIGN_COMMON_H

#include "rows/row.h"

/* The formats of A and B. `of` are those of the test vectors, and `other` those of the other instruction. */
typedef struct {
  smma_format of[2], other[2];
  bool
      finite_only; /* one of the instructions reads infinities and NaN as numbers, which differ from format to format */
} smma_common_operands;

/* Returns the index of the instruction with the narrower formats of A and B. A format is narrower if its least exponent
   is greater, or, if these are equal, if it has fewer fraction bits. Returns 0 if neither is narrower. */
int smma_narrower_operands(const smma_instruction *const instruction[2]);

/* Returns the common operands as encodings of the narrower instruction's formats. */
smma_common_operands smma_common_operands_of(const smma_instruction *const instruction[2]);

/* Reports whether both instructions have the same formats of A and B. */
bool smma_are_same_operands(const smma_common_operands *common);

/* Returns the encoding itself if both formats hold its number, otherwise the encoding of a number near it, or of +0.
   Here NaN counts as a number unless `finite_only`, and -0 differs from +0. `operand` is 0 for A, 1 for B. */
uint64_t smma_common_operand(const smma_common_operands *common, int operand, uint64_t encoding);

/* Replaces the operands a and b of a vector by common ones. */
void smma_make_operands_common(const smma_common_operands *common, int k, smma_row *row);

#endif
