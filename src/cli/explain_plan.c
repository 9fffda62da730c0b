#include "cli/explain_plan.h"

#include <stdlib.h>
#include <string.h>

#include "cli/explanation.h"
#include "cli/plans.h"
#include "cli/row.h"
#include "cli/values.h"
#include "explain/datum.h"
#include "plan/element.h"

/* The element, and what is in the places of accumulators as its steps go by. */
typedef struct {
  const char *label;
  const smma_instruction *instruction;
  smma_operation operation; /* c in d's format */
  smma_format outer;
  smma_target_plan plan;
  smma_schedule schedule;
  uint64_t *a, *b;
  uint64_t *results; /* of calls and additions, in the order in which they happen */
  size_t count;
  uint64_t *place;    /* the accumulator, then registers */
  smma_datum *events; /* NULL: they are printed */
  size_t idle;        /* calls before this one of zeros alone, which change nothing */
} element;

static void note_result(void *context, size_t steps, int place, uint64_t value) {
  element *e = context;
  (void)steps, (void)place;
  e->results[e->count++] = value;
}

/* ---- Numbers ---- */

typedef struct {
  char text[72];
} number_text;

/* "3f800000 1" */
static number_text text_of(smma_format format, uint64_t x) {
  char hex[24], value[40];
  number_text t;
  snprintf(t.text, sizeof t.text, "%s %s", smma_hex_text(format, x, hex), smma_value_text(format, x, value));
  return t;
}

static void put_hex(smma_datum *record, const char *key, smma_format format, uint64_t x) {
  char hex[24];
  smma_put_text(record, key, smma_hex_text(format, x, hex));
}

/* ---- Calls ---- */

static smma_row row_of(const element *e, size_t step, bool *zeros) {
  const smma_operation *o = &e->operation;
  smma_row row;
  memset(&row, 0, sizeof row);
  *zeros = true;
  for (int i = 0; i < o->k; i++) {
    const size_t k = e->schedule.k[step * e->schedule.k_per_step + (size_t)i];
    if (k == SMMA_NO_PRODUCT) continue;
    row.a[i] = e->a[k], row.b[i] = e->b[k];
    *zeros = *zeros && (smma_decode(smma_encoding_of(o->a), row.a[i]).kind == SMMA_ZERO ||
                        smma_decode(smma_encoding_of(o->b), row.b[i]).kind == SMMA_ZERO);
  }
  row.c = smma_reformat(e->outer, o->d, o->rule.nan, *e->place);
  return row;
}

/* "k = 0..15, 32" of a call. */
static const char *k_text(const element *e, size_t step, char text[400]) {
  const size_t width = e->schedule.k_per_step, *k = e->schedule.k + step * width;
  int used = snprintf(text, 400, "k =");
  for (size_t i = 0, end; i < width; i = end) {
    for (end = i + 1; end < width && k[i] != SMMA_NO_PRODUCT && k[end] == k[end - 1] + 1;) end++;
    if (k[i] == SMMA_NO_PRODUCT || used > 360) continue;
    used += snprintf(text + used, 400 - (size_t)used, "%s %zu", i ? "," : "", k[i]);
    if (end > i + 1) used += snprintf(text + used, 400 - (size_t)used, "..%zu", k[end - 1]);
  }
  return text;
}

static void tell_idle(element *e, size_t step) {
  if (e->idle && !e->events) {
    printf("call%s %zu", e->idle == 1 ? "" : "s", step - e->idle);
    if (e->idle > 1) printf(" to %zu", step - 1);
    printf(": products of zero alone, the sum stays %s\n\n", text_of(e->outer, *e->place).text);
  }
  e->idle = 0;
}

static void tell_call(element *e, size_t step, uint64_t result) {
  smma_explained_row x = {.operation = e->operation};
  const uint64_t before = *e->place;
  char where[400];
  bool zeros;
  const smma_row row = row_of(e, step, &zeros);
  *e->place = result;
  if (zeros && result == before) {
    e->idle++;
    return;
  }
  *e->place = before;
  tell_idle(e, step);
  *e->place = result;
  if (!smma_explain(&x.operation, &row, &x.explanation)) smma_die("out of memory");
  x.explained = (smma_explained){e->label, e->instruction->name, &x.operation, &x.explanation};
  if (e->events) {
    smma_datum *call = smma_datum_record();
    smma_put_count(call, "call", step);
    smma_put_text(call, "of", k_text(e, step, where));
    smma_datum_put(call, "explanation", smma_explanation_datum(&x.explained));
    smma_datum_append(e->events, call);
  } else {
    printf("call %zu, %s, onto %s:\n", step, k_text(e, step, where), text_of(e->outer, before).text);
    smma_explain_print(stdout, &x.operation, &x.explanation, smma_terminal_width());
    putchar('\n');
  }
  smma_explanation_free(&x.explanation);
}

