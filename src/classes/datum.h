/* Converts classes of mismatches to data. */
#ifndef SMMA_CLASSES_DATUM_H
#define SMMA_CLASSES_DATUM_H

#include "classes/classes.h"
#include "datum/datum.h"

/* Context for reports about classes. */
typedef struct {
  const smma_instruction *instruction;
  const char *unit, *against; /* names of the units; `unit` is the one whose results are the vectors' d */
  uint64_t mismatches;        /* all mismatches, kept or not */
  size_t agreeing_again;      /* kept vectors that no longer differed when they were asked again */
  const char *const
      *paths; /* paths of the vectors' files, if indices are from smma_index_of_line; NULL: an index is a number */
} smma_class_words;

/* Convert between the index of a vector and its file's number and line. The line is in the low SMMA_LINE_BITS bits. */
enum { SMMA_LINE_BITS = 40 };
static inline uint64_t smma_index_of_line(size_t file, uint64_t line) {
  return (uint64_t)file << SMMA_LINE_BITS | line;
}
static inline size_t smma_file_of_index(uint64_t index) { return (size_t)(index >> SMMA_LINE_BITS); }
static inline uint64_t smma_line_of_index(uint64_t index) { return index & ((UINT64_C(1) << SMMA_LINE_BITS) - 1); }

/* Reports whether the mismatches of a class need a product at certain k, and these k are known. */
bool smma_class_is_bound(const smma_mismatch_class *mismatch_class, const smma_class_words *words);

/* Returns the number of matching vectors that were searched for events. */
size_t smma_classes_watched(const smma_classes *classes);

/* Returns a record with the keys "kept", "matching", "matching_watched", "complete", "together",
   "together_mismatches", "unsorted", "gone", "tried" and "list". */
smma_datum *smma_classes_datum(const smma_classes *classes, const smma_class_words *words);

#endif
