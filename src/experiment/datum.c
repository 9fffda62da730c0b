#include "experiment/datum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "softmma/softmma.h"

static smma_datum *parameter_datum(const smma_experiment_parameter *p) {
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "name", p->name);
  smma_put_text(record, "value", p->value);
  smma_put_text(record, "small", p->small);
  smma_put_text(record, "meaning", p->meaning);
  return record;
}

static smma_datum *experiment_datum(const smma_experiment *e) {
  smma_datum *record = smma_datum_record(), *parameters = smma_datum_list();
  for (const smma_experiment_parameter *p = e->parameters; p->name; p++)
    smma_datum_append(parameters, parameter_datum(p));
  smma_put_text(record, "name", e->name);
  smma_put_text(record, "title", e->title);
  smma_put_text(record, "source", e->source);
  smma_datum_put(record, "parameters", parameters);
  return record;
}

smma_datum *smma_experiments_datum(void) {
  smma_datum *list = smma_datum_list();
  for (size_t i = 0; i < smma_experiment_count; i++) smma_datum_append(list, experiment_datum(smma_experiments[i]));
  return list;
}

/* Returns a field of the table, as a number if possible. */
static smma_datum *field_datum(const char *text) {
  char *end;
  const double number = strtod(text, &end);
  if (*end || end == text || !isfinite(number)) return smma_datum_text(text);
  return strspn(text, "0123456789") == strlen(text) ? smma_datum_count((int64_t)number) : smma_datum_real(number);
}

static smma_datum *row_datum(const smma_experiment_run *run, size_t row) {
  smma_datum *record = smma_datum_record();
  for (const char *const *column = run->experiment->columns; *column; column++)
    smma_datum_put(record, *column, field_datum(smma_table_text(run, row, *column)));
  return record;
}

smma_datum *smma_experiment_datum(const smma_experiment_run *run) {
  const smma_experiment *e = run->experiment;
  smma_datum *record = smma_datum_record(), *parameters = smma_datum_record(), *rows = smma_datum_list();
  for (size_t i = 0; e->parameters[i].name; i++) smma_put_text(parameters, e->parameters[i].name, run->value[i]);
  for (size_t row = 0; row < run->row_count; row++) smma_datum_append(rows, row_datum(run, row));
  smma_put_text(record, "experiment", e->name);
  smma_put_text(record, "softmma", smma_version());
  smma_put_count(record, "seed", run->seed);
  smma_datum_put(record, "parameters", parameters);
  smma_datum_put(record, "rows", rows);
  return record;
}
