/* `softmma trace`: the request, and the result as text and as a picture. */
#ifndef SMMA_CLI_TRACE_H
#define SMMA_CLI_TRACE_H

#include "cli/matrices.h"
#include "cli/target.h"
#include "trace/trace.h"

typedef struct {
  smma_prepared_targets targets;
  const char *path[2];
  smma_own_files own;
  smma_trace_request request;
  smma_trace_result result;
} smma_command_trace_study;

/* Prints the result. Fails if memory runs out. */
bool smma_trace_print(const smma_command_trace_study *x, smma_error *error);

/* Prints where the targets diverge, in words and drawn bit by bit. Prints nothing if they do not. */
void smma_trace_print_divergence(const smma_trace_result *x);

#endif
