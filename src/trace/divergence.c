/* Explains the last instructions before two traces diverge. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/element.h"
#include "trace/trace.h"

/* One of the two targets that diverge. */
typedef struct {
  const char *name;
  const smma_product_target *target;
  const smma_trace *trace;
  size_t at[2];       /* position of the element in target->product */
  size_t first, last; /* events after the last equal state, up to the first different one */
} side;

static side side_of(const smma_trace_result *r, int which) {
  const size_t target = r->divergence.target[which];
  const smma_product_target *t = &r->request->target[target];
  side s = {.name = r->name[target],
            .target = t,
            .trace = &r->trace[target],
            .first = r->divergence.found.first[which],
            .last = r->divergence.found.last[which]};
  if (t->product.m == r->request->m && t->product.n == r->request->n) memcpy(s.at, r->at, sizeof s.at);
  return s;
}

/* ---- Rows ---- */

/* Returns the encoding at k of the element's row of A, or column of B. */
static uint64_t code_of(const side *s, bool of_a, size_t k) {
  const smma_matrix_view x = smma_matrix_view_of(s->target, of_a ? SMMA_VIEW_A : SMMA_VIEW_B);
  return of_a ? smma_view_element(&x, s->at[0], k) : smma_view_element(&x, k, s->at[1]);
}

