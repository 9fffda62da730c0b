/* The catalogue's data: instructions, their rules, and what those rest on. */
#ifndef SMMA_ISA_INSTRUCTION_H
#define SMMA_ISA_INSTRUCTION_H

#include <stddef.h>

#include "core/rule.h"

/* A rule with the texts of its evidence and of its open questions, each list ended by NULL. */
typedef struct {
  const char *name;
  smma_rule rule;
  const char *const *evidence;
  const char *const *questions;
} smma_named_rule;

/* Each also as sparse instructions have it: on the selected products, which is assumed. */
#define SMMA_RULE(name, ...) extern const smma_named_rule smma_rule_##name, smma_sparse_rule_##name;
#include "isa/rules.def"
#undef SMMA_RULE

/* How an instruction is spelt by its vendor. */
typedef enum {
  SMMA_FAMILY_MMA,
  SMMA_FAMILY_WGMMA,
  SMMA_FAMILY_TCGEN05,
  SMMA_FAMILY_MFMA,
  SMMA_FAMILY_WMMA, /* RDNA: v_wmma and v_dot */
  SMMA_FAMILY_VECTOR,
  SMMA_FAMILY_ARM,
  SMMA_FAMILY_POWER,
  SMMA_FAMILY_CUSTOM
} smma_family;

typedef enum {
#define SMMA_ARCHITECTURE(symbol, ...) SMMA_ARCH_##symbol,
#include "isa/architectures.def"
#undef SMMA_ARCHITECTURE
  SMMA_ARCH_COUNT
} smma_arch_id;

struct smma_instruction {
  const char *name;
  const char *other_name; /* AMD's other spelling, or NULL */
  smma_arch_id arch;      /* SMMA_ARCH_COUNT for a custom unit */
  smma_family family;
  int m, n, k;
  smma_format a, b, c, d, scale;
  int scale_block;
  const smma_named_rule *rule;
  const char *origin; /* where a custom unit comes from; NULL in the catalogue */
  int sparse;         /* elements of A that a group spans, half of which are stored and counted by k; 0: all are */
};
typedef struct smma_instruction smma_instruction;

/* One architecture's rows, in order of preference: where several instructions have the formats that a user asks
   for, the first is taken. */
typedef struct {
  const smma_instruction *row;
  size_t count;
} smma_instruction_table;

typedef struct {
  const char *name, *title, *vendor;
  bool listed; /* among the architectures that are shown unasked */
  const smma_instruction_table *table;
} smma_architecture;

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
