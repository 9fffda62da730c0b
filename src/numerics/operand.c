#include "numerics/operand.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/format.h"
#include "host/cpu.h"
#include "host/float.h"
#include "host/load.h"
#include "host/thread.h"

enum { CHUNK = 1024, PARALLEL = 1 << 16 };

typedef struct work {
  const smma_operand_rule *rule;
  smma_operand *operand;
  size_t batch, outer, inner;      /* dimensions of the operand; one matrix if a tensor has a single factor */
  size_t block_outer, block_inner; /* elements that share a factor */
  size_t strips, blocks, chunk;    /* rows and columns of factors in a matrix; elements of a row processed at a time */
  size_t bytes;                    /* bytes of an encoding */
  bool f64;                        /* scaled elements are FP64 */
  int max_exponent;                /* exponent of the format's greatest number */
  double max, beyond;              /* the greatest number; the least magnitude that does not round to a finite number */
  bool narrow;                     /* an encoding is one byte, sign and magnitude; `value` is filled in */
  double value[256];               /* value of each encoding */
  float factor_value[128];         /* value of each encoding of UE4M3, if factors have that format */
  double *amax;                    /* greatest magnitude of each block */
  float *scale, *element; /* for each block: the multiplier before rounding, and the factor that restores the values */
  unsigned char *code;    /* for each block: the factor as UE8M0 or UE4M3 */
  float encode, factor;   /* factors of the tensor, if there are two levels */
  smma_operand_statistics *measured; /* statistics of each row; or NULL */
  unsigned char *memory;             /* `room` bytes for each thread */
  size_t room;
  int threads;
} work;

static size_t smaller(size_t x, size_t y) { return x < y ? x : y; }

/* Runs all tasks on threads, in the usual floating-point mode. Each task is called through a pointer, so that compilers
   cannot move its arithmetic out of that mode. */
static void run(const work *w, size_t tasks, void (*task)(const work *, size_t, void *)) {
#pragma omp parallel num_threads(w->threads) if (w->threads > 1)
  {
    const smma_float_state state = smma_float_enter(SMMA_MODE_NEAREST_EVEN);
    void *memory = w->memory + (size_t)smma_this_thread() * w->room;
#pragma omp for schedule(static)
    for (size_t i = 0; i < tasks; i++) task(w, i, memory);
    smma_float_leave(state);
  }
}

/* ---- Greatest magnitudes: NaN is greater than infinity ---- */

static void magnitudes_f32(const float *x, size_t rows, size_t pitch, size_t count, uint32_t *greatest) {
  memset(greatest, 0, count * sizeof *greatest);
  for (size_t row = 0; row < rows; row++)
    for (size_t i = 0; i < count; i++) {
      uint32_t bits;
      memcpy(&bits, x + row * pitch + i, sizeof bits);
      bits &= 0x7fffffff;
      greatest[i] = (int32_t)bits > (int32_t)greatest[i] ? bits : greatest[i];
    }
}

static void magnitudes_f64(const double *x, size_t rows, size_t pitch, size_t count, uint64_t *greatest) {
  memset(greatest, 0, count * sizeof *greatest);
  for (size_t row = 0; row < rows; row++)
    for (size_t i = 0; i < count; i++) {
      uint64_t bits;
      memcpy(&bits, x + row * pitch + i, sizeof bits);
      bits &= INT64_MAX;
      greatest[i] = bits > greatest[i] ? bits : greatest[i];
    }
}

static float greatest_f32(const uint32_t *bits, size_t count) {
  uint32_t greatest = 0;
  float x;
  for (size_t i = 0; i < count; i++) greatest = (int32_t)bits[i] > (int32_t)greatest ? bits[i] : greatest;
  memcpy(&x, &greatest, sizeof x);
  return x;
}

static double greatest_f64(const uint64_t *bits, size_t count) {
  uint64_t greatest = 0;
  double x;
  for (size_t i = 0; i < count; i++) greatest = bits[i] > greatest ? bits[i] : greatest;
  memcpy(&x, &greatest, sizeof x);
  return x;
}

