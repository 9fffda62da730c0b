/* A group of processes that work on one task together. */
#ifndef SMMA_IO_GROUP_H
#define SMMA_IO_GROUP_H

#include <stddef.h>

/* Communication within a group. All processes call a function that takes a group, for the same task; `rank` is the
   number of the calling process. `share` copies bytes of rank 0 to all ranks. `send` sends bytes to rank 0. `receive`
   returns on rank 0 the bytes that rank `from` sent; call it in the order of ranks. The caller frees the result, which
   is NULL when memory is short. */
typedef struct {
  size_t rank, ranks;
  void (*share)(void *bytes, size_t size);
  void (*send)(const void *bytes, size_t size);
  void *(*receive)(size_t from, size_t *size);
} smma_group;

#endif
