/* Converts the outcome of a search to data. */
#include "rows/datum.h"

#include "infer/report.h"
#include "isa/catalogue.h"
#include "rows/generate.h"

static smma_datum *row_datum(const smma_instruction *i, const smma_row *row, const char *key, uint64_t other) {
  smma_datum *record = smma_datum_record();
  smma_put_operands(record, i, row);
  smma_datum_put(record, "d", smma_encodings_datum(i->d, &row->d, 1));
  if (key) smma_datum_put(record, key, smma_encodings_datum(i->d, &other, 1));
  return record;
}

/* Returns a vector of the proof as data. If `key` is not NULL, adds `other`, another result for the vector, as
   `key`. */
static smma_datum *proof_datum(const smma_instruction *i, const smma_inference *f, size_t at, const char *key,
                               uint64_t other) {
  smma_row row;
  smma_rows_get(&f->proof, at, &row);
  return row_datum(i, &row, key, other);
}

static void put_value(smma_datum *record, const smma_key *key, int value) {
  char text[64];
  smma_put_text(record, "value", smma_key_value(key, value, text, sizeof text));
}

static smma_datum *neighbour_datum(const smma_instruction *i, const smma_inference *f, const smma_infer_neighbour *n) {
  smma_datum *record = smma_datum_record();
  put_value(record, n->key, n->other);
  smma_put_text(record, "is", smma_infer_neighbour_text(n->is));
  if (n->is != SMMA_FREE) smma_datum_put(record, "row", proof_datum(i, f, n->row, "with_value", n->other_d));
  return record;
}

static smma_datum *parameters_datum(const smma_instruction *i, const smma_inference *f) {
  smma_datum *list = smma_datum_list();
  for (size_t at = 0, next; at < f->neighbours; at = next) {
    const smma_infer_neighbour *n = &f->neighbour[at];
    smma_datum *record = smma_datum_record(), *neighbours = smma_datum_list();
    next = smma_next_inferred_key(f, at);
    for (size_t x = at; x < next; x++) smma_datum_append(neighbours, neighbour_datum(i, f, &f->neighbour[x]));
    smma_datum_put(record, "step", n->step < 0 ? smma_datum_null() : smma_datum_count(n->step + 1));
    smma_put_text(record, "key", n->key->key);
    put_value(record, n->key, n->value);
    smma_datum_put(record, "neighbours", neighbours);
    smma_datum_append(list, record);
  }
  return list;
}

/* Returns a record with [mismatches, vectors] for each kind of new vectors. It is empty if the samples are compared. */
static smma_datum *kinds_datum(const smma_inference *f) {
  smma_datum *kinds = smma_datum_record();
  for (int kind = 0; kind < SMMA_ROWS_IN_TURN && !f->misfit.of_samples; kind++)
    smma_datum_put(kinds, smma_row_kind_text((smma_row_kind)kind),
                   smma_datum_list_of(2, smma_datum_count((int64_t)f->misfit.wrong_of[kind]),
                                      smma_datum_count((int64_t)f->misfit.of_kind[kind])));
  return kinds;
}

static smma_datum *misfit_datum(const smma_instruction *i, const smma_inference *f) {
  const smma_infer_misfit *m = &f->misfit;
  smma_datum *record, *rows, *holds;
  char text[SMMA_MISFIT_SIZE];
  if (!m->asked) return smma_datum_null();
  record = smma_datum_record(), rows = smma_datum_list(), holds = smma_datum_record();
  for (int h = 0; h < SMMA_HOLDINGS; h++)
    if (m->wrong_with[h]) smma_put_count(holds, smma_infer_holding_text((smma_infer_holding)h), m->wrong_with[h]);
  for (int n = 0; n < m->examples; n++) smma_datum_append(rows, row_datum(i, &m->example[n], "model", m->expected[n]));
  smma_put_count(record, "asked", m->asked);
  smma_put_count(record, "wrong", m->wrong);
  smma_datum_put(record, "kinds", kinds_datum(f));
  smma_datum_put(record, "hold", holds);
  smma_describe_misfit(i, m, text);
  smma_put_text(record, "class", text);
  smma_datum_put(record, "rows", rows);
  smma_describe_holdings(m, text);
  smma_put_text(record, "holds", text);
  smma_describe_misfit_counts(f, text);
  smma_put_text(record, "summary", text);
  return record;
}

static smma_datum *no_function_datum(const smma_instruction *i, const smma_inference *f) {
  const smma_alikeness *a = &f->alike;
  smma_datum *record;
  char text[256];
  if (f->outcome != SMMA_IS_NO_FUNCTION) return smma_datum_null();
  record = smma_datum_record();
  smma_put_count(record, "asked", a->asked);
  smma_put_count(record, "not_repeated", a->not_repeated);
  smma_put_count(record, "not_alike", a->not_alike);
  smma_put_count(record, "row", a->row);
  smma_put_count(record, "place", a->place);
  smma_put_count(record, "batch", a->batch);
  smma_tell_unlike(a, text, sizeof text);
  smma_put_text(record, "why", text);
  smma_datum_put(record, "neighbour",
                 a->by == SMMA_UNLIKE_BY_NEIGHBOUR ? smma_datum_count((int64_t)a->neighbour) : smma_datum_null());
  smma_datum_put(record, "operands", row_datum(i, &f->unlike, NULL, 0));
  smma_put_flag(record, "at_once", a->at_once);
  return record;
}

