/* Scale factors of an operand: greatest magnitudes of blocks, and the formulas of libraries (docs/recipes.md). */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/format.h"
#include "core/range.h"
#include "host/bits.h"
#include "host/cpu.h"
#include "numerics/operand_work.h"

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

/* clang-format off */
static const smma_number_formula
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

static const smma_number_formula *number_formula_of(smma_scale_formula formula, bool integers) {
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

/* ---- Greatest magnitudes. A NaN counts as greater than infinity or, if `no_nan`, as zero ---- */

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
  for (size_t i = 0; i < count; i++) greatest = (int32_t)bits[i] > (int32_t)greatest ? bits[i] : greatest;
  return smma_f32_of_bits(greatest);
}

static double greatest_f64(const uint64_t *bits, size_t count) {
  uint64_t greatest = 0;
  for (size_t i = 0; i < count; i++) greatest = bits[i] > greatest ? bits[i] : greatest;
  return smma_f64_of_bits(greatest);
}

/* Finds the greatest magnitudes of the blocks in one chunk (w->chunk columns) of one strip (a row of blocks). */
static void find_greatest(const smma_operand_work *w, size_t task, void *memory) {
  const size_t chunks = (w->inner + w->chunk - 1) / w->chunk, strip = task / chunks, first = task % chunks * w->chunk;
  const size_t top = strip % w->strips * w->block_outer, rows = smma_smaller(w->block_outer, w->outer - top);
  const size_t at = (strip / w->strips * w->outer + top) * w->inner + first,
               count = smma_smaller(w->chunk, w->inner - first);
  const bool no_nan = smma_ignores_nan(w->rule->formula) && !w->rule->keeps_nan;
  double *amax = w->amax + strip * w->blocks + first / w->block_inner;
  if (w->operand->f64)
    magnitudes_f64((const double *)w->operand->x + at, rows, w->inner, count, no_nan, memory);
  else
    magnitudes_f32((const float *)w->operand->x + at, rows, w->inner, count, no_nan, memory);
  for (size_t i = 0; i < count; i += w->block_inner) {
    const size_t n = smma_smaller(w->block_inner, count - i);
    *amax++ = w->operand->f64 ? greatest_f64((uint64_t *)memory + i, n) : greatest_f32((uint32_t *)memory + i, n);
  }
}

double smma_greater_magnitude(const smma_operand_work *w, double x, double y) {
  if (isnan(y) && smma_ignores_nan(w->rule->formula)) return x;
  return isnan(y) || y > x ? y : x;
}

static double greatest_of_all(const smma_operand_work *w) {
  double greatest = 0;
  for (size_t i = 0; i < smma_count_blocks(w); i++) greatest = smma_greater_magnitude(w, greatest, w->amax[i]);
  return greatest;
}

/* Finds the range of a block: its least and its greatest number, extended to include zero. Both are NaN if a number is
   NaN. */
static void find_range(const smma_operand_work *w, size_t block, void *memory) {
  const size_t strip = block / w->blocks, top = strip % w->strips * w->block_outer;
  const size_t left = block % w->blocks * w->block_inner, right = smma_smaller(left + w->block_inner, w->inner);
  const size_t bottom = smma_smaller(top + w->block_outer, w->outer), first = strip / w->strips * w->outer;
  double least = 0, greatest = 0;
  (void)memory;
  for (size_t row = first + top; row < first + bottom; row++)
    for (size_t i = left; i < right; i++) {
      const double x = smma_element_at(w, row * w->inner + i);
      if (isnan(x) || x < least) least = x;
      if (isnan(x) || x > greatest) greatest = x;
    }
  w->least[block] = least, w->amax[block] = greatest;
}

/* ---- Factors ---- */

static double greatest_number(smma_format format) {
  return smma_format_decode(format, smma_greatest_of(smma_encoding_of(format)));
}

static double least_number(smma_format format) {
  return smma_format_decode(format,
                            smma_format_encode(format, -INFINITY, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE));
}

