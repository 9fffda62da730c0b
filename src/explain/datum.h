/* Explanations as data. */
#ifndef SMMA_EXPLAIN_DATUM_H
#define SMMA_EXPLAIN_DATUM_H

#include "datum/datum.h"
#include "explain/difference.h"

/* Returns {"unit", "instruction", "model", "stages", "d", "value", "exact"}. */
smma_datum *smma_explanation_datum(const smma_explained *unit);

/* Returns the data of one unit; for two units {"first_difference", "units"}. */
smma_datum *smma_explanations_datum(const smma_explained *unit, int count);

#endif
