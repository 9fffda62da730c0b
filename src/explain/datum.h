/* Converts explanations to data. */
#ifndef SMMA_EXPLAIN_DATUM_H
#define SMMA_EXPLAIN_DATUM_H

#include "datum/datum.h"
#include "explain/difference.h"

/* Returns an explanation as a record {"unit", "instruction", "model", "stages", "d", "value", "exact"}. */
smma_datum *smma_explanation_datum(const smma_explained *unit);

/* Returns one explanation as smma_explanation_datum does; two explanations as a record {"first_difference",
   "units"}. */
smma_datum *smma_explanations_datum(const smma_explained *unit, int count);

#endif
