#include "numerics/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/range.h"
#include "core/wide.h"
#include "gemm/element.h"
#include "gemm/row.h"
#include "host/bits.h"
#include "host/load.h"
#include "isa/instruction.h"
#include "plan/element.h"
#include "plan/scales.h"

/* ---- Exact sums ---- */

/* The exact sum of the finite terms, and the number of NaN and infinite terms. */
typedef struct {
  smma_wide finite;
  size_t nan, infinite[2]; /* infinite[1]: number of negative infinities */
} exact_sum;

static const smma_number one = {1, 0, 0, SMMA_FINITE, 0}; /* the number 1 */

static void clear(exact_sum *s) {
  smma_wide_clear(&s->finite);
  s->nan = s->infinite[0] = s->infinite[1] = 0;
}

/* Adds x y; with `subtract`, takes back an x y that was added before. */
static void add(exact_sum *s, smma_number x, smma_number y, bool subtract) {
  const smma_number product = smma_product(x, y); /* its kind and sign are correct, for any significand */
  size_t *count = product.kind == SMMA_NAN ? &s->nan : &s->infinite[product.negative];
  x.negative ^= subtract;
  if (product.kind <= SMMA_FINITE)
    smma_wide_add_product(&s->finite, x, y);
  else
    *count += subtract ? SIZE_MAX : 1;
}

static bool is_finite(const exact_sum *s) { return !s->nan && !s->infinite[0] && !s->infinite[1]; }

static void copy_wide(smma_wide *to, const smma_wide *from) {
  to->first = from->first, to->last = from->last;
  if (from->last >= from->first)
    memcpy(&to->limb[to->first], &from->limb[from->first], (size_t)(from->last - from->first + 1) * sizeof *from->limb);
}

static double rounded(const smma_wide *w) { return smma_f64_of_bits(smma_wide_round(w, smma_encoding_of(SMMA_F64))); }

static double value_of(const exact_sum *s) {
  if (s->nan || (s->infinite[0] && s->infinite[1])) return NAN;
  if (s->infinite[0] || s->infinite[1]) return s->infinite[1] ? -INFINITY : INFINITY;
  return rounded(&s->finite);
}

/* Adds x times `sign`, which is 1 or -1. */
static void add_wide(smma_wide *w, const smma_wide *x, int sign) {
  if (x->last >= 0) smma_wide_use(w, x->first, x->last);
  for (int i = x->first; i <= x->last; i++) w->limb[i] += sign * x->limb[i];
}

/* Returns x - y, rounded once. */
static double difference(const exact_sum *x, const exact_sum *y) {
  smma_wide w;
  if (!is_finite(x) || !is_finite(y)) return value_of(x) - value_of(y);
  copy_wide(&w, &x->finite);
  add_wide(&w, &y->finite, -1);
  return rounded(&w);
}

/* Multiplies the sum by x. The sum becomes NaN if a product does not fit smma_wide. */
static void multiply(exact_sum *s, smma_number x) {
  exact_sum product;
  smma_leading leading;
  clear(&product);
  if (!is_finite(s) || x.kind > SMMA_FINITE) {
    const double factor = x.kind == SMMA_NAN ? NAN : x.kind == SMMA_INFINITE ? INFINITY : x.kind == SMMA_ZERO ? 0 : 1;
    add(&product, smma_number_of_f64(value_of(s) * (x.negative ? -factor : factor)), one, false);
    *s = product;
    return;
  }
  leading = smma_wide_leading(&s->finite); /* the limbs are magnitudes afterwards */
  for (int i = s->finite.first; x.kind == SMMA_FINITE && i <= s->finite.last; i++) {
    const uint64_t limb = (uint64_t)s->finite.limb[i];
    const int exponent = SMMA_WIDE_LEAST + 32 * i + x.exponent - x.fraction_bits;
    if (limb && (exponent < SMMA_WIDE_LEAST || exponent > SMMA_WIDE_LEAST + 32 * (SMMA_WIDE_LIMBS - 5))) {
      product.nan = 1;
    } else if (limb) {
      smma_wide_add(&product.finite, leading.negative ^ x.negative, limb * (uint32_t)x.significand, exponent);
      smma_wide_add(&product.finite, leading.negative ^ x.negative, limb * (x.significand >> 32), exponent + 32);
    }
  }
  *s = product;
}

