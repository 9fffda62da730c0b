/* NVFP4's factors in two levels: FP32 for the tensor or for each line, UE4M3 for each block. */
#include <float.h>
#include <math.h>

#include "core/format.h"
#include "numerics/operand_work.h"

/* Returns the index of the FP32 factor of a block: the block's line if each line has its own factor, otherwise 0. */
static size_t line_of(const smma_operand_work *w, size_t block) {
  const size_t matrix = block / w->blocks / w->strips;
  if (!w->rule->line_factors) return 0;
  return w->operand->k_inner ? block / w->blocks : matrix * w->inner + block % w->blocks;
}

size_t smma_count_first_levels(const smma_operand_work *w) {
  return w->rule->line_factors ? w->batch * (w->operand->k_inner ? w->outer : w->inner) : 1;
}

/* Returns the UE4M3 factor that a block with the tensor's greatest magnitude gets. */
static float greatest_block_factor(smma_scale_formula formula) {
  return formula == SMMA_FORMULA_TE_4OVER6 || formula == SMMA_FORMULA_TE_4OVER6_MSE ? 256 : 448;
}

static float at_most(float x) { return x > FLT_MAX ? FLT_MAX : x; }

/* Returns the first-level factors of a tensor or of a line with this greatest magnitude. */
static smma_first_level first_level_of(const smma_operand_work *w, float amax) {
  const float most = 6 * greatest_block_factor(w->rule->formula), given = w->rule->given;
  smma_first_level first = {given ? given * most : amax, 1, 1};
  if (w->rule->formula == SMMA_FORMULA_COMPRESSED_TENSORS) {
    const float least = w->rule->tensor == SMMA_F16 ? 0x1p-14f : FLT_MIN;
    /* PyTorch divides a number by a tensor as the number times the reciprocal. */
    first.encode = smma_rounded_to(w->rule->tensor, 1 / (first.amax < least ? least : first.amax));
    first.encode = smma_rounded_to(w->rule->tensor, most * first.encode);
    if (!isfinite(first.encode)) first.encode = 1;
    first.factor = 1 / first.encode;
  } else if (!smma_ignores_nan(w->rule->formula)) {
    first.factor = first.amax / most;
  } else if (first.amax > 0) {
    if (isfinite(first.amax)) first.encode = at_most(most / first.amax);
    first.factor = first.amax / most;
  }
  if (given) first.factor = given;
  return first;
}

void smma_find_first_level(smma_operand_work *w) {
  for (unsigned i = 0; i < 128; i++) w->factor_value[i] = (float)smma_format_decode(SMMA_UE4M3, i);
  for (size_t i = 0; i < smma_count_blocks(w); i++) {
    smma_first_level *first = &w->first[line_of(w, i)];
    first->amax = (float)smma_greater_magnitude(w, first->amax, w->amax[i]);
  }
  for (size_t i = 0; i < smma_count_first_levels(w); i++) w->first[i] = first_level_of(w, w->first[i].amax);
}

static float limited(float x, float least, float most) { return x < least ? least : x > most ? most : x; }

/* Returns a block's factor before it is rounded to UE4M3. */
static float ideal_factor(const smma_operand_work *w, float amax, smma_first_level first) {
  float ideal;
  switch (w->rule->formula) {
    case SMMA_FORMULA_TORCHAO: return limited(amax / 6 / first.factor, 0x1p-6f, 448);
    case SMMA_FORMULA_COMPRESSED_TENSORS:
      return limited(first.encode * smma_rounded_to(w->rule->tensor, amax / 6), -448, 448);
    case SMMA_FORMULA_MODELOPT: ideal = amax / (6 * first.factor); return limited(ideal == 0 ? 1 : ideal, 0x1p-9f, 448);
    default: return amax * (first.encode * (float)(1. / 6));
  }
}

