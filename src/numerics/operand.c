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

const char *const smma_scale_formulas[] = {"te",
                                           "ocp",
                                           "torchao",
                                           "torchao_intx",
                                           "torchao_float8",
                                           "deepgemm",
                                           "deepseek",
                                           "compressed_tensors",
                                           "qwix",
                                           "modelopt",
                                           "te_4over6",
                                           "te_4over6_mse",
                                           "te_4over6_448",
                                           "te_4over6_mse_448",
                                           NULL};
const char *const smma_scale_roundings[] = {"floor", "ceil", "even", "rceil", NULL};

/* NVFP4's greatest magnitude of a tensor or a line, and the factors that scale and that restore elements. */
typedef struct {
  float amax, encode, factor;
} first_level;

/* How a library computes FP32 factors from the greatest magnitude. */
typedef struct {
  bool factor_first;    /* factor = amax / max, scale = 1 / factor; otherwise scale = max / amax, factor = 1 / scale */
  bool by_xla;          /* divisions by max and by the factor are products with reciprocals in FP32 */
  bool divides;         /* elements are divided by the factor; otherwise multiplied by the scale */
  bool native_factor;   /* the factor is computed in the tensor's format */
  bool native_elements; /* so are the elements */
  double least_amax;    /* a smaller amax becomes this number */
  float below[3], becomes[3]; /* a factor below `below` becomes `becomes`: for tensors in FP32, BF16, and FP16 */
} number_formula;

/* clang-format off */
static const number_formula
  OF_TE = {.least_amax = 0},
  OF_TORCHAO = {.least_amax = 1e-12},
  OF_TORCHAO_INTEGERS = {.factor_first = true, .native_factor = true,
                         .below = {0x1p-23f, 0x1p-23f, 0x1p-23f}, .becomes = {0x1p-23f, 0x1p-23f, 0x1p-23f}},
  OF_TORCHAO_INTX = {.factor_first = true, .native_factor = true, .native_elements = true,
                     .below = {0x1p-126f, 0x1p-126f, 0x1p-14f}, .becomes = {0x1p-126f, 0x1p-126f, 0x1p-14f}},
  OF_TORCHAO_FLOAT8 = {.factor_first = true, .divides = true, .native_factor = true},
  OF_DEEPGEMM = {.factor_first = true, .least_amax = 1e-4f},
  OF_DEEPSEEK = {.factor_first = true, .divides = true, .least_amax = 1e-4f},
  OF_COMPRESSED_TENSORS = {.factor_first = true, .divides = true, .native_factor = true, .native_elements = true,
                           .below = {0x1p-149f, 0x1p-149f, 0x1p-149f}, .becomes = {0x1p-23f, 0x1p-7f, 0x1p-10f}},
  OF_QWIX = {.factor_first = true, .by_xla = true, .native_factor = true, .native_elements = true,
             .below = {0x1p-63f, 0x1p-63f, 0x1p-7f}, .becomes = {1, 1, 1}};
/* clang-format on */

static const number_formula *number_formula_of(smma_scale_formula formula, bool integers) {
  switch (formula) {
    case SMMA_FORMULA_TORCHAO: return integers ? &OF_TORCHAO_INTEGERS : &OF_TORCHAO;
    case SMMA_FORMULA_TORCHAO_INTX: return &OF_TORCHAO_INTX;
    case SMMA_FORMULA_TORCHAO_FLOAT8: return &OF_TORCHAO_FLOAT8;
    case SMMA_FORMULA_DEEPGEMM: return &OF_DEEPGEMM;
    case SMMA_FORMULA_DEEPSEEK: return &OF_DEEPSEEK;
    case SMMA_FORMULA_COMPRESSED_TENSORS: return &OF_COMPRESSED_TENSORS;
    case SMMA_FORMULA_QWIX: return &OF_QWIX;
    default: return &OF_TE;
  }
}

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
  double min;                      /* the least number */
  bool narrow;                     /* an encoding is one byte, sign and magnitude; `value` is filled in */
  double value[256];               /* value of each encoding */
  float factor_value[128];         /* value of each encoding of UE4M3, if factors have that format */
  double *amax;                    /* greatest magnitude of each block; with zero points, its greatest number or 0 */
  double *least;                   /* with zero points: each block's least number or 0 */
  float *scale, *element; /* for each block: the multiplier before rounding, and the factor that restores the values */
  float *zero;            /* with zero points: that of each block */
  unsigned char *code;    /* for each block: the factor as UE8M0 or UE4M3 */
  first_level *first;     /* of the tensor, or of each line, if there are two levels */
  const number_formula *number;      /* how FP32 factors follow */
  bool makes_zeros_positive;         /* -0 becomes 0 */
  bool divides;                      /* elements are divided by `element`; otherwise multiplied by `scale` */
  smma_format arithmetic;            /* results of operations on elements are rounded to this format */
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