/* Returns the least magnitude that would not round to a finite value without saturation. */
static double least_beyond(smma_format format) {
  const double max = greatest_number(format);
  if (smma_is_integer(format)) return max + 0.5;
  return max + (max - smma_format_decode(format, smma_format_encode(format, nextafter(max, 0), SMMA_ROUND_TOWARD_ZERO,
                                                                    SMMA_OVERFLOW_SATURATE))) /
                   2;
}

/* Returns the greatest power of two that is not above x. Returns zero, infinity and NaN unchanged. */
static float power_below(float x) { return isnan(x) ? x : smma_f32_of_bits(smma_bits_of_f32(x) & 0xff800000); }

/* Returns the least power of two that is not below x, a normal number or infinity. */
static float power_above(float x) { return power_below(x) == x ? x : 2 * power_below(x); }

/* Returns two to the power of floor(log2 x), as torchao computes it: log2 is rounded to FP32, so that a number just
   below a power of two gives that power. Returns zero, infinity and NaN unchanged. */
static float power_by_log2(float x) {
  return isfinite(x) && x > 0 ? ldexpf(1, (int)floorf((float)log2((double)x))) : x;
}

/* Returns Transformer Engine's scale, max / amax. `most` replaces infinity. */
static float scale_of(float amax, double max, bool power_of_two, float most) {
  float scale = amax > 0 && isfinite(amax) ? (float)max / amax : 1;
  if (isinf(scale)) scale = most;
  return power_of_two ? power_below(scale) : scale;
}

float smma_operand_scale(float greatest, smma_format format, bool power_of_two) {
  return scale_of(greatest, greatest_number(format), power_of_two, FLT_MAX);
}

/* Returns the scale that replaces infinity: for blocks of a BF16 tensor, Transformer Engine takes BF16's greatest
   number. */
static float greatest_scale(const smma_operand_work *w) {
  const bool blocks = w->rule->rows && w->rule->columns;
  return blocks && w->rule->tensor == SMMA_BF16 ? (float)greatest_number(SMMA_BF16) : FLT_MAX;
}

/* Computes scale and factor of a block, the scale first. */
static void find_number_scale(const smma_operand_work *w, size_t block) {
  const float amax = (float)w->amax[block];
  float scale;
  if (w->rule->given) {
    scale = w->rule->given;
  } else if (w->number == &OF_TORCHAO) { /* computed in FP64, as max times the reciprocal of amax */
    scale = (float)(w->max * (1 / (amax < w->number->least_amax ? w->number->least_amax : amax)));
    if (w->rule->power_of_two) scale = power_by_log2(scale);
  } else {
    scale = scale_of(amax, w->max, w->rule->power_of_two, greatest_scale(w));
  }
  w->scale[block] = scale, w->element[block] = 1 / scale;
}

/* Returns the index of the tensor's format in smma_number_formula's `below` and `becomes`. */
static int column_of(smma_format tensor) { return tensor == SMMA_BF16 ? 1 : tensor == SMMA_F16 ? 2 : 0; }

static float away_from_zero(const smma_operand_work *w, float factor) {
  const int column = column_of(w->rule->tensor);
  return factor < w->number->below[column] ? w->number->becomes[column] : factor;
}

/* Returns the integer that represents zero in a block with this least element and factor. */
static float zero_point(const smma_operand_work *w, float least, float factor) {
  const smma_format format = w->number->native_factor ? w->rule->tensor : SMMA_F32;
  const float steps = smma_rounded_to(format, least / factor);
  const float zero = rintf(smma_rounded_to(format, (float)w->min - (smma_rounds_first(w) ? rintf(steps) : steps)));
  if (isnan(zero)) return 0;
  return zero < (float)w->min ? (float)w->min : zero > (float)w->max ? (float)w->max : zero;
}

