/* Minimises vectors for which the results of two units differ. */
#include <stdlib.h>

#include "campaign/campaign.h"
#include "host/load.h"
#include "rows/check.h"
#include "rows/rows.h"

/* FORMS: greatest number of simpler forms of an element. MOST_TOGETHER: greatest number of candidates for which the
   units are asked at once, unless one vector alone has more. */
enum { FORMS = 5, MOST_TOGETHER = 16384 };

/* Greatest number of candidates of one vector, in which each term is removed, c is removed, or an element is replaced
   by a simpler form. */
static size_t most_candidates(const smma_instruction *i) { return (size_t)(2 * i->k + 1) * FORMS + (size_t)i->k + 1; }

/* Simpler vectors, the units' results for them, and whether the results of each still differ as they must. */
typedef struct {
  const smma_instruction *instruction;
  smma_rows rows;
  uint64_t *expected;
  bool *holds;
  size_t count;
} candidates;

static void propose(candidates *c, const smma_row *row) { smma_rows_put(&c->rows, c->count++, row); }

static bool is_zero(smma_format format, uint64_t x) {
  return smma_decode(smma_encoding_of(format), x).kind == SMMA_ZERO;
}

/* Lists simpler forms of a fixed-point number: fewer bits of the magnitude, no sign. */
static int simpler_integers(smma_encoding f, uint64_t x, uint64_t form[FORMS]) {
  const smma_number n = smma_decode(f, x);
  const uint64_t m = n.significand;
  int count = 0;
  if (m == 0) return 0;
  form[count++] = smma_sign_and_fields(f, n.negative, m & (m - 1));  /* without its last bit */
  form[count++] = smma_sign_and_fields(f, n.negative, m & (~m + 1)); /* with its last bit only */
  if (n.negative) form[count++] = smma_sign_and_fields(f, false, m);
  return count;
}

/* Lists simpler forms of a number. Each form is simpler by one measure, and not less simple by those before it
   (fewer fraction bits, the exponent of 1, no sign), so rounds come to an end. */
static int simpler_forms(smma_format format, uint64_t x, uint64_t form[FORMS]) {
  const smma_encoding f = smma_encoding_of(format);
  const uint64_t fraction = smma_low_bits(~UINT64_C(0), f.fraction_bits) << f.ignored_bits;
  const uint64_t exponents = smma_low_bits(~UINT64_C(0), f.exponent_bits) << (f.fraction_bits + f.ignored_bits);
  const uint64_t one = smma_encode_one(f, false) & exponents, as_one = (x & ~exponents) | one;
  const uint64_t sign = (uint64_t)(f.sign_bits != 0) << (f.exponent_bits + f.fraction_bits + f.ignored_bits);
  int count = 0;
  if (smma_is_fixed_point(format)) return simpler_integers(f, x, form);
  if (smma_decode(f, x).kind != SMMA_FINITE) return 0;
  if (x & fraction) {
    form[count++] = x & ~fraction;
    form[count++] = x & (x - 1);                                              /* without its last bit */
    form[count++] = (x & ~fraction) | (x & fraction & (~(x & fraction) + 1)); /* with its last bit only */
  }
  if (as_one != x && smma_decode(f, as_one).kind == SMMA_FINITE) form[count++] = as_one;
  if (x & sign) form[count++] = x & ~sign;
  return count;
}

static void propose_forms(candidates *c, smma_row *row, smma_format format, uint64_t *element) {
  const uint64_t before = *element;
  uint64_t form[FORMS];
  const int count = simpler_forms(format, before, form);
  for (int i = 0; i < count; i++) {
    if (form[i] == before) continue;
    *element = form[i];
    propose(c, row);
  }
  *element = before;
}

static void propose_all(candidates *c, const smma_row *row) {
  const smma_instruction *i = c->instruction;
  smma_row x = *row;
  for (int k = 0; k < i->k; k++) {
    if (x.a[k] == 0 && x.b[k] == 0) continue;
    x.a[k] = x.b[k] = 0;
    propose(c, &x);
    x.a[k] = row->a[k], x.b[k] = row->b[k];
  }
  if (x.c != 0) {
    x.c = 0;
    propose(c, &x);
    x.c = row->c;
  }
  for (int k = 0; k < i->k; k++) {
    if (!is_zero(i->a, x.a[k])) propose_forms(c, &x, i->a, &x.a[k]);
    if (!is_zero(i->b, x.b[k])) propose_forms(c, &x, i->b, &x.b[k]);
  }
  if (!is_zero(i->c, x.c)) propose_forms(c, &x, i->c, &x.c);
}

/* Takes over a simpler element if the element was not simplified before. */
static bool take(uint64_t *x, uint64_t before, uint64_t simpler) {
  if (*x != before || simpler == before) return false;
  *x = simpler;
  return true;
}

/* Candidates of one vector: `count` from `first` on. */
typedef struct {
  size_t first, count;
} slice;

/* Proposes the simplifications of a vector's candidates that hold: first two of them together, then one more each
   time. */
static void propose_together(candidates *together, const candidates *c, slice of, const smma_row *row) {
  smma_row x = *row;
  bool is_first = true;
  for (size_t n = of.first; n < of.first + of.count; n++) {
    smma_row one;
    bool takes = false;
    if (!c->holds[n]) continue;
    smma_rows_get(&c->rows, n, &one);
    for (int k = 0; k < c->instruction->k; k++) {
      takes |= take(&x.a[k], row->a[k], one.a[k]);
      takes |= take(&x.b[k], row->b[k], one.b[k]);
    }
    takes |= take(&x.c, row->c, one.c);
    if (takes && !is_first) propose(together, &x);
    is_first = false;
  }
}

