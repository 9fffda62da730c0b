#include "probe/probe.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/catalogue.h"
#include "probe/elsewhere.h"
#include "rows/datum.h"

const smma_probe smma_probes[SMMA_PROBE_COUNT] = {
#define SMMA_PROBE(name, focus, title, source) {#name, title, source, SMMA_##focus, smma_probe_##name},
#include "probe/probe.def"
#undef SMMA_PROBE
};

bool smma_tell(smma_finding *f, const smma_row *witness, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(f->value, sizeof f->value, format, arguments);
  va_end(arguments);
  f->has_witness = witness != NULL;
  if (witness) f->witness = *witness;
  return true;
}

bool smma_cannot_tell(smma_finding *f, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(f->why, sizeof f->why, format, arguments);
  va_end(arguments);
  return true;
}

bool smma_same_finding(const smma_finding *x, const smma_finding *y) {
  return strcmp(x->value, y->value) == 0 && (*x->value || strcmp(x->why, y->why) == 0);
}

bool smma_with_rows(smma_examination *x, smma_finding *f, size_t count,
                    bool (*probe)(smma_examination *, smma_finding *, smma_row *)) {
  smma_row *rows = malloc(count * sizeof *rows);
  const bool done = rows ? probe(x, f, rows) : smma_no_memory(&x->subject.error);
  free(rows);
  return done;
}

int smma_first_terms(const smma_examination *x, int terms[SMMA_MAXIMUM_ROUNDED_K + 1]) {
  const int k = x->subject.instruction->k;
  int count = 0;
  for (int i = 0; i < k; i++)
    if (x->first.product[i]) terms[count++] = i;
  if (x->first.has_c) terms[count++] = k;
  return count;
}

int smma_last_terms(const smma_examination *x, int terms[SMMA_MAXIMUM_ROUNDED_K + 1]) {
  int count = 0;
  if (x->first.other < 0 || !x->first.fused) return smma_first_terms(x, terms);
  for (int i = 0; i < x->subject.instruction->k; i++)
    if (x->first.last[i]) terms[count++] = i;
  return count;
}

int smma_first_product(const smma_examination *x) {
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1];
  return x->first.known && smma_first_terms(x, terms) > 0 && terms[0] < x->subject.instruction->k ? terms[0] : 0;
}

bool smma_run_probe(smma_examination *x, int probe, smma_error *error) {
  x->findings[probe] = (smma_finding){.value = ""};
  if (smma_probes[probe].run(x, &x->findings[probe])) return true;
  *error = x->subject.error;
  return false;
}

bool smma_examine(smma_unit *unit, const smma_instruction *instruction, size_t repeated, smma_examination *x,
                  smma_error *error) {
  *x = (smma_examination){.subject = smma_subject_of(unit, instruction)};
  x->subject.repeated = repeated;
  if (instruction->k > SMMA_MAXIMUM_ROUNDED_K) { /* only integer instructions are this long */
    for (int i = 0; i < SMMA_PROBE_COUNT; i++) {
      x->findings[i] = (smma_finding){.value = ""};
      smma_cannot_tell(&x->findings[i], "sums of integers are exact");
    }
    return true;
  }
  for (int i = 0; i < SMMA_PROBE_COUNT; i++) {
    if (!smma_run_probe(x, i, error)) return false;
    if (x->repeats) continue;
    for (int j = i + 1; j < SMMA_PROBE_COUNT; j++) smma_cannot_tell(&x->findings[j], "results do not repeat");
    return true;
  }
  return smma_examine_elsewhere(x, error);
}

/* ---- Data ---- */

static smma_datum *witness_datum(const smma_instruction *i, const smma_row *row) {
  smma_datum *record = smma_datum_record();
  smma_datum_put(record, "a", smma_encodings_datum(i->a, row->a, i->k));
  smma_datum_put(record, "b", smma_encodings_datum(i->b, row->b, i->k));
  smma_datum_put(record, "c", smma_encodings_datum(i->c, &row->c, 1));
  smma_datum_put(record, "d", smma_encodings_datum(i->d, &row->d, 1));
  return record;
}

smma_datum *smma_examination_datum(const smma_examination *x) {
  const smma_subject *s = &x->subject;
  smma_datum *record = smma_datum_record(), *features = smma_datum_record();
  for (int p = 0; p < SMMA_PROBE_COUNT; p++) {
    const smma_finding *f = &x->findings[p];
    smma_datum *feature = smma_datum_record();
    smma_put_text(feature, "value", *f->value ? f->value : NULL);
    if (!*f->value) smma_put_text(feature, "why", f->why);
    if (f->has_witness) smma_datum_put(feature, "witness", witness_datum(s->instruction, &f->witness));
    smma_put_text(feature, "title", smma_probes[p].title);
    smma_put_text(feature, "source", smma_probes[p].source);
    smma_datum_put(features, smma_probes[p].name, feature);
  }
  smma_put_text(record, "unit", s->unit->name);
  smma_put_text(record, "arch", smma_arch_name(s->instruction));
  smma_put_text(record, "instr", s->instruction->name);
  smma_put_count(record, "rows", s->rows);
  smma_put_count(record, "calls", s->calls);
  smma_datum_put(record, "features", features);
  return record;
}
