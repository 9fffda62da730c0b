/* Definitions for kernels compiled for one operation: SMMA_OPERATION_WORDS (read by smma_operation_here),
   SMMA_OPERATION_ALGORITHM, SMMA_OPERATION_IS_G_FDPA and SMMA_OPERATION_K. */
#ifndef SMMA_DEVICE_CONSTANT_H
#define SMMA_DEVICE_CONSTANT_H

#include <stdio.h>
#include <string.h>

#include "core/rule.h"

enum { SMMA_OPERATION_COUNT = sizeof(smma_operation) / sizeof(int), SMMA_OPERATION_TEXT = 12 * SMMA_OPERATION_COUNT };

/* Prints the operation's words, separated by commas. */
static inline void smma_print_operation(const smma_operation *o, char text[SMMA_OPERATION_TEXT]) {
  int word[SMMA_OPERATION_COUNT];
  memcpy(word, o, sizeof *o);
  for (int i = 0; i < SMMA_OPERATION_COUNT; i++) text += sprintf(text, i ? ",%d" : "%d", word[i]);
}

#endif