/* Computes factor and scale of a block, the factor first. */
static void find_number_factor(const smma_operand_work *w, size_t block) {
  const smma_format format = w->number->native_factor ? w->rule->tensor : SMMA_F32;
  const float least_amax = (float)w->number->least_amax, parts = (float)(w->max - w->min) / (w->zero ? 1 : 2);
  float amax = (float)w->amax[block], factor;
  if (w->zero) amax = smma_rounded_to(format, amax - (float)w->least[block]);
  if (amax < least_amax) amax = least_amax;
  factor = smma_rounded_to(format, w->number->by_xla ? amax * (1 / parts) : amax / parts);
  if (w->rule->power_of_two) {
    const bool limits = w->rule->formula == SMMA_FORMULA_DEEPGEMM && !isfinite(factor);
    factor = limits ? 0x1p127f : power_above(factor);
  }
  w->element[block] = away_from_zero(w, factor);
  if (w->rule->formula != SMMA_FORMULA_COMPRESSED_TENSORS) factor = w->element[block];
  if (w->zero) w->zero[block] = zero_point(w, (float)w->least[block], factor);
  w->scale[block] = smma_rounded_to(w->number->by_xla ? SMMA_F32 : w->arithmetic, 1 / w->element[block]);
}

/* Returns ceil(log2(amax / max)): -127 if the quotient is zero, 127 if it is infinite. */
static int exponent_of_quotient(const smma_operand_work *w, double amax) {
  const float part = (float)(1 / w->max);
  int exponent;
  double quotient = w->operand->f64 ? amax * part : (float)amax * part; /* rounded in the precision of the elements */
  if (w->rule->formula == SMMA_FORMULA_TORCHAO) quotient = (float)amax / (float)w->max;
  if (quotient == 0) return -127;
  if (isinf(quotient)) return 127;
  return frexp(quotient, &exponent) == 0.5 ? exponent - 1 : exponent;
}

/* Returns 1 if amax, rounded by SMMA_SCALE_CEIL or SMMA_SCALE_EVEN, reaches the next power of two; otherwise 0. */
static int reaches_next_power(const smma_operand_work *w, double amax) {
  /* compressed-tensors rounds to E2M1 for elements of E4M3, too. */
  const bool narrow = w->rule->formula == SMMA_FORMULA_COMPRESSED_TENSORS && w->rule->format == SMMA_E4M3;
  /* The greatest number of a fixed-point format has one bit less than a significand of its fraction bits. */
  const int bits = narrow ? 1 : smma_encoding_of(w->rule->format).fraction_bits - smma_is_fixed_point(w->rule->format);
  const double significand = ldexp(amax, -ilogb(amax));
  return w->rule->scale_rounding == SMMA_SCALE_CEIL ? significand > 1 : significand >= 2 - ldexp(1, -bits - 1);
}

/* Returns the exponent of a UE8M0 factor of a block with this amax; the least exponent if amax is zero or NaN. */
static int exponent_of(const smma_operand_work *w, double amax) {
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
  return smma_f32_of_bits(exponent == -127 ? (uint32_t)1 << 22 : (uint32_t)(exponent + 127) << 23);
}

/* Returns the number by which torchao multiplies elements with the factor 2^exponent. For the least factor, 2^-127, it
   multiplies by 2^126, or by 1 with SMMA_SCALE_RCEIL. */
static float scale_of_torchao(const smma_operand_work *w, int exponent) {
  if (exponent > -127) return power(-exponent);
  return w->rule->scale_rounding == SMMA_SCALE_RCEIL ? 1 : power(126);
}

