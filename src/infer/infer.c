#include "infer/infer.h"

#include <stdlib.h>
#include <string.h>

#include "campaign/campaign.h"
#include "host/clock.h"
#include "host/thread.h"
#include "infer/inference.h"
#include "infer/known.h"
#include "infer/search.h"
#include "isa/compose.h"
#include "rows/generate.h"
#include "unit/recording.h"

/* A search begins with FIRST_ROWS generated vectors and ROWS_OF_GUESS directed vectors for each of GUESSES alignment
   lengths. Then come at most MOST_ROUNDS rounds of ROUND_ROWS vectors. In each round at most MOST_JOINING mismatches
   become samples. */
enum { FIRST_ROWS = 2048, GUESSES = 9, ROWS_OF_GUESS = 300, ROUND_ROWS = 4096, MOST_JOINING = 256, MOST_ROUNDS = 24 };
/* If at most one vector in FEW_MISMATCHES_DIVISOR disagrees, the structure may be a different one that only few
   vectors show. */
enum { FEW_MISMATCHES_DIVISOR = 16 };
enum { FRESH_AT_ONCE = 16384 }; /* vectors per call of the final check */

/* ---- Samples ---- */

/* Stores vectors directed at the bits that a rule retains, numbers `first` to first + count - 1 of their sequence, in
   `rows` from index `at` on. */
static void make_directed(const smma_inference_work *x, const smma_rule *rule, uint64_t seed, uint64_t first,
                          size_t count, smma_rows *rows, size_t at) {
  const smma_search search = {.as = &x->as, .rule = {rule, rule}, .seed = seed};
  for (size_t i = 0; i < count; i++) {
    smma_row row = {.d = 0};
    smma_directed_row(&search, first + i, &row);
    smma_rows_put(rows, at + i, &row);
  }
}

/* Stores `count` vectors for each guess in `rows`, from index `at` on. They are directed at sums that are truncated
   after 4, 8, ..., 36 bits. */
static void make_guesses(const smma_inference_work *x, uint64_t seed, size_t count, smma_rows *rows, size_t at) {
  for (int guess = 0; guess < GUESSES; guess++) {
    smma_rule rule = {.algorithm = SMMA_T_FDPA};
    rule.with.t_fdpa.alignment_bits = 4 + 4 * guess;
    rule.with.t_fdpa.block = x->as.k;
    make_directed(x, &rule, seed, (uint64_t)guess * count, count, rows, at + (size_t)guess * count);
  }
}

static bool learn_directed(smma_inference_work *x) {
  smma_rows rows;
  bool good = smma_rows_allocate(x->request->instruction, GUESSES * ROWS_OF_GUESS, &rows) || smma_no_memory(x->error);
  if (good) make_guesses(x, x->request->seed, ROWS_OF_GUESS, &rows, 0);
  good = good && smma_inference_learn(x, &rows, GUESSES * ROWS_OF_GUESS);
  smma_rows_free(&rows);
  return good;
}

/* Runs vectors again to check that the unit is a function. If the record has results of later vectors, the unit passed
   this check in the search that wrote the record, and need not repeat it. */
static bool check_function(smma_inference_work *x, const smma_rows *rows, size_t count) {
  smma_inference *found = x->found;
  if (x->asking.known_count > count) {
    found->alike = (smma_alikeness){.asked = smma_alike_rows(count)};
    x->asking.taken += found->alike.asked;
    return true;
  }
  if (!smma_check_alike(&x->asking.counted, rows, count, &found->alike, x->error)) return false;
  if (found->alike.not_repeated + found->alike.not_alike) {
    found->outcome = SMMA_IS_NO_FUNCTION;
    smma_rows_get(rows, found->alike.row, &found->unlike);
  }
  return true;
}

/* Runs generated vectors on the unit, which become samples, and checks that the unit is a function. */
static bool learn_and_check(smma_inference_work *x) {
  smma_rows rows;
  bool good = smma_rows_allocate(x->request->instruction, FIRST_ROWS, &rows) || smma_no_memory(x->error);
  if (good) {
    smma_generate_rows(&rows, x->request->seed, 0, FIRST_ROWS, SMMA_ROWS_IN_TURN, SMMA_ROWS_RANDOM);
    good = smma_inference_learn(x, &rows, FIRST_ROWS) && check_function(x, &rows, FIRST_ROWS);
  }
  smma_rows_free(&rows);
  return good;
}

