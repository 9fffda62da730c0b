/* Many questions put to a unit: what a unit answers to all that is open, or to some of it. */
#ifndef SMMA_QUESTION_ASK_H
#define SMMA_QUESTION_ASK_H

#include "question/question.h"

typedef struct {
  smma_unit *unit;
  smma_arch_id arch;                   /* SMMA_ARCH_COUNT: every listed one */
  const smma_instruction *instruction; /* NULL: the first of each rule and family of an architecture */
  bool every;                          /* every instruction instead of those first ones */
  const smma_question *only;           /* NULL: every question */
  /* Told of each answer, of which the result then has no list; or NULL. */
  void (*answered)(const smma_trial *trial, const smma_trial_result *answer, void *context);
  void *context;
} smma_question_request;

typedef struct {
  size_t questions, answers, others; /* others: answers that are not the model's */
  smma_datum *list;                  /* a record for each answer */
} smma_open_answers;

/* Puts the questions. False with one line if nothing can be asked, or the unit fails. Free the answers in both cases.
 */
bool smma_ask_questions(const smma_question_request *request, smma_open_answers *answers, smma_error *error);
void smma_free_open_answers(smma_open_answers *answers);

/* Returns {"softmma", "date", "unit", "answers", "others", "experiments"}. The list moves into it. */
smma_datum *smma_open_answers_datum(smma_open_answers *answers, const smma_unit *unit);

/* The answer in words, and what result `index` is; `row` receives its operands, except in a chain. */
const char *smma_answer_text(const smma_trial *trial, const smma_trial_result *answer);
const char *smma_result_name(const smma_trial *trial, int index, smma_row *row);

/* Returns the question of that name; NULL with one line that lists them. */
const smma_question *smma_require_question(const char *name, smma_error *error);

/* What a GPU without a model can be asked: sets `*only` to the name of the one question, and `*nearest` to the
   architecture through whose instructions it is asked. Leaves both as they are for another GPU. False with one line if
   `*only` already names another question. */
bool smma_question_of_gpu(const char *gpu, const char **only, smma_arch_id *nearest, smma_error *error);

#endif
