/* An instruction in the place of another one: of the same formats, with a K that divides the other's, d going on as c
   from step to step, as in a product of matrices. */
#ifndef SMMA_CAMPAIGN_CHAIN_H
#define SMMA_CAMPAIGN_CHAIN_H

#include "unit/unit.h"

/* `*chain` computes rows of `as` with `instruction` on `unit`, which must stay open as long. A NaN whose payload is not
   known is the one of `as`. False with one line if formats or K do not fit, or without memory. */
bool smma_chain_open(smma_unit *unit, const smma_instruction *instruction, const smma_instruction *as, smma_unit *chain,
                     smma_error *error);

#endif
