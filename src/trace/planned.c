#include "trace/planned.h"

#include <stdlib.h>
#include <string.h>

#include "explain/datum.h"
#include "host/count.h"
#include "isa/format_name.h"
#include "plan/element.h"
#include "product/product.h"
#include "rows/datum.h"

/* A run of the schedule. */
typedef struct {
  smma_planned_result *result;
  uint64_t *results; /* the results of calls and additions, in order */
  uint64_t *place;   /* the current contents of the accumulator and the registers */
  size_t count;      /* number of results */
} run;

static void note_result(void *context, size_t steps, int place, uint64_t value) {
  run *r = context;
  (void)steps, (void)place;
  r->results[r->count++] = value;
}

/* ---- Computing ---- */

static bool check(const smma_planned_request *q, smma_error *error) {
  const smma_instruction *i = q->instruction;
  if (!q->plan) return smma_fail(error, "--plan: none is one chain; leave it out");
  if (i->scale_block || smma_plan_scaled_k(q->plan))
    return smma_fail(
        error, "--plan: a row with scale factors is not explained; 'softmma trace' explains an element of matrices");
  if (q->k <= (size_t)i->k)
    return smma_fail(error,
                     "--plan: %zu products are one call of %s, which takes %d; leave it out, or give more ('softmma "
                     "trace' explains an element of matrices)",
                     q->k, i->name, i->k);
  if (q->c && !smma_plan_takes_c(q->plan)) return smma_fail_no_place("--c", q->plan_text, error);
  return true;
}

/* Computes the sum by the core, and stores each result in r->results. Returns false if memory runs out. */
static bool compute(run *r, uint64_t start) {
  smma_planned_result *x = r->result;
  const smma_planned_request *q = x->request;
  const smma_operation *o = &x->operation;
  smma_number *a = calloc(2 * q->k, sizeof *a);
  uint64_t *registers = calloc(x->schedule.registers + 1, sizeof *registers);
  const bool made = a && registers;
  if (made) {
    for (size_t i = 0; i < q->k; i++) {
      a[i] = smma_decode(smma_encoding_of(o->a), q->a[i]);
      a[q->k + i] = smma_decode(smma_encoding_of(o->b), q->b[i]);
    }
    const smma_plan_element e = {.operation = *o, .schedule = &x->schedule, .a = a, .b = a + q->k, .start = start};
    x->sum = smma_plan_sum(&e, registers, note_result, r);
  }
  free(a), free(registers);
  return made;
}

/* Returns d: applies the epilogue, with factors of 1 and a bias of 0, to the sum. */
static uint64_t finish(const smma_planned_result *x) {
  const smma_planned_request *q = x->request;
  const smma_nan_policy nan = x->operation.rule.nan;
  const uint64_t c = q->c ? smma_reformat(q->instruction->c, SMMA_F32, nan, *q->c) : 0;
  const smma_epilogue_operands with = {0x3f800000, 0x3f800000, (uint32_t)c, 0, 0x3f800000};
  const uint64_t sum = q->plan->epilogues ? smma_plan_finish(q->plan, nan, &with, (uint32_t)x->sum) : x->sum;
  return smma_reformat(x->format, x->d_format, nan, sum);
}

/* ---- Events ---- */

static smma_row row_of(const smma_planned_result *x, size_t step, uint64_t c, bool *zeros) {
  const smma_operation *o = &x->operation;
  smma_row row;
  memset(&row, 0, sizeof row);
  *zeros = true;
  for (int i = 0; i < o->k; i++) {
    const size_t k = x->schedule.k[step * x->schedule.k_per_step + (size_t)i];
    if (k == SMMA_NO_PRODUCT) continue;
    row.a[i] = x->request->a[k], row.b[i] = x->request->b[k];
    const smma_number a = smma_decode(smma_encoding_of(o->a), row.a[i]),
                      b = smma_decode(smma_encoding_of(o->b), row.b[i]);
    *zeros = *zeros && smma_product(a, b).kind == SMMA_ZERO;
  }
  row.c = smma_reformat(x->format, o->d, o->rule.nan, c);
  return row;
}

static bool add_call(run *r, size_t step, uint64_t result) {
  smma_planned_result *x = r->result;
  smma_planned_event *last = x->events ? &x->event[x->events - 1] : NULL;
  smma_planned_event e = {.kind = SMMA_PLANNED_CALL, .call = step, .calls = 1, .before = *r->place, .result = result};
  bool zeros;
  const smma_row row = row_of(x, step, e.before, &zeros);
  *r->place = result;
  if (zeros && result == e.before) {
    e.kind = SMMA_PLANNED_IDLE;
    if (last && last->kind == SMMA_PLANNED_IDLE)
      last->calls++;
    else
      x->event[x->events++] = e;
    return true;
  }
  if (!smma_explain(&x->operation, &row, &e.explanation)) return false;
  x->event[x->events++] = e;
  return true;
}

