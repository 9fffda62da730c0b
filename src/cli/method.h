/* The options of accurate products: --method, --words, --accuracy, --sum, --subnormals. */
#ifndef SMMA_CLI_METHOD_H
#define SMMA_CLI_METHOD_H

#include "cli/cli.h"

typedef struct {
  const char *method, *sum, *subnormals;
  int words;       /* 0: not given */
  double accuracy; /* 0: not given */
} smma_method_options;

/* Fills `how` and returns true if there is a method. Ends the program with one line if the options contradict each
   other or the instruction. */
bool smma_choose_method(const smma_method_options *o, const smma_instruction *instruction, smma_words *how);

#endif
