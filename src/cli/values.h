/* Lists of numbers on the command line. */
#ifndef SMMA_CLI_VALUES_H
#define SMMA_CLI_VALUES_H

#include "cli/cli.h"
#include "rows/datum.h"

/* Reads `count` elements, separated by commas or blanks: decimal or hexadecimal floating-point values, "inf",
   "nan", or, with `hex`, raw encodings. "0*12" stands for twelve zeros. Ends the program on an error; notes values that
   the format does not have, which are rounded as `rounding` says. With `pads`, fewer elements are followed by zeros,
   with a note. */
void smma_read_list(const char *text, const char *option, smma_format format, smma_rounding rounding, bool hex,
                    int count, bool pads, uint64_t *out);

/* Like smma_read_list, but returns any number of elements up to SMMA_LONGEST_LIST. The caller frees them. */
enum { SMMA_LONGEST_LIST = 4096 };
uint64_t *smma_read_any_list(const char *text, const char *option, smma_format format, smma_rounding rounding, bool hex,
                             int *count);

#endif
