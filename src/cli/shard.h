/* The option --shard I/N. */
#ifndef SMMA_CLI_SHARD_H
#define SMMA_CLI_SHARD_H

#include <stdint.h>

/* Reads "I/N": sets `*index` to I - 1 and `*count` to N. On an error, ends the program with one line. */
void smma_read_shard(const char *text, uint64_t *index, uint64_t *count);

#endif
