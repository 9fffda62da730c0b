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

/* The fault in a description. */
typedef struct {
  const char *key; /* the key whose value is wrong */
  int step;        /* index of the step that has the key; -1: not in a step */
  char text[512];  /* one line that names the fault and the allowed values */
} smma_custom_fault;

/* Returns a description of an instruction, with a copy of its rule. */
smma_custom smma_custom_of(const smma_instruction *instruction);

/* Reports whether all values of a description are allowed, and allowed together; if not, sets `*fault`. */
bool smma_custom_check(const smma_custom *custom, smma_custom_fault *fault);

/* Reports whether G-FDPA with these parameters can be the unit's rule; if not, sets `*fault`. */
bool smma_custom_check_chain(const smma_custom *custom, const smma_g_fdpa *g, smma_custom_fault *fault);

/* Returns the operation that a checked description's instruction computes. */
smma_operation smma_custom_operation(const smma_custom *custom);

/* Returns an instruction made from a checked description: a copy, with copies of its name and origin. Returns NULL if
   memory runs out. Release it with smma_custom_release. */
const smma_instruction *smma_custom_make(const smma_custom *custom);
void smma_custom_release(const smma_instruction *instruction);

/* Returns a copy of an instruction in which one parameter of the rule has another value. `name` is the parameter's key
   or symbol ("alignment_bits", "F"), and `value` is a number or word as in the text of a custom unit. On failure
   returns NULL with an error: it names the allowed values or, if there is no such parameter (SMMA_NOT_FOUND), the
   rule's parameters. */
const smma_instruction *smma_custom_with(const smma_instruction *instruction, const char *name, const char *value,
                                         smma_error *error);

/* ---- JSON ---- */

/* Returns the unit that a text describes, or NULL with an error that gives origin, line, column, the fault and the
   allowed values. `origin` names the text, for example its file. */
const smma_instruction *smma_custom_read(const char *origin, const char *text, size_t size, smma_error *error);

/* Writes an instruction as the JSON description of a custom unit. Writes at most `size` bytes including the terminating
   zero; returns the length of the whole text. */
size_t smma_custom_write(const smma_instruction *instruction, char *text, size_t size);

/* ---- Keys ---- */

/* Return and set the value of a key of the instruction or its rule. */
int smma_custom_get(const smma_custom *custom, const smma_key *key);
void smma_custom_set(smma_custom *custom, const smma_key *key, int value);

/* Reports whether a unit's text omits the key, because the key is of scale factors and the unit has none. */
bool smma_custom_left_out(const smma_custom *custom, const smma_key *key);

#endif
