/* Finds the stages of a fused sum: groups of terms that are added first, each aligned to its own greatest exponent.

   The sum of such a group keeps the group's exponent. Therefore +M and -M in one group also remove the ones of all
   other terms, as in a single fused sum. Two ones show the difference. Each of them alone is lost next to M. If both
   are aligned to M, both are lost. But if the two are added first, their sum is twice as large and is not lost. */
#ifndef SMMA_TREE_STAGES_H
#define SMMA_TREE_STAGES_H

#include "tree/ask.h"

/* The stages among the terms of a fused sum. */
typedef struct {
  bool known; /* whether ones vanish next to M at every term; if not, no other member is set except `groups` */
  int group[SMMA_MOST_SUMMANDS]; /* group number of each term. Terms with equal numbers are added first; a term that is
                                    in no group has its own number */
  int groups;                    /* number of groups; equal to the number of terms if there are no stages */
  bool more_within;    /* a term loses more bits if M is at a term of the same group than if M is at other terms */
  bool c_is_apart;     /* the other terms are added before they are aligned with c, which is the first term */
  bool c_counts_less;  /* the other terms lose less if M is at c than if M is at one of them */
  bool c_may_be_apart; /* for c and two or three other terms: d does not show whether `c_is_apart` is true */
  bool uneven;         /* the loss of a term depends on which other terms are large, and no groups explain it */
} smma_stages;

/* Finds the stages among `count` terms by a test of every pair of terms, with M at several other terms. summand[i] is
   the summand that represents term i. Returns false if the unit fails. */
bool smma_find_stages(smma_asker *asker, const smma_summands *summands, const int *summand, int count,
                      smma_stages *stages);

#endif