/* ---- The trace ---- */

/* The content of an accumulator or register. */
typedef struct {
  uint64_t encoding;
  size_t part; /* the part whose scale factors will multiply it, or NO_PART */
} place;

enum { ACCUMULATOR = 0, FIRST_REGISTER = 1 };
#define NO_PART SIZE_MAX

typedef struct {
  smma_multiplier multiplier; /* for the one traced element */
  smma_trace *trace;
  size_t room; /* capacity for events */
  bool no_memory;
  smma_number *a, *b, *block_a, *block_b; /* elements and their scale factors, as in smma_plan_element */
  uint32_t *part_a, *part_b;              /* scale factors of parts, as in smma_plan_element */
  size_t *step_part, *task_part; /* for each step and task, the part of the accumulator or register that it changes */
  place *places;                 /* the accumulator, then registers */
  exact_sum live;                /* sum of the accumulator and all registers, with the parts' scale factors */
  exact_sum exact;               /* exact sum of the same products */
  size_t used;                   /* number of places that are not +0 */
  size_t products, most;         /* number of products summed so far, and their greatest k plus 1 */
  size_t task;                   /* index of the next task of the schedule */
} tracer;

static void *zeroed(tracer *t, size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  if (!memory) t->no_memory = true;
  return memory;
}

static smma_number in_outer(const tracer *t, uint64_t encoding) {
  return smma_decode(smma_encoding_of(t->trace->outer), encoding);
}

/* Returns the product of a part's scale factors; 1 for NO_PART. */
static smma_number weight_of(const tracer *t, size_t part) {
  const smma_encoding f = smma_encoding_of(SMMA_F32);
  if (part == NO_PART) return one;
  return smma_product(smma_decode(f, t->part_a[part]), smma_decode(f, t->part_b[part]));
}

/* Appends an event with the sums after a change of an accumulator or register to `encoding`. */
static void record(tracer *t, smma_trace_kind kind, size_t index, smma_format format, uint64_t encoding) {
  const smma_number changed = smma_decode(smma_encoding_of(format), encoding);
  smma_trace *trace = t->trace;
  smma_trace_event *e;
  if (trace->events == t->room) {
    t->no_memory = true;
    return;
  }
  e = &trace->event[trace->events++];
  trace->in_order = trace->in_order && t->most == t->products;
  smma_wide_carry(&t->live.finite);
  smma_wide_carry(&t->exact.finite);
  *e = (smma_trace_event){.encoding = encoding,
                          .value = value_of(&t->live),
                          .exact = value_of(&t->exact),
                          .error = difference(&t->live, &t->exact),
                          .products = t->products,
                          .index = index,
                          .kind = kind,
                          .whole = t->most == t->products};
  if (isfinite(e->value) && t->used > 1) {
    exact_sum value;
    clear(&value);
    add(&value, smma_number_of_f64(e->value), one, false);
    e->rest = difference(&t->live, &value);
  }
  if (e->value == 0 && changed.kind == SMMA_ZERO && changed.negative)
    e->value = -0.0; /* the sum is -0 if `changed` is */
}

/* Sets place `at`, and updates the live sum. */
static void put(tracer *t, size_t at, uint64_t encoding, size_t part) {
  place *p = &t->places[at];
  add(&t->live, in_outer(t, p->encoding), weight_of(t, p->part), true);
  t->used -= p->encoding != 0;
  *p = (place){encoding, part};
  t->used += encoding != 0;
  add(&t->live, in_outer(t, encoding), weight_of(t, part), false);
}

