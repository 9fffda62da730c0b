/* What a module gives that speaks MPI: few functions, so that neither the library nor the command is linked with one.
 */
#ifndef SMMA_CLUSTER_MODULE_H
#define SMMA_CLUSTER_MODULE_H

#include <stdbool.h>
#include <stddef.h>

enum { SMMA_RANKS_ABI = 1 };

/* All but `receive` are called by every rank. Waiting takes no processor time that others could use. An error of MPI
   itself ends all ranks, as is its default. */
typedef struct {
  unsigned abi; /* SMMA_RANKS_ABI */
  bool (*start)(size_t *rank, size_t *ranks);
  void (*send)(const void *bytes, size_t size); /* to rank 0 */
  void *(*receive)(size_t from, size_t *size);  /* by rank 0; to be freed; NULL without memory */
  void (*share)(void *bytes, size_t size);      /* those of rank 0 become all ranks' */
  void (*wait)(void);                           /* until all ranks wait */
  void (*abort)(int status);                    /* ends all ranks */
  void (*end)(void);
  const char *(*version)(void); /* of the MPI library, before start, too */
} smma_ranks_module;

/* Exported by the module as smma_ranks_of_module. */
typedef const smma_ranks_module *smma_ranks_getter(void);

#endif
