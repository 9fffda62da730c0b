#include "numerics/bound.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/range.h"
#include "gemm/element.h"
#include "gemm/row.h"
#include "host/load.h"
#include "host/thread.h"
#include "isa/instruction.h"
#include "numerics/bound_plan.h"

enum { LANES = SMMA_BOUND_LANES };

/* Products with fewer scalar multiplications than this run on one thread, which is faster. */
enum { SMALL_PRODUCTS = 1 << 20 };

/* Bytes for the factors of the rows of A that are kept for all columns. LANES rows are kept in any case, because the
   columns are read anew for the next rows. */
enum { KEPT_BYTES = 1 << 25 };

/* The product and the values that are the same for all its elements. */
typedef struct {
  smma_multiplier multiplier;
  smma_format stored;       /* format to which results are finally rounded */
  size_t depth;             /* K, padded to whole instructions */
  size_t *lost, lost_count; /* indices k that the plan leaves out, and their number */
  double slack;             /* smma_bound_slack for these sums */
  double alpha, beta;
  smma_bound_factor *a; /* the factors of some rows of A, each followed by +0 */
} problem;

/* The working memory of one thread: for a row of A and sixteen columns of B. */
typedef struct {
  const smma_bound_factor *a;               /* factors of the row, then +0 */
  bool special_a;                           /* the row holds a NaN or an infinity */
  smma_bound_factors *b;                    /* factors of the columns, then +0 */
  smma_bound_factor step_a[SMMA_MAXIMUM_K]; /* factors of one step, used if the plan does not take K in order */
  smma_bound_factors step_b[SMMA_MAXIMUM_K];
  smma_bound_sum *places; /* bounds of the accumulator, then of the registers */
  double column[LANES];   /* 1 if the column holds a NaN or an infinity */
} workspace;

static double value_of(smma_format format, uint64_t encoding) { return smma_format_decode(format, encoding); }

static double load_value(smma_format format, const void *array, size_t index) {
  return value_of(format, smma_load(smma_bytes_of(format), array, index));
}

/* ---- Operands ---- */

static const smma_number one = {1, 0, 0, SMMA_FINITE, 0}; /* the number 1 */

/* Reads a row of A, or a column of B into a lane, into the one of `a` and `b` that is not NULL. For NaN and infinity,
   the factor's `used` has them and its `value` is zero. */
static void read_line(const problem *p, size_t line, smma_bound_factor *a, smma_bound_factors *b, int lane) {
  const smma_operation *o = &p->multiplier.operation;
  smma_number number[SMMA_MAXIMUM_K], scale[SMMA_MAXIMUM_K];
  const size_t k = (size_t)o->k;
  for (size_t first = 0; first < p->depth; first += k) {
    smma_decode_vector(&p->multiplier, a, line, first, k, number);
    if (o->scale_block) smma_decode_scales(&p->multiplier, a, line, first, k, scale);
    for (size_t i = 0; i < k; i++) {
      const smma_number s = o->scale_block ? scale[i / (size_t)o->scale_block] : one;
      smma_bound_factor x = smma_bound_factor_of(o, a, number[i], s);
      if (!isfinite(x.used)) x.value = 0;
      if (a) a[first + i] = x;
      if (a) continue;
      smma_bound_factors *to = &b[first + i];
      to->value[lane] = x.value, to->used[lane] = x.used, to->lead[lane] = x.lead, to->unit[lane] = x.unit;
    }
  }
}

static smma_bound_factor *kept_row(const problem *p, size_t row) { return p->a + row * (p->depth + 1); }

/* Reads rows of A; all threads of a team call it. A +0 follows each row, for steps that take fewer elements than an
   instruction has. */
static void read_rows(const problem *p, size_t first, size_t rows) {
  const smma_operation *o = &p->multiplier.operation;
  const smma_bound_factor zero = smma_bound_factor_of(o, true, smma_decode(smma_encoding_of(o->a), 0), one);
#pragma omp for schedule(static)
  for (size_t i = 0; i < rows; i++) {
    read_line(p, first + i, kept_row(p, i), NULL, 0);
    kept_row(p, i)[p->depth] = zero;
  }
}

