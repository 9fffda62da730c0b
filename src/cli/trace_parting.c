#include <string.h>

#include "cli/explanation.h"
#include "cli/trace.h"
#include "cli/values.h"
#include "host/load.h"
#include "plan/element.h"

/* Instructions of one target that are drawn; of more only the last. */
enum { MOST_DRAWN = 4 };

/* Both targets that part, and the events between where they were the same and where they are not. */
typedef struct {
  const smma_traced *unit[2];
  size_t first[2], last[2];
} parting;

static uint64_t code_of(const smma_traced *u, bool of_a, size_t k) {
  const smma_gemm_arguments *g = &u->product;
  const smma_format format = of_a ? u->instruction->a : u->instruction->b;
  const size_t at = of_a ? u->at[0] * g->k + k : k * g->n + u->at[1];
  return smma_load(smma_format_bytes(format), of_a ? g->a : g->b, at);
}

static uint64_t scale_code_of(const smma_traced *u, bool of_a, size_t block) {
  const smma_gemm_arguments *g = &u->product;
  const size_t each = (size_t)u->instruction->scale_block, blocks = g->k / each + (g->k % each != 0);
  if (block >= blocks) return smma_round(u->instruction->scale, 1, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
  return smma_load(smma_format_bytes(u->instruction->scale), of_a ? g->scale_a : g->scale_b,
                   (of_a ? u->at[0] : u->at[1]) * blocks + block);
}

/* `count` instructions from an event on, as if they were one. */
static void rows_of(const smma_traced *u, size_t event, size_t count, smma_operation *o, smma_row *row) {
  const smma_trace *t = &u->trace;
  const size_t first = t->event[event].index, each = t->schedule.k_per_step;
  *o = t->operation;
  o->k = (int)(count * each);
  memset(row, 0, sizeof *row);
  for (size_t i = 0; i < count * each; i++) {
    const size_t k = t->schedule.k[first * each + i];
    if (k == SMMA_NO_PRODUCT) continue;
    row->a[i] = code_of(u, true, k), row->b[i] = code_of(u, false, k);
  }
  for (int i = 0; i < smma_scale_count(o->k, o->scale_block); i++) {
    const size_t block = first * each / (size_t)o->scale_block + (size_t)i;
    row->scale_a[i] = scale_code_of(u, true, block), row->scale_b[i] = scale_code_of(u, false, block);
  }
  row->c = smma_trace_addend(t, event);
}

/* Whether `count` instructions in a row are one with so many times the products: blocks, or operations, go on from each
   other in order of k. */
static bool is_chain(const smma_operation *o, const smma_operation *longer) {
  const int count = longer->k / o->k, blocks = smma_blocks_per_step(o), block = smma_block_of(o);
  if (count == 1 || o->rule.algorithm == SMMA_FMA) return true;
  if (!smma_is_fused(o) || o->scale_block || smma_block_of(longer) != block) return false;
  if (o->rule.algorithm == SMMA_FP8_BY_FP16) return false; /* c may join last */
  for (int i = 0; i < longer->k; i++) {
    const int b = i / block, step = b / blocks;
    if (smma_product_index(longer, b, i % block) != step * o->k + smma_product_index(o, b % blocks, i % block))
      return false;
  }
  return true;
}

static size_t instructions_in(const parting *p, int side) {
  size_t count = 0;
  for (size_t e = p->first[side]; e <= p->last[side] && e < p->unit[side]->trace.events; e++)
    count += p->unit[side]->trace.event[e].kind == SMMA_TRACE_INSTRUCTION;
  return count;
}

/* All of them follow each other, and nothing else is between. */
static bool are_alone(const parting *p, int side) {
  return instructions_in(p, side) == p->last[side] - p->first[side] + 1;
}

static bool same_row(const smma_operation *o, const smma_row *x, const smma_row *y) {
  const size_t scales = (size_t)smma_scale_count(o->k, o->scale_block);
  return memcmp(x->a, y->a, (size_t)o->k * sizeof *x->a) == 0 && memcmp(x->b, y->b, (size_t)o->k * sizeof *x->b) == 0 &&
         x->c == y->c && memcmp(x->scale_a, y->scale_a, scales * sizeof *x->scale_a) == 0 &&
         memcmp(x->scale_b, y->scale_b, scales * sizeof *x->scale_b) == 0;
}

/* An instruction, or some in a row, explained. */
typedef struct {
  smma_operation operation;
  smma_row row;
  smma_explanation explanation;
  char name[200];
  smma_explained explained;
} drawn;

static void draw(const smma_traced *u, size_t event, size_t count, drawn *d) {
  rows_of(u, event, count, &d->operation, &d->row);
  if (!smma_explain(&d->operation, &d->row, &d->explanation)) smma_die("out of memory");
  snprintf(d->name, sizeof d->name, count > 1 ? "%.100s, %zu in a row" : "%.100s", u->instruction->name, count);
  d->explained = (smma_explained){u->name, d->name, &d->operation, &d->explanation};
}

/* Whether it ends in what the trace has. */
static bool is_right(const smma_trace *t, size_t event, const drawn *d) {
  const smma_operation *o = &d->operation;
  return smma_reformat(o->d, t->outer, o->rule.nan, d->explanation.result) == t->event[event].encoding;
}

/* Both, where they start from the same sum and add the same products one behind another. */
static bool draw_together(const parting *p, drawn both[2]) {
  char why[128];
  size_t count[2];
  bool together;
  for (int s = 0; s < 2; s++) {
    const smma_trace *t = &p->unit[s]->trace;
    smma_operation longer = t->operation;
    count[s] = instructions_in(p, s);
    if (!count[s] || !are_alone(p, s) || count[s] * t->schedule.k_per_step > SMMA_MAXIMUM_ROUNDED_K) return false;
    longer.k = (int)(count[s] * t->schedule.k_per_step);
    if (!is_chain(&t->operation, &longer)) return false;
  }
  for (int s = 0; s < 2; s++) draw(p->unit[s], p->first[s], count[s], &both[s]);
  together = smma_same_operands(&both[0].operation, &both[1].operation, why, sizeof why) &&
             same_row(&both[0].operation, &both[0].row, &both[1].row);
  for (int s = 0; s < 2; s++) together = together && is_right(&p->unit[s]->trace, p->last[s], &both[s]);
  if (together) return true;
  for (int s = 0; s < 2; s++) smma_explanation_free(&both[s].explanation);
  return false;
}

/* The next instruction of a target from an event on, of the last few; the event behind the last if there is none. */
static size_t next_drawn(const parting *p, int side, size_t event) {
  const smma_trace *t = &p->unit[side]->trace;
  size_t left = 0;
  for (size_t e = event; e <= p->last[side]; e++) left += t->event[e].kind == SMMA_TRACE_INSTRUCTION;
  for (; event <= p->last[side]; event++) {
    if (t->event[event].kind != SMMA_TRACE_INSTRUCTION) continue;
    if (left-- <= MOST_DRAWN) break;
  }
  return event;
}

/* Of a target by itself. */
static void print_alone(const parting *p, int side) {
  const smma_traced *u = p->unit[side];
  const smma_trace *t = &u->trace;
  const size_t count = instructions_in(p, side);
  if (count > MOST_DRAWN) printf("%s: the last %d of %zu instructions between\n", u->name, MOST_DRAWN, count);
  for (size_t e = next_drawn(p, side, p->first[side]); e <= p->last[side]; e = next_drawn(p, side, e + 1)) {
    char text[128], k[256];
    drawn d;
    smma_event_text(t, &t->event[e], text, sizeof text);
    smma_k_text(t, t->event[e].index, k, sizeof k);
    printf("\n%s: %s, k = %s\n", u->name, text, k);
    draw(u, e, 1, &d);
    smma_explain_print(stdout, &d.operation, &d.explanation, smma_terminal_width());
    smma_explanation_free(&d.explanation);
  }
}

/* Why they cannot be drawn together, if it is simple. */
static void print_reason(const parting *p) {
  uint64_t start[2] = {0, 0};
  char value[2][40];
  for (int s = 0; s < 2; s++) {
    const smma_trace *t = &p->unit[s]->trace;
    const size_t e = next_drawn(p, s, p->first[s]);
    if (e <= p->last[s]) start[s] = smma_trace_addend(t, e);
    smma_value_text(t->operation.d, start[s], value[s]);
  }
  if (strcmp(value[0], value[1]) == 0)
    puts(":");
  else
    printf(": the former starts from %s, the latter from %s\n", value[0], value[1]);
}

static void print_folds(const parting *p) {
  for (int s = 0; s < 2; s++) {
    const smma_trace *t = &p->unit[s]->trace;
    for (size_t e = p->first[s]; e <= p->last[s] && e < t->events; e++) {
      char text[128];
      smma_event_text(t, &t->event[e], text, sizeof text);
      printf("%s: %s: %.17g%s\n", p->unit[s]->name, text, t->event[e].value, t->event[e].rest != 0 ? " and more" : "");
    }
  }
}

static parting parting_of(const smma_traced_element *x) {
  parting p = {.unit = {NULL, NULL}};
  for (int s = 0; x->parting.parted && s < 2; s++) {
    p.unit[s] = &x->unit[x->parted[s]];
    p.first[s] = x->parting.first[s], p.last[s] = x->parting.last[s];
  }
  return p;
}

void smma_trace_print_parting(const smma_traced_element *x) {
  const smma_parting *found = &x->parting;
  const parting p = parting_of(x);
  drawn both[2];
  if (!found->parted) return;
  printf("\n%s and %s ", p.unit[0]->name, p.unit[1]->name);
  switch (found->kind) {
    case SMMA_TRACE_FOLD:
      printf("part behind %zu products, where parts are folded:\n", found->products);
      print_folds(&p);
      return;
    case SMMA_TRACE_EPILOGUE:
      printf("part behind the sum, which is the same:\n");
      print_folds(&p);
      return;
    default: break;
  }
  printf("part between %zu and %zu products", found->before, found->products);
  if (draw_together(&p, both)) {
    const size_t *first = p.unit[0]->trace.schedule.k;
    printf(", where k = %zu is a[0]*b[0]:\n",
           first[p.unit[0]->trace.event[p.first[0]].index * p.unit[0]->trace.schedule.k_per_step]);
    const smma_explained explained[2] = {both[0].explained, both[1].explained};
    smma_explain_print_two(stdout, explained, smma_terminal_width());
    for (int s = 0; s < 2; s++) smma_explanation_free(&both[s].explanation);
    return;
  }
  print_reason(&p);
  for (int s = 0; s < 2; s++) print_alone(&p, s);
}

json_t *smma_trace_parting_json(const smma_traced_element *x) {
  static const char *const kinds[] = {
      [SMMA_TRACE_INSTRUCTION] = "instruction", [SMMA_TRACE_FOLD] = "fold", [SMMA_TRACE_EPILOGUE] = "epilogue"};
  const smma_parting *found = &x->parting;
  const parting p = parting_of(x);
  json_t *object, *list;
  drawn both[2];
  if (!found->parted) return json_null();
  list = json_array();
  object = json_pack("{s:[s, s], s:s, s:I, s:I, s:n, s:o}", "targets", p.unit[0]->name, p.unit[1]->name, "at",
                     kinds[found->kind], "after", (json_int_t)found->before, "products", (json_int_t)found->products,
                     "first_difference", "explanations", list);
  if (found->kind != SMMA_TRACE_INSTRUCTION) return object;
  if (draw_together(&p, both)) {
    const smma_explained explained[2] = {both[0].explained, both[1].explained};
    json_object_set_new(object, "first_difference", json_string(smma_find_difference(explained).text));
    for (int s = 0; s < 2; s++) {
      json_array_append_new(list, smma_explanation_json(&explained[s]));
      smma_explanation_free(&both[s].explanation);
    }
    return object;
  }
  for (int s = 0; s < 2; s++)
    for (size_t e = next_drawn(&p, s, p.first[s]); e <= p.last[s]; e = next_drawn(&p, s, e + 1)) {
      drawn d;
      draw(p.unit[s], e, 1, &d);
      json_array_append_new(list, smma_explanation_json(&d.explained));
      smma_explanation_free(&d.explanation);
    }
  return object;
}
