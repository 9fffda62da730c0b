/* Collects mismatches one by one from vectors that cannot be asked again, such as those of files. */
#ifndef SMMA_CLASSES_COLLECTED_H
#define SMMA_CLASSES_COLLECTED_H

#include "campaign/sample.h"
#include "classes/classes.h"

typedef struct {
  const smma_instruction *instruction;
  smma_operation operation;
  smma_sample sample;
  uint64_t mismatches;
  smma_rows rows; /* indexed by slots of the sample */
  uint64_t *expected, *index;
  smma_rows right; /* examples of vectors for which both units agree */
  size_t rights;
  uint64_t right_count; /* number of all such vectors in the files with the mismatches */
} smma_collection;

/* Opens an empty collection; returns false if memory runs out. Free it in both cases. */
bool smma_collection_open(const smma_instruction *instruction, smma_collection *collection);
void smma_collection_free(smma_collection *collection);

/* smma_collect_mismatch adds a mismatch; row->d is the result of the unit that is to be explained. Returns false if
   memory runs out. smma_collect_right adds a vector for which both units return row->d; only the first
   SMMA_MATCHING_ROWS of these are stored. The caller adds the number of all of them to collection->right_count. */
bool smma_collect_mismatch(smma_collection *collection, const smma_row *row, uint64_t expected, uint64_t index);
void smma_collect_right(smma_collection *collection, const smma_row *row);

/* Sorts the collected mismatches into classes. */
bool smma_classify_collected(const smma_collection *collection, smma_classes *classes, smma_error *error);

#endif
