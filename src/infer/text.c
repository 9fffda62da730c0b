/* The report of a search as text. */
#include "infer/report.h"
#include "rows/datum.h"
#include "rows/replay.h"

static size_t count_neighbours(const smma_inference *f, int is) {
  size_t count = 0;
  for (size_t i = 0; i < f->neighbours; i++) count += (int)f->neighbour[i].is == is;
  return count;
}

static void print_parameters(FILE *stream, const smma_inference *f) {
  bool some = false;
  fprintf(stream, "\n%-6s  %-30s %-18s %-30s %-24s%s\n", "", "parameter", "value", "excluded by a row",
          "no effect in any row", f->recording ? " left open" : "");
  for (size_t i = 0; i < f->neighbours; i = smma_next_inferred_key(f, i)) {
    const smma_infer_neighbour *n = &f->neighbour[i];
    char place[SMMA_INFER_VALUES_SIZE], value[64], list[3][SMMA_INFER_VALUES_SIZE];
    if (smma_infer_values_are_all(f, i, SMMA_FREE)) continue;
    fprintf(stream, "%-6s  %-30s %-18s %-30s %-24s", smma_infer_place(n->step, place), n->key->key,
            smma_key_value(n->key, n->value, value, sizeof value), smma_infer_values(f, i, SMMA_EXCLUDED, list[0]),
            smma_infer_values(f, i, SMMA_FREE, list[1]));
    fprintf(stream, "%s%s\n", f->recording ? " " : "",
            f->recording ? smma_infer_values(f, i, SMMA_UNDECIDED, list[2]) : "");
  }
  fprintf(stream, "\nno value has an effect in any row searched, for:");
  for (size_t i = 0; i < f->neighbours; i = smma_next_inferred_key(f, i)) {
    char place[SMMA_INFER_VALUES_SIZE];
    if (!smma_infer_values_are_all(f, i, SMMA_FREE)) continue;
    fprintf(stream, "%s %s (%s)", some ? "," : "", f->neighbour[i].key->key,
            smma_infer_place(f->neighbour[i].step, place));
    some = true;
  }
  fprintf(stream, "%s\n", some ? "" : " none");
}

static void print_row(FILE *stream, const smma_instruction *i, const smma_row *row, uint64_t expected) {
  char hex[24], value[40];
  fprintf(stream, "  ");
  smma_print_dot_command(stream, i, row);
  fprintf(stream, "\n    the unit %s %s", smma_hex_text(i->d, row->d, hex), smma_value_text(i->d, row->d, value));
  fprintf(stream, ", the model %s %s\n", smma_hex_text(i->d, expected, hex), smma_value_text(i->d, expected, value));
}

static void print_misfit(FILE *stream, const smma_instruction *i, const smma_inference *f) {
  const smma_infer_misfit *m = &f->misfit;
  char text[SMMA_MISFIT_SIZE];
  smma_describe_misfit_counts(f, text);
  fprintf(stream, "\n%s\n", text);
  smma_describe_holdings(m, text);
  if (*text) fprintf(stream, "%s\n", text);
  smma_describe_misfit(i, m, text);
  fprintf(stream, "%s\n", text);
  for (int n = 0; n < m->examples && n < 4; n++) print_row(stream, i, &m->example[n], m->expected[n]);
}

/* Prints the test vectors that rule out the most structures. */
static void print_structures(FILE *stream, const smma_instruction *i, const smma_inference *f) {
  enum { SHOWN = 3 };
  fprintf(stream, "\nstructures: %d of %d are excluded by rows, %d are left\n", f->structures - f->left, f->structures,
          f->left);
  for (size_t n = 0; n < f->evidences && n < SHOWN; n++) {
    const smma_infer_evidence *e = &f->evidence[n];
    fprintf(stream, "%d of those excluded, because results differ when products change places:\n", e->structures);
    for (int row = 0; row < 2; row++) {
      char hex[24];
      fprintf(stream, "  ");
      smma_print_dot_command(stream, i, &e->row[row]);
      fprintf(stream, "\n    the unit %s\n", smma_hex_text(i->d, e->row[row].d, hex));
    }
  }
}

