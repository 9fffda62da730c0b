/* Defines numerical experiments on matrix units, and the functions that they use. run.h runs them. */
#ifndef SMMA_EXPERIMENT_EXPERIMENT_H
#define SMMA_EXPERIMENT_EXPERIMENT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "host/error.h"

enum { SMMA_MOST_PARAMETERS = 16 };

/* A parameter, as text: `value` is the default, `small` the default with --small. */
typedef struct {
  const char *name, *value, *small, *meaning;
} smma_experiment_parameter;

typedef struct smma_experiment smma_experiment;
typedef struct smma_experiment_run smma_experiment_run;

struct smma_experiment {
  const char *name;                            /* "multiword" */
  const char *title;                           /* one line for lists */
  const char *source;                          /* the paper and the figure */
  const smma_experiment_parameter *parameters; /* at most SMMA_MOST_PARAMETERS, ended by a NULL name */
  const char *const *columns;                  /* names of the CSV's columns, ended by NULL */
  int width, height;                           /* size of the picture, in pixels */
  size_t context_bytes;                        /* size of the struct `context`, which is zero before `prepare` */
  /* Checks the parameters, fills `context` and sets `*cells` to the number of cells, which are parts of the work.
     Returns false with a one-line message if it fails. */
  bool (*prepare)(smma_experiment_run *run, size_t *cells, smma_error *error);
  /* Adds one or more rows. Their bits depend only on seed, parameters and cell. Several threads compute cells at the
     same time. Each thread has its own run, and all runs share `context`. A cell should take seconds. */
  bool (*compute)(smma_experiment_run *run, size_t cell, smma_error *error);
  /* Writes a summary of the rows, in lines of at most 100 columns. */
  void (*summarise)(const smma_experiment_run *run, FILE *out);
  /* Writes a gnuplot script that draws the rows. The caller has already set terminal, output and line types
     (plot.h). */
  void (*plot)(const smma_experiment_run *run, FILE *script);
  /* Frees what prepare put into `context`, also if prepare failed; may be NULL. */
  void (*finish)(smma_experiment_run *run);
};

/* Experiments use `seed`, `context` and the functions below. */
struct smma_experiment_run {
  const smma_experiment *experiment;
  uint64_t seed;
  const char *value[SMMA_MOST_PARAMETERS]; /* value of each parameter */
  void *context;                           /* what prepare filled */
  FILE *rows;                              /* rows of the current cell, as CSV */
  size_t fields;                           /* number of fields written so far in the last row */
  char *text;                              /* rows of all cells: the CSV without its head */
  const char **field;                      /* pointers into `text`, row by row */
  size_t row_count;
};

/* ---- Parameters ---- */

/* Returns the text of a parameter, which the experiment must have. */
const char *smma_parameter_text(const smma_experiment_run *run, const char *name);

/* Reads a parameter as a whole number from `least` to `most`; otherwise returns false with a one-line message. */
bool smma_parameter_count(const smma_experiment_run *run, const char *name, size_t least, size_t most, size_t *value,
                          smma_error *error);

/* Fails for the parameter: "multiword: n: 'abc' is ...". */
bool smma_parameter_fail(const smma_experiment_run *run, const char *name, const char *allowed, smma_error *error);

/* ---- Rows ---- */

/* Write the next field of a row, in order of the columns; the last field ends the row. A text must not contain quotes
   or line breaks; its commas are replaced by semicolons. Numbers have all digits that are needed to read them back
   exactly. */
void smma_row_text(smma_experiment_run *run, const char *text);
void smma_row_number(smma_experiment_run *run, double number);
void smma_row_count(smma_experiment_run *run, size_t count);

/* Return the number of rows, and a field of a row. Valid after all cells are computed; rows are in order of cells. */
size_t smma_table_rows(const smma_experiment_run *run);
const char *smma_table_text(const smma_experiment_run *run, size_t row, const char *column);
double smma_table_number(const smma_experiment_run *run, size_t row, const char *column);

/* Reports whether the row has the values in `where`, a list of column, value, column, value, ..., NULL. */
bool smma_table_has(const smma_experiment_run *run, size_t row, const char *const *where);

/* Returns the number in `column` of the first row that has the values in `where`; NaN if there is no such row. */
double smma_table_find(const smma_experiment_run *run, const char *const *where, const char *column);

/* ---- All experiments ---- */

extern const smma_experiment *const smma_experiments[];
extern const size_t smma_experiment_count;

/* Returns the experiment of that name, or NULL. */
const smma_experiment *smma_experiment_find(const char *name);

/* Returns the experiment of that name. Otherwise returns NULL with an error that lists all. */
const smma_experiment *smma_experiment_require(const char *name, smma_error *error);

#define SMMA_EXPERIMENT(symbol) extern const smma_experiment smma_experiment_##symbol;
#include "experiment/experiment.def"
#undef SMMA_EXPERIMENT

#endif