/* Adds the exact products of an instruction to the exact sum. */
static void add_products(tracer *t, size_t step) {
  const smma_operation *o = &t->trace->operation;
  const size_t k = (size_t)o->k, block = (size_t)o->scale_block, scales = block ? k / block : 0;
  const size_t *index = t->trace->schedule.k + step * k;
  const smma_number weight = weight_of(t, t->step_part[step]);
  const smma_product_kind kind = smma_products_of(&o->rule);
  for (size_t i = 0; i < k; i++) {
    const size_t x = index[i];
    if (x == SMMA_NO_PRODUCT) continue;
    t->products++;
    if (x >= t->most) t->most = x + 1;
    const smma_number product = smma_product_of_kind(kind, t->a[x], t->b[x]);
    if (block) {
      const size_t s = step * scales + i / block;
      add(&t->exact, product, smma_product(t->block_a[s], t->block_b[s]), false);
    } else if (t->step_part[step] != NO_PART) {
      add(&t->exact, product, weight, false);
    } else if (kind != SMMA_PRODUCT_MULTIPLIED) {
      add(&t->exact, product, one, false);
    } else {
      add(&t->exact, t->a[x], t->b[x], false);
    }
  }
}

/* Implements smma_plan_watch: an instruction changes its accumulator, a task changes a register. */
static void watch(void *context, size_t steps, int at, uint64_t value) {
  tracer *t = context;
  const smma_schedule *s = &t->trace->schedule;
  if (at == SMMA_IN_ACCUMULATOR) {
    add_products(t, steps - 1);
    put(t, ACCUMULATOR, value, t->step_part[steps - 1]);
    record(t, SMMA_TRACE_INSTRUCTION, steps - 1, t->trace->outer, value);
    return;
  }
  while (s->task[t->task].kind == SMMA_TASK_CLEAR) t->task++; /* cleared registers cause no call */
  const smma_task *task = &s->task[t->task];
  put(t, (size_t)(task->from + FIRST_REGISTER), 0, NO_PART); /* a fold empties its source */
  put(t, (size_t)(at + FIRST_REGISTER), value, t->task_part[t->task]);
  record(t, SMMA_TRACE_FOLD, t->task++, t->trace->outer, value);
  t->trace->folds++;
}

/* Fills t->step_part and t->task_part: the part whose scale factors will multiply the accumulator or register that a
   step or task changes. Goes backward from the result. */
static void find_parts(tracer *t) {
  const smma_schedule *s = &t->trace->schedule;
  size_t task = s->tasks;
  for (size_t i = 0; i <= s->registers; i++) t->places[i].part = NO_PART;
  for (size_t step = s->steps + 1; step-- > 0;) {
    if (step < s->steps) t->step_part[step] = t->places[ACCUMULATOR].part;
    for (; task > 0 && s->task[task - 1].step == step; task--) {
      const smma_task *x = &s->task[task - 1];
      const size_t to = t->places[x->to + FIRST_REGISTER].part;
      t->task_part[task - 1] = to;
      if (x->kind != SMMA_TASK_CLEAR)
        t->places[x->from + FIRST_REGISTER].part = x->with == SMMA_WITH_ADD ? to : x->k / t->multiplier.part_k;
    }
  }
  for (size_t i = 0; i <= s->registers; i++) t->places[i].part = NO_PART;
}

/* ---- After the sum ---- */

/* Returns C in the outer format; +0 if there is no C. */
static uint64_t addend_of(const tracer *t) {
  const smma_multiplier *m = &t->multiplier;
  uint64_t c;
  if (!m->with.c || m->with.beta == 0) return 0;
  c = smma_load(smma_bytes_of(m->c_format), m->with.c, 0);
  return smma_reformat(m->c_format, m->outer, m->operation.rule.nan, c);
}

