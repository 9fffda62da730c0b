/* The stages of a fused sum: groups of terms that are added first, each aligned to its own greatest exponent.

   Such a group hands on its exponent, so that +M and -M in it take the ones of all other terms with them, as in one
   fused sum. Two ones show it. Each alone is lost beside M, and so are both if they are aligned to M; but where they
   are added first, their sum is twice as great and is not lost. */
#ifndef SMMA_TREE_STAGES_H
#define SMMA_TREE_STAGES_H

#include "tree/ask.h"

/* Of `count` terms, each with a summand that stands for it. */
typedef struct {
  bool known;                    /* ones vanish beside M; else there is nothing to ask by */
  int group[SMMA_MOST_SUMMANDS]; /* terms of one number are added first; a term in no group has a number of its own */
  int groups;                    /* how many numbers; `count`: there are no stages */
  bool more_within;              /* beside a term of its own group a term loses more than beside others */
  bool c_is_apart;               /* the other terms are aligned without c, which is the first term */
  bool c_counts_less;            /* M at c takes less from the other terms than M at one of them */
  bool c_may_be_apart;           /* of c and two or three terms, where d does not tell */
  bool uneven; /* what a term keeps depends on which other terms are great, and no groups explain it */
} smma_stages;

/* Asks every pair of terms, with M at several others. False if the unit fails. */
bool smma_find_stages(smma_asker *asker, const smma_summands *summands, const int *summand, int count,
                      smma_stages *stages);

#endif
