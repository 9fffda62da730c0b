/* `softmma trace`: what it is asked for, and the text and the picture of what it has found. */
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

/* Where targets part, in words and drawn bit by bit; nothing where they do not. */
void smma_trace_print_parting(const smma_trace_result *x);

/* The error over k as an SVG picture; ends the program with one line if it cannot be written. */
void smma_trace_draw(const smma_command_trace_study *x, const char *path);

#endif