static void find_powers(const smma_operand_work *w, size_t block) {
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

static void find_chunk_of_factors(const smma_operand_work *w, size_t task, void *memory) {
  const size_t first = task * SMMA_OPERAND_CHUNK,
               count = smma_smaller(SMMA_OPERAND_CHUNK, smma_count_blocks(w) - first);
  if (w->rule->factor == SMMA_UE4M3) {
    smma_find_second_level(w, first, count, memory);
    return;
  }
  for (size_t i = first; i < first + count; i++)
    if (w->rule->factor == SMMA_UE8M0)
      find_powers(w, i);
    else if (w->number->factor_first)
      find_number_factor(w, i);
    else
      find_number_scale(w, i);
}

/* ---- Steps of the conversion ---- */

void smma_find_arithmetic(smma_operand_work *w) {
  const smma_operand_rule *rule = w->rule;
  w->max = greatest_number(rule->format), w->max_exponent = ilogb(w->max);
  w->min = smma_is_fixed_point(rule->format) ? least_number(rule->format) : -w->max;
  w->beyond = smma_encoding_of(rule->format).bits <= 8 ? least_beyond(rule->format) : (double)NAN;
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

#ifdef __x86_64__
__attribute__((target("avx2"), flatten)) static void find_greatest_in_avx2(const smma_operand_work *w, size_t task,
                                                                           void *memory) {
  find_greatest(w, task, memory);
}

static void (*greatest_finder(void))(const smma_operand_work *, size_t, void *) {
  return smma_cpu_has(SMMA_CPU_AVX2) ? find_greatest_in_avx2 : find_greatest;
}
#else
static void (*greatest_finder(void))(const smma_operand_work *, size_t, void *) { return find_greatest; }
#endif

void smma_divide_operand(smma_operand_work *w) {
  const smma_operand *o = w->operand;
  const smma_operand_rule *rule = w->rule;
  const size_t k = o->k_inner ? o->inner : o->outer, columns = rule->columns ? rule->columns : k + !k;
  const bool whole = !rule->rows;
  w->block_outer = whole ? 1 : o->k_inner ? rule->rows : columns;
  w->block_inner = whole ? o->inner + !o->inner : o->k_inner ? columns : rule->rows;
  w->strips = (o->outer + w->block_outer - 1) / w->block_outer;
  w->blocks = (o->inner + w->block_inner - 1) / w->block_inner;
  if (!rule->columns) *(o->k_inner ? &w->blocks : &w->strips) += !k; /* K = 0 still has one factor */
  w->chunk =
      w->block_inner < SMMA_OPERAND_CHUNK ? SMMA_OPERAND_CHUNK / w->block_inner * w->block_inner : w->block_inner;
}

/* Merges all blocks into one, because the whole tensor shares one factor. */
static void become_one_block(smma_operand_work *w) {
  w->amax[0] = greatest_of_all(w);
  for (size_t i = 1; w->least && i < smma_count_blocks(w); i++)
    w->least[0] = isnan(w->least[i]) || w->least[i] < w->least[0] ? w->least[i] : w->least[0];
  w->batch = w->strips = w->blocks = 1;
  w->outer *= w->operand->batch;
  w->block_outer = w->outer + !w->outer, w->block_inner = w->inner + !w->inner;
}

void smma_find_block_factors(smma_operand_work *w) {
  if (w->least)
    smma_run_tasks(w, smma_count_blocks(w), find_range);
  else
    smma_run_tasks(w, w->batch * w->strips * ((w->inner + w->chunk - 1) / w->chunk), greatest_finder());
  if (!w->rule->rows) become_one_block(w);
  w->operand->greatest = (float)w->amax[0];
  if (w->rule->factor == SMMA_UE4M3) smma_find_first_level(w);
  smma_run_tasks(w, (smma_count_blocks(w) + SMMA_OPERAND_CHUNK - 1) / SMMA_OPERAND_CHUNK, find_chunk_of_factors);
}

/* Stores the scale factors and zero points of all blocks of a line. */
static void give_scales(const smma_operand_work *w, size_t line, void *memory) {
  const bool along = w->operand->k_inner;
  const size_t lines = along ? w->outer : w->inner, blocks = along ? w->blocks : w->strips;
  const size_t first = smma_block_at(w, line / lines, along ? line % lines : 0, along ? 0 : line % lines);
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

void smma_give_factors(smma_operand_work *w) {
  const smma_operand *o = w->operand;
  if (!w->rule->rows && o->zero_points)
    *o->zero_points = (int32_t)*w->zero;
  else if ((o->scales || o->zero_points) && smma_count_blocks(w))
    smma_run_tasks(w, w->batch * (o->k_inner ? w->outer : w->inner), give_scales);
  if (!o->factor) return;
  if (w->rule->factor == SMMA_UE4M3)
    for (size_t i = 0; i < smma_count_first_levels(w); i++) o->factor[i] = w->first[i].factor;
  else
    memcpy(o->factor, w->element, smma_count_blocks(w) * sizeof *o->factor);
}
