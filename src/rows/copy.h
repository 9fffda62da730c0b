/* A vector file in another format. */
#ifndef SMMA_ROWS_COPY_H
#define SMMA_ROWS_COPY_H

#include "rows/vectors.h"

/* Writes the rows of a stream, whose name `path` begins messages, to another one. Header and rows are kept, comments
   are not; the header must name an instruction, as everything that reads the copy asks for. `watch`, if not NULL, is
   called now and then with how many rows are done, of how many (0: not known). Ends early where the second stream
   fails, which the caller looks for. False with one line. */
bool smma_vectors_copy(FILE *in, const char *path, FILE *out, smma_vector_format format,
                       bool (*watch)(uint64_t done, uint64_t all, void *context), void *context, smma_error *error);

#endif
