/* The file of an unfinished run: the head of the CSV, then, for each finished cell, its rows and "# cell 3: " with
   their digest. Cells are in the order of completion. */
#ifndef SMMA_EXPERIMENT_PART_H
#define SMMA_EXPERIMENT_PART_H

#include "experiment/experiment.h"

typedef struct {
  FILE *stream;
  const char *path;
} smma_part;

/* Opens the file for appending and reads its cells: rows[i] becomes the text of cell i. An incomplete cell at the
   end is removed. A file with another head than `head`, or with invalid content, is an error. */
bool smma_part_open(smma_part *part, const char *path, const char *head, char **rows, size_t cells, smma_error *error);

/* Reads the cells of another run's file that rows[] does not yet hold. The file is not changed. */
bool smma_part_read(const char *path, const char *head, char **rows, size_t cells, smma_error *error);

/* Appends a cell's rows. */
bool smma_part_add(smma_part *part, size_t cell, const char *rows, smma_error *error);

bool smma_part_close(smma_part *part, smma_error *error);

#endif
