/* Operands of one dot-product-add on the command line, for the commands dot and explain. The functions return false
   with an error if an option is missing or wrong. */
#ifndef SMMA_CLI_OPERANDS_H
#define SMMA_CLI_OPERANDS_H

#include "cli/cli.h"
#include "cli/target.h"
#include "rows/list.h"
#include "rows/vectors.h"

typedef struct {
  const char *a, *b, *c, *scale_a, *scale_b, *round_in;
  int hex;
} smma_operand_options;

/* Entries for a command's table of options. */
#define SMMA_OPERAND_OPTIONS(o)                                                                                        \
  {"a", 'a', POPT_ARG_STRING, &(o).a, 0, "K elements of a", "LIST"},                                                   \
      {"b", 'b', POPT_ARG_STRING, &(o).b, 0, "K elements of b", "LIST"},                                               \
      {"c", 'c', POPT_ARG_STRING, &(o).c, 0, "the addend (default: 0)", "X"},                                          \
      {"scale-a", 0, POPT_ARG_STRING, &(o).scale_a, 0, "the scale factors of a that a block-scaled instruction takes", \
       "LIST"},                                                                                                        \
      {"scale-b", 0, POPT_ARG_STRING, &(o).scale_b, 0, "scale factors of b", "LIST"},                                  \
      SMMA_ROUND_IN_OPTION(&(o).round_in, "MODE"), {                                                                   \
    "hex", 0, POPT_ARG_NONE, &(o).hex, 0, "all elements are encodings in hexadecimal", NULL                            \
  }

#define SMMA_OPERAND_DETAILS                                                                               \
  "LIST: elements separated by commas or blanks; VALUE*COUNT repeats a value. Values: 0.1, 0x1p-23,\n"     \
  "-0, inf, nan. Values that the format does not have are rounded, with a note. Missing elements are 0.\n" \
  "Lists may also be arguments: softmma dot H100:f16 1.5,2 3,4 0.25\n"

/* Returns the form of an operand's list. */
smma_list_form smma_operand_form(const smma_operand_options *options, const char *option, smma_format format,
                                 smma_rounding rounding);

/* Takes arguments, followed by NULL, as a, b and c. Fails for other arguments, and if options give a, b or the same. */
bool smma_take_operand_arguments(const char **arguments, smma_operand_options *options, smma_error *error);

/* Finds how a and b are rounded. `plan` may be NULL. */
bool smma_operands_rounding(const smma_instruction *instruction, const smma_operand_options *options,
                            const smma_target_plan *plan, smma_target_rounding *rounding, smma_error *error);

/* Fills all of `row` except d. */
bool smma_read_operands(const smma_instruction *instruction, const smma_operand_options *options, smma_row *row,
                        smma_error *error);

#endif
