/* Runs an experiment: computes cells in parallel, saves rows so that they survive an interruption, and writes the
   files at the end. */
#ifndef SMMA_EXPERIMENT_RUN_H
#define SMMA_EXPERIMENT_RUN_H

#include "experiment/experiment.h"
#include "host/watch.h"

/* Starts a run with the experiment's default parameters, or the `small` ones. */
void smma_experiment_start(smma_experiment_run *run, const smma_experiment *experiment, bool small);

/* Replaces the value of a parameter by an assignment "name=value". The text must live as long as the run. */
bool smma_experiment_set(smma_experiment_run *run, const char *assignment, smma_error *error);

/* The files of a run, and the cells to compute. */
typedef struct {
  const char *part; /* file to which the rows of a cell are written as soon as the cell is computed; NULL: no file */
  const char *const *more; /* files of other shards; their cells are used, too */
  size_t count;            /* number of these files */
  size_t shard, shards;    /* only cells shard, shard + shards, ...; shards 0: all */
} smma_experiment_state;

/* Computes the cells that are missing in the files, and makes the table. If `threads` is 0, uses OpenMP's default; the
   number of threads does not change the results. One thread at a time calls the watcher after each cell. If it ends the
   run, the cells in progress are completed, `*stopped` becomes true, and there is no table; a shard has no table
   either. Returns false with a one-line message on errors, for example if a file belongs to another run or is damaged.
 */
bool smma_experiment_compute(smma_experiment_run *run, int threads, const smma_experiment_state *state,
                             smma_watcher *watcher, void *context, bool *stopped, smma_error *error);

/* Prints "# key: value" lines: experiment, version, seed, parameters. */
void smma_experiment_print_head(const smma_experiment_run *run, FILE *out);

/* Prints the source of an experiment in parentheses, in lines of at most 98 columns. */
void smma_experiment_print_source(const smma_experiment *experiment, FILE *out);

/* Prints the title, the source and the summary of a run. */
void smma_experiment_print_summary(const smma_experiment_run *run, FILE *out);

/* Prints the table as CSV: the lines of smma_experiment_print_head, the names of the columns, the rows. */
void smma_experiment_print_csv(const smma_experiment_run *run, FILE *out);

/* Releases the table. */
void smma_experiment_end(smma_experiment_run *run);

#endif
