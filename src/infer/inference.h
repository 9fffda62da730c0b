/* What the parts of a search share. */
#ifndef SMMA_INFER_INFERENCE_H
#define SMMA_INFER_INFERENCE_H

#include "equal/witness.h"
#include "infer/infer.h"
#include "infer/moves.h"
#include "infer/shape.h"

enum { SMMA_NAN_POLICIES = SMMA_NAN_MARKED + 1 };

typedef struct {
  const smma_infer_request *request;
  smma_inference *found;
  smma_asking asking;
  smma_instruction as; /* the request's, of which any two NaN are the same */
  smma_named_rule any_nan;
  smma_samples samples;
  smma_fit fit;
  smma_shapes *shapes; /* that nothing refutes */
  smma_unit models;    /* computes any instruction */
  int odd;             /* the product that is unlike the others; -1 */
  int rounds;
  uint64_t nan_different[SMMA_NAN_POLICIES]; /* vectors with another NaN than each policy's */
  int reweighed;                             /* how often shapes were weighed by rows that disagree with a model */
  bool agrees;                               /* the model has everything */
  smma_error *error;
} smma_inference_work;

/* Ends a fit when the budget is spent, or smma_inference_must_end. */
smma_fit_watch smma_inference_watch(smma_inference_work *work);

/* Returns whether the search was interrupted, or has asked as many rows as the request allows. */
bool smma_inference_must_end(const smma_inference_work *work);
void smma_inference_tell(const smma_inference_work *work, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Asks the unit; the same, and the rows become samples. */
bool smma_inference_ask(smma_inference_work *work, smma_rows *rows, size_t count);
bool smma_inference_learn(smma_inference_work *work, smma_rows *rows, size_t count);

/* Asks the unit for rows whose products change places, which refutes shapes, and puts likely ones first. Where there is
   a model, rows that disagree with it show what others did not. */
bool smma_inference_weigh_shapes(smma_inference_work *work);

/* A row that tells a composition from the model, if one of those that are searched does; d is the model's. */
bool smma_inference_find_witness(smma_inference_work *work, const smma_composition *other, smma_witness *witness);

/* Seeks other models that agree with all samples, and asks the unit for a row that tells each from the model. `*wrong`
   is how many of these the model has not. */
bool smma_inference_ask_rivals(smma_inference_work *work, size_t *wrong);

/* Of a recording: fills found->rival with such models, and adds rows that tell them to found->proof. */
bool smma_inference_list_rivals(smma_inference_work *work);

/* Adds a row to found->proof, at `*at`. */
bool smma_inference_add_proof(smma_inference_work *work, const smma_row *row, size_t *at);

/* Fills found->neighbour and found->proof; rows of the unit that are not the model's join the samples, and `*wrong` is
   their number: then the model is to be fitted again. */
bool smma_inference_prove(smma_inference_work *work, size_t *wrong);

/* Fills found->misfit. */
bool smma_inference_examine_misfit(smma_inference_work *work);

#endif
