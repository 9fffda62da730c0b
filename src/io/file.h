/* Whole files in memory, and files that appear under their name only when complete. */
#ifndef SMMA_IO_FILE_H
#define SMMA_IO_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "io/error.h"

typedef struct {
  const unsigned char *bytes; /* never NULL after a successful load */
  size_t size;
  bool mapped;
} smma_file_bytes;

/* All bytes of a file: mapped where the system can, read otherwise (pipes). As with every mapped file, a program
   that shortens it in place meanwhile ends this one; smma_output replaces files, which is safe. */
bool smma_file_load(const char *path, smma_file_bytes *file, smma_error *error);

void smma_file_release(smma_file_bytes *file);

/* A file being written. `path` holds the old content, or nothing, until smma_output_commit. */
typedef struct {
  FILE *stream;
  char *path;      /* the final name, symbolic links resolved */
  char *temporary; /* beside it; NULL when path is a device or a pipe, which is written directly */
} smma_output;

/* After success call exactly one of commit and abandon; both free all that `output` holds. */
bool smma_output_open(const char *path, smma_output *output, smma_error *error);

/* Fails, with nothing left behind, when a write failed before or the file cannot be put in place. */
bool smma_output_commit(smma_output *output, smma_error *error);

void smma_output_abandon(smma_output *output);

#endif
