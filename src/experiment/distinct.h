/* The instructions that an experiment goes through. */
#ifndef SMMA_EXPERIMENT_DISTINCT_H
#define SMMA_EXPERIMENT_DISTINCT_H

#include "isa/catalogue.h"

/* Fills `found`, if not NULL, with the dense instructions of the listed architectures whose A and B have one
   floating-point format, each chain over K once (one rule, formats, products to a sum) for an architecture, and returns
   their number. */
size_t smma_distinct_instructions(const smma_instruction **found);

enum { SMMA_RULE_WORDS = 200 };

/* Model and parameters: "T-FDPA F=25 L=16 rho=RZ-FP32 e_zero=-133". */
const char *smma_rule_in_words(const smma_instruction *instruction, char text[SMMA_RULE_WORDS]);

#endif
