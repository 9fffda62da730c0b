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
  uint64_t against_d[MOST_TERMS * SMMA_MOST_PLACES];
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

static bool moves_together(const smma_instruction *i) { return i->k > 1 && !(i->k & (i->k - 1)) && !i->scale_block; }

/* Moves all products together from k to k ^ x, for every x, so that products in one aligned group of 2^n stay in one
   group. Sets `*places` to all k that had a product while the units still differed, and `*often` to whether they differ
   for at least a quarter of all x. If K is 1 or no power of 2, or there are scale factors, moves nothing and sets
   `*places` to all k. */
static bool ask_moved(smma_class_work *w, const smma_class_condition *j, smma_rows *rows, const smma_row *row,
                      uint64_t *places, bool *often) {
  const smma_instruction *i = w->request->instruction;
  bool differs[SMMA_MOST_PLACES];
  int differ = 0;
  *often = false;
  *places = ~UINT64_C(0);
  if (!moves_together(i)) return true;
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

/* Sets `*places` to the first k whose product makes the mismatch disappear wherever it is moved to. If there is none,
   leaves `*places` unchanged. Sets `*moved` if a product can be moved at all. */
static bool ask_bound(smma_class_work *w, const smma_class_condition *j, smma_rows *rows, const smma_row *row,
                      uint64_t *places, bool *moved) {
  const smma_instruction *i = w->request->instruction;
  int end[SMMA_MOST_PLACES], count = 0;
  bool differs[MOST_TERMS * SMMA_MOST_PLACES];
  for (int k = 0; k < i->k; k++) {
    for (int l = 0; l < i->k && is_term(row, k); l++) {
      smma_row variant = *row;
      if (is_term(row, l) || !same_scale(i, row, k, l)) continue;
      swap(&variant.a[k], &variant.a[l]);
      swap(&variant.b[k], &variant.b[l]);
      smma_rows_put(rows, (size_t)count++, &variant);
    }
    end[k] = count;
  }
  if (!ask_which(w, j, rows, count, differs)) return false;
  *moved = *moved || count > 0;
  for (int k = 0, n = 0; k < i->k; k++) {
    bool bound = end[k] > n;
    for (; n < end[k]; n++) bound = bound && !differs[n];
    if (!bound) continue;
    *places = UINT64_C(1) << k;
    return true;
  }
  return true;
}

/* Determines the places of a class. If the mismatch needs a product at a certain k, this is the only place; otherwise
   the places are all k of products for which the units differed. */
static bool ask_places(smma_class_work *w, const smma_class_condition *j, smma_rows *rows, smma_mismatch_class *c) {
  bool often;
  if (!ask_moved(w, j, rows, &c->row, &c->places, &often)) return false;
  c->is_placed = moves_together(w->request->instruction);
  /* If the mismatch occurs for that many k, it does not need a certain one. */
  return often || ask_bound(w, j, rows, &c->row, &c->places, &c->is_placed);
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
  good = smma_rows_allocate(w->request->instruction, MOST_TERMS * SMMA_MOST_PLACES, &rows) || smma_no_memory(w->error);
  good = good && ask_places(w, &j, &rows, c);
  smma_rows_free(&rows);
  return good;
}
