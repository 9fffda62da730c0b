/* The types that describe an instruction. The single header contains this file, too (bindings/single_header). */
#ifndef SMMA_ISA_TYPE_H
#define SMMA_ISA_TYPE_H

#include "core/rule.h"

/* A rule with the texts of its evidence and of its open questions; NULL ends each list. */
typedef struct {
  const char *name;
  smma_rule rule;
  const char *const *evidence;
  const char *const *questions;
} smma_named_rule;

/* Instruction families. Each has its own way to spell names. */
typedef enum {
  SMMA_FAMILY_MMA,
  SMMA_FAMILY_WGMMA,
  SMMA_FAMILY_TCGEN05,
  SMMA_FAMILY_MFMA,
  SMMA_FAMILY_WMMA, /* RDNA: v_wmma and v_dot */
  SMMA_FAMILY_VECTOR,
  SMMA_FAMILY_ARM,
  SMMA_FAMILY_APPLE,
  SMMA_FAMILY_POWER,
  SMMA_FAMILY_RISCV,
  SMMA_FAMILY_TENSIX,
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
  const char *other_name; /* another spelling, or NULL */
  smma_arch_id arch;      /* SMMA_ARCH_COUNT for a custom unit */
  smma_family family;
  int m, n, k;
  smma_format a, b, c, d;
  smma_format scale; /* format of scale factors, or SMMA_NO_FORMAT */
  int scale_block;   /* elements along K that share a scale factor; 0: no scale factors */
  const smma_named_rule *rule;
  const char *origin; /* source of a custom unit; NULL in the catalogue */
  int sparse; /* of a sparse instruction: elements of A in a group, half of which are stored and counted in k; otherwise
                 0 */
};
typedef struct smma_instruction smma_instruction;

typedef struct smma_instruction_table smma_instruction_table;

typedef struct {
  const char *name, *title, *vendor;
  bool listed; /* lists show the architecture even if the user does not name it */
  const smma_instruction_table *table;
} smma_architecture;

#endif
