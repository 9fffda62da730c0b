/* Classes of mismatches that no change explains: by place, or by the kinds of results and operands. */
#include <stdlib.h>

#include "classes/work.h"

enum {
  MINIMISED_AT_FIRST = 32,          /* unexplained mismatches to minimise at first */
  MINIMISED_WITHOUT_NEW_CLASS = 16, /* stop when this many have brought no new class */
  MOST_MINIMISED = 96               /* limit of unexplained mismatches to minimise */
};

/* Encodes the kinds of both results, and whether a minimised vector has operands that are infinite or NaN. */
static unsigned traits_of(const smma_class_work *w, const smma_mismatch_class *c) {
  const smma_instruction *i = w->request->instruction;
  const smma_encoding a = smma_encoding_of(i->a), b = smma_encoding_of(i->b), d = smma_encoding_of(i->d);
  const smma_number expected = smma_decode(d, c->expected), result = smma_decode(d, c->row.d);
  unsigned traits = (unsigned)(expected.kind == SMMA_ZERO ? SMMA_FINITE : expected.kind) |
                    (unsigned)(result.kind == SMMA_ZERO ? SMMA_FINITE : result.kind) << 2 |
                    (unsigned)(expected.kind == SMMA_ZERO && result.kind == SMMA_ZERO) << 4;
  if (!c->is_simplified) return traits;
  for (int k = 0; k < i->k; k++)
    traits |=
        (unsigned)(smma_decode(a, c->row.a[k]).kind > SMMA_FINITE || smma_decode(b, c->row.b[k]).kind > SMMA_FINITE)
        << 5;
  return traits | (unsigned)(smma_decode(smma_encoding_of(i->c), c->row.c).kind > SMMA_FINITE) << 5;
}

/* Returns the position k of the product if all mismatches of the class have it at the same k, as a mask with one bit;
   otherwise 0. */
static uint64_t only_position(const smma_mismatch_class *c) { return c->places & (c->places - 1) ? 0 : c->places; }

/* Reports whether two mismatches belong to one class. */
static bool is_alike(const smma_class_work *w, const smma_mismatch_class *x, const smma_mismatch_class *y) {
  return only_position(x) == only_position(y) && (only_position(x) || traits_of(w, x) == traits_of(w, y));
}

static void join(const smma_class_work *w, smma_mismatch_class *c, const smma_mismatch_class *x) {
  c->places = c->is_placed && x->is_placed ? c->places | x->places : ~UINT64_C(0);
  c->is_placed = c->is_placed || x->is_placed;
  if (smma_class_size(w->request->instruction, &x->row) >= smma_class_size(w->request->instruction, &c->row)) return;
  c->row = x->row;
  c->expected = x->expected;
  c->index = x->index;
  c->is_alone = x->is_alone;
}

/* Adds a mismatch to its class, or to a new class. Returns the class; SMMA_CLASS_UNKNOWN if there are too many classes.
 */
static int join_class(smma_class_work *w, const smma_mismatch_class *x, int first) {
  smma_classes *f = w->classes;
  int n = first;
  while (n < f->count && !is_alike(w, &f->list[n], x)) n++;
  if (n == SMMA_MOST_CLASSES) return SMMA_CLASS_UNKNOWN;
  if (n < f->count)
    join(w, &f->list[n], x);
  else
    f->list[f->count++] = *x;
  if (x->is_simplified && w->simples[n] < SMMA_CLASS_MOST_SIMPLE) w->simple[n][w->simples[n]++] = x->row;
  return n;
}

/* Reports whether a change explains all minimised vectors of a class; matching vectors may refute the change
   elsewhere. */
static bool is_like(const smma_class_work *w, int class, const smma_changed *m) {
  for (int n = 0; n < w->simples[class]; n++)
    if (!smma_class_same(w, smma_changed_row(m, &w->simple[class][n]), w->simple[class][n].d)) return false;
  return true;
}

