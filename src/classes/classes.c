#include "classes/classes.h"

#include <stdlib.h>
#include <string.h>

#include "campaign/campaign.h"
#include "host/thread.h"

enum {
  MISMATCHES_BEFORE_GIVING_UP = 128, /* a change of a parameter must correct one of this many mismatches */
  CORRECTED_WITHOUT_EVIDENCE = 3,    /* a change that corrects this many vectors needs no further evidence */
  CONFIRMING_NEIGHBOURS = 8,         /* neighbours that must confirm a change that corrects fewer */
  BROKEN_WEIGHT = 4,                 /* one broken vector outweighs this many corrected vectors */
  MOST_ATTEMPTS = 8,                 /* changes tried one after another before the search ends */
  ASKED_NEIGHBOURHOODS = 3,          /* corrected vectors whose neighbours are asked */
  MOST_NEIGHBOURS = 512,             /* limit of neighbours of one vector */
  MINIMISED_AT_FIRST = 32,           /* unexplained mismatches to minimise at first */
  MINIMISED_WITHOUT_NEW_CLASS = 16,  /* stop when this many have brought no new class */
  MOST_MINIMISED = 96,               /* limit of unexplained mismatches to minimise */
  MOST_SIMPLE = 16,                  /* minimised vectors remembered for a class */
  MOST_TERMS = 8,                    /* limit of nonzero products in a vector whose products are moved */
  CLASS_EVENTS = 64                  /* vectors of a class searched for events */
};

typedef enum { NOT_SORTED = -1, TOGETHER = -2 } unsorted_class;

typedef struct {
  const smma_class_request *q;
  smma_classes *found;
  smma_error *error;
  smma_operation operation;
  smma_samples samples; /* the mismatches, then the matching vectors */
  size_t all;
  uint64_t *now; /* d by the model with the chosen changes */
  smma_change *change;
  size_t changes;
  bool *is_refuted; /* a matching vector refutes the change */
  smma_change chosen[SMMA_MOST_CHANGES], *equivalent[SMMA_MOST_CHANGES];
  size_t equivalents[SMMA_MOST_CHANGES], broken[SMMA_MOST_CHANGES];
  smma_changed single[SMMA_MOST_CHANGES], together, base;
  int count;
  int *class;                                      /* class of each mismatch */
  smma_row simple[SMMA_MOST_CLASSES][MOST_SIMPLE]; /* minimised vectors of classes that no change explains */
  int simples[SMMA_MOST_CLASSES];
} work;

/* Reports whether the units have computed as many vectors as allowed. The limit is a number of vectors and not a time,
   so that classes are the same on every machine. */
static bool is_ended(work *w) {
  if (w->found->asked < w->q->most_asked) return false;
  return w->found->is_ended = true;
}

static bool same(const work *w, uint64_t x, uint64_t y) { return smma_same_result(&w->operation, x, y); }

static uint64_t got(const work *w, size_t i) { return smma_rows_result(&w->samples.rows, i); }

static bool is_right(const work *w, size_t i) { return same(w, w->now[i], got(w, i)); }

static bool can_ask(const work *w) { return w->q->unit != NULL; }

/* ---- Finding the unit's changes ---- */

/* Limit of matching vectors that a change may break, as a share of the mismatches that it explains (both weighted). */
#define MOST_BROKEN 0.03

typedef struct {
  size_t corrected, still_wrong; /* vectors for which the change gives the unit's result; vectors for which it gives a
                                    different wrong result */
  size_t broken;    /* matching vectors for which the change gives a wrong result: another fault may hide the difference
                       there */
  bool is_rejected; /* the change breaks too many vectors, or units cannot have it */
} effect;

static bool make_with(const work *w, const smma_change *x, smma_changed *m) {
  smma_change all[SMMA_MOST_CHANGES];
  memcpy(all, w->chosen, (size_t)w->count * sizeof *all);
  all[w->count] = *x;
  return smma_changed_make(w->q->instruction, all, w->count + 1, m);
}