/* ---- Additions ---- */

static const char *place_text(int place, char text[32]) {
  if (place == SMMA_IN_ACCUMULATOR) return "the chain's sum";
  snprintf(text, 32, "total %d", place);
  return text;
}

static const char *with_text(const smma_task *t) {
  if (t->kind == SMMA_TASK_MOVE) return "taken";
  return t->with == SMMA_WITH_ADD ? "added" : "added by FMA";
}

static void tell_task(element *e, const smma_task *t, uint64_t result) {
  uint64_t *place = e->place - SMMA_IN_ACCUMULATOR;
  const uint64_t from = place[t->from], to = place[t->to];
  char from_text[32], to_text[32], rounded[96] = "";
  tell_idle(e, t->step);
  if (t->stored != SMMA_STORED_AS_IS)
    snprintf(rounded, sizeof rounded, ", rounded to %s", smma_format_text((smma_format)t->stored));
  if (t->total != SMMA_STORED_AS_IS)
    snprintf(rounded + strlen(rounded), sizeof rounded - strlen(rounded), ", the total rounded to %s",
             smma_format_text((smma_format)t->total));
  if (e->events) {
    smma_datum *addition = smma_datum_record();
    smma_put_text(addition, "from", place_text(t->from, from_text));
    put_hex(addition, "value", e->outer, from);
    smma_put_text(addition, "to", place_text(t->to, to_text));
    if (t->kind == SMMA_TASK_FOLD) put_hex(addition, "total", e->outer, to);
    smma_put_text(addition, "how", with_text(t));
    put_hex(addition, "result", e->outer, result);
    smma_datum_append(e->events, addition);
  } else {
    printf("%s, %s, %s to %s", place_text(t->from, from_text), text_of(e->outer, from).text, with_text(t),
           place_text(t->to, to_text));
    if (t->kind == SMMA_TASK_FOLD) printf(", %s", text_of(e->outer, to).text);
    printf("%s: %s\n\n", rounded, text_of(e->outer, result).text);
  }
  place[t->to] = result;
  if (t->from == SMMA_IN_ACCUMULATOR) place[t->from] = 0;
}

/* ---- The element ---- */

static void tell_all(element *e) {
  const smma_schedule *s = &e->schedule;
  uint64_t *place = e->place - SMMA_IN_ACCUMULATOR;
  size_t task = 0, told = 0;
  for (size_t step = 0; step <= s->steps; step++) {
    for (; task < s->tasks && s->task[task].step == step; task++) {
      if (s->task[task].kind == SMMA_TASK_CLEAR)
        place[s->task[task].to] = 0;
      else
        tell_task(e, &s->task[task], e->results[told++]);
    }
    if (step < s->steps) tell_call(e, step, e->results[told++]);
  }
  tell_idle(e, s->steps);
}

static void check(const element *e, const smma_operand_options *o, int count) {
  const smma_plan *p = e->plan.plan;
  const smma_instruction *i = e->instruction;
  if (!p) smma_die("--plan: none is one chain; leave it out");
  if (i->scale_block || smma_plan_scaled_k(p))
    smma_die("--plan: a row with scale factors is not explained; 'softmma trace' explains an element of matrices");
  if (count <= i->k)
    smma_die(
        "--plan: %d products are one call of %s, which takes %d; leave it out, or give more ('softmma trace' "
        "explains an element of matrices)",
        count, i->name, i->k);
  if (o->c && !p->starts_from_c && !smma_plan_has(p, SMMA_EPILOGUE_LINEAR)) smma_die_no_place("--c", e->plan.text);
}