static void add_task(run *r, const smma_task *t, uint64_t result) {
  uint64_t *place = r->place - SMMA_IN_ACCUMULATOR;
  r->result->event[r->result->events++] = (smma_planned_event){
      .kind = SMMA_PLANNED_ADDITION, .task = t, .from = place[t->from], .to = place[t->to], .result = result};
  place[t->to] = result;
  if (t->from == SMMA_IN_ACCUMULATOR) place[t->from] = 0;
}

static bool add_events(run *r) {
  const smma_schedule *s = &r->result->schedule;
  size_t task = 0, next = 0;
  for (size_t step = 0; step <= s->steps; step++) {
    for (; task < s->tasks && s->task[task].step == step; task++) {
      if (s->task[task].kind == SMMA_TASK_CLEAR)
        (r->place - SMMA_IN_ACCUMULATOR)[s->task[task].to] = 0;
      else
        add_task(r, &s->task[task], r->results[next++]);
    }
    if (step < s->steps && !add_call(r, step, r->results[next++])) return false;
  }
  return true;
}

static bool fill(smma_planned_result *x, smma_error *error) {
  const smma_planned_request *q = x->request;
  const smma_instruction *i = q->instruction;
  const size_t most = x->schedule.steps + x->schedule.tasks + 1;
  run r = {.result = x, .results = calloc(most, sizeof *r.results)};
  uint64_t start = 0;
  bool done;
  r.place = calloc(x->schedule.registers + 1, sizeof *r.place);
  x->event = calloc(most, sizeof *x->event);
  if (q->plan->starts_from_c && q->c)
    start = smma_reformat(i->d, x->format, i->rule->rule.nan, smma_reformat(i->c, i->d, i->rule->rule.nan, *q->c));
  done = r.results && r.place && x->event && compute(&r, start);
  if (done) {
    (r.place - SMMA_IN_ACCUMULATOR)[x->schedule.start] = start;
    done = add_events(&r);
    x->d = finish(x);
  }
  free(r.results), free(r.place);
  return done || smma_no_memory(error);
}

bool smma_planned_run(const smma_planned_request *q, smma_planned_result *x, smma_error *error) {
  smma_error why;
  *x = (smma_planned_result){.request = q};
  if (!check(q, error)) return false;
  x->operation = smma_operation_of(q->instruction);
  x->format = smma_outer_format(x->operation.d);
  x->d_format = smma_plan_d_format(q->plan, q->instruction);
  if (smma_schedule_make(q->plan, &x->operation, q->k, &x->schedule, &why) != SMMA_OK)
    return smma_fail_as(error, why.status, "--plan: %s: %s", q->plan_text, why.text);
  x->operation.c = x->operation.d;
  return fill(x, error);
}

void smma_planned_free(smma_planned_result *x) {
  for (size_t n = 0; n < x->events; n++)
    if (x->event[n].kind == SMMA_PLANNED_CALL) smma_explanation_free(&x->event[n].explanation);
  free(x->event);
  smma_schedule_free(&x->schedule);
}

/* ---- Words ---- */

static smma_explained explained(const smma_planned_result *x, smma_planned_event *e) {
  return (smma_explained){x->request->label, x->request->instruction->name, &x->operation, &e->explanation};
}

/* Writes which k a call takes: "k = 0..15, 32". */
static const char *k_text(const smma_planned_result *x, size_t step, char text[400]) {
  const size_t width = x->schedule.k_per_step, *k = x->schedule.k + step * width;
  int used = snprintf(text, 400, "k =");
  for (size_t i = 0, end; i < width; i = end) {
    for (end = i + 1; end < width && k[i] != SMMA_NO_PRODUCT && k[end] == k[end - 1] + 1;) end++;
    if (k[i] == SMMA_NO_PRODUCT || used > 360) continue;
    used += snprintf(text + used, 400 - (size_t)used, "%s %zu", i ? "," : "", k[i]);
    if (end > i + 1) used += snprintf(text + used, 400 - (size_t)used, "..%zu", k[end - 1]);
  }
  return text;
}

static const char *place_text(int place, char text[32]) {
  if (place == SMMA_IN_ACCUMULATOR) return "the chain's sum";
  snprintf(text, 32, "total %d", place);
  return text;
}

