#include "question/question.h"

#include <string.h>

#include "rows/generate.h"
#include "rows/rows.h"

/* Number of generated rows that are searched, and number of rows to find for which some answers differ. */
enum { MOST_GENERATED = 16384, DISTINGUISHING_ROWS = SMMA_MOST_TRIAL_ROWS / 2 };

static uint64_t compute_model(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  (void)parameter;
  return smma_dot_add(model, x, c);
}

static const smma_candidate the_model = {"as the model", compute_model, 0};

const smma_question *const smma_questions[SMMA_QUESTION_COUNT] = {
#define SMMA_QUESTION(symbol) &smma_question_##symbol,
#include "question/questions.def"
#undef SMMA_QUESTION
};

bool smma_question_is_of_unmodelled(const smma_question *question) { return question == &smma_question_cdna4_sums; }

/* Reports whether the question is which encoding a NaN result has. */
static bool is_of_nan_encodings(const smma_question *question) {
  return question == &smma_question_nan_payload || question == &smma_question_rdna4_fp8_nan;
}

/* Reports whether some answers to a question with searched rows give a NaN where other answers give a number. */
static bool is_of_specials(const smma_question *question) {
  return question == &smma_question_ace_fp8_specials || question == &smma_question_tensix_specials;
}

const smma_question *smma_find_question(const char *name) {
  for (size_t i = 0; i < SMMA_QUESTION_COUNT; i++)
    if (strcmp(name, smma_questions[i]->name) == 0) return smma_questions[i];
  return NULL;
}

/* ---- Preparing ---- */

static int collect_candidates(const smma_question *e, const smma_candidate **answer) {
  int count = 0;
  answer[count++] = &the_model;
  for (const smma_candidate *c = e->candidates; c->text; c++) answer[count++] = c;
  return count;
}

static void compute_answers(const smma_trial *t, const smma_operation *o, const smma_row *row, uint64_t *d) {
  smma_decoded x;
  smma_row_decode(o, row, &x);
  for (int n = 0; n < t->answers; n++)
    d[n] = t->answer[n]->compute(o, smma_operands_of(&x), row->c, t->answer[n]->parameter);
}

static void add_row(smma_trial *t, const uint64_t *d) {
  for (int n = 0; n < t->answers; n++) t->expected[n][t->results] = d[n];
  t->results++;
}

static bool is_nan(const smma_trial *t, uint64_t d) {
  return smma_decode(smma_encoding_of(t->instruction->d), d).kind == SMMA_NAN;
}

/* Reports whether a result d agrees with the result that answer n expects. Unless the question is which encoding a NaN
   has, every NaN agrees with a NaN of a candidate, and with a NaN of the model if its rule leaves the encoding open. */
static bool agrees(const smma_trial *t, int n, uint64_t expected, uint64_t d) {
  const smma_operation o = smma_operation_of(t->instruction);
  if (expected == d || is_of_nan_encodings(t->question)) return expected == d;
  return n == 0 ? smma_same_result(&o, expected, d) : is_nan(t, expected) && is_nan(t, d);
}

static bool agrees_all(const smma_trial *t, int n, const uint64_t *d) {
  for (int i = 0; i < t->results; i++)
    if (!agrees(t, n, t->expected[n][i], d[i])) return false;
  return true;
}

/* Reports whether a row distinguishes answer y from the earlier answer x. */
static bool told_apart(const smma_trial *t, int x, int y) { return !agrees_all(t, x, t->expected[y]); }

/* Reports whether the results d, one of each answer, distinguish two answers that no row so far distinguishes. Sets
   `*left` if there are two answers that neither d nor a row so far distinguishes. */
static bool is_new(const smma_trial *t, const uint64_t *d, bool *left) {
  bool found = false;
  *left = false;
  for (int x = 0; x < t->answers; x++)
    for (int y = x + 1; y < t->answers; y++) {
      if (told_apart(t, x, y)) continue;
      const bool same = agrees(t, x, d[x], d[y]);
      found = found || !same;
      *left = *left || same;
    }
  return found;
}

/* Reports whether the results d, one of each answer, are not all alike. */
static bool some_differ(const smma_trial *t, const uint64_t *d) {
  for (int x = 0; x < t->answers; x++)
    for (int y = x + 1; y < t->answers; y++)
      if (!agrees(t, x, d[x], d[y])) return true;
  return false;
}

static smma_row_kind kind_of(uint64_t index) { return (smma_row_kind)(index % SMMA_ROWS_IN_TURN); }

static void generate(const smma_operation *o, uint64_t index, smma_row *row) {
  smma_generate_row(o, 0, index, kind_of(index), row);
}

/* Generates row `index` and computes the results d of all answers. Returns false if a result is a NaN, unless the
   question is about infinities and NaN: in such a row the answers differ only because a sum is invalid. */
static bool try_row(const smma_trial *t, const smma_operation *o, uint64_t index, uint64_t *d) {
  smma_row row;
  generate(o, index, &row);
  compute_answers(t, o, &row, d);
  for (int n = 0; n < t->answers && !is_of_specials(t->question); n++)
    if (is_nan(t, d[n])) return false;
  return true;
}

static void add_generated_row(smma_trial *t, uint64_t index, const uint64_t *d) {
  t->generated[t->results] = index;
  add_row(t, d);
}

