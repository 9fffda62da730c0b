/* The operands that two instructions have in common: numbers that the formats of both hold. A comparison over them
   tells whether a cast may move from one side of a product to the other. */
#ifndef SMMA_CAMPAIGN_COMMON_H
#define SMMA_CAMPAIGN_COMMON_H

#include "rows/row.h"

/* The formats of A and B: of the vectors, and of the other instruction. */
typedef struct {
  smma_format of[2], other[2];
  bool
      finite_only; /* one of the instructions reads infinities and NaN as numbers, which differ from format to format */
} smma_common_operands;

/* Returns the index of the instruction whose formats of A and B are the narrower ones, which hold the fewest numbers
   that the other formats do not: those with the greater least exponent, then with fewer fraction bits. 0 if none is. */
int smma_narrower_operands(const smma_instruction *const instruction[2]);

/* Returns the common operands as encodings of the narrower instruction's formats. */
smma_common_operands smma_common_operands_of(const smma_instruction *const instruction[2]);

/* Reports whether both instructions have the same formats of A and B. */
bool smma_are_same_operands(const smma_common_operands *common);

/* Returns the encoding itself if both formats hold its number, otherwise that of a number near it, or of +0. NaN is a
   number here unless `finite_only`, and -0 is not +0. `operand` is 0 for A, 1 for B. */
uint64_t smma_common_operand(const smma_common_operands *common, int operand, uint64_t encoding);

/* Replaces the operands a and b of a vector by common ones. */
void smma_make_operands_common(const smma_common_operands *common, int k, smma_row *row);

#endif
