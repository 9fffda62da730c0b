/* --shard I/N. */
#ifndef SMMA_CLI_SHARD_H
#define SMMA_CLI_SHARD_H

#include <stdint.h>

/* "I/N": `*index` from 0. Ends the program with one line where it is not that. */
void smma_read_shard(const char *text, uint64_t *index, uint64_t *count);

#endif
