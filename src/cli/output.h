/* What an option of a command writes: a file, which appears when it is complete, or for "-" standard output. */
#ifndef SMMA_CLI_OUTPUT_H
#define SMMA_CLI_OUTPUT_H

#include <stdbool.h>

#include "io/file.h"

/* Whether the name is "-", which is standard output wherever one file is written; "./-" is a file. */
bool smma_is_standard_output(const char *path);

/* Ends the program with one line if it cannot be written. An interruption leaves nothing behind. */
void smma_begin_output(const char *path, const char *option, smma_output *output);

/* Puts the file in place. SMMA_EXIT_EQUAL, or SMMA_EXIT_FAILED after one line. */
int smma_end_output(smma_output *output, const char *option);

/* As if it had never begun; what went to standard output is there. */
void smma_drop_output(smma_output *output);

/* Ends the program if the file could not be written, so that nobody computes for an hour first. Leaves no trace. */
void smma_require_writable(const char *path, const char *option);

/* Ends the program where the name is standard output's, which takes something else. */
void smma_require_file(const char *path, const char *option, const char *taken_by);

#endif
