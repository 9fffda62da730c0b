/* The search as a whole, and a random product on which fits differ. */
#include "match/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/count.h"
#include "host/load.h"
#include "host/thread.h"
#include "isa/format_name.h"
#include "match/search.h"

/* ---- Telling fits apart ---- */

/* Fills `x` with normally distributed random numbers, sums of twelve uniform ones from a 64-bit generator. Those in the
   second half are multiplied by random powers of two. */
static void fill_random(smma_format format, void *x, size_t count, uint64_t *state) {
  for (size_t i = 0; i < count; i++) {
    float sum = -6;
    for (int j = 0; j < 12; j++) {
      *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      sum += (float)(*state >> 40) / (1 << 24);
    }
    if (i >= count / 2) sum = ldexpf(sum, (int)(*state >> 33) % 17 - 8);
    smma_store(smma_bytes_of(format), x, i,
               smma_format_encode(format, sum, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT));
  }
}

static void tell_apart(smma_match_work *s, const smma_match_trial *fit) {
  smma_match *m = s->match;
  smma_match_elements random = s->elements[0];
  uint64_t first[SMMA_MATCH_SAMPLE], other[SMMA_MATCH_SAMPLE], state = 1;
  random.a = malloc(SMMA_MATCH_SAMPLE * s->data->k * smma_bytes_of(s->data->a_format));
  random.b = malloc(SMMA_MATCH_SAMPLE * s->data->k * smma_bytes_of(s->data->b_format));
  if (random.a && random.b) {
    fill_random(s->data->a_format, random.a, SMMA_MATCH_SAMPLE * s->data->k, &state);
    fill_random(s->data->b_format, random.b, SMMA_MATCH_SAMPLE * s->data->k, &state);
  }
  for (size_t f = 0; random.a && random.b && f < m->fits; f++) {
    smma_evaluator *evaluator = NULL;
    const bool done = smma_match_compute_sample(s, &evaluator, &fit[f], &random, f ? other : first);
    smma_evaluator_free(evaluator);
    if (!done) break;
    for (size_t i = 0; f && i < SMMA_MATCH_SAMPLE; i++) m->fit[f].differs_at_random += other[i] != first[i];
  }
  smma_match_elements_free(&random);
}

/* ---- The search ---- */

static bool fail_without_class(const smma_match_data *data, smma_error *error) {
  return smma_fail(error, "no instruction among these multiplies %s by %s into %s%s", smma_format_text(data->a_format),
                   smma_format_text(data->b_format), smma_format_text(data->d_format),
                   data->c ? " and takes this C" : "");
}

/* Returns false if the search was stopped, which the counts note, or if memory ran out. */
static bool goes_on(smma_match_work *s) {
  s->counts.stopped |= smma_match_is_stopped(s);
  return !s->counts.no_memory && !s->counts.stopped;
}

static bool run(smma_match_work *s, const smma_instruction *const *instruction, size_t instructions,
                const smma_group *ranks, smma_error *error) {
  smma_match *m = s->match;
  size_t threads = smma_least((size_t)smma_threads(s->data->threads), SMMA_MATCH_MOST_THREADS);
  smma_match_trial fit[SMMA_MATCH_MOST] = {{0}};
  ranks->share(&threads, sizeof threads);
  s->worker = ranks->rank * threads, s->workers = ranks->ranks * threads;
  s->signed_zeros = smma_match_has_negative_zero(s->data);
  m->exact = smma_match_is_exact(s->data);
  if (!smma_match_make_classes(s, instruction, instructions)) return smma_no_memory(error);
  if (m->classes == 0) return fail_without_class(s->data, error);
  if (!smma_match_choose(s->data, s->elements, &s->samples, m) || !smma_match_make_sets(s))
    return smma_no_memory(error);
  if (!smma_match_list_recipes(s)) return smma_no_memory(error);
  smma_match_try(s, threads);
  s->counts.stopped = smma_match_is_stopped(s);
  if (ranks->rank) return smma_match_send(s, ranks), true;
  for (size_t from = 1; from < ranks->ranks; from++) smma_match_receive(s, ranks, from);
  m->plans = s->counts.plans, m->candidates = s->counts.candidates, m->products = s->counts.products;
  if (goes_on(s)) smma_match_refine(s);
  if (goes_on(s)) smma_match_verify_all(s, fit);
  smma_match_rank_libraries(m, fit);
  if (goes_on(s) && m->fits > 1) tell_apart(s, fit);
  if (goes_on(s) && m->fits == 0) smma_match_find_near(s);
  if (goes_on(s)) return true;
  return s->counts.stopped ? smma_fail(error, "interrupted") : smma_no_memory(error);
}

bool smma_match_search(const smma_match_data *data, const smma_instruction *const *instruction, size_t instructions,
                       const smma_group *ranks, smma_match *match, smma_error *error) {
  smma_match_work *s = calloc(1, sizeof *s);
  atomic_bool stopped = false;
  bool done;
  memset(match, 0, sizeof *match);
  if (!s) return smma_no_memory(error);
  s->data = data, s->match = match, s->checks_stop = true, s->stopped = &stopped;
  done = run(s, instruction, instructions, ranks, error);
  smma_match_free_sets(s);
  for (size_t i = 0; i < SMMA_MATCH_SAMPLES; i++) smma_match_elements_free(&s->elements[i]);
  free(s->library_instruction);
  free((void *)s->recipe);
  free(s);
  if (!done) smma_match_free(match);
  return done;
}

void smma_match_free(smma_match *m) {
  for (size_t c = 0; c < m->classes; c++) {
    free(m->class[c].member);
    free(m->class[c].c);
  }
  for (size_t f = 0; f < m->fits; f++) smma_plan_release(m->fit[f].plan);
  if (m->has_near) smma_plan_release(m->near.plan);
  free(m->class);
  memset(m, 0, sizeof *m);
}
