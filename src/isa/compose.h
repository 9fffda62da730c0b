/* Expresses every rule as a composition (docs/algorithms/composition.md). */
#ifndef SMMA_ISA_COMPOSE_H
#define SMMA_ISA_COMPOSE_H

#include "core/rule.h"
#include "isa/key.h"

/* Builds the composition that computes the operation. Returns false if there is none, which is so for blocks of
   GTR-FDPA with an odd number of products. */
bool smma_compose(const smma_operation *operation, smma_composition *composition);

/* Finds a rule with another algorithm than SMMA_COMPOSITION that computes the same as this operation's composition.
   Returns false if there is none. */
bool smma_recognise(const smma_operation *operation, smma_rule *rule);

/* Returns the composition for G-FDPA of k products with results in d. */
smma_composition smma_compose_g_fdpa(const smma_g_fdpa *g, int k, smma_format d);

/* Returns a composition without steps, whose operands and products are unchanged. */
smma_composition smma_no_steps(void);

/* Returns the number of nodes (products or sums) that step number `step`, from 0, adds; 0 if an earlier step cannot
   divide its nodes into groups. */
int smma_composition_nodes(const smma_composition *composition, int k, int step);

/* Reports whether the text of a custom unit must contain this key of a step, because the value differs from the
   default. */
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

/* A step like SMMA_EXACT_STEP whose sums are first rounded to `bits` fraction bits, to nearest even. If `subnormals` is
   1, this first rounding is no finer than the spacing of the output's subnormals. */
#define SMMA_NARROWED_STEP(count, format, direction, bits, subnormals, ...) \
  SMMA_DEALT_STEP(count, count, 1, format, direction, bits, subnormals, __VA_ARGS__)

/* A step like SMMA_NARROWED_STEP whose groups are dealt from windows of `nodes` nodes and form `chain_count` chains. */
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
