#include "campaign/difference.h"

#include <stdlib.h>
#include <string.h>

#include "campaign/chain.h"
#include "rows/datum.h"

/* Two units that compute vectors of one instruction. */
typedef struct {
  const smma_instruction *as;
  smma_common_operands common;
  smma_unit chain[2];
} pair;

static bool open_pair(const smma_side side[2], pair *p, smma_error *error) {
  const smma_instruction *const i[2] = {side[0].instruction, side[1].instruction};
  const smma_nan_policy nan[2] = {i[0]->rule->rule.nan, i[1]->rule->rule.nan};
  const bool either_unknown = nan[0] == SMMA_NAN_QUIET || nan[1] == SMMA_NAN_QUIET;
  const smma_common_operands common = smma_common_operands_of(i);
  const bool same = smma_are_same_operands(&common);
  const bool any_nan = !same || (either_unknown && !(smma_has_one_nan(nan[0]) && smma_has_one_nan(nan[1])));
  smma_error why;
  *p = (pair){.as = i[same ? i[1]->k > i[0]->k : smma_narrower_operands(i)], .common = common};
  for (int s = 0; s < 2; s++)
    if (!smma_chain_open_common(side[s].unit, i[s], p->as, i[s]->k, any_nan, &common, &p->chain[s], &why)) {
      if (s == 1) smma_unit_close(&p->chain[0]);
      return smma_fail(error, "%s and %s cannot be compared: %s", side[0].label, side[1].label, why.text);
    }
  return true;
}

static void close_pair(pair *p) {
  smma_unit_close(&p->chain[0]);
  smma_unit_close(&p->chain[1]);
}

static bool go_on(const smma_campaign_result *result, void *context) {
  (void)result, (void)context;
  return false;
}

/* Compares the units on normal vectors, or on vectors of all kinds in turn. */
static bool compare_rows(pair *p, uint64_t rows, uint64_t seed, bool normal, smma_campaign_result *result,
                         smma_error *error) {
  const smma_campaign_recipe recipe = {seed, .kinds = normal ? 0 : SMMA_ROWS_IN_TURN, .kind = SMMA_ROWS_NORMAL};
  const smma_campaign c = {.unit = &p->chain[0], .against = &p->chain[1], .rows = rows, .recipe = recipe};
  smma_campaign_rows numbered = {0};
  bool stopped, done;
  *result = (smma_campaign_result){0};
  done = smma_campaign_run(&c, p->as, go_on, NULL, &numbered, result, &stopped, error);
  smma_campaign_rows_free(&numbered);
  return done && (!stopped || smma_fail(error, "interrupted"));
}

static int terms_of(const smma_instruction *i, const smma_row *row) {
  const smma_encoding a = smma_encoding_of(i->a), b = smma_encoding_of(i->b);
  int count = smma_decode(smma_encoding_of(i->c), row->c).kind != SMMA_ZERO;
  for (int k = 0; k < i->k; k++)
    count += smma_decode(a, row->a[k]).kind != SMMA_ZERO && smma_decode(b, row->b[k]).kind != SMMA_ZERO;
  return count;
}

static void offer(smma_unit_difference *d, const pair *p, const smma_row *found, uint64_t expected) {
  smma_row row = *found;
  smma_make_operands_common(&p->common, d->as->k, &row);
  const int terms = terms_of(d->as, &row);
  if (d->found && d->terms <= terms) return;
  d->found = true;
  d->terms = terms;
  d->row = row;
  d->expected = expected;
}

/* Asks both units for a vector that shows a feature of one unit; if they differ, minimises it. */
static bool try_witness(pair *p, const smma_row *witness, smma_unit_difference *d, smma_error *error) {
  const smma_operation o = smma_operation_of(d->as);
  smma_row row[2] = {*witness, *witness};
  uint64_t expected;
  for (int s = 0; s < 2; s++) {
    smma_subject subject = smma_subject_of(&p->chain[s], d->as);
    if (!smma_ask_subject(&subject, &row[s], 1)) return smma_fail(error, "%s", subject.error.text);
  }
  if (smma_same_result(&o, row[1].d, row[0].d)) return true;
  expected = row[1].d;
  if (!smma_minimise(&p->chain[0], &p->chain[1], d->as, &row[0], &expected, error)) return false;
  offer(d, p, &row[0], expected);
  return true;
}

