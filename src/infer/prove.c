/* Finds vectors that rule out neighbouring values of a model's parameters. */
#include <stdlib.h>

#include "campaign/campaign.h"
#include "campaign/chain.h"
#include "infer/inference.h"
#include "infer/neighbours.h"
#include "isa/compose.h"

/* ---- Telling two compositions apart ---- */

/* A composition as a unit. The unit points into `custom`, so a model must stay where it was opened. */
typedef struct {
  smma_custom custom;
  smma_unit unit;
} model;

static bool open_model(smma_inference_work *x, const smma_composition *p, model *m) {
  m->custom = x->fit.model;
  m->custom.instruction = x->as;
  m->custom.named.rule = (smma_rule){.algorithm = SMMA_COMPOSITION, .nan = SMMA_NAN_QUIET};
  m->custom.named.rule.with.composition = *p;
  m->custom.instruction.rule = &m->custom.named;
  return smma_chain_open(&x->models, &m->custom.instruction, &x->as, x->as.k, false, &m->unit, x->error);
}

/* Opens the model and `other` as units. Returns false with a message, and leaves both closed, on failure. */
static bool open_both(smma_inference_work *x, const smma_composition *other, model both[2]) {
  if (!open_model(x, smma_fit_composition(&x->fit), &both[0])) return false;
  if (open_model(x, other, &both[1])) return true;
  smma_unit_close(&both[0].unit);
  return false;
}

static void close_both(model both[2]) {
  smma_unit_close(&both[1].unit);
  smma_unit_close(&both[0].unit);
}

bool smma_inference_find_witness(smma_inference_work *x, const smma_composition *other, smma_witness *witness) {
  model both[2];
  if (!open_both(x, other, both)) return false;
  const smma_search search = {.unit = {&both[0].unit, &both[1].unit},
                              .as = &x->as,
                              .rule = {&both[0].custom.named.rule, &both[1].custom.named.rule},
                              .rows = x->request->neighbours,
                              .seed = x->request->seed ^ SMMA_WITNESS_SEED};
  const bool good = smma_find_witness(&search, witness, x->error);
  close_both(both);
  return good;
}

/* ---- One neighbouring value ---- */

/* Sets `*row` to the sample with the fewest terms that disagrees with a composition. Returns false if all agree. */
static bool find_sample(const smma_inference_work *x, const smma_composition *other, smma_row *row) {
  const smma_operation o = smma_fit_operation(&x->fit, other);
  int least = 0;
  bool found = false;
  for (size_t i = 0; i < x->samples.count; i++) {
    smma_row sample;
    int terms;
    if (smma_sample_agrees(&x->samples, &o, i)) continue;
    smma_rows_get(&x->samples.rows, i, &sample);
    terms = smma_row_terms(&x->as, &sample);
    if (found && terms >= least) continue;
    found = true;
    least = terms;
    *row = sample;
  }
  return found;
}

/* Simplifies a vector while `other` and the model still differ on it. Sets d of the vector to the model's result and
   `*other_d` to the result of `other`. */
static bool minimise(smma_inference_work *x, const smma_composition *other, smma_row *row, uint64_t *other_d) {
  model both[2];
  if (!open_both(x, other, both)) return false;
  const bool good = smma_minimise(&both[0].unit, &both[1].unit, &x->as, row, other_d, x->error);
  close_both(both);
  return good;
}

static bool add_neighbour(smma_inference_work *x, const smma_infer_neighbour *n) {
  smma_inference *found = x->found;
  smma_infer_neighbour *all = realloc(found->neighbour, (found->neighbours + 1) * sizeof *all);
  if (!all) return smma_no_memory(x->error);
  found->neighbour = all;
  all[found->neighbours++] = *n;
  return true;
}

bool smma_inference_add_proof(smma_inference_work *x, const smma_row *row, size_t *at) {
  smma_inference *found = x->found;
  if (found->proof_count == found->proof.capacity && !smma_rows_grow(&found->proof, 2 * found->proof.capacity))
    return smma_no_memory(x->error);
  *at = found->proof_count++;
  smma_rows_put(&found->proof, *at, row);
  return true;
}

/* Decides whether a neighbouring value is ruled out: by a sample, or else by a vector found by search. For a recording,
   only samples rule out values. Adds the vector to the proof and the neighbour to the result. */
static bool examine(smma_inference_work *x, smma_infer_neighbour *n) {
  const smma_composition other = smma_fit_with(&x->fit, n->step, n->key, n->other);
  const smma_operation o = smma_fit_operation(&x->fit, &other);
  smma_witness witness;
  smma_row row;
  if (find_sample(x, &other, &row)) {
    n->is = SMMA_EXCLUDED;
    n->other_d = smma_row_compute(&o, &row);
    if (!x->found->recording && !minimise(x, &other, &row, &n->other_d)) return false;
    return smma_inference_add_proof(x, &row, &n->row) && add_neighbour(x, n);
  }
  if (!smma_inference_find_witness(x, &other, &witness)) return false;
  n->is = !witness.found ? SMMA_FREE : x->found->recording ? SMMA_UNDECIDED : SMMA_EXCLUDED;
  n->other_d = witness.other;
  return (!witness.found || smma_inference_add_proof(x, &witness.row, &n->row)) && add_neighbour(x, n);
}

static bool examine_key(smma_inference_work *x, int step, const smma_key *key) {
  int value[SMMA_MOST_NEIGHBOURS];
  const int count = smma_fit_neighbours(&x->fit, step, key, value);
  for (int i = 0; i < count; i++) {
    smma_infer_neighbour n = {.step = step, .key = key, .value = smma_fit_value(&x->fit, step, key), .other = value[i]};
    if (!examine(x, &n)) return false;
  }
  return true;
}

/* ---- All neighbours ---- */

/* Lets the unit compute the vectors of the proof, which become samples. Adds to `*wrong` the number of vectors for
   which its result is not the model's. */
static bool ask(smma_inference_work *x, size_t *wrong) {
  const smma_operation o = smma_fit_operation(&x->fit, smma_fit_composition(&x->fit));
  smma_rows *proof = &x->found->proof;
  if (!smma_inference_ask(x, proof, x->found->proof_count)) return false;
  for (size_t i = 0; i < x->found->proof_count; i++) {
    smma_row row;
    smma_rows_get(proof, i, &row);
    *wrong += !smma_same_result(&o, row.d, smma_row_compute(&o, &row));
  }
  return smma_samples_add(&x->samples, proof, 0, x->found->proof_count) || smma_no_memory(x->error);
}

bool smma_inference_prove(smma_inference_work *x, size_t *wrong) {
  smma_inference *found = x->found;
  *wrong = found->neighbours = found->proof_count = 0;
  smma_inference_tell(x, "checking: rows that exclude neighbouring values");
  for (int step = -1; step < smma_fit_composition(&x->fit)->steps; step++)
    for (const smma_key *key = NULL; (key = smma_fit_next_key(&x->fit, step, key)) && !smma_inference_must_end(x);)
      if (!examine_key(x, step, key)) return false;
  return found->recording || ask(x, wrong);
}
