/* Counts as people write them: the one reader of all commands. */
#ifndef SMMA_IO_COUNT_H
#define SMMA_IO_COUNT_H

#include <stdbool.h>

/* For messages: "'many' is no ...". */
#define SMMA_COUNT_WORDS "whole number, as 1000000, 1_000_000 or 1e6"

/* Digits, between which underscores may stand, a fraction and a decimal exponent, a minus sign before: "1000000",
   "1_000_000", "1e6", "2.5e3". False if the text is no whole number, or not below 2^63. */
bool smma_read_count(const char *text, long long *count);

#endif
