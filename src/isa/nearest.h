/* The known names nearest to a misspelt one, by edit distance; names of which one is a part of the other are nearest.
 */
#ifndef SMMA_ISA_NEAREST_H
#define SMMA_ISA_NEAREST_H

#include "isa/find.h"

#define SMMA_NEAREST_COUNT 3

typedef struct {
  char wanted[SMMA_NAME_SIZE];
  char name[SMMA_NEAREST_COUNT][SMMA_NAME_SIZE];
  int distance[SMMA_NEAREST_COUNT];
  int count;
} smma_nearest;

void smma_nearest_start(smma_nearest *nearest, const char *wanted);

/* Adds `name` to the nearest names if `form`, its normal form, is nearer to `wanted` than one of them. */
void smma_nearest_consider(smma_nearest *nearest, const char *name, const char *form);

/* Writes the names, best first: "x, y, z". */
void smma_nearest_list(const smma_nearest *nearest, char *text, size_t size);

/* Writes the names as the end of an error: "; nearest: x, y, z". Omits names of which more than half of the letters must
   change, and names that are much farther away than the best. Writes "" if none remains. */
void smma_nearest_hint(const smma_nearest *nearest, char *text, size_t size);

#endif