static effect try_change(const work *w, const smma_change *x) {
  effect e = {0};
  smma_changed m;
  size_t looked = 0;
  double mended = 0, most;
  if (!make_with(w, x, &m)) return (effect){.is_rejected = true};
  for (size_t i = 0; i < w->q->count; i++) {
    uint64_t d;
    if (is_right(w, i)) continue;
    if (looked++ == MISMATCHES_BEFORE_GIVING_UP && e.corrected == 0 && x->sort != SMMA_CHANGED_NUMBER) return e;
    d = smma_changed_sample(&m, &w->samples, i);
    if (same(w, d, got(w, i))) {
      e.corrected++;
      mended += w->q->weight[i];
    } else if (!same(w, d, w->now[i])) {
      e.still_wrong++;
    }
  }
  most = mended * MOST_BROKEN;
  for (size_t i = w->all; e.corrected && i-- > 0 && !e.is_rejected;) /* matching vectors first */
    if (is_right(w, i) && !same(w, smma_changed_sample(&m, &w->samples, i), got(w, i))) {
      most -= i < w->q->count ? w->q->weight[i] : w->q->match_weight;
      e.broken++;
      e.is_rejected = most < 0;
    }
  return e;
}

/* Neighbours of a test vector. In a neighbour one number is slightly greater or smaller, has the opposite sign or one
   inverted bit, or products are moved to other k. */
typedef struct {
  smma_rows rows;
  size_t count;
} neighbours;

static void put_neighbour(neighbours *b, const smma_row *row) {
  if (b->count < b->rows.capacity) smma_rows_put(&b->rows, b->count++, row);
}

static void put_number_neighbours(neighbours *b, smma_row *row, smma_format format, uint64_t *x) {
  static const int bits[] = {0, 1, 2, 3, 5, 8, 13};
  const smma_encoding f = smma_encoding_of(format);
  const uint64_t was = *x, exponent = UINT64_C(1) << (f.fraction_bits + f.ignored_bits);
  if (was == 0) return;
  for (int n = -3; n <= 3; n++) {
    const uint64_t near = smma_low_bits(was + (uint64_t)n * exponent, f.bits);
    const smma_number number = smma_decode(f, near);
    const bool wraps = (near ^ was) >> (f.bits - 1) || (n < 0 ? near > was : near < was);
    *x = near;
    if (wraps || number.kind > SMMA_FINITE) continue;
    if (n) put_neighbour(b, row);
    for (size_t m = 0; m < sizeof bits / sizeof bits[0] && bits[m] < f.fraction_bits; m++) {
      *x = near ^ UINT64_C(1) << (f.ignored_bits + bits[m]);
      put_neighbour(b, row);
    }
  }
  *x = smma_negated(f, was);
  put_neighbour(b, row);
  *x = was;
}

static void put_all_neighbours(neighbours *b, const smma_instruction *i, const smma_row *from) {
  smma_row row = *from;
  for (int x = 1; !(i->k & (i->k - 1)) && x < i->k; x++) {
    smma_row moved = row;
    for (int k = 0; k < i->k; k++) moved.a[k ^ x] = row.a[k], moved.b[k ^ x] = row.b[k];
    put_neighbour(b, &moved);
  }
  put_number_neighbours(b, &row, i->c, &row.c);
  for (int k = 0; k < i->k; k++) {
    put_number_neighbours(b, &row, i->a, &row.a[k]);
    put_number_neighbours(b, &row, i->b, &row.b[k]);
  }
}

/* Counts of vectors that show whether the unit confirms a change. */
typedef struct {
  const work *w;
  const smma_changed *with;
  size_t agree;   /* vectors for which the change matters and gives the unit's result */
  size_t neither; /* vectors that the change does not explain */
  size_t refuted; /* vectors for which the change matters, but the unit returns the model's result */
} change_check;

static bool shows_change(const smma_row *row, uint64_t expected, void *context) {
  const change_check *q = context;
  (void)expected;
  return same(q->w, row->d, smma_changed_row(q->with, row)) &&
         !same(q->w, row->d, smma_changed_row(&q->w->together, row));
}

