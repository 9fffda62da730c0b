/* Reads counts as people write them; all commands use this reader. */
#ifndef SMMA_IO_COUNT_H
#define SMMA_IO_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "host/error.h"

/* What a count is, for error messages such as "'many' is no ...". */
#define SMMA_COUNT_WORDS "whole number, as 1000000, 1_000_000 or 1e6"

/* Reads a whole number: an optional minus sign, digits that underscores may separate, an optional fraction and decimal
   exponent ("1000000", "1_000_000", "1e6", "2.5e3"). Returns false if the value is not a whole number or its magnitude
   is not below 2^63. */
bool smma_read_count(const char *text, long long *count);

/* Reads the value "I/N" of --shard, which means part I of N. Sets `*index` to I - 1 and `*count` to N. */
enum { SMMA_MOST_SHARDS = 1 << 20 };
bool smma_read_shard(const char *text, uint64_t *index, uint64_t *count, smma_error *error);

#endif
