/* Ranks: processes that a launcher (mpirun, srun) has started to do one work together. Without it there is one, rank 0.
 */
#ifndef SMMA_CLUSTER_RANKS_H
#define SMMA_CLUSTER_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "host/error.h"

/* Whether a launcher has started several: asks the environment alone. */
bool smma_ranks_launched(void);

/* Loads the module that speaks MPI and begins; false with one line. Child processes do not find a launcher. */
bool smma_ranks_start(smma_error *error);

/* The MPI library that the module is linked with, "Open MPI v4.1.4"; NULL with one line without the module. */
const char *smma_ranks_library(smma_error *error);

size_t smma_rank(void), smma_ranks(void);

/* Of module.h; of one rank they do nothing. */
void smma_ranks_send(const void *bytes, size_t size);
void *smma_ranks_receive(size_t from, size_t *size);
void smma_ranks_share(void *bytes, size_t size);
void smma_ranks_wait(void);
void smma_ranks_end(void);

/* For who is about to fail: what fails everywhere rank 0 tells, and ends the others before they return from here. */
void smma_ranks_defer(void);

/* Ends all ranks; of one rank returns. */
void smma_ranks_abort(int status);

#endif
