/* Describes a rule in one sentence. */
#ifndef SMMA_ISA_SUM_H
#define SMMA_ISA_SUM_H

#include "core/rule.h"

/* Writes how an operation sums its products, such as "16 products and the sum so far, truncated to 25 bits below the
   greatest exponent, rounded toward zero to f32"; returns `text`. docs/algorithms has the formulas. */
#define SMMA_SUM_WORDS_SIZE 1536
const char *smma_sum_words(const smma_operation *operation, char text[SMMA_SUM_WORDS_SIZE]);

#endif
