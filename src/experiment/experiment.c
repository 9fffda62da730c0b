#include "experiment/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/count.h"
#include "isa/key.h"

const smma_experiment *const smma_experiments[] = {
#define SMMA_EXPERIMENT(symbol) &smma_experiment_##symbol,
#include "experiment/experiment.def"
#undef SMMA_EXPERIMENT
};

const size_t smma_experiment_count = sizeof smma_experiments / sizeof smma_experiments[0];

const smma_experiment *smma_experiment_find(const char *name) {
  for (size_t i = 0; i < smma_experiment_count; i++)
    if (strcmp(smma_experiments[i]->name, name) == 0) return smma_experiments[i];
  return NULL;
}

/* ---- Parameters ---- */

const char *smma_parameter_text(const smma_experiment_run *run, const char *name) {
  const smma_experiment_parameter *p = run->experiment->parameters;
  size_t i = 0;
  while (strcmp(p[i].name, name) != 0) i++;
  return run->value[i];
}

bool smma_parameter_fail(const smma_experiment_run *run, const char *name, const char *allowed, smma_error *error) {
  return smma_fail(error, "%s: %s: '%s' is not %s", run->experiment->name, name, smma_parameter_text(run, name),
                   allowed);
}

bool smma_parameter_count(const smma_experiment_run *run, const char *name, size_t least, size_t most, size_t *value,
                          smma_error *error) {
  const char *text = smma_parameter_text(run, name);
  char allowed[80];
  long long number;
  const bool read = smma_read_count(text, &number) && number >= 0;
  *value = read ? (size_t)number : 0;
  if (read && *value >= least && *value <= most) return true;
  snprintf(allowed, sizeof allowed, "a whole number from %zu to %zu", least, most);
  return smma_parameter_fail(run, name, allowed, error);
}

/* ---- Rows ---- */

static size_t column_count(const smma_experiment *e) {
  size_t count = 0;
  while (e->columns[count]) count++;
  return count;
}

/* Returns the character after the field that is written next. */
static char end_of_field(smma_experiment_run *run) {
  run->fields = (run->fields + 1) % column_count(run->experiment);
  return run->fields ? ',' : '\n';
}

void smma_row_text(smma_experiment_run *run, const char *text) {
  for (; *text; text++) fputc(*text == ',' ? ';' : *text, run->rows);
  fputc(end_of_field(run), run->rows);
}

void smma_row_number(smma_experiment_run *run, double number) {
  fprintf(run->rows, "%.17g%c", number, end_of_field(run));
}

void smma_row_count(smma_experiment_run *run, size_t count) { fprintf(run->rows, "%zu%c", count, end_of_field(run)); }

size_t smma_table_rows(const smma_experiment_run *run) { return run->row_count; }

const char *smma_table_text(const smma_experiment_run *run, size_t row, const char *column) {
  const char *const *columns = run->experiment->columns;
  size_t i = 0;
  while (strcmp(columns[i], column) != 0) i++;
  return run->field[row * column_count(run->experiment) + i];
}

double smma_table_number(const smma_experiment_run *run, size_t row, const char *column) {
  return strtod(smma_table_text(run, row, column), NULL);
}

bool smma_table_has(const smma_experiment_run *run, size_t row, const char *const *where) {
  for (; *where; where += 2)
    if (strcmp(smma_table_text(run, row, where[0]), where[1]) != 0) return false;
  return true;
}

double smma_table_find(const smma_experiment_run *run, const char *const *where, const char *column) {
  for (size_t row = 0; row < run->row_count; row++)
    if (smma_table_has(run, row, where)) return smma_table_number(run, row, column);
  return NAN;
}

const smma_experiment *smma_experiment_require(const char *name, smma_error *error) {
  const smma_experiment *e = smma_experiment_find(name);
  char list[512] = "";
  if (e) return e;
  for (size_t i = 0; i < smma_experiment_count; i++)
    smma_append_text(list, sizeof list, "%s%s", i ? ", " : "", smma_experiments[i]->name);
  smma_fail(error, "unknown experiment '%s'; experiments are %s", name, list);
  return NULL;
}
