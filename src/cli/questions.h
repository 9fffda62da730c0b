/* `campaign --open`: what a unit answers to the open questions. */
#ifndef SMMA_CLI_QUESTIONS_H
#define SMMA_CLI_QUESTIONS_H

#include "cli/cli.h"
#include "question/question.h"

typedef struct {
  smma_unit *unit;
  int arch;                            /* SMMA_ARCH_COUNT: every listed one */
  const smma_instruction *instruction; /* NULL: the first of each rule and family of an architecture */
  bool every;                          /* every instruction instead of those first ones */
  const smma_question *only;           /* NULL: every experiment */
  bool json;
} smma_question_request;

/* Runs the experiments, prints the answers and returns the exit status: SMMA_EXIT_EQUAL if each is the model's. Ends
   the program with one line if nothing can be asked or the unit fails. */
int smma_ask_questions(const smma_question_request *request);

/* Ends the program with the experiments' names if there is none of this name. */
const smma_question *smma_require_question(const char *name, const char *option);

#endif
