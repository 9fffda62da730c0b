/* Prints the answers of `diff --prove` and `diff --permute`. */
#include <string.h>

#include "equal/study.h"
#include "isa/catalogue.h"
#include "isa/formats.h"
#include "rows/datum.h"
#include "rows/replay.h"

/* ---- Rows ---- */

static void print_side(FILE *stream, const smma_equal_target *s) {
  const smma_instruction *i = s->instruction;
  char rule[SMMA_RULE_WORDS_SIZE];
  fprintf(stream, "%s: %s, %s%s%s\n", s->label, i->name, smma_rule_words(&i->rule->rule, rule, sizeof rule),
          s->plan_name ? ", plan " : "", s->plan_name ? s->plan_name : "");
}

static void print_number(FILE *stream, smma_format format, uint64_t x, int width) {
  char hex[24], value[40], both[72];
  snprintf(both, sizeof both, "%s %s", smma_hex_text(format, x, hex), smma_value_text(format, x, value));
  fprintf(stream, "  %-*s", width, both);
}

/* Prints product `k` of the test vector, whose index in the whole product is `at`. */
static void print_product(FILE *stream, const smma_instruction *i, const smma_row *row, int k, size_t at) {
  const int group = i->scale_block ? k / i->scale_block : 0;
  fprintf(stream, "  k = %-2zu", at);
  print_number(stream, i->a, row->a[k], 24);
  print_number(stream, i->b, row->b[k], i->scale_block ? 24 : 0);
  if (i->scale_block) {
    print_number(stream, i->scale, row->scale_a[group], 14);
    print_number(stream, i->scale, row->scale_b[group], 0);
  }
  fputc('\n', stream);
}

/* Prints the terms of a test vector that are not +0, and both results. `all` is K; `place` holds the index of each term
   in the whole product, or is NULL if the terms are the whole product. */
static void print_row(FILE *stream, const smma_witness *w, size_t all, const size_t *place, const char *one,
                      const char *other) {
  const smma_instruction *i = &w->as;
  const int width = smma_maximum((int)strlen(one), (int)strlen(other)) + 1;
  char inputs[SMMA_INPUTS_TEXT_SIZE];
  fprintf(stream, "smallest row found, K = %zu, all but +0: %s\n", all,
          i->scale_block ? "k, a, b and their scale factors" : "k, a and b");
  if (w->is_common) fprintf(stream, "  operands as %s\n", smma_inputs_text(i, inputs));
  for (int k = 0; k < i->k; k++)
    if (w->row.a[k] || w->row.b[k]) print_product(stream, i, &w->row, k, place ? place[k] : (size_t)k);
  fprintf(stream, "  c     ");
  print_number(stream, i->c, w->row.c, 0);
  fputc('\n', stream);
  smma_print_value(stream, 2, width, one, i->d, w->row.d);
  smma_print_value(stream, 2, width, other, i->d, w->other);
}

static void print_witness(FILE *stream, const smma_witness *w, const char *one, const char *other) {
  print_row(stream, w, (size_t)w->as.k, NULL, one, other);
}

/* ---- Two ---- */

static void print_equality(FILE *stream, const smma_equal_target s[2], const smma_equality *e) {
  print_side(stream, &s[0]);
  print_side(stream, &s[1]);
  switch (e->answer) {
    case SMMA_PROVED:
      if (e->multiple == 1)
        fprintf(stream, "equal, proved for every K: %s\n", e->why);
      else
        fprintf(stream, "equal, proved for K that are multiples of %d: %s\n", e->multiple, e->why);
      if (e->filled.found) {
        fprintf(stream, "other K, which are filled with zeros, may differ\n");
        print_witness(stream, &e->filled, s[0].label, s[1].label);
      } else if (e->multiple > 1) {
        fprintf(stream, "other K, which are filled with zeros: cannot tell; %llu rows agree\n",
                (unsigned long long)e->filled.rows);
      }
      return;
    case SMMA_REFUTED:
      fprintf(stream, "different: in %s\n", e->why);
      print_witness(stream, &e->witness, s[0].label, s[1].label);
      return;
    case SMMA_CANNOT_TELL:
      fprintf(stream, "cannot tell, because no proof covers what differs, %s; %llu rows agree\n", e->why,
              (unsigned long long)e->witness.rows);
  }
}

/* ---- One ---- */

