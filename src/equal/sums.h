/* Represents what plans compute as expressions, without anything that cannot change a bit. Each expression is stored
   once, so two plans compute the same sum if their expressions are the same. */
#ifndef SMMA_EQUAL_SUMS_H
#define SMMA_EQUAL_SUMS_H

#include "plan/schedule.h"

typedef struct {
  int kind;
  smma_format format; /* the format of its value */
  bool off;           /* its value is never -0 */
} smma_sum_facts;

/* Expressions. Each is a sequence of words, and the sequences are stored one after another. */
typedef struct {
  size_t *word, words, word_room;
  size_t *end; /* for each expression, the end of its words */
  smma_sum_facts *facts;
  size_t count, room;
  size_t *slot, slots; /* hash table of expression numbers + 1; 0: free */
} smma_sums;

void smma_sums_free(smma_sums *sums);

/* Adds the expression that a schedule for K computes with an operation. All operations must have one form, unless all
   are exact. C is +0 unless `c_counts`. Returns false if memory runs out. */
bool smma_sums_add(smma_sums *sums, const smma_operation *operation, const smma_schedule *schedule, size_t k,
                   bool c_counts, size_t *sum);

/* Reports whether all sums of a schedule are exact. */
bool smma_schedule_is_exact(const smma_operation *operation, const smma_schedule *schedule, size_t k);

#endif
