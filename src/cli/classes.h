/* Classes of mismatches in the output of commands. */
#ifndef SMMA_CLI_CLASSES_H
#define SMMA_CLI_CLASSES_H

#include "classes/classes.h"
#include "cli/cli.h"

/* Whose they are, in words. */
typedef struct smma_class_words {
  const smma_instruction *instruction;
  const char *unit, *against; /* names; the unit's results are the rows' d */
  uint64_t mismatches;        /* all */
  size_t gone;                /* rows kept that did not differ any more when they were asked again */
  /* Where a row is, by its index: as text, "row 17, from 1"; and into the JSON of a row. */
  void (*print_place)(const struct smma_class_words *words, uint64_t index);
  void (*set_place)(const struct smma_class_words *words, uint64_t index, json_t *row);
  const void *context; /* theirs */
} smma_class_words;

void smma_print_classes(const smma_classes *classes, const smma_class_words *words);

/* {"kept", "matching", "complete", "together", "unsorted", "gone", "list"}. */
json_t *smma_classes_json(const smma_classes *classes, const smma_class_words *words);

#endif
