/* Finds the stages of a fused sum: groups of terms that are added first, each aligned to its own greatest exponent.

   Such a group passes on its exponent. Therefore +M and -M in one group remove the ones of all other terms, as in a
   single fused sum. Two ones show the difference. Each alone is lost next to M, and both are lost if they are
   aligned to M; but if the two are added first, their sum is twice as large and is not lost. */
#ifndef SMMA_TREE_STAGES_H
#define SMMA_TREE_STAGES_H

#include "tree/ask.h"

/* The stages among `count` terms; one summand represents each term. */
typedef struct {
  bool known;                    /* ones vanish next to M; if they do not, nothing can be found out */
  int group[SMMA_MOST_SUMMANDS]; /* group number of each term; terms with equal numbers are added first, a term in no
                                    group has a number of its own */
  int groups;                    /* how many group numbers; `count`: there are no stages */
  bool more_within;              /* next to a term of its own group a term loses more than next to others */
  bool c_is_apart;               /* the other terms are aligned without c, which is the first term */
  bool c_counts_less;            /* M at c causes a smaller loss in the other terms than M at one of them */
  bool c_may_be_apart;           /* for c and two or three terms: d does not show whether c is apart */
  bool uneven; /* the loss of a term depends on which other terms are large, and no groups explain it */
} smma_stages;

/* Tests every pair of terms, with M at several other terms. Returns false if the unit fails. */
bool smma_find_stages(smma_asker *asker, const smma_summands *summands, const int *summand, int count,
                      smma_stages *stages);

#endif
