/* The rules of the catalogue as a search's models. */
#ifndef SMMA_INFER_KNOWN_H
#define SMMA_INFER_KNOWN_H

#include "isa/compose.h"

enum { SMMA_MOST_KNOWN = 256 };

/* Each rule once, as a composition of the operation's formats and K, whose blocks must divide K; their number. */
int smma_known_compositions(smma_operation operation, smma_composition known[SMMA_MOST_KNOWN]);

#endif
