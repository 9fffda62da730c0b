#include "cli/questions.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/report.h"
#include "cli/row.h"
#include "cli/values.h"

/* What was asked, and what came out so far. */
typedef struct {
  const smma_question_request *request;
  smma_trial trial;
  const smma_instruction **asked; /* in this experiment and architecture */
  size_t asked_count;
  size_t answers, others, experiments;
  json_t *results; /* NULL without --json */
  smma_progress progress;
} run;

const smma_question *smma_require_question(const char *name, const char *option) {
  const smma_question *e = smma_find_question(name);
  char list[512] = "";
  if (e) return e;
  for (size_t i = 0; i < SMMA_QUESTION_COUNT; i++)
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", smma_questions[i]->name);
  smma_die("%s: unknown experiment '%s'; experiments are %s", option, name, list);
}

/* ---- One answer ---- */

static const char *answer_text(const smma_trial *t, const smma_trial_result *r) {
  return r->answer < 0 ? "none of the candidates" : t->answer[r->answer]->text;
}

static const char *result_name(const smma_trial *t, int index, smma_row *row) {
  return t->question->chained ? "the end of the loop" : smma_trial_row(t, index, row);
}

static void print_result(const smma_trial *t, const smma_trial_result *r, int index) {
  const smma_format d = t->instruction->d;
  smma_row row;
  char hex[24], model[24], value[40];
  printf("  0x%s  %-12s  %s", smma_hex_text(d, r->d[index], hex), smma_value_text(d, r->d[index], value),
         result_name(t, index, &row));
  if (r->d[index] != t->expected[0][index])
    printf(" (the model: 0x%s)", smma_hex_text(d, t->expected[0][index], model));
  putchar('\n');
}

static void print_answer(const smma_trial *t, const smma_trial_result *r) {
  printf("%s %s %s: %s\n", t->question->name, smma_arch_name(t->instruction), t->instruction->name, answer_text(t, r));
  for (int index = 0; index < t->results; index++) print_result(t, r, index);
  if (r->different == t->rows) return;
  printf("  ");
  smma_print_dot_command(stdout, t->instruction, &r->example);
  putchar('\n');
}

static json_t *rows_json(const smma_trial *t, const smma_trial_result *r) {
  const smma_format d = t->instruction->d;
  json_t *array = json_array();
  for (int index = 0; index < t->results; index++) {
    smma_row row;
    json_t *object = json_pack("{s:s}", "what", result_name(t, index, &row));
    if (!t->question->chained) smma_add_operands(object, t->instruction, &row);
    json_object_set_new(object, "unit", smma_hex_array(d, &r->d[index], 1));
    json_object_set_new(object, "model", smma_hex_array(d, &t->expected[0][index], 1));
    json_array_append_new(array, object);
  }
  return array;
}

static json_t *answer_json(const smma_trial *t, const smma_trial_result *r) {
  json_t *candidates = json_array(), *example = json_null();
  for (int n = 0; n < t->answers; n++) json_array_append_new(candidates, json_string(t->answer[n]->text));
  if (r->different < t->rows) {
    example = json_object();
    smma_add_operands(example, t->instruction, &r->example);
    json_object_set_new(example, "unit", smma_hex_array(t->instruction->d, &r->example.d, 1));
  }
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "experiment", t->question->name, "question",
                   t->question->text, "arch", smma_arch_name(t->instruction), "instr", t->instruction->name, "answer",
                   answer_text(t, r), "candidates", candidates, "rows", rows_json(t, r), "example", example);
}

static void ask(run *x, const smma_trial *t) {
  smma_trial_result r;
  smma_error error;
  if (!smma_trial_run(t, x->request->unit, &r, &error)) smma_die("%s: %s", t->question->name, error.text);
  x->answers++;
  x->others += r.answer != 0;
  if (x->results)
    json_array_append_new(x->results, answer_json(t, &r));
  else
    print_answer(t, &r);
  smma_progress_show(&x->progress, x->answers, 0);
}

/* ---- Which instructions ---- */

/* Whether an instruction shares rule and family with one that was asked, or all but N with the one before it. */
static bool is_asked(const run *x, const smma_instruction *i) {
  for (size_t n = 0; n < x->asked_count; n++)
    if (x->asked[n]->family == i->family && x->asked[n]->rule == i->rule) return true;
  return false;
}

static bool is_repeated(const smma_instruction_table *table, size_t i) {
  return i > 0 && table->row[i - 1].family == table->row[i].family &&
         smma_same_operation(&table->row[i - 1], &table->row[i]);
}

/* Instructions that compute the same have the same trial. */
static void consider(run *x, const smma_question *e, const smma_instruction *i) {
  smma_trial *t = &x->trial;
  if (t->question == e && smma_same_operation(t->instruction, i))
    t->instruction = i;
  else
    smma_trial_prepare(e, i, t);
  if (t->answers < 2) return;
  x->asked[x->asked_count++] = i;
  ask(x, t);
}

static void ask_architecture(run *x, const smma_question *e, const smma_instruction_table *table) {
  smma_error why;
  x->asked_count = 0;
  for (size_t n = 0; n < table->count; n++) {
    const smma_instruction *i = &table->row[n];
    if (!x->request->every && (is_repeated(table, n) || is_asked(x, i))) continue;
    if (smma_unit_computes(x->request->unit, i, &why)) consider(x, e, i);
  }
}

static void ask_experiment(run *x, const smma_question *e) {
  const smma_question_request *q = x->request;
  const size_t before = x->answers;
  x->asked_count = 0;
  if (q->instruction)
    consider(x, e, q->instruction);
  else
    for (int a = 0; a < SMMA_ARCH_COUNT; a++)
      if (q->arch == SMMA_ARCH_COUNT ? smma_architectures[a].listed : a == q->arch)
        ask_architecture(x, e, smma_architectures[a].table);
  x->experiments += x->answers > before;
}

/* ---- All of it ---- */

static void print_report(const run *x) {
  char date[32];
  const time_t now = time(NULL);
  struct tm utc;
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  smma_print_json(json_pack("{s:s, s:s, s:o, s:I, s:I, s:o}", "softmma", smma_version(), "date", date, "unit",
                            smma_unit_json(x->request->unit), "answers", (json_int_t)x->answers, "others",
                            (json_int_t)x->others, "experiments", x->results));
}

int smma_ask_questions(const smma_question_request *q) {
  run x = {.request = q, .results = q->json ? json_array() : NULL};
  smma_error why;
  if (q->instruction && !smma_unit_computes(q->unit, q->instruction, &why)) smma_die("%s", why.text);
  x.asked = malloc(smma_catalogue_count() * sizeof *x.asked);
  if (!x.asked) smma_die("out of memory");
  smma_progress_start(&x.progress, "answers", 1);
  for (size_t n = 0; n < SMMA_QUESTION_COUNT; n++)
    if (q->only ? q->only == smma_questions[n] : !smma_question_is_of_unmodelled(smma_questions[n]))
      ask_experiment(&x, smma_questions[n]);
  smma_progress_end();
  free(x.asked);
  if (x.answers == 0) smma_die("no experiment tells anything of an instruction that %s computes", q->unit->name);
  if (q->json)
    print_report(&x);
  else
    printf("experiments=%zu answers=%zu others=%zu\n", x.experiments, x.answers, x.others);
  return smma_finish_output(x.others ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}