static smma_datum *structures_datum(const smma_instruction *i, const smma_inference *f) {
  smma_datum *record = smma_datum_record(), *list = smma_datum_list();
  for (size_t n = 0; n < f->evidences; n++) {
    const smma_infer_evidence *e = &f->evidence[n];
    smma_datum *evidence = smma_datum_record();
    smma_put_count(evidence, "structures", (uint64_t)e->structures);
    smma_datum_put(evidence, "rows",
                   smma_datum_list_of(2, row_datum(i, &e->row[0], NULL, 0), row_datum(i, &e->row[1], NULL, 0)));
    smma_datum_append(list, evidence);
  }
  smma_put_count(record, "listed", (uint64_t)f->structures);
  smma_put_count(record, "left", (uint64_t)f->left);
  smma_datum_put(record, "excluded_by", list);
  return record;
}

/* Sets `*model` to the unit's description and `*words` to its rule in words. Releases the unit. If the unit is NULL
   (out of memory), sets both to NULL. */
static void describe_unit(const smma_instruction *unit, smma_datum **model, smma_datum **words) {
  char text[SMMA_RULE_WORDS_SIZE];
  *model = *words = NULL;
  if (!unit) return;
  *model = smma_description_datum(unit);
  *words = smma_datum_text(smma_rule_words(&unit->rule->rule, text, sizeof text));
  smma_custom_release(unit);
}

static smma_datum *rivals_datum(const smma_instruction *i, const smma_inference *f) {
  smma_datum *list = smma_datum_list(), *model, *words;
  for (size_t n = 0; n < f->rivals; n++) {
    smma_datum *record = smma_datum_record();
    describe_unit(smma_inferred_rival(f, n, "rival"), &model, &words);
    smma_datum_put(record, "rule", words);
    smma_datum_put(record, "model", model);
    smma_datum_put(record, "row", proof_datum(i, f, f->rival[n].row, "with_rival", f->rival[n].other_d));
    smma_datum_append(list, record);
  }
  return list;
}

static void put_counts(smma_datum *record, const smma_inference *f) {
  const struct {
    const char *key;
    uint64_t count;
  } counts[] = {
      {"rows", f->rows},   {"calls", f->calls},       {"fresh", f->fresh},     {"rounds", (uint64_t)f->rounds},
      {"tried", f->tries}, {"computed", f->computed}, {"samples", f->samples}, {"wrong", f->wrong}};
  for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) smma_put_count(record, counts[n].key, counts[n].count);
}

smma_datum *smma_inference_datum(const smma_infer_request *r, const smma_inference *f) {
  const smma_instruction *i = r->instruction;
  smma_datum *record = smma_datum_record(), *model = smma_datum_null(), *words = smma_datum_text("");
  char text[SMMA_INFERRED_NAN_SIZE], limits[SMMA_INFER_LIMITS_SIZE];
  if (smma_inference_has_model(f)) {
    smma_datum_free(model), smma_datum_free(words);
    describe_unit(smma_inferred_unit(f, "inferred"), &model, &words);
  }
  smma_put_text(record, "arch", smma_arch_name(i));
  smma_put_text(record, "instr", i->name);
  smma_put_text(record, "unit", r->unit->name);
  smma_put_text(record, "outcome", smma_infer_outcome_text(f->outcome));
  smma_describe_infer_reason(r, f, text);
  smma_put_text(record, "because", text);
  smma_datum_put(record, "model", model);
  smma_datum_put(record, "rule", words);
  smma_datum_put(
      record, "same_as",
      f->same ? smma_datum_texts((const char *const[]){smma_arch_name(f->same), f->same->name}, 2) : smma_datum_null());
  put_counts(record, f);
  smma_put_real(record, "seconds", f->seconds);
  smma_put_real(record, "unit_seconds", f->unit_seconds);
  smma_put_text(record, "nan", smma_inferred_nan(f));
  smma_put_count(record, "compared", f->compared);
  smma_put_count(record, "nan_different", f->nan_different);
  smma_put_count(record, "same_nan_different", f->same_different);
  smma_datum_put(record, "parameters", parameters_datum(i, f));
  smma_datum_put(record, "rivals", rivals_datum(i, f));
  smma_put_flag(record, "more_rivals", f->more_rivals);
  smma_datum_put(record, "misfit", misfit_datum(i, f));
  smma_datum_put(record, "structures", structures_datum(i, f));
  smma_datum_put(record, "no_function", no_function_datum(i, f));
  smma_describe_inferred_nan(i, f, text);
  smma_put_text(record, "nan_text", text);
  smma_describe_infer_limits(r, f, limits);
  smma_put_text(record, "limits", limits);
  smma_put_flag(record, "recording", f->recording);
  return record;
}
