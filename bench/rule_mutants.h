/* Mutants of a rule. Each is the rule with one fault. */
#ifndef SMMA_BENCH_RULE_MUTANTS_H
#define SMMA_BENCH_RULE_MUTANTS_H

#include "classes/change.h"
#include "coverage/events.h"

typedef enum {
  SMMA_MUTANT_PARAMETER, /* one parameter of the rule, or of a step of its composition, is changed to an adjacent value
                          */
  SMMA_MUTANT_LANE,      /* one operand, product or result is replaced by another number, at one k */
  SMMA_MUTANT_ALIGNMENT, /* the product at one k is lost if its exponent is a certain number of binades below the
                            reference */
  SMMA_MUTANT_CARRY,     /* the result is halved if the sum has a certain carry or cancellation */
  SMMA_MUTANT_STICKY, /* the last bit is wrong for one combination of last bit, guard bit, sticky bit, sign and range of
                         the sum */
  SMMA_MUTANT_CLASSES
} smma_mutant_class;

extern const char *const smma_mutant_class_names[SMMA_MUTANT_CLASSES];

typedef struct {
  smma_mutant_class of;
  smma_change change; /* the change, for the classes PARAMETER and LANE */
  smma_changed changed;
  const smma_instruction *made; /* the instruction with the change, for the class PARAMETER */
  size_t event;                 /* the event at which the mutant is wrong, for the other classes */
} smma_mutant;

typedef struct {
  const smma_instruction *instruction;
  smma_operation operation;
  smma_event_space space;
  bool has_events; /* the rule is a composition, so its events are known */
  smma_mutant *list;
  size_t count, capacity;
} smma_mutants;

/* Makes the mutants: every parameter changed by one step, and at most `of_each` mutants of each other class, drawn
   evenly. Returns false if memory runs out. */
bool smma_mutants_make(const smma_instruction *instruction, size_t of_each, smma_mutants *mutants);
void smma_mutants_free(smma_mutants *mutants);

/* Returns d of a vector as the mutant computes it. */
uint64_t smma_mutant_row(const smma_mutants *of, const smma_mutant *mutant, const smma_row *row);

/* Writes a description of the mutant to `text`. Returns `text`. */
const char *smma_mutant_words(const smma_mutants *of, const smma_mutant *mutant, char *text, size_t size);

#endif
