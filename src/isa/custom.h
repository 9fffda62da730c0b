/* Custom units: instructions described by a JSON text (docs/custom-units.md) instead of a row of the catalogue. */
#ifndef SMMA_ISA_CUSTOM_H
#define SMMA_ISA_CUSTOM_H

#include "isa/catalogue.h"

/* An instruction with its own rule; instruction.rule points to it once the unit is made. */
typedef struct {
  smma_instruction instruction;
  smma_named_rule named;
} smma_custom;

/* What is wrong with a description: at which key, and a line that names the allowed values. */
typedef struct {
  const char *key;
  char text[512];
} smma_custom_fault;

/* Any instruction as a description of its own. */
smma_custom smma_custom_of(const smma_instruction *instruction);

/* Whether all values are allowed and go together. */
bool smma_custom_check(const smma_custom *custom, smma_custom_fault *fault);

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

typedef enum {
  SMMA_CUSTOM_INTEGER,
  SMMA_CUSTOM_FORMAT,
  SMMA_CUSTOM_CHOICE, /* one of several words, the values of an enumeration in order */
  SMMA_CUSTOM_FLAG    /* false or true */
} smma_custom_kind;

typedef struct {
  const char *key;
  unsigned algorithms; /* that have it: bit SMMA_ALGORITHM */
  smma_custom_kind kind;
  size_t member; /* where its int, or enumeration, is in smma_custom */
  int least, most;
  const char *word; /* what an integer's key may say instead, which stands for `meaning`; or NULL */
  int meaning;
  unsigned formats;           /* bit SMMA_FORMAT_NAME */
  const char *const *choices; /* ended by NULL */
  const char *like;           /* the key whose value it takes where it is not given; or NULL */
  int otherwise;              /* else its value; SMMA_CUSTOM_REQUIRED: it must be given */
} smma_custom_key;

#define SMMA_CUSTOM_REQUIRED (-1000000)

extern const smma_custom_key smma_custom_keys[];
extern const size_t smma_custom_key_count;

/* Among those of an algorithm; NULL if it has none of that name. */
const smma_custom_key *smma_custom_find_key(smma_algorithm algorithm, const char *name, size_t length);

int smma_custom_get(const smma_custom *custom, const smma_custom_key *key);
void smma_custom_set(smma_custom *custom, const smma_custom_key *key, int value);

/* "1 to 64", "nearest-even, toward-zero, ..."; returns `text`. */
const char *smma_custom_allowed(const smma_custom_key *key, char *text, size_t size);

/* Whether a unit without scale factors leaves the key out. */
bool smma_custom_left_out(const smma_custom *custom, const smma_custom_key *key);

#endif
