/* Ranks: processes that a launcher (mpirun, srun) has started to work together. Without a launcher there is only
   rank 0. */
#ifndef SMMA_CLUSTER_RANKS_H
#define SMMA_CLUSTER_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "host/error.h"
#include "io/group.h"

/* Reports whether a launcher has started several ranks; looks only at the environment. */
bool smma_ranks_launched(void);

/* Loads the MPI module and starts it. Returns false with a message if that fails. Removes the launcher's variables, so
   child processes see no launcher. */
bool smma_ranks_start(smma_error *error);

/* Returns the name of the MPI library that the module is linked with, for example "Open MPI v4.1.4". Returns NULL with
   a message if the module is missing. */
const char *smma_ranks_library(smma_error *error);

size_t smma_rank(void), smma_ranks(void);

/* Call the module's functions (see module.h); share, wait and end do nothing without other ranks. */
void smma_ranks_send(const void *bytes, size_t size);
void *smma_ranks_receive(size_t from, size_t *size);
void smma_ranks_share(void *bytes, size_t size);
void smma_ranks_wait(void);
void smma_ranks_end(void);

/* Returns all ranks as a group. */
smma_group smma_ranks_group(void);

/* Delays a rank other than 0 that is about to fail: if all ranks fail, rank 0 reports the error and ends the others
   during the delay. */
void smma_ranks_defer(void);

/* Ends all ranks; returns if there is only one. */
void smma_ranks_abort(int status);

#endif
