/* Results that the user supplies, for example of a kernel of their own, to be compared with those of targets. */
#ifndef SMMA_COMPARE_OWN_H
#define SMMA_COMPARE_OWN_H

#include "compare/target.h"
#include "product/take.h"

/* A result: M x N, in the targets' format of D, dense and row-major. */
typedef struct {
  const char *name;
  const void *d;
} smma_own_result;

/* Results that were read from files; `result` points into the other members. Zeros are no results. */
typedef struct {
  smma_own_result result[SMMA_MOST_TARGETS];
  smma_tensor tensor[SMMA_MOST_TARGETS];
  char *names;
  size_t count;
} smma_own_files;

/* Reads the files of a list, separated by commas. Fails if there are more than `most`, or if a file is not
   `rows` x `columns`, or if `d`, the targets' format of D, does not have all its values: they are not rounded. Writes a
   note if the format of a file is narrower than `d`. The errors name the option --d. Call smma_own_files_free in all
   cases. */
bool smma_own_files_read(smma_own_files *own, const char *list, size_t most, smma_format d, size_t rows, size_t columns,
                         bool raw, const smma_notes *notes, smma_error *error);

void smma_own_files_free(smma_own_files *own);

#endif
