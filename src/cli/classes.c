#include "cli/classes.h"

#include <string.h>

#include "cli/row.h"
#include "cli/values.h"

enum { TEXT = 400 };

/* Writes a set of positions k as text: "k = 5", "k = 8 to 15", "k = 1, 3". */
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
  if (smma_class_is_bound(c, w)) printf("    only with a product at %s\n", place_words(c->places, text, sizeof text));
  if (c->is_placed && !smma_class_is_bound(c, w)) printf("    its products may stand at other k as well\n");
  for (int n = 0; n < c->events; n++)
    printf("    in all of them: %s (in %zu of %zu matching rows)\n",
           smma_common_event_words(&f->space, &c->event[n], text, sizeof text), c->event[n].others,
           smma_classes_watched(f));
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
  if (w->paths)
    printf("    %s:%llu", w->paths[smma_file_of_index(c->index)], (unsigned long long)smma_line_of_index(c->index));
  else
    printf("    row %llu, from 1", (unsigned long long)c->index + 1);
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