static void print_freedom(FILE *stream, const smma_equal_target *s, const smma_freedom *f) {
  char one[32], other[64];
  print_side(stream, s);
  snprintf(one, sizeof one, "in order");
  snprintf(other, sizeof other, "k = %d and %d exchanged", f->exchanged[0], f->exchanged[1]);
  switch (f->order.answer) {
    case SMMA_PROVED: fprintf(stream, "order of k: any, proved: %s\n", f->order.why); break;
    case SMMA_REFUTED:
      fprintf(stream, "order of k: matters\n");
      print_witness(stream, &f->order.witness, one, other);
      break;
    case SMMA_CANNOT_TELL:
      fprintf(stream, "order of k: cannot tell, because no proof covers it; %llu rows of at most %d products agree\n",
              (unsigned long long)f->order.witness.rows, SMMA_MAXIMUM_ROUNDED_K);
  }
  if (*f->within) fprintf(stream, "any order, proved, of %s\n", f->within);
  fprintf(stream, "BLOCK_K: %s\n", f->tile);
  switch (f->filled.answer) {
    case SMMA_PROVED: fprintf(stream, "zeros after the last k: change nothing, proved\n"); break;
    case SMMA_REFUTED:
      fprintf(stream, "zeros after the last k: an instruction that adds only zeros may change the result\n");
      print_witness(stream, &f->filled.witness, "without", "with");
      break;
    case SMMA_CANNOT_TELL:
      fprintf(stream, "zeros after the last k: cannot tell, because no proof covers them; %llu rows agree\n",
              (unsigned long long)f->filled.witness.rows);
  }
}

/* ---- With plans ---- */

static void print_planned_row(FILE *stream, const smma_planned_witness *w, const char *one, const char *other) {
  print_row(stream, &w->witness, w->k, w->place, one, other);
  if (*w->with) fprintf(stream, "  with    %s\n", w->with);
}

static void print_planned_equality(FILE *stream, const smma_equal_target s[2], const smma_planned_equality *e,
                                   const char shown[2][1040]) {
  print_side(stream, &s[0]);
  print_side(stream, &s[1]);
  if (*e->neutral) fprintf(stream, "only one of them takes these, which are neutral: %s\n", e->neutral);
  switch (e->answer) {
    case SMMA_PROVED:
      if (e->k)
        fprintf(stream, "equal, proved for K = %zu: %s\n", e->k, e->why);
      else
        fprintf(stream, "equal, proved for every K that both can follow: %s\n", e->why);
      return;
    case SMMA_REFUTED:
      fprintf(stream, "different: in %s\n", e->why);
      print_planned_row(stream, &e->row, shown[0], shown[1]);
      return;
    case SMMA_CANNOT_TELL:
      if (!e->row.witness.rows) {
        fprintf(stream, "cannot tell, because %s\n", e->why);
        return;
      }
      fprintf(stream, "cannot tell, because no proof covers what differs at K = %zu, %s; %llu rows", e->k, e->why,
              (unsigned long long)e->row.witness.rows);
      if (e->searched > 1) fprintf(stream, " at %zu K", e->searched);
      fprintf(stream, " agree\n");
  }
}

static void print_planned_freedom(FILE *stream, const smma_equal_target *s, const smma_planned_freedom *f) {
  const smma_planned_equality *e = &f->order;
  char other[96];
  print_side(stream, s);
  snprintf(other, sizeof other, "k = %zu and %zu exchanged", f->exchanged[0], f->exchanged[1]);
  switch (e->answer) {
    case SMMA_PROVED: fprintf(stream, "order of k: any, proved for K = %zu: %s\n", f->k, e->why); break;
    case SMMA_REFUTED:
      fprintf(stream, "order of k: matters\n");
      print_planned_row(stream, &e->row, "in order", other);
      break;
    case SMMA_CANNOT_TELL:
      fprintf(stream, "order of k: cannot tell, because no proof covers it");
      if (e->row.witness.rows)
        fprintf(stream, "; %llu rows with K = %zu agree", (unsigned long long)e->row.witness.rows, f->k);
      fprintf(stream, "\n");
  }
  if (*f->within) fprintf(stream, "any order, proved for K = %zu, of k = 0 and %s\n", f->k, f->within);
}

void smma_print_equal(FILE *stream, const smma_equal_request *r, const smma_equal_result *found) {
  if (r->planned && r->targets == 2)
    print_planned_equality(stream, r->target, &found->planned_equality, found->shown);
  else if (r->planned)
    print_planned_freedom(stream, r->target, &found->planned_freedom);
  else if (r->targets == 2)
    print_equality(stream, r->target, &found->equality);
  else
    print_freedom(stream, r->target, &found->freedom);
}
