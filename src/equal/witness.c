#include "equal/witness.h"

#include <stdlib.h>

#include "campaign/campaign.h"
#include "host/load.h"
#include "host/thread.h"
#include "rows/generate.h"

enum { BATCH = 8192, MOST_MINIMISED = 6 };

typedef struct {
  const smma_search *search;
  smma_operation operation;
  smma_rows rows;
  unsigned char *other; /* results of the second unit */
} work;

/* Makes directed and random vectors alternately; the random ones are of every kind. */
static void make_row(const work *w, uint64_t index, smma_row *row) {
  row->d = 0;
  if (index % 2 == 0)
    smma_directed_row(w->search, index / 2, row);
  else
    smma_generate_row(&w->operation, w->search->seed, index / 2, (smma_row_kind)(index / 2 % SMMA_ROWS_IN_TURN), row);
  if (w->search->without_c) row->c = 0;
}

static bool ask_batch(work *w, uint64_t first, size_t count, smma_error *error) {
#pragma omp parallel for num_threads(smma_default_threads()) schedule(static)
  for (size_t i = 0; i < count; i++) {
    smma_row row;
    make_row(w, first + i, &row);
    smma_rows_put(&w->rows, i, &row);
  }
  return smma_unit_ask(w->search->unit[0], &w->rows, 0, count, NULL, error) &&
         smma_unit_ask(w->search->unit[1], &w->rows, 0, count, w->other, error);
}

static uint64_t other_of(const work *w, size_t i) { return smma_load(smma_bytes_of(w->search->as->d), w->other, i); }

static bool differs(const work *w, size_t i) {
  return !smma_same_result(&w->operation, smma_rows_result(&w->rows, i), other_of(w, i));
}

/* ---- Minimising ---- */

static int bits_of(uint64_t x) {
  int bits = 0;
  for (; x; x &= x - 1) bits++;
  return bits;
}

/* Returns the size of a vector: the number of terms other than +0 counts first, then the number of bits that are
   set. */
static int size_of(const smma_instruction *i, const smma_row *row, int *terms) {
  int bits = bits_of(row->c);
  *terms = row->c != 0;
  for (int k = 0; k < i->k; k++) {
    *terms += row->a[k] || row->b[k];
    bits += bits_of(row->a[k]) + bits_of(row->b[k]);
  }
  for (int n = 0; n < smma_scale_count(i->k, i->scale_block); n++)
    bits += bits_of(row->scale_a[n]) + bits_of(row->scale_b[n]);
  return *terms << 16 | bits;
}

static bool offer(work *w, size_t at, int *least, smma_witness *witness, smma_error *error) {
  const smma_search *s = w->search;
  smma_row row;
  uint64_t other = other_of(w, at);
  int terms, size;
  smma_rows_get(&w->rows, at, &row);
  if (!smma_minimise(s->unit[0], s->unit[1], s->as, &row, &other, error)) return false;
  if (s->common) smma_make_operands_common(s->common, s->as->k, &row);
  size = size_of(s->as, &row, &terms);
  if (witness->found && size >= *least) return true;
  *least = size;
  witness->found = true;
  witness->row = row;
  witness->other = other;
  witness->terms = terms;
  return true;
}

/* Minimises the vectors of the batch that differ with the fewest terms, and keeps the smallest. */
static bool choose(work *w, size_t count, smma_witness *witness, smma_error *error) {
  size_t best[MOST_MINIMISED];
  int size[MOST_MINIMISED], kept = 0, least = 0;
  for (size_t i = 0; i < count; i++) {
    smma_row row;
    int terms, own, at;
    if (!differs(w, i)) continue;
    smma_rows_get(&w->rows, i, &row);
    own = size_of(w->search->as, &row, &terms);
    if (kept == MOST_MINIMISED && own >= size[kept - 1]) continue;
    if (kept < MOST_MINIMISED) kept++;
    for (at = kept - 1; at > 0 && size[at - 1] > own; at--) size[at] = size[at - 1], best[at] = best[at - 1];
    size[at] = own, best[at] = i;
  }
  for (int n = 0; n < kept; n++)
    if (!offer(w, best[n], &least, witness, error)) return false;
  return true;
}

static bool search_all(work *w, smma_witness *witness, smma_error *error) {
  const uint64_t rows = w->search->rows;
  while (!witness->found && witness->rows < rows) {
    const uint64_t left = rows - witness->rows;
    const size_t count = left < BATCH ? (size_t)left : BATCH;
    if (!ask_batch(w, witness->rows, count, error) || !choose(w, count, witness, error)) return false;
    witness->rows += count;
  }
  return true;
}

bool smma_find_witness(const smma_search *s, smma_witness *witness, smma_error *error) {
  work w = {.search = s, .operation = smma_operation_of(s->as)};
  bool done;
  *witness = (smma_witness){.as = *s->as, .is_common = s->common && !smma_are_same_operands(s->common)};
  w.other = malloc(BATCH * smma_bytes_of(s->as->d));
  done = smma_rows_allocate(s->as, BATCH, &w.rows) && w.other;
  done = done ? search_all(&w, witness, error) : smma_fail(error, "no memory for %d rows", BATCH);
  smma_rows_free(&w.rows);
  free(w.other);
  return done;
}