/* Reports whether amax ignores NaN, as Transformer Engine's kernels do. */
static bool ignores_nan(smma_scale_formula formula) {
  return formula == SMMA_FORMULA_TE || formula >= SMMA_FORMULA_TE_4OVER6;
}

/* ---- Greatest magnitudes: NaN is greater than infinity, or counts as zero ---- */

static void magnitudes_f32(const float *x, size_t rows, size_t pitch, size_t count, bool no_nan, uint32_t *greatest) {
  const uint32_t most = no_nan ? 0x7f800000 : INT32_MAX;
  memset(greatest, 0, count * sizeof *greatest);
  for (size_t row = 0; row < rows; row++)
    for (size_t i = 0; i < count; i++) {
      uint32_t bits;
      memcpy(&bits, x + row * pitch + i, sizeof bits);
      bits &= 0x7fffffff;
      bits = (int32_t)bits > (int32_t)most ? 0 : bits;
      greatest[i] = (int32_t)bits > (int32_t)greatest[i] ? bits : greatest[i];
    }
}

static void magnitudes_f64(const double *x, size_t rows, size_t pitch, size_t count, bool no_nan, uint64_t *greatest) {
  const uint64_t most = no_nan ? UINT64_C(0x7ff0000000000000) : INT64_MAX;
  memset(greatest, 0, count * sizeof *greatest);
  for (size_t row = 0; row < rows; row++)
    for (size_t i = 0; i < count; i++) {
      uint64_t bits;
      memcpy(&bits, x + row * pitch + i, sizeof bits);
      bits &= INT64_MAX;
      bits = bits > most ? 0 : bits;
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
  const bool no_nan = ignores_nan(w->rule->formula) && !w->rule->keeps_nan;
  double *amax = w->amax + strip * w->blocks + first / w->block_inner;
  if (w->operand->f64)
    magnitudes_f64((const double *)w->operand->x + at, rows, w->inner, count, no_nan, memory);
  else
    magnitudes_f32((const float *)w->operand->x + at, rows, w->inner, count, no_nan, memory);
  for (size_t i = 0; i < count; i += w->block_inner) {
    const size_t n = smaller(w->block_inner, count - i);
    *amax++ = w->operand->f64 ? greatest_f64((uint64_t *)memory + i, n) : greatest_f32((uint32_t *)memory + i, n);
  }
}

static size_t count_blocks(const work *w) { return w->batch * w->strips * w->blocks; }

/* Returns the number of rows that have elements. */
static size_t count_rows(const work *w) { return w->inner ? w->batch * w->outer : 0; }

/* Returns the greater magnitude; NaN if one is NaN, unless the formula ignores NaN. */
static double greater(const work *w, double x, double y) {
  if (isnan(y) && ignores_nan(w->rule->formula)) return x;
  return isnan(y) || y > x ? y : x;
}

static double greatest_of_all(const work *w) {
  double greatest = 0;
  for (size_t i = 0; i < count_blocks(w); i++) greatest = greater(w, greatest, w->amax[i]);
  return greatest;
}

static double element_at(const work *w, size_t i) {
  return w->operand->f64 ? ((const double *)w->operand->x)[i] : ((const float *)w->operand->x)[i];
}

/* Finds the least and the greatest number of a block, each of them at least as far as zero; NaN if a number is NaN. */
static void find_range(const work *w, size_t block, void *memory) {
  const size_t strip = block / w->blocks, top = strip % w->strips * w->block_outer;
  const size_t left = block % w->blocks * w->block_inner, right = smaller(left + w->block_inner, w->inner);
  const size_t bottom = smaller(top + w->block_outer, w->outer), first = strip / w->strips * w->outer;
  double least = 0, greatest = 0;
  (void)memory;
  for (size_t row = first + top; row < first + bottom; row++)
    for (size_t i = left; i < right; i++) {
      const double x = element_at(w, row * w->inner + i);
      if (isnan(x) || x < least) least = x;
      if (isnan(x) || x > greatest) greatest = x;
    }
  w->least[block] = least, w->amax[block] = greatest;
}

/* ---- Factors ---- */

static double greatest_number(smma_format format) {
  return smma_format_decode(format,
                            smma_format_encode(format, INFINITY, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE));
}

static double least_number(smma_format format) {
  return smma_format_decode(format,
                            smma_format_encode(format, -INFINITY, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE));
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

static float rounded_to(smma_format format, float x) {
  if (format != SMMA_BF16 && format != SMMA_F16) return x;
  return (float)smma_format_decode(format,
                                   smma_format_encode(format, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT));
}

/* Returns the greatest power of two that is not above x; zero, infinity and NaN stay. */
static float power_below(float x) {
  uint32_t bits;
  if (isnan(x)) return x;
  memcpy(&bits, &x, sizeof bits);
  bits &= 0xff800000;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Returns the least power of two that is not below x, a normal number or infinity. */
static float power_above(float x) { return power_below(x) == x ? x : 2 * power_below(x); }

/* Returns two to the logarithm in FP32, rounded down. A number just below a power of two gives that power. */
static float power_by_log2(float x) {
  return isfinite(x) && x > 0 ? ldexpf(1, (int)floorf((float)log2((double)x))) : x;
}

/* Transformer Engine's scale. `most` replaces infinity. */
static float scale_of(float amax, double max, bool power_of_two, float most) {
  float scale = amax > 0 && isfinite(amax) ? (float)max / amax : 1;
  if (isinf(scale)) scale = most;
  return power_of_two ? power_below(scale) : scale;
}

float smma_operand_scale(float greatest, smma_format format, bool power_of_two) {
  return scale_of(greatest, greatest_number(format), power_of_two, FLT_MAX);
}

/* Returns the greatest scale: Transformer Engine's for blocks is the greatest number of the tensor's format. */
static float greatest_scale(const work *w) {
  const bool blocks = w->rule->rows && w->rule->columns;
  return blocks && w->rule->tensor == SMMA_BF16 ? (float)greatest_number(SMMA_BF16) : FLT_MAX;
}

/* Computes scale and factor of a block, the scale first. */
static void find_number_scale(const work *w, size_t block) {
  const float amax = (float)w->amax[block];
  float scale;
  if (w->rule->given) {
    scale = w->rule->given;
  } else if (w->number == &OF_TORCHAO) { /* in FP64, max times the reciprocal */
    scale = (float)(w->max * (1 / (amax < w->number->least_amax ? w->number->least_amax : amax)));
    if (w->rule->power_of_two) scale = power_by_log2(scale);
  } else {
    scale = scale_of(amax, w->max, w->rule->power_of_two, greatest_scale(w));
  }
  w->scale[block] = scale, w->element[block] = 1 / scale;
}

/* Returns which number of `below` and `becomes` applies to the tensor. */
static int column_of(smma_format tensor) { return tensor == SMMA_BF16 ? 1 : tensor == SMMA_F16 ? 2 : 0; }

static float away_from_zero(const work *w, float factor) {
  const int column = column_of(w->rule->tensor);
  return factor < w->number->below[column] ? w->number->becomes[column] : factor;
}

/* Reports whether numbers are rounded to integers before the zero point is added or computed, as in torchao. */
static bool rounds_first(const work *w) {
  return w->rule->formula == SMMA_FORMULA_TORCHAO || w->rule->formula == SMMA_FORMULA_TORCHAO_INTX;
}

/* Returns the number that represents zero, for a block with this factor. */
static float zero_point(const work *w, float least, float factor) {
  const smma_format format = w->number->native_factor ? w->rule->tensor : SMMA_F32;
  const float steps = rounded_to(format, least / factor);
  const float zero = rintf(rounded_to(format, (float)w->min - (rounds_first(w) ? rintf(steps) : steps)));
  if (isnan(zero)) return 0;
  return zero < (float)w->min ? (float)w->min : zero > (float)w->max ? (float)w->max : zero;
}

/* Computes factor and scale of a block, the factor first. */
static void find_number_factor(const work *w, size_t block) {
  const smma_format format = w->number->native_factor ? w->rule->tensor : SMMA_F32;
  const float least_amax = (float)w->number->least_amax, parts = (float)(w->max - w->min) / (w->zero ? 1 : 2);
  float amax = (float)w->amax[block], factor;
  if (w->zero) amax = rounded_to(format, amax - (float)w->least[block]);
  if (amax < least_amax) amax = least_amax;
  factor = rounded_to(format, w->number->by_xla ? amax * (1 / parts) : amax / parts);
  if (w->rule->power_of_two) {
    const bool limits = w->rule->formula == SMMA_FORMULA_DEEPGEMM && !isfinite(factor);
    factor = limits ? 0x1p127f : power_above(factor);
  }
  w->element[block] = away_from_zero(w, factor);
  if (w->rule->formula != SMMA_FORMULA_COMPRESSED_TENSORS) factor = w->element[block];
  if (w->zero) w->zero[block] = zero_point(w, (float)w->least[block], factor);
  w->scale[block] = rounded_to(w->number->by_xla ? SMMA_F32 : w->arithmetic, 1 / w->element[block]);
}

/* Returns the exponent of amax / max, rounded up. Infinity stays greater than all exponents. */
static int exponent_of_quotient(const work *w, double amax) {
  const float part = (float)(1 / w->max);
  int exponent;
  double quotient = w->operand->f64 ? amax * part : (float)amax * part; /* in the precision of the elements */
  if (w->rule->formula == SMMA_FORMULA_TORCHAO) quotient = (float)amax / (float)w->max;
  if (quotient == 0) return -127;
  if (isinf(quotient)) return 127;
  return frexp(quotient, &exponent) == 0.5 ? exponent - 1 : exponent;
}

/* Returns 1 if amax, after it is rounded as the rule says, reaches the next power of two; otherwise 0. */
static int reaches_next_power(const work *w, double amax) {
  /* compressed-tensors rounds to E2M1 for elements of E4M3, too. */
  const bool narrow = w->rule->formula == SMMA_FORMULA_COMPRESSED_TENSORS && w->rule->format == SMMA_E4M3;
  const int bits = narrow ? 1 : smma_encoding_of(w->rule->format).fraction_bits;
  const double significand = ldexp(amax, -ilogb(amax));
  return w->rule->scale_rounding == SMMA_SCALE_CEIL ? significand > 1 : significand >= 2 - ldexp(1, -bits - 1);
}

/* Returns the exponent of a UE8M0 factor; the least exponent for zeros. */
static int exponent_of(const work *w, double amax) {
  int exponent;
  if (!(amax > 0)) return -127;
  if (w->rule->scale_rounding == SMMA_SCALE_RCEIL) {
    exponent = exponent_of_quotient(w, amax);
  } else if (isinf(amax)) {
    exponent = 128 - w->max_exponent;
  } else {
    exponent = ilogb(amax) - w->max_exponent;
    if (w->rule->scale_rounding != SMMA_SCALE_FLOOR) exponent += reaches_next_power(w, amax);
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

/* Returns what torchao multiplies elements by: its least divisor is 2^-126; RCEIL leaves elements of the least factor
   alone. */
static float scale_of_torchao(const work *w, int exponent) {
  if (exponent > -127) return power(-exponent);
  return w->rule->scale_rounding == SMMA_SCALE_RCEIL ? 1 : power(126);
}

static void find_powers(const work *w, size_t block) {
  const bool torchao = w->rule->formula == SMMA_FORMULA_TORCHAO;
  const double amax = w->amax[block];
  if (isfinite(amax) || (isinf(amax) && (torchao || w->rule->formula == SMMA_FORMULA_TE))) {
    const int exponent = exponent_of(w, amax);
    w->element[block] = power(exponent);
    w->scale[block] = torchao ? scale_of_torchao(w, exponent) : power(-exponent);
    w->code[block] = (unsigned char)(exponent + 127);
  } else {
    w->element[block] = NAN;
    w->scale[block] = torchao && w->rule->scale_rounding != SMMA_SCALE_RCEIL ? 0 : NAN;
    w->code[block] = 255;
  }
}

/* ---- Two levels: NVFP4 ---- */

/* Returns the line of a block, if each line has a factor of its own; otherwise 0. */
static size_t line_of(const work *w, size_t block) {
  const size_t matrix = block / w->blocks / w->strips;
  if (!w->rule->line_factors) return 0;
  return w->operand->k_inner ? block / w->blocks : matrix * w->inner + block % w->blocks;
}

static size_t count_lines(const work *w) {
  return w->rule->line_factors ? w->batch * (w->operand->k_inner ? w->outer : w->inner) : 1;
}

/* Returns the greatest UE4M3 factor that the tensor's factor allows for. */
static float greatest_block_factor(smma_scale_formula formula) {
  return formula == SMMA_FORMULA_TE_4OVER6 || formula == SMMA_FORMULA_TE_4OVER6_MSE ? 256 : 448;
}

/* Computes the factors of a tensor or of a line with this greatest magnitude. */
static first_level first_level_of(const work *w, float amax) {
  const float most = 6 * greatest_block_factor(w->rule->formula), given = w->rule->given;
  first_level first = {given ? given * most : amax, 1, 1};
  if (w->rule->formula == SMMA_FORMULA_COMPRESSED_TENSORS) {
    const float least = w->rule->tensor == SMMA_F16 ? 0x1p-14f : FLT_MIN;
    /* PyTorch divides a number by a tensor as the number times the reciprocal. */
    first.encode = rounded_to(w->rule->tensor, 1 / (first.amax < least ? least : first.amax));
    first.encode = rounded_to(w->rule->tensor, most * first.encode);
    if (!isfinite(first.encode)) first.encode = 1;
    first.factor = 1 / first.encode;
  } else if (!ignores_nan(w->rule->formula)) {
    first.factor = first.amax / most;
  } else if (first.amax > 0) {
    if (isfinite(first.amax)) first.encode = at_most(most / first.amax);
    first.factor = first.amax / most;
  }
  if (given) first.factor = given;
  return first;
}

static void find_first_level(work *w) {
  for (unsigned i = 0; i < 128; i++) w->factor_value[i] = (float)smma_format_decode(SMMA_UE4M3, i);
  for (size_t i = 0; i < count_blocks(w); i++) {
    first_level *first = &w->first[line_of(w, i)];
    first->amax = (float)greater(w, first->amax, w->amax[i]);
  }
  for (size_t i = 0; i < count_lines(w); i++) w->first[i] = first_level_of(w, w->first[i].amax);
}

static float limited(float x, float least, float most) { return x < least ? least : x > most ? most : x; }

/* Returns a block's factor before it is rounded to UE4M3. */
static float wanted_factor(const work *w, float amax, first_level first) {
  float wanted;
  switch (w->rule->formula) {
    case SMMA_FORMULA_TORCHAO: return limited(amax / 6 / first.factor, 0x1p-6f, 448);
    case SMMA_FORMULA_COMPRESSED_TENSORS:
      return limited(first.encode * rounded_to(w->rule->tensor, amax / 6), -448, 448);
    case SMMA_FORMULA_MODELOPT:
      wanted = amax / (6 * first.factor);
      return limited(wanted == 0 ? 1 : wanted, 0x1p-9f, 448);
    default: return amax * (first.encode * (float)(1. / 6));
  }
}

/* Rounds factors to UE4M3: as to E4M3, without the sign that a NaN may have. */
static void encode_factors(const float *wanted, size_t count, unsigned char *codes) {
  smma_convert(SMMA_F32, wanted, SMMA_E4M3, codes, count, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT, NULL);
  for (size_t i = 0; i < count; i++) codes[i] &= 127;
}

/* Sets the numbers that a block's elements are multiplied by, before and after rounding. */
static void set_second_level(const work *w, size_t block, first_level first) {
  float decode = w->factor_value[w->code[block]];
  w->element[block] = decode * first.factor;
  if (w->rule->formula == SMMA_FORMULA_COMPRESSED_TENSORS) {
    if (decode == 0) { /* an eighth */
      decode = 0.125f;
      encode_factors(&decode, 1, w->code + block);
    }
    w->element[block] = decode / first.encode;
  } else if (w->rule->formula == SMMA_FORMULA_TORCHAO) {
    w->scale[block] = 1 / first.factor / decode;
  } else {
    w->scale[block] = at_most(1 / (decode * (1 / first.encode)));
  }
}

static void find_second_level(const work *w, size_t first, size_t count, float *wanted) {
  for (size_t i = 0; i < count; i++)
    wanted[i] = wanted_factor(w, (float)w->amax[first + i], w->first[line_of(w, first + i)]);
  encode_factors(wanted, count, w->code + first);
  for (size_t i = first; i < first + count; i++) set_second_level(w, i, w->first[line_of(w, i)]);
}

/* Returns the error of one line of a block with this factor, summed in FP32 in the order of the elements. */
static float error_of_line(const work *w, const float x[16], float decode, float scale, float amax) {
  const bool squares =
      w->rule->formula == SMMA_FORMULA_TE_4OVER6_MSE || w->rule->formula == SMMA_FORMULA_TE_4OVER6_MSE_448;
  float scaled[16], sum = 0;
  unsigned char codes[16];
  for (int i = 0; i < 16; i++) scaled[i] = x[i] * scale;
  smma_convert(SMMA_F32, scaled, SMMA_E2M1, codes, 16, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT, NULL);
  for (int i = 0; i < 16; i++) {
    const float value = (float)smma_format_decode(SMMA_E2M1, codes[i]);
    const float error = value * decode * amax / (6 * greatest_block_factor(w->rule->formula)) - x[i];
    sum += squares ? error * error : fabsf(error);
  }
  return sum;
}

/* Copies one line of a block, padded with zeros. */
static void copy_line(const work *w, size_t block, size_t line, float x[16]) {
  const bool along = w->operand->k_inner;
  const size_t strip = block / w->blocks, top = strip % w->strips * w->block_outer;
  const size_t left = block % w->blocks * w->block_inner, matrix = strip / w->strips;
  for (size_t i = 0; i < 16; i++) {
    const size_t row = top + (along ? line : i), column = left + (along ? i : line);
    x[i] =
        row < w->outer && column < w->inner ? (float)element_at(w, (matrix * w->outer + row) * w->inner + column) : 0;
  }
}

/* Returns the error of a block: lines are summed pairwise, as lanes of a warp are. */
static float error_of_block(const work *w, size_t block, float decode, float scale, float amax) {
  float errors[16] = {0}, x[16];
  for (size_t line = 0; line < w->rule->rows; line++) {
    copy_line(w, block, line, x);
    errors[line] = error_of_line(w, x, decode, scale, amax);
  }
  for (size_t half = w->rule->rows / 2; half; half /= 2)
    for (size_t i = 0; i < half; i++) errors[i] += errors[i + half];
  return errors[0];
}

/* Chooses between the factors that map a block's greatest magnitude to 4 and to 6. */
static void find_four_or_six(const work *w, size_t block) {
  const first_level first = w->first[line_of(w, block)];
  const float base = (float)w->amax[block] / 6 * first.encode;
  const float wanted[2] = {limited(base * 1.5f, 0, 448), limited(base, 0, 448)};
  unsigned char codes[2];
  float errors[2];
  encode_factors(wanted, 2, codes);
  for (int i = 0; i < 2; i++) {
    w->code[block] = codes[i];
    set_second_level(w, block, first);
    errors[i] = error_of_block(w, block, w->factor_value[codes[i]], w->scale[block], first.amax);
  }
  if (!(errors[0] < errors[1])) return; /* the factor for 6 is set */
  w->code[block] = codes[0];
  set_second_level(w, block, first);
}

static void find_factors(const work *w, size_t task, void *memory) {
  const size_t first = task * CHUNK, count = smaller(CHUNK, count_blocks(w) - first);
  if (w->rule->factor == SMMA_UE4M3 && w->rule->formula < SMMA_FORMULA_TE_4OVER6) {
    find_second_level(w, first, count, memory);
    return;
  }
  for (size_t i = first; i < first + count; i++)
    if (w->rule->factor == SMMA_UE8M0)
      find_powers(w, i);
    else if (w->rule->factor == SMMA_UE4M3)
      find_four_or_six(w, i);
    else if (w->number->factor_first)
      find_number_factor(w, i);
    else
      find_number_scale(w, i);
}

/* ---- Elements ---- */

/* Returns the block whose factor applies to an element, given its matrix, row and column. */
static size_t block_at(const work *w, size_t matrix, size_t row, size_t column) {
  return (matrix * w->strips + row / w->block_outer) * w->blocks + column / w->block_inner;
}

/* Returns x, with its bits, if it is a NaN, otherwise the result. Has no branch, so that it vectorises. */
static inline float unless_nan(float x, float result) {
  uint32_t bits, chosen, stays;
  memcpy(&bits, &x, sizeof bits);
  memcpy(&chosen, &result, sizeof chosen);
  stays = -(uint32_t)((bits & 0x7fffffff) > 0x7f800000);
  chosen = (bits & stays) | (chosen & ~stays);
  memcpy(&x, &chosen, sizeof x);
  return x;
}

static inline double times_f64(double x, double scale) { return isnan(x) ? x : x * scale; }

/* Multiplies elements by scales: each element by its own scale (`own`), or all elements by the first scale. */
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

/* Returns an element times its scale, plus the zero point; results of both operations are rounded. */
static float shifted(const work *w, float x, size_t block) {
  const float y = rounded_to(w->arithmetic, w->divides ? x / w->element[block] : x * w->scale[block]);
  if (!w->zero) return unless_nan(x, y);
  return rounds_first(w) ? rintf(y) + w->zero[block] : rounded_to(w->arithmetic, y + w->zero[block]);
}

/* Returns the row times its scales, in y or in place. */
static const void *scaled(const work *w, size_t row, void *y) {
  const void *x = numbers(w, row * w->inner, y);
  const size_t first = block_at(w, row / w->outer, row % w->outer, 0);
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
    const size_t count = smaller(each, w->inner - i);
    if (w->f64)
      multiply_f64((const double *)x + i, scale, own, count, (double *)y + i);
    else if (w->divides)
      divide_f32((const float *)x + i, scale, own, count, (float *)y + i);
    else
      multiply_f32((const float *)x + i, scale, own, count, (float *)y + i);
  }
  return y;
}

/* Turns -0 into 0, as compressed-tensors and ModelOpt do in FP4. Quotients of compressed-tensors by UE8M0 factors have
   the tensor's format. */
static void make_zeros_positive(const work *w, void *y) {
  const smma_format format = w->rule->factor == SMMA_UE8M0 ? w->rule->tensor : SMMA_F32;
  for (size_t i = 0; i < w->inner; i++) {
    if (w->f64)
      ((double *)y)[i] += 0;
    else
      ((float *)y)[i] = rounded_to(format, ((float *)y)[i]) + 0;
  }
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
  const uint64_t low = smma_format_encode(w->rule->format, exact, SMMA_ROUND_DOWN, w->rule->overflow);
  const uint64_t high = smma_format_encode(w->rule->format, exact, SMMA_ROUND_UP, w->rule->overflow);
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
               w->rule->random ? SMMA_ROUND_NEAREST_EVEN : w->rule->rounding, w->rule->overflow, NULL);
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

/* Returns an element's value, less the zero point, times its factor. */
static double value_at(const work *w, size_t row, const unsigned char *values, size_t i) {
  const double value = smma_format_decode(w->rule->format, smma_load(w->bytes, values, i));
  const size_t block = block_at(w, row / w->outer, row % w->outer, i);
  if (w->rule->factor == SMMA_NO_FORMAT) return value;
  return (value - (w->zero ? w->zero[block] : 0)) * w->element[block];
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
  s->saturated += fabs(y) >= w->beyond && isfinite(became) && became != 0; /* 0: by a factor of 0 */
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
  if (w->makes_zeros_positive) make_zeros_positive(w, memory);
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

/* Stores the scale factors and zero points of all blocks of a line. */
static void give_scales(const work *w, size_t line, void *memory) {
  const bool along = w->operand->k_inner;
  const size_t lines = along ? w->outer : w->inner, blocks = along ? w->blocks : w->strips;
  const size_t first = block_at(w, line / lines, along ? line % lines : 0, along ? 0 : line % lines);
  (void)memory;
  for (size_t i = 0; i < blocks; i++) {
    const size_t block = first + i * (along ? 1 : w->blocks);
    if (w->operand->zero_points) w->operand->zero_points[line * blocks + i] = (int32_t)w->zero[block];
    if (!w->operand->scales) continue;
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
  for (size_t i = 1; w->least && i < count_blocks(w); i++)
    w->least[0] = isnan(w->least[i]) || w->least[i] < w->least[0] ? w->least[i] : w->least[0];
  w->batch = w->strips = w->blocks = 1;
  w->outer *= w->operand->batch;
  w->block_outer = w->outer + !w->outer, w->block_inner = w->inner + !w->inner;
}

static void find_all_factors(work *w) {
  if (w->least)
    run(w, count_blocks(w), find_range);
  else
    run(w, w->batch * w->strips * ((w->inner + w->chunk - 1) / w->chunk),
        has_avx2() ? find_greatest_in_avx2 : find_greatest);
  if (!w->rule->rows) become_one_block(w);
  w->operand->greatest = (float)w->amax[0];
  if (w->rule->factor == SMMA_UE4M3) find_first_level(w);
  run(w, (count_blocks(w) + CHUNK - 1) / CHUNK, find_factors);
}

static void give_factors(work *w) {
  const smma_operand *o = w->operand;
  if (!w->rule->rows && o->zero_points)
    *o->zero_points = (int32_t)*w->zero;
  else if ((o->scales || o->zero_points) && count_blocks(w))
    run(w, w->batch * (o->k_inner ? w->outer : w->inner), give_scales);
  if (!o->factor) return;
  if (w->rule->factor == SMMA_UE4M3)
    for (size_t i = 0; i < count_lines(w); i++) o->factor[i] = w->first[i].factor;
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
  w->first = calloc(count_lines(w) + 1, sizeof *w->first);
  if (w->rule->zero_points) w->least = calloc(blocks, sizeof *w->least), w->zero = calloc(blocks, sizeof *w->zero);
  if (w->operand->measure) w->measured = calloc(rows, sizeof *w->measured);
  return w->memory && w->amax && w->scale && w->element && w->code && w->first &&
         !w->operand->measure == !w->measured && (!w->rule->zero_points || (w->least && w->zero));
}

static void release(work *w) {
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

/* Determines how elements are scaled. */
static void find_arithmetic(work *w) {
  const smma_operand_rule *rule = w->rule;
  w->number = number_formula_of(rule->formula, smma_is_integer(rule->format));
  w->arithmetic = SMMA_F32;
  w->makes_zeros_positive =
      rule->format == SMMA_E2M1 && rule->factor != SMMA_F32 &&
      (rule->formula == SMMA_FORMULA_COMPRESSED_TENSORS || rule->formula == SMMA_FORMULA_MODELOPT);
  if (rule->factor == SMMA_UE4M3)
    w->divides = rule->formula == SMMA_FORMULA_MODELOPT || rule->formula == SMMA_FORMULA_COMPRESSED_TENSORS;
  if (rule->factor != SMMA_F32) return;
  w->divides = w->number->divides;
  if (w->number->native_elements && (rule->tensor == SMMA_BF16 || rule->tensor == SMMA_F16))
    w->arithmetic = rule->tensor;
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
  w.min = smma_is_integer(rule->format) ? least_number(rule->format) : -w.max;
  find_arithmetic(&w);
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

/* Transforms one block of 16 numbers. */
static void transform(double z[16]) {
  for (size_t half = 8; half; half /= 2)
    for (size_t j = 0; j < 16; j++)
      if (!(j & half)) {
        const double sum = z[j] + z[j + half], difference = z[j] - z[j + half];
        z[j] = sum, z[j + half] = difference;
      }
  for (size_t j = 0; j < 16; j++) z[j] /= 4;
}

/* Rounds a number to BF16, stored as FP32: first to odd in FP32, so that the second rounding is the only one that
   counts. Has no branch, so that it vectorises. */
static inline float in_bf16(double x) {
  const float nearest = (float)x;
  uint32_t bits, nan;
  float y;
  memcpy(&bits, &nearest, sizeof bits);
  nan = (bits | 0x400000) & 0xffff0000;
  bits -= fabs((double)nearest) > fabs(x);
  bits |= (double)nearest != x;
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  bits = x != x ? nan : bits;
  memcpy(&y, &bits, sizeof y);
  return y;
}

/* Rounds FP64 numbers to FP32, or to BF16 that is stored as FP32. */
static void round_transformed(const double *z, size_t count, smma_format format, float *y) {
  if (format == SMMA_F32)
    for (size_t i = 0; i < count; i++) y[i] = (float)z[i];
  else
    for (size_t i = 0; i < count; i++) y[i] = in_bf16(z[i]);
}

void smma_hadamard(const float *x, size_t lines, size_t k, const double signs[16], smma_format format, float *y) {
  const size_t blocks = (k + 15) / 16, all = lines * blocks;
  double z[CHUNK];
  for (size_t start = 0; start < all; start += CHUNK / 16) {
    const size_t count = smaller(CHUNK / 16, all - start);
    for (size_t i = 0; i < count; i++) {
      const size_t first = (start + i) % blocks * 16, line = (start + i) / blocks;
      for (size_t j = 0; j < 16; j++) z[i * 16 + j] = (first + j < k ? x[line * k + first + j] : 0.) * signs[j];
      transform(z + i * 16);
    }
    round_transformed(z, count * 16, format, y + start * 16);
  }
}
