/* Checking vector files against the models, bit for bit. */
#ifndef SMMA_ROWS_CHECK_H
#define SMMA_ROWS_CHECK_H

#include <stdio.h>

#include "isa/catalogue.h"
#include "rows/vectors.h"

typedef struct {
  unsigned long long rows, mismatches, nan; /* mismatches in the encoding of a NaN only */
} smma_check_totals;

/* What a reporter is told of one row that differs, or is right. */
typedef struct {
  const char *path;
  unsigned long long line; /* of a binary file the row, from 1 */
  const smma_vector_header *header;
  const smma_row *row;
  uint64_t got;
} smma_mismatch;

/* Whom smma_check_stream asks for results, and tells; each function may be NULL. */
typedef struct {
  /* d of the rows; without it, as the models compute it. */
  bool (*compute)(const smma_instruction *instruction, const smma_batch *batch, void *context, smma_error *error);
  void (*mismatch)(const smma_mismatch *mismatch, void *context);
  /* Some right rows, evenly out of each batch in which a row differs. */
  void (*right)(const smma_mismatch *row, void *context);
  void (*progress)(const smma_check_totals *totals, void *context); /* every some thousand rows */
  void *context;
} smma_check_watcher;

/* Reads the stream to its end and adds to `totals`. */
bool smma_check_stream(FILE *stream, const char *path, smma_check_totals *totals, const smma_check_watcher *watcher,
                       smma_error *error);

/* Does the same for the first `count` rows in memory, of the instruction that the header names; `name` begins messages,
   and a row's place is its number from 1. */
bool smma_check_rows(const smma_rows *rows, size_t count, const smma_vector_header *header, const char *name,
                     smma_check_totals *totals, const smma_check_watcher *watcher, smma_error *error);

#endif