static void take_row(const problem *p, size_t row, workspace *w) {
  w->a = kept_row(p, row);
  w->special_a = false;
  for (size_t k = 0; k < p->depth; k++) w->special_a = w->special_a || !isfinite(w->a[k].used);
}

static void read_columns(const problem *p, size_t column, size_t columns, workspace *w) {
  memset(w->b, 0, p->depth * sizeof *w->b);
  for (size_t j = 0; j < columns; j++) read_line(p, column + j, NULL, w->b, (int)j);
  for (int j = 0; j < LANES; j++) {
    w->column[j] = 0;
    for (size_t k = 0; k < p->depth; k++)
      if (!isfinite(w->b[k].used[j])) w->column[j] = 1;
  }
}

static bool has_special(const workspace *w, double c, int lane) {
  return w->special_a || w->column[lane] != 0 || !isfinite(c);
}

/* ---- Sums ---- */

static double c_of(const problem *p, size_t i, size_t j) {
  const smma_gemm_arguments *g = &p->multiplier.with;
  if (!g->c || g->beta == 0) return 0;
  return load_value(p->multiplier.c_format, g->c, smma_index_of(g->order_c, g->ldc, i, j));
}

/* Starts a sum with the exact beta c. `below` and `above` account for the value that the unit starts from, which is
   known exactly. */
static void begin(const problem *p, size_t i, size_t j, size_t columns, smma_bound_sum *s) {
  uint64_t start[LANES];
  const bool from_c = p->multiplier.starts_from_c;
  *s = smma_bound_empty(p->multiplier.operation.d);
  smma_start_row(&p->multiplier, i, j, columns, start);
  for (size_t x = 0; x < columns; x++) {
    const size_t bytes = smma_bytes_of(p->multiplier.outer);
    const uint64_t encoding = smma_load(bytes, start, x);
    const double c = c_of(p, i, j + x), unit_start = value_of(p->multiplier.outer, encoding);
    const double exact = from_c ? p->beta * c : 0, rest = fma(p->beta, c, -exact);
    double difference;
    if (!isfinite(c) || !from_c) continue; /* has_special handles a C that is not finite */
    smma_bound_add_exact(s, (int)x, exact, rest);
    if (!isfinite(unit_start)) { /* beta c overflows */
      s->below[x] = s->above[x] = INFINITY;
      continue;
    }
    difference = unit_start - exact - rest;
    s->below[x] = difference < 0 ? -difference : 0, s->above[x] = difference > 0 ? difference : 0;
    s->unit[x] = smma_bound_unit_of(smma_decode(smma_encoding_of(p->multiplier.outer), encoding));
  }
}

/* Returns the scale factor of the task's part: that of a row of A, or of a column of B. */
static double scale_of(const problem *p, bool of_a, size_t line, const smma_task *t) {
  const size_t part = p->multiplier.part_k, parts = (p->multiplier.with.k + part - 1) / part;
  const void *scales = of_a ? p->multiplier.with.scale_a : p->multiplier.with.scale_b;
  return load_value(SMMA_F32, scales, line * parts + t->k / part);
}

static void do_task(const problem *p, const workspace *w, const smma_task *t, size_t i, size_t j, size_t columns) {
  smma_bound_sum *place = w->places - SMMA_IN_ACCUMULATOR;
  double scale_a = 1, scale_b[LANES] = {0};
  if (t->kind == SMMA_TASK_CLEAR) {
    place[t->to] = smma_bound_empty(p->multiplier.operation.d);
    return;
  }
  if (t->kind == SMMA_TASK_FOLD && t->with != SMMA_WITH_ADD) {
    scale_a = scale_of(p, true, i, t);
    for (size_t x = 0; x < columns; x++) scale_b[x] = scale_of(p, false, j + x, t);
  }
  smma_bound_task(t, p->multiplier.outer, p->slack, scale_a, scale_b, &place[t->from], &place[t->to]);
  if (t->from == SMMA_IN_ACCUMULATOR) place[SMMA_IN_ACCUMULATOR] = smma_bound_empty(p->multiplier.operation.d);
}

