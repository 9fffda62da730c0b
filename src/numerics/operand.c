/* Converts the elements of an operand: scales them by their factors, rounds them to the format, and measures errors. */
#include "numerics/operand.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/format.h"
#include "host/bits.h"
#include "host/cpu.h"
#include "host/float.h"
#include "host/load.h"
#include "host/thread.h"
#include "numerics/operand_work.h"

/* Operands with fewer elements than this are converted by one thread. */
enum { PARALLEL = 1 << 16 };

void smma_run_tasks(const smma_operand_work *w, size_t tasks, void (*task)(const smma_operand_work *, size_t, void *)) {
#pragma omp parallel num_threads(w->threads) if (w->threads > 1)
  {
    const smma_float_state state = smma_float_enter(SMMA_MODE_NEAREST_EVEN);
    void *memory = w->memory + (size_t)smma_this_thread() * w->room;
#pragma omp for schedule(static)
    for (size_t i = 0; i < tasks; i++) task(w, i, memory);
    smma_float_leave(state);
  }
}

float smma_rounded_to(smma_format format, float x) {
  if (format != SMMA_BF16 && format != SMMA_F16) return x;
  return (float)smma_format_decode(format,
                                   smma_format_encode(format, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT));
}

/* Returns the number of rows that have elements. */
static size_t count_rows(const smma_operand_work *w) { return w->inner ? w->batch * w->outer : 0; }

/* Returns x with its payload if x is a NaN, otherwise `result`. Has no branch, so that it vectorises. */
static inline float unless_nan(float x, float result) {
  const uint32_t bits = smma_bits_of_f32(x), stays = -(uint32_t)((bits & 0x7fffffff) > 0x7f800000);
  return smma_f32_of_bits((bits & stays) | (smma_bits_of_f32(result) & ~stays));
}

static inline double times_f64(double x, double scale) { return isnan(x) ? x : x * scale; }

/* Multiplies elements by scales. If `own`, each element has its own scale; otherwise *scale multiplies all elements. */
static void multiply_f32(const float *x, const float *scale, bool own, size_t count, float *y) {
  const float common = *scale;
  if (own)
    for (size_t i = 0; i < count; i++) y[i] = unless_nan(x[i], x[i] * scale[i]);
  else
    for (size_t i = 0; i < count; i++) y[i] = unless_nan(x[i], x[i] * common);
}

static void divide_f32(const float *x, const float *factor, bool own, size_t count, float *y) {
  for (size_t i = 0; i < count; i++) y[i] = unless_nan(x[i], x[i] / factor[own ? i : 0]);
}

static void multiply_f64(const double *x, const float *scale, bool own, size_t count, double *y) {
  for (size_t i = 0; i < count; i++) y[i] = times_f64(x[i], scale[own ? i : 0]);
}

/* Returns the elements of a row in the type of scaled elements, FP32 or FP64. Returns their address in the operand if
   no conversion is necessary; otherwise converts them into y. */
static const void *numbers(const smma_operand_work *w, size_t at, void *y) {
  const float *x = (const float *)w->operand->x + at;
  const double *wide = (const double *)w->operand->x + at;
  if (w->operand->f64 == w->f64) return w->f64 ? (const void *)wide : x;
  for (size_t i = 0; i < w->inner; i++) {
    if (w->f64)
      ((double *)y)[i] = x[i];
    else
      ((float *)y)[i] = (float)wide[i];
  }
  return y;
}

/* Returns an element times its scale (or divided by its factor), plus the zero point. Both operations are rounded. */
static float shifted(const smma_operand_work *w, float x, size_t block) {
  const float y = smma_rounded_to(w->arithmetic, w->divides ? x / w->element[block] : x * w->scale[block]);
  if (!w->zero) return unless_nan(x, y);
  return smma_rounds_first(w) ? rintf(y) + w->zero[block] : smma_rounded_to(w->arithmetic, y + w->zero[block]);
}

/* Returns the elements of a row times their scales, in y; without scale factors, may return the operand's own
   elements. */
