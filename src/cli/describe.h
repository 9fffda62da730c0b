/* Instructions, GPUs and formats as text, for the commands list, show and custom. */
#ifndef SMMA_CLI_DESCRIBE_H
#define SMMA_CLI_DESCRIBE_H

#include "cli/cli.h"
#include "facts/facts.h"

/* Writes the parameters of an instruction's rule; for the steps of a composition, only how many there are. */
void smma_shown_parameters(const smma_instruction *instruction, char *text, size_t size);

/* Prints the properties of an instruction, one per line. */
void smma_print_instruction(const smma_instruction *instruction);

/* Prints what smma_gpu_datum returned, under the name that the user typed. */
void smma_print_gpu(const smma_datum *gpu, const char *name);

/* Prints what smma_format_datum or smma_block_format_datum returned, one property per line. */
void smma_print_format(const smma_datum *format);

/* Prints what smma_encoding_datum returned. */
void smma_print_encoding(const smma_datum *encoding);

#endif
