/* The table of keys: one row for each number, format or choice that describes an instruction or its rule. The functions
   that compare rules, describe them, read and write custom units, and serve Python all use this table. */
#ifndef SMMA_ISA_KEY_H
#define SMMA_ISA_KEY_H

#include "isa/instruction.h"

typedef enum {
  SMMA_KEY_INTEGER,
  SMMA_KEY_FORMAT,
  SMMA_KEY_CHOICE,   /* one of several words, in the order of an enumeration's values */
  SMMA_KEY_ROUNDING, /* a choice of a rounding mode */
  SMMA_KEY_FLAG      /* false or true */
} smma_key_kind;

typedef struct {
  const char *key;     /* name in a custom unit's JSON */
  unsigned algorithms; /* set of the algorithms that have this key: bit 1 << algorithm */
  smma_key_kind kind;
  bool of_rule;           /* a parameter of the rule; otherwise of the instruction, of a step, or of G-FDPA */
  bool of_chain;          /* a parameter of G-FDPA */
  size_t member;          /* offset of the value, an int, in smma_rule, smma_instruction, smma_step or smma_g_fdpa */
  int least, most;        /* of a number: the range of its values */
  const char *word;       /* a word that is allowed instead of a number or format; or NULL */
  int meaning;            /* the value that `word` stands for */
  const char *other_word; /* another such word; or NULL */
  int other_meaning;
  unsigned formats;           /* allowed formats, as bits of smma_format_bit */
  const char *const *choices; /* allowed words; NULL ends the list */
  const char *like;           /* the key whose value is this key's default; or NULL */
  int otherwise;              /* the default value if `like` is NULL; SMMA_KEY_REQUIRED: there is no default */

  const char *symbol;     /* symbol in descriptions of a rule, as in docs/algorithms; NULL: not described */
  bool told_if_other;     /* described only if the value is not the default */
  const char *told_where; /* the key whose description includes this key; or NULL */
  const char *told_with;  /* for a rounding: the key of the format that descriptions join to it ("RZ-FP32"); or NULL */
} smma_key;

#define SMMA_KEY_REQUIRED (-1000000)

/* The number that stands for G-FDPA where an algorithm's keys are requested. G-FDPA is not the algorithm of any rule,
   but custom units may be written in its keys, which describe a composition that is G-FDPA. */
#define SMMA_KEYS_OF_G_FDPA ((smma_algorithm)(SMMA_COMPOSITION + 1))

/* The words for the values of smma_rounding, in order: "nearest-even", ... smma_roundings has only the first five, up
   to "nearest-away"; smma_every_rounding has all. NULL ends both lists. */
extern const char *const smma_roundings[], *const smma_every_rounding[];

/* Returns the name of an algorithm, or of G-FDPA, in a custom unit's text; an empty text past the last. */
const char *smma_keys_name(smma_algorithm algorithm);

/* Returns the key of an algorithm that follows `previous`; the first if `previous` is NULL; NULL past the last. */
const smma_key *smma_next_key(smma_algorithm algorithm, const smma_key *previous);

/* Finds a key of an algorithm by name; returns NULL if the algorithm does not have it. */
const smma_key *smma_find_key(smma_algorithm algorithm, const char *name, size_t length);

/* Work like smma_next_key and smma_find_key, for the keys of a composition's step. */
const smma_key *smma_next_step_key(const smma_key *previous);
const smma_key *smma_find_step_key(const char *name, size_t length);

/* Return and set the value of a step's key. */
int smma_key_of_step(const smma_step *step, const smma_key *key);
void smma_set_key_of_step(smma_step *step, const smma_key *key, int value);

/* Return and set the value of a key whose `of_chain` is set. */
int smma_key_of_chain(const smma_g_fdpa *g, const smma_key *key);
void smma_set_key_of_chain(smma_g_fdpa *g, const smma_key *key, int value);

/* Writes a value as the text of a custom unit has it: "25", "exact", "toward-zero", "f32", "true". Returns `text`. */
const char *smma_key_value(const smma_key *key, int value, char *text, size_t size);

/* Sets `*value` to the value that a word stands for. Returns false if the key does not have this word. */
bool smma_key_word(const smma_key *key, const char *word, size_t length, int *value);

/* Returns the value of a rule's key. */
int smma_key_of_rule(const smma_rule *rule, const smma_key *key);

/* The keys that describe a rule, and their values. */
typedef struct {
  smma_algorithm algorithm; /* the algorithm whose keys are used, or SMMA_KEYS_OF_G_FDPA */
  const void *values;       /* the struct that holds the values: a smma_rule, or a smma_g_fdpa */
} smma_key_values;

/* If the rule is a composition that is G-FDPA, fills in `g` and returns the keys of G-FDPA with values in `g`.
   Otherwise returns the keys of the rule's algorithm with values in `rule`. */
smma_key_values smma_key_values_of(const smma_rule *rule, smma_g_fdpa *g);
int smma_value_of_key(const smma_key_values *values, const smma_key *key);

/* Reports whether the key may have the value. */
bool smma_key_allows(const smma_key *key, int value);

/* Writes the values that the key may have, as "1 to 64" or "nearest-even, toward-zero, ...", and returns `text`. */
const char *smma_key_allowed(const smma_key *key, char *text, size_t size);

/* Appends formatted text to the text in `text`, up to `size` bytes in all. */
void smma_append_text(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Writes the numbers below `count` for which `set` is true, for example "0 to 7, 9". */
void smma_name_places(const bool *set, int count, char *text, size_t size);

/* Returns the floating-point formats of format.def that operands can have, as a set of smma_format_bit. */
unsigned smma_operand_formats(void);

/* Returns a format's bit in sets of formats. The formats up to SMMA_B1 have a bit each; all other formats of the same
   kind share a bit. */
unsigned smma_format_bit(smma_format format);

#endif
