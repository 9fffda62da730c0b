/* `campaign --open`: what a unit answers to the open questions. */
#ifndef SMMA_CLI_QUESTIONS_H
#define SMMA_CLI_QUESTIONS_H

#include "cli/cli.h"
#include "question/ask.h"

/* Puts the questions, prints the answers and returns the exit status: SMMA_EXIT_EQUAL if each is the model's. Ends the
   program with one line if nothing can be asked or the unit fails. */
int smma_print_open_answers(smma_question_request *request, bool json);

#endif
