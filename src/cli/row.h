/* Test vectors in the output of commands, and options of commands that generate test vectors. All functions that take
   an error fill it if they fail. */
#ifndef SMMA_CLI_ROW_H
#define SMMA_CLI_ROW_H

#include "campaign/rows.h"
#include "cli/cli.h"
#include "rows/datum.h"
#include "rows/flags.h"
#include "rows/replay.h"
#include "rows/vectors.h"

/* Prints the drawing of `dot --explain`, as wide as the terminal. Fails if memory runs out. */
bool smma_print_explanation(const smma_instruction *instruction, const smma_row *row, smma_error *error);

/* Reads the kind of test vectors that --kind names; a note says which kind another name stands for. If it is unknown,
   the error has the names of all kinds. */
bool smma_read_kind(const char *text, smma_row_kind *kind, smma_error *error);

/* Reads --kind, unless `kind_text` is NULL, and the format of the file to write. One error names the faults of both. */
bool smma_read_kind_and_format(const char *kind_text, const char *format_text, const char *path, smma_row_kind *kind,
                               smma_vector_format *format, smma_error *error);

/* Makes the recipe for a campaign's test vectors: the kind of --kind, or the default mixture if `kind` is NULL. */
bool smma_read_recipe(const char *kind, long long seed, smma_campaign_recipe *recipe, smma_error *error);

/* An entry for a table of options: -k, the former letter of --kind. */
#define SMMA_FORMER_KIND(text) \
  { NULL, 'k', POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, (text), 0, "--kind", NULL }

#define SMMA_KIND_OPTION(text)                                                                                        \
  {"kind", 0, POPT_ARG_STRING, (text), 0, "as in 'vectors gen' (default: those of --cover, then all kinds)", "KIND"}, \
      SMMA_FORMER_KIND(text)

/* Entries for a table of options. */
#define SMMA_FLAGS_OPTIONS(flags, tininess, text)                                                                 \
  {"flags", 0, POPT_ARG_NONE, (flags), 0, (text), NULL}, {                                                        \
    "tininess", 0, POPT_ARG_STRING, (tininess), 0,                                                                \
        "with --flags: results below the least normal number are tiny 'before' or 'after' rounding (default: as " \
        "the unit: before on Arm, Apple and Power, after on others)",                                             \
        "WHEN"                                                                                                    \
  }

/* Reads the value of --tininess. Fails if the value is unknown, or if --flags is missing. */
bool smma_read_tininess(int flags, const char *text, smma_tininess *tininess, smma_error *error);

/* Reads the format of --format or, if it is NULL, that of the file to write, by smma_vector_format_of_file. */
bool smma_read_vector_format(const char *text, const char *path, smma_vector_format *format, smma_error *error);

/* An entry for a table of options. `usual` is the text of the default, or "". */
#define SMMA_VECTOR_FORMAT_OPTION(text, usual) \
  { "format", 0, POPT_ARG_STRING, text, 0, "text, binary, readmemh ($readmemh of SystemVerilog), csv, json or jsonl" usual, "FORMAT" }

#endif
