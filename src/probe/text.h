/* The features of units as text. */
#ifndef SMMA_PROBE_TEXT_H
#define SMMA_PROBE_TEXT_H

#include <stdio.h>

#include "probe/probe.h"

/* Writes what a probe found, or why it cannot tell. */
enum { SMMA_FINDING_TEXT = 440 };
void smma_finding_text(const smma_finding *finding, char text[SMMA_FINDING_TEXT]);

typedef struct {
  const char *label;
  const smma_examination *examination;
} smma_labelled_examination;

/* Prints the values of each feature, each with the labels that have it; of all features, or only of those that
   differ. Returns the number of features that differ. */
int smma_print_features(FILE *stream, const smma_labelled_examination *of, int count, bool only_different);

#endif
