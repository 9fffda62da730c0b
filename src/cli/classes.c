#include "cli/classes.h"

#include <string.h>

#include "cli/row.h"
#include "cli/values.h"

enum { TEXT = 400 };

/* "k = 5", "k = 8 to 15", "k = 1, 3". */
static const char *place_words(uint64_t places, char *text, size_t size) {
  const char *comma = "k = ";
  *text = 0;
  for (int k = 0; k < SMMA_MOST_PLACES; k++) {
    int last = k;
    if (!(places >> k & 1)) continue;
    while (last + 1 < SMMA_MOST_PLACES && places >> (last + 1) & 1) last++;
    smma_append_text(text, size, last > k ? "%s%d to %d" : "%s%d", comma, k, last);
    comma = ", ";
    k = last;
  }
  return text;
}

/* Whether a class takes products at some k alone. */
static bool is_bound(const smma_mismatch_class *c, const smma_class_words *w) {
  const int k = w->instruction->k;
  const uint64_t all = k == 64 ? ~UINT64_C(0) : (UINT64_C(1) << k) - 1;
  return c->is_placed && (c->places & all) != all;
}

static void print_cause(const smma_classes *f, const smma_mismatch_class *c, const smma_class_words *w) {
  char text[TEXT];
  if (c->is_model) printf("    the model has the result of %s: it is %s that differs from it\n", w->unit, w->against);
  if (c->is_changed) {
    printf("    agrees with the model if %s", smma_change_words(&c->change, text, sizeof text));
    if (c->refuting)
      printf(";\n    %zu of %zu matching rows would differ then: another fault hides it there, or it is more special\n",
             c->refuting, f->matching);
    else if (f->matching)
      printf("; no matching row refutes that\n");
    else
      printf("; there is no matching row that could refute it\n");
    for (size_t n = 0; n < c->others && n < SMMA_TOLD_CHANGES; n++)
      printf("    %s if %s: no row here tells\n", n ? "or" : "or perhaps",
             smma_change_words(&c->other[n], text, sizeof text));
    if (c->others > SMMA_TOLD_CHANGES) printf("    or one of %zu other changes\n", c->others - SMMA_TOLD_CHANGES);
  }
  if (c->is_partly && c->others < SMMA_TOLD_CHANGES) {
    printf("    no single change of the model has all its rows; the %d that were made simple have\n    %s", c->simples,
           smma_change_words(&c->change, text, sizeof text));
    for (size_t n = 0; n < c->others; n++) printf(", or %s", smma_change_words(&c->other[n], text, sizeof text));
    printf(",\n    which %zu of %zu matching rows refute as the whole cause\n", c->refuting, f->matching);
  } else if (c->is_partly) {
    printf(
        "    no single change of the model has all its rows; %zu have the %d that were made simple: cannot tell "
        "which\n",
        c->others + 1, c->simples);
  } else if (!c->is_model && !c->is_changed)
    printf("    no single change of the model that was tried has these results (%zu were)\n", f->tried);
}

static void print_common(const smma_classes *f, const smma_mismatch_class *c, const smma_class_words *w) {
  char text[TEXT];
  const size_t others = f->matching < SMMA_OTHER_ROWS ? f->matching : SMMA_OTHER_ROWS;
  if (is_bound(c, w)) printf("    only with a product at %s\n", place_words(c->places, text, sizeof text));
  if (c->is_placed && !is_bound(c, w)) printf("    its products may stand at other k as well\n");
  for (int n = 0; n < c->events; n++)
    printf("    in all of them: %s (in %zu of %zu matching rows)\n",
           smma_common_event_words(&f->space, &c->event[n], text, sizeof text), c->event[n].others, others);
  if (c->events) return;
  if (!f->has_events)
    printf("    what happens in them cannot be told: the rule is no composition\n");
  else if (!f->matching)
    printf("    what they have in common cannot be told: there is no matching row to compare them with\n");
  else
    printf("    they have no event in common that matching rows, or chance, hardly have\n");
}

static void print_row(const smma_mismatch_class *c, const smma_class_words *w) {
  const smma_format d = w->instruction->d;
  char hex[24], value[40];
  printf("    ");
  w->print_place(w, c->index);
  printf(", %s:\n    ", !c->is_simplified              ? "the simplest of those kept"
                        : c->is_changed && c->is_alone ? "as simple as it goes; it shows this alone"
                                                       : "as simple as it goes");
  smma_print_dot_command(stdout, w->instruction, &c->row);
  printf("\n    %-24s %s  %s\n", w->unit, smma_hex_text(d, c->row.d, hex), smma_value_text(d, c->row.d, value));
  printf("    %-24s %s  %s\n", w->against, smma_hex_text(d, c->expected, hex), smma_value_text(d, c->expected, value));
}

