/* Prints classes of mismatches as text. */
#ifndef SMMA_CLASSES_TEXT_H
#define SMMA_CLASSES_TEXT_H

#include <stdio.h>

#include "classes/datum.h"

void smma_print_classes(FILE *stream, const smma_classes *classes, const smma_class_words *words);

#endif
