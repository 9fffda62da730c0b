#include "cli/prove.h"

#include <string.h>

#include "cli/plans.h"
#include "cli/target.h"
#include "cli/values.h"
#include "equal/study.h"

enum { MOST_K = 1 << 24 };

typedef struct {
  char label[512]; /* the target as given on the command line */
  const smma_instruction *instruction;
  smma_target_plan plan;
} side;

/* ---- Targets ---- */

static void take_side(const char *text, const smma_choice *c, side *s) {
  s->instruction = smma_choose_target(text, c);
  snprintf(s->label, sizeof s->label, "%s", text);
}

static void print_side(const side *s) {
  const smma_instruction *i = s->instruction;
  char rule[SMMA_RULE_WORDS_SIZE];
  printf("%s: %s, %s%s%s\n", s->label, i->name, smma_rule_words(&i->rule->rule, rule, sizeof rule),
         *s->plan.text ? ", plan " : "", s->plan.text);
}

/* ---- Rows ---- */

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
  const char *label[2] = {one, other};
  const uint64_t d[2] = {w->row.d, w->other};
  const int width = (int)(strlen(one) > strlen(other) ? strlen(one) : strlen(other));
  char hex[24], value[40], inputs[SMMA_INPUTS_TEXT_SIZE];
  printf("smallest row found, K = %zu, all but +0: %s\n", all,
         i->scale_block ? "k, a, b and their scale factors" : "k, a and b");
  if (w->is_common) printf("  operands as %s\n", smma_inputs_text(i, inputs));
  for (int k = 0; k < i->k; k++)
    if (w->row.a[k] || w->row.b[k]) print_product(i, &w->row, k, place ? place[k] : (size_t)k);
  printf("  c     ");
  print_number(i->c, w->row.c, 0);
  putchar('\n');
  for (int s = 0; s < 2; s++)
    printf("  %-*s  %s  %s\n", width, label[s], smma_hex_text(i->d, d[s], hex), smma_value_text(i->d, d[s], value));
}

static void print_witness(const smma_witness *w, const char *one, const char *other) {
  print_row(w, (size_t)w->as.k, NULL, one, other);
}

/* ---- Two ---- */

static void print_equality(const side s[2], const smma_equality *e) {
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

static void print_freedom(const side *s, const smma_freedom *f) {
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
    case SMMA_PROVED: printf("zeros behind the last k: change nothing, proved\n"); break;
    case SMMA_REFUTED:
      printf("zeros behind the last k: an instruction of nothing else may change the result\n");
      print_witness(&f->filled.witness, "without", "with");
      break;
    case SMMA_CANNOT_TELL:
      printf("zeros behind the last k: cannot tell, because no proof covers them; %llu rows agree\n",
             (unsigned long long)f->filled.witness.rows);
  }
}

/* ---- With plans ---- */

static void print_planned_row(const smma_planned_witness *w, const char *one, const char *other) {
  print_row(&w->witness, w->k, w->place, one, other);
  if (*w->with) printf("  with    %s\n", w->with);
}

static void print_planned_equality(const side s[2], const smma_planned_equality *e, const char shown[2][1040]) {
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

static void print_planned_freedom(const side *s, const smma_planned_freedom *f) {
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

/* ---- The command ---- */

static void print_text(const side s[2], const smma_equal_request *r, const smma_equal_result *found) {
  if (r->planned && r->targets == 2)
    print_planned_equality(s, &found->planned_equality, found->shown);
  else if (r->planned)
    print_planned_freedom(s, &found->planned_freedom);
  else if (r->targets == 2)
    print_equality(s, &found->equality);
  else
    print_freedom(s, &found->freedom);
}

/* Answers the request about the targets, prints the answer and returns the exit status. */
static int answer(const side s[2], smma_equal_request *r, bool json) {
  static const int statuses[] = {SMMA_EXIT_EQUAL, SMMA_EXIT_DIFFERENT, SMMA_EXIT_FAILED};
  static smma_equal_result found;
  smma_error error;
  for (int n = 0; n < r->targets; n++)
    r->target[n] =
        (smma_equal_target){s[n].label, s[n].instruction, *s[n].plan.text ? s[n].plan.text : NULL, s[n].plan.plan};
  if (!smma_equal(r, &found, &error)) smma_die("%s", error.text);
  if (json)
    smma_print_datum(smma_equal_datum(r, &found));
  else
    print_text(s, r, &found);
  return smma_finish_output(statuses[smma_equal_answer(r, &found)]);
}

static void take_plans(side *s, size_t count, const char *list) {
  const smma_instruction *instructions[2];
  smma_target_plan plans[2];
  for (size_t i = 0; i < count; i++) instructions[i] = s[i].instruction;
  smma_require_plans(list, instructions, count, plans);
  for (size_t i = 0; i < count; i++) s[i].plan = plans[i];
}

int smma_prove(int argc, const char **argv) {
  smma_choice c = {.instr = NULL};
  long long rows = 200000, seed = 0, k = 0;
  int json = 0, proves = 0, permute = 0, count = 0, status;
  smma_equal_request request;
  const char *list = NULL, *plans = NULL;
  static side s[2];
  char text[SMMA_TARGET_SIZE];
  struct poptOption options[] = {
      SMMA_LIST_OF_TARGETS(&list, "the targets, as arguments or here"),
      SMMA_CHOICE_OPTIONS(c, " (default: f16)"),
      {"prove", 0, POPT_ARG_NONE, &proves, 0, "prove that two targets compute one function, or disprove it", NULL},
      {"permute", 0, POPT_ARG_NONE, &permute, 0,
       "for one target: decide whether the order of k and the size BLOCK_K change the result", NULL},
      {"plan", 0, POPT_ARG_STRING, &plans, 0,
       "how the library around the instruction sums (docs/plans.md): one plan for all targets, or one for each; 'none' "
       "is one chain of instructions (default: none)",
       "FILE|NAME,..."},
      {"k", 'k', POPT_ARG_LONGLONG, &k, 0, "K of the product (default: every K)", "K"},
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &rows, 0, "largest number of test vectors to search",
       "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  smma_parse_options(
      argc, argv, options, 0, 0,
      "Decides whether two targets compute the same function for products of any K. 'equal' is proved from\n"
      "their rules, and 'different' comes with a test vector that separates them; otherwise the answer is\n"
      "that it cannot tell. Exit status: 0 equal, 1 different, 2 cannot tell.\n");
  if (rows < 1) smma_die("--rows: %lld; it takes at least 1", rows);
  while (list && *list) {
    if (count == 2) smma_die("more than two targets: '%s'", list);
    list = smma_next_target(list, text);
    take_side(text, &c, &s[count++]);
  }
  if (permute && count != 1) smma_die("--permute: of one target, not two");
  if (!permute && count != 2)
    smma_die("--prove: it takes two targets; for example softmma diff --prove H100 B200 --in bf16");
  if (k < 0 || k > MOST_K) smma_die("--k: %lld is not a number from 1 to %d", k, MOST_K);
  take_plans(s, (size_t)count, plans);
  request = (smma_equal_request){
      .targets = count, .planned = plans || k, .k = (size_t)k, .rows = (uint64_t)rows, .seed = (uint64_t)seed};
  status = answer(s, &request, json);
  for (int i = 0; i < count; i++) smma_plan_free(s[i].plan.plan);
  return status;
}