static bool allocate(const smma_instruction *i, size_t capacity, candidates *c) {
  *c = (candidates){.instruction = i, .expected = calloc(capacity, sizeof *c->expected), .holds = calloc(capacity, 1)};
  return c->expected && c->holds && smma_rows_allocate(i, capacity, &c->rows);
}

static void release(candidates *c) {
  smma_rows_free(&c->rows);
  free(c->expected);
  free(c->holds);
}

/* A vector, and its candidates of one round: with one simplification each, and with several together. */
typedef struct {
  const smma_row_to_minimise *what;
  slice simpler, together;
  bool is_done; /* no simpler vector holds */
} item;

/* The vectors that are minimised side by side. */
typedef struct {
  smma_unit *unit, *against;
  smma_operation operation;
  item *list;
  size_t count;
  candidates simpler, together;
  smma_error *error;
} work;

/* Asks both units for the results of all candidates. */
static bool ask(work *w, candidates *c) {
  const size_t bytes = smma_bytes_of(c->instruction->d);
  if (!c->count) return true;
  if (!smma_unit_ask(w->unit, &c->rows, 0, c->count, NULL, w->error) ||
      !smma_unit_ask(w->against, &c->rows, 0, c->count, c->expected, w->error))
    return false;
  /* Widens the results in place, from the last on: so none is overwritten before it is widened. */
  for (size_t n = c->count; n-- > 0;) c->expected[n] = smma_load(bytes, c->expected, n);
  return true;
}

/* Determines which candidates of a vector hold. */
static void judge(const work *w, candidates *c, slice of, const smma_row_judge *judge) {
  if (judge && judge->asked) *judge->asked += of.count;
  for (size_t n = of.first; n < of.first + of.count; n++) {
    smma_row row;
    c->holds[n] = !smma_same_result(&w->operation, smma_rows_result(&c->rows, n), c->expected[n]);
    if (!c->holds[n] || !judge) continue;
    smma_rows_get(&c->rows, n, &row);
    c->holds[n] = judge->takes(&row, c->expected[n], judge->context);
  }
}

/* Takes a candidate that holds: a vector's last one, or its first. Returns false if there is none. */
static bool choose(const candidates *c, slice of, bool last, const item *x) {
  for (size_t i = 0; i < of.count; i++) {
    const size_t n = of.first + (last ? of.count - 1 - i : i);
    if (!c->holds[n]) continue;
    smma_rows_get(&c->rows, n, x->what->row);
    *x->what->expected = c->expected[n];
    return true;
  }
  return false;
}

/* Simplifies each vector by as many candidates as hold together, counted from the first. This takes two batches. With
   one batch for each simplification, a unit that is a program, started for each batch, would take too long. */
static bool simplify(work *w) {
  candidates *c = &w->simpler, *together = &w->together;
  c->count = together->count = 0;
  for (size_t n = 0; n < w->count; n++) {
    item *x = &w->list[n];
    x->simpler = (slice){c->count, 0};
    if (!x->is_done) propose_all(c, x->what->row);
    x->simpler.count = c->count - x->simpler.first;
  }
  if (!ask(w, c)) return false;
  for (size_t n = 0; n < w->count; n++) {
    item *x = &w->list[n];
    const smma_row before = *x->what->row;
    judge(w, c, x->simpler, x->what->judge);
    x->is_done = !choose(c, x->simpler, false, x);
    x->together = (slice){together->count, 0};
    propose_together(together, c, x->simpler, &before);
    x->together.count = together->count - x->together.first;
  }
  if (!ask(w, together)) return false;
  for (size_t n = 0; n < w->count; n++) {
    item *x = &w->list[n];
    judge(w, together, x->together, x->what->judge);
    choose(together, x->together, true, x);
  }
  return true;
}

static bool all_done(const work *w) {
  for (size_t n = 0; n < w->count; n++)
    if (!w->list[n].is_done) return false;
  return true;
}

bool smma_minimise_rows(smma_unit *unit, smma_unit *against, const smma_instruction *i,
                        const smma_row_to_minimise *list, size_t count, smma_error *error) {
  const size_t most = most_candidates(i), fit = most < MOST_TOGETHER ? MOST_TOGETHER / most : 1;
  const size_t side_by_side = count < fit ? count : fit;
  work w = {unit, against, smma_operation_of(i), calloc(side_by_side, sizeof *w.list), .error = error};
  bool good = allocate(i, side_by_side * most, &w.simpler);
  good = allocate(i, side_by_side * most, &w.together) && good && w.list;
  if (!good) smma_fail(error, "no memory to simplify rows of %s", i->name);
  for (size_t first = 0; good && first < count; first += w.count) {
    w.count = count - first < side_by_side ? count - first : side_by_side;
    for (size_t n = 0; n < w.count; n++) w.list[n] = (item){.what = &list[first + n]};
    while (good && !all_done(&w)) good = simplify(&w);
  }
  release(&w.simpler);
  release(&w.together);
  free(w.list);
  return good;
}

bool smma_minimise(smma_unit *unit, smma_unit *against, const smma_instruction *i, smma_row *row, uint64_t *expected,
                   smma_error *error) {
  return smma_minimise_rows(unit, against, i, &(smma_row_to_minimise){row, expected, NULL}, 1, error);
}

int smma_row_terms(const smma_instruction *i, const smma_row *row) {
  int terms = row->c != 0;
  for (int k = 0; k < i->k; k++) terms += row->a[k] || row->b[k];
  return terms;
}
