/* Mismatches as they come, of rows that cannot be asked for again: those of files. */
#ifndef SMMA_CLASSES_COLLECTED_H
#define SMMA_CLASSES_COLLECTED_H

#include "campaign/sample.h"
#include "classes/classes.h"

typedef struct {
  const smma_instruction *instruction;
  smma_operation operation;
  smma_sample sample;
  uint64_t mismatches;
  smma_rows rows; /* by slots of the sample */
  uint64_t *expected, *index;
  smma_rows right;
  size_t rights;
} smma_collection;

/* None yet; false without memory. Free it in both cases. */
bool smma_collection_open(const smma_instruction *instruction, smma_collection *collection);
void smma_collection_free(smma_collection *collection);

/* A row that differs, d of the side that is to be explained; or one in which both sides have row->d, of which the first
   some thousand are kept. False without memory. */
bool smma_collect_mismatch(smma_collection *collection, const smma_row *row, uint64_t expected, uint64_t index);
void smma_collect_right(smma_collection *collection, const smma_row *row);

/* The classes of what was collected; `right` rows of the instruction, or about so many, were right. */
bool smma_classify_collected(const smma_collection *collection, uint64_t right, smma_classes *classes,
                             smma_error *error);

#endif
