/* Converts a vector file to another format. */
#ifndef SMMA_ROWS_COPY_H
#define SMMA_ROWS_COPY_H

#include "host/watch.h"
#include "rows/vectors.h"

/* Copies the rows of stream `in` to stream `out` in another format. `path` is the input's name in messages. Copies
   header and rows, but not comments. The header must name an instruction, because every reader of the copy requires
   one. Calls `watch`, unless NULL, at intervals with the number of rows done. Ends early
   when `out` fails, which the caller has to check. Returns false with one error line. */
bool smma_vectors_copy(FILE *in, const char *path, FILE *out, smma_vector_format format, smma_watcher *watch,
                       void *context, smma_error *error);

#endif
