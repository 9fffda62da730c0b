/* Access to the test vectors of a recorded file. */
#ifndef SMMA_UNIT_RECORDING_H
#define SMMA_UNIT_RECORDING_H

#include "rows/rows.h"
#include "unit/unit.h"

/* Returns the test vectors, with their instruction, of an open unit of kind `file`. */
const smma_rows *smma_recorded_rows(const smma_unit *unit, size_t *count);

#endif
