/* Fits a composition to samples: changes one parameter after another, or a few together, to the values with the
   fewest mismatches, until no change reduces their number. */
#ifndef SMMA_INFER_FIT_H
#define SMMA_INFER_FIT_H

#include "infer/samples.h"
#include "isa/custom.h"

/* Number of samples to remember that disagreed with an earlier model; each fit looks at them again. */
enum { SMMA_MOST_HARD = 256 };

typedef struct {
  const smma_samples *samples;
  smma_custom model; /* its rule is a composition */
  size_t wrong;      /* number of examined vectors with which the model disagrees */
  size_t *order;     /* indices of the samples, mismatches first */
  size_t looked;     /* number of samples in use, which are the first of `order` */
  size_t capacity;
  size_t hard[SMMA_MOST_HARD]; /* the samples that refuted models most recently, as a ring buffer */
  size_t hards;                /* number of samples ever put into `hard` */
  uint64_t tries;              /* number of models computed */
  struct smma_fit_models *models;
} smma_fit;

/* Opens a fit; `instruction` gives formats and K. Returns false if memory runs out. */
bool smma_fit_open(const smma_samples *samples, const smma_instruction *instruction, smma_fit *fit);
void smma_fit_close(smma_fit *fit);

/* Selects `looked` samples. At most half of them are remembered samples; the rest are spread evenly over all samples.
   If there are fewer samples than `looked`, selects all. Returns false if memory runs out. */
bool smma_fit_look_at(smma_fit *fit, size_t looked);

/* Remembers some of the selected samples that disagree with the model. */
void smma_fit_remember_misfits(smma_fit *fit);

/* Sets the model. Returns false if the composition is not possible with the instruction's formats. */
bool smma_fit_start(smma_fit *fit, const smma_composition *composition);

/* Resets keys to their defaults as long as no more vectors disagree. If terms and accumulator of a step have the
   same exponent offset, adds it to their alignment bits instead. */
void smma_fit_simplify(smma_fit *fit);

/* smma_fit_value returns the value of a key of a step, or of the whole composition (step -1). smma_fit_with returns
   the model with another value of the key. */
int smma_fit_value(const smma_fit *fit, int step, const smma_key *key);
smma_composition smma_fit_with(const smma_fit *fit, int step, const smma_key *key, int value);

/* Returns how many vectors all models have computed. The same samples give the same number on any machine. */
uint64_t smma_fit_computed(const smma_fit *fit);

/* smma_fit_has_model reports whether a model was set; smma_fit_composition returns it. */
bool smma_fit_has_model(const smma_fit *fit);
const smma_composition *smma_fit_composition(const smma_fit *fit);

/* Returns a composition as an operation with the fit's formats and K. */
smma_operation smma_fit_operation(const smma_fit *fit, const smma_composition *composition);

/* Counts the selected samples that disagree; stops at `most` + 1. */
size_t smma_fit_count(const smma_fit *fit, const smma_composition *composition, size_t most);

/* Reports whether at most `most` samples disagree, and sets `*wrong` to their number. A first look at a few samples
   rejects most compositions. */
bool smma_fit_has_at_most(const smma_fit *fit, const smma_composition *composition, size_t most, size_t *wrong);

/* Reports whether units with these formats can have the composition. */
bool smma_fit_allows(const smma_fit *fit, const smma_composition *composition);

#endif
