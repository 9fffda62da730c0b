/* A rule in one sentence, and what a GPU's matrix unit computes, one line for each kind of sum. */
#ifndef SMMA_FACTS_SUM_H
#define SMMA_FACTS_SUM_H

#include "datum/datum.h"
#include "isa/catalogue.h"

/* Writes how the instruction sums its products, such as "16 products and the sum so far, truncated to 25 bits below the
   greatest exponent, rounded toward zero to f32"; returns `text`. docs/algorithms has the formulas. */
#define SMMA_SUM_WORDS_SIZE 256
const char *smma_sum_words(const smma_instruction *instruction, char text[SMMA_SUM_WORDS_SIZE]);

/* Returns {"arch", "vendor", "title", "instructions", "sums", "evidence", "questions"}. "sums" is a list of {"inputs",
   "d", "sum", "instruction", "instructions"}: the formats of A and B of all instructions that sum in this way, the
   format of D, the first of these instructions, and their number. */
smma_datum *smma_gpu_datum(smma_arch_id arch);

#endif
