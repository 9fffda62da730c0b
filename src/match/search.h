/* The state of a search, and its parts. The search sorts instructions into classes, tries all recipes with all classes
   on a sample of elements, and compares the best candidates with the whole of D. */
#ifndef SMMA_MATCH_SEARCH_H
#define SMMA_MATCH_SEARCH_H

#include <stdatomic.h>

#include "match/evaluate.h"
#include "match/match.h"
#include "match/recipe.h"
#include "match/sample.h"

enum {
  SMMA_MATCH_MOST_MATCHING = 4096, /* remembered candidates that match the whole sample */
  SMMA_MATCH_MOST_THREADS = 64     /* maximum number of threads in one process; with more threads, the work that each
                                      repeats exceeds the work that they share */
};

/* A recipe that was tried with the instructions of one K, and its key. */
typedef struct {
  smma_recipe recipe;
  smma_match_key key;
} smma_match_entry;

/* Classes whose instructions have the same K, and the recipes tried with them. */
typedef struct {
  const smma_match_class *class[SMMA_ARCH_COUNT * 8];
  size_t classes, k;
  smma_evaluator *evaluator;
  smma_match_entry *entry;
  size_t count, room;
  size_t *place; /* open hash table of keys with 2 * room slots: index of a recipe plus one */
} smma_match_set;

/* A recipe with a class. `score`: number of elements that match D in the samples tried; `different`: mismatches in the
   whole of D. */
typedef struct {
  size_t set, entry, class; /* indices, the same for all workers */
  int score;
  size_t different;
} smma_match_trial;

/* Counts of one worker. */
typedef struct {
  size_t plans, candidates, products;
  size_t matching_count, dropped,
      nearest_count; /* dropped: candidates that match the whole sample but were not remembered */
  bool no_memory, stopped;
} smma_match_counts;

typedef struct {
  const smma_match_data *data;
  smma_match *match;
  smma_match_set set[SMMA_MAXIMUM_K + 1];
  size_t sets, current;                         /* current: index of the set whose recipes are being tried */
  const smma_instruction **library_instruction; /* one of each kind that plans of libraries distinguish */
  size_t library_instructions;
  smma_match_elements elements[SMMA_MATCH_SAMPLES];
  size_t samples;            /* number of samples; small matrices have fewer elements */
  bool signed_zeros;         /* D has -0, so signs of zeros are compared from the start */
  size_t worker, workers;    /* each worker tries all recipes with some of the classes */
  bool checks_stop;          /* this is the caller's thread, the only one that checks smma_units_stopped */
  const smma_recipe *recipe; /* the recipes of the search space, shared by all workers of the process */
  size_t recipes;
  size_t passed;        /* number of recipes that this worker has tried, for the progress line */
  atomic_bool *stopped; /* shared by all workers of the process */
  smma_match_counts counts;
  smma_match_trial matching[SMMA_MATCH_MOST_MATCHING], nearest[SMMA_MATCH_MOST];
} smma_match_work;

/* Sorts the instructions into classes. Returns false if memory runs out. */
bool smma_match_make_classes(smma_match_work *s, const smma_instruction *const *instruction, size_t instructions);

/* ---- Recipes of a set ---- */

/* Adds a recipe, and sets `*is_new` to whether it is the first one with its key. Returns false if memory runs out. */
bool smma_match_remember(smma_match_set *x, const smma_recipe *recipe, smma_match_key key, bool *is_new);

/* ---- Trying recipes (trial.c) ---- */

/* Makes the sets of this worker. Returns false if memory runs out. */
bool smma_match_make_sets(smma_match_work *s);
void smma_match_free_sets(smma_match_work *s);

/* Lists the recipes in the order of trial; a search that is stopped ends the list early. Returns false if memory runs
   out. */
bool smma_match_list_recipes(smma_match_work *s);

/* Tries all listed recipes on several threads; `s` is worker 0 of the process. */
void smma_match_try(smma_match_work *s, size_t threads);

/* Send this rank's result to rank 0, and add the result of rank `from` to this rank's. */
void smma_match_send(const smma_match_work *s, const smma_group *ranks);
void smma_match_receive(smma_match_work *s, const smma_group *ranks, size_t from);

bool smma_match_is_stopped(const smma_match_work *s);

/* Returns how many elements of a sample have D's value. */
int smma_match_count_equal(const smma_match_work *s, const uint64_t *d, size_t count,
                           const smma_match_elements *elements);

/* Adds a candidate to the nearest ones if it is one of the best SMMA_MATCH_MOST. The result does not depend on the
   order of the calls. */
void smma_match_note_near(smma_match_work *s, smma_match_trial c);

/* Orders of candidates, for qsort: by recipe; by score, the best first. */
int smma_match_in_order(const void *x, const void *y);
int smma_match_by_score(const void *x, const void *y);

/* ---- Verifying candidates (verify.c) ---- */

/* Computes the elements of a sample as a candidate does. `*evaluator` is for the candidate's class and this sample; if
   it is NULL, it is created. Returns false if memory runs out. */
bool smma_match_compute_sample(const smma_match_work *s, smma_evaluator **evaluator, const smma_match_trial *c,
                               const smma_match_elements *elements, uint64_t d[SMMA_MATCH_SAMPLE]);

/* Scores candidates on the further samples. A matching candidate that misses an element becomes one of the nearest. */
void smma_match_refine(smma_match_work *s);

/* Compares candidates that match all samples with D, and adds those that fit to the match and to `fit`. Ends when there
   are SMMA_MATCH_MOST fits, or after some hundred comparisons. */
void smma_match_verify_all(smma_match_work *s, smma_match_trial *fit);

/* Moves fits with libraries' plans to the front of the match and of `fit`; the order is otherwise unchanged. */
void smma_match_rank_libraries(smma_match *m, smma_match_trial *fit);

/* If there is no fit, finds the candidate with the fewest mismatches among those that match most of the sample. */
void smma_match_find_near(smma_match_work *s);

#endif
