/* Provides the catalogue's rules as candidate models. */
#ifndef SMMA_INFER_KNOWN_H
#define SMMA_INFER_KNOWN_H

#include "isa/compose.h"

enum { SMMA_MOST_KNOWN = 256 };

/* Fills `known` with the catalogue's rules, each once, as compositions with the formats and K of `operation`. Leaves
   out rules whose block length does not divide K. Returns the number of rules in `known`. */
int smma_known_compositions(smma_operation operation, smma_composition known[SMMA_MOST_KNOWN]);

#endif