static bool learn_recording(smma_inference_work *x) {
  size_t count;
  const smma_rows *rows = smma_recorded_rows(x->request->unit, &count);
  x->found->recording = true;
  if (count == 0) return smma_fail(x->error, "the recording has no rows");
  x->asking.taken = count;
  return smma_samples_add(&x->samples, rows, 0, count) || smma_no_memory(x->error);
}

static bool learn_first(smma_inference_work *x) {
  smma_inference_tell(x, "asking: is it a function of its operands?");
  if (smma_unit_is_recording(x->request->unit)) return learn_recording(x);
  return learn_and_check(x) &&
         (x->found->outcome == SMMA_IS_NO_FUNCTION || (learn_directed(x) && smma_inference_weigh_shapes(x)));
}

/* ---- Fitting ---- */

/* If few vectors disagree with the model, judges the shapes by these vectors, because the structure may be a different
   one that only few vectors show. Does so at most `most` times in a search, and not once a limit of the search is
   reached. */
static bool reweigh_shapes(smma_inference_work *x, int most) {
  if (x->fit.wrong == 0 || x->fit.wrong > x->fit.selected / FEW_MISMATCHES_DIVISOR || x->found->recording ||
      x->odd >= 0 || x->reweighed >= most || smma_fit_is_stopped(smma_inference_watch(x)))
    return true;
  x->reweighed++;
  return smma_inference_weigh_shapes(x);
}

/* Searches all shapes; keeps the previous model if that has fewer mismatches. */
static bool search(smma_inference_work *x, bool thoroughly) {
  const smma_fit_watch watch = smma_inference_watch(x);
  smma_fit *f = &x->fit;
  const bool had_model = smma_fit_select(f, SIZE_MAX) && smma_fit_has_model(f);
  const smma_composition model = *smma_fit_composition(f);
  const size_t wrong = f->wrong;
  if (!smma_search_shapes(f, x->shapes, thoroughly, watch)) return false;
  if (!had_model || f->wrong <= wrong) return true;
  smma_fit_start(f, &model);
  if (thoroughly) smma_fit_improve(f, watch);
  return true;
}

/* Sets the model to the rule of the catalogue that has the fewest mismatches, if it has at most `least`; otherwise
   keeps the model. This is tried because most units compute a rule of the catalogue. */
static bool try_known(smma_inference_work *x, size_t least) {
  smma_fit *f = &x->fit;
  smma_composition *known = malloc(SMMA_MOST_KNOWN * sizeof *known);
  const int count = known ? smma_known_compositions(smma_operation_of(&x->as), known) : 0;
  for (int n = 0; n < count; n++) {
    if (!smma_fit_allows(f, &known[n]) || smma_fit_count(f, &known[n], least) > least) continue;
    smma_fit_start(f, &known[n]);
    if (f->wrong == 0) break;
    least = f->wrong - 1;
  }
  free(known);
  return known || smma_no_memory(x->error);
}

/* Drops the conclusions about the present model, before it is changed. */
static void forget_conclusions(smma_inference *found) {
  found->same = NULL;
  found->neighbours = found->proof_count = found->rivals = 0;
  found->fresh = 0;
}

/* Fits the model to all samples: starts from the current model or a rule of the catalogue, then searches all shapes,
   until no sample disagrees. */
