/* Instructions as text, for the commands show and custom. */
#ifndef SMMA_CLI_DESCRIBE_H
#define SMMA_CLI_DESCRIBE_H

#include "cli/cli.h"
#include "facts/facts.h"

/* Prints the properties of an instruction, one per line. */
void smma_print_instruction(const smma_instruction *instruction);

#endif
