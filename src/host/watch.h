/* Callbacks of long work. */
#ifndef SMMA_HOST_WATCH_H
#define SMMA_HOST_WATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Receives how much is done, and how much there is in all; 0 if that is unknown. Returns true to end the work early. */
typedef bool smma_watcher(size_t done, size_t all, void *context);

/* Work in several passes over the same number of parts. */
typedef struct {
  smma_watcher *watch; /* receives the parts of all passes; may be NULL */
  void *context;
  size_t done, all; /* numbers of passes */
  bool stopped;
} smma_passes;

/* A smma_watcher of one pass, whose context is a smma_passes. */
static inline bool smma_watch_pass(size_t parts_done, size_t parts, void *passes) {
  smma_passes *p = (smma_passes *)passes;
  if (p->watch && p->watch(p->done * parts + parts_done, p->all * parts, p->context)) p->stopped = true;
  return p->stopped;
}

#endif
