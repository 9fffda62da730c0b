#include "classes/datum.h"

#include "rows/datum.h"

enum { TEXT = 400 };

bool smma_class_is_bound(const smma_mismatch_class *c, const smma_class_words *w) {
  const int k = w->instruction->k; /* at most SMMA_MOST_PLACES if the places are known */
  return c->is_placed && c->places << (64 - k) != ~UINT64_C(0) << (64 - k);
}

size_t smma_classes_watched(const smma_classes *f) {
  return f->matching < SMMA_OTHER_ROWS ? f->matching : SMMA_OTHER_ROWS;
}

static smma_datum *places_datum(uint64_t places) {
  smma_datum *list = smma_datum_list();
  for (int k = 0; k < SMMA_MOST_PLACES; k++)
    if (places >> k & 1) smma_datum_append(list, smma_datum_count(k));
  return list;
}

static smma_datum *change_datum(const smma_change *x) {
  char text[TEXT];
  return smma_datum_text(smma_change_words(x, text, sizeof text));
}

static smma_datum *others_datum(const smma_mismatch_class *c) {
  smma_datum *list = smma_datum_list();
  for (size_t n = 0; n < c->others && n < SMMA_TOLD_CHANGES; n++) smma_datum_append(list, change_datum(&c->other[n]));
  return list;
}

static smma_datum *events_datum(const smma_classes *f, const smma_mismatch_class *c) {
  smma_datum *list = smma_datum_list();
  char text[TEXT];
  for (int n = 0; n < c->events; n++) {
    smma_datum *event = smma_datum_record();
    smma_put_text(event, "event", smma_common_event_words(&f->space, &c->event[n], text, sizeof text));
    smma_put_count(event, "matching", c->event[n].others);
    smma_datum_append(list, event);
  }
  return list;
}

static smma_datum *simplest_datum(const smma_mismatch_class *c, const smma_class_words *w) {
  smma_datum *row = smma_datum_record();
  if (w->paths) {
    smma_put_text(row, "file", w->paths[smma_file_of_index(c->index)]);
    smma_put_count(row, "line", smma_line_of_index(c->index));
  } else {
    smma_put_count(row, "row", c->index);
  }
  smma_put_flag(row, "simplified", c->is_simplified);
  smma_put_flag(row, "alone", c->is_changed && c->is_alone);
  smma_put_operands(row, w->instruction, &c->row);
  smma_datum_put(row, "unit", smma_encodings_datum(w->instruction->d, &c->row.d, 1));
  smma_datum_put(row, "against", smma_encodings_datum(w->instruction->d, &c->expected, 1));
  return row;
}

static smma_datum *class_datum(const smma_classes *f, const smma_mismatch_class *c, const smma_class_words *w) {
  smma_datum *d = smma_datum_record();
  smma_put_count(d, "rows", c->rows);
  smma_put_real(d, "mismatches", c->mismatches);
  smma_put_flag(d, "estimate", c->is_estimate);
  smma_put_flag(d, "model", c->is_model);
  smma_put_flag(d, "partly", c->is_partly);
  if (c->is_partly) smma_put_count(d, "minimised", (uint64_t)c->simples);
  smma_put_count(d, "refuting", c->refuting);
  smma_datum_put(d, "change", c->is_changed || c->is_partly ? change_datum(&c->change) : smma_datum_null());
  smma_datum_put(d, "or", others_datum(c));
  smma_put_count(d, "or_others", c->others);
  smma_datum_put(d, "places", smma_class_is_bound(c, w) ? places_datum(c->places) : smma_datum_null());
  smma_datum_put(d, "events", events_datum(f, c));
  smma_datum_put(d, "simplest", simplest_datum(c, w));
  return d;
}

smma_datum *smma_classes_datum(const smma_classes *f, const smma_class_words *w) {
  smma_datum *d = smma_datum_record(), *list = smma_datum_list();
  for (int n = 0; n < f->count; n++) smma_datum_append(list, class_datum(f, &f->list[n], w));
  smma_put_count(d, "kept", f->kept);
  smma_put_count(d, "matching", f->matching);
  smma_put_count(d, "matching_watched", f->has_events ? smma_classes_watched(f) : 0);
  smma_put_flag(d, "complete", f->is_complete);
  smma_put_count(d, "together", f->together);
  smma_put_real(d, "together_mismatches", f->together_mismatches);
  smma_put_count(d, "unsorted", f->unsorted);
  smma_put_flag(d, "ended", f->is_ended);
  smma_put_count(d, "gone", w->agreeing_again);
  smma_put_count(d, "tried", f->tries);
  smma_datum_put(d, "list", list);
  return d;
}
