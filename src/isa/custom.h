/* Custom units: instructions that a JSON text (docs/custom-units.md) describes instead of a row of the catalogue. */
#ifndef SMMA_ISA_CUSTOM_H
#define SMMA_ISA_CUSTOM_H

#include "isa/catalogue.h"
#include "isa/key.h"
#include "softmma/softmma.h"

/* An instruction with its own rule. Once the unit is made, instruction.rule points to that rule. */
struct smma_custom {
  smma_instruction instruction;
  smma_named_rule named;
};

/* The fault in a description: the key, the step (-1: not in a step), and a line that names the allowed values. */
typedef struct {
  const char *key;
  int step;
  char text[512];
} smma_custom_fault;

/* Returns any instruction as a description with its own rule. */
smma_custom smma_custom_of(const smma_instruction *instruction);

/* Reports whether all values are allowed, and allowed together. */
bool smma_custom_check(const smma_custom *custom, smma_custom_fault *fault);

/* Reports whether G-FDPA with these parameters can be the unit's rule. */
bool smma_custom_check_chain(const smma_custom *custom, const smma_g_fdpa *g, smma_custom_fault *fault);

/* Returns the operation that a checked description's instruction computes. */
smma_operation smma_custom_operation(const smma_custom *custom);

/* Makes a checked description an instruction: a copy, with copies of its name and origin. Returns NULL when memory is
   short. */
const smma_instruction *smma_custom_make(const smma_custom *custom);
void smma_custom_release(const smma_instruction *instruction);

/* Makes a copy of an instruction whose rule has another value of one parameter. `name` is the parameter's key or symbol
   ("alignment_bits", "F"), and `value` a number or word as in a unit's text. Returns NULL with an error that names the
   allowed values, or with SMMA_NOT_FOUND and the names of the rule's parameters. */
const smma_instruction *smma_custom_with(const smma_instruction *instruction, const char *name, const char *value,
                                         smma_error *error);

/* ---- JSON ---- */

/* Returns the unit that a text describes, or NULL with an error: origin, line and column, the fault, the allowed
   values. */
const smma_instruction *smma_custom_read(const char *origin, const char *text, size_t size, smma_error *error);

/* Writes an instruction as the JSON description of a custom unit. Writes at most `size` bytes including the terminating
   zero; returns the length of the whole text. */
size_t smma_custom_write(const smma_instruction *instruction, char *text, size_t size);

/* ---- Keys ---- */

int smma_custom_get(const smma_custom *custom, const smma_key *key);
void smma_custom_set(smma_custom *custom, const smma_key *key, int value);

/* Reports whether the key is omitted because the unit has no scale factors. */
bool smma_custom_left_out(const smma_custom *custom, const smma_key *key);

#endif
