/* Parts of gnuplot scripts that draw the rows of an experiment. */
#ifndef SMMA_EXPERIMENT_PLOT_H
#define SMMA_EXPERIMENT_PLOT_H

#include "experiment/experiment.h"

/* The whole script for one format: "svg" or "pngcairo"; output is where gnuplot was started. Line types 1 to 10 have
   colours that differ for every kind of sight (Okabe and Ito's without the yellow; grey, indigo, wine), a mark and
   dashes each. */
void smma_plot_script(const smma_experiment_run *run, const char *terminal, FILE *script);

/* A block of data named `block` ("$data"): the columns (ended by NULL) of the rows that have `where`, see
   smma_table_has. Whether there is any. */
bool smma_plot_block(const smma_experiment_run *run, FILE *script, const char *block, const char *const *where,
                     const char *const *columns);

/* The last part of a multiplot: a legend across the lowest `height` of the picture, a fraction. Title i, of `count`,
   stands for line type i + 1. */
void smma_plot_legend(FILE *script, const char *const *titles, size_t count, int columns, double height);

#endif
