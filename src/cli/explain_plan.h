/* `explain --plan`: one element of a product with a plan, call by call and addition by addition. */
#ifndef SMMA_CLI_EXPLAIN_PLAN_H
#define SMMA_CLI_EXPLAIN_PLAN_H

#include "cli/operands.h"

/* Ends the program with one line where a plan cannot be followed, or takes more than a row has. */
void smma_explain_planned(const char *label, const smma_instruction *instruction, const char *plan,
                          const smma_operand_options *operands, bool json);

#endif
