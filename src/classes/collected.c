#include "classes/collected.h"

#include <stdlib.h>

#include "classes/kept.h"

bool smma_collection_open(const smma_instruction *i, smma_collection *c) {
  *c = (smma_collection){.instruction = i, .operation = smma_operation_of(i)};
  c->expected = malloc(SMMA_KEPT_OF_SORT * sizeof *c->expected);
  c->index = malloc(SMMA_KEPT_OF_SORT * sizeof *c->index);
  return smma_rows_allocate(i, SMMA_KEPT_OF_SORT, &c->rows) && smma_rows_allocate(i, SMMA_MATCHING_ROWS, &c->right) &&
         c->expected && c->index;
}

void smma_collection_free(smma_collection *c) {
  smma_sample_free(&c->sample);
  smma_rows_free(&c->rows);
  smma_rows_free(&c->right);
  free(c->expected);
  free(c->index);
}

static bool grow(smma_collection *c, size_t slot) {
  size_t capacity = c->rows.capacity;
  uint64_t *expected, *index;
  while (capacity <= slot) capacity *= 2;
  if (capacity == c->rows.capacity) return true;
  expected = realloc(c->expected, capacity * sizeof *expected);
  if (expected) c->expected = expected;
  index = realloc(c->index, capacity * sizeof *index);
  if (index) c->index = index;
  return expected && index && smma_rows_grow(&c->rows, capacity);
}

bool smma_collect_mismatch(smma_collection *c, const smma_row *row, uint64_t expected, uint64_t index) {
  size_t slot;
  if (!smma_sample_add(&c->sample, &c->operation, 0, c->mismatches++, expected, row->d, &slot)) return false;
  if (slot == SIZE_MAX) return true;
  if (!grow(c, slot)) return false;
  smma_rows_put(&c->rows, slot, row);
  c->expected[slot] = expected;
  c->index[slot] = index;
  return true;
}

void smma_collect_right(smma_collection *c, const smma_row *row) {
  if (c->rights < SMMA_MATCHING_ROWS) smma_rows_put(&c->right, c->rights++, row);
}

bool smma_classify_collected(const smma_collection *c, smma_classes *classes, smma_error *error) {
  size_t slot[SMMA_SORTED_ROWS];
  double weight[SMMA_SORTED_ROWS];
  uint64_t expected[SMMA_SORTED_ROWS], index[SMMA_SORTED_ROWS];
  const size_t count = smma_kept_slots(&c->sample, slot, weight);
  smma_rows rows;
  bool good = smma_rows_allocate(c->instruction, SMMA_SORTED_ROWS, &rows) || smma_no_memory(error);
  for (size_t n = 0; good && n < count; n++) {
    smma_rows_copy(&rows, n, &c->rows, slot[n], 1);
    expected[n] = c->expected[slot[n]];
    index[n] = c->index[slot[n]];
  }
  good = good && smma_classify(
                     &(smma_class_request){.instruction = c->instruction,
                                           .rows = &rows,
                                           .count = count,
                                           .expected = expected,
                                           .index = index,
                                           .weight = weight,
                                           .matches = &c->right,
                                           .matching = c->rights,
                                           .match_weight = c->rights ? (double)c->right_count / (double)c->rights : 0},
                     classes, error);
  smma_rows_free(&rows);
  return good;
}
