#include "plan/element.h"

#include <string.h>

#include "core/range.h"

/* ---- The sum ---- */

typedef struct {
  const smma_plan_element *e;
  smma_format outer;
  uint64_t accumulator; /* the accumulator, in the outer format */
  uint64_t *registers;
  smma_plan_watch *watch;
  void *context;
} run;

static uint64_t *place_of(run *r, int place) {
  return place == SMMA_IN_ACCUMULATOR ? &r->accumulator : &r->registers[place];
}

static void tell(run *r, size_t steps, int place) {
  if (r->watch) r->watch(r->context, steps, place, *place_of(r, place));
}

static smma_number zero_of(smma_format format) { return smma_decode(smma_encoding_of(format), 0); }

static void do_step(run *r, size_t step) {
  const smma_plan_element *e = r->e;
  const smma_operation *o = &e->operation;
  const smma_nan_policy nan = o->rule.nan;
  const size_t k = (size_t)o->k, scales = (size_t)smma_scale_count(o->k, o->scale_block);
  const size_t *index = e->schedule->k + step * k;
  smma_decoded x;
  uint64_t d = smma_reformat(r->outer, o->d, nan, r->accumulator);
  for (size_t i = 0; i < k; i++) {
    const bool there = index[i] != SMMA_NO_PRODUCT;
    x.a[i] = there ? e->a[index[i]] : zero_of(o->a);
    x.b[i] = there ? e->b[index[i]] : zero_of(o->b);
  }
  for (size_t i = 0; i < scales; i++) x.scale_a[i] = e->block_a[step * scales + i];
  for (size_t i = 0; i < scales; i++) x.scale_b[i] = e->block_b[step * scales + i];
  d = smma_dot_add(o, smma_operands_of(&x), d);
  r->accumulator = smma_reformat(o->d, r->outer, nan, d);
}

static uint64_t rounded(const run *r, int to, uint64_t x) {
  const smma_nan_policy nan = r->e->operation.rule.nan;
  if (to == SMMA_STORED_AS_IS) return x;
  return smma_reformat((smma_format)to, r->outer, nan, smma_reformat(r->outer, (smma_format)to, nan, x));
}

static uint64_t add(const run *r, uint64_t x, uint64_t y) {
  const smma_rule *rule = &r->e->operation.rule;
  if (r->outer == SMMA_S32)
    return (uint64_t)(uint32_t)smma_integer_encode(smma_integer_overflow_of(rule), (int64_t)(int32_t)x + (int32_t)y);
  return smma_ieee_add(smma_encoding_of(r->outer), rule->nan, x, y);
}

/* Returns total + part, with the part's scale factors. */
static uint64_t fold(const run *r, const smma_task *t, uint64_t total, uint64_t part) {
  const smma_plan_element *e = r->e;
  const smma_nan_policy nan = e->operation.rule.nan;
  const smma_encoding f = smma_encoding_of(SMMA_F32);
  smma_number a, b, x;
  if (t->with == SMMA_WITH_ADD) return add(r, total, part);
  a = smma_decode(f, e->part_a[t->k / e->part_k]), b = smma_decode(f, e->part_b[t->k / e->part_k]);
  if (t->with == SMMA_WITH_MULTIPLY_B_FMA) x = a, a = b, b = x;
  x = smma_decode(f, part);
  if (t->with == SMMA_WITH_FMA)
    a = smma_decode(f, smma_ieee_multiply(f, nan, a, b));
  else
    x = smma_decode(f, smma_ieee_multiply(f, nan, x, a)), a = b;
  return smma_ieee_fma(f, nan, a, x, smma_decode(f, total));
}

static void do_task(run *r, const smma_task *t) {
  uint64_t *to = place_of(r, t->to), *from = place_of(r, t->from);
  switch (t->kind) {
    case SMMA_TASK_CLEAR: *to = 0; return;
    case SMMA_TASK_MOVE: *to = rounded(r, t->total, rounded(r, t->stored, *from)); break;
    case SMMA_TASK_FOLD: *to = rounded(r, t->total, fold(r, t, *to, rounded(r, t->stored, *from))); break;
  }
  if (t->from == SMMA_IN_ACCUMULATOR) r->accumulator = 0;
  tell(r, t->step, t->to);
}

uint64_t smma_plan_sum(const smma_plan_element *e, uint64_t *registers, smma_plan_watch *watch, void *context) {
  const smma_schedule *s = e->schedule;
  run r = {e, smma_outer_format(e->operation.d), 0, registers, watch, context};
  size_t task = 0;
  *place_of(&r, s->start) = e->start;
  for (size_t step = 0; step <= s->steps; step++) {
    for (; task < s->tasks && s->task[task].step == step; task++) do_task(&r, &s->task[task]);
    if (step == s->steps) break;
    do_step(&r, step);
    tell(&r, step + 1, SMMA_IN_ACCUMULATOR);
  }
  return *place_of(&r, s->result);
}

/* ---- The epilogue ---- */

/* Maps a binary32 number to an integer such that integers have the order of the numbers. Both zeros become 0. */
static int32_t ordered(uint64_t x) {
  const int32_t magnitude = (int32_t)(x & 0x7fffffff);
  return x >> 31 ? -magnitude : magnitude;
}

/* Clamps to the range of a format; NaN is unchanged. */
static uint64_t clamped(uint64_t x, smma_format format, smma_nan_policy nan) {
  const smma_encoding f = smma_encoding_of(format);
  const uint64_t most = smma_reformat(format, SMMA_F32, nan, smma_greatest_of(f));
  const uint64_t least = smma_reformat(format, SMMA_F32, nan, smma_least_of(f));
  if (smma_decode(smma_encoding_of(SMMA_F32), x).kind == SMMA_NAN) return x;
  return ordered(x) > ordered(most) ? most : ordered(x) < ordered(least) ? least : x;
}

uint32_t smma_plan_finish(const smma_plan *plan, smma_nan_policy nan, const smma_epilogue_operands *with,
                          uint32_t sum) {
  const smma_encoding f = smma_encoding_of(SMMA_F32);
  const smma_number alpha = smma_decode(f, with->alpha), scale_d = smma_decode(f, with->scale_d);
  const smma_number beta = smma_decode(f, with->beta), c = smma_decode(f, with->c);
  uint64_t x = sum;
  for (size_t i = 0; i < plan->epilogues; i++) {
    const smma_epilogue *e = &plan->epilogue[i];
    const smma_number number = smma_decode(f, x);
    switch (e->kind) {
      case SMMA_EPILOGUE_ALPHA: x = smma_ieee_fma(f, nan, alpha, number, zero_of(SMMA_F32)); break;
      case SMMA_EPILOGUE_LINEAR:
        x = smma_ieee_fma(f, nan, alpha, number, smma_decode(f, smma_ieee_multiply(f, nan, beta, c)));
        break;
      case SMMA_EPILOGUE_BETA: x = smma_ieee_fma(f, nan, beta, c, number); break;
      case SMMA_EPILOGUE_BIAS: x = smma_ieee_add(f, nan, x, with->bias); break;
      case SMMA_EPILOGUE_SCALE_D: x = smma_ieee_multiply(f, nan, number, scale_d); break;
      case SMMA_EPILOGUE_RELU: x = number.kind != SMMA_NAN && number.negative ? 0 : x; break;
      case SMMA_EPILOGUE_ROUND:
        x = smma_reformat(e->format, SMMA_F32, nan, smma_reformat(SMMA_F32, e->format, nan, x));
        break;
      case SMMA_EPILOGUE_CLAMP: x = clamped(x, e->format, nan); break;
    }
  }
  return (uint32_t)x;
}