/* Asks the units for neighbours of vector i, which is minimised first. */
static bool ask_neighbours(work *w, change_check *q, size_t i) {
  const smma_instruction *instruction = w->q->instruction;
  const smma_row_judge judge = {shows_change, q, &w->found->asked};
  uint64_t expected = w->q->expected[i];
  neighbours b = {.count = 0};
  smma_row row;
  bool good = smma_rows_allocate(instruction, MOST_NEIGHBOURS, &b.rows) || smma_no_memory(w->error);
  smma_rows_get(&w->samples.rows, i, &row);
  good = good && smma_minimise_while(w->q->unit, w->q->against, instruction, &judge, &row, &expected, w->error);
  if (good) put_all_neighbours(&b, instruction, &row);
  good = good && smma_unit_ask(w->q->unit, &b.rows, 0, b.count, NULL, w->error);
  w->found->asked += b.count;
  for (size_t n = 0; good && n < b.count; n++) {
    uint64_t before, after;
    smma_rows_get(&b.rows, n, &row);
    before = smma_changed_row(&w->together, &row);
    after = smma_changed_row(q->with, &row);
    if (!same(w, after, row.d))
      q->neither++;
    else if (!same(w, before, after))
      q->agree++;
    q->refuted += same(w, before, row.d) && !same(w, before, after);
  }
  smma_rows_free(&b.rows);
  return good;
}

/* Decides whether a change is more than a coincidence: it must correct enough vectors, and their neighbours must
   confirm it. */
static bool is_confirmed(work *w, const smma_change *x, const effect *e, bool *confirmed) {
  smma_changed m;
  change_check q = {.w = w, .with = &m};
  size_t seen = 0, wrong = 0, corrected = e->corrected;
  make_with(w, x, &m);
  for (size_t i = 0; i < w->q->count; i++) {
    wrong += !is_right(w, i);
    if (is_right(w, i) || !same(w, smma_changed_sample(&m, &w->samples, i), got(w, i))) continue;
    if (can_ask(w) && seen++ % (corrected / ASKED_NEIGHBOURHOODS + 1) == 0 && !is_ended(w) && !ask_neighbours(w, &q, i))
      return false;
  }
  *confirmed = (e->broken ? 8 * q.refuted <= q.agree : !q.refuted) && 8 * q.neither <= q.agree &&
               (corrected >= CORRECTED_WITHOUT_EVIDENCE ||
                (corrected == wrong && (q.agree >= CONFIRMING_NEIGHBOURS || !can_ask(w))));
  return true;
}

/* Reports whether two changes have the same results for all mismatches. */
static bool is_same_change(const work *w, const effect *e, size_t one, size_t other) {
  smma_changed m, n;
  if (w->is_refuted[other] || e[one].corrected != e[other].corrected || e[one].broken != e[other].broken) return false;
  if (!make_with(w, &w->change[one], &m) || !make_with(w, &w->change[other], &n)) return false;
  for (size_t i = 0; i < w->q->count; i++)
    if (!is_right(w, i) && !same(w, smma_changed_sample(&m, &w->samples, i), smma_changed_sample(&n, &w->samples, i)))
      return false;
  return true;
}

static bool keep_alike(work *w, const effect *e, size_t best) {
  smma_change *list = malloc(SMMA_TOLD_CHANGES * sizeof *list);
  size_t count = 0;
  if (!list) return smma_no_memory(w->error);
  for (size_t c = 0; c < w->changes; c++)
    if (c != best && is_same_change(w, e, best, c) && count++ < SMMA_TOLD_CHANGES) list[count - 1] = w->change[c];
  w->equivalent[w->count] = list;
  w->equivalents[w->count] = count;
  return true;
}

/* Rejects a change and all changes with the same results. */
static void reject(work *w, const effect *e, size_t refuted) {
  for (size_t c = 0; c < w->changes; c++)
    if (c != refuted && is_same_change(w, e, refuted, c)) w->is_refuted[c] = true;
  w->is_refuted[refuted] = true;
}

/* Reports whether a change explains more vectors. One that breaks vectors must explain more to compensate. */
static bool is_better(const effect *x, const effect *y) {
  return (long)x->corrected - BROKEN_WEIGHT * (long)x->broken > (long)y->corrected - BROKEN_WEIGHT * (long)y->broken;
}

