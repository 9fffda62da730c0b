/* Open questions that a unit can be asked: operands for which the candidate answers differ, and which answer it gives.
   The command calls them experiments.

   A question has candidate answers, each a function of operands; its trial on an instruction is rows of operands with
   the result of each answer. Answer 0 is the model's. An answer that no row tells from one before it
   is none of the trial's, and where none is left but the model's there is no trial. */
#ifndef SMMA_QUESTION_QUESTION_H
#define SMMA_QUESTION_QUESTION_H

#include "rows/check.h"
#include "unit/unit.h"

/* `parameter` tells candidates of one function apart. */
typedef uint64_t smma_candidate_function(const smma_operation *model, smma_operands x, uint64_t c, int parameter);

typedef struct {
  const char *text;
  smma_candidate_function *compute;
  int parameter;
} smma_candidate;

/* Operands of row `index`: returns what it is, or NULL past the last. */
typedef const char *smma_question_row(const smma_operation *operation, int index, smma_row *row);

typedef struct {
  const char *name, *text;
  bool (*concerns)(const smma_instruction *instruction);
  smma_question_row *row;           /* NULL: the first rows of `softmma gen` that tell candidates apart */
  bool chained;                     /* each row's result is the next one's c, and only the last one counts */
  const smma_candidate *candidates; /* besides the model; the one behind the last has no text */
} smma_question;

enum {
#define SMMA_QUESTION(symbol) SMMA_QUESTION_##symbol,
#include "question/questions.def"
#undef SMMA_QUESTION
  SMMA_QUESTION_COUNT
};
extern const smma_question *const smma_questions[SMMA_QUESTION_COUNT];

#define SMMA_QUESTION(symbol) extern const smma_question smma_question_##symbol;
#include "question/questions.def"
#undef SMMA_QUESTION

/* Whether it is asked of machines that no model claims to be, and only of those, or by name. */
bool smma_question_is_of_unmodelled(const smma_question *question);

/* NULL if there is no such question. */
const smma_question *smma_find_question(const char *name);

enum { SMMA_MOST_ANSWERS = 7, SMMA_MOST_TRIAL_ROWS = 16 };

typedef struct {
  const smma_question *question;
  const smma_instruction *instruction;
  int rows;    /* operands */
  int results; /* that count: one of a chain, else one of each row */
  int answers;
  const smma_candidate *answer[SMMA_MOST_ANSWERS];
  uint64_t expected[SMMA_MOST_ANSWERS][SMMA_MOST_TRIAL_ROWS];
  uint64_t generated[SMMA_MOST_TRIAL_ROWS]; /* where rows were searched: their index */
} smma_trial;

/* False if the question cannot tell any other answer from the model's. */
bool smma_trial_prepare(const smma_question *question, const smma_instruction *instruction, smma_trial *trial);

/* Operands of row `index`, which stands below trial->rows; returns what it is. In a chain c holds for the first row. */
const char *smma_trial_row(const smma_trial *trial, int index, smma_row *row);

typedef struct {
  uint64_t d[SMMA_MOST_TRIAL_ROWS]; /* trial->results of them */
  int answer;                       /* -1: none of the trial's */
  int different;                    /* the first row that the model computes otherwise; trial->rows if none */
  smma_row example;                 /* that row, with the unit's d; in a chain its c is the unit's, too */
} smma_trial_result;

/* Asks the unit. False with one line if it fails. */
bool smma_trial_run(const smma_trial *trial, smma_unit *unit, smma_trial_result *result, smma_error *error);

#endif