static const void *scaled(const smma_operand_work *w, size_t row, void *y) {
  const void *x = numbers(w, row * w->inner, y);
  const size_t first = smma_block_at(w, row / w->outer, row % w->outer, 0);
  const float *scale = (w->divides ? w->element : w->scale) + first;
  const bool own = w->block_inner == 1;
  const size_t each = own ? w->inner : w->block_inner;
  if (w->rule->factor == SMMA_NO_FORMAT) return x;
  if (w->zero || w->arithmetic != SMMA_F32) {
    for (size_t i = 0; i < w->inner; i++)
      ((float *)y)[i] = shifted(w, ((const float *)x)[i], first + i / w->block_inner);
    return y;
  }
  for (size_t i = 0; i < w->inner; i += each, scale++) {
    const size_t count = smma_smaller(each, w->inner - i);
    if (w->f64)
      multiply_f64((const double *)x + i, scale, own, count, (double *)y + i);
    else if (w->divides)
      divide_f32((const float *)x + i, scale, own, count, (float *)y + i);
    else
      multiply_f32((const float *)x + i, scale, own, count, (float *)y + i);
  }
  return y;
}

/* Turns -0 into 0, as compressed-tensors and ModelOpt do in FP4. First rounds quotients by UE8M0 factors to the
   tensor's format, as compressed-tensors does. */
static void make_zeros_positive(const smma_operand_work *w, void *y) {
  const smma_format format = w->rule->factor == SMMA_UE8M0 ? w->rule->tensor : SMMA_F32;
  for (size_t i = 0; i < w->inner; i++) {
    if (w->f64)
      ((double *)y)[i] += 0;
    else
      ((float *)y)[i] = smma_rounded_to(format, ((float *)y)[i]) + 0;
  }
}

static double number(const smma_operand_work *w, const void *y, size_t i) {
  return w->f64 ? ((const double *)y)[i] : (double)((const float *)y)[i];
}

/* The two numbers of a format between which a number lies. */
typedef struct {
  uint64_t low, high;  /* their encodings */
  double below, above; /* their values */
} neighbours;

static neighbours neighbours_of(const smma_operand_work *w, double exact) {
  const uint64_t low = smma_format_encode(w->rule->format, exact, SMMA_ROUND_DOWN, w->rule->overflow);
  const uint64_t high = smma_format_encode(w->rule->format, exact, SMMA_ROUND_UP, w->rule->overflow);
  return (neighbours){low, high, smma_format_decode(w->rule->format, low), smma_format_decode(w->rule->format, high)};
}

/* Returns the neighbours of a number in a sign-magnitude format, given the nearest encoding; the other has an adjacent
   magnitude. If the format holds the number exactly, or it is out of range, both neighbours are the nearest
   encoding. */
static neighbours neighbours_by_nearest(const smma_operand_work *w, double exact, uint64_t nearest) {
  const double value = w->value[nearest];
  const bool between = value != exact && fabs(exact) < w->max;
  const uint64_t other = !between ? nearest : fabs(value) < fabs(exact) ? nearest + 1 : nearest - 1;
  return value < exact ? (neighbours){nearest, other, value, w->value[other]}
                       : (neighbours){other, nearest, w->value[other], value};
}

static void round_to_nearest(const smma_operand_work *w, const void *y, void *values) {
  smma_convert(w->f64 ? SMMA_F64 : SMMA_F32, y, w->rule->format, values, w->inner,
               w->rule->random ? SMMA_ROUND_NEAREST_EVEN : w->rule->rounding, w->rule->overflow, NULL);
}

/* Rounds each element of a row to one of its two neighbours: up if the element's number in rule->random is below the
   upper neighbour's probability. */
