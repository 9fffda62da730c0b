/* Uses an instruction in place of another one with the same formats of c and d. d of each step becomes c of the next,
   and zeros follow the last k, as in a product of matrices. */
#ifndef SMMA_CAMPAIGN_CHAIN_H
#define SMMA_CAMPAIGN_CHAIN_H

#include "campaign/common.h"
#include "unit/unit.h"

/* Opens `*chain`, a unit that computes vectors of `as` with `instruction` on `unit`; all three must outlive it. K is
   filled up with +0 to a multiple of `tile`, itself a multiple of the instruction's K. A NaN with an unknown payload,
   or with `any_nan` every NaN, becomes the NaN of `as`. Returns false with a message if the formats differ, or if
   memory runs out. */
bool smma_chain_open(smma_unit *unit, const smma_instruction *instruction, const smma_instruction *as, int tile,
                     bool any_nan, smma_unit *chain, smma_error *error);

/* Like smma_chain_open, for instructions whose formats of A and B may differ. First replaces each operand of `as`,
   whose formats are common->of, by the nearest number that both instructions' formats hold. */
bool smma_chain_open_common(smma_unit *unit, const smma_instruction *instruction, const smma_instruction *as, int tile,
                            bool any_nan, const smma_common_operands *common, smma_unit *chain, smma_error *error);

#endif
