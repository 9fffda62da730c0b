/* The file of an unfinished run: the head of the CSV, then the rows of each finished cell and "# cell 3: " with a
   digest of these. Cells stand in the order in which they were finished. */
#ifndef SMMA_EXPERIMENT_PART_H
#define SMMA_EXPERIMENT_PART_H

#include "experiment/experiment.h"

typedef struct {
  FILE *stream;
  const char *path;
} smma_part;

/* Opens the file for appending and takes what it knows: rows[i] becomes the text of cell i. The end of a cell that was
   being written is cut off. A file that begins otherwise than with `head`, or holds what nobody wrote, is an error. */
bool smma_part_open(smma_part *part, const char *path, const char *head, char **rows, size_t cells, smma_error *error);

/* Takes what another run's file knows, which stays as it is: cells that rows[] has not yet. */
bool smma_part_read(const char *path, const char *head, char **rows, size_t cells, smma_error *error);

/* Appends a cell's rows. */
bool smma_part_add(smma_part *part, size_t cell, const char *rows, smma_error *error);

bool smma_part_close(smma_part *part, smma_error *error);

#endif