/* Finds the greatest magnitudes of the blocks in one chunk of one strip. */
static void find_greatest(const work *w, size_t task, void *memory) {
  const size_t chunks = (w->inner + w->chunk - 1) / w->chunk, strip = task / chunks, first = task % chunks * w->chunk;
  const size_t top = strip % w->strips * w->block_outer, rows = smaller(w->block_outer, w->outer - top);
  const size_t at = (strip / w->strips * w->outer + top) * w->inner + first,
               count = smaller(w->chunk, w->inner - first);
  double *amax = w->amax + strip * w->blocks + first / w->block_inner;
  if (w->operand->f64)
    magnitudes_f64((const double *)w->operand->x + at, rows, w->inner, count, memory);
  else
    magnitudes_f32((const float *)w->operand->x + at, rows, w->inner, count, memory);
  for (size_t i = 0; i < count; i += w->block_inner) {
    const size_t n = smaller(w->block_inner, count - i);
    *amax++ = w->operand->f64 ? greatest_f64((uint64_t *)memory + i, n) : greatest_f32((uint32_t *)memory + i, n);
  }
}

static size_t count_blocks(const work *w) { return w->batch * w->strips * w->blocks; }

/* Returns the number of rows that have elements. */
static size_t count_rows(const work *w) { return w->inner ? w->batch * w->outer : 0; }

static double greatest_of_all(const work *w) {
  double greatest = 0;
  for (size_t i = 0; i < count_blocks(w); i++)
    if (isnan(w->amax[i]) || w->amax[i] > greatest) greatest = w->amax[i];
  return greatest;
}

/* ---- Factors ---- */

static double greatest_number(smma_format format) {
  return smma_format_decode(format,
                            smma_format_encode(format, INFINITY, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE));
}

/* Returns the least magnitude that rounds to a value that is not finite, without saturation. */
static double least_beyond(smma_format format) {
  const double max = greatest_number(format);
  if (smma_is_integer(format)) return max + 0.5;
  return max + (max - smma_format_decode(format, smma_format_encode(format, nextafter(max, 0), SMMA_ROUND_TOWARD_ZERO,
                                                                    SMMA_OVERFLOW_SATURATE))) /
                   2;
}

static float at_most(float x) { return x > FLT_MAX ? FLT_MAX : x; }

static float scale_of(float amax, double max, bool power_of_two) {
  float scale = amax > 0 && isfinite(amax) ? at_most((float)max / amax) : 1;
  uint32_t bits;
  memcpy(&bits, &scale, sizeof bits);
  if (power_of_two) bits &= 0xff800000;
  memcpy(&scale, &bits, sizeof scale);
  return scale;
}

float smma_operand_scale(float greatest, smma_format format, bool power_of_two) {
  return scale_of(greatest, greatest_number(format), power_of_two);
}

/* Returns the exponent of a UE8M0 factor; the least exponent for zeros. */
static int exponent_of(const work *w, double amax) {
  int exponent;
  double mantissa;
  if (!(amax > 0)) return -127;
  if (w->rule->round_up) { /* in the precision of the elements */
    const float part = (float)(1 / w->max);
    mantissa = frexp(w->operand->f64 ? amax * part : (float)amax * part, &exponent);
    if (mantissa == 0) return -127;
    exponent -= mantissa == 0.5;
  } else {
    exponent = ilogb(amax) - w->max_exponent;
  }
  return exponent < -127 ? -127 : exponent > 127 ? 127 : exponent;
}

