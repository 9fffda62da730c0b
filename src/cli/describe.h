/* Instructions as text, for the commands show and custom. */
#ifndef SMMA_CLI_DESCRIBE_H
#define SMMA_CLI_DESCRIBE_H

#include "cli/cli.h"
#include "facts/facts.h"

/* Prints the properties of an instruction, one per line. */
void smma_print_instruction(const smma_instruction *instruction);

/* Prints what smma_gpu_datum returned, under the name that the user typed. */
void smma_print_gpu(const smma_datum *gpu, const char *name);

#endif
