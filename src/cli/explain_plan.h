/* `explain --plan`: one element of a product with a plan, call by call and addition by addition. */
#ifndef SMMA_CLI_EXPLAIN_PLAN_H
#define SMMA_CLI_EXPLAIN_PLAN_H

#include "cli/operands.h"

/* Explains one element. Ends the program with one line if the operands cannot follow the plan, or K is too large. */
void smma_explain_planned(const char *label, const smma_instruction *instruction, const char *plan,
                          const smma_operand_options *operands, bool json);

#endif
