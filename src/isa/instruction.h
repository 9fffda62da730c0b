/* The catalogue's data: instructions, their rules, and the evidence for these. */
#ifndef SMMA_ISA_INSTRUCTION_H
#define SMMA_ISA_INSTRUCTION_H

#include <stddef.h>

#include "isa/type.h"
#include "softmma/softmma.h"

/* Each rule also has a variant for sparse instructions. It applies the same rule to the selected products, but has its
   own evidence and questions. */
#define SMMA_RULE(name, ...) extern const smma_named_rule smma_rule_##name, smma_sparse_rule_##name;
#include "isa/rules.def"
#undef SMMA_RULE

/* Returns the strongest basis (enum smma_basis) among the evidence of a rule of the catalogue. */
smma_basis smma_basis_of_rule(const smma_named_rule *rule);

/* The rows of one architecture, in order of preference: if several instructions have the requested formats, the first
   is taken. */
struct smma_instruction_table {
  const smma_instruction *row;
  size_t count;
};

/* Returns the instruction of the table with this index. `room` is not used here. The single header has another version
   of this function: there a row can stand for several instructions, and the function builds the instruction in
   `room`. */
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

/* Returns the name of the instruction's architecture, for example "hopper"; for a custom unit its origin. */
const char *smma_arch_name(const smma_instruction *instruction);

/* Returns what the core needs to compute an instruction: its formats, K, scale block and rule. */
smma_operation smma_operation_of(const smma_instruction *instruction);

/* Works like smma_operation_of, but writes to existing memory, which need not be zero, and copies only those members of
   the rule that its algorithm uses. This saves time in small products, because a composition is large. */
void smma_set_operation(smma_operation *operation, const smma_instruction *instruction);

/* Reports whether two rules have the same algorithm and parameters. */
bool smma_same_rule(const smma_rule *x, const smma_rule *y);

/* Reports whether two instructions compute the same function. */
bool smma_same_operation(const smma_instruction *x, const smma_instruction *y);

#endif
