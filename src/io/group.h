/* Processes that do one work together. */
#ifndef SMMA_IO_GROUP_H
#define SMMA_IO_GROUP_H

#include <stddef.h>

/* All processes call a function that takes a group, for the same work; `rank` is this one's number. Bytes of rank 0
   become all ranks' (share), or go to rank 0 (send, and receive in the ranks' order, whose result is to be freed; NULL
   without memory). */
typedef struct {
  size_t rank, ranks;
  void (*share)(void *bytes, size_t size);
  void (*send)(const void *bytes, size_t size);
  void *(*receive)(size_t from, size_t *size);
} smma_group;

#endif