static bool fit(smma_inference_work *x) {
  const smma_fit_watch watch = smma_inference_watch(x);
  smma_fit *f = &x->fit;
  forget_conclusions(x->found);
  if (!smma_fit_select(f, SIZE_MAX)) return smma_no_memory(x->error);
  if (!smma_fit_has_model(f) && !try_known(x, f->selected / FEW_MISMATCHES_DIVISOR)) return false;
  if (smma_fit_has_model(f) && x->odd < 0) {
    smma_fit_remember_misfits(f);
    smma_fit_descend(f, watch);
    if (!reweigh_shapes(x, 1)) return false;
  }
  if (x->odd >= 0 && smma_fit_has_model(f)) return true; /* parameters cannot belong to a single product */
  for (int thoroughly = 0; thoroughly <= (x->odd < 0) && !(smma_fit_has_model(f) && f->wrong == 0); thoroughly++) {
    smma_inference_tell(x, "searching: %zu rows, shapes and parameters", x->samples.count);
    if (!search(x, thoroughly)) return smma_no_memory(x->error);
    smma_inference_tell(x, "searching: a model that %zu of %zu rows disagree with", f->wrong, f->selected);
    if (!reweigh_shapes(x, 2)) return false;
  }
  if (f->wrong && !try_known(x, f->wrong - 1)) return false;
  return true;
}

/* Counts a round of vectors that refuted the model, and fits the model again. */
static bool fit_again(smma_inference_work *x) {
  x->found->rounds++;
  return fit(x);
}

/* Sets `*wrong` to the number of vectors with a mismatch, and adds the first MOST_JOINING of them to the samples. */
static bool join_misfits(smma_inference_work *x, const smma_rows *rows, size_t count, size_t *wrong) {
  const smma_operation o = smma_fit_operation(&x->fit, smma_fit_composition(&x->fit));
  size_t joined = 0;
  bool *differs = calloc(count, sizeof *differs);
  bool good = differs != NULL;
  if (!good) return smma_no_memory(x->error);
#pragma omp parallel for num_threads(smma_default_threads()) schedule(static)
  for (size_t i = 0; i < count; i++) {
    smma_row row;
    smma_rows_get(rows, i, &row);
    differs[i] = !smma_same_result(&o, row.d, smma_row_compute(&o, &row));
  }
  *wrong = 0;
  for (size_t i = 0; i < count && good; i++) {
    if (!differs[i]) continue;
    ++*wrong;
    if (joined++ < MOST_JOINING) good = smma_samples_add(&x->samples, rows, i, 1) || smma_no_memory(x->error);
  }
  free(differs);
  return good;
}

/* Runs rounds of new vectors on the unit, and refits the model, until the model agrees with all vectors of a round.
   Half of the vectors are random, a quarter is directed at the model's own bits, and a quarter at the guesses. */
static bool refine(smma_inference_work *x) {
  smma_rows rows;
  size_t wrong = 1;
  bool good = smma_rows_allocate(x->request->instruction, ROUND_ROWS, &rows) || smma_no_memory(x->error);
  for (int round = 0; good && wrong && x->fit.wrong == 0 && round < MOST_ROUNDS && !smma_inference_must_end(x);
       round++) {
    const uint64_t seed = x->request->seed + (uint64_t)++x->rounds;
    smma_generate_rows(&rows, seed, 0, ROUND_ROWS / 2, SMMA_ROWS_IN_TURN, SMMA_ROWS_RANDOM);
    make_directed(x, &x->fit.model.named.rule, seed, 0, ROUND_ROWS / 4, &rows, ROUND_ROWS / 2);
    make_guesses(x, seed, ROUND_ROWS / 4 / GUESSES, &rows, ROUND_ROWS - ROUND_ROWS / 4 / GUESSES * GUESSES);
    good = smma_inference_ask(x, &rows, ROUND_ROWS) && join_misfits(x, &rows, ROUND_ROWS, &wrong);
    if (!good || !wrong) break;
    smma_inference_tell(x, "refining: %zu of %d new rows disagree", wrong, ROUND_ROWS);
    good = fit_again(x);
  }
  smma_rows_free(&rows);
  return good;
}

/* ---- Identifying the model ---- */

/* Looks for an instruction of the catalogue that no vector found distinguishes from the model; tries the request's own
   instruction first. If there is one, sets found->same to it and replaces the model by its rule, which is the same
   function in known terms. */
