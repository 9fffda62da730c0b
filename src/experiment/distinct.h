/* Lists the instructions that an experiment covers. */
#ifndef SMMA_EXPERIMENT_DISTINCT_H
#define SMMA_EXPERIMENT_DISTINCT_H

#include "isa/catalogue.h"

/* Fills `found`, if not NULL, and returns the number of instructions. They are the dense instructions of the listed
   architectures whose A and B have the same floating-point format. Instructions with the same chain over K (rule,
   formats, products per sum) appear once per architecture. */
size_t smma_distinct_instructions(const smma_instruction **found);

enum { SMMA_RULE_WORDS = 200 };

/* Describes model and parameters, for example "T-FDPA F=25 L=16 rho=RZ-FP32 e_zero=-133". For a composition with steps,
   returns only the rule's name, because its parameters contain commas. */
const char *smma_rule_in_words(const smma_instruction *instruction, char text[SMMA_RULE_WORDS]);

#endif