static void print_no_function(FILE *stream, const smma_instruction *i, const smma_inference *f) {
  const smma_alikeness *a = &f->alike;
  char text[256];
  fprintf(stream,
          "no function of its operands: %llu of %llu results changed when repeated, %llu of them in the same batch "
          "at the same place\n",
          (unsigned long long)(a->not_repeated + a->not_alike), (unsigned long long)a->asked,
          (unsigned long long)a->not_repeated);
  fprintf(stream, "first seen: row %zu, %s place %zu of %zu\n", a->row, a->at_once ? "repeated at" : "at", a->place,
          a->batch);
  fprintf(stream, "  ");
  smma_print_dot_command(stream, i, &f->unlike);
  smma_tell_unlike(a, text, sizeof text);
  fprintf(stream, "\n%s\n", text);
}

static void print_rivals(FILE *stream, const smma_inference *f, const smma_datum *rivals) {
  enum { SHOWN = 8 };
  fprintf(stream, "other models found that agree with all these rows: %zu%s\n", f->rivals,
          f->more_rivals ? ", and there may be more" : "");
  for (size_t n = 0; n < f->rivals && n < SHOWN; n++)
    fprintf(stream, "  %s\n", smma_datum_text_of(smma_datum_get(smma_datum_at(rivals, n), "rule")));
  if (f->rivals > SHOWN) fprintf(stream, "  and %zu more, which --json has\n", f->rivals - SHOWN);
}

void smma_print_inference_summary(FILE *stream, const smma_infer_request *r, const smma_inference *f,
                                  const smma_datum *datum) {
  const smma_instruction *i = r->instruction;
  char nan[SMMA_INFERRED_NAN_SIZE], reason[SMMA_INFER_REASON_SIZE], limits[SMMA_INFER_LIMITS_SIZE];
  smma_describe_infer_reason(r, f, reason);
  fprintf(stream, "%s %s on %s: %s%s%s\n", smma_arch_name(i), i->name, r->unit->name,
          smma_infer_outcome_text(f->outcome), *reason ? ", because " : "", reason);
  if (f->outcome == SMMA_IS_NO_FUNCTION) {
    print_no_function(stream, i, f);
    return;
  }
  if (smma_inference_has_model(f)) fprintf(stream, "model: %s\n", smma_datum_text_of(smma_datum_get(datum, "rule")));
  if (f->same) {
    fprintf(stream, "no row searched distinguishes it from %s of %s, whose rule the line above names", f->same->name,
            smma_arch_name(f->same));
    if (f->same_different)
      fprintf(stream, ", except NaN encodings: those of %llu of %llu vectors differ",
              (unsigned long long)f->same_different, (unsigned long long)f->compared);
    fputc('\n', stream);
  }
  fprintf(stream, "run on the unit: %llu rows in %llu calls", (unsigned long long)f->rows,
          (unsigned long long)f->calls);
  if (!f->recording && smma_has_inferred(f))
    fprintf(stream, ", then %llu of another seed, which all agree with the model", (unsigned long long)f->fresh);
  fprintf(stream, "; %.1f s, of which the unit took %.1f\n", f->seconds, f->unit_seconds);
  smma_describe_infer_limits(r, f, limits);
  if (*limits) fprintf(stream, "limits: %s\n", limits);
  smma_describe_inferred_nan(i, f, nan);
  if (*nan && smma_has_inferred(f)) fprintf(stream, "NaN: %s\n", nan);
  if (f->neighbours) {
    fprintf(stream, "neighbouring values: %zu excluded by rows, %zu without effect in any of %llu rows searched",
            count_neighbours(f, SMMA_EXCLUDED), count_neighbours(f, SMMA_FREE), (unsigned long long)r->neighbours);
    if (f->recording) fprintf(stream, ", %zu that these rows leave open", count_neighbours(f, SMMA_UNDECIDED));
    fputc('\n', stream);
  }
  if (f->recording && smma_has_inferred(f)) print_rivals(stream, f, smma_datum_get(datum, "rivals"));
  if (f->misfit.asked) print_misfit(stream, i, f);
  if (f->outcome == SMMA_NOT_INFERRED && !f->recording) print_structures(stream, i, f);
  if (f->outcome == SMMA_INFER_STOPPED && smma_inference_has_model(f))
    fprintf(stream, "\ninterrupted: the best model so far disagrees with %zu of the %zu rows that it was fitted to\n",
            f->wrong, f->samples);
  if (f->outcome == SMMA_INFER_STOPPED && !smma_inference_has_model(f))
    fprintf(stream, "\ninterrupted before the search began: there is no model yet\n");
}

void smma_print_inference(FILE *stream, const smma_infer_request *r, const smma_inference *f, const smma_datum *datum) {
  smma_print_inference_summary(stream, r, f, datum);
  if (f->neighbours) print_parameters(stream, f);
}