static bool examine(pair *p, smma_unit_difference *d, smma_error *error) {
  for (int s = 0; s < 2; s++) {
    d->examination[s] = malloc(sizeof *d->examination[s]);
    if (!d->examination[s]) return smma_no_memory(error);
    if (!smma_examine(&p->chain[s], d->as, SMMA_REPEATED_ROWS, d->examination[s], error)) return false;
  }
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < SMMA_PROBE_COUNT; i++) {
      const smma_finding *f = &d->examination[s]->findings[i];
      if (f->has_witness && !try_witness(p, &f->witness, d, error)) return false;
    }
  return true;
}

bool smma_find_unit_difference(const smma_side side[2], uint64_t rows, uint64_t seed, smma_unit_difference *d,
                               smma_error *error) {
  pair p;
  bool done;
  *d = (smma_unit_difference){.examination = {NULL}};
  if (!open_pair(side, &p, error)) return false;
  d->as = p.as;
  done = examine(&p, d, error) && compare_rows(&p, rows, seed, false, &d->all, error) &&
         compare_rows(&p, rows, seed, true, &d->normal, error);
  if (d->all.has_example) offer(d, &p, &d->all.example, d->all.expected);
  if (d->normal.has_example) offer(d, &p, &d->normal.example, d->normal.expected);
  close_pair(&p);
  return done;
}

void smma_free_unit_difference(smma_unit_difference *d) {
  free(d->examination[0]);
  free(d->examination[1]);
}

bool smma_feature_differs(const smma_unit_difference *d, smma_probe_id probe) {
  const smma_finding *x = &d->examination[0]->findings[probe], *y = &d->examination[1]->findings[probe];
  return *x->value && *y->value && strcmp(x->value, y->value) != 0;
}

bool smma_find_difference_rate(const smma_side side[2], uint64_t rows, uint64_t seed, double *rate, smma_error *error) {
  smma_campaign_result all, normal;
  pair p;
  bool done;
  if (!open_pair(side, &p, error)) return false;
  done = compare_rows(&p, rows, seed, false, &all, error) && compare_rows(&p, rows, seed, true, &normal, error);
  close_pair(&p);
  if (done) *rate = all.mismatches || normal.mismatches ? (double)normal.mismatches / (double)normal.rows : -1;
  return done;
}

/* ---- Data ---- */

static smma_datum *features_datum(const smma_unit_difference *d) {
  smma_datum *features = smma_datum_table();
  for (int p = 0; p < SMMA_PROBE_COUNT; p++) {
    smma_datum *feature;
    if (!smma_feature_differs(d, (smma_probe_id)p)) continue;
    feature = smma_datum_record();
    smma_put_text(feature, "feature", smma_probes[p].name);
    smma_put_text(feature, "x", d->examination[0]->findings[p].value);
    smma_put_text(feature, "y", d->examination[1]->findings[p].value);
    smma_put_text(feature, "title", smma_probes[p].title);
    smma_datum_append(features, feature);
  }
  return features;
}

static smma_datum *example_datum(const smma_unit_difference *d) {
  smma_datum *record = smma_datum_record();
  smma_put_operands(record, d->as, &d->row);
  smma_datum_put(record, "d",
                 smma_datum_list_of(2, smma_encodings_datum(d->as->d, &d->row.d, 1),
                                    smma_encodings_datum(d->as->d, &d->expected, 1)));
  smma_put_count(record, "terms", (uint64_t)d->terms);
  return record;
}

smma_datum *smma_unit_difference_datum(const smma_side side[2], const char *const on[2],
                                       const smma_unit_difference *d) {
  const char *const instr[2] = {side[0].instruction->name, side[1].instruction->name};
  const char *const units[2] = {side[0].unit->name, side[1].unit->name};
  smma_datum *record = smma_datum_record();
  smma_datum_put(record, "on", smma_datum_texts(on, 2));
  smma_datum_put(record, "instr", smma_datum_texts(instr, 2));
  smma_datum_put(record, "units", smma_datum_texts(units, 2));
  smma_put_text(record, "rows_of", d->as->name);
  smma_put_flag(record, "differ", d->found);
  smma_put_count(record, "normal_rows", d->normal.rows);
  smma_put_count(record, "normal_mismatches", d->normal.mismatches);
  smma_put_count(record, "rows", d->all.rows);
  smma_put_count(record, "mismatches", d->all.mismatches);
  smma_datum_put(record, "features", features_datum(d));
  if (d->found) smma_datum_put(record, "example", example_datum(d));
  smma_put_flag(record, "common_operands",
                side[0].instruction->a != side[1].instruction->a || side[0].instruction->b != side[1].instruction->b);
  return record;
}