static bool name_model(smma_inference_work *x) {
  const smma_instruction *own = x->request->instruction;
  x->found->same = NULL;
  for (size_t n = 0; n <= smma_catalogue_count(); n++) {
    const smma_instruction *i = n ? smma_catalogue_at(n - 1) : own;
    smma_composition p;
    smma_operation o = smma_operation_of(i);
    smma_witness witness;
    if (i->origin || i->k != own->k || i->a != own->a || i->b != own->b || i->c != own->c || i->d != own->d ||
        i->scale != own->scale || i->scale_block != own->scale_block || !smma_compose(&o, &p) ||
        smma_fit_count(&x->fit, &p, 0) > 0)
      continue;
    if (!smma_inference_find_witness(x, &p, &witness)) return false;
    if (witness.found) continue;
    x->found->same = i;
    return smma_fit_start(&x->fit, &p) || smma_fail(x->error, "%s is no composition", i->name);
  }
  return true;
}

/* Sets `*o` to the model's operation with another NaN policy. Returns false if units with these formats cannot have
   that policy. */
static bool operation_with_nan(const smma_inference_work *x, smma_nan_policy policy, smma_operation *o) {
  smma_custom custom = x->fit.model;
  smma_custom_fault fault;
  custom.named.rule.nan = policy;
  *o = smma_fit_operation(&x->fit, smma_fit_composition(&x->fit));
  o->rule.nan = policy;
  return smma_custom_check(&custom, &fault);
}

/* Adds to x->nan_different, for each NaN policy, how many of the first `count` vectors have another NaN than that
   policy gives. Only vectors for which unit and model both return NaN are compared. */
static void count_nan(smma_inference_work *x, const smma_rows *rows, size_t count) {
  uint64_t *different = x->nan_different, both = 0;
  smma_operation o[SMMA_NAN_POLICIES];
  bool allowed[SMMA_NAN_POLICIES];
  for (int p = 0; p < SMMA_NAN_POLICIES; p++) allowed[p] = operation_with_nan(x, (smma_nan_policy)p, &o[p]);
  const smma_encoding d = smma_encoding_of(x->as.d);
#pragma omp parallel for num_threads(smma_default_threads()) schedule(static) \
    reduction(+ : both, different[:SMMA_NAN_POLICIES])
  for (size_t i = 0; i < count; i++) {
    smma_row row;
    if (smma_decode(d, smma_rows_result(rows, i)).kind != SMMA_NAN) continue;
    smma_rows_get(rows, i, &row);
    if (smma_decode(d, smma_row_compute(&o[SMMA_NAN_QUIET], &row)).kind != SMMA_NAN) continue;
    both++;
    for (int p = 0; p < SMMA_NAN_POLICIES; p++)
      different[p] += !allowed[p] || smma_differs_in_nan(x->as.d, smma_row_compute(&o[p], &row), row.d);
  }
  x->found->compared += count;
  x->found->nan_compared += both;
}

/* Resets the NaN counts, then counts the samples. */
static void begin_nan(smma_inference_work *x) {
  memset(x->nan_different, 0, sizeof x->nan_different);
  x->found->compared = x->found->nan_compared = 0;
  count_nan(x, &x->samples.rows, x->samples.count);
}

/* Chooses the NaN policy that the fewest vectors contradict, the first in the list if several are equal. The policy
   counts as known if no vector contradicts it; for a recording, also every other policy must be contradicted. The model
   gets the policy if it is known, or if vectors contradict it but the rule of the request's instruction does not leave
   NaN open. Otherwise the model leaves NaN open. */
static void choose_nan(smma_inference_work *x) {
  static const smma_nan_policy policies[] = {SMMA_NAN_ALL_ONES, SMMA_NAN_BY_SOURCE, SMMA_NAN_MARKED,
                                             SMMA_NAN_OPERAND,  SMMA_NAN_B_SUM_A,   SMMA_NAN_DEFAULT};
  smma_inference *found = x->found;
  smma_nan_policy best = policies[0], *policy = &x->fit.model.named.rule.nan;
  int possible = 0;
  for (size_t n = 0; n < sizeof policies / sizeof policies[0]; n++) {
    possible += x->nan_different[policies[n]] == 0;
    if (x->nan_different[policies[n]] < x->nan_different[best]) best = policies[n];
  }
  found->nan_known = found->nan_compared && (found->recording ? possible == 1 : possible > 0);
  found->nan_different = x->nan_different[best];
  *policy = SMMA_NAN_QUIET;
  if (found->nan_known || (found->nan_different && x->request->instruction->rule->rule.nan != SMMA_NAN_QUIET))
    *policy = best;
  const smma_nan_policy of_same = found->same ? found->same->rule->rule.nan : SMMA_NAN_QUIET;
  found->same_different = of_same == SMMA_NAN_QUIET ? 0 : x->nan_different[of_same];
}