/* Applies an epilogue operation to the exact sum, without roundings. */
static void operate_exactly(tracer *t, const smma_epilogue *e) {
  const smma_gemm_arguments *g = &t->multiplier.with;
  const bool single = t->trace->outer == SMMA_F32;
  const double alpha = single ? (float)g->alpha : g->alpha, beta = single ? (float)g->beta : g->beta;
  exact_sum *x = &t->exact;
  switch (e->kind) {
    case SMMA_EPILOGUE_ALPHA: multiply(x, smma_number_of_f64(alpha)); break;
    case SMMA_EPILOGUE_LINEAR:
      if (g->k) multiply(x, smma_number_of_f64(alpha));
      add(x, in_outer(t, addend_of(t)), smma_number_of_f64(beta), false);
      break;
    case SMMA_EPILOGUE_BETA: add(x, in_outer(t, addend_of(t)), smma_number_of_f64(beta), false); break;
    case SMMA_EPILOGUE_BIAS: add(x, smma_number_of_f64(g->bias[0]), one, false); break;
    case SMMA_EPILOGUE_SCALE_D: multiply(x, smma_number_of_f64((float)g->scale_d)); break;
    case SMMA_EPILOGUE_RELU:
      if (value_of(x) < 0) clear(x);
      break;
    case SMMA_EPILOGUE_CLAMP: {
      const smma_encoding f = smma_encoding_of(e->format);
      const smma_number most = smma_decode(f, smma_greatest_of(f)), least = smma_decode(f, smma_least_of(f));
      const double value = value_of(x);
      const bool above = value > smma_format_decode(e->format, smma_greatest_of(f));
      if (!above && !(value < smma_format_decode(e->format, smma_least_of(f)))) break;
      clear(x);
      add(x, above ? most : least, one, false);
      break;
    }
    case SMMA_EPILOGUE_ROUND: break;
  }
}

/* Returns the result of an epilogue operation on x. FP32 sums use the core's operation. Sums in other formats have only
   alpha and beta, and the result is D. */
static uint64_t operate(const tracer *t, const smma_epilogue *e, uint64_t x) {
  const smma_multiplier *m = &t->multiplier;
  const smma_gemm_arguments *g = &m->with;
  const smma_nan_policy nan = m->operation.rule.nan;
  const smma_encoding f = smma_encoding_of(SMMA_F32);
  smma_plan alone = {.epilogue = {*e}, .epilogues = 1};
  if (m->outer != SMMA_F32) {
    const size_t bytes = smma_bytes_of(m->outer);
    uint64_t sum = 0;
    smma_store(bytes, &sum, 0, x);
    smma_finish_row(m, 0, 0, 1, &sum);
    return smma_load(bytes, g->d, 0);
  }
  const smma_epilogue_operands with = {.alpha = smma_bits_of_f32((float)g->alpha),
                                       .beta = smma_bits_of_f32((float)g->beta),
                                       .c = (uint32_t)addend_of(t),
                                       .bias = g->bias ? smma_bits_of_f32(g->bias[0]) : 0,
                                       .scale_d = smma_bits_of_f32((float)g->scale_d)};
  if (g->k || e->kind != SMMA_EPILOGUE_LINEAR) return smma_plan_finish(&alone, nan, &with, (uint32_t)x);
  return smma_ieee_multiply(f, nan, smma_decode(f, with.beta), smma_decode(f, with.c));
}

/* Replaces the live sum by this single value, and records an event. */
static void hold(tracer *t, smma_trace_kind kind, size_t index, smma_format format, uint64_t encoding) {
  clear(&t->live);
  add(&t->live, smma_decode(smma_encoding_of(format), encoding), one, false);
  t->used = 1;
  record(t, kind, index, format, encoding);
}

