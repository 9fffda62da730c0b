/* Every rule as a composition (docs/algorithms/composition.md). */
#ifndef SMMA_ISA_COMPOSE_H
#define SMMA_ISA_COMPOSE_H

#include "core/rule.h"
#include "isa/key.h"

/* The composition that computes what the operation does; false if there is none: blocks of GTR-FDPA with an odd number
   of products. */
bool smma_compose(const smma_operation *operation, smma_composition *composition);

/* The rule of the catalogue's algorithms that is this operation's composition; false if none is. */
bool smma_recognise(const smma_operation *operation, smma_rule *rule);

/* Returns the composition that is G-FDPA of k products with results in d. */
smma_composition smma_compose_g_fdpa(const smma_g_fdpa *g, int k, smma_format d);

/* A composition of no steps whose operands and products are as they are. */
smma_composition smma_no_steps(void);

/* How many nodes there are before a step, from 0 on; 0 where a step before it does not fit what it takes. */
int smma_composition_nodes(const smma_composition *composition, int k, int step);

/* Whether a custom unit's text must say the key: its value is not what it is where it is not given. */
bool smma_step_key_is_told(const smma_composition *composition, int k, int step, const smma_key *key);

bool smma_same_composition(const smma_composition *x, const smma_composition *y);

/* Terms of which none is cut. */
#define SMMA_WHOLE_TERMS                                                                 \
  {                                                                                      \
    .least = SMMA_NONE, .zero_exponent = SMMA_NO_EXPONENT, .bits = SMMA_EXACT_ALIGNMENT, \
    .rounding = SMMA_ROUND_TOWARD_ZERO, .drop = SMMA_NONE                                \
  }

/* A step that sums groups of `count` nodes exactly and rounds as IEEE 754 has it, to infinity where it overflows;
   behind the direction what else it says, its join for one. */
#define SMMA_EXACT_STEP(count, format, direction, ...) \
  SMMA_NARROWED_STEP(count, format, direction, SMMA_NONE, 1, __VA_ARGS__)

/* The same of a sum that is rounded to `bits` before, to nearest even. */
#define SMMA_NARROWED_STEP(count, format, direction, bits, subnormals, ...) \
  SMMA_DEALT_STEP(count, count, 1, format, direction, bits, subnormals, __VA_ARGS__)

/* The same of groups from windows of `nodes`, in so many chains. */
#define SMMA_DEALT_STEP(count, nodes, chain_count, format, direction, bits, subnormals, ...)                           \
  {                                                                                                                    \
    .take = count, .turn = count, .window = nodes, .chains = chain_count, .stride = 1, .reference = SMMA_NONE,         \
    .term = SMMA_WHOLE_TERMS, .accumulator = SMMA_WHOLE_TERMS, .width = SMMA_NONE, .narrow_bits = bits,                \
    .narrow_subnormals = subnormals, .output = format, .rounding = direction, .zero_sign = SMMA_ZERO_IEEE, __VA_ARGS__ \
  }

/* The same of all of `count` nodes, rounded to nearest even. */
smma_step smma_exact_step(int count, smma_format output);

#endif