static const char *with_text(const smma_task *t) {
  if (t->kind == SMMA_TASK_MOVE) return "taken";
  return t->with == SMMA_WITH_ADD ? "added" : "added by FMA";
}

/* ---- Data ---- */

static void put_hex(smma_datum *record, const char *key, smma_format format, uint64_t x) {
  char hex[24];
  smma_put_text(record, key, smma_hex_text(format, x, hex));
}

static smma_datum *event_datum(const smma_planned_result *x, smma_planned_event *e) {
  smma_datum *record = smma_datum_record();
  char from[32], to[32], where[400];
  if (e->kind == SMMA_PLANNED_CALL) {
    const smma_explained one = explained(x, e);
    smma_put_count(record, "call", e->call);
    smma_put_text(record, "of", k_text(x, e->call, where));
    smma_datum_put(record, "explanation", smma_explanation_datum(&one));
    return record;
  }
  smma_put_text(record, "from", place_text(e->task->from, from));
  put_hex(record, "value", x->format, e->from);
  smma_put_text(record, "to", place_text(e->task->to, to));
  if (e->task->kind == SMMA_TASK_FOLD) put_hex(record, "total", x->format, e->to);
  smma_put_text(record, "how", with_text(e->task));
  put_hex(record, "result", x->format, e->result);
  return record;
}

smma_datum *smma_planned_datum(const smma_planned_result *x) {
  smma_datum *record = smma_datum_record(), *events = smma_datum_list();
  for (size_t n = 0; n < x->events; n++)
    if (x->event[n].kind != SMMA_PLANNED_IDLE) smma_datum_append(events, event_datum(x, &x->event[n]));
  smma_put_text(record, "unit", x->request->label);
  smma_put_text(record, "instruction", x->request->instruction->name);
  smma_put_text(record, "plan", x->request->plan_text);
  smma_datum_put(record, "events", events);
  put_hex(record, "sum", x->format, x->sum);
  put_hex(record, "d", x->d_format, x->d);
  return record;
}

/* ---- Text ---- */

/* A number as hexadecimal encoding and value: "3f800000 1". */
typedef struct {
  char text[72];
} number_text;

static number_text text_of(smma_format format, uint64_t x) {
  char hex[24], value[40];
  number_text t;
  snprintf(t.text, sizeof t.text, "%s %s", smma_hex_text(format, x, hex), smma_value_text(format, x, value));
  return t;
}

static void print_idle(FILE *out, const smma_planned_result *x, const smma_planned_event *e) {
  fprintf(out, "call%s %zu", smma_plural(e->calls), e->call);
  if (e->calls > 1) fprintf(out, " to %zu", e->call + e->calls - 1);
  fprintf(out, ": products of zero alone, the sum stays %s\n\n", text_of(x->format, e->result).text);
}

static void print_call(FILE *out, const smma_planned_result *x, const smma_planned_event *e, int width) {
  char where[400];
  fprintf(out, "call %zu, %s, onto %s:\n", e->call, k_text(x, e->call, where), text_of(x->format, e->before).text);
  smma_explain_print(out, &x->operation, &e->explanation, width);
  putc('\n', out);
}

static void print_addition(FILE *out, const smma_planned_result *x, const smma_planned_event *e) {
  const smma_task *t = e->task;
  char from[32], to[32];
  fprintf(out, "%s, %s, %s to %s", place_text(t->from, from), text_of(x->format, e->from).text, with_text(t),
          place_text(t->to, to));
  if (t->kind == SMMA_TASK_FOLD) fprintf(out, ", %s", text_of(x->format, e->to).text);
  if (t->stored != SMMA_STORED_AS_IS) fprintf(out, ", rounded to %s", smma_format_text((smma_format)t->stored));
  if (t->total != SMMA_STORED_AS_IS) fprintf(out, ", the total rounded to %s", smma_format_text((smma_format)t->total));
  fprintf(out, ": %s\n\n", text_of(x->format, e->result).text);
}

void smma_planned_print(FILE *out, const smma_planned_result *x, int width) {
  for (size_t n = 0; n < x->events; n++) {
    const smma_planned_event *e = &x->event[n];
    if (e->kind == SMMA_PLANNED_IDLE) print_idle(out, x, e);
    if (e->kind == SMMA_PLANNED_CALL) print_call(out, x, e, width);
    if (e->kind == SMMA_PLANNED_ADDITION) print_addition(out, x, e);
  }
  if (x->request->plan->epilogues)
    fprintf(out, "epilogue of %s, with factors of 1 and a bias of 0\n", text_of(x->format, x->sum).text);
  fprintf(out, "d = %s\n", text_of(x->d_format, x->d).text);
}
