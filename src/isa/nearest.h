/* The known names nearest to a misspelt one, by edit distance. */
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

/* Adds `name` to the nearest names if the distance of `form`, its normal form, to `wanted` is small enough. */
void smma_nearest_consider(smma_nearest *nearest, const char *name, const char *form);

/* Writes the names, best first: "x, y, z". */
void smma_nearest_list(const smma_nearest *nearest, char *text, size_t size);

#endif
