/* The room that exact sums of a composition need in the exact accumulator (core/wide.h). */
#ifndef SMMA_ISA_CUSTOM_ROOM_H
#define SMMA_ISA_CUSTOM_ROOM_H

#include "isa/instruction.h"

/* An exact sum whose terms can lie outside the accumulator. */
typedef struct {
  int step;        /* index of its step */
  bool of_terms;   /* the terms are exact; otherwise only the accumulator */
  int least, most; /* exponents of the lowest and of the leading bit of its terms */
} smma_lack_of_room;

/* Reports whether the exact accumulator has room for every exact sum of an instruction with this composition, whatever
   the operands are. If not, describes the first sum without room. The composition's values must be checked otherwise.
 */
bool smma_has_room(const smma_instruction *instruction, const smma_composition *composition, smma_lack_of_room *lack);

/* Returns the last slice of b that a phase multiplies. */
int smma_last_slice_of_b(const smma_composition *composition);

#endif
