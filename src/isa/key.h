/* What describes an instruction, one row for each number, format or choice: the members of its own, and the parameters
   of its rule. Comparing and describing rules, custom units, and Python go by this table. */
#ifndef SMMA_ISA_KEY_H
#define SMMA_ISA_KEY_H

#include "isa/instruction.h"

typedef enum {
  SMMA_KEY_INTEGER,
  SMMA_KEY_FORMAT,
  SMMA_KEY_CHOICE,   /* one of several words, the values of an enumeration in order */
  SMMA_KEY_ROUNDING, /* a choice, too */
  SMMA_KEY_FLAG      /* false or true */
} smma_key_kind;

typedef struct {
  const char *key;     /* in a custom unit's JSON */
  unsigned algorithms; /* that have it: bit SMMA_ALGORITHM */
  smma_key_kind kind;
  bool of_rule;  /* else of the instruction, of a step, or of G-FDPA */
  bool of_chain; /* of G-FDPA */
  size_t member; /* where its int, or enumeration, is in smma_rule, smma_instruction, smma_step or smma_g_fdpa */
  int least, most;
  const char *word; /* what a number's or format's key may say instead, which stands for `meaning`; or NULL */
  int meaning;
  const char *other_word; /* one more; or NULL */
  int other_meaning;
  unsigned formats;           /* the bits of smma_format_bit */
  const char *const *choices; /* ended by NULL */
  const char *like;           /* the key whose value it takes where it is not given; or NULL */
  int otherwise;              /* else its value; SMMA_KEY_REQUIRED: it must be given */

  const char *symbol;     /* in descriptions of a rule, as in docs/algorithms; NULL: it is not told */
  bool told_if_other;     /* told where it is not what it is if it is not given */
  const char *told_where; /* the key that, as told, brings this one with it; or NULL */
  const char *told_with;  /* the key of the format that is told with a rounding; or NULL */
} smma_key;

#define SMMA_KEY_REQUIRED (-1000000)

/* Stands for the keys of G-FDPA, which no rule has as its algorithm. Custom units may be written in these keys, and
   they describe a composition that is G-FDPA. */
#define SMMA_KEYS_OF_G_FDPA ((smma_algorithm)(SMMA_COMPOSITION + 1))

/* The words of smma_rounding's first values in order, which smma_convert takes: "nearest-even", ...; ended by NULL. */
extern const char *const smma_roundings[];

/* The name of an algorithm, or of G-FDPA, in a custom unit's text; empty behind the last. */
const char *smma_keys_name(smma_algorithm algorithm);

/* The keys of an algorithm in order: the one behind `previous`, the first behind NULL, and NULL behind the last. */
const smma_key *smma_next_key(smma_algorithm algorithm, const smma_key *previous);

/* Among those of an algorithm; NULL if it has none of that name. */
const smma_key *smma_find_key(smma_algorithm algorithm, const char *name, size_t length);

/* The same of a step of a composition. */
const smma_key *smma_next_step_key(const smma_key *previous);
const smma_key *smma_find_step_key(const char *name, size_t length);

/* The value of such a key. */
int smma_key_of_step(const smma_step *step, const smma_key *key);
void smma_set_key_of_step(smma_step *step, const smma_key *key, int value);

/* Returns, or sets, the value of a key whose `of_chain` is set. */
int smma_key_of_chain(const smma_g_fdpa *g, const smma_key *key);
void smma_set_key_of_chain(smma_g_fdpa *g, const smma_key *key, int value);

/* A value as custom units write it: "25", "exact", "toward-zero", "f32", "true" (returns `text`). */
const char *smma_key_value(const smma_key *key, int value, char *text, size_t size);

/* The value that a word stands for; false if it stands for none. */
bool smma_key_word(const smma_key *key, const char *word, size_t length, int *value);

/* The value of a key of the rule. */
int smma_key_of_rule(const smma_rule *rule, const smma_key *key);

/* The keys that describe a rule, and the struct that holds their values: the rule itself, or `g`. */
typedef struct {
  smma_algorithm algorithm;
  const void *values;
} smma_told_keys;

/* Returns the keys of G-FDPA, and fills `g`, for a composition that is one; else those of the rule's algorithm. */
smma_told_keys smma_told_keys_of(const smma_rule *rule, smma_g_fdpa *g);
int smma_told_value(const smma_told_keys *told, const smma_key *key);

/* Whether a value is allowed; "1 to 64", "nearest-even, toward-zero, ..." (returns `text`). */
bool smma_key_allows(const smma_key *key, int value);
const char *smma_key_allowed(const smma_key *key, char *text, size_t size);

/* More text behind what is there. */
void smma_append_text(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Floating-point formats of the table that can be operands. */
unsigned smma_operand_formats(void);

/* A format's bit in sets of formats: bit SMMA_FORMAT_NAME; those that are spelled out have one in common with their
   like. */
unsigned smma_format_bit(smma_format format);

#endif
