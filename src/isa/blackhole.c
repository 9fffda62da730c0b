/* Tenstorrent's Blackhole: the instruction MVMUL. */
#include "isa/rows.h"
#include "isa/tensix.def"

static const smma_instruction rows[] = {MVMUL_FORMATS(blackhole)};
SMMA_TABLE(blackhole);