/* Returns the encoding of a block's scale factor; that of 1 beyond the last block. */
static uint64_t scale_code_of(const side *s, bool of_a, size_t block) {
  const smma_matrix_view x = smma_matrix_view_of(s->target, of_a ? SMMA_VIEW_SCALE_A : SMMA_VIEW_SCALE_B);
  if (block >= x.columns) return smma_format_encode(x.format, 1, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
  return smma_view_element(&x, s->at[of_a ? 0 : 1], block);
}

/* Sets `*o` and `*row` to one longer operation and its operands, which stand for `count` instructions from that of
   `event` on. */
static void rows_of(const side *s, size_t event, size_t count, smma_operation *o, smma_row *row) {
  const smma_trace *t = s->trace;
  const size_t first = t->event[event].index, each = t->schedule.k_per_step;
  *o = t->operation;
  o->k = (int)(count * each);
  memset(row, 0, sizeof *row);
  for (size_t i = 0; i < count * each; i++) {
    const size_t k = t->schedule.k[first * each + i];
    if (k == SMMA_NO_PRODUCT) continue;
    row->a[i] = code_of(s, true, k), row->b[i] = code_of(s, false, k);
  }
  for (int i = 0; i < smma_scale_count(o->k, o->scale_block); i++) {
    const size_t block = first * each / (size_t)o->scale_block + (size_t)i;
    row->scale_a[i] = scale_code_of(s, true, block), row->scale_b[i] = scale_code_of(s, false, block);
  }
  row->c = smma_trace_addend(t, event);
}

/* Reports whether consecutive instructions compute the same as one longer instruction, whose K is a multiple of theirs.
   This is so if the longer instruction's blocks or operations are theirs, one instruction after another. */
static bool is_chain(const smma_operation *o, const smma_operation *longer) {
  const int count = longer->k / o->k, blocks = smma_blocks_per_step(o), block = smma_block_of(o);
  if (count == 1 || o->rule.algorithm == SMMA_FMA) return true;
  if (!smma_is_fused(o) || o->scale_block || smma_block_of(longer) != block) return false;
  if (o->rule.algorithm == SMMA_FP8_BY_FP16) return false; /* c may be added last */
  for (int i = 0; i < longer->k; i++) {
    const int b = i / block, step = b / blocks;
    if (smma_product_index(longer, b, i % block) != step * o->k + smma_product_index(o, b % blocks, i % block))
      return false;
  }
  return true;
}

static bool same_row(const smma_operation *o, const smma_row *x, const smma_row *y) {
  const size_t scales = (size_t)smma_scale_count(o->k, o->scale_block);
  return memcmp(x->a, y->a, (size_t)o->k * sizeof *x->a) == 0 && memcmp(x->b, y->b, (size_t)o->k * sizeof *x->b) == 0 &&
         x->c == y->c && memcmp(x->scale_a, y->scale_a, scales * sizeof *x->scale_a) == 0 &&
         memcmp(x->scale_b, y->scale_b, scales * sizeof *x->scale_b) == 0;
}

/* ---- Explaining ---- */

static size_t instructions_in(const side *s) {
  size_t count = 0;
  for (size_t e = s->first; e <= s->last && e < s->trace->events; e++)
    count += s->trace->event[e].kind == SMMA_TRACE_INSTRUCTION;
  return count;
}

size_t smma_divergence_instructions(const smma_trace_result *result, int which) {
  const side s = side_of(result, which);
  return instructions_in(&s);
}

/* Sets `*x` to the explanation of `count` instructions from that of `event` on, as one. Do not copy `*x` afterwards,
   because x->explained points into it. Returns false if memory runs out. */
static bool explain_step(const side *s, size_t event, size_t count, smma_explained_step *x) {
  x->event = event, x->count = count;
  rows_of(s, event, count, &x->operation, &x->row);
  if (!smma_explain(&x->operation, &x->row, &x->explanation)) return false;
  snprintf(x->name, sizeof x->name, count > 1 ? "%.100s, %zu in a row" : "%.100s", s->target->instruction->name, count);
  x->explained = (smma_explained){s->name, x->name, &x->operation, &x->explanation};
  return true;
}

/* Reports whether all events of the side, from s->first to s->last, are instructions that one longer instruction can
   replace. */
static bool is_one(const side *s) {
  const smma_trace *t = s->trace;
  const size_t count = instructions_in(s);
  smma_operation longer = t->operation;
  if (!count || count != s->last - s->first + 1 || count * t->schedule.k_per_step > SMMA_MAXIMUM_ROUNDED_K)
    return false;
  longer.k = (int)(count * t->schedule.k_per_step);
  return is_chain(&t->operation, &longer);
}

/* Reports whether the explanation's result is the sum that the trace has after s->last. */
static bool is_right(const side *s, const smma_explained_step *x) {
  const smma_operation *o = &x->operation;
  return smma_reformat(o->d, s->trace->outer, o->rule.nan, x->explanation.result) == s->trace->event[s->last].encoding;
}

static void drop_steps(smma_explained_divergence *p) {
  for (int s = 0; s < 2; s++)
    while (p->steps[s]) smma_explanation_free(&p->step[s][--p->steps[s]].explanation);
}

/* Explains the instructions of each side as one, if both sides start from the same sum and add the same products in the
   same order; sets p->together to whether they do. Returns false if memory runs out. */
static bool explain_together(const side x[2], smma_explained_divergence *p) {
  char why[128];
  smma_explained_step *const step[2] = {p->step[0], p->step[1]};
  if (!is_one(&x[0]) || !is_one(&x[1])) return true;
  for (int s = 0; s < 2; s++) {
    if (!explain_step(&x[s], x[s].first, instructions_in(&x[s]), step[s])) return false;
    p->steps[s] = 1;
  }
  p->together = smma_same_operands(&step[0]->operation, &step[1]->operation, why, sizeof why) &&
                same_row(&step[0]->operation, &step[0]->row, &step[1]->row) && is_right(&x[0], step[0]) &&
                is_right(&x[1], step[1]);
  if (!p->together) drop_steps(p);
  return true;
}

/* Explains the last instructions of one side, at most SMMA_MOST_EXPLAINED, each for itself. Adds their number to
   `*steps`. */
static bool explain_alone(const side *s, smma_explained_step *step, size_t *steps) {
  size_t left = instructions_in(s);
  for (size_t e = s->first; e <= s->last && e < s->trace->events; e++) {
    if (s->trace->event[e].kind != SMMA_TRACE_INSTRUCTION || left-- > SMMA_MOST_EXPLAINED) continue;
    if (!explain_step(s, e, 1, &step[*steps])) return false;
    ++*steps;
  }
  return true;
}

bool smma_explain_divergence(smma_trace_result *result) {
  smma_explained_divergence *p = &result->divergence;
  if (!p->found.diverges || p->found.kind != SMMA_TRACE_INSTRUCTION) return true;
  const side x[2] = {side_of(result, 0), side_of(result, 1)};
  for (int s = 0; s < 2; s++)
    if (!(p->step[s] = calloc(SMMA_MOST_EXPLAINED, sizeof **p->step))) return false;
  return explain_together(x, p) && (p->together || (explain_alone(&x[0], p->step[0], &p->steps[0]) &&
                                                    explain_alone(&x[1], p->step[1], &p->steps[1])));
}

void smma_explained_divergence_free(smma_explained_divergence *p) {
  drop_steps(p);
  free(p->step[0]), free(p->step[1]);
  p->step[0] = p->step[1] = NULL;
}
