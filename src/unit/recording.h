/* What only a recorded file can tell: the rows that it knows. */
#ifndef SMMA_UNIT_RECORDING_H
#define SMMA_UNIT_RECORDING_H

#include "rows/rows.h"
#include "unit/unit.h"

/* The rows of an open unit of kind `file`, and of which instruction they are. */
const smma_rows *smma_recorded_rows(const smma_unit *unit, size_t *count);

#endif