static void round_randomly(const smma_operand_work *w, size_t row, const void *y, unsigned char *values) {
  const size_t outer = w->operand->outer, matrix = row / outer * outer * w->inner, r = row % outer;
  if (w->narrow) round_to_nearest(w, y, values);
  for (size_t i = 0; i < w->inner; i++) {
    const double exact = number(w, y, i);
    const neighbours n = w->narrow ? neighbours_by_nearest(w, exact, values[i]) : neighbours_of(w, exact);
    const double random = w->rule->random[matrix + (w->operand->k_inner ? r * w->inner + i : i * outer + r)];
    smma_store(w->bytes, values, i, random * (n.above - n.below) < exact - n.below ? n.high : n.low);
  }
}

static void round_row(const smma_operand_work *w, size_t row, const void *y, void *values) {
  if (w->rule->random)
    round_randomly(w, row, y, values);
  else
    round_to_nearest(w, y, values);
}

/* Returns the value of a converted element: its encoding's value minus the zero point, times its factor. */
static double value_at(const smma_operand_work *w, size_t row, const unsigned char *values, size_t i) {
  const double value =
      w->bytes == 1 ? w->value[values[i]] : smma_format_decode(w->rule->format, smma_load(w->bytes, values, i));
  const size_t block = smma_block_at(w, row / w->outer, row % w->outer, i);
  if (w->rule->factor == SMMA_NO_FORMAT) return value;
  return (value - (w->zero ? w->zero[block] : 0)) * w->element[block];
}

/* Multiplies the values by their factors, and rounds the products to rule->compute. Products with factors that may not
   be powers of two are first rounded to FP32. */
static void compute_row(const smma_operand_work *w, size_t row, const unsigned char *values, void *computed) {
  const size_t bytes = smma_bytes_of(w->rule->compute);
  for (size_t i = 0; i < w->inner; i++) {
    const double value = value_at(w, row, values, i);
    smma_store(bytes, computed, i,
               smma_format_encode(w->rule->compute, w->rule->factor == SMMA_UE8M0 ? value : (float)value,
                                  SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT));
  }
}

/* Adds one element to the statistics: `x` before scaling, `y` after scaling, and `became` after the conversion. */
static void measure(const smma_operand_work *w, double x, double y, double became, smma_operand_statistics *s) {
  s->zeros += became == 0 && x != 0;
  s->saturated += fabs(y) >= w->beyond && isfinite(became) && became != 0; /* 0: by a factor of 0 */
  s->infinite += isinf(became) != 0;
  s->nan += isnan(became) != 0;
  if (!isfinite(x) || !isfinite(became)) return;
  s->error += (became - x) * (became - x);
  s->norm += x * x;
}

static void measure_row(const smma_operand_work *w, size_t row, const void *y, const unsigned char *values,
                        const void *computed) {
  for (size_t i = 0; i < w->inner; i++) {
    measure(w, smma_element_at(w, row * w->inner + i), number(w, y, i),
            computed ? smma_format_decode(w->rule->compute, smma_load(smma_bytes_of(w->rule->compute), computed, i))
                     : value_at(w, row, values, i),
            &w->measured[row]);
  }
}

/* Converts one row. `memory` holds the scaled elements and, if values are multiplied by their factors, the
   encodings. */
static void make_row(const smma_operand_work *w, size_t row, void *memory) {
  const bool computes = w->rule->compute != SMMA_NO_FORMAT;
  const size_t bytes = computes ? smma_bytes_of(w->rule->compute) : w->bytes;
  unsigned char *result = (unsigned char *)w->operand->values + row * w->inner * bytes;
  unsigned char *values = computes ? (unsigned char *)memory + w->inner * sizeof(double) : result;
  const void *y = scaled(w, row, memory);
  if (w->makes_zeros_positive) make_zeros_positive(w, memory);
  round_row(w, row, y, values);
  if (computes) compute_row(w, row, values, result);
  if (w->measured) measure_row(w, row, y, values, computes ? result : NULL);
}

#ifdef __x86_64__
__attribute__((target("avx2"), flatten)) static void make_row_in_avx2(const smma_operand_work *w, size_t row,
                                                                      void *memory) {
  make_row(w, row, memory);
}

