/* `campaign --open`: the experiments on open questions. */
#ifndef SMMA_CLI_QUESTIONS_H
#define SMMA_CLI_QUESTIONS_H

#include "cli/cli.h"
#include "question/ask.h"

/* Runs the experiments and prints the unit's answers. Returns SMMA_EXIT_EQUAL if each answer is the model's, otherwise
   SMMA_EXIT_DIFFERENT. Ends the program with one line if no experiment applies or the unit fails. */
int smma_print_open_answers(smma_question_request *request, bool json);

#endif
