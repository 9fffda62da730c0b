/* Describes in words what a composition computes. */
#ifndef SMMA_EXPLAIN_UNIT_WORDS_H
#define SMMA_EXPLAIN_UNIT_WORDS_H

#include <stdio.h>

#include "isa/instruction.h"

/* Prints indented lines on the operands, and on each step: which nodes it sums, which bits it truncates, how it rounds.
   The instruction's rule must be a composition. */
void smma_print_composition(FILE *out, const smma_instruction *instruction);

#endif
