#include "cli/prove.h"

#include <string.h>

#include "cli/row.h"
#include "isa/catalogue.h"
#include "isa/formats.h"

/* ---- Rows ---- */

static void print_side(const smma_equal_target *s) {
  const smma_instruction *i = s->instruction;
  char rule[SMMA_RULE_WORDS_SIZE];
  printf("%s: %s, %s%s%s\n", s->label, i->name, smma_rule_words(&i->rule->rule, rule, sizeof rule),
         s->plan_name ? ", plan " : "", s->plan_name ? s->plan_name : "");
}

static void print_number(smma_format format, uint64_t x, int width) {
  char hex[24], value[40], both[72];
  snprintf(both, sizeof both, "%s %s", smma_hex_text(format, x, hex), smma_value_text(format, x, value));
  printf("  %-*s", width, both);
}

/* Prints product `k` of the test vector, whose index in the whole product is `at`. */
static void print_product(const smma_instruction *i, const smma_row *row, int k, size_t at) {
  const int group = i->scale_block ? k / i->scale_block : 0;
  printf("  k = %-2zu", at);
  print_number(i->a, row->a[k], 24);
  print_number(i->b, row->b[k], i->scale_block ? 24 : 0);
  if (i->scale_block) {
    print_number(i->scale, row->scale_a[group], 14);
    print_number(i->scale, row->scale_b[group], 0);
  }
  putchar('\n');
}

/* Prints the terms of a test vector that are not +0, and both results. `all` is K; `place` holds the index of each term
   in the whole product, or is NULL if the terms are the whole product. */
static void print_row(const smma_witness *w, size_t all, const size_t *place, const char *one, const char *other) {
  const smma_instruction *i = &w->as;
  const int width = smma_maximum((int)strlen(one), (int)strlen(other)) + 1;
  char inputs[SMMA_INPUTS_TEXT_SIZE];
  printf("smallest row found, K = %zu, all but +0: %s\n", all,
         i->scale_block ? "k, a, b and their scale factors" : "k, a and b");
  if (w->is_common) printf("  operands as %s\n", smma_inputs_text(i, inputs));
  for (int k = 0; k < i->k; k++)
    if (w->row.a[k] || w->row.b[k]) print_product(i, &w->row, k, place ? place[k] : (size_t)k);
  printf("  c     ");
  print_number(i->c, w->row.c, 0);
  putchar('\n');
  smma_print_value(stdout, 2, width, one, i->d, w->row.d);
  smma_print_value(stdout, 2, width, other, i->d, w->other);
}

static void print_witness(const smma_witness *w, const char *one, const char *other) {
  print_row(w, (size_t)w->as.k, NULL, one, other);
}

/* ---- Two ---- */

static void print_equality(const smma_equal_target s[2], const smma_equality *e) {
  print_side(&s[0]);
  print_side(&s[1]);
  switch (e->answer) {
    case SMMA_PROVED:
      if (e->multiple == 1)
        printf("equal, proved for every K: %s\n", e->why);
      else
        printf("equal, proved for K that are multiples of %d: %s\n", e->multiple, e->why);
      if (e->filled.found) {
        printf("other K, which are filled with zeros, may differ\n");
        print_witness(&e->filled, s[0].label, s[1].label);
      } else if (e->multiple > 1) {
        printf("other K, which are filled with zeros: cannot tell; %llu rows agree\n",
               (unsigned long long)e->filled.rows);
      }
      return;
    case SMMA_REFUTED:
      printf("different: in %s\n", e->why);
      print_witness(&e->witness, s[0].label, s[1].label);
      return;
    case SMMA_CANNOT_TELL:
      printf("cannot tell, because no proof covers what differs, %s; %llu rows agree\n", e->why,
             (unsigned long long)e->witness.rows);
  }
}

/* ---- One ---- */

