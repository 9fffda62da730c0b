/* Fits a composition to samples: changes one parameter after another, or a few together, to the values with the
   fewest mismatches, until no change reduces their number. */
#ifndef SMMA_INFER_FIT_H
#define SMMA_INFER_FIT_H

#include "infer/samples.h"
#include "isa/custom.h"

/* Maximum number of remembered samples: samples that disagreed with earlier models. A fit that does not use all samples
   uses some of these. */
enum { SMMA_MOST_HARD = 256 };

typedef struct {
  const smma_samples *samples;
  smma_custom model;           /* its rule is a composition */
  size_t wrong;                /* number of selected samples with which the model disagrees */
  size_t *order;               /* indices of the selected samples, those that disagree with the model first */
  size_t selected;             /* number of selected samples */
  size_t capacity;             /* number of indices that `order` has room for */
  size_t hard[SMMA_MOST_HARD]; /* ring buffer of the remembered samples */
  size_t hards;                /* number of samples ever put into `hard` */
  uint64_t tries;              /* number of models tried */
  struct smma_fit_models *models;
} smma_fit;

/* Opens a fit without a model and selects all samples; `instruction` gives formats and K. Returns false if memory runs
   out. */
bool smma_fit_open(const smma_samples *samples, const smma_instruction *instruction, smma_fit *fit);
void smma_fit_close(smma_fit *fit);

/* Selects `count` samples and counts those with which the model disagrees. At most half of them are remembered
   samples; the rest are spread evenly over all samples. If there are fewer samples than `count`, selects all.
   Returns false if memory runs out. */
bool smma_fit_select(smma_fit *fit, size_t count);

/* Remembers up to SMMA_MOST_HARD / 8 selected samples that disagree with the model, in place of the oldest. */
void smma_fit_remember_misfits(smma_fit *fit);

/* Sets the model. Returns false if the composition is not possible with the instruction's formats. */
bool smma_fit_start(smma_fit *fit, const smma_composition *composition);

/* Resets every key whose default does not increase the number of mismatches. If terms and accumulator of a step have
   the same exponent offset, first replaces it by fewer alignment bits, under the same condition. */
void smma_fit_simplify(smma_fit *fit);

/* smma_fit_value returns the value of a key of a step, or of the whole composition (step -1). smma_fit_with returns
   the model with another value of the key. */
int smma_fit_value(const smma_fit *fit, int step, const smma_key *key);
smma_composition smma_fit_with(const smma_fit *fit, int step, const smma_key *key, int value);

/* Returns how many results all models together have computed. The same samples give the same number on any machine. */
uint64_t smma_fit_computed(const smma_fit *fit);

/* smma_fit_has_model reports whether a model was set; smma_fit_composition returns it. */
bool smma_fit_has_model(const smma_fit *fit);
const smma_composition *smma_fit_composition(const smma_fit *fit);

/* Returns a composition as an operation with the fit's formats and K. */
smma_operation smma_fit_operation(const smma_fit *fit, const smma_composition *composition);

/* Returns the number of selected samples with which the composition disagrees; stops counting at `most` + 1. */
size_t smma_fit_count(const smma_fit *fit, const smma_composition *composition, size_t most);

/* Reports whether the composition disagrees with at most `most` selected samples; if so, sets `*wrong` to their number.
   To save time, first rejects compositions that disagree with too many of a few samples. */
bool smma_fit_has_at_most(const smma_fit *fit, const smma_composition *composition, size_t most, size_t *wrong);

/* Reports whether a custom unit with the fit's formats can have the composition. */
bool smma_fit_allows(const smma_fit *fit, const smma_composition *composition);

#endif
