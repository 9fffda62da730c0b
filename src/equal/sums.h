/* What plans compute, as expressions in which everything that cannot change a bit is left out, and each of which stands
   once: two plans whose sums are the same expression compute the same sum. */
#ifndef SMMA_EQUAL_SUMS_H
#define SMMA_EQUAL_SUMS_H

#include "plan/schedule.h"

typedef struct {
  int kind;
  smma_format format; /* that holds it */
  bool off;           /* it is never -0 */
} smma_sum_facts;

/* Expressions; their words lie one behind another. */
typedef struct {
  size_t *word, words, word_room;
  size_t *end; /* of each expression's words */
  smma_sum_facts *facts;
  size_t count, room;
  size_t *slot, slots; /* by hash: number + 1, or 0 */
} smma_sums;

void smma_sums_free(smma_sums *sums);

/* The expression of what a schedule for K computes with an operation. Operations must have one form, unless both are
   exact. C is +0 unless it counts. False without memory. */
bool smma_sums_add(smma_sums *sums, const smma_operation *operation, const smma_schedule *schedule, size_t k,
                   bool c_counts, size_t *sum);

/* Whether all sums of a schedule are exact. */
bool smma_schedule_is_exact(const smma_operation *operation, const smma_schedule *schedule, size_t k);

#endif
