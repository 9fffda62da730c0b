/* Checks the results in vector files against the models, bit for bit. */
#ifndef SMMA_ROWS_CHECK_H
#define SMMA_ROWS_CHECK_H

#include <stdio.h>

#include "isa/catalogue.h"
#include "rows/vectors.h"

typedef struct {
  unsigned long long rows, mismatches; /* rows read; rows that differ */
  unsigned long long nan;              /* mismatches that differ only in the encoding of a NaN */
  unsigned long long flags;            /* mismatches that differ only in their flags */
} smma_check_totals;

/* One row, mismatching or correct, that is passed to the callbacks below. `row` has the result to check, `got` is the
   computed one. */
typedef struct {
  const char *path;
  unsigned long long line; /* line number; in a binary file the row number; from 1 */
  const smma_vector_header *header;
  const smma_row *row;
  uint64_t got;
  int flags; /* the model's flags, if the rows have flags */
  bool same; /* d is correct; a mismatch then differs only in its flags */
} smma_mismatch;

/* Callbacks of smma_check_stream; each function may be NULL. */
typedef struct {
  /* Computes d of the batch's rows. NULL: the models compute them. */
  bool (*compute)(const smma_instruction *instruction, const smma_batch *batch, void *context, smma_error *error);
  void (*mismatch)(const smma_mismatch *mismatch, void *context);
  /* Receives some correct rows, evenly spaced, from each batch that contains a mismatch. */
  void (*right)(const smma_mismatch *row, void *context);
  void (*progress)(const smma_check_totals *totals, void *context); /* called every few thousand rows */
  void *context;
} smma_check_watcher;

/* Checks all rows of the stream and adds them to `totals`. Returns false with one error line if the rows cannot be read
   or computed; mismatches are no errors. */
bool smma_check_stream(FILE *stream, const char *path, smma_check_totals *totals, const smma_check_watcher *watcher,
                       smma_error *error);

/* Checks the first `count` rows in memory against the instruction that the header names. `name` begins the error
   messages. Messages number the rows from 1. */
bool smma_check_rows(const smma_rows *rows, size_t count, const smma_vector_header *header, const char *name,
                     smma_check_totals *totals, const smma_check_watcher *watcher, smma_error *error);

#endif