/* Bounds the instruction of one step. Operands that take no element of K are +0. */
static void do_step(const problem *p, workspace *w, size_t step, smma_bound_sum *sum) {
  const smma_schedule *s = &p->multiplier.schedule;
  const size_t count = s->k_per_step, first = step * count;
  if (s->in_order) {
    smma_bound_step(&p->multiplier.operation, w->a + first, w->b + first, p->slack, sum);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    const size_t k = s->k[first + i] == SMMA_NO_PRODUCT ? p->depth : s->k[first + i];
    w->step_a[i] = w->a[k], w->step_b[i] = w->b[k];
  }
  smma_bound_step(&p->multiplier.operation, w->step_a, w->step_b, p->slack, sum);
}

/* Bounds the sums of element (i, j) and the next columns - 1 elements: takes the steps, and the plan's tasks between
   them, in the order of gemm/run.c. */
static smma_bound_sum sum_steps(const problem *p, workspace *w, const smma_bound_sum *start, size_t i, size_t j,
                                size_t columns) {
  const smma_schedule *s = &p->multiplier.schedule;
  smma_bound_sum *place = w->places - SMMA_IN_ACCUMULATOR;
  size_t task = 0;
  for (size_t x = 0; x <= s->registers; x++) w->places[x] = smma_bound_empty(p->multiplier.operation.d);
  place[s->start] = *start;
  for (size_t step = 0;; step++) {
    for (; task < s->tasks && s->task[task].step == step; task++) do_task(p, w, &s->task[task], i, j, columns);
    if (step == s->steps) return place[s->result];
    do_step(p, w, step, &place[SMMA_IN_ACCUMULATOR]);
  }
}

/* Adds the products that the plan leaves out to the exact sum, and to the distance of the unit's sum, which lacks
   them. */
static void miss_lost(const problem *p, const workspace *w, int lane, smma_bound_sum *s) {
  const double size = s->size[lane];
  double lost = 0, inexact = 0;
  for (size_t n = 0; n < p->lost_count; n++) {
    const double x = w->a[p->lost[n]].value * w->b[p->lost[n]].value[lane];
    smma_bound_add_exact(s, lane, x, 0);
    lost += x, inexact += fabs(x) * 0x1p-40;
  }
  if (p->lost_count == 0) return;
  s->below[lane] = fmax(s->below[lane] + lost + inexact, 0);
  s->above[lane] = fmax(s->above[lane] - lost + inexact, 0);
  s->unit[lane] = 0;
  if (size != s->size[lane] && p->multiplier.part_k) s->below[lane] = s->above[lane] = INFINITY;
}

/* ---- From the sum to D ---- */

/* Returns the unit's result for the case that an operand is NaN or infinite. */
static double special_of(const problem *p, const workspace *w, double c, int lane) {
  double sum = p->multiplier.with.scaling == SMMA_SCALING_EPILOGUE ? 0 : p->beta * c;
  for (size_t k = 0; k < p->depth; k++) sum += w->a[k].used * w->b[k].used[lane];
  return p->multiplier.with.scaling == SMMA_SCALING_EPILOGUE ? p->alpha * sum + p->beta * c : sum;
}

/* Reports whether every step leaves the sum in D's format already. */
static bool is_narrow(const problem *p) {
  const smma_multiplier *multiplier = &p->multiplier;
  const bool as_chain = multiplier->epilogues == 0 && multiplier->schedule.tasks == 0;
  return multiplier->d_format == multiplier->outer || (as_chain && multiplier->d_format == multiplier->operation.d);
}