static bool choose(work *w, const effect *e, size_t best) {
  if (!keep_alike(w, e, best)) return false;
  make_with(w, &w->change[best], &w->together);
  w->broken[w->count] = e[best].broken;
  w->chosen[w->count] = w->change[best];
  smma_changed_make(w->q->instruction, &w->change[best], 1, &w->single[w->count]);
  w->count++;
  for (size_t i = 0; i < w->all; i++) w->now[i] = smma_changed_sample(&w->together, &w->samples, i);
  return true;
}

/* Chooses the best change; sets `*chosen` to false if there is no acceptable change. */
static bool choose_next(work *w, effect *e, bool *chosen) {
#pragma omp parallel for num_threads(smma_default_threads()) schedule(dynamic, 8)
  for (size_t c = 0; c < w->changes; c++)
    if (!w->is_refuted[c]) e[c] = try_change(w, &w->change[c]);
  *chosen = false;
  for (int tries = 0; tries < MOST_ATTEMPTS; tries++) {
    size_t best = w->changes;
    for (size_t c = 0; c < w->changes; c++) {
      w->is_refuted[c] = w->is_refuted[c] || e[c].is_rejected;
      if (!w->is_refuted[c] && e[c].corrected && e[c].corrected >= e[c].still_wrong &&
          (best == w->changes || is_better(&e[c], &e[best])))
        best = c;
    }
    if (best == w->changes) return true;
    if (!is_confirmed(w, &w->change[best], &e[best], chosen)) return false;
    if (*chosen) return choose(w, e, best);
    reject(w, e, best);
  }
  return true;
}

static bool any_wrong(const work *w) {
  for (size_t i = 0; i < w->q->count; i++)
    if (!is_right(w, i)) return true;
  return false;
}

static bool choose_changes(work *w) {
  effect *e = calloc(w->changes ? w->changes : 1, sizeof *e);
  bool good = e || smma_no_memory(w->error), chosen = true;
  while (good && chosen && any_wrong(w) && w->count < SMMA_MOST_CHANGES - 1) good = choose_next(w, e, &chosen);
  free(e);
  return good;
}

/* ---- Minimised vectors ---- */

/* The condition that every minimised vector must meet: it shows the change with index `of` (-1: any difference that no
   change explains). If `alone`, no other change may matter for it. */
typedef struct {
  const work *w;
  int of;
  bool alone;
} condition;

static bool do_others_matter(const work *w, const smma_row *row, int of) {
  const uint64_t base = smma_changed_row(&w->base, row);
  for (int n = 0; n < w->count; n++)
    if (n != of && !same(w, base, smma_changed_row(&w->single[n], row))) return true;
  return false;
}

static bool is_satisfied(const smma_row *row, uint64_t expected, void *context) {
  const condition *j = context;
  const work *w = j->w;
  if (same(w, expected, row->d)) return false;
  if (j->of >= 0 ? !same(w, row->d, smma_changed_row(&w->single[j->of], row))
                 : same(w, row->d, smma_changed_row(&w->together, row)))
    return false;
  return !j->alone || !do_others_matter(w, row, j->of);
}

/* Returns the size of a vector for minimisation: the number of terms counts first, then the number of bits that are
   set. */
static long size_of(const smma_instruction *i, const smma_row *row) {
  long terms = row->c != 0, bits = __builtin_popcountll(row->c);
  for (int k = 0; k < i->k; k++) {
    terms += row->a[k] || row->b[k];
    bits += __builtin_popcountll(row->a[k]) + __builtin_popcountll(row->b[k]);
  }
  return terms * 100000 + bits;
}

/* Minimises the vector of a class as long as it still shows change `of`. */
static bool simplify(work *w, smma_mismatch_class *c, int of) {
  condition j = {w, of, false};
  const smma_row_judge judge = {is_satisfied, &j, &w->found->asked};
  c->is_alone = j.alone = !do_others_matter(w, &c->row, of);
  if (!can_ask(w) || is_ended(w)) return true;
  if (!is_satisfied(&c->row, c->expected, &j)) return true;
  c->is_simplified = true;
  if (!smma_minimise_while(w->q->unit, w->q->against, w->q->instruction, &judge, &c->row, &c->expected, w->error))
    return false;
  c->is_alone = !do_others_matter(w, &c->row, of);
  return true;
}

