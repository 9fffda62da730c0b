/* Tenstorrent's Wormhole: the instruction MVMUL. */
#include "isa/rows.h"
#include "isa/tensix.def"

static const smma_instruction rows[] = {MVMUL_FORMATS(wormhole)};
SMMA_TABLE(wormhole);
