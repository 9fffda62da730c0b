#include "campaign/differences.h"

#include <stdlib.h>
#include <string.h>

/* Examines every side. Sums of integers have no features. */
static bool examine(smma_differences *d, smma_error *error) {
  const smma_differences_request *r = d->request;
  for (size_t i = 0; i < r->sides; i++)
    if (smma_is_integer(r->side[i].instruction->d)) return true;
  d->examination = calloc(r->sides, sizeof *d->examination);
  if (!d->examination) return smma_no_memory(error);
  for (size_t i = 0; i < r->sides; i++)
    if (!smma_examine(r->side[i].unit, r->side[i].instruction, SMMA_REPEATED_ROWS, &d->examination[i], error))
      return false;
  return true;
}

bool smma_find_differences(const smma_differences_request *r, smma_differences *d, smma_error *error) {
  *d = (smma_differences){.request = r, .same = true};
  if (r->sides < 2 || r->sides > SMMA_MOST_SIDES)
    return smma_fail(error, "on: %zu units; 2 to %d are compared", r->sides, SMMA_MOST_SIDES);
  for (size_t i = 0; i < r->sides; i++)
    for (size_t j = 0; j < i; j++) {
      const smma_side two[2] = {r->side[i], r->side[j]};
      if (!smma_find_difference_rate(two, r->rows, r->seed, &d->rate[i][j], error)) return false;
      d->rate[j][i] = d->rate[i][j];
      d->same = d->same && d->rate[i][j] < 0;
    }
  return d->same || examine(d, error);
}

void smma_free_differences(smma_differences *d) { free(d->examination); }

bool smma_features_differ(const smma_differences *d, smma_probe_id probe) {
  for (size_t i = 1; d->examination && i < d->request->sides; i++)
    if (!smma_same_finding(&d->examination[0].findings[probe], &d->examination[i].findings[probe])) return true;
  return false;
}

/* ---- Data ---- */

static smma_datum *pairs_datum(const smma_differences *d) {
  const smma_differences_request *r = d->request;
  smma_datum *pairs = smma_datum_list();
  for (size_t i = 0; i < r->sides; i++)
    for (size_t j = i + 1; j < r->sides; j++) {
      smma_datum *pair = smma_datum_record();
      const bool differ = d->rate[i][j] >= 0;
      smma_put_text(pair, "x", r->on[i]);
      smma_put_text(pair, "y", r->on[j]);
      smma_put_flag(pair, "differ", differ);
      smma_put_real(pair, "share", differ ? d->rate[i][j] : 0);
      smma_datum_append(pairs, pair);
    }
  return pairs;
}

static smma_datum *feature_datum(const smma_differences *d, smma_probe_id probe) {
  smma_datum *feature = smma_datum_record(), *values = smma_datum_list();
  for (size_t i = 0; i < d->request->sides; i++) {
    const char *value = d->examination[i].findings[probe].value;
    smma_datum_append(values, *value ? smma_datum_text(value) : smma_datum_null());
  }
  smma_put_text(feature, "feature", smma_probes[probe].name);
  smma_put_text(feature, "title", smma_probes[probe].title);
  smma_datum_put(feature, "values", values);
  return feature;
}

smma_datum *smma_differences_datum(const smma_differences *d) {
  const smma_differences_request *r = d->request;
  smma_datum *record = smma_datum_record(), *instr = smma_datum_list(), *units = smma_datum_list(),
             *features = smma_datum_table();
  for (size_t i = 0; i < r->sides; i++) {
    smma_datum_append(instr, smma_datum_text(r->side[i].instruction->name));
    smma_datum_append(units, smma_datum_text(r->side[i].unit->name));
  }
  for (int probe = 0; probe < SMMA_PROBE_COUNT; probe++)
    if (smma_features_differ(d, (smma_probe_id)probe))
      smma_datum_append(features, feature_datum(d, (smma_probe_id)probe));
  smma_datum_put(record, "pairs", pairs_datum(d));
  smma_datum_put(record, "on", smma_datum_texts(r->on, r->sides));
  smma_datum_put(record, "instr", instr);
  smma_datum_put(record, "units", units);
  smma_put_count(record, "rows", r->rows);
  smma_put_flag(record, "differ", !d->same);
  smma_datum_put(record, "features", features);
  return record;
}
