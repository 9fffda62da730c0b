/* Custom units: instructions described by a JSON text (docs/custom-units.md) instead of a row of the catalogue. */
#ifndef SMMA_ISA_CUSTOM_H
#define SMMA_ISA_CUSTOM_H

#include "isa/catalogue.h"
#include "isa/key.h"

/* An instruction with its own rule; instruction.rule points to it once the unit is made. */
typedef struct {
  smma_instruction instruction;
  smma_named_rule named;
} smma_custom;

/* What is wrong with a description: at which key, of which step (-1: of none), and a line that names the allowed
   values. */
typedef struct {
  const char *key;
  int step;
  char text[512];
} smma_custom_fault;

/* Any instruction as a description of its own. */
smma_custom smma_custom_of(const smma_instruction *instruction);

/* Whether all values are allowed and go together. */
bool smma_custom_check(const smma_custom *custom, smma_custom_fault *fault);

/* Reports whether G-FDPA with these parameters can be the unit's rule. */
bool smma_custom_check_chain(const smma_custom *custom, const smma_g_fdpa *g, smma_custom_fault *fault);

/* What a checked description's instruction computes. */
smma_operation smma_custom_operation(const smma_custom *custom);

/* A checked description as an instruction: a copy, with copies of its name and origin. NULL without memory. */
const smma_instruction *smma_custom_make(const smma_custom *custom);
void smma_custom_release(const smma_instruction *instruction);

/* ---- JSON ---- */

/* The unit that a text describes, or NULL with one line: origin, line and column, what is wrong, what is allowed. */
const smma_instruction *smma_custom_read(const char *origin, const char *text, size_t size, char *message,
                                         size_t message_size);

/* Any instruction as such a text; returns the length of the whole, of which at most `size` bytes with the ending zero
   are written. */
size_t smma_custom_write(const smma_instruction *instruction, char *text, size_t size);

/* ---- Keys ---- */

int smma_custom_get(const smma_custom *custom, const smma_key *key);
void smma_custom_set(smma_custom *custom, const smma_key *key, int value);

/* Whether a unit without scale factors leaves the key out. */
bool smma_custom_left_out(const smma_custom *custom, const smma_key *key);

#endif
