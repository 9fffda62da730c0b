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

/* Keeps `name` if its comparable form is among the nearest to `wanted` so far. */
void smma_nearest_consider(smma_nearest *nearest, const char *name, const char *form);

/* "x, y, z", best first. */
void smma_nearest_list(const smma_nearest *nearest, char *text, size_t size);

#endif