static void (*row_maker(void))(const smma_operand_work *, size_t, void *) {
  return smma_cpu_has(SMMA_CPU_AVX2) ? make_row_in_avx2 : make_row;
}
#else
static void (*row_maker(void))(const smma_operand_work *, size_t, void *) { return make_row; }
#endif

static void add_statistics(const smma_operand_work *w) {
  smma_operand_statistics *sum = &w->operand->statistics;
  for (size_t row = 0; row < count_rows(w); row++) {
    const smma_operand_statistics *s = &w->measured[row];
    sum->zeros += s->zeros, sum->saturated += s->saturated, sum->infinite += s->infinite, sum->nan += s->nan;
    sum->error += s->error, sum->norm += s->norm;
  }
}

static void make(smma_operand_work *w) {
  if (w->rule->factor != SMMA_NO_FORMAT) {
    smma_find_block_factors(w);
    smma_give_factors(w);
  }
  smma_run_tasks(w, count_rows(w), row_maker());
  if (w->measured) add_statistics(w);
}

static bool allocate(smma_operand_work *w) {
  const size_t blocks = smma_count_blocks(w) + 1, rows = count_rows(w) + 1;
  const size_t most = w->inner > w->chunk ? w->inner : w->chunk;
  w->room = 2 * sizeof(double) * (most + SMMA_OPERAND_CHUNK);
  w->memory = malloc(w->room * (size_t)w->threads);
  w->amax = calloc(blocks, sizeof *w->amax);
  w->scale = malloc(blocks * sizeof *w->scale);
  w->element = malloc(blocks * sizeof *w->element);
  w->code = malloc(blocks);
  w->first = calloc(smma_count_first_levels(w) + 1, sizeof *w->first);
  if (w->rule->zero_points) w->least = calloc(blocks, sizeof *w->least), w->zero = calloc(blocks, sizeof *w->zero);
  if (w->operand->measure) w->measured = calloc(rows, sizeof *w->measured);
  return w->memory && w->amax && w->scale && w->element && w->code && w->first &&
         !w->operand->measure == !w->measured && (!w->rule->zero_points || (w->least && w->zero));
}

static void release(smma_operand_work *w) {
  free(w->memory);
  free(w->amax);
  free(w->scale);
  free(w->element);
  free(w->code);
  free(w->first);
  free(w->least);
  free(w->zero);
  free(w->measured);
}

static int threads_for(const smma_operand *o) {
  return o->batch * o->outer * o->inner < PARALLEL ? 1 : smma_threads(o->threads);
}

smma_status smma_make_operand(const smma_operand_rule *rule, smma_operand *operand) {
  /* Volatile, so that compilers cannot move arithmetic of the call out of smma_float_enter to smma_float_leave. */
  void (*volatile make_in_mode)(smma_operand_work *) = make;
  const smma_encoding f = smma_encoding_of(rule->format);
  smma_operand_work w = {.rule = rule, .operand = operand, .batch = operand->batch, .outer = operand->outer};
  smma_status status = SMMA_NO_MEMORY;
  w.inner = operand->inner, w.bytes = smma_container_bytes(f), w.threads = threads_for(operand);
  w.f64 = rule->factor == SMMA_UE8M0 ? operand->f64 || rule->random || rule->format == SMMA_UE8M0
                                     : rule->factor == SMMA_NO_FORMAT && operand->f64;
  smma_find_arithmetic(&w);
  w.narrow = f.bits <= 8 && f.sign_bits && f.exponent_bits && !smma_has_nan_for_negative_zero(f);
  const bool decodes = rule->random || operand->measure || rule->compute != SMMA_NO_FORMAT;
  for (unsigned i = 0; decodes && w.bytes == 1 && i < 256; i++) w.value[i] = smma_format_decode(rule->format, i);
  operand->statistics = (smma_operand_statistics){0};
  smma_divide_operand(&w);
  if (allocate(&w)) {
    const smma_float_state state = smma_float_enter(SMMA_MODE_NEAREST_EVEN);
    make_in_mode(&w);
    smma_float_leave(state);
    status = SMMA_OK;
  }
  release(&w);
  return status;
}
