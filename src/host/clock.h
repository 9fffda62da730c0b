/* Time that passes. */
#ifndef SMMA_HOST_CLOCK_H
#define SMMA_HOST_CLOCK_H

#include <time.h>

/* Returns seconds since some moment; no setting of the clock changes them. */
static inline double smma_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
