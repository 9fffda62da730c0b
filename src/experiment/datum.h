/* Experiments and their tables as data. */
#ifndef SMMA_EXPERIMENT_DATUM_H
#define SMMA_EXPERIMENT_DATUM_H

#include "datum/datum.h"
#include "experiment/experiment.h"

/* Returns a list of all experiments: {"name", "title", "source", "parameters"}; a parameter is {"name", "value",
   "small", "meaning"}. */
smma_datum *smma_experiments_datum(void);

/* Returns the table of a run whose cells are all computed: {"experiment", "softmma", "seed", "parameters", "rows"}.
   A row has a member for each column, with a number if the field is a number. */
smma_datum *smma_experiment_datum(const smma_experiment_run *run);

#endif
