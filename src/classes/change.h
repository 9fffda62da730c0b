/* Possible differences between a unit and its model. Either one parameter of the rule or of its composition has another
   value, or certain operands or results are replaced by other numbers, at every k or at one k. */
#ifndef SMMA_CLASSES_CHANGE_H
#define SMMA_CLASSES_CHANGE_H

#include "infer/samples.h"
#include "isa/custom.h"
#include "isa/key.h"

typedef enum {
  SMMA_CHANGED_RULE,  /* a key of the rule */
  SMMA_CHANGED_STEP,  /* a key of a step of the rule's composition; step -1: a key of the whole composition */
  SMMA_CHANGED_BOTH,  /* a key of a step, set for terms and accumulators alike */
  SMMA_CHANGED_NUMBER /* operands or results */
} smma_change_sort;

typedef struct {
  smma_change_sort sort;
  int step;
  const smma_key *key; /* NULL for SMMA_CHANGED_NUMBER */
  int was, value;
  int number, place; /* number: entry of the table number.def; place: the k or the index of the scale factor, -1 for all
                        of them */
} smma_change;

/* Lists the changes worth trying, for each key the nearest values first. Returns NULL if memory runs out. */
smma_change *smma_changes_of(const smma_instruction *instruction, size_t *count);

/* Writes a change in words, for example "alignment_bits is 24 instead of 25". Returns `text`. */
const char *smma_change_words(const smma_change *change, char *text, size_t size);

/* ---- A model with changes ---- */

enum { SMMA_MOST_CHANGES = 8 };

typedef struct {
  smma_operation operation;
  smma_change number[SMMA_MOST_CHANGES];
  int numbers;
} smma_changed;

/* Applies changes to an instruction's model. Returns false if units cannot have these changes, or not together. */
bool smma_changed_make(const smma_instruction *instruction, const smma_change *changes, int count,
                       smma_changed *changed);

/* Fills `custom` with the instruction after changes of parameters. Returns false if no unit can have them. */
bool smma_changed_custom(const smma_instruction *instruction, const smma_change *changes, int count,
                         smma_custom *custom);

/* Return d of a sample, or of a test vector, with the changes. */
uint64_t smma_changed_sample(const smma_changed *changed, const smma_samples *samples, size_t index);
uint64_t smma_changed_row(const smma_changed *changed, const smma_row *row);

#endif
