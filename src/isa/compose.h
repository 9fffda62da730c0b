/* Expresses every rule as a composition (docs/algorithms/composition.md). */
#ifndef SMMA_ISA_COMPOSE_H
#define SMMA_ISA_COMPOSE_H

#include "core/rule.h"
#include "isa/key.h"

/* Builds the composition that computes the operation. Returns false if the operation is not a composition: blocks of
   GTR-FDPA with an odd number of products. */
bool smma_compose(const smma_operation *operation, smma_composition *composition);

/* Finds the rule, among the catalogue's algorithms, that is the same as this operation's composition. Returns false if
   no rule is. */
bool smma_recognise(const smma_operation *operation, smma_rule *rule);

/* Returns the composition for G-FDPA of k products with results in d. */
smma_composition smma_compose_g_fdpa(const smma_g_fdpa *g, int k, smma_format d);

/* Returns a composition without steps, whose operands and products are unchanged. */
smma_composition smma_no_steps(void);

/* Returns the number of nodes before a step (numbered from 0), or 0 if an earlier step's number of nodes is not
   divisible as it requires. */
int smma_composition_nodes(const smma_composition *composition, int k, int step);

/* Reports whether a custom unit's text must contain the key, because its value differs from the default. */
bool smma_step_key_is_told(const smma_composition *composition, int k, int step, const smma_key *key);

bool smma_same_composition(const smma_composition *x, const smma_composition *y);

/* Terms that are not truncated. */
#define SMMA_WHOLE_TERMS                                                                 \
  {                                                                                      \
    .least = SMMA_NONE, .zero_exponent = SMMA_NO_EXPONENT, .bits = SMMA_EXACT_ALIGNMENT, \
    .rounding = SMMA_ROUND_TOWARD_ZERO, .drop = SMMA_NONE                                \
  }

/* A step that sums groups of `count` nodes exactly and rounds as IEEE 754 requires, with overflow to infinity. Further
   members, such as the join, may follow the direction. */
#define SMMA_EXACT_STEP(count, format, direction, ...) \
  SMMA_NARROWED_STEP(count, format, direction, SMMA_NONE, 1, __VA_ARGS__)

/* Like SMMA_EXACT_STEP, with the sum first rounded to `bits` bits, to nearest even. */
#define SMMA_NARROWED_STEP(count, format, direction, bits, subnormals, ...) \
  SMMA_DEALT_STEP(count, count, 1, format, direction, bits, subnormals, __VA_ARGS__)

/* Like SMMA_NARROWED_STEP, with groups dealt from windows of `nodes` nodes, in `chain_count` chains. */
#define SMMA_DEALT_STEP(count, nodes, chain_count, format, direction, bits, subnormals, ...)                           \
  {                                                                                                                    \
    .take = count, .turn = count, .window = nodes, .chains = chain_count, .stride = 1, .reference = SMMA_NONE,         \
    .reference_multiple = 1, .least_reference = SMMA_NONE, .term = SMMA_WHOLE_TERMS, .accumulator = SMMA_WHOLE_TERMS,  \
    .width = SMMA_NONE, .narrow_bits = bits, .narrow_subnormals = subnormals, .output = format, .rounding = direction, \
    .zero_sign = SMMA_ZERO_IEEE, __VA_ARGS__                                                                           \
  }

/* Returns a step that sums all `count` nodes exactly and rounds to nearest even. */
smma_step smma_exact_step(int count, smma_format output);

#endif
