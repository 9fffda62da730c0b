/* The catalogue's data: instructions, their rules, and what those rest on. */
#ifndef SMMA_ISA_INSTRUCTION_H
#define SMMA_ISA_INSTRUCTION_H

#include <stddef.h>

#include "isa/type.h"

/* Each also as sparse instructions have it: on the selected products, which is assumed. */
#define SMMA_RULE(name, ...) extern const smma_named_rule smma_rule_##name, smma_sparse_rule_##name;
#include "isa/rules.def"
#undef SMMA_RULE

/* One architecture's rows, in order of preference: where several instructions have the formats that a user asks
   for, the first is taken. */
struct smma_instruction_table {
  const smma_instruction *row;
  size_t count;
};

/* The row of that index. The single header, whose rows stand for several instructions, makes it in `room`. */
typedef char smma_row_room;
static inline const smma_instruction *smma_row_at(const smma_instruction_table *table, size_t index,
                                                  smma_row_room *room) {
  (void)room;
  return &table->row[index];
}

extern const smma_architecture smma_architectures[SMMA_ARCH_COUNT];

#define SMMA_ARCHITECTURE(symbol, ...) extern const smma_instruction_table smma_table_##symbol;
#include "isa/architectures.def"
#undef SMMA_ARCHITECTURE

/* "hopper"; of a custom unit its origin. */
const char *smma_arch_name(const smma_instruction *instruction);

/* What the core needs of an instruction. */
smma_operation smma_operation_of(const smma_instruction *instruction);

/* The same into what need not be zero; of the rule only what its algorithm has. Compositions are long: this is for
   where nanoseconds count. */
void smma_set_operation(smma_operation *operation, const smma_instruction *instruction);

/* Whether two rules have the same algorithm and parameters. */
bool smma_same_rule(const smma_rule *x, const smma_rule *y);

/* Whether two instructions compute the same function. */
bool smma_same_operation(const smma_instruction *x, const smma_instruction *y);

#endif
