/* `softmma trace`: the request, and the result as text and as a picture. */
#ifndef SMMA_CLI_TRACE_H
#define SMMA_CLI_TRACE_H

#include "cli/targets.h"
#include "trace/trace.h"

typedef struct {
  smma_command_targets targets;
  const char *path[2];
  smma_tensor own[SMMA_MOST_OWN];
  smma_trace_request request;
  smma_trace_result result;
} smma_command_trace_study;

void smma_trace_print(const smma_command_trace_study *x);

/* Prints where the targets diverge, in words and drawn bit by bit. Prints nothing if they do not. */
void smma_trace_print_parting(const smma_trace_result *x);

/* Writes the error over k as an SVG picture. Ends the program with one line if it cannot be written. */
void smma_trace_draw(const smma_command_trace_study *x, const char *path);

#endif
