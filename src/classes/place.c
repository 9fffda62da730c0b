/* Finds the k of products at which a mismatch occurs. */
#include "classes/work.h"
#include "host/load.h"

enum { MOST_TERMS = 8 /* limit of nonzero products in a vector whose products are moved */ };

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

/* Sets differs[n] to whether vector n still satisfies the condition `j`. */
static bool ask_which(smma_class_work *w, const smma_class_condition *j, const smma_rows *rows, int count,
                      bool *differs) {
  const size_t bytes = smma_bytes_of(w->request->instruction->d);
  uint64_t against_d[SMMA_MOST_PLACES];
  if (count && (!smma_unit_ask(w->request->unit, rows, 0, (size_t)count, NULL, w->error) ||
                !smma_unit_ask(w->request->against, rows, 0, (size_t)count, against_d, w->error)))
    return false;
  w->classes->asked += (size_t)count;
  for (int n = 0; n < count; n++) {
    smma_row row;
    smma_rows_get(rows, (size_t)n, &row);
    differs[n] = smma_class_is_satisfied(&row, smma_load(bytes, against_d, (size_t)n), (void *)j);
  }
  return true;
}

/* Moves all products together from k to k ^ x, for every x, so that products in one aligned group of 2^n stay in one
   group. Sets `*places` to all k that had a product while the units still differed, and `*often` to whether they differ
   for at least a quarter of all x. If K is no power of 2, or there are scale factors, moves nothing and sets `*places`
   to all k. */
static bool ask_moved(smma_class_work *w, const smma_class_condition *j, smma_rows *rows, const smma_row *row,
                      uint64_t *places, bool *often) {
  const smma_instruction *i = w->request->instruction;
  bool differs[SMMA_MOST_PLACES];
  int differ = 0;
  *often = false;
  *places = ~UINT64_C(0);
  if (i->k & (i->k - 1) || i->scale_block) return true;
  for (int x = 0; x < i->k; x++) {
    smma_row variant = *row;
    for (int k = 0; k < i->k; k++) variant.a[k ^ x] = row->a[k], variant.b[k ^ x] = row->b[k];
    smma_rows_put(rows, (size_t)x, &variant);
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

/* Sets `*bound` to whether the mismatch disappears wherever the product at k is moved to. */
static bool ask_bound(smma_class_work *w, const smma_class_condition *j, smma_rows *rows, const smma_row *row, int k,
                      bool *bound) {
  const smma_instruction *i = w->request->instruction;
  bool differs[SMMA_MOST_PLACES];
  int count = 0;
  for (int l = 0; l < i->k; l++) {
    smma_row variant = *row;
    if (is_term(row, l) || !same_scale(i, row, k, l)) continue;
    swap(&variant.a[k], &variant.a[l]);
    swap(&variant.b[k], &variant.b[l]);
    smma_rows_put(rows, (size_t)count++, &variant);
  }
  if (!ask_which(w, j, rows, count, differs)) return false;
  *bound = count > 0;
  for (int n = 0; n < count; n++) *bound = *bound && !differs[n];
  return true;
}

/* Determines the places of a class. If the mismatch needs a product at a certain k, this is the only place; otherwise
   the places are all k of products for which the units differed. */
static bool ask_places(smma_class_work *w, const smma_class_condition *j, smma_rows *rows, smma_mismatch_class *c) {
  bool bound = false;
  if (!ask_moved(w, j, rows, &c->row, &c->places, &bound)) return false;
  if (bound) return true; /* the mismatch occurs for so many k that it does not need a certain one */
  for (int k = 0; !bound && k < w->request->instruction->k; k++) {
    if (!is_term(&c->row, k)) continue;
    if (!ask_bound(w, j, rows, &c->row, k, &bound)) return false;
    if (bound) c->places = UINT64_C(1) << k;
  }
  return true;
}

bool smma_class_place(smma_class_work *w, smma_mismatch_class *c, int change) {
  const smma_class_condition j = {w, change, false};
  smma_rows rows;
  int terms = 0;
  bool good;
  for (int k = 0; k < w->request->instruction->k; k++) terms += is_term(&c->row, k);
  if (w->request->instruction->k > SMMA_MOST_PLACES || !smma_class_can_ask(w) || !c->is_simplified || terms == 0 ||
      terms > MOST_TERMS || smma_class_is_ended(w))
    return true;
  c->is_placed = true;
  good = smma_rows_allocate(w->request->instruction, SMMA_MOST_PLACES, &rows) || smma_no_memory(w->error);
  good = good && ask_places(w, &j, &rows, c);
  smma_rows_free(&rows);
  return good;
}
