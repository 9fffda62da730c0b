/* Asks the units for neighbours of corrected vectors, to confirm a change. */
#include <string.h>

#include "campaign/campaign.h"
#include "classes/work.h"

enum {
  CONFIRMING_NEIGHBOURS = 8, /* neighbours that must confirm a change that corrects few vectors */
  ASKED_NEIGHBOURHOODS = 3,  /* corrected vectors whose neighbours are asked */
  MOST_NEIGHBOURS = 512      /* limit of neighbours of one vector */
};

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
    const uint64_t neighbour = smma_low_bits(was + (uint64_t)n * exponent, f.bits);
    const smma_number number = smma_decode(f, neighbour);
    const bool wraps = (neighbour ^ was) >> (f.bits - 1) || (n < 0 ? neighbour > was : neighbour < was);
    *x = neighbour;
    if (wraps || number.kind > SMMA_FINITE) continue;
    if (n) put_neighbour(b, row);
    for (size_t m = 0; m < sizeof bits / sizeof bits[0] && bits[m] < f.fraction_bits; m++) {
      *x = neighbour ^ UINT64_C(1) << (f.ignored_bits + bits[m]);
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
    smma_row variant = row;
    for (int k = 0; k < i->k; k++) variant.a[k ^ x] = row.a[k], variant.b[k ^ x] = row.b[k];
    put_neighbour(b, &variant);
  }
  put_number_neighbours(b, &row, i->c, &row.c);
  for (int k = 0; k < i->k; k++) {
    put_number_neighbours(b, &row, i->a, &row.a[k]);
    put_number_neighbours(b, &row, i->b, &row.b[k]);
  }
}

/* Counts of vectors that show whether the unit confirms a change. */
typedef struct {
  const smma_class_work *w;
  const smma_changed *model;
  size_t agree;   /* vectors for which the change matters and gives the unit's result */
  size_t neither; /* vectors that the change does not explain */
  size_t refuted; /* vectors for which the change matters, but the unit returns the model's result */
} change_check;

static bool shows_change(const smma_row *row, uint64_t expected, void *context) {
  const change_check *q = context;
  (void)expected;
  smma_class_watch(q->w);
  return smma_class_same(q->w, row->d, smma_changed_row(q->model, row)) &&
         !smma_class_same(q->w, row->d, smma_changed_row(&q->w->together, row));
}

/* Asks the units for neighbours of vector i, which is minimised first. */
static bool ask_neighbours(smma_class_work *w, change_check *q, size_t i) {
  const smma_instruction *instruction = w->request->instruction;
  const smma_row_judge judge = {shows_change, q, &w->classes->asked};
  uint64_t expected = w->request->expected[i];
  neighbours b = {.count = 0};
  smma_row row;
  bool good = smma_rows_allocate(instruction, MOST_NEIGHBOURS, &b.rows) || smma_no_memory(w->error);
  smma_rows_get(&w->samples.rows, i, &row);
  good = good && smma_minimise_rows(w->request->unit, w->request->against, instruction,
                                    &(smma_row_to_minimise){&row, &expected, &judge}, 1, w->error);
  if (good) put_all_neighbours(&b, instruction, &row);
  good = good && smma_unit_ask(w->request->unit, &b.rows, 0, b.count, NULL, w->error);
  w->classes->asked += b.count;
  for (size_t n = 0; good && n < b.count; n++) {
    uint64_t by_model, by_change;
    smma_rows_get(&b.rows, n, &row);
    by_model = smma_changed_row(&w->together, &row);
    by_change = smma_changed_row(q->model, &row);
    if (!smma_class_same(w, by_change, row.d))
      q->neither++;
    else if (!smma_class_same(w, by_model, by_change))
      q->agree++;
    q->refuted += smma_class_same(w, by_model, row.d) && !smma_class_same(w, by_model, by_change);
  }
  smma_rows_free(&b.rows);
  return good;
}

bool smma_class_make_with(const smma_class_work *w, const smma_change *x, smma_changed *m) {
  smma_change changes[SMMA_MOST_CHANGES];
  memcpy(changes, w->choice, (size_t)w->count * sizeof *changes);
  changes[w->count] = *x;
  return smma_changed_make(w->request->instruction, changes, w->count + 1, m);
}

bool smma_class_confirm(smma_class_work *w, const smma_change *x, const smma_class_effect *e, bool *confirmed) {
  smma_changed m;
  change_check q = {.w = w, .model = &m};
  size_t corrected_so_far = 0, mismatches = 0, corrected = e->corrected;
  smma_class_make_with(w, x, &m);
  for (size_t i = 0; i < w->request->count; i++) {
    mismatches += !smma_class_is_right(w, i);
    if (smma_class_is_right(w, i) ||
        !smma_class_same(w, smma_changed_sample(&m, &w->samples, i), smma_class_unit_result(w, i)))
      continue;
    if (smma_class_can_ask(w) && corrected_so_far++ % (corrected / ASKED_NEIGHBOURHOODS + 1) == 0 &&
        !smma_class_is_ended(w) && !ask_neighbours(w, &q, i))
      return false;
  }
  *confirmed = (e->broken ? 8 * q.refuted <= q.agree : !q.refuted) && 8 * q.neither <= q.agree &&
               (corrected >= SMMA_CLASS_CORRECTED_ENOUGH ||
                (corrected == mismatches && (q.agree >= CONFIRMING_NEIGHBOURS || !smma_class_can_ask(w))));
  return true;
}
