/* What a GPU's matrix unit computes, one record for each kind of sum. */
#ifndef SMMA_FACTS_GPU_H
#define SMMA_FACTS_GPU_H

#include "datum/datum.h"
#include "isa/catalogue.h"

/* Returns {"arch", "vendor", "title", "instructions", "sums", "evidence", "questions"}. "sums" is a list of {"inputs",
   "d", "sum", "instruction", "instructions"}: the formats of A and B of all instructions that sum in this way, the
   format of D, the sum in words, the first of these instructions, and their number. */
smma_datum *smma_gpu_datum(const char *gpu_or_arch);

#endif