/* ---- Final check: new vectors, half random, half designed for the model's numbers of bits ---- */

static bool ask_fresh(smma_inference_work *x, size_t *wrong) {
  smma_inference *found = x->found;
  const uint64_t seed = x->request->seed ^ SMMA_CHECK_SEED;
  smma_rows rows;
  bool good = smma_rows_allocate(x->request->instruction, FRESH_AT_ONCE, &rows) || smma_no_memory(x->error);
  found->fresh = 0;
  x->calls_before_check = x->asking.calls;
  *wrong = 0;
  begin_nan(x);
  while (good && !*wrong && found->fresh < x->request->fresh && !smma_inference_must_end(x)) {
    const uint64_t left = x->request->fresh - found->fresh;
    size_t count = left < FRESH_AT_ONCE ? (size_t)left : FRESH_AT_ONCE;
    if (x->request->most_rows && count > x->request->most_rows - smma_inference_rows_asked(x))
      count = (size_t)(x->request->most_rows - smma_inference_rows_asked(x));
    smma_generate_rows(&rows, seed, found->fresh, count / 2, SMMA_ROWS_IN_TURN, SMMA_ROWS_RANDOM);
    make_directed(x, &x->fit.model.named.rule, seed, found->fresh, count - count / 2, &rows, count / 2);
    good = smma_unit_ask(&x->asking.counted, &rows, 0, count, NULL, x->error);
    good = good && join_misfits(x, &rows, count, wrong);
    if (good && !*wrong) found->fresh += count, count_nan(x, &rows, count);
    if (good) smma_inference_tell(x, "checking: %llu new rows agree", (unsigned long long)found->fresh);
  }
  smma_rows_free(&rows);
  return good;
}

/* ---- The whole search ---- */

static bool has_ended(const smma_inference_work *x) { return x->fit.wrong > 0 || smma_inference_must_end(x); }

/* Refines the model until it passes its proof and the check with new vectors. After a mismatch, fits the model again
   and starts over. */
static bool conclude(smma_inference_work *x) {
  size_t wrong = 1;
  for (int turn = 0; turn < MOST_ROUNDS && wrong && !has_ended(x); turn++) {
    if (!x->found->recording && !refine(x)) return false;
    if (has_ended(x)) break;
    if (!x->found->recording && !smma_inference_ask_rivals(x, &wrong)) return false;
    if (wrong && !x->found->recording) {
      if (!fit_again(x)) return false;
      continue;
    }
    if (!name_model(x)) return false;
    if (!x->found->same) smma_fit_simplify(&x->fit);
    if (!smma_inference_prove(x, &wrong)) return false;
    if (wrong && !fit_again(x)) return false;
    if (wrong || has_ended(x)) continue;
    if (x->found->recording && !smma_inference_list_rivals(x)) return false;
    if (x->found->recording)
      begin_nan(x);
    else if (!ask_fresh(x, &wrong))
      return false;
    if (wrong && !fit_again(x)) return false;
    x->agrees =
        !wrong && !smma_units_stopped() && (x->found->recording || x->found->fresh > 0 || x->request->fresh == 0);
  }
  return true;
}

static smma_infer_reason reason_of(const smma_inference_work *x) {
  if (smma_inference_are_rows_asked(x)) return SMMA_INFER_ROWS_ASKED;
  if (x->fit.wrong && x->odd >= 0) return SMMA_INFER_ODD_PRODUCT;
  if (x->fit.wrong && smma_inference_is_budget_spent(x)) return SMMA_INFER_BUDGET_SPENT;
  return x->fit.wrong ? SMMA_INFER_SEARCHED_ALL : SMMA_INFER_ROUNDS_ENDED;
}