/* ---- Places ---- */

static bool is_term(const smma_row *row, int k) { return row->a[k] || row->b[k]; }

static void swap(uint64_t *x, uint64_t *y) {
  const uint64_t z = *x;
  *x = *y;
  *y = z;
}

static bool same_scale(const smma_instruction *i, const smma_row *row, int k, int l) {
  const int block = i->scale_block;
  return !block ||
         (row->scale_a[k / block] == row->scale_a[l / block] && row->scale_b[k / block] == row->scale_b[l / block]);
}

/* Sets differs[n] for each vector n whether it still satisfies the condition `j`. */
static bool ask_which(work *w, const condition *j, const smma_rows *rows, int count, bool *differs) {
  const size_t bytes = smma_bytes_of(w->q->instruction->d);
  uint64_t other[SMMA_MOST_PLACES];
  if (count && (!smma_unit_ask(w->q->unit, rows, 0, (size_t)count, NULL, w->error) ||
                !smma_unit_ask(w->q->against, rows, 0, (size_t)count, other, w->error)))
    return false;
  w->found->asked += (size_t)count;
  for (int n = 0; n < count; n++) {
    smma_row row;
    smma_rows_get(rows, (size_t)n, &row);
    differs[n] = is_satisfied(&row, smma_load(bytes, other, (size_t)n), (void *)j);
  }
  return true;
}

/* Moves all products together from k to k ^ x, for every x. Products of one block stay in one block, and products of
   different blocks in different blocks. Sets `*places` to all k that had a product while the units still differed.
   `*often` is whether they differ for at least a quarter of all x. */
static bool ask_moved(work *w, const condition *j, smma_rows *rows, const smma_row *row, uint64_t *places,
                      bool *often) {
  const smma_instruction *i = w->q->instruction;
  bool differs[SMMA_MOST_PLACES];
  int differ = 0;
  *often = false;
  *places = ~UINT64_C(0);
  if (i->k & (i->k - 1) || i->scale_block) return true;
  for (int x = 0; x < i->k; x++) {
    smma_row moved = *row;
    for (int k = 0; k < i->k; k++) moved.a[k ^ x] = row->a[k], moved.b[k ^ x] = row->b[k];
    smma_rows_put(rows, (size_t)x, &moved);
  }
  if (!ask_which(w, j, rows, i->k, differs)) return false;
  *places = 0;
  for (int x = 0; x < i->k; x++) {
    differ += differs[x];
    for (int k = 0; k < i->k; k++)
      if (differs[x] && is_term(row, k)) *places |= UINT64_C(1) << (k ^ x);
  }
  *often = 4 * differ >= i->k;
  return true;
}

/* Determines whether the mismatch disappears wherever the product at k is moved to. */
static bool ask_bound(work *w, const condition *j, smma_rows *rows, const smma_row *row, int k, bool *bound) {
  const smma_instruction *i = w->q->instruction;
  bool differs[SMMA_MOST_PLACES];
  int count = 0;
  for (int l = 0; l < i->k; l++) {
    smma_row moved = *row;
    if (is_term(row, l) || !same_scale(i, row, k, l)) continue;
    swap(&moved.a[k], &moved.a[l]);
    swap(&moved.b[k], &moved.b[l]);
    smma_rows_put(rows, (size_t)count++, &moved);
  }
  if (!ask_which(w, j, rows, count, differs)) return false;
  *bound = count > 0;
  for (int n = 0; n < count; n++) *bound = *bound && !differs[n];
  return true;
}

/* Determines the places of a class. If the mismatch needs a product at a certain k, this is the only place; otherwise
   the places are all k of products for which the units differed. */