/* Returns 2^exponent, for exponents from -127 to 127. */
static float power(int exponent) {
  const uint32_t bits = exponent == -127 ? (uint32_t)1 << 22 : (uint32_t)(exponent + 127) << 23;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static void find_powers(const work *w, size_t block) {
  if (isfinite(w->amax[block])) {
    const int exponent = exponent_of(w, w->amax[block]);
    w->element[block] = power(exponent), w->scale[block] = power(-exponent);
    w->code[block] = (unsigned char)(exponent + 127);
  } else {
    w->element[block] = w->scale[block] = NAN;
    w->code[block] = 255;
  }
}

/* Computes the second-level factors: the scaling before and after the rounding to UE4M3. UE4M3 rounds as E4M3 does
   for positive numbers. */
static void find_second_level(const work *w, size_t first, size_t count, float *wanted) {
  const float sixth = w->encode * (float)(1. / 6);
  for (size_t i = 0; i < count; i++) wanted[i] = (float)w->amax[first + i] * sixth;
  smma_convert(SMMA_F32, wanted, SMMA_E4M3, w->code + first, count, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT,
               NULL);
  for (size_t i = first; i < first + count; i++) {
    const float decode = w->factor_value[w->code[i]];
    w->element[i] = decode * w->factor;
    /* Without this test, elements whose factor is zero would saturate. */
    w->scale[i] = decode == 0 ? 0 : at_most(1 / (decode * (1 / w->encode)));
  }
}

static void find_factors(const work *w, size_t task, void *memory) {
  const size_t first = task * CHUNK, count = smaller(CHUNK, count_blocks(w) - first);
  if (w->rule->factor == SMMA_UE4M3) {
    find_second_level(w, first, count, memory);
    return;
  }
  for (size_t i = first; i < first + count; i++)
    if (w->rule->factor == SMMA_UE8M0) {
      find_powers(w, i);
    } else {
      w->scale[i] = w->rule->given ? w->rule->given : scale_of((float)w->amax[i], w->max, w->rule->power_of_two);
      w->element[i] = 1 / w->scale[i];
    }
}

/* Computes NVFP4's factor of the tensor. */
static void find_first_level(work *w) {
  const float six_times_448 = 6 * 448;
  const float greatest = w->rule->given ? w->rule->given * six_times_448 : (float)greatest_of_all(w);
  const bool regular = greatest > 0 && isfinite(greatest);
  for (unsigned i = 0; i < 128; i++) w->factor_value[i] = (float)smma_format_decode(SMMA_UE4M3, i);
  w->encode = regular ? at_most(six_times_448 / greatest) : 1;
  w->factor = regular ? greatest / six_times_448 : 1;
}

/* ---- Elements ---- */

/* Returns the block whose factor applies to an element, given its matrix, row and column. */
static size_t block_at(const work *w, size_t matrix, size_t row, size_t column) {
  return (matrix * w->strips + row / w->block_outer) * w->blocks + column / w->block_inner;
}

/* Multiplies x by the scale; a NaN keeps its bits. Has no branch, so that it vectorises. */
static inline float times_f32(float x, float scale) {
  const float product = x * scale;
  uint32_t bits, result, stays;
  memcpy(&bits, &x, sizeof bits);
  memcpy(&result, &product, sizeof result);
  stays = -(uint32_t)((bits & 0x7fffffff) > 0x7f800000);
  result = (bits & stays) | (result & ~stays);
  memcpy(&x, &result, sizeof x);
  return x;
}

static inline double times_f64(double x, double scale) { return isnan(x) ? x : x * scale; }

/* Multiplies elements by scales: each element by its own scale (`own`), or all elements by the first scale. */
static void multiply_f32(const float *x, const float *scale, bool own, size_t count, float *y) {
  const float common = *scale;
  if (own)
    for (size_t i = 0; i < count; i++) y[i] = times_f32(x[i], scale[i]);
  else
    for (size_t i = 0; i < count; i++) y[i] = times_f32(x[i], common);
}

static void multiply_f64(const double *x, const float *scale, bool own, size_t count, double *y) {
  for (size_t i = 0; i < count; i++) y[i] = times_f64(x[i], scale[own ? i : 0]);
}

/* Returns the elements of a row in the format of scaled elements: in place, or converted into y. */
static const void *numbers(const work *w, size_t at, void *y) {
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

/* Returns the row times its scales, in y or in place. */
static const void *scaled(const work *w, size_t row, void *y) {
  const void *x = numbers(w, row * w->inner, y);
  const float *scale = w->scale + block_at(w, row / w->outer, row % w->outer, 0);
  const bool own = w->block_inner == 1;
  const size_t each = own ? w->inner : w->block_inner;
  if (w->rule->factor == SMMA_NO_FORMAT) return x;
  for (size_t i = 0; i < w->inner; i += each, scale++) {
    const size_t count = smaller(each, w->inner - i);
    if (w->f64)
      multiply_f64((const double *)x + i, scale, own, count, (double *)y + i);
    else
      multiply_f32((const float *)x + i, scale, own, count, (float *)y + i);
  }
  return y;
}

static double number(const work *w, const void *y, size_t i) {
  return w->f64 ? ((const double *)y)[i] : (double)((const float *)y)[i];
}

/* The two neighbours of a number that lies between them. */
typedef struct {
  uint64_t low, high;
  double below, above;
} neighbours;

static neighbours neighbours_of(const work *w, double exact) {
  const uint64_t low = smma_format_encode(w->rule->format, exact, SMMA_ROUND_DOWN, SMMA_OVERFLOW_DEFAULT);
  const uint64_t high = smma_format_encode(w->rule->format, exact, SMMA_ROUND_UP, SMMA_OVERFLOW_DEFAULT);
  return (neighbours){low, high, smma_format_decode(w->rule->format, low), smma_format_decode(w->rule->format, high)};
}

/* Returns the neighbours of a number whose nearest encoding is known, in a sign-magnitude format: the other
   neighbour has an adjacent magnitude. A number that the format holds exactly, or that is out of range, has no
   neighbours. */
static neighbours neighbours_by_nearest(const work *w, double exact, uint64_t nearest) {
  const double value = w->value[nearest];
  const bool between = value != exact && fabs(exact) < w->max;
  const uint64_t other = !between ? nearest : fabs(value) < fabs(exact) ? nearest + 1 : nearest - 1;
  return value < exact ? (neighbours){nearest, other, value, w->value[other]}
                       : (neighbours){other, nearest, w->value[other], value};
}

static void round_to_nearest(const work *w, const void *y, void *values) {
  smma_convert(w->f64 ? SMMA_F64 : SMMA_F32, y, w->rule->format, values, w->inner,
               w->rule->random ? SMMA_ROUND_NEAREST_EVEN : w->rule->rounding, SMMA_OVERFLOW_DEFAULT, NULL);
}

/* Rounds each element to one of its two neighbours, by the random number at the element's place in its line. */
static void round_randomly(const work *w, size_t row, const void *y, unsigned char *values) {
  const size_t outer = w->operand->outer, matrix = row / outer * outer * w->inner, r = row % outer;
  if (w->narrow) round_to_nearest(w, y, values);
  for (size_t i = 0; i < w->inner; i++) {
    const double exact = number(w, y, i);
    const neighbours n = w->narrow ? neighbours_by_nearest(w, exact, values[i]) : neighbours_of(w, exact);
    const double random = w->rule->random[matrix + (w->operand->k_inner ? r * w->inner + i : i * outer + r)];
    smma_store(w->bytes, values, i, random * (n.above - n.below) < exact - n.below ? n.high : n.low);
  }
}

static void round_row(const work *w, size_t row, const void *y, void *values) {
  if (w->rule->random)
    round_randomly(w, row, y, values);
  else
    round_to_nearest(w, y, values);
}

/* Returns an element's value times its factor. */
static double value_at(const work *w, size_t row, const unsigned char *values, size_t i) {
  const double value = smma_format_decode(w->rule->format, smma_load(w->bytes, values, i));
  if (w->rule->factor == SMMA_NO_FORMAT) return value;
  return value * w->element[block_at(w, row / w->outer, row % w->outer, i)];
}

/* Multiplies the values by their factors: in FP32, except if factors are powers of two. */
static void compute_row(const work *w, size_t row, const unsigned char *values, void *computed) {
  const size_t bytes = smma_bytes_of(w->rule->compute);
  for (size_t i = 0; i < w->inner; i++) {
    const double value = value_at(w, row, values, i);
    smma_store(bytes, computed, i,
               smma_format_encode(w->rule->compute, w->rule->factor == SMMA_UE8M0 ? value : (float)value,
                                  SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT));
  }
}

/* Adds one element to the statistics: `x` before scaling, `y` after scaling, and `became` after the conversion. */
static void measure(const work *w, double x, double y, double became, smma_operand_statistics *s) {
  s->zeros += became == 0 && x != 0;
  s->saturated += fabs(y) >= w->beyond;
  s->infinite += isinf(became) != 0;
  s->nan += isnan(became) != 0;
  if (!isfinite(x) || !isfinite(became)) return;
  s->error += (became - x) * (became - x);
  s->norm += x * x;
}

static void measure_row(const work *w, size_t row, const void *y, const unsigned char *values, const void *computed) {
  for (size_t i = 0; i < w->inner; i++) {
    const size_t at = row * w->inner + i;
    const double x = w->operand->f64 ? ((const double *)w->operand->x)[at] : ((const float *)w->operand->x)[at];
    measure(w, x, number(w, y, i),
            computed ? smma_format_decode(w->rule->compute, smma_load(smma_bytes_of(w->rule->compute), computed, i))
                     : value_at(w, row, values, i),
            &w->measured[row]);
  }
}

/* Converts one row. The thread's memory holds the scaled row and the products of values and factors. */
static void make_row(const work *w, size_t row, void *memory) {
  const bool computes = w->rule->compute != SMMA_NO_FORMAT;
  const size_t bytes = computes ? smma_bytes_of(w->rule->compute) : w->bytes;
  unsigned char *result = (unsigned char *)w->operand->values + row * w->inner * bytes;
  unsigned char *values = computes ? (unsigned char *)memory + w->inner * sizeof(double) : result;
  const void *y = scaled(w, row, memory);
  round_row(w, row, y, values);
  if (computes) compute_row(w, row, values, result);
  if (w->measured) measure_row(w, row, y, values, computes ? result : NULL);
}

#ifdef __x86_64__
__attribute__((target("avx2"), flatten)) static void make_row_in_avx2(const work *w, size_t row, void *memory) {
  make_row(w, row, memory);
}

__attribute__((target("avx2"), flatten)) static void find_greatest_in_avx2(const work *w, size_t task, void *memory) {
  find_greatest(w, task, memory);
}

static bool has_avx2(void) { return smma_cpu_has(SMMA_CPU_AVX2); }
#else
#define make_row_in_avx2 make_row
#define find_greatest_in_avx2 find_greatest
static bool has_avx2(void) { return false; }
#endif

/* ---- Results ---- */

/* Stores the scale factors of all blocks of a line. */
static void give_scales(const work *w, size_t line, void *memory) {
  const bool along = w->operand->k_inner;
  const size_t lines = along ? w->outer : w->inner, blocks = along ? w->blocks : w->strips;
  const size_t first = block_at(w, line / lines, along ? line % lines : 0, along ? 0 : line % lines);
  (void)memory;
  for (size_t i = 0; i < blocks; i++) {
    const size_t block = first + i * (along ? 1 : w->blocks);
    if (w->rule->factor == SMMA_F32)
      ((float *)w->operand->scales)[line * blocks + i] = w->element[block];
    else
      ((unsigned char *)w->operand->scales)[line * blocks + i] = w->code[block];
  }
}

static void add_statistics(const work *w) {
  smma_operand_statistics *sum = &w->operand->statistics;
  for (size_t row = 0; row < count_rows(w); row++) {
    const smma_operand_statistics *s = &w->measured[row];
    sum->zeros += s->zeros, sum->saturated += s->saturated, sum->infinite += s->infinite, sum->nan += s->nan;
    sum->error += s->error, sum->norm += s->norm;
  }
}

/* Divides each matrix into blocks that share a factor. If the whole tensor shares one factor, the blocks are rows until
   become_one_block merges them. */
static void divide(work *w) {
  const smma_operand *o = w->operand;
  const smma_operand_rule *rule = w->rule;
  const size_t k = o->k_inner ? o->inner : o->outer, columns = rule->columns ? rule->columns : k + !k;
  const bool whole = !rule->rows;
  w->block_outer = whole ? 1 : o->k_inner ? rule->rows : columns;
  w->block_inner = whole ? o->inner + !o->inner : o->k_inner ? columns : rule->rows;
  w->strips = (o->outer + w->block_outer - 1) / w->block_outer;
  w->blocks = (o->inner + w->block_inner - 1) / w->block_inner;
  if (!rule->columns) *(o->k_inner ? &w->blocks : &w->strips) += !k; /* K = 0 still has one factor */
  w->chunk = w->block_inner < CHUNK ? CHUNK / w->block_inner * w->block_inner : w->block_inner;
}

/* Merges all blocks into one, for a single factor of the tensor. */
static void become_one_block(work *w) {
  w->amax[0] = greatest_of_all(w);
  w->batch = w->strips = w->blocks = 1;
  w->outer *= w->operand->batch;
  w->block_outer = w->outer + !w->outer, w->block_inner = w->inner + !w->inner;
}

static void find_all_factors(work *w) {
  run(w, w->batch * w->strips * ((w->inner + w->chunk - 1) / w->chunk),
      has_avx2() ? find_greatest_in_avx2 : find_greatest);
  if (!w->rule->rows) become_one_block(w);
  w->operand->greatest = (float)w->amax[0];
  if (w->rule->factor == SMMA_UE4M3) find_first_level(w);
  run(w, (count_blocks(w) + CHUNK - 1) / CHUNK, find_factors);
}

static void give_factors(work *w) {
  const smma_operand *o = w->operand;
  if (o->scales && count_blocks(w)) run(w, w->batch * (o->k_inner ? w->outer : w->inner), give_scales);
  if (!o->factor) return;
  if (w->rule->factor == SMMA_UE4M3)
    *o->factor = w->factor;
  else
    memcpy(o->factor, w->element, count_blocks(w) * sizeof *o->factor);
}

static void make(work *w) {
  if (w->rule->factor != SMMA_NO_FORMAT) {
    find_all_factors(w);
    give_factors(w);
  }
  run(w, count_rows(w), has_avx2() ? make_row_in_avx2 : make_row);
  if (w->measured) add_statistics(w);
}

static bool allocate(work *w) {
  const size_t blocks = count_blocks(w) + 1, rows = count_rows(w) + 1;
  const size_t most = w->inner > w->chunk ? w->inner : w->chunk;
  w->room = 2 * sizeof(double) * (most + CHUNK);
  w->memory = malloc(w->room * (size_t)w->threads);
  w->amax = calloc(blocks, sizeof *w->amax);
  w->scale = malloc(blocks * sizeof *w->scale);
  w->element = malloc(blocks * sizeof *w->element);
  w->code = malloc(blocks);
  if (w->operand->measure) w->measured = calloc(rows, sizeof *w->measured);
  return w->memory && w->amax && w->scale && w->element && w->code && !w->operand->measure == !w->measured;
}

static void release(work *w) {
  free(w->memory);
  free(w->amax);
  free(w->scale);
  free(w->element);
  free(w->code);
  free(w->measured);
}

static int threads_for(const smma_operand *o) {
  return o->batch * o->outer * o->inner < PARALLEL ? 1 : smma_threads(o->threads);
}

smma_status smma_make_operand(const smma_operand_rule *rule, smma_operand *operand) {
  /* Volatile, because the call must stay between smma_float_enter and smma_float_leave. */
  void (*volatile make_in_mode)(work *) = make;
  const smma_encoding f = smma_encoding_of(rule->format);
  work w = {.rule = rule, .operand = operand, .batch = operand->batch, .outer = operand->outer};
  smma_status status = SMMA_NO_MEMORY;
  w.inner = operand->inner, w.bytes = smma_container_bytes(f), w.threads = threads_for(operand);
  w.f64 = rule->factor == SMMA_UE8M0 ? operand->f64 || rule->random || rule->format == SMMA_UE8M0
                                     : rule->factor == SMMA_NO_FORMAT && operand->f64;
  w.max = greatest_number(rule->format), w.max_exponent = ilogb(w.max);
  w.beyond = f.bits <= 8 ? least_beyond(rule->format) : (double)NAN;
  w.narrow = f.bits <= 8 && f.sign_bits && f.exponent_bits && !smma_has_nan_for_negative_zero(f);
  for (unsigned i = 0; w.narrow && rule->random && i < 256; i++) w.value[i] = smma_format_decode(rule->format, i);
  operand->statistics = (smma_operand_statistics){0};
  divide(&w);
  if (allocate(&w)) {
    const smma_float_state state = smma_float_enter(SMMA_MODE_NEAREST_EVEN);
    make_in_mode(&w);
    smma_float_leave(state);
    status = SMMA_OK;
  }
  release(&w);
  return status;
}

/* ---- Hadamard transform ---- */

void smma_hadamard(const float *x, size_t lines, size_t k, const double signs[16], float *y) {
  const size_t blocks = (k + 15) / 16;
  for (size_t i = 0; i < lines * blocks; i++) {
    const size_t first = i % blocks * 16;
    double z[16];
    for (size_t j = 0; j < 16; j++) z[j] = (first + j < k ? x[i / blocks * k + first + j] : 0.) * signs[j];
    for (size_t half = 8; half; half /= 2)
      for (size_t j = 0; j < 16; j++)
        if (!(j & half)) {
          const double sum = z[j] + z[j + half], difference = z[j] - z[j + half];
          z[j] = sum, z[j + half] = difference;
        }
    for (size_t j = 0; j < 16; j++) y[i * 16 + j] = (float)(z[j] / 4);
  }
}
