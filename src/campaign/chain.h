/* An instruction in the place of another one of the same formats, d going on as c from step to step and zeros behind
   the last k, as in a product of matrices. */
#ifndef SMMA_CAMPAIGN_CHAIN_H
#define SMMA_CAMPAIGN_CHAIN_H

#include "unit/unit.h"

/* `*chain` computes rows of `as` with `instruction` on `unit`; all three must stay as long. K is filled with +0 to a
   multiple of `tile`, itself a multiple of the instruction's K. A NaN whose payload is not known is the one of `as`.
   False with one line if formats do not fit, or without memory. */
bool smma_chain_open(smma_unit *unit, const smma_instruction *instruction, const smma_instruction *as, int tile,
                     smma_unit *chain, smma_error *error);

#endif
