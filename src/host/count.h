/* Arithmetic on sizes and numbers of things, and the plural of their names. */
#ifndef SMMA_HOST_COUNT_H
#define SMMA_HOST_COUNT_H

#include <stddef.h>

static inline size_t smma_least(size_t x, size_t y) { return x < y ? x : y; }
static inline size_t smma_most(size_t x, size_t y) { return x > y ? x : y; }

/* Returns the number of parts of size y in x; the last part may be smaller. */
static inline size_t smma_divide_up(size_t x, size_t y) { return x / y + (x % y != 0); }

/* Returns the end of a noun behind this number: "s", or "" for 1. */
static inline const char *smma_plural(size_t count) { return count == 1 ? "" : "s"; }

#endif
