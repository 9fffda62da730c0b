#include "classes/text.h"

#include "isa/key.h"
#include "rows/replay.h"

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

static void print_cause(FILE *stream, const smma_classes *f, const smma_mismatch_class *c, const smma_class_words *w) {
  char text[TEXT];
  if (c->is_model) fprintf(stream, "    the model has the result of %s: the fault is in %s\n", w->unit, w->against);
  if (c->is_changed) {
    fprintf(stream, "    candidate fault: %s", smma_change_words(&c->change, text, sizeof text));
    if (c->refuting)
      fprintf(stream,
              ";\n    it would change %zu of %zu matching test vectors: another fault hides it there, or it is more "
              "special\n",
              c->refuting, f->matching);
    else if (f->matching)
      fprintf(stream, "; no matching test vector refutes it\n");
    else
      fprintf(stream, "; there is no matching test vector that could refute it\n");
    for (size_t n = 0; n < c->others && n < SMMA_TOLD_CHANGES; n++)
      fprintf(stream, "    or: %s (these test vectors do not distinguish it)\n",
              smma_change_words(&c->other[n], text, sizeof text));
    if (c->others > SMMA_TOLD_CHANGES)
      fprintf(stream, "    or one of %zu other changes\n", c->others - SMMA_TOLD_CHANGES);
  }
  if (c->is_partly && c->others < SMMA_TOLD_CHANGES) {
    fprintf(
        stream,
        "    no single change of the model explains all of its test vectors; the %d minimised ones are explained by\n  "
        "  %s",
        c->simples, smma_change_words(&c->change, text, sizeof text));
    for (size_t n = 0; n < c->others; n++)
      fprintf(stream, ", or %s", smma_change_words(&c->other[n], text, sizeof text));
    fprintf(stream, ",\n    which %zu of %zu matching test vectors refute as the only cause\n", c->refuting,
            f->matching);
  } else if (c->is_partly) {
    fprintf(stream,
            "    no single change of the model explains all of its test vectors; %zu explain the %d minimised "
            "ones\n",
            c->others + 1, c->simples);
  } else if (!c->is_model && !c->is_changed)
    fprintf(
        stream,
        "    none of the %zu tried single changes of the model has these results; 'softmma infer' searches further\n",
        f->tries);
}

static void print_common(FILE *stream, const smma_classes *f, const smma_mismatch_class *c, const smma_class_words *w) {
  char text[TEXT];
  if (smma_class_is_bound(c, w))
    fprintf(stream, "    only with a product at %s\n", place_words(c->places, text, sizeof text));
  if (c->is_placed && !smma_class_is_bound(c, w)) fprintf(stream, "    also with its products at other k\n");
  for (int n = 0; n < c->events; n++)
    fprintf(stream, "    in all of them: %s (in %zu of %zu matching test vectors)\n",
            smma_common_event_words(&f->space, &c->event[n], text, sizeof text), c->event[n].others,
            smma_classes_watched(f));
  if (c->events) return;
  if (!f->has_events)
    fprintf(stream, "    no coverage events: the rule is not a composition\n");
  else if (!f->matching)
    fprintf(stream, "    no common coverage events: there is no matching test vector to compare with\n");
  else
    fprintf(stream, "    no coverage event distinguishes them from the matching test vectors\n");
}

static void print_row(FILE *stream, const smma_mismatch_class *c, const smma_class_words *w) {
  const smma_format d = w->instruction->d;
  if (w->paths)
    fprintf(stream, "    %s:%llu", w->paths[smma_file_of_index(c->index)],
            (unsigned long long)smma_line_of_index(c->index));
  else
    fprintf(stream, "    test vector %llu", (unsigned long long)c->index + 1);
  fprintf(stream, ", %s:\n    ",
          !c->is_simplified              ? "the simplest of those examined"
          : c->is_changed && c->is_alone ? "minimised; it shows only this class"
                                         : "minimised");
  smma_print_dot_command(stream, w->instruction, &c->row);
  fputc('\n', stream);
  smma_print_value(stream, 4, 24, w->unit, d, c->row.d);
  smma_print_value(stream, 4, 24, w->against, d, c->expected);
}

static void print_class(FILE *stream, const smma_classes *f, int n, const smma_class_words *w) {
  const smma_mismatch_class *c = &f->list[n];
  fprintf(stream, "  class %d: %zu of %zu test vectors%s, about %.0f of %llu mismatches (%.3g %%)\n", n + 1, c->rows,
          f->kept, c->is_estimate ? " (not all were examined)" : "", c->mismatches, (unsigned long long)w->mismatches,
          100 * c->mismatches / (double)w->mismatches);
  print_cause(stream, f, c, w);
  print_common(stream, f, c, w);
  print_row(stream, c, w);
}

static int count_changed(const smma_classes *f) {
  int changed = 0;
  for (int n = 0; n < f->count; n++) changed += f->list[n].is_changed;
  return changed;
}

void smma_print_classes(FILE *stream, const smma_classes *f, const smma_class_words *w) {
  if (f->count == 0)
    fprintf(stream, "  no classes of mismatches: none of these test vectors differs when it is computed again\n");
  if (f->count)
    fprintf(stream, "  %d class%s of mismatches, from %zu mismatching and %zu matching test vectors\n", f->count,
            f->count == 1 ? "" : "es", f->kept, f->matching);
  for (int n = 0; n < f->count; n++) print_class(stream, f, n, w);
  if (f->together)
    fprintf(stream, "  %zu of %zu test vectors, about %.0f mismatches, need several of these changes at once\n",
            f->together, f->kept, f->together_mismatches);
  if (f->is_complete && count_changed(f))
    fprintf(stream, "  with %s the model has the result of %s for each of these test vectors\n",
            count_changed(f) > 1 ? "all changes at once" : "this change", w->unit);
  if (f->unsorted)
    fprintf(stream, "  %zu test vectors were not examined one by one%s\n", f->unsorted,
            f->is_ended ? ": the budget for sorting is used up" : "");
  if (w->agreeing_again)
    fprintf(
        stream,
        "  %zu test vectors no longer differed when computed again: the unit is not a function of its operands alone\n",
        w->agreeing_again);
}
