/* Prints classes of mismatches. */
#ifndef SMMA_CLI_CLASSES_H
#define SMMA_CLI_CLASSES_H

#include "classes/datum.h"

void smma_print_classes(const smma_classes *classes, const smma_class_words *words);

#endif
