#include "question/ask.h"

#include <stdlib.h>
#include <string.h>

#include "host/clock.h"
#include "isa/catalogue.h"
#include "isa/find.h"
#include "isa/key.h"
#include "rows/datum.h"

typedef struct {
  const smma_question_request *request;
  smma_trial trial;
  const smma_instruction **asked; /* instructions of this architecture asked about this question */
  size_t asked_count;
  smma_open_answers *answers;
  smma_error *error;
} run;

const smma_question *smma_require_question(const char *name, smma_error *error) {
  const smma_question *e = smma_find_question(name);
  char list[sizeof error->text] = "";
  if (e) return e;
  for (size_t i = 0; i < SMMA_QUESTION_COUNT; i++)
    smma_append_text(list, sizeof list, "%s%s", i ? ", " : "", smma_questions[i]->name);
  smma_fail(error, "unknown experiment '%s'; experiments are %s", name, list);
  return NULL;
}

bool smma_question_of_gpu(const char *gpu, const char **only, smma_arch_id *nearest, smma_error *error) {
  smma_arch_id arch;
  const char *experiment = smma_experiment_of_gpu(gpu, &arch);
  if (!experiment) return true;
  if (*only && strcmp(*only, experiment) != 0)
    return smma_fail(error, "%s has no model; this experiment finds out how it computes: %s", gpu, experiment);
  *only = experiment;
  *nearest = arch;
  return true;
}

/* ---- One answer ---- */

const char *smma_answer_text(const smma_trial *t, const smma_trial_result *r) {
  return r->answer < 0 ? "none of the candidates" : t->answer[r->answer]->text;
}

const char *smma_result_name(const smma_trial *t, int index, smma_row *row) {
  return t->question->chained ? "the end of the loop" : smma_trial_row(t, index, row);
}

static smma_datum *rows_datum(const smma_trial *t, const smma_trial_result *r) {
  const smma_format d = t->instruction->d;
  smma_datum *list = smma_datum_list();
  for (int index = 0; index < t->results; index++) {
    smma_datum *one = smma_datum_record();
    smma_row row;
    smma_put_text(one, "what", smma_result_name(t, index, &row));
    if (!t->question->chained) smma_put_operands(one, t->instruction, &row);
    smma_datum_put(one, "unit", smma_encodings_datum(d, &r->d[index], 1));
    smma_datum_put(one, "model", smma_encodings_datum(d, &t->expected[0][index], 1));
    smma_datum_append(list, one);
  }
  return list;
}

static smma_datum *example_datum(const smma_trial *t, const smma_trial_result *r) {
  smma_datum *example;
  if (r->different == t->rows) return smma_datum_null();
  example = smma_datum_record();
  smma_put_operands(example, t->instruction, &r->example);
  smma_datum_put(example, "unit", smma_encodings_datum(t->instruction->d, &r->example.d, 1));
  return example;
}

static smma_datum *answer_datum(const smma_trial *t, const smma_trial_result *r) {
  smma_datum *d = smma_datum_record(), *candidates = smma_datum_list();
  for (int n = 0; n < t->answers; n++) smma_datum_append(candidates, smma_datum_text(t->answer[n]->text));
  smma_put_text(d, "experiment", t->question->name);
  smma_put_text(d, "question", t->question->text);
  smma_put_text(d, "arch", smma_arch_name(t->instruction));
  smma_put_text(d, "instr", t->instruction->name);
  smma_put_text(d, "answer", smma_answer_text(t, r));
  smma_datum_put(d, "candidates", candidates);
  smma_datum_put(d, "rows", rows_datum(t, r));
  smma_datum_put(d, "example", example_datum(t, r));
  return d;
}

static bool ask(run *x, const smma_trial *t) {
  const smma_question_request *q = x->request;
  smma_trial_result r;
  smma_error why;
  if (!smma_trial_run(t, q->unit, &r, &why)) return smma_fail(x->error, "%s: %s", t->question->name, why.text);
  x->answers->answers++;
  x->answers->others += r.answer != 0;
  if (q->answered)
    q->answered(t, &r, q->context);
  else
    smma_datum_append(x->answers->list, answer_datum(t, &r));
  return true;
}

/* ---- Choice of instructions ---- */

static bool has_signed_input(const smma_instruction *i) {
  return smma_encoding_of(i->a).sign_bits || smma_encoding_of(i->b).sign_bits;
}

