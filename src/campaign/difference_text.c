/* Prints differences of units as text. */
#include <string.h>

#include "campaign/differences.h"
#include "core/bits.h"
#include "host/count.h"
#include "isa/formats.h"
#include "probe/text.h"
#include "rows/replay.h"

static bool is_model(const smma_unit *unit) { return unit->methods == &smma_unit_model; }

const char *smma_side_label(const smma_unit *unit, const char *on, char text[SMMA_SIDE_LABEL_SIZE]) {
  snprintf(text, SMMA_SIDE_LABEL_SIZE, "%s%s%s", is_model(unit) ? "" : unit->name, is_model(unit) ? "" : " as ", on);
  return text;
}

static void print_instruction(FILE *stream, const smma_side *x) {
  fprintf(stream, "%s", x->instruction->name);
  if (!is_model(x->unit)) fprintf(stream, ", computed by %s", x->unit->name);
}

/* Prints which operands are compared if the targets have different formats. */
static void print_operands(FILE *stream, const smma_side side[2], const smma_instruction *as) {
  const smma_instruction *x = side[0].instruction, *y = side[1].instruction;
  char one[SMMA_INPUTS_TEXT_SIZE], other[SMMA_INPUTS_TEXT_SIZE], inputs[SMMA_INPUTS_TEXT_SIZE];
  if (x->a == y->a && x->b == y->b) return;
  fprintf(stream, "operands: the numbers that %s and %s both hold, as %s; all NaN are equal\n",
          smma_inputs_text(x, one), smma_inputs_text(y, other), smma_inputs_text(as, inputs));
}

/* Prints the features that differ, below a heading; nothing if there are none. */
static void print_features(FILE *stream, const smma_unit_difference *d) {
  bool any = false;
  for (int i = 0; i < SMMA_PROBE_COUNT; i++) {
    if (!smma_feature_differs(d, (smma_probe_id)i)) continue;
    fprintf(stream, "%s  %s: %s | %s\n", any ? "" : "features\n", smma_probes[i].title,
            d->examination[0]->findings[i].value, d->examination[1]->findings[i].value);
    any = true;
  }
}

void smma_print_difference(FILE *stream, const smma_side side[2], const char *const on[2],
                           const smma_unit_difference *d) {
  const int width = smma_maximum(12, smma_maximum((int)strlen(side[0].label), (int)strlen(side[1].label)));
  for (int n = 0; n < 2; n++) {
    const int k = side[n].instruction->k, steps = (d->as->k + k - 1) / k;
    fprintf(stream, "%s: ", on[n]);
    print_instruction(stream, &side[n]);
    if (steps > 1) fprintf(stream, ", %d in a row", steps);
    fputc('\n', stream);
  }
  print_operands(stream, side, d->as);
  if (!d->found) {
    fprintf(stream, "no difference in %llu row%s\n", (unsigned long long)(d->all.rows + d->normal.rows),
            smma_plural(d->all.rows + d->normal.rows));
    return;
  }
  print_features(stream, d);
  fprintf(stream, "smallest row found, %d term%s\n  ", d->terms, smma_plural((unsigned long long)d->terms));
  smma_print_dot_command(stream, d->as, &d->row);
  fputc('\n', stream);
  smma_print_value(stream, 2, width, side[0].label, d->as->d, d->row.d);
  smma_print_value(stream, 2, width, side[1].label, d->as->d, d->expected);
  fprintf(stream, "normal data: %llu of %llu results differ\n", (unsigned long long)d->normal.mismatches,
          (unsigned long long)d->normal.rows);
}

static void print_rate(FILE *stream, bool same_subject, double rate) {
  if (same_subject)
    fprintf(stream, " %9s", "-");
  else if (rate < 0)
    fprintf(stream, " %9s", "=");
  else
    fprintf(stream, " %8.2f%%", 100 * rate);
}

/* Returns the name of a GPU for the table. A star marks a GPU whose results come from a unit other than its model,
   which the line above the table names. */
static const char *short_label(const smma_differences_request *r, size_t i, char text[260]) {
  snprintf(text, 260, "%.255s%s", r->on[i], is_model(r->side[i].unit) ? "" : "*");
  return text;
}

void smma_print_differences(FILE *stream, const smma_differences *d) {
  const smma_differences_request *r = d->request;
  const unsigned long long rows = r->rows;
  smma_labelled_examination list[SMMA_MOST_SIDES];
  char text[260];
  for (size_t i = 0; i < r->sides; i++) {
    fprintf(stream, "%-10s ", short_label(r, i, text));
    print_instruction(stream, &r->side[i]);
    fputc('\n', stream);
  }
  fprintf(stream, "\n%-10s", "");
  for (size_t i = 0; i < r->sides; i++) fprintf(stream, " %9s", short_label(r, i, text));
  for (size_t i = 0; i < r->sides; i++) {
    fprintf(stream, "\n%-10s", short_label(r, i, text));
    for (size_t j = 0; j < r->sides; j++) print_rate(stream, i == j, d->rate[i][j]);
  }
  fprintf(stream,
          "\n\npercentages of %llu result%s on normal data that differ; '=': none, also in %llu row%s of all kinds\n",
          rows, smma_plural(rows), rows, smma_plural(rows));
  if (!d->examination) return;
  for (size_t i = 0; i < r->sides; i++) list[i] = (smma_labelled_examination){r->side[i].label, &d->examination[i]};
  fprintf(stream, "\nfeatures that differ\n\n");
  if (!smma_print_features(stream, list, (int)r->sides, true)) fprintf(stream, "none\n");
}