static bool ask_places(work *w, const condition *j, smma_rows *rows, smma_mismatch_class *c) {
  bool bound = false;
  if (!ask_moved(w, j, rows, &c->row, &c->places, &bound)) return false;
  if (bound) return true; /* the mismatch occurs for so many k that it does not need a certain one */
  for (int k = 0; !bound && k < w->q->instruction->k; k++) {
    if (!is_term(&c->row, k)) continue;
    if (!ask_bound(w, j, rows, &c->row, k, &bound)) return false;
    if (bound) c->places = UINT64_C(1) << k;
  }
  return true;
}

static bool place(work *w, smma_mismatch_class *c, int of) {
  const condition j = {w, of, false};
  smma_rows rows;
  int terms = 0;
  bool good;
  for (int k = 0; k < w->q->instruction->k; k++) terms += is_term(&c->row, k);
  if (w->q->instruction->k > SMMA_MOST_PLACES || !can_ask(w) || !c->is_simplified || terms == 0 || terms > MOST_TERMS ||
      is_ended(w))
    return true;
  c->is_placed = true;
  good = smma_rows_allocate(w->q->instruction, SMMA_MOST_PLACES, &rows) || smma_no_memory(w->error);
  good = good && ask_places(w, &j, &rows, c);
  smma_rows_free(&rows);
  return good;
}

/* ---- Mismatches that no change explains ---- */