/* Searches rows that distinguish the answers, and more rows for which some answers differ. */
static void search_rows(smma_trial *t, const smma_operation *o) {
  uint64_t d[SMMA_MOST_ANSWERS];
  bool left = true;
  for (uint64_t index = 0; (left || t->results < DISTINGUISHING_ROWS) && index < MOST_GENERATED; index++) {
    if (t->results == SMMA_MOST_TRIAL_ROWS) return;
    if (!try_row(t, o, index, d)) continue;
    if (is_new(t, d, &left) || (t->results < DISTINGUISHING_ROWS && some_differ(t, d))) add_generated_row(t, index, d);
  }
}

/* Adds ordinary rows until the trial is full, so that a unit that follows no candidate does not appear to follow one.
 */
static void add_ordinary_rows(smma_trial *t, const smma_operation *o) {
  uint64_t d[SMMA_MOST_ANSWERS];
  for (uint64_t index = MOST_GENERATED; index < 2 * MOST_GENERATED && t->results < SMMA_MOST_TRIAL_ROWS; index++) {
    const smma_row_kind kind = kind_of(index);
    if (kind != SMMA_ROWS_NORMAL && kind != SMMA_ROWS_CANCELLATION && kind != SMMA_ROWS_ILL) continue;
    if (try_row(t, o, index, d)) add_generated_row(t, index, d);
  }
}

static void take_rows(smma_trial *t, const smma_operation *o) {
  smma_row row;
  uint64_t d[SMMA_MOST_ANSWERS];
  for (; t->question->row(o, t->rows, &row); t->rows++) {
    compute_answers(t, o, &row, d);
    add_row(t, d);
  }
}

/* Computes the results of a chain, of which only the last one counts. The model's result is computed step by step. The
   result of any other answer does not depend on the operands. */
static void take_chain(smma_trial *t, const smma_operation *o) {
  smma_row row;
  uint64_t d[SMMA_MOST_ANSWERS] = {0};
  for (; t->question->row(o, t->rows, &row); t->rows++) {
    if (t->rows > 0) row.c = d[0];
    compute_answers(t, o, &row, d);
  }
  add_row(t, d);
}

/* Removes every answer that no row distinguishes from an earlier one. */
static void merge_answers(smma_trial *t) {
  int kept = 1;
  for (int n = 1; n < t->answers; n++) {
    bool is_one = true;
    for (int before = 0; before < kept; before++) is_one = is_one && told_apart(t, before, n);
    if (!is_one) continue;
    t->answer[kept] = t->answer[n];
    memcpy(t->expected[kept++], t->expected[n], sizeof t->expected[n]);
  }
  t->answers = kept;
}

bool smma_trial_prepare(const smma_question *e, const smma_instruction *i, smma_trial *t) {
  const smma_operation o = smma_operation_of(i);
  *t = (smma_trial){.question = e, .instruction = i};
  if (!e->concerns(i)) return false;
  t->answers = collect_candidates(e, t->answer);
  if (e->chained) {
    take_chain(t, &o);
  } else if (e->row) {
    take_rows(t, &o);
  } else {
    search_rows(t, &o);
    if (t->results) add_ordinary_rows(t, &o);
    t->rows = t->results;
  }
  merge_answers(t);
  return t->answers > 1;
}

const char *smma_trial_row(const smma_trial *t, int index, smma_row *row) {
  const smma_operation o = smma_operation_of(t->instruction);
  if (t->question->row) return t->question->row(&o, index, row);
  generate(&o, t->generated[index], row);
  return "a generated row";
}

/* ---- Asking ---- */

/* Computes rows first .. first + count - 1 in one batch. In a chain, `c` replaces the c of every row except the trial's
   first. */
static bool ask(const smma_trial *t, smma_unit *unit, smma_rows *rows, int first, int count, uint64_t c,
                smma_error *error) {
  for (int n = 0; n < count; n++) {
    smma_row row = {.d = 0};
    smma_trial_row(t, first + n, &row);
    if (t->question->chained && first > 0) row.c = c;
    smma_rows_put(rows, (size_t)n, &row);
  }
  return smma_unit_ask(unit, rows, 0, (size_t)count, NULL, error);
}

/* Computes the rows of a chain one by one, and those of any other trial in one batch. */
static bool ask_all(const smma_trial *t, smma_unit *unit, smma_rows *rows, smma_trial_result *r, smma_error *error) {
  const smma_operation o = smma_operation_of(t->instruction);
  const int step = (int)rows->capacity;
  uint64_t c = 0;
  for (int first = 0; first < t->rows; first += step) {
    if (!ask(t, unit, rows, first, step, c, error)) return false;
    for (int n = 0; n < step; n++) {
      smma_row row;
      smma_rows_get(rows, (size_t)n, &row);
      r->d[t->question->chained ? 0 : n] = c = row.d;
      if (r->different < t->rows || agrees(t, 0, smma_row_compute(&o, &row), row.d)) continue;
      r->different = first + n;
      r->example = row;
    }
  }
  return true;
}

static int recognise(const smma_trial *t, const uint64_t *d) {
  for (int n = 0; n < t->answers; n++)
    if (agrees_all(t, n, d)) return n;
  return -1;
}

bool smma_trial_run(const smma_trial *t, smma_unit *unit, smma_trial_result *r, smma_error *error) {
  smma_rows rows;
  bool done;
  *r = (smma_trial_result){.different = t->rows};
  if (!smma_rows_allocate(t->instruction, t->question->chained ? 1 : (size_t)t->rows, &rows))
    return smma_fail(error, "no memory for the rows of %s", t->instruction->name);
  done = ask_all(t, unit, &rows, r, error);
  smma_rows_free(&rows);
  if (done) r->answer = recognise(t, r->d);
  return done;
}
