/* Interface of the module that uses MPI. It has few functions, so that neither the library nor the command is linked
   with MPI. */
#ifndef SMMA_CLUSTER_MODULE_H
#define SMMA_CLUSTER_MODULE_H

#include <stdbool.h>
#include <stddef.h>

enum { SMMA_RANKS_ABI = 1 };

/* Functions of the module. Every rank must call start, share, wait and end. Waiting ranks leave their processor to
   others. An error in MPI itself ends all ranks, which is MPI's default. */
typedef struct {
  unsigned abi; /* SMMA_RANKS_ABI */
  bool (*start)(size_t *rank, size_t *ranks);
  void (*send)(const void *bytes, size_t size); /* sends to rank 0 */
  /* Called in rank 0: returns bytes that the caller frees, or NULL if memory runs out. */
  void *(*receive)(size_t from, size_t *size);
  void (*share)(void *bytes, size_t size); /* copies rank 0's bytes to all ranks */
  void (*wait)(void);                      /* waits until all ranks wait */
  void (*abort)(int status);               /* ends all ranks */
  void (*end)(void);
  const char *(*version)(void); /* describes the MPI library; may be called before start */
} smma_ranks_module;

/* Type of smma_ranks_of_module, the function that the module exports. */
typedef const smma_ranks_module *smma_ranks_getter(void);

#endif