/* Rounds factors to UE4M3: as to E4M3, without the sign that a NaN may have. */
static void encode_factors(const float *ideal, size_t count, unsigned char *codes) {
  smma_convert(SMMA_F32, ideal, SMMA_E4M3, codes, count, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT, NULL);
  for (size_t i = 0; i < count; i++) codes[i] &= 127;
}

/* Sets w->scale or w->element of a block: the numbers that its elements are multiplied by (or divided by) before, and
   multiplied by after rounding. */
static void set_second_level(const smma_operand_work *w, size_t block, smma_first_level first) {
  float decode = w->factor_value[w->code[block]];
  w->element[block] = decode * first.factor;
  if (w->rule->formula == SMMA_FORMULA_COMPRESSED_TENSORS) {
    if (decode == 0) { /* compressed-tensors replaces a factor of zero by 1/8 */
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

/* Returns the error of one line of a block: the sum of the absolute or squared errors of its elements, in their order,
   in FP32. The elements are multiplied by `scale` and rounded; `decode` is the block's factor. */
static float error_of_line(const smma_operand_work *w, const float x[16], float decode, float scale, float amax) {
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

/* Copies one line of a block into x, padded with zeros. */
static void copy_line(const smma_operand_work *w, size_t block, size_t line, float x[16]) {
  const bool along = w->operand->k_inner;
  const size_t strip = block / w->blocks, top = strip % w->strips * w->block_outer;
  const size_t left = block % w->blocks * w->block_inner, matrix = strip / w->strips;
  for (size_t i = 0; i < 16; i++) {
    const size_t row = top + (along ? line : i), column = left + (along ? i : line);
    x[i] = row < w->outer && column < w->inner
               ? (float)smma_element_at(w, (matrix * w->outer + row) * w->inner + column)
               : 0;
  }
}

/* Returns the error of a block: adds the errors of its lines pairwise, as a kernel adds the values of a warp's
   threads. */
static float error_of_block(const smma_operand_work *w, size_t block, float decode, float scale, float amax) {
  float errors[16] = {0}, x[16];
  for (size_t line = 0; line < w->rule->rows; line++) {
    copy_line(w, block, line, x);
    errors[line] = error_of_line(w, x, decode, scale, amax);
  }
  for (size_t half = w->rule->rows / 2; half; half /= 2)
    for (size_t i = 0; i < half; i++) errors[i] += errors[i + half];
  return errors[0];
}

/* Sets the block's factor to the one of two with the smaller error: they map its greatest magnitude to 4 and to 6. */
static void find_four_or_six(const smma_operand_work *w, size_t block) {
  const smma_first_level first = w->first[line_of(w, block)];
  const float base = (float)w->amax[block] / 6 * first.encode;
  const float ideal[2] = {limited(base * 1.5f, 0, 448), limited(base, 0, 448)};
  unsigned char codes[2];
  float errors[2];
  encode_factors(ideal, 2, codes);
  for (int i = 0; i < 2; i++) {
    w->code[block] = codes[i];
    set_second_level(w, block, first);
    errors[i] = error_of_block(w, block, w->factor_value[codes[i]], w->scale[block], first.amax);
  }
  if (!(errors[0] < errors[1])) return; /* the factor that maps the greatest element to 6 is already set */
  w->code[block] = codes[0];
  set_second_level(w, block, first);
}

void smma_find_second_level(const smma_operand_work *w, size_t first, size_t count, float *ideal) {
  if (w->rule->formula >= SMMA_FORMULA_TE_4OVER6) {
    for (size_t i = first; i < first + count; i++) find_four_or_six(w, i);
    return;
  }
  for (size_t i = 0; i < count; i++)
    ideal[i] = ideal_factor(w, (float)w->amax[first + i], w->first[line_of(w, first + i)]);
  encode_factors(ideal, count, w->code + first);
  for (size_t i = first; i < first + count; i++) set_second_level(w, i, w->first[line_of(w, i)]);
}
