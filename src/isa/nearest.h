/* Finds the known names that are nearest to a misspelt name, by edit distance. Names that contain it, or are contained
   in it, count as nearest. */
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

/* Adds `name`, whose normal form is `form`, to the nearest names if it is nearer than one of those found so far. */
void smma_nearest_consider(smma_nearest *nearest, const char *name, const char *form);

/* Writes the names found, the nearest first: "x, y, z". */
void smma_nearest_list(const smma_nearest *nearest, char *text, size_t size);

/* Writes the names found as the end of an error: "; nearest: x, y, z". Omits names of which more than half of the
   letters differ, and names that are much less near than the nearest. Writes an empty text if no name remains. */
void smma_nearest_hint(const smma_nearest *nearest, char *text, size_t size);

#endif