static void print_freedom(const smma_equal_target *s, const smma_freedom *f) {
  char one[32], other[64];
  print_side(s);
  snprintf(one, sizeof one, "in order");
  snprintf(other, sizeof other, "k = %d and %d exchanged", f->exchanged[0], f->exchanged[1]);
  switch (f->order.answer) {
    case SMMA_PROVED: printf("order of k: any, proved: %s\n", f->order.why); break;
    case SMMA_REFUTED:
      printf("order of k: matters\n");
      print_witness(&f->order.witness, one, other);
      break;
    case SMMA_CANNOT_TELL:
      printf("order of k: cannot tell, because no proof covers it; %llu rows of at most %d products agree\n",
             (unsigned long long)f->order.witness.rows, SMMA_MAXIMUM_ROUNDED_K);
  }
  if (*f->within) printf("any order, proved, of %s\n", f->within);
  printf("BLOCK_K: %s\n", f->tile);
  switch (f->filled.answer) {
    case SMMA_PROVED: printf("zeros after the last k: change nothing, proved\n"); break;
    case SMMA_REFUTED:
      printf("zeros after the last k: an instruction that adds only zeros may change the result\n");
      print_witness(&f->filled.witness, "without", "with");
      break;
    case SMMA_CANNOT_TELL:
      printf("zeros after the last k: cannot tell, because no proof covers them; %llu rows agree\n",
             (unsigned long long)f->filled.witness.rows);
  }
}

/* ---- With plans ---- */

static void print_planned_row(const smma_planned_witness *w, const char *one, const char *other) {
  print_row(&w->witness, w->k, w->place, one, other);
  if (*w->with) printf("  with    %s\n", w->with);
}

static void print_planned_equality(const smma_equal_target s[2], const smma_planned_equality *e,
                                   const char shown[2][1040]) {
  print_side(&s[0]);
  print_side(&s[1]);
  if (*e->neutral) printf("only one of them takes these, which are neutral: %s\n", e->neutral);
  switch (e->answer) {
    case SMMA_PROVED:
      if (e->k)
        printf("equal, proved for K = %zu: %s\n", e->k, e->why);
      else
        printf("equal, proved for every K that both can follow: %s\n", e->why);
      return;
    case SMMA_REFUTED:
      printf("different: in %s\n", e->why);
      print_planned_row(&e->row, shown[0], shown[1]);
      return;
    case SMMA_CANNOT_TELL:
      if (e->row.witness.rows)
        printf("cannot tell, because no proof covers what differs at K = %zu, %s; %llu rows agree\n", e->k, e->why,
               (unsigned long long)e->row.witness.rows);
      else
        printf("cannot tell, because %s\n", e->why);
  }
}

static void print_planned_freedom(const smma_equal_target *s, const smma_planned_freedom *f) {
  const smma_planned_equality *e = &f->order;
  char other[96];
  print_side(s);
  snprintf(other, sizeof other, "k = %zu and %zu exchanged", f->exchanged[0], f->exchanged[1]);
  switch (e->answer) {
    case SMMA_PROVED: printf("order of k: any, proved for K = %zu: %s\n", f->k, e->why); break;
    case SMMA_REFUTED:
      printf("order of k: matters\n");
      print_planned_row(&e->row, "in order", other);
      break;
    case SMMA_CANNOT_TELL:
      printf("order of k: cannot tell, because no proof covers it; %llu rows with K = %zu agree\n",
             (unsigned long long)e->row.witness.rows, f->k);
  }
  if (*f->within) printf("any order, proved for K = %zu, of k = 0 and %s\n", f->k, f->within);
}

void smma_print_equal(const smma_equal_request *r, const smma_equal_result *found) {
  if (r->planned && r->targets == 2)
    print_planned_equality(r->target, &found->planned_equality, found->shown);
  else if (r->planned)
    print_planned_freedom(r->target, &found->planned_freedom);
  else if (r->targets == 2)
    print_equality(r->target, &found->equality);
  else
    print_freedom(r->target, &found->freedom);
}
