/* A composition fitted to samples: one parameter after another, or a few together, takes the value with which the
   fewest rows disagree, until none makes fewer. */
#ifndef SMMA_INFER_FIT_H
#define SMMA_INFER_FIT_H

#include "infer/samples.h"
#include "isa/custom.h"

/* Samples that once disagreed with a model are looked at again and again. */
enum { SMMA_MOST_HARD = 256 };

typedef struct {
  const smma_samples *samples;
  smma_custom model; /* a composition */
  size_t wrong;      /* rows of those looked at that disagree */
  size_t *order;     /* the samples, those that disagree first */
  size_t looked;     /* at so many of them */
  size_t capacity;
  size_t hard[SMMA_MOST_HARD]; /* the last of them */
  size_t hards;                /* how many there were */
  uint64_t tried;              /* models */
  struct smma_fit_models *models;
} smma_fit;

/* `instruction` says formats and K. False without memory. */
bool smma_fit_open(const smma_samples *samples, const smma_instruction *instruction, smma_fit *fit);
void smma_fit_close(smma_fit *fit);

/* Looks at `looked` of the samples: the hard ones, at most half of them, and others evenly; all if there are fewer.
   False without memory. */
bool smma_fit_look_at(smma_fit *fit, size_t looked);

/* Some of the samples looked at that disagree with the model are hard from now on. */
void smma_fit_remember_misfits(smma_fit *fit);

/* Begins with a composition; false if it is none that these formats can have. */
bool smma_fit_start(smma_fit *fit, const smma_composition *composition);

/* Gives keys the values that they have where they are not given, as long as no more rows disagree; exponents of which
   both classes have the same offset take it into the bits that are kept. */
void smma_fit_simplify(smma_fit *fit);

/* The value of a key of a step, or of the whole composition (-1); the model with another. */
int smma_fit_value(const smma_fit *fit, int step, const smma_key *key);
smma_composition smma_fit_with(const smma_fit *fit, int step, const smma_key *key, int value);

/* Returns how many vectors all models have computed. The same samples give the same number on any machine. */
uint64_t smma_fit_computed(const smma_fit *fit);

/* Whether it has begun; the model's composition. */
bool smma_fit_has_model(const smma_fit *fit);
const smma_composition *smma_fit_composition(const smma_fit *fit);

/* A composition as an operation with the fit's formats and K. */
smma_operation smma_fit_operation(const smma_fit *fit, const smma_composition *composition);

/* Samples of those looked at that disagree, counted up to `most` + 1. */
size_t smma_fit_count(const smma_fit *fit, const smma_composition *composition, size_t most);

/* Whether no more than `most` disagree, which a glance at some tells of most; and how many do. */
bool smma_fit_has_at_most(const smma_fit *fit, const smma_composition *composition, size_t most, size_t *wrong);

/* Whether units of these formats can have it. */
bool smma_fit_allows(const smma_fit *fit, const smma_composition *composition);

#endif
