/* Mutants of a rule: it with one fault each. */
#ifndef SMMA_BENCH_RULE_MUTANTS_H
#define SMMA_BENCH_RULE_MUTANTS_H

#include "classes/change.h"
#include "coverage/events.h"

typedef enum {
  SMMA_MUTANT_PARAMETER, /* a parameter of the rule, or of a step of its composition, by one step */
  SMMA_MUTANT_LANE,      /* an operand, product or result that is taken for another, at one place */
  SMMA_MUTANT_ALIGNMENT, /* the product at one k is lost where it begins so many binades below the reference */
  SMMA_MUTANT_CARRY,     /* a result is half of what it should be where the sum has carried, or cancelled, so far */
  SMMA_MUTANT_STICKY,    /* its last bit is wrong with one last bit, guard, sticky, sign and range of the sum */
  SMMA_MUTANT_CLASSES
} smma_mutant_class;

extern const char *const smma_mutant_class_names[SMMA_MUTANT_CLASSES];

typedef struct {
  smma_mutant_class of;
  smma_change change; /* of a parameter or lane */
  smma_changed changed;
  const smma_instruction *made; /* of a parameter */
  size_t event;                 /* of the others */
} smma_mutant;

typedef struct {
  const smma_instruction *instruction;
  smma_operation operation;
  smma_event_space space;
  bool has_events; /* some rules are no compositions */
  smma_mutant *list;
  size_t count, capacity;
} smma_mutants;

/* Every parameter by one step; of the other classes at most `of_each`, evenly drawn from all. False without memory. */
bool smma_mutants_make(const smma_instruction *instruction, size_t of_each, smma_mutants *mutants);
void smma_mutants_free(smma_mutants *mutants);

/* d of a row. */
uint64_t smma_mutant_row(const smma_mutants *of, const smma_mutant *mutant, const smma_row *row);

/* Returns `text`. */
const char *smma_mutant_words(const smma_mutants *of, const smma_mutant *mutant, char *text, size_t size);

#endif
