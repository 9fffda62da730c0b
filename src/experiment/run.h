/* Running an experiment: cells in parallel, rows that survive an interruption, the files at the end. */
#ifndef SMMA_EXPERIMENT_RUN_H
#define SMMA_EXPERIMENT_RUN_H

#include "experiment/experiment.h"

/* Told behind each cell, by one thread at a time; true stops the run when the cells under way are done. */
typedef bool smma_experiment_watcher(size_t done, size_t cells, void *context);

/* Everything is as the experiment has it, `small` or not. */
void smma_experiment_start(smma_experiment_run *run, const smma_experiment *experiment, bool small);

/* "name=value" replaces the value of a parameter; the text must live as long as the run. */
bool smma_experiment_set(smma_experiment_run *run, const char *assignment, smma_error *error);

/* Where rows are kept, and which are to be computed. */
typedef struct {
  const char *part;        /* the file to which rows of cells go as soon as they are done; NULL: none */
  const char *const *more; /* files of other shards, whose cells are taken, too */
  size_t count;            /* of these */
  size_t shard, shards;    /* only cells shard, shard + shards, ...; shards 0: all */
} smma_experiment_state;

/* Computes all cells with so many threads (0: as many as OpenMP gives) and makes the table. What files hold already is
   not computed again. `*stopped`: the watcher ended the run, and there is no table; nor has a shard one. False with one
   line on errors, also if a file is of another run or damaged. The number of threads does not change a bit. */
bool smma_experiment_compute(smma_experiment_run *run, int threads, const smma_experiment_state *state,
                             smma_experiment_watcher *watcher, void *context, bool *stopped, smma_error *error);

/* "# key: value" lines: experiment, version, seed, parameters. */
void smma_experiment_print_head(const smma_experiment_run *run, FILE *out);

/* The table as CSV: these lines, the names of the columns, the rows. */
void smma_experiment_print_csv(const smma_experiment_run *run, FILE *out);

/* Releases the table. */
void smma_experiment_end(smma_experiment_run *run);

#endif
