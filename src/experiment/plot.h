/* Parts of gnuplot scripts that draw the rows of an experiment. */
#ifndef SMMA_EXPERIMENT_PLOT_H
#define SMMA_EXPERIMENT_PLOT_H

#include "experiment/experiment.h"

/* Writes the whole script for one format, "svg" or "pngcairo". The output is written in the directory in which
   gnuplot runs. */
void smma_plot_script(const smma_experiment_run *run, const char *terminal, FILE *script);

/* Writes a block of data with the name `block` ("$data"). It has the columns of a NULL-terminated list, for the rows
   that match `where` (see smma_table_has). Returns whether any row matches. */
bool smma_plot_block(const smma_experiment_run *run, FILE *script, const char *block, const char *const *where,
                     const char *const *columns);

/* Writes the last part of a multiplot: a legend across the lowest `height` of the picture, a fraction. Title i, of
   `count`, belongs to line type i + 1. */
void smma_plot_legend(FILE *script, const char *const *titles, size_t count, int columns, double height);

#endif
