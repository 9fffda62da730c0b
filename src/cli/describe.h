/* Instructions as text, for show and custom. */
#ifndef SMMA_CLI_DESCRIBE_H
#define SMMA_CLI_DESCRIBE_H

#include "cli/cli.h"
#include "facts/facts.h"

/* A line for each thing that is known of it. */
void smma_print_instruction(const smma_instruction *instruction);

#endif
