/* The state of a search, shared by the files that implement its stages. */
#ifndef SMMA_INFER_INFERENCE_H
#define SMMA_INFER_INFERENCE_H

#include "equal/witness.h"
#include "infer/infer.h"
#include "infer/moves.h"
#include "infer/shape.h"

enum { SMMA_NAN_POLICIES = SMMA_NAN_NUMBERS + 1 };

/* Each of these constants changes the search's seed, so that the vectors of a stage differ from those of other stages.
   Rounds of new vectors use seed + 1, seed + 2 and so on, which the constants cannot give. */
#define SMMA_CHECK_SEED UINT64_C(0x9e3779b97f4a7c15)   /* the final check */
#define SMMA_WITNESS_SEED UINT64_C(0xbf58476d1ce4e5b9) /* vectors that distinguish two models */
#define SMMA_MISFIT_SEED UINT64_C(0x94d049bb133111eb)  /* vectors that describe mismatches */

typedef struct {
  const smma_infer_request *request;
  smma_inference *found;
  smma_asking asking;
  smma_instruction as;     /* the request's instruction, with all NaNs equal */
  smma_named_rule any_nan; /* the rule of `as` */
  smma_samples samples;
  smma_fit fit;
  smma_shapes *shapes;                       /* shapes that no vector refutes */
  smma_unit models;                          /* the software model, which computes any instruction */
  int odd;                                   /* k of the product that the unit treats unlike the others; -1: none */
  int rounds;                                /* number of rounds of new vectors so far */
  uint64_t nan_different[SMMA_NAN_POLICIES]; /* for each NaN policy, the number of vectors that contradict it */
  int reweighed; /* how often the evidence against shapes was computed again, from vectors on which a model was wrong */
  bool agrees;   /* the model has passed the final check */
  uint64_t calls_before_check; /* calls of the unit before the last final check */
  smma_error *error;
} smma_inference_work;

/* Returns the number of vectors that the unit has computed for the search. Vectors whose results the record has count,
   too. */
uint64_t smma_inference_rows_asked(const smma_inference_work *work);

/* Report whether the unit, or the candidate models, have computed as many vectors as the request allows. */
bool smma_inference_are_rows_asked(const smma_inference_work *work);
bool smma_inference_is_budget_spent(const smma_inference_work *work);

/* Returns a watch that ends a fit when the budget is spent or smma_inference_must_end is true. */
smma_fit_watch smma_inference_watch(smma_inference_work *work);

/* Reports whether the search must end: it was interrupted, or the unit has computed as many vectors as the request
   allows. */
bool smma_inference_must_end(const smma_inference_work *work);
void smma_inference_tell(const smma_inference_work *work, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Set d of the first `count` vectors to the unit's results; smma_inference_learn also adds the vectors to the samples.
   Both return false with a message on failure, like the functions below. */
bool smma_inference_ask(smma_inference_work *work, smma_rows *rows, size_t count);
bool smma_inference_learn(smma_inference_work *work, smma_rows *rows, size_t count);

/* Runs vectors with their products in different orders on the unit, and removes the shapes that the results refute.
   Sorts the remaining shapes, likely shapes first, and fills found->evidence. If no shape is likely except without one
   product, sets work->odd. Permutes the vectors that disagree with the model, if there are any, because these show more
   of the structure. */
bool smma_inference_weigh_shapes(smma_inference_work *work);

/* Searches for a vector on which `other` and the model differ. `witness` says whether one was found; its d is the
   model's result. */
bool smma_inference_find_witness(smma_inference_work *work, const smma_composition *other, smma_witness *witness);

/* Searches for other models that agree with all samples. For each of them, the unit computes a vector that
   distinguishes it from the model; the vector becomes a sample. Sets `*wrong` to the number of samples with which the
   model now disagrees. If it is not 0, the best of the other models replaces the model. */
bool smma_inference_ask_rivals(smma_inference_work *work, size_t *wrong);

/* Fills found->rival with other models that agree with a recording, and adds vectors that distinguish them from the
   model to found->proof. */
bool smma_inference_list_rivals(smma_inference_work *work);

/* Appends a vector to found->proof and sets `*at` to its index. */
bool smma_inference_add_proof(smma_inference_work *work, const smma_row *row, size_t *at);

/* Fills found->neighbour and found->proof. The vectors that the unit computes for the proof become samples. Sets
   `*wrong` to the number of those for which its result is not the model's; if it is not 0, the model must be fitted
   again. */
bool smma_inference_prove(smma_inference_work *work, size_t *wrong);

/* Fills found->misfit with new vectors, or with the samples if the unit is a recording or may compute no more vectors,
   or if no new vector has a mismatch. */
bool smma_inference_examine_misfit(smma_inference_work *work);

#endif