/* Returns half of the greatest number of a format that has NaN, and infinities that do not saturate; otherwise 0. */
static double half_range_of(smma_format format) {
  const uint64_t infinity = smma_format_encode(format, INFINITY, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
  const smma_encoding f = smma_encoding_of(format);
  if (f.specials != SMMA_SPECIALS_IEEE || !isinf(value_of(format, infinity))) return 0;
  return value_of(format, smma_greatest_of(f)) / 2;
}

/* Returns the least half range of the formats to which the unit and the epilogue round sums. */
static double least_half_range(const problem *p) {
  const smma_operation *o = &p->multiplier.operation;
  const smma_composition *c = &o->rule.with.composition;
  double least = fmin(half_range_of(o->d), half_range_of(p->multiplier.outer));
  for (int step = 0; o->rule.algorithm == SMMA_COMPOSITION && step < c->steps; step++)
    if (c->step[step].output != SMMA_NO_FORMAT) least = fmin(least, half_range_of(c->step[step].output));
  return least;
}

/* Reports whether the result for a NaN or infinite operand is certain: no sum overflows before this operand is added,
   and D's format has NaN and infinity, which do not saturate in it. With plans this is not known, nor for units without
   a bound, which may change operands and products first. Units that read infinities and NaN as numbers return other
   results. `size` is the sum of the magnitudes of all products. */
static bool is_sure(const problem *p, double size, double c) {
  const double all = size + fabs(p->alpha) * size + fabs(p->beta * c);
  return !p->multiplier.with.plan && p->multiplier.operation.rule.nan != SMMA_NAN_NUMBERS &&
         smma_bound_is_known(&p->multiplier.operation) && half_range_of(p->stored) > 0 && all < least_half_range(p);
}

/* Returns the operands of the epilogue for a column; `c` is C as the epilogue reads it. */
static smma_bound_operands operands_of(const problem *p, double c, size_t column) {
  const smma_gemm_arguments *g = &p->multiplier.with;
  const double bias = g->bias ? load_value(SMMA_F32, g->bias, column) : 0;
  return (smma_bound_operands){p->alpha, p->beta, c, bias, (double)(float)g->scale_d};
}

static smma_bounded finish(const problem *p, const workspace *w, double c, size_t column, int lane, smma_bound_sum *s) {
  const smma_bound_operands with = operands_of(p, c, column);
  smma_bounded x;
  if (has_special(w, c, lane)) {
    x.exact = special_of(p, w, c, lane), x.rest = 0;
    x.below = x.above = is_sure(p, s->size[lane], c) ? 0 : INFINITY;
    return x;
  }
  miss_lost(p, w, lane, s);
  for (size_t n = 0; n < p->multiplier.epilogues; n++)
    smma_bound_epilogue(&p->multiplier.epilogue[n], p->multiplier.outer, p->slack, &with, lane, s);
  if (!is_narrow(p)) smma_bound_round_to(p->multiplier.d_format, p->slack, lane, s);
  if (p->stored != p->multiplier.d_format) smma_bound_round_to(p->stored, p->slack, lane, s);
  return smma_bound_end(s, lane, p->slack);
}

static void bound_columns(const problem *p, workspace *w, size_t first, size_t rows, size_t column,
                          smma_bounded *bounds) {
  const size_t n = p->multiplier.with.n, columns = n - column < LANES ? n - column : LANES;
  smma_bound_sum start, sum;
  read_columns(p, column, columns, w);
  for (size_t i = 0; i < rows; i++) {
    take_row(p, i, w);
    begin(p, first + i, column, columns, &start);
    sum = sum_steps(p, w, &start, first + i, column, columns);
    for (size_t j = 0; j < columns; j++)
      bounds[i * n + column + j] = finish(p, w, c_of(p, first + i, column + j), column + j, (int)j, &sum);
  }
}

/* ---- Integers ---- */

/* Bounds an integer result. It is exact unless a sum leaves the range of s32. A sum that wraps is correct again if
   the final sum is in range; a clamped sum need not be. If the sum starts from beta c, this is clamped in both cases.
   Every integer here is below 2^53. */
static smma_bounded bound_integer(const problem *p, size_t i, size_t j) {
  const bool wraps = p->multiplier.operation.rule.with.integer.overflow == SMMA_INTEGER_WRAPS;
  const bool epilogue = p->multiplier.epilogues != 0;
  const double c = p->beta * c_of(p, i, j);
  const double rounding = epilogue || c == rint(c) ? 0 : 0.5; /* of beta c, to the integer that starts the sum */
  double sum = epilogue ? 0 : c, most = fabs(sum), d;
  smma_number x[SMMA_MAXIMUM_K], y[SMMA_MAXIMUM_K];
  smma_bounded r = {0, 0, rounding, rounding};
  for (size_t first = 0; first < p->depth; first += (size_t)p->multiplier.operation.k) {
    smma_decode_vector(&p->multiplier, true, i, first, (size_t)p->multiplier.operation.k, x);
    smma_decode_vector(&p->multiplier, false, j, first, (size_t)p->multiplier.operation.k, y);
    for (int k = 0; k < p->multiplier.operation.k; k++) {
      const smma_number z = smma_product_of_kind(smma_products_of(&p->multiplier.operation.rule), x[k], y[k]);
      const double product = (double)z.significand;
      sum += z.negative ? -product : product;
      most += product;
    }
  }
  d = epilogue ? p->alpha * sum + c : sum;
  r.exact = d;
  if (epilogue) r.below = r.above = 0.5 + fabs(d) * 0x1p-50 + fabs(c) * 0x1p-50;
  if (!(fabs(d) + r.above < 0x1p31 - 1) || (!wraps && most >= 0x1p31) || (epilogue && most >= 0x1p31))
    r.below = r.above = INFINITY;
  if (!epilogue && wraps && sum >= -0x1p31 && sum < 0x1p31) r.below = r.above = rounding;
  if (p->lost_count || (!epilogue && !(c >= -0x1p31 && c <= 0x1p31 - 1))) r.below = r.above = INFINITY;
  return r;
}

/* ---- Rows ---- */

/* Puts +0 after the last elements of w->b. */
static void put_zero(const problem *p, workspace *w) {
  const smma_operation *o = &p->multiplier.operation;
  const smma_bound_factor b = smma_bound_factor_of(o, false, smma_decode(smma_encoding_of(o->b), 0), one);
  for (int j = 0; j < LANES; j++) {
    w->b[p->depth].value[j] = b.value, w->b[p->depth].used[j] = b.used;
    w->b[p->depth].lead[j] = b.lead, w->b[p->depth].unit[j] = b.unit;
  }
}

static bool make_workspace(const problem *p, workspace *w) {
  w->b = calloc(p->depth + 1, sizeof *w->b);
  w->places = calloc(p->multiplier.schedule.registers + 1, sizeof *w->places);
  if (w->b) put_zero(p, w);
  return w->b && w->places;
}

static void free_workspace(workspace *w) { free(w->b), free(w->places); }

/* Bounds rows whose factors fit p->a. */
static smma_status bound_some(const problem *p, size_t first, size_t rows, smma_bounded *bounds) {
  const size_t n = p->multiplier.with.n, panels = (n + LANES - 1) / LANES;
  int failed = 0;
#pragma omp parallel num_threads(smma_default_threads()) if ((double)rows * (double)n * (double)p->depth >= \
                                                             SMALL_PRODUCTS)
  {
    workspace w;
    bool made = make_workspace(p, &w);
    read_rows(p, first, rows);
#pragma omp for schedule(dynamic)
    for (size_t panel = 0; panel < panels; panel++) {
      if (made) {
        bound_columns(p, &w, first, rows, panel * LANES, bounds);
      } else {
#pragma omp atomic write
        failed = 1;
      }
    }
    free_workspace(&w);
  }
  return failed ? SMMA_NO_MEMORY : SMMA_OK;
}

