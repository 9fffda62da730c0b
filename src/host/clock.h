/* Elapsed seconds, and the date. */
#ifndef SMMA_HOST_CLOCK_H
#define SMMA_HOST_CLOCK_H

#include <time.h>

/* Returns the seconds since an arbitrary start, on a clock that nobody sets. */
static inline double smma_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Writes the time in UTC, "2026-01-31T23:59:59Z"; returns `text`. */
static inline const char *smma_utc_text(char text[32]) {
  const time_t now = time(NULL);
  struct tm utc;
  strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  return text;
}

#endif
