/* The command that computes a test vector again. */
#ifndef SMMA_ROWS_REPLAY_H
#define SMMA_ROWS_REPLAY_H

#include <stdio.h>

#include "core/row.h"
#include "isa/instruction.h"

/* Prints the command, without a newline: "softmma dot --on ... --hex --explain --a '...' --b '...' --c '...'". */
void smma_print_dot_command(FILE *stream, const smma_instruction *instruction, const smma_row *row);

#endif
