/* The request to stop, which all units obey. */
#include "unit/unit.h"

static bool (*stopped_by)(void);

void smma_units_stop_when(bool (*stopped)(void)) { stopped_by = stopped; }

bool smma_units_stopped(void) { return stopped_by && stopped_by(); }
