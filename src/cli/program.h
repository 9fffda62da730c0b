/* External programs that draw: gnuplot and Graphviz's dot. */
#ifndef SMMA_CLI_PROGRAM_H
#define SMMA_CLI_PROGRAM_H

#include <stdio.h>

#include "host/error.h"

typedef struct {
  const char *name, *option; /* its only option, or NULL */
  const char *package;       /* the package of Debian and Ubuntu */
} smma_program;

extern const smma_program smma_gnuplot, smma_graphviz;

/* Runs the program on a script, which is read from its start, and writes its output to the open file `output`. On
   failure, `error` holds the last line that the program wrote to stderr. */
bool smma_run_program(const smma_program *program, FILE *script, int output, smma_error *error);

/* Reports whether the program can be run; if not, `error` says why. */
bool smma_program_is_there(const smma_program *program, smma_error *error);

/* Like smma_run_program, but writes the file `path`, which appears when it is complete. "-" is standard output. */
bool smma_draw_file(const smma_program *program, FILE *script, const char *path, smma_error *error);

#endif
