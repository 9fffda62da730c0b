/* Reads whole files into memory, and writes files that appear under their final name only when complete. */
#ifndef SMMA_IO_FILE_H
#define SMMA_IO_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "host/error.h"

typedef struct {
  char *bytes; /* never NULL after a successful load; followed by a zero byte */
  size_t size;
} smma_file_bytes;

/* Reads a whole file, pipe or device of at most `limit` bytes. Returns false with one error line if there are more,
   without reading them all. */
bool smma_file_load(const char *path, size_t limit, smma_file_bytes *file, smma_error *error);

void smma_file_release(smma_file_bytes *file);

/* Returns the length of the first item of a list of files, whose items are separated by commas. If files exist whose
   names are the list up to some comma after the first, or up to its end, the item is the longest of these names.
   Otherwise the item ends at the first comma. */
size_t smma_list_item(const char *list);

/* A file being written. Until smma_output_commit, `path` has its old content or does not exist. */
typedef struct {
  FILE *stream;
  char *path;      /* the final name, with symbolic links resolved */
  char *temporary; /* name of the temporary file, in the same directory; NULL if path is a device or a pipe, which is
                      written directly */
} smma_output;

/* Opens an output. If the file exists, the new file gets its permissions, and its owner if the system permits this. If
   the path is a symbolic link, its target is replaced. After success call either smma_output_commit or
   smma_output_abandon; both free everything that `output` holds. */
bool smma_output_open(const char *path, smma_output *output, smma_error *error);

/* Writes the data to the disk, and then gives the temporary file its final name. Fails if an earlier write failed or
   the file cannot be renamed: then no new file is left, and an old file is unchanged. Also fails if the disk does not
   confirm the new name, and then leaves the new file. */
bool smma_output_commit(smma_output *output, smma_error *error);

void smma_output_abandon(smma_output *output);

/* Removes the temporary files of all outputs that are neither committed nor abandoned, for a program that is about to
   end. After that no output can be opened or committed. May be called by a signal handler. If an output is just being
   created or put in place, returns false and does nothing; `end(number)` is called once that is done. */
bool smma_outputs_remove_unfinished(void (*end)(int number), int number);

#endif
