/* Test vectors and results as text: the command that computes a test vector again, and lines with numbers. */
#ifndef SMMA_ROWS_REPLAY_H
#define SMMA_ROWS_REPLAY_H

#include <stdio.h>

#include "core/row.h"
#include "isa/instruction.h"

/* Writes a text as one word of a shell's command line: in single quotes, unless all its characters are plain. */
const char *smma_shell_word(const char *text, char *to, size_t size);

/* Prints the command, without a newline: "softmma dot --on ... --hex --explain --a '...' --b '...' --c '...'". */
void smma_print_dot_command(FILE *stream, const smma_instruction *instruction, const smma_row *row);

/* Prints a line with a number: its label in at least `width` columns, its encoding and its value. */
void smma_print_value(FILE *stream, int indent, int width, const char *label, smma_format format, uint64_t d);

#endif
