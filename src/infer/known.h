/* Provides the catalogue's rules as candidate models. */
#ifndef SMMA_INFER_KNOWN_H
#define SMMA_INFER_KNOWN_H

#include "isa/compose.h"

enum { SMMA_MOST_KNOWN = 256 };

/* Lists each rule once, as a composition with the operation's formats and K, if its block length divides K. Returns
   their number. */
int smma_known_compositions(smma_operation operation, smma_composition known[SMMA_MOST_KNOWN]);

#endif
