/* Prints the answers of `diff --prove` and `diff --permute`. */
#ifndef SMMA_CLI_PROVE_H
#define SMMA_CLI_PROVE_H

#include "equal/study.h"

void smma_print_equal(const smma_equal_request *request, const smma_equal_result *found);

#endif
