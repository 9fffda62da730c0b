/* What a unit may have otherwise than its model: one parameter of the rule or of its composition, or operands or
   results that are taken for others, everywhere or at one k. */
#ifndef SMMA_CLASSES_CHANGE_H
#define SMMA_CLASSES_CHANGE_H

#include "infer/samples.h"
#include "isa/custom.h"
#include "isa/key.h"

typedef enum {
  SMMA_CHANGED_RULE,  /* a key of the rule */
  SMMA_CHANGED_STEP,  /* a key of a step of its composition; -1: of the whole */
  SMMA_CHANGED_BOTH,  /* the same, of accumulators, too */
  SMMA_CHANGED_NUMBER /* operands or results */
} smma_change_sort;

typedef struct {
  smma_change_sort sort;
  int step;
  const smma_key *key; /* of a parameter */
  int was, value;
  int number, place; /* which row of the table of numbers, and at which k or scale factor; -1: everywhere */
} smma_change;

/* The changes worth trying, nearest values of a key first; NULL without memory. */
smma_change *smma_changes_of(const smma_instruction *instruction, size_t *count);

/* "alignment_bits is 24 instead of 25"; returns `text`. */
const char *smma_change_words(const smma_change *change, char *text, size_t size);

/* ---- A model with changes ---- */

enum { SMMA_MOST_CHANGES = 8 };

typedef struct {
  smma_operation operation;
  smma_change number[SMMA_MOST_CHANGES];
  int numbers;
} smma_changed;

/* False if units cannot have them, or not together. */
bool smma_changed_make(const smma_instruction *instruction, const smma_change *changes, int count,
                       smma_changed *changed);

/* The unit with changes of parameters alone; false if there is no such unit. */
bool smma_changed_custom(const smma_instruction *instruction, const smma_change *changes, int count,
                         smma_custom *custom);

/* d of a sample, or of a row. */
uint64_t smma_changed_sample(const smma_changed *changed, const smma_samples *samples, size_t index);
uint64_t smma_changed_row(const smma_changed *changed, const smma_row *row);

#endif
