/* Repeats the probes with products at other places. */
#ifndef SMMA_PROBE_ELSEWHERE_H
#define SMMA_PROBE_ELSEWHERE_H

#include "probe/probe.h"

/* Runs each probe at every product to which its focus (smma_focus) can move, and adds the findings that differ to the
   probe's value. Returns false if the unit fails. */
bool smma_examine_elsewhere(smma_examination *examination, smma_error *error);

/* Runs one probe and stores its finding in the examination. Returns false with a message if the unit fails. */
bool smma_run_probe(smma_examination *examination, int probe, smma_error *error);

/* Reports whether a normal c passes unchanged through each block to the next. */
bool smma_normal_c_passes(const smma_examination *examination);

#endif
