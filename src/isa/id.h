/* Permanent names of instructions and rules, by which publications can cite them. They do not change between
   versions. */
#ifndef SMMA_ISA_ID_H
#define SMMA_ISA_ID_H

#include "isa/type.h"

enum { SMMA_ID_SIZE = 192 };

/* Writes the permanent name of an instruction, for example "hopper:wgmma.m64n8k16.f32.f16.f16". Commands accept it as a
   target. Returns `text`, or NULL for a custom unit. */
const char *smma_instruction_id(const smma_instruction *instruction, char text[SMMA_ID_SIZE]);

/* Writes the permanent name of an instruction's rule, for example "hopper_f32". Sparse instructions have a variant of
   the rule with evidence of its own, for example "hopper_f32_sparse". Returns `text`. */
const char *smma_rule_id(const smma_instruction *instruction, char text[SMMA_ID_SIZE]);

#endif
