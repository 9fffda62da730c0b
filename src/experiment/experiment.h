/* Numerical experiments on matrix units: what an experiment is, and what it uses to be one. run.h runs them. */
#ifndef SMMA_EXPERIMENT_EXPERIMENT_H
#define SMMA_EXPERIMENT_EXPERIMENT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "io/error.h"

enum { SMMA_MOST_PARAMETERS = 16 };

/* A parameter is text: `value` without --set, `small` with --small. */
typedef struct {
  const char *name, *value, *small, *meaning;
} smma_experiment_parameter;

typedef struct smma_experiment smma_experiment;
typedef struct smma_experiment_run smma_experiment_run;

struct smma_experiment {
  const char *name;                            /* "multiword" */
  const char *title;                           /* one line for lists */
  const char *source;                          /* which paper, which figure */
  const smma_experiment_parameter *parameters; /* at most SMMA_MOST_PARAMETERS, ended by a NULL name */
  const char *const *columns;                  /* of the CSV; ended by NULL */
  int width, height;                           /* of the picture, in pixels */
  /* Checks the parameters and says how many cells of work there are. False with one line; then nothing is left to
     finish. */
  bool (*prepare)(smma_experiment_run *run, size_t *cells, smma_error *error);
  /* Adds one or more rows. Seed, parameters and cell alone decide their bits. Cells are computed by several threads at
     once, each with a run of its own that shares `context`; one should take seconds. */
  bool (*compute)(smma_experiment_run *run, size_t cell, smma_error *error);
  /* The rows in words, lines of at most 100 columns. */
  void (*summarise)(const smma_experiment_run *run, FILE *out);
  /* The rows as a script for gnuplot. Terminal, output and line types (plot.h) are set before. */
  void (*plot)(const smma_experiment_run *run, FILE *script);
  /* Frees what prepare made; may be NULL. */
  void (*finish)(smma_experiment_run *run);
};

/* Experiments use `seed`, `context` and the functions below. */
struct smma_experiment_run {
  const smma_experiment *experiment;
  uint64_t seed;
  const char *value[SMMA_MOST_PARAMETERS]; /* of each parameter */
  void *context;                           /* what prepare made */
  FILE *rows;                              /* of the cell being computed, as CSV */
  size_t fields;                           /* written of its last row */
  char *text;                              /* of all cells: the CSV without its head */
  const char **field;                      /* in that text, row by row */
  size_t row_count;
};

/* ---- Parameters ---- */

/* The experiment has it. */
const char *smma_parameter_text(const smma_experiment_run *run, const char *name);

/* A whole number from `least` to `most`; else false with one line. */
bool smma_parameter_count(const smma_experiment_run *run, const char *name, size_t least, size_t most, size_t *value,
                          smma_error *error);

/* Fails for the parameter: "multiword: n: 'abc' is ...". */
bool smma_parameter_fail(const smma_experiment_run *run, const char *name, const char *allowed, smma_error *error);

/* ---- Rows ---- */

/* The fields of a row, in order of the columns; the last one ends the row. Text has no comma, quote or line's end.
   Numbers read back exactly. */
void smma_row_text(smma_experiment_run *run, const char *text);
void smma_row_number(smma_experiment_run *run, double number);
void smma_row_count(smma_experiment_run *run, size_t count);

/* When all cells are computed: rows in order of cells. */
size_t smma_table_rows(const smma_experiment_run *run);
const char *smma_table_text(const smma_experiment_run *run, size_t row, const char *column);
double smma_table_number(const smma_experiment_run *run, size_t row, const char *column);

/* Whether the row has these: column, value, column, value, ..., NULL. */
bool smma_table_has(const smma_experiment_run *run, size_t row, const char *const *where);

/* The number in `column` of the first row that has these; NaN without one. */
double smma_table_find(const smma_experiment_run *run, const char *const *where, const char *column);

/* ---- All of them ---- */

extern const smma_experiment *const smma_experiments[];
extern const size_t smma_experiment_count;

/* NULL if there is none. */
const smma_experiment *smma_experiment_find(const char *name);

/* The same; where there is none the error names the nearest. */
const smma_experiment *smma_experiment_require(const char *name, smma_error *error);

#define SMMA_EXPERIMENT(symbol) extern const smma_experiment smma_experiment_##symbol;
#include "experiment/experiment.def"
#undef SMMA_EXPERIMENT

#endif
