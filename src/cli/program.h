/* External programs that draw: gnuplot and Graphviz's dot. */
#ifndef SMMA_CLI_PROGRAM_H
#define SMMA_CLI_PROGRAM_H

#include "cli/output.h"

typedef struct {
  const char *name, *option; /* its only option, or NULL */
  const char *package;       /* the package of Debian and Ubuntu */
} smma_program;

extern const smma_program smma_gnuplot, smma_graphviz;

/* Reports whether the program can be run; if not, `error` says why. */
bool smma_program_is_there(const smma_program *program, smma_error *error);

/* Runs the program on the script that `write` writes, and writes its output to the file `path`, which appears when it
   is complete. "-" is standard output. If the program fails, `error` holds the last line that it wrote to stderr. */
bool smma_draw_file(const smma_program *program, smma_output_writer *write, const void *content, const char *path,
                    smma_error *error);

#endif