static void print_class(const smma_classes *f, int n, const smma_class_words *w) {
  const smma_mismatch_class *c = &f->list[n];
  printf("  class %d: %zu of %zu rows%s, about %.0f of %llu mismatches (%.3g %%)\n", n + 1, c->rows, f->kept,
         c->is_estimate ? " (not all were looked at)" : "", c->mismatches, (unsigned long long)w->mismatches,
         100 * c->mismatches / (double)w->mismatches);
  print_cause(f, c, w);
  print_common(f, c, w);
  print_row(c, w);
}

static int count_changed(const smma_classes *f) {
  int changed = 0;
  for (int n = 0; n < f->count; n++) changed += f->list[n].is_changed;
  return changed;
}

void smma_print_classes(const smma_classes *f, const smma_class_words *w) {
  if (f->count == 0) printf("  no classes of mismatches, as none of these rows differs when asked again\n");
  if (f->count)
    printf("  %d class%s of mismatches, from %zu rows that differ and %zu that match\n", f->count,
           f->count == 1 ? "" : "es", f->kept, f->matching);
  for (int n = 0; n < f->count; n++) print_class(f, n, w);
  if (f->together)
    printf("  %zu of %zu rows, about %.0f mismatches, take several of these changes at once\n", f->together, f->kept,
           f->together_mismatches);
  if (f->is_complete && count_changed(f))
    printf("  with %s the model has the result of %s in each of these rows\n",
           count_changed(f) > 1 ? "all changes at once" : "this change", w->unit);
  if (f->unsorted)
    printf("  %zu rows were not looked at one by one%s\n", f->unsorted,
           f->is_ended ? ": sorting asks for no more rows" : "");
  if (w->gone)
    printf("  %zu rows did not differ any more when asked again: the unit is not a function of its operands alone\n",
           w->gone);
}

/* ---- JSON ---- */

static json_t *places_json(uint64_t places) {
  json_t *list = json_array();
  for (int k = 0; k < SMMA_MOST_PLACES; k++)
    if (places >> k & 1) json_array_append_new(list, json_integer(k));
  return list;
}

static json_t *change_json(const smma_change *x) {
  char text[TEXT];
  return smma_json_text(smma_change_words(x, text, sizeof text));
}

static json_t *class_json(const smma_classes *f, const smma_mismatch_class *c, const smma_class_words *w) {
  json_t *object =
      json_pack("{s:I, s:f, s:b, s:b, s:b, s:I, s:o}", "rows", (json_int_t)c->rows, "mismatches", c->mismatches,
                "estimate", c->is_estimate, "model", c->is_model, "partly", c->is_partly, "refuting",
                (json_int_t)c->refuting, "change", c->is_changed ? change_json(&c->change) : json_null());
  json_t *others = json_array(), *events = json_array(), *row = json_object();
  char text[TEXT];
  for (size_t n = 0; n < c->others && n < SMMA_TOLD_CHANGES; n++)
    json_array_append_new(others, change_json(&c->other[n]));
  for (int n = 0; n < c->events; n++)
    json_array_append_new(
        events, json_pack("{s:s, s:I}", "event", smma_common_event_words(&f->space, &c->event[n], text, sizeof text),
                          "matching", (json_int_t)c->event[n].others));
  json_object_set_new(object, "or", others);
  json_object_set_new(object, "or_others", json_integer((json_int_t)c->others));
  json_object_set_new(object, "places", is_bound(c, w) ? places_json(c->places) : json_null());
  json_object_set_new(object, "events", events);
  w->set_place(w, c->index, row);
  json_object_set_new(row, "simplified", json_boolean(c->is_simplified));
  json_object_set_new(row, "alone", json_boolean(c->is_changed && c->is_alone));
  smma_add_operands(row, w->instruction, &c->row);
  json_object_set_new(row, "unit", smma_hex_array(w->instruction->d, &c->row.d, 1));
  json_object_set_new(row, "against", smma_hex_array(w->instruction->d, &c->expected, 1));
  json_object_set_new(object, "simplest", row);
  return object;
}

json_t *smma_classes_json(const smma_classes *f, const smma_class_words *w) {
  json_t *list = json_array();
  const size_t others = f->matching < SMMA_OTHER_ROWS ? f->matching : SMMA_OTHER_ROWS;
  for (int n = 0; n < f->count; n++) json_array_append_new(list, class_json(f, &f->list[n], w));
  return json_pack("{s:I, s:I, s:I, s:b, s:I, s:f, s:I, s:I, s:I, s:o}", "kept", (json_int_t)f->kept, "matching",
                   (json_int_t)f->matching, "matching_watched", (json_int_t)(f->has_events ? others : 0), "complete",
                   f->is_complete, "together", (json_int_t)f->together, "together_mismatches", f->together_mismatches,
                   "unsorted", (json_int_t)f->unsorted, "gone", (json_int_t)w->gone, "tried", (json_int_t)f->tried,
                   "list", list);
}