static void begin(element *e, const smma_operand_options *o, const char *plan) {
  smma_target_rounding rounding;
  smma_error error;
  int count, other;
  smma_require_plans(plan, &e->instruction, 1, &e->plan);
  rounding = smma_operands_rounding(e->instruction, o, &e->plan);
  e->a = smma_read_any_list(smma_require_option(o->a, "--a", "'1.5 0*127'"), "--a", e->instruction->a, rounding.a,
                            o->hex, &count);
  e->b = smma_read_any_list(smma_require_option(o->b, "--b", "'1.5 0*127'"), "--b", e->instruction->b, rounding.b,
                            o->hex, &other);
  if (count != other) smma_die("--b has %d elements, but --a has %d", other, count);
  check(e, o, count);
  e->operation = smma_operation_of(e->instruction);
  if (smma_schedule_make(e->plan.plan, &e->operation, (size_t)count, &e->schedule, &error) != SMMA_OK)
    smma_die("--plan: %s: %s", e->plan.text, error.text);
  e->outer = smma_outer_format(e->operation.d);
  e->results = calloc(e->schedule.steps + e->schedule.tasks + 1, sizeof *e->results);
  e->place = calloc(e->schedule.registers + 1, sizeof *e->place);
  if (!e->results || !e->place) smma_die("out of memory");
}

/* Factors of 1, a bias of 0. */
static uint64_t finish(const element *e, uint64_t sum, uint64_t c) {
  const smma_nan_policy nan = e->operation.rule.nan;
  const smma_epilogue_operands with = {0x3f800000, 0x3f800000,
                                       (uint32_t)smma_reformat(e->instruction->c, SMMA_F32, nan, c), 0, 0x3f800000};
  if (e->plan.plan->epilogues) sum = smma_plan_finish(e->plan.plan, nan, &with, (uint32_t)sum);
  return smma_reformat(e->outer, smma_plan_d_format(e->plan.plan, e->instruction), nan, sum);
}

/* The sum by the core, which notes each result in e->results. */
static uint64_t compute(element *e, uint64_t start) {
  const size_t k = SMMA_LONGEST_LIST;
  smma_number *a = calloc(2 * k, sizeof *a);
  uint64_t *registers = calloc(e->schedule.registers + 1, sizeof *registers), sum;
  const smma_operation *o = &e->operation;
  if (!a || !registers) smma_die("out of memory");
  for (size_t i = 0; i < k; i++) {
    a[i] = smma_decode(smma_encoding_of(o->a), e->a[i]);
    a[k + i] = smma_decode(smma_encoding_of(o->b), e->b[i]);
  }
  const smma_plan_element x = {.operation = *o, .schedule = &e->schedule, .a = a, .b = a + k, .start = start};
  sum = smma_plan_sum(&x, registers, note_result, e);
  free(a), free(registers);
  return sum;
}

void smma_explain_planned(const char *label, const smma_instruction *i, const char *plan, const smma_operand_options *o,
                          bool json) {
  element e = {.label = label, .instruction = i, .events = json ? smma_datum_list() : NULL};
  uint64_t c = 0, start = 0, sum, d;
  begin(&e, o, plan);
  const smma_format format = smma_plan_d_format(e.plan.plan, i);
  if (o->c) smma_read_list(o->c, "--c", i->c, SMMA_ROUND_NEAREST_EVEN, o->hex, 1, &c);
  e.operation.c = e.operation.d;
  if (e.plan.plan->starts_from_c)
    start = smma_reformat(i->d, e.outer, i->rule->rule.nan, smma_reformat(i->c, i->d, i->rule->rule.nan, c));
  sum = compute(&e, start);
  (e.place - SMMA_IN_ACCUMULATOR)[e.schedule.start] = start;
  tell_all(&e);
  d = finish(&e, sum, c);
  if (json) {
    smma_datum *record = smma_datum_record();
    smma_put_text(record, "unit", label);
    smma_put_text(record, "instruction", i->name);
    smma_put_text(record, "plan", e.plan.text);
    smma_datum_put(record, "events", e.events);
    put_hex(record, "sum", e.outer, sum);
    put_hex(record, "d", format, d);
    smma_print_datum(record);
  } else {
    if (e.plan.plan->epilogues)
      printf("epilogue of %s, with factors of 1 and a bias of 0\n", text_of(e.outer, sum).text);
    printf("d = %s\n", text_of(format, d).text);
  }
  smma_schedule_free(&e.schedule);
  smma_plan_free(e.plan.plan);
  free(e.a), free(e.b), free(e.results), free(e.place);
}
