/* Callbacks of long work. */
#ifndef SMMA_HOST_WATCH_H
#define SMMA_HOST_WATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Receives how much is done, and how much there is in all; 0 if that is unknown. Returns true to end the work early. */
typedef bool smma_watcher(size_t done, size_t all, void *context);

#endif
