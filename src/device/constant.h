/* Prints an operation as the value of the macro SMMA_OPERATION_WORDS, for kernels compiled for one operation
   (smma_operation_here reads it). Such kernels also need the macros SMMA_OPERATION_ALGORITHM, SMMA_OPERATION_IS_G_FDPA
   and SMMA_OPERATION_K. */
#ifndef SMMA_DEVICE_CONSTANT_H
#define SMMA_DEVICE_CONSTANT_H

#include <stdio.h>
#include <string.h>

#include "core/rule.h"

enum { SMMA_OPERATION_COUNT = sizeof(smma_operation) / sizeof(int), SMMA_OPERATION_TEXT = 12 * SMMA_OPERATION_COUNT };

/* Prints the ints that an operation consists of to `text`, separated by commas. */
static inline void smma_print_operation(const smma_operation *o, char text[SMMA_OPERATION_TEXT]) {
  int word[SMMA_OPERATION_COUNT];
  memcpy(word, o, sizeof *o);
  for (int i = 0; i < SMMA_OPERATION_COUNT; i++) text += sprintf(text, i ? ",%d" : "%d", word[i]);
}

#endif
