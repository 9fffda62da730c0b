/* Arithmetic on sizes. */
#ifndef SMMA_HOST_COUNT_H
#define SMMA_HOST_COUNT_H

#include <stddef.h>

static inline size_t smma_least(size_t x, size_t y) { return x < y ? x : y; }

/* Returns the number of parts of size y in x; the last part may be smaller. */
static inline size_t smma_divide_up(size_t x, size_t y) { return x / y + (x % y != 0); }

#endif
