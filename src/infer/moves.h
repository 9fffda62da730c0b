/* How a fit is made better: models with other values of one parameter, of a few together or of several at random. */
#ifndef SMMA_INFER_MOVES_H
#define SMMA_INFER_MOVES_H

#include "infer/fit.h"
#include "infer/parameter.h"

/* Whoever may end a search early; `stop` may be NULL. */
typedef struct {
  bool (*stop)(void *context);
  void *context;
} smma_fit_watch;

/* Tries every value of one parameter after another, once, but for rare parameters and the shape's; whether fewer rows
   disagree now. */
bool smma_fit_sweep(smma_fit *fit, smma_fit_watch watch);

/* Tries parameters alone, and those that move together, until nothing makes fewer rows disagree. */
void smma_fit_descend(smma_fit *fit, smma_fit_watch watch);

/* The same, and several at random if few rows disagree. */
void smma_fit_improve(smma_fit *fit, smma_fit_watch watch);

/* ---- What moves are made of ---- */

enum { SMMA_MOST_MODELS = 4096 };

/* Models to be tried: none; one more, if there is room. */
void smma_fit_clear(smma_fit *fit);
bool smma_fit_has_room(const smma_fit *fit);
void smma_fit_propose(smma_fit *fit, const smma_composition *composition);

/* Takes the best of them, the first of several, if fewer rows disagree than with the model that there is. */
bool smma_fit_take_best(smma_fit *fit);

bool smma_fit_is_stopped(smma_fit_watch watch);

/* Returns whether some rows disagree, and fewer than one in eight. */
bool smma_fit_is_near(const smma_fit *fit);

#endif
