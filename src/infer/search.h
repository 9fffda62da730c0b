/* The composition that agrees with samples, sought among all shapes. */
#ifndef SMMA_INFER_SEARCH_H
#define SMMA_INFER_SEARCH_H

#include "infer/fit.h"

/* Leaves the model with which the fewest samples disagree in `fit`, which looks at all of them then. It ends with the
   first that all agree with, or when the watch stops it. False without memory. */
bool smma_search_shapes(smma_fit *fit, smma_fit_watch watch);

#endif