static smma_status bound_all(problem *p, size_t first, size_t rows, smma_bounded *bounds) {
  const size_t fit = KEPT_BYTES / ((p->depth + 1) * sizeof *p->a), kept = fit < LANES ? LANES : fit;
  const size_t most = kept < rows ? kept : rows;
  smma_status status = SMMA_OK;
  p->a = malloc((most + !most) * (p->depth + 1) * sizeof *p->a);
  if (!p->a) return SMMA_NO_MEMORY;
  for (size_t i = 0; i < rows && status == SMMA_OK; i += most)
    status = bound_some(p, first + i, rows - i < most ? rows - i : most, bounds + i * p->multiplier.with.n);
  free(p->a);
  return status;
}

static void bound_integers(const problem *p, size_t first, size_t rows, smma_bounded *bounds) {
  const size_t n = p->multiplier.with.n;
#pragma omp parallel for num_threads(smma_default_threads()) schedule(static)
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < n; j++) bounds[i * n + j] = bound_integer(p, first + i, j);
}

/* Returns alpha or beta as the epilogue reads it: rounded to FP32 if the epilogue computes in FP32. */
static double factor_of(const smma_multiplier *multiplier, double factor) {
  const bool narrow = multiplier->epilogues && multiplier->outer == SMMA_F32;
  return narrow ? (double)(float)factor : factor;
}

