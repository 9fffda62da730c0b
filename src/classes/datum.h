/* Classes of mismatches as data. */
#ifndef SMMA_CLASSES_DATUM_H
#define SMMA_CLASSES_DATUM_H

#include "classes/classes.h"
#include "datum/datum.h"

/* What the classes are of. */
typedef struct {
  const smma_instruction *instruction;
  const char *unit, *against; /* names; the unit's results are the rows' d */
  uint64_t mismatches;        /* all, also those that were not kept */
  size_t gone;                /* rows kept that did not differ any more when they were asked again */
  const char *const *paths;   /* of the files that rows are from, for smma_index_of_line; NULL: an index is a number */
} smma_class_words;

/* The index of a row in a file: the file's number, and the line. */
enum { SMMA_LINE_BITS = 40 };
static inline uint64_t smma_index_of_line(size_t file, uint64_t line) {
  return (uint64_t)file << SMMA_LINE_BITS | line;
}
static inline size_t smma_file_of_index(uint64_t index) { return (size_t)(index >> SMMA_LINE_BITS); }
static inline uint64_t smma_line_of_index(uint64_t index) { return index & ((UINT64_C(1) << SMMA_LINE_BITS) - 1); }

/* Reports whether a class takes products at some k only. */
bool smma_class_is_bound(const smma_mismatch_class *mismatch_class, const smma_class_words *words);

/* Returns how many matching rows events were looked for in. */
size_t smma_classes_watched(const smma_classes *classes);

/* Returns {"kept", "matching", "matching_watched", "complete", "together", "together_mismatches", "unsorted", "gone",
   "tried", "list"}. */
smma_datum *smma_classes_datum(const smma_classes *classes, const smma_class_words *words);

#endif