/* Encodes the kinds of both results, and whether a minimised vector has operands that are infinite or NaN. */
static unsigned traits_of(const work *w, const smma_mismatch_class *c) {
  const smma_instruction *i = w->q->instruction;
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
static bool is_alike(const work *w, const smma_mismatch_class *x, const smma_mismatch_class *y) {
  return only_position(x) == only_position(y) && (only_position(x) || traits_of(w, x) == traits_of(w, y));
}

static smma_mismatch_class class_of_row(const work *w, size_t i) {
  smma_mismatch_class c = {.expected = w->q->expected[i], .index = w->q->index[i]};
  smma_rows_get(&w->samples.rows, i, &c.row);
  return c;
}

static void join(const work *w, smma_mismatch_class *c, const smma_mismatch_class *x) {
  c->places = c->is_placed && x->is_placed ? c->places | x->places : ~UINT64_C(0);
  c->is_placed = c->is_placed || x->is_placed;
  if (size_of(w->q->instruction, &x->row) >= size_of(w->q->instruction, &c->row)) return;
  c->row = x->row;
  c->expected = x->expected;
  c->index = x->index;
  c->is_alone = x->is_alone;
}

/* Adds a mismatch to its class, or to a new class. Returns the class; NOT_SORTED if there are too many classes. */
static int join_class(work *w, const smma_mismatch_class *x, int first) {
  smma_classes *f = w->found;
  int n = first;
  while (n < f->count && !is_alike(w, &f->list[n], x)) n++;
  if (n == SMMA_MOST_CLASSES) return NOT_SORTED;
  if (n < f->count)
    join(w, &f->list[n], x);
  else
    f->list[f->count++] = *x;
  if (x->is_simplified && w->simples[n] < MOST_SIMPLE) w->simple[n][w->simples[n]++] = x->row;
  return n;
}

/* Reports whether a change explains all minimised vectors of a class; matching vectors may refute the change
   elsewhere. */
static bool is_like(const work *w, int class, const smma_changed *m) {
  for (int n = 0; n < w->simples[class]; n++)
    if (!same(w, smma_changed_row(m, &w->simple[class][n]), w->simple[class][n].d)) return false;
  return true;
}

static void find_partial_change(const work *w, int class) {
  smma_mismatch_class *c = &w->found->list[class];
  smma_changed m;
  if (w->simples[class] < CORRECTED_WITHOUT_EVIDENCE) return;
  for (size_t n = 0; n < w->changes && !c->is_partly; n++) {
    if (!smma_changed_make(w->q->instruction, &w->change[n], 1, &m) || !is_like(w, class, &m)) continue;
    c->is_partly = true;
    c->change = w->change[n];
    for (size_t i = w->q->count; i < w->all; i++)
      c->refuting += !same(w, smma_changed_sample(&m, &w->samples, i), got(w, i));
    for (size_t o = n + 1; o < w->changes; o++)
      if (smma_changed_make(w->q->instruction, &w->change[o], 1, &m) && is_like(w, class, &m) &&
          c->others++ < SMMA_TOLD_CHANGES)
        c->other[c->others - 1] = w->change[o];
  }
  c->simples = w->simples[class];
}

static bool sort_others(work *w) {
  const int first = w->found->count;
  double whole = 0, looked = 0;
  int rows = 0, last_new = 0;
  for (size_t i = 0; i < w->q->count; i++) {
    const int before = w->found->count;
    smma_mismatch_class c;
    if (w->class[i] != NOT_SORTED) continue;
    whole += w->q->weight[i];
    if (can_ask(w) && (rows >= MOST_MINIMISED ||
                       (rows >= MINIMISED_AT_FIRST && rows >= last_new + MINIMISED_WITHOUT_NEW_CLASS) || is_ended(w)))
      continue;
    c = class_of_row(w, i);
    if (!simplify(w, &c, -1) || !place(w, &c, -1)) return false;
    w->class[i] = join_class(w, &c, first);
    rows++;
    if (w->class[i] == NOT_SORTED) continue;
    looked += w->q->weight[i];
    if (w->found->count > before) last_new = rows;
    w->found->list[w->class[i]].rows++;
    w->found->list[w->class[i]].mismatches += w->q->weight[i];
  }
  for (int n = first; n < w->found->count && looked > 0; n++) {
    w->found->list[n].is_estimate = looked < whole;
    w->found->list[n].mismatches *= whole / looked;
    find_partial_change(w, n);
  }
  return true;
}

/* ---- Classes ---- */

/* Adds the class of a change or, for -1, of the vectors for which the rule's own model has the unit's result. */
static bool add_class(work *w, int of, bool is_model) {
  const int class = w->found->count;
  smma_mismatch_class c = {.is_changed = of >= 0, .is_model = is_model};
  size_t simplest = w->q->count;
  bool alone = false;
  for (size_t i = 0; i < w->q->count; i++) {
    smma_row row, other;
    bool is_alone;
    if (w->class[i] != class) continue;
    c.rows++;
    c.mismatches += w->q->weight[i];
    smma_rows_get(&w->samples.rows, i, &row);
    is_alone = !do_others_matter(w, &row, of);
    if (simplest < w->q->count) smma_rows_get(&w->samples.rows, simplest, &other);
    if (simplest < w->q->count && (is_alone < alone || (is_alone == alone && size_of(w->q->instruction, &row) >=
                                                                                 size_of(w->q->instruction, &other))))
      continue;
    simplest = i;
    alone = is_alone;
  }
  if (c.rows == 0) return true;
  c.row = class_of_row(w, simplest).row;
  c.expected = w->q->expected[simplest];
  c.index = w->q->index[simplest];
  if (of >= 0) {
    c.change = w->chosen[of];
    c.refuting = w->broken[of];
    c.others = w->equivalents[of];
    for (size_t n = 0; n < c.others && n < SMMA_TOLD_CHANGES; n++) c.other[n] = w->equivalent[of][n];
  }
  if (!is_model && (!simplify(w, &c, of) || !place(w, &c, of))) return false;
  w->found->list[w->found->count++] = c;
  return true;
}

/* Sorts the mismatches that a single change explains. Then marks the mismatches that need several changes. */
static bool sort_changes(work *w) {
  smma_classes *f = w->found;
  bool good = true;
  for (size_t i = 0; i < w->q->count; i++)
    if (same(w, smma_changed_sample(&w->base, &w->samples, i), got(w, i))) w->class[i] = f->count;
  good = add_class(w, -1, true);
  for (int n = 0; good && n < w->count; n++) {
    for (size_t i = 0; i < w->q->count; i++)
      if (w->class[i] == NOT_SORTED && same(w, smma_changed_sample(&w->single[n], &w->samples, i), got(w, i)))
        w->class[i] = f->count;
    good = add_class(w, n, false);
  }
  for (size_t i = 0; i < w->q->count; i++)
    if (w->class[i] == NOT_SORTED && is_right(w, i)) {
      w->class[i] = TOGETHER;
      f->together++;
      f->together_mismatches += w->q->weight[i];
    }
  return good;
}

static bool find_common_events(work *w) {
  smma_classes *f = w->found;
  smma_row_events others, rows;
  smma_row row;
  bool good;
  if (!smma_event_space_make(w->q->instruction, &f->space)) return true;
  f->has_events = true;
  good = smma_row_events_make(&f->space, SMMA_OTHER_ROWS, &others);
  for (size_t i = 0; good && i < w->q->matching && i < SMMA_OTHER_ROWS; i++) {
    smma_rows_get(w->q->matches, i, &row);
    smma_row_events_add(&others, &row);
  }
  for (int n = 0; good && n < f->count; n++) {
    smma_mismatch_class *c = &f->list[n];
    good = smma_row_events_make(&f->space, CLASS_EVENTS + 1, &rows);
    if (good && c->is_simplified) smma_row_events_add(&rows, &c->row);
    for (size_t i = 0; good && i < w->q->count && rows.rows < CLASS_EVENTS; i++) {
      if (w->class[i] != n) continue;
      smma_rows_get(&w->samples.rows, i, &row);
      smma_row_events_add(&rows, &row);
    }
    if (good) c->events = smma_common_events(&rows, &others, SMMA_TOLD_EVENTS, c->event);
    smma_row_events_free(&rows);
  }
  smma_row_events_free(&others);
  return good || smma_no_memory(w->error);
}

static int by_mismatches(const void *x, const void *y) {
  const smma_mismatch_class *c = x, *d = y;
  if (c->mismatches != d->mismatches) return c->mismatches > d->mismatches ? -1 : 1;
  return c->index < d->index ? -1 : c->index > d->index;
}

static bool open_work(work *w) {
  const smma_class_request *q = w->q;
  w->all = q->count + q->matching;
  w->change = smma_changes_of(q->instruction, &w->changes);
  w->now = malloc((w->all + 1) * sizeof *w->now);
  w->class = malloc((q->count + 1) * sizeof *w->class);
  w->is_refuted = calloc(w->changes + 1, sizeof *w->is_refuted);
  if (!smma_samples_open(q->instruction, &w->samples) || !w->change || !w->now || !w->class || !w->is_refuted)
    return false;
  if (!smma_samples_add(&w->samples, q->rows, 0, q->count)) return false;
  if (q->matching && !smma_samples_add(&w->samples, q->matches, 0, q->matching)) return false;
  smma_changed_make(q->instruction, NULL, 0, &w->base);
  w->together = w->base;
  for (size_t i = 0; i < w->all; i++) w->now[i] = smma_changed_sample(&w->base, &w->samples, i);
  for (size_t i = 0; i < q->count; i++) w->class[i] = NOT_SORTED;
  return true;
}

static void close_work(work *w) {
  for (int n = 0; n < w->count; n++) free(w->equivalent[n]);
  smma_samples_close(&w->samples);
  free(w->change);
  free(w->now);
  free(w->class);
  free(w->is_refuted);
}

static bool classify(work *w) {
  smma_classes *f = w->found;
  bool good = open_work(w) || smma_no_memory(w->error);
  f->tries = w->changes;
  good = good && choose_changes(w) && sort_changes(w);
  f->is_complete = good && f->count && !any_wrong(w);
  for (size_t i = 0; f->is_complete && i < w->all; i++) f->is_complete = is_right(w, i);
  good = good && sort_others(w);
  for (size_t i = 0; good && i < w->q->count; i++) f->unsorted += w->class[i] == NOT_SORTED;
  return good && find_common_events(w);
}

bool smma_classify(const smma_class_request *q, smma_classes *f, smma_error *error) {
  work *w = calloc(1, sizeof *w);
  bool good;
  *f = (smma_classes){.kept = q->count, .matching = q->matching};
  if (!w) return smma_no_memory(error);
  w->q = q;
  w->found = f;
  w->error = error;
  w->operation = smma_operation_of(q->instruction);
  good = classify(w);
  close_work(w);
  free(w);
  qsort(f->list, (size_t)f->count, sizeof *f->list, by_mismatches);
  return good;
}
