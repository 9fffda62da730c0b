/* One row of operands in commands' output. */
#ifndef SMMA_CLI_ROW_H
#define SMMA_CLI_ROW_H

#include "campaign/rows.h"
#include "cli/cli.h"
#include "rows/vectors.h"

/* "softmma dot --on ... --hex --explain --a '...' --b '...' --c '...'", which computes the row; no line's end. */
void smma_print_dot_command(FILE *stream, const smma_instruction *instruction, const smma_row *row);

/* The drawing of `dot --explain`, as wide as the terminal. */
void smma_print_explanation(const smma_instruction *instruction, const smma_row *row);

/* The drawing, and below it what both units returned, bit by bit with the differences marked; row->d is `unit`'s. */
void smma_print_mismatch(const smma_instruction *instruction, const smma_row *row, const char *unit,
                         const char *against, uint64_t expected);

/* Ends the program with the names of the kinds if there is none of this name. The option is --kind. */
smma_row_kind smma_require_kind(const char *text);

/* The rows of a campaign: of --kind, or the best if that is NULL. */
smma_campaign_recipe smma_require_recipe(const char *kind, long long seed);

#define SMMA_KIND_OPTION(text)                                                                               \
  {                                                                                                          \
    "kind", 'k', POPT_ARG_STRING, (text), 0,                                                                 \
        "rows of this kind only, as in gen; without it those of gen --cover, then of all kinds in turn", "K" \
  }

/* The same of the formats of vector files; text where there is no name. The option is --format. */
smma_vector_format smma_require_vector_format(const char *text);

/* A row of options; `usual` says which format there is without it, if any. */
#define SMMA_VECTOR_FORMAT_OPTION(text, usual) \
  { "format", 0, POPT_ARG_STRING, text, 0, "text, binary or readmemh ($readmemh of SystemVerilog)" usual, "FORMAT" }

#endif
