/* Other programs that draw: gnuplot and Graphviz's dot. */
#ifndef SMMA_CLI_PROGRAM_H
#define SMMA_CLI_PROGRAM_H

#include <stdio.h>

#include "host/error.h"

typedef struct {
  const char *name, *option; /* its only one; NULL: none */
  const char *package;       /* of Debian and Ubuntu */
} smma_program;

extern const smma_program smma_gnuplot, smma_graphviz;

/* Runs it on a script, which is read from its start, into an open file. The last line of what it complains of is in the
   error. */
bool smma_run_program(const smma_program *program, FILE *script, int output, smma_error *error);

/* Whether it can be run. */
bool smma_program_is_there(const smma_program *program, smma_error *error);

/* The same into a file of that name, which appears when it is complete; "-" is standard output. */
bool smma_draw_file(const smma_program *program, FILE *script, const char *path, smma_error *error);

#endif