/* Sets trace->best to the exact result rounded to D's format, if it is finite; an integer out of range is clamped. */
static void find_best(tracer *t) {
  smma_trace *trace = t->trace;
  trace->has_best = is_finite(&t->exact);
  if (!trace->has_best) return;
  if (smma_is_integer(trace->d_format))
    trace->best =
        smma_format_encode(trace->d_format, value_of(&t->exact), SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
  else
    trace->best = smma_wide_round(&t->exact.finite, smma_encoding_of(trace->d_format));
}

static void finish(tracer *t, uint64_t sum) {
  const smma_multiplier *m = &t->multiplier;
  smma_trace *trace = t->trace;
  for (size_t i = 0; i < m->epilogues; i++) {
    sum = operate(t, &m->epilogue[i], sum);
    operate_exactly(t, &m->epilogue[i]);
    hold(t, SMMA_TRACE_EPILOGUE, i, m->outer, sum);
  }
  trace->d = smma_reformat(m->outer, m->d_format, m->operation.rule.nan, sum);
  find_best(t);
  if (m->d_format != m->outer) hold(t, SMMA_TRACE_STORE, 0, m->d_format, trace->d);
}

/* ---- One element ---- */

static const void *moved(const void *matrix, smma_format format, size_t index) {
  return matrix ? (const char *)matrix + index * smma_bytes_of(format) : NULL;
}

/* Makes t->multiplier for the product of row i and column j alone, whose result is stored at `d`. */
static smma_status take_element(const smma_operation *o, const smma_gemm_arguments *product, size_t i, size_t j,
                                uint64_t *d, tracer *t) {
  const smma_scales factors = smma_scales_from(smma_plan_scaled_k(product->plan), (size_t)o->scale_block, o->scale);
  const size_t scales = smma_scales_along(factors, product->k);
  smma_gemm_arguments g = *product;
  smma_status status;
  g.d = d;
  status = smma_check_matrices(&g);
  if (status != SMMA_OK) return status;
  if (i >= g.m || j >= g.n) return SMMA_INVALID_DIMENSION;
  g.a = moved(g.a, o->a, smma_index_of(g.order_a, g.lda, i, 0));
  g.b = moved(g.b, o->b, smma_index_of(g.order_b, g.ldb, 0, j));
  g.c = moved(g.c, o->c, smma_index_of(g.order_c, g.ldc, i, j));
  g.scale_a = moved(g.scale_a, factors.format, i * scales), g.scale_b = moved(g.scale_b, factors.format, j * scales);
  if (g.bias) g.bias += j;
  g.m = g.n = 1, g.kernel = NULL;
  return smma_multiplier_make(o, &g, false, &t->multiplier);
}

/* Sets the trace's schedule to the multiplier's. If the product is a single chain, the multiplier's schedule has no
   list of k, so this function makes a complete one. */
static smma_status take_schedule(tracer *t) {
  const smma_multiplier *m = &t->multiplier;
  const smma_plan chain = {.d = SMMA_NO_FORMAT};
  if (m->steps == 0 || m->schedule.k) {
    t->trace->schedule = m->schedule;
    return SMMA_OK;
  }
  return smma_schedule_make(&chain, &m->operation, m->with.k, &t->trace->schedule, NULL);
}

static void take_operands(tracer *t) {
  const smma_multiplier *m = &t->multiplier;
  const smma_schedule *s = &t->trace->schedule;
  const size_t k = m->with.k, scales = (size_t)smma_scale_count(m->operation.k, m->operation.scale_block) * m->steps;
  const size_t parts = m->part_k ? k / m->part_k + (k % m->part_k != 0) : 0;
  t->a = zeroed(t, k, sizeof *t->a), t->b = zeroed(t, k, sizeof *t->b);
  t->block_a = zeroed(t, scales, sizeof *t->block_a), t->block_b = zeroed(t, scales, sizeof *t->block_b);
  t->part_a = zeroed(t, parts, sizeof *t->part_a), t->part_b = zeroed(t, parts, sizeof *t->part_b);
  t->step_part = zeroed(t, s->steps, sizeof *t->step_part), t->task_part = zeroed(t, s->tasks, sizeof *t->task_part);
  t->places = zeroed(t, s->registers + 1, sizeof *t->places);
  t->room = 1 + s->steps + s->tasks + m->epilogues + 1;
  t->trace->event = zeroed(t, t->room, sizeof *t->trace->event);
  if (t->no_memory) return;
  smma_decode_vector(m, true, 0, 0, k, t->a);
  smma_decode_vector(m, false, 0, 0, k, t->b);
  if (scales) smma_decode_scales(m, true, 0, 0, m->steps * (size_t)m->operation.k, t->block_a);
  if (scales) smma_decode_scales(m, false, 0, 0, m->steps * (size_t)m->operation.k, t->block_b);
  if (parts) memcpy(t->part_a, m->with.scale_a, parts * sizeof *t->part_a);
  if (parts) memcpy(t->part_b, m->with.scale_b, parts * sizeof *t->part_b);
}

/* Starts the exact sum: from beta C if the chain starts from C. */
static void start_exactly(tracer *t) {
  const smma_multiplier *m = &t->multiplier;
  clear(&t->exact);
  if (!smma_starts_from_c(m)) return;
  const uint64_t c = smma_load(smma_bytes_of(m->c_format), m->with.c, 0);
  add(&t->exact, smma_decode(smma_encoding_of(m->c_format), c), smma_number_of_f64(m->with.beta), false);
}

/* Computes the sum and the epilogue, and records their events. */
static void run(tracer *t) {
  const smma_multiplier *m = &t->multiplier;
  const smma_schedule *s = &t->trace->schedule;
  const smma_plan_element e = {.operation = m->operation,
                               .schedule = s,
                               .a = t->a,
                               .b = t->b,
                               .block_a = t->block_a,
                               .block_b = t->block_b,
                               .part_a = t->part_a,
                               .part_b = t->part_b,
                               .part_k = m->part_k};
  smma_plan_element with_start = e;
  uint64_t *registers = zeroed(t, s->registers, sizeof *registers), sum;
  if (t->no_memory) return;
  find_parts(t);
  clear(&t->live);
  start_exactly(t);
  if (smma_starts_from_c(m)) {
    uint64_t start = 0;
    smma_start_row(m, 0, 0, 1, &start);
    with_start.start = smma_load(smma_bytes_of(m->outer), &start, 0);
    put(t, (size_t)(s->start + FIRST_REGISTER), with_start.start, NO_PART);
    record(t, SMMA_TRACE_START, 0, m->outer, with_start.start);
  }
  sum = smma_plan_sum(&with_start, registers, watch, t);
  free(registers);
  finish(t, sum);
}

/* Prepares the tracer of element (i, j), without its schedule and operands if not `whole`. `*d` receives what the
   multiplier stores. Call `end` for any status. */
static smma_status begin(tracer *t, const smma_instruction *instruction, const smma_gemm_arguments *product, size_t i,
                         size_t j, uint64_t *d, bool whole) {
  const smma_operation o = smma_operation_of(instruction);
  smma_trace *trace = t->trace;
  *trace = (smma_trace){.in_order = true};
  smma_status status = take_element(&o, product, i, j, d, t);
  if (status == SMMA_OK && whole) status = take_schedule(t);
  if (status != SMMA_OK) return status;
  if (!whole) trace->schedule = t->multiplier.schedule;
  trace->operation = t->multiplier.operation;
  trace->outer = t->multiplier.outer, trace->d_format = t->multiplier.d_format;
  memcpy(trace->epilogue, t->multiplier.epilogue, sizeof trace->epilogue);
  if (whole) take_operands(t);
  return t->no_memory ? SMMA_NO_MEMORY : SMMA_OK;
}

static void end(tracer *t) {
  free(t->a), free(t->b), free(t->block_a), free(t->block_b), free(t->part_a), free(t->part_b);
  free(t->step_part), free(t->task_part), free(t->places);
}

smma_status smma_trace_element(const smma_instruction *instruction, const smma_gemm_arguments *product, size_t i,
                               size_t j, smma_trace *trace) {
  tracer t = {.trace = trace};
  uint64_t d = 0;
  smma_status status = begin(&t, instruction, product, i, j, &d, true);
  if (status == SMMA_OK) run(&t);
  end(&t);
  return status == SMMA_OK && t.no_memory ? SMMA_NO_MEMORY : status;
}

/* Reports whether FP64 has the product of any number of a format and any factor of a part. */
static bool is_exact_with_factors(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  return smma_is_in_range_of_f32(f) && f.fraction_bits + 1 + smma_encoding_of(SMMA_F32).fraction_bits + 1 <= 53;
}

/* Reports whether each product gets the factors of the part that its k belongs to. */
static bool has_factors_by_k(tracer *t) {
  const smma_multiplier *m = &t->multiplier;
  const smma_schedule *s = &t->trace->schedule;
  const size_t k = (size_t)t->trace->operation.k;
  find_parts(t);
  for (size_t n = 0; n < s->steps * k; n++)
    if (s->k[n] != SMMA_NO_PRODUCT && s->k[n] / m->part_k != t->step_part[n / k]) return false;
  return true;
}

smma_status smma_sums_all_products(const smma_instruction *instruction, const smma_gemm_arguments *product,
                                   bool *sums) {
  smma_trace trace;
  tracer t = {.trace = &trace};
  uint64_t d = 0;
  const smma_status status = begin(&t, instruction, product, 0, 0, &d, true);
  const size_t indices = trace.schedule.steps * (size_t)trace.operation.k;
  const smma_operation *o = &t.multiplier.operation;
  size_t summed = 0;
  for (size_t n = 0; status == SMMA_OK && n < indices; n++) summed += trace.schedule.k[n] != SMMA_NO_PRODUCT;
  *sums =
      status == SMMA_OK && summed == product->k && t.multiplier.a.factor == 1 &&
      smma_products_of(&trace.operation.rule) == SMMA_PRODUCT_MULTIPLIED &&
      (!t.multiplier.part_k || (is_exact_with_factors(o->a) && is_exact_with_factors(o->b) && has_factors_by_k(&t)));
  end(&t);
  smma_trace_free(&trace);
  return status;
}

smma_status smma_element_error(const smma_instruction *instruction, const smma_gemm_arguments *product, size_t i,
                               size_t j, uint64_t result, const smma_exact_element *sum, smma_error_of_element *error) {
  const bool known = sum && sum->finite; /* if not, the products are added here, and NaN and infinities counted */
  smma_trace trace;
  tracer t = {.trace = &trace};
  uint64_t d = 0;
  const smma_status status = begin(&t, instruction, product, i, j, &d, !known);
  if (status == SMMA_OK) {
    start_exactly(&t);
    if (known) add_wide(&t.exact.finite, &sum->sum, 1);
    smma_wide_carry(&t.exact.finite);
    if (!known) find_parts(&t);
    for (size_t step = 0; !known && step < trace.schedule.steps; step++) {
      add_products(&t, step);
      smma_wide_carry(&t.exact.finite);
    }
    for (size_t e = 0; e < t.multiplier.epilogues; e++) operate_exactly(&t, &t.multiplier.epilogue[e]);
    clear(&t.live);
    add(&t.live, smma_decode(smma_encoding_of(trace.d_format), result), one, false);
    *error = (smma_error_of_element){.exact = value_of(&t.exact), .error = difference(&t.live, &t.exact)};
  }
  end(&t);
  smma_trace_free(&trace);
  return status;
}

void smma_trace_free(smma_trace *trace) {
  smma_schedule_free(&trace->schedule);
  free(trace->event);
  *trace = (smma_trace){.in_order = true};
}

uint64_t smma_trace_addend(const smma_trace *trace, size_t event) {
  const smma_operation *o = &trace->operation;
  uint64_t x = 0;
  while (event-- > 0) {
    const smma_trace_event *e = &trace->event[event];
    const bool leaves = e->kind == SMMA_TRACE_FOLD && trace->schedule.task[e->index].from == SMMA_IN_ACCUMULATOR;
    const bool is_start = e->kind == SMMA_TRACE_START && trace->schedule.start == SMMA_IN_ACCUMULATOR;
    if (e->kind == SMMA_TRACE_INSTRUCTION || is_start) x = e->encoding;
    if (e->kind == SMMA_TRACE_INSTRUCTION || is_start || leaves) break;
  }
  return smma_reformat(trace->outer, o->d, o->rule.nan, x);
}
