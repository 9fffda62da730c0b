/* Puts open questions to a unit: all questions, or a selection. */
#ifndef SMMA_QUESTION_ASK_H
#define SMMA_QUESTION_ASK_H

#include "question/question.h"

typedef struct {
  smma_unit *unit;
  smma_arch_id arch;                   /* SMMA_ARCH_COUNT: every listed architecture */
  const char *gpu;                     /* if not NULL: only instructions that this GPU of the architecture has */
  const smma_instruction *instruction; /* NULL: in each architecture, the first of all instructions that are alike */
  bool every;                          /* every instruction instead of only the first ones */
  const smma_question *only;           /* NULL: every question */
  /* Called for each answer; the result then has no list of answers. May be NULL. */
  void (*answered)(const smma_trial *trial, const smma_trial_result *answer, void *context);
  void *context;
} smma_question_request;

typedef struct {
  size_t questions, answers, others; /* `others`: number of answers that differ from the model's */
  smma_datum *list;                  /* a record for each answer */
} smma_open_answers;

/* Puts the questions. Returns false with one error line if no question applies or the unit fails. Free the answers in
   both cases. */
bool smma_ask_questions(const smma_question_request *request, smma_open_answers *answers, smma_error *error);
void smma_free_open_answers(smma_open_answers *answers);

/* Returns {"softmma", "date", "unit", "answers", "others", "experiments"}. Moves the list into it. */
smma_datum *smma_open_answers_datum(smma_open_answers *answers, const smma_unit *unit);

/* smma_answer_text returns the answer in words. smma_result_name returns the description of result `index`; `row`
   receives its operands, except in a chain. */
const char *smma_answer_text(const smma_trial *trial, const smma_trial_result *answer);
const char *smma_result_name(const smma_trial *trial, int index, smma_row *row);

/* Returns the question of that name, or NULL with one error line that lists all names. */
const smma_question *smma_require_question(const char *name, smma_error *error);

/* If `gpu` has no model, sets `*only` to the name of the question about it, and `*nearest` to the architecture whose
   instructions the question uses. Leaves both unchanged for any other GPU. Returns false with one error line if `*only`
   already names another question. */
bool smma_question_of_gpu(const char *gpu, const char **only, smma_arch_id *nearest, smma_error *error);

#endif