static bool infer(smma_inference_work *x) {
  smma_inference *found = x->found;
  if (!learn_first(x)) return false;
  if (found->outcome == SMMA_IS_NO_FUNCTION) return true;
  if (!fit(x) || !conclude(x) || (smma_units_stopped() && !x->agrees)) return false;
  found->outcome = x->agrees ? SMMA_INFERRED : SMMA_NOT_INFERRED;
  found->reason = reason_of(x);
  if (!x->agrees && x->fit.wrong && !smma_inference_examine_misfit(x)) return false;
  if (!x->agrees) begin_nan(x);
  choose_nan(x);
  if (x->agrees && x->fit.model.named.rule.nan != SMMA_NAN_QUIET && !found->nan_known)
    found->outcome = SMMA_INFERRED_BUT_NAN;
  return true;
}

/* Reduces the result of an interrupted search to the best model so far. Drops neighbours and rivals, because the unit
   has not yet computed all vectors of the proof. */
static bool stop(smma_inference *found) {
  if (found->outcome == SMMA_IS_NO_FUNCTION) return true;
  found->outcome = SMMA_INFER_STOPPED;
  found->neighbours = found->proof_count = found->rivals = 0;
  found->same = NULL;
  found->compared = found->nan_compared = 0;
  found->misfit = (smma_infer_misfit){.odd = -1};
  return true;
}

/* Sets x->as to a copy of the request's instruction, with a NaN policy that treats all NaNs as equal. */
static void take_instruction(smma_inference_work *x) {
  x->as = *x->request->instruction;
  x->any_nan = *x->as.rule;
  x->any_nan.rule.nan = SMMA_NAN_QUIET;
  x->as.rule = &x->any_nan;
}

bool smma_infer(const smma_infer_request *request, smma_inference *found, smma_error *error) {
  smma_inference_work x = {.request = request, .found = found, .error = error};
  const double started = smma_seconds();
  bool good;
  *found = (smma_inference){.outcome = SMMA_NOT_INFERRED};
  x.odd = -1;
  smma_asking_open(request->unit, request->instruction, request->seed, error, &x.asking);
  take_instruction(&x);
  x.shapes = malloc(sizeof *x.shapes);
  if (!x.shapes || !smma_make_shapes(x.as.k, x.as.scale_block, x.as.d, x.shapes)) {
    free(x.shapes);
    return smma_no_memory(error);
  }
  found->structures = x.shapes->count;
  good = !request->record || smma_asking_open_record(&x.asking, request->record);
  good = good && ((smma_samples_open(&x.as, &x.samples) && smma_fit_open(&x.samples, &x.as, &x.fit) &&
                   smma_rows_allocate(request->instruction, 256, &found->proof)) ||
                  smma_no_memory(error));
  good = good && smma_unit_open("model", &x.models, error) && (infer(&x) || (smma_units_stopped() && stop(found)));
  found->model = x.fit.model;
  found->samples = x.samples.count;
  found->wrong = x.fit.wrong;
  found->rows = smma_inference_rows_asked(&x) - found->fresh;
  found->calls = found->fresh ? x.calls_before_check : x.asking.calls;
  found->unit_seconds = x.asking.seconds;
  found->tries = x.fit.tries;
  found->computed = smma_fit_computed(&x.fit);
  found->left = x.shapes->count;
  found->seconds = smma_seconds() - started;
  if (x.models.methods) smma_unit_close(&x.models);
  smma_fit_close(&x.fit);
  free(x.shapes);
  smma_samples_close(&x.samples);
  smma_asking_close_record(&x.asking);
  return good;
}

void smma_free_inference(smma_inference *found) {
  free(found->neighbour);
  free(found->rival);
  free(found->evidence);
  smma_rows_free(&found->proof);
  found->neighbour = NULL;
  found->rival = NULL;
  found->evidence = NULL;
}
