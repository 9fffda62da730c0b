/* The operands of one dot-product-add on the command line, for dot and explain. */
#ifndef SMMA_CLI_OPERANDS_H
#define SMMA_CLI_OPERANDS_H

#include "cli/cli.h"
#include "rows/vectors.h"

typedef struct {
  const char *a, *b, *c, *scale_a, *scale_b;
  int hex;
} smma_operand_options;

/* Rows of a command's table of options. */
#define SMMA_OPERAND_OPTIONS(o)                                                                                \
  {"a", 'a', POPT_ARG_STRING, &(o).a, 0, "K elements of a", "LIST"},                                           \
      {"b", 'b', POPT_ARG_STRING, &(o).b, 0, "K elements of b", "LIST"},                                       \
      {"c", 'c', POPT_ARG_STRING, &(o).c, 0, "the addend; 0 without it", "X"},                                 \
      {"scale-a", 0, POPT_ARG_STRING, &(o).scale_a, 0, "scale factors of a block-scaled instruction", "LIST"}, \
      {"scale-b", 0, POPT_ARG_STRING, &(o).scale_b, 0, "likewise of b", "LIST"}, {                             \
    "hex", 0, POPT_ARG_NONE, &(o).hex, 0, "all elements are raw encodings in hexadecimal", NULL                \
  }

#define SMMA_OPERAND_DETAILS                                                                       \
  "LIST: elements separated by commas or blanks; VALUE*COUNT repeats one. Values: 0.1, 0x1p-23,\n" \
  "-0, inf, nan; those that the format does not have are rounded to nearest even, which is said.\n"

/* Fills all of the row but d. Ends the program with one line on an error. */
void smma_read_operands(const smma_instruction *instruction, const smma_operand_options *options, smma_row *row);

#endif
