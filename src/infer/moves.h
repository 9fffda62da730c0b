/* Improves a fit: tries models with other values of one parameter, of a few together, or of several at random. */
#ifndef SMMA_INFER_MOVES_H
#define SMMA_INFER_MOVES_H

#include "infer/fit.h"
#include "infer/parameter.h"

/* A callback that may end a search early; `stop` may be NULL. */
typedef struct {
  bool (*stop)(void *context);
  void *context;
} smma_fit_watch;

/* Tries every value of each parameter once, except parameters of the shape and those that only few units need. Reports
   whether the model now disagrees with fewer samples. */
bool smma_fit_sweep(smma_fit *fit, smma_fit_watch watch);

/* Changes single parameters, and pairs of parameters that depend on each other, until no change reduces the number of
   mismatches. */
void smma_fit_descend(smma_fit *fit, smma_fit_watch watch);

/* Works like smma_fit_descend. If few mismatches remain, also changes or resets several parameters at random. */
void smma_fit_improve(smma_fit *fit, smma_fit_watch watch);

/* ---- Building blocks of moves ---- */

enum { SMMA_MOST_MODELS = 4096 };

/* The list of models to try. smma_fit_clear empties it, smma_fit_has_room reports whether it has room, and
   smma_fit_propose appends a model if it has room. */
void smma_fit_clear(smma_fit *fit);
bool smma_fit_has_room(const smma_fit *fit);
void smma_fit_propose(smma_fit *fit, const smma_composition *composition);

/* Replaces the model by the best model of the list (the first of several equally good ones) if fewer vectors disagree
   with it than with the current model. Reports whether it was replaced. */
bool smma_fit_take_best(smma_fit *fit);

bool smma_fit_is_stopped(smma_fit_watch watch);

/* Reports whether the model disagrees with some selected samples, but with fewer than one in eight. */
bool smma_fit_is_near(const smma_fit *fit);

#endif
