/* Instructions as JSON and as text, for list and show. */
#ifndef SMMA_CLI_DESCRIBE_H
#define SMMA_CLI_DESCRIBE_H

#include "cli/cli.h"

/* {"arch", "name", "aliases", "m", "n", "k", "a", "b", "c", "d", "scale", "model", "parameters", "evidence",
   "questions"}; scale is null, or "ue8m0 per 32". */
json_t *smma_instruction_json(const smma_instruction *instruction);

/* "ue8m0 per 32", or empty. */
const char *smma_scale_text(const smma_instruction *instruction, char text[32]);

/* A line for each thing that is known of it. */
void smma_print_instruction(const smma_instruction *instruction);

#endif
