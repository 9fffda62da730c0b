/* Test vectors in the output of commands, and options of commands that generate test vectors. */
#ifndef SMMA_CLI_ROW_H
#define SMMA_CLI_ROW_H

#include "campaign/rows.h"
#include "cli/cli.h"
#include "rows/flags.h"
#include "rows/vectors.h"

/* Prints the command that computes the test vector, without a newline:
   "softmma dot --on ... --hex --explain --a '...' --b '...' --c '...'". */
void smma_print_dot_command(FILE *stream, const smma_instruction *instruction, const smma_row *row);

/* Prints the drawing of `dot --explain`, as wide as the terminal. */
void smma_print_explanation(const smma_instruction *instruction, const smma_row *row);

/* Prints the drawing, and below it the bits of both units' results with the differences marked. row->d is the result of
   `unit`, and `expected` that of `against`. */
void smma_print_mismatch(const smma_instruction *instruction, const smma_row *row, const char *unit,
                         const char *against, uint64_t expected);

/* Returns the kind of test vectors that --kind names. Ends the program with the names of all kinds if the name is
   unknown. */
smma_row_kind smma_require_kind(const char *text);

/* Returns the recipe for a campaign's test vectors: the kind of --kind, or the default mixture if `kind` is NULL. */
smma_campaign_recipe smma_require_recipe(const char *kind, long long seed);

/* An entry for a table of options: the letter that --kind had. */
#define SMMA_FORMER_KIND(text) \
  { NULL, 'k', POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, (text), 0, "--kind", NULL }

#define SMMA_KIND_OPTION(text)                                                                                      \
  {"kind",                                                                                                          \
   0,                                                                                                               \
   POPT_ARG_STRING,                                                                                                 \
   (text),                                                                                                          \
   0,                                                                                                               \
   "only test vectors of this kind, as in 'vectors gen' (default: those of --cover there, then all kinds in turn)", \
   "KIND"},                                                                                                         \
      SMMA_FORMER_KIND(text)

/* Entries for a table of options, and the value of --tininess. Ends the program if --tininess has another value, or
   stands without --flags. */
#define SMMA_FLAGS_OPTIONS(flags, tininess, text)                                                                 \
  {"flags", 0, POPT_ARG_NONE, (flags), 0, (text), NULL}, {                                                        \
    "tininess", 0, POPT_ARG_STRING, (tininess), 0,                                                                \
        "with --flags: results below the least normal number are tiny 'before' or 'after' rounding (default: as " \
        "the unit: before on Arm and Power, after on others)",                                                    \
        "WHEN"                                                                                                    \
  }
smma_tininess smma_require_tininess(int flags, const char *text);

/* Returns the format of vector files that --format names, or text if the option is not given (NULL). Ends the program
   if the name is unknown. */
smma_vector_format smma_require_vector_format(const char *text);

/* An entry for a table of options. `usual` is the text of the default, or "". */
#define SMMA_VECTOR_FORMAT_OPTION(text, usual) \
  { "format", 0, POPT_ARG_STRING, text, 0, "text, binary or readmemh ($readmemh of SystemVerilog)" usual, "FORMAT" }

#endif
