/* Open questions about a unit. For each question there are operands for which the candidate answers differ, so that the
   unit's results show which answer is correct. The command calls them experiments. A question has candidate answers,
   each a function of the operands. Its trial on an instruction consists of rows of operands, with the result that each
   answer gives. Answer 0 is the model's. A trial omits an answer if no row distinguishes it from an earlier one, whose
   text then stands for both; if only the model's answer remains, there is no trial. */
#ifndef SMMA_QUESTION_QUESTION_H
#define SMMA_QUESTION_QUESTION_H

#include "rows/check.h"
#include "unit/unit.h"

/* Computes d by one candidate answer. `parameter` distinguishes candidates that share a function. */
typedef uint64_t smma_candidate_function(const smma_operation *model, smma_operands x, uint64_t c, int parameter);

typedef struct {
  const char *text;
  smma_candidate_function *compute;
  int parameter;
} smma_candidate;

/* Fills in the operands of row `index` and returns their description, or NULL past the last row. */
typedef const char *smma_question_row(const smma_operation *operation, int index, smma_row *row);

typedef struct {
  const char *name, *text;
  bool (*concerns)(const smma_instruction *instruction);
  smma_question_row *row;           /* NULL: search rows of `softmma vectors gen` */
  bool chained;                     /* each row's result is the next row's c, and only the last result counts */
  const smma_candidate *candidates; /* all except the model; the list ends with an entry without text */
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

/* Reports whether the question is only for machines without a model. Such a question is put to other machines only if
   the user names it. */
bool smma_question_is_of_unmodelled(const smma_question *question);

/* Returns the question of that name, or NULL. */
const smma_question *smma_find_question(const char *name);

enum { SMMA_MOST_ANSWERS = 7, SMMA_MOST_TRIAL_ROWS = 16 };

typedef struct {
  const smma_question *question;
  const smma_instruction *instruction;
  int rows;    /* number of rows of operands */
  int results; /* number of results that count: 1 for a chain, otherwise one for each row */
  int answers;
  const smma_candidate *answer[SMMA_MOST_ANSWERS];
  uint64_t expected[SMMA_MOST_ANSWERS][SMMA_MOST_TRIAL_ROWS];
  uint64_t generated[SMMA_MOST_TRIAL_ROWS]; /* if generated rows were searched: their indices */
} smma_trial;

/* Prepares the trial of a question on an instruction. Returns false if no row distinguishes another answer from the
   model's. */
bool smma_trial_prepare(const smma_question *question, const smma_instruction *instruction, smma_trial *trial);

/* Fills in the operands of row `index`, which must be less than trial->rows; returns their description. In a chain only
   the first row's c is valid. */
const char *smma_trial_row(const smma_trial *trial, int index, smma_row *row);

typedef struct {
  uint64_t d[SMMA_MOST_TRIAL_ROWS]; /* the unit's results, trial->results of them */
  int answer;                       /* the answer that the results agree with; -1: none */
  int different;                    /* the first row whose result differs from the model's; trial->rows if all agree */
  smma_row example;                 /* that row, with the unit's d; in a chain also with the unit's c */
} smma_trial_result;

/* Computes the trial's rows on the unit and finds the answer. Returns false with one error line if the unit fails. */
bool smma_trial_run(const smma_trial *trial, smma_unit *unit, smma_trial_result *result, smma_error *error);

#endif