static void find_partial_change(const smma_class_work *w, int class) {
  smma_mismatch_class *c = &w->classes->list[class];
  smma_changed m;
  if (w->simples[class] < SMMA_CLASS_CORRECTED_ENOUGH) return;
  for (size_t n = 0; n < w->changes && !c->is_partly; n++) {
    if (!smma_changed_make(w->request->instruction, &w->change[n], 1, &m) || !is_like(w, class, &m)) continue;
    c->is_partly = true;
    c->change = w->change[n];
    for (size_t i = w->request->count; i < w->total; i++)
      c->refuting += !smma_class_same(w, smma_changed_sample(&m, &w->samples, i), smma_class_unit_result(w, i));
    for (size_t o = n + 1; o < w->changes; o++)
      if (smma_changed_make(w->request->instruction, &w->change[o], 1, &m) && is_like(w, class, &m) &&
          c->others++ < SMMA_TOLD_CHANGES)
        c->other[c->others - 1] = w->change[o];
  }
  c->simples = w->simples[class];
}

smma_mismatch_class smma_class_of_row(const smma_class_work *w, size_t i) {
  smma_mismatch_class c = {.expected = w->request->expected[i], .index = w->request->index[i]};
  smma_rows_get(&w->samples.rows, i, &c.row);
  return c;
}

/* Mismatches that are examined one after another. */
typedef struct {
  size_t index[MINIMISED_AT_FIRST];
  smma_mismatch_class list[MINIMISED_AT_FIRST];
  smma_mismatch_class *each[MINIMISED_AT_FIRST];
  size_t count;        /* number of mismatches that are minimised together */
  int rows, last_new;  /* number of mismatches examined so far, and at the last new class */
  double weights, all; /* weights of the sorted mismatches, and of all */
} examined;

/* Returns how many more mismatches to examine before the next decision whether to go on. */
static size_t next_count(smma_class_work *w, const examined *x) {
  int end = x->last_new + MINIMISED_WITHOUT_NEW_CLASS;
  if (!smma_class_can_ask(w)) return MINIMISED_AT_FIRST;
  if (smma_class_is_ended(w)) return 0;
  if (end < MINIMISED_AT_FIRST) end = MINIMISED_AT_FIRST;
  if (end > MOST_MINIMISED) end = MOST_MINIMISED;
  if (end > x->rows + MINIMISED_AT_FIRST) end = x->rows + MINIMISED_AT_FIRST;
  return end > x->rows ? (size_t)(end - x->rows) : 0;
}

/* Sorts the mismatches of x->list into classes; the classes from `first` on are those that no change explains. */
static bool sort_examined(smma_class_work *w, examined *x, int first) {
  if (!smma_class_simplify(w, x->each, x->count, -1)) return false;
  for (size_t n = 0; n < x->count; n++) {
    const int known_classes = w->classes->count;
    const size_t i = x->index[n];
    if (!smma_class_place(w, &x->list[n], -1)) return false;
    w->class[i] = join_class(w, &x->list[n], first);
    x->rows++;
    if (w->class[i] == SMMA_CLASS_UNKNOWN) continue;
    x->weights += w->request->weight[i];
    if (w->classes->count > known_classes) x->last_new = x->rows;
    w->classes->list[w->class[i]].rows++;
    w->classes->list[w->class[i]].mismatches += w->request->weight[i];
  }
  return true;
}

static bool sort_all(smma_class_work *w, examined *x, int first) {
  for (size_t i = 0; i < w->request->count;) {
    const size_t most = next_count(w, x);
    for (x->count = 0; i < w->request->count && (!most || x->count < most); i++) {
      if (w->class[i] != SMMA_CLASS_UNKNOWN) continue;
      x->all += w->request->weight[i];
      if (!most) continue;
      x->index[x->count] = i;
      x->list[x->count] = smma_class_of_row(w, i);
      x->each[x->count] = &x->list[x->count];
      x->count++;
    }
    if (!sort_examined(w, x, first)) return false;
  }
  return true;
}

bool smma_class_sort_others(smma_class_work *w) {
  const int first = w->classes->count;
  examined *x = calloc(1, sizeof *x);
  const bool good = x ? sort_all(w, x, first) : smma_no_memory(w->error);
  for (int n = first; good && n < w->classes->count && x->weights > 0; n++) {
    w->classes->list[n].is_estimate = x->weights < x->all;
    w->classes->list[n].mismatches *= x->all / x->weights;
    find_partial_change(w, n);
  }
  free(x);
  return good;
}
