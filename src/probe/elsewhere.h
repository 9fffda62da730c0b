/* The same probes with products at other places. */
#ifndef SMMA_PROBE_ELSEWHERE_H
#define SMMA_PROBE_ELSEWHERE_H

#include "probe/probe.h"

/* Asks each probe with its focus at every product that it can stand at, and adds to its value what is found there and
   is not the same. False if the unit fails. */
bool smma_examine_elsewhere(smma_examination *examination, smma_error *error);

bool smma_run_probe(smma_examination *examination, int probe, smma_error *error);

/* Whether a normal c comes through each block as it is, to the next. */
bool smma_normal_c_passes(const smma_examination *examination);

/* "0 to 7, 9": the numbers below `count` of which `set` is true. */
void smma_name_places(const bool *set, int count, char *text, size_t size);

#endif
