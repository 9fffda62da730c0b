/* Whole files in memory, and files that appear under their name only when complete. */
#ifndef SMMA_IO_FILE_H
#define SMMA_IO_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "host/error.h"

typedef struct {
  char *bytes; /* never NULL after a successful load; a zero byte stands behind them */
  size_t size;
} smma_file_bytes;

/* All bytes of a file, pipe or device that has at most `limit`; of one that has more, no more are read. */
bool smma_file_load(const char *path, size_t limit, smma_file_bytes *file, smma_error *error);

void smma_file_release(smma_file_bytes *file);

/* A file being written. `path` holds the old content, or nothing, until smma_output_commit. */
typedef struct {
  FILE *stream;
  char *path;      /* the final name, symbolic links resolved */
  char *temporary; /* beside it; NULL when path is a device or a pipe, which is written directly */
} smma_output;

/* A file that is there keeps its permissions, and its owner where that is allowed; through a symbolic link the file is
   written to which it leads. After success call exactly one of commit and abandon; both free all that `output` holds.
 */
bool smma_output_open(const char *path, smma_output *output, smma_error *error);

/* The data are on the disk when the file takes its place. Fails, with nothing left behind, when a write failed before
   or the file cannot be put in place. */
bool smma_output_commit(smma_output *output, smma_error *error);

void smma_output_abandon(smma_output *output);

/* For a program that is about to end: removes the temporary file of every output that is neither committed nor
   abandoned, after which no output can be opened or committed. May be called by a signal handler. While an output is
   just being created or put in place it returns false and does nothing: `end(number)` is called once that is done. */
bool smma_outputs_remove_unfinished(void (*end)(int number), int number);

#endif
