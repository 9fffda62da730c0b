/* Searches the shapes for a composition that agrees with the samples. */
#ifndef SMMA_INFER_SEARCH_H
#define SMMA_INFER_SEARCH_H

#include "infer/moves.h"
#include "infer/shape.h"

/* Sets the model of `fit` to the one with the fewest mismatches, and selects all samples. A thorough search ends at the
   first model without mismatches, and also moves parameters at random where single moves do not help; a quick search
   ends at a model with few mismatches. The watch may end both. Returns false if memory runs out. */
bool smma_search_shapes(smma_fit *fit, const smma_shapes *shapes, bool thoroughly, smma_fit_watch watch);

#endif
