/* The state of sorting mismatches into classes, and its parts. First the model's changes are chosen that explain the
   most mismatches; then the other mismatches are sorted by what their simplest vectors have in common. */
#ifndef SMMA_CLASSES_WORK_H
#define SMMA_CLASSES_WORK_H

#include "classes/classes.h"

enum {
  SMMA_CLASS_CORRECTED_ENOUGH = 3, /* a change that corrects this many vectors needs no further evidence */
  SMMA_CLASS_MOST_SIMPLE = 16      /* minimised vectors remembered for a class */
};

/* Values that stand instead of a class for mismatches without one. */
enum {
  SMMA_CLASS_UNKNOWN = -1, /* not sorted */
  SMMA_CLASS_SEVERAL = -2  /* only several changes together explain the mismatch */
};

typedef struct {
  const smma_class_request *request;
  smma_classes *classes;
  smma_error *error;
  smma_operation operation;
  smma_samples samples; /* the mismatches, then the matching vectors */
  size_t total;         /* number of samples */
  uint64_t *model_d;    /* d by the model with the chosen changes */
  smma_change *change;
  size_t changes;
  bool *is_refuted; /* a matching vector refutes the change */
  smma_change choice[SMMA_MOST_CHANGES], *equivalent[SMMA_MOST_CHANGES];
  size_t equivalents[SMMA_MOST_CHANGES], broken[SMMA_MOST_CHANGES];
  smma_changed single[SMMA_MOST_CHANGES], together, base;     /* the model with one change, with all, and with none */
  int count;                                                  /* number of chosen changes */
  int *class;                                                 /* class of each mismatch */
  smma_row simple[SMMA_MOST_CLASSES][SMMA_CLASS_MOST_SIMPLE]; /* minimised vectors of classes that no change explains */
  int simples[SMMA_MOST_CLASSES];
} smma_class_work;

/* Reports whether the units have computed as many vectors as allowed. The limit is a number of vectors and not a time,
   so that classes are the same on every machine. */
static inline bool smma_class_is_ended(smma_class_work *w) {
  if (w->classes->asked < w->request->most_asked) return false;
  return w->classes->is_ended = true;
}

static inline void smma_class_watch(const smma_class_work *w) {
  const smma_class_watcher *watcher = &w->request->watcher;
  if (watcher->watch) watcher->watch(w->classes->asked, watcher->context);
}

static inline bool smma_class_can_ask(const smma_class_work *w) { return w->request->unit != NULL; }

static inline bool smma_class_same(const smma_class_work *w, uint64_t x, uint64_t y) {
  return smma_same_result(&w->operation, x, y);
}

static inline uint64_t smma_class_unit_result(const smma_class_work *w, size_t i) {
  return smma_rows_result(&w->samples.rows, i);
}

static inline bool smma_class_is_right(const smma_class_work *w, size_t i) {
  return smma_class_same(w, w->model_d[i], smma_class_unit_result(w, i));
}

/* Returns a class with vector i alone. */
smma_mismatch_class smma_class_of_row(const smma_class_work *w, size_t i);

/* ---- Changes (choose.c, confirm.c) ---- */

/* What a change does to the vectors. */
typedef struct {
  size_t corrected, still_wrong; /* vectors for which the change gives the unit's result; vectors for which it gives a
                                    different wrong result */
  size_t broken;    /* matching vectors for which the change gives a wrong result: another fault may hide the difference
                       there */
  bool is_rejected; /* the change breaks too many vectors, or units cannot have it */
} smma_class_effect;

/* Makes the model with the chosen changes and `x`. Returns false if units cannot have these. */
bool smma_class_make_with(const smma_class_work *w, const smma_change *x, smma_changed *m);

/* Decides whether a change is more than a coincidence: it must correct enough vectors, and their neighbours must
   confirm it. Returns false if a unit fails. */
bool smma_class_confirm(smma_class_work *w, const smma_change *x, const smma_class_effect *e, bool *confirmed);

/* Chooses changes until they explain all mismatches, or no other change is acceptable. */
bool smma_class_choose_changes(smma_class_work *w);

bool smma_class_any_wrong(const smma_class_work *w);

/* ---- The simplest vector (simplify.c) ---- */

/* The condition that every minimised vector must meet: it shows this change (index; -1: any difference that
   no change explains). If `alone`, no other change may matter for it. */
typedef struct {
  const smma_class_work *w;
  int change;
  bool alone;
} smma_class_condition;

/* Reports whether a vector meets the condition `context`. */
bool smma_class_is_satisfied(const smma_row *row, uint64_t expected, void *context);

/* Reports whether a change other than `change` matters for a vector. */
bool smma_class_others_matter(const smma_class_work *w, const smma_row *row, int change);

/* Returns the size of a vector for minimisation: the number of terms counts first, then the number of bits that are
   set. */
long smma_class_size(const smma_instruction *i, const smma_row *row);

/* Minimises the vectors of classes as long as each still shows the change. */
bool smma_class_simplify(smma_class_work *w, smma_mismatch_class *const *list, size_t count, int change);

/* ---- Places (place.c) ---- */

/* Determines the places of a class from its minimised vector. Returns false if a unit fails. */
bool smma_class_place(smma_class_work *w, smma_mismatch_class *c, int change);

/* ---- Mismatches that no change explains (unexplained.c) ---- */

/* Sorts the mismatches that no change explains. Returns false if a unit fails. */
bool smma_class_sort_others(smma_class_work *w);

#endif
