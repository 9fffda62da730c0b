/* Prints the result of a search for plans. */
#include <string.h>

#include "host/count.h"
#include "isa/key.h"
#include "match/study.h"
#include "rows/datum.h"

enum { MOST_SHOWN = 8 };

static bool is_first_of_arch(const smma_match_class *class, size_t i) {
  for (size_t j = 0; j < i; j++)
    if (class->member[j]->arch == class->member[i]->arch) return false;
  return true;
}

static size_t count_of_arch(const smma_match_class *class, size_t i) {
  size_t count = 0;
  for (size_t j = 0; j < class->members; j++) count += class->member[j]->arch == class->member[i]->arch;
  return count;
}

static void print_class(FILE *stream, const smma_match_class *class) {
  const smma_rule *rule = &class->member[0]->rule->rule;
  const char *name;
  char value[SMMA_PARAMETER_SIZE];
  for (size_t i = 0; i < class->members; i++) {
    if (!is_first_of_arch(class, i)) continue;
    fprintf(stream, "%s%s %s", i ? ", " : "", smma_arch_name(class->member[i]), class->member[i]->name);
    if (count_of_arch(class, i) > 1) fprintf(stream, " (and %zu more)", count_of_arch(class, i) - 1);
  }
  fprintf(stream, "\n   %s", smma_model_name(rule));
  for (int p = 0; smma_parameter(rule, p, &name, value, sizeof value); p++) fprintf(stream, " %s=%s", name, value);
  fputc('\n', stream);
}

static void print_candidate(FILE *stream, const smma_match *m, const smma_match_candidate *c, bool same_class) {
  if (!same_class) print_class(stream, &m->class[c->of]);
  fprintf(stream, "%s%s\n", same_class ? "   or " : "   ", c->text);
  for (size_t i = 0; i < c->libraries; i++) {
    fprintf(stream, "   as %s", c->library[i].text);
    if (c->library[i].others) fprintf(stream, " (and %zu more configurations)", c->library[i].others);
    fputc('\n', stream);
  }
}

static void print_apart(FILE *stream, const smma_match *m, size_t f) {
  fprintf(stream, "   these matrices do not distinguish it from 1; of %d random elements %d differ\n",
          SMMA_MATCH_SAMPLE, m->fit[f].differs_at_random);
}

static void print_exact(FILE *stream, const smma_match_study *x) {
  const smma_match *m = &x->found;
  const bool integer = x->data.d_format == SMMA_S32;
  if (!m->exact) return;
  fprintf(stream,
          "every partial sum of A B is a number of %s here, so that additions in it never round, and their order %s\n",
          integer || x->data.d_format == SMMA_F64 ? smma_format_text(x->data.d_format) : "f32",
          integer ? "cannot show"
                  : "can only\nshow where a unit keeps fewer bits; use matrices of numbers with more significant bits");
}

static void print_fits(FILE *stream, const smma_match_study *x) {
  const smma_match *m = &x->found;
  fprintf(stream, "fits: all %zu element%s\n", x->data.m * x->data.n, smma_plural(x->data.m * x->data.n));
  for (size_t f = 0; f < m->fits && f < MOST_SHOWN; f++) {
    fprintf(stream, "%-2zu ", f + 1);
    print_candidate(stream, m, &m->fit[f], f && m->fit[f].of == m->fit[0].of);
    if (f) print_apart(stream, m, f);
  }
  if (m->fits > MOST_SHOWN) fprintf(stream, "and %zu more, which --json lists\n", m->fits - MOST_SHOWN);
  if (m->untried)
    fprintf(stream, "%zu more give the same in all samples; they were not computed in whole\n", m->untried);
  else
    fprintf(stream, "nothing else fits\n");
  print_exact(stream, x);
}

static void print_first(FILE *stream, const smma_match_study *x, const smma_match_difference *d) {
  const smma_format f = x->data.d_format;
  char hex[2][24], value[2][40];
  fprintf(stream, "   [%zu, %zu] is %s %s, there %s %s\n", d->row, d->column, smma_hex_text(f, d->expected, hex[0]),
          smma_value_text(f, d->expected, value[0]), smma_hex_text(f, d->got, hex[1]),
          smma_value_text(f, d->got, value[1]));
}

static void print_none(FILE *stream, const smma_match_study *x) {
  const smma_match *m = &x->found;
  char text[256];
  fprintf(stream, "none: no candidate gives all %zu element%s\n", x->data.m * x->data.n,
          smma_plural(x->data.m * x->data.n));
  if (*smma_match_hint(m, text, sizeof text)) fprintf(stream, "%s\n", text);
  if (x->request->a_format == SMMA_NO_FORMAT && x->data.a_format == SMMA_F32 && x->data.b_format == SMMA_F32)
    fprintf(
        stream,
        "only products in f32, which the files hold, were tried; if it was made in another format, give --in tf32,\n"
        "--in bf16, --in f16, --in e4m3 or --in e5m2\n");
  if (!m->has_near) return;
  smma_match_difference_text(x, &m->near.difference, text, sizeof text);
  fprintf(stream, "nearest; it differs in %s:\n   ", text);
  print_candidate(stream, m, &m->near, false);
  print_first(stream, x, &m->near.difference);
}

/* Writes the rounding modes that were tried, such as "nearest-even, toward-zero". */
static const char *modes_text(const smma_match_study *x, char *text, size_t size) {
  text[0] = 0;
  for (size_t i = 0; i < x->modes; i++)
    smma_append_text(text, size, "%s%s%s", i ? ", " : "", smma_roundings[x->mode[i]], x->same_as[i]);
  return text;
}

/* Prints how A and B are rounded in the result. Prints nothing if the format has all their values. */
static void print_mode(FILE *stream, const smma_match_study *x) {
  const size_t mode = x->kept;
  char modes[256];
  if (!x->rounded) return;
  if (x->found.fits)
    fprintf(stream, "A and B rounded by --round-in %s%s%s\n", smma_roundings[x->mode[mode]],
            *x->same_as[mode] ? "; the same numbers by " : "", *x->same_as[mode] ? x->same_as[mode] + 2 : "");
  else
    fprintf(stream, "A and B rounded in each of these ways: %s; nearest by %s\n", modes_text(x, modes, sizeof modes),
            smma_roundings[x->mode[mode]]);
}

void smma_print_match(FILE *stream, const smma_match_study *x, double seconds) {
  const smma_match *m = &x->found;
  char inputs[64];
  snprintf(inputs, sizeof inputs, "%s%s%s", smma_format_text(x->data.a_format),
           x->data.a_format == x->data.b_format ? "" : ",",
           x->data.a_format == x->data.b_format ? "" : smma_format_text(x->data.b_format));
  fprintf(stream, "A (%zu x %zu) times B (%zu x %zu) in %s, D in %s\n", x->data.m, x->data.k, x->data.k, x->data.n,
          inputs, smma_format_text(x->data.d_format));
  fprintf(stream, "%zu plans around %zu function%s of instructions: %zu candidates that differ with this K, %.1f s\n\n",
          m->plans, m->classes, smma_plural(m->classes), m->candidates, seconds);
  print_mode(stream, x);
  if (m->fits)
    print_fits(stream, x);
  else
    print_none(stream, x);
}