/* Sets p->lost to the indices k that no step takes. Returns false if memory runs out. */
static bool find_lost(problem *p) {
  const smma_schedule *s = &p->multiplier.schedule;
  const size_t k = p->multiplier.with.k;
  unsigned char *used;
  p->lost = NULL, p->lost_count = 0;
  if (s->in_order) return true;
  used = calloc(k, 1), p->lost = malloc(k * sizeof *p->lost);
  for (size_t i = 0; used && i < s->steps * s->k_per_step; i++)
    if (s->k[i] != SMMA_NO_PRODUCT) used[s->k[i]] = 1;
  for (size_t i = 0; used && p->lost && i < k; i++)
    if (!used[i]) p->lost[p->lost_count++] = i;
  free(used);
  return used && p->lost;
}

static smma_status bound_rows(problem *p, smma_format stored, size_t first, size_t rows, smma_bounded *bounds) {
  const smma_gemm_arguments *g = &p->multiplier.with;
  const smma_operation *o = &p->multiplier.operation;
  const size_t k = (size_t)o->k;
  if (g->scaling == SMMA_SCALING_OPERANDS && !g->plan && g->alpha != 1) return SMMA_INVALID_ARGUMENT;
  if (first > g->m || rows > g->m - first) return SMMA_INVALID_DIMENSION;
  p->stored = stored == SMMA_NO_FORMAT ? p->multiplier.d_format : stored;
  p->depth = (g->k + k - 1) / k * k;
  p->slack = smma_bound_slack(p->depth + p->multiplier.schedule.tasks);
  p->alpha = factor_of(&p->multiplier, g->alpha),
  p->beta = g->c && g->beta != 0 ? factor_of(&p->multiplier, g->beta) : 0;
  if (o->rule.algorithm != SMMA_INTEGER) return bound_all(p, first, rows, bounds);
  bound_integers(p, first, rows, bounds);
  return SMMA_OK;
}

smma_status smma_bound_rows(const smma_instruction *instruction, const smma_gemm_arguments *product, smma_format stored,
                            size_t first, size_t rows, smma_bounded *bounds) {
  smma_operation operation;
  smma_gemm_arguments g;
  smma_status status;
  problem p;
  if (!instruction || !product || !bounds) return SMMA_INVALID_ARGUMENT;
  operation = smma_operation_of(instruction);
  g = *product;
  g.d = bounds, g.threads = 0, g.kernel = "core", g.progress = NULL, g.ldd = 0, g.order_d = SMMA_ROW_MAJOR;
  status = smma_multiplier_make(&operation, &g, false, &p.multiplier);
  if (status != SMMA_OK) return status;
  status = find_lost(&p) ? bound_rows(&p, stored, first, rows, bounds) : SMMA_NO_MEMORY;
  free(p.lost);
  smma_multiplier_end(&p.multiplier);
  return status;
}

double smma_bounded_error(const smma_bounded *x, double result) {
  return isfinite(x->exact) && isfinite(result) ? (result - x->exact) - x->rest : NAN;
}

bool smma_bounded_accepts(const smma_bounded *x, double result) {
  double error;
  if (isinf(x->below)) return true;
  if (isnan(x->exact)) return isnan(result);
  if (isinf(x->exact)) return result == x->exact;
  error = smma_bounded_error(x, result);
  return error >= -x->below && error <= x->above;
}