/* Reports whether two instructions have the same family, rule and scale format, so that an answer of one answers for
   the other. Questions about integers also depend on K and on whether an input is signed. */
static bool are_alike(const smma_instruction *x, const smma_instruction *y) {
  if (x->family != y->family || x->rule != y->rule || x->scale != y->scale) return false;
  return x->rule->rule.algorithm != SMMA_INTEGER || (x->k == y->k && has_signed_input(x) == has_signed_input(y));
}

/* Reports whether the question was already put to an instruction like this one. */
static bool is_asked(const run *x, const smma_instruction *i) {
  for (size_t n = 0; n < x->asked_count; n++)
    if (are_alike(x->asked[n], i)) return true;
  return false;
}

/* Puts a question to an instruction. If an instruction that computes the same function was already tested, its trial is
   used again. */
static bool consider(run *x, const smma_question *e, const smma_instruction *i) {
  smma_trial *t = &x->trial;
  if (t->question == e && t->answers > 0 && smma_same_operation(t->instruction, i) && e->concerns(i))
    t->instruction = i;
  else
    smma_trial_prepare(e, i, t);
  if (t->answers < 2) return true;
  x->asked[x->asked_count++] = i;
  return ask(x, t);
}

static bool ask_architecture(run *x, const smma_question *e, const smma_instruction_table *table) {
  const char *prefixes = smma_prefixes_of(x->request->gpu);
  smma_error why;
  x->asked_count = 0;
  for (size_t n = 0; n < table->count; n++) {
    const smma_instruction *i = &table->row[n];
    if (!smma_has_a_prefix(i->name, prefixes)) continue;
    if (!x->request->every && is_asked(x, i)) continue;
    if (smma_unit_computes(x->request->unit, i, &why) && !consider(x, e, i)) return false;
  }
  return true;
}

static bool ask_question(run *x, const smma_question *e) {
  const smma_question_request *q = x->request;
  const size_t before = x->answers->answers;
  bool good = true;
  x->asked_count = 0;
  if (q->instruction) good = consider(x, e, q->instruction);
  for (int a = 0; good && !q->instruction && a < SMMA_ARCH_COUNT; a++)
    if (q->arch == SMMA_ARCH_COUNT ? smma_architectures[a].listed : a == (int)q->arch)
      good = ask_architecture(x, e, smma_architectures[a].table);
  x->answers->questions += x->answers->answers > before;
  return good;
}

/* ---- The whole request ---- */

bool smma_ask_questions(const smma_question_request *q, smma_open_answers *answers, smma_error *error) {
  run x = {.request = q, .answers = answers, .error = error};
  bool good = true;
  *answers = (smma_open_answers){.list = q->answered ? NULL : smma_datum_list()};
  if (smma_unit_is_recording(q->unit))
    return smma_fail(error, "%s knows only the rows that were recorded", q->unit->name);
  if (q->instruction && !smma_unit_computes(q->unit, q->instruction, error)) return false;
  x.asked = malloc(smma_catalogue_count() * sizeof *x.asked);
  if (!x.asked) return smma_no_memory(error);
  for (size_t n = 0; good && n < SMMA_QUESTION_COUNT; n++)
    if (q->only ? q->only == smma_questions[n] : !smma_question_is_of_unmodelled(smma_questions[n]))
      good = ask_question(&x, smma_questions[n]);
  free(x.asked);
  if (good && !answers->answers && q->only)
    return smma_fail(error, "the experiment %s covers no selected instruction that %s computes", q->only->name,
                     q->unit->name);
  if (good && !answers->answers)
    return smma_fail(error, "no experiment covers an instruction that %s computes", q->unit->name);
  return good;
}

void smma_free_open_answers(smma_open_answers *answers) {
  smma_datum_free(answers->list);
  answers->list = NULL;
}

smma_datum *smma_open_answers_datum(smma_open_answers *answers, const smma_unit *unit) {
  smma_datum *d = smma_datum_record();
  char date[32];
  smma_put_text(d, "softmma", smma_version());
  smma_put_text(d, "date", smma_utc_text(date));
  smma_datum_put(d, "unit", smma_unit_datum(unit));
  smma_put_count(d, "answers", answers->answers);
  smma_put_count(d, "others", answers->others);
  smma_datum_put(d, "experiments", answers->list);
  answers->list = NULL;
  return d;
}
