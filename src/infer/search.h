/* The composition that agrees with samples, sought among shapes. */
#ifndef SMMA_INFER_SEARCH_H
#define SMMA_INFER_SEARCH_H

#include "infer/moves.h"
#include "infer/shape.h"

/* Leaves the model with which the fewest samples disagree in `fit`, which looks at all of them then. It ends with the
   first that all agree with, or when the watch stops it. `thoroughly`: not before, with parameters moved at random,
   too, where the others lead nowhere; else with one that almost all agree with. False without memory. */
bool smma_search_shapes(smma_fit *fit, const smma_shapes *shapes, bool thoroughly, smma_fit_watch watch);

#endif
