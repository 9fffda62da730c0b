/* The loops over the elements of a row have a form that compilers vectorise. */
#include "gemm/row.h"

#include <math.h>

#include "core/range.h"
#include "gemm/element.h"
#include "host/cpu.h"
#include "host/load.h"

/* Number of elements that are converted at a time. */
enum { PART = 64 };

/* ---- Conversions ---- */

/* Returns x if `first`, else y, without a branch, which would prevent vectorisation. */
static inline uint32_t either(bool first, uint32_t x, uint32_t y) {
  const uint32_t mask = -(uint32_t)first;
  return (x & mask) | (y & ~mask);
}

/* How a unit treats encodings whose exponent field is all ones. */
typedef struct {
  bool numbers; /* whether they are numbers; then results that are too large become the greatest number */
  uint32_t nan; /* otherwise: the encoding, in the target format, that every NaN becomes */
} specials;

/* Converts binary32 to FP16, to nearest even. */
static inline uint32_t half_of(uint32_t x, specials s) {
  const uint32_t exact = 112u << 23, infinity = 0x7c00, half = 126u << 23;
  const int32_t magnitude = (int32_t)(x & INT32_MAX);
  const uint32_t bits = (uint32_t)magnitude, normal = (bits - exact + 0xfff + (bits >> 13 & 1)) >> 13;
  uint32_t subnormal, result;
  float value;
  memcpy(&value, &bits, sizeof value);
  value += 0.5f; /* the last bit of the sum has the weight of FP16's least subnormal */
  memcpy(&subnormal, &value, sizeof value);
  if (s.numbers)
    result = either(magnitude < (144 << 23) - 0x1000, normal, 0x7fff);
  else
    result = either(magnitude < 143 << 23, normal, infinity);
  result = either(magnitude < 113 << 23, subnormal - half, result) | (x >> 16 & 0x8000);
  return either(!s.numbers & (magnitude > 255 << 23), s.nan, result);
}

/* Converts BF16 to binary32. */
static inline uint32_t float_of_bfloat(uint32_t x, specials s) {
  return either(!s.numbers & ((x & 0x7fff) > 0x7f80), s.nan, x << 16);
}

/* Converts binary32 to BF16, to nearest even. */
static inline uint32_t bfloat_of(uint32_t x, specials s) {
  const int32_t magnitude = (int32_t)(x & INT32_MAX);
  const uint32_t rounded = (x + 0x7fff + (x >> 16 & 1)) >> 16;
  if (s.numbers) return either(magnitude < 0x7fff8000, rounded, 0x7fff | (x >> 16 & 0x8000));
  return either(magnitude > 255 << 23, s.nan, rounded);
}

/* Converts FP16 to binary32. */
static inline uint32_t float_of(uint32_t x, specials s) {
  const int32_t magnitude = (int32_t)(x & 0x7fff);
  const uint32_t bits = (uint32_t)magnitude, half_and = 126u << 23 | bits;
  const uint32_t normal = (bits << 13) + (112u << 23), special = (bits << 13) + (224u << 23);
  uint32_t subnormal, result;
  float value;
  memcpy(&value, &half_and, sizeof value);
  value -= 0.5f;
  memcpy(&subnormal, &value, sizeof value);
  result = either(s.numbers | (magnitude < 0x7c00), normal, special);
  result = either(magnitude < 0x400, subnormal, result) | (x & 0x8000) << 16;
  return either(!s.numbers & (magnitude > 0x7c00), s.nan, result);
}

static inline __attribute__((always_inline)) void convert_as(bool to_half, specials s, const void *restrict x,
                                                             size_t count, void *restrict y) {
  if (to_half)
    for (size_t i = 0; i < count; i++) smma_store(2, y, i, half_of((uint32_t)smma_load(4, x, i), s));
  else
    for (size_t i = 0; i < count; i++) smma_store(4, y, i, float_of((uint32_t)smma_load(2, x, i), s));
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void convert_in_avx2(bool to_half, specials s, const void *x, size_t count,
                                                            void *y) {
  convert_as(to_half, s, x, count, y);
}
#endif

/* Converts binary32 to FP16, or the reverse. */
static void convert_half(bool to_half, specials s, const void *x, size_t count, void *y) {
#ifdef __x86_64__
  if (smma_cpu_has(SMMA_CPU_AVX2)) {
    convert_in_avx2(to_half, s, x, count, y);
    return;
  }
#endif
  convert_as(to_half, s, x, count, y);
}

/* Converts `count` encodings as smma_reformat does. Common pairs of formats have loops that compilers vectorise. */
static void convert(const smma_rule *rule, smma_format from, smma_format to, const void *x, size_t count, void *y) {
  const specials s = {rule->nan == SMMA_NAN_NUMBERS, (uint32_t)smma_nan_of(smma_encoding_of(to), rule->nan)};
  const bool alike = s.numbers || smma_has_one_nan(rule->nan);
  if (from == to)
    memcpy(y, x, count * smma_bytes_of(to));
  else if (alike && ((from == SMMA_F32 && to == SMMA_F16) || (from == SMMA_F16 && to == SMMA_F32)))
    convert_half(to == SMMA_F16, s, x, count, y);
  else if (alike && from == SMMA_F32 && to == SMMA_BF16)
    for (size_t i = 0; i < count; i++) smma_store(2, y, i, bfloat_of((uint32_t)smma_load(4, x, i), s));
  else if (alike && from == SMMA_BF16 && to == SMMA_F32)
    for (size_t i = 0; i < count; i++) smma_store(4, y, i, float_of_bfloat((uint32_t)smma_load(2, x, i), s));
  else
    for (size_t i = 0; i < count; i++)
      smma_store(smma_bytes_of(to), y, i, smma_reformat(from, to, rule->nan, smma_load(smma_bytes_of(from), x, i)));
}

void smma_unify_nan(const smma_multiplier *p, void *encodings, size_t count) {
  const smma_format outer = p->outer;
  const uint64_t nan = smma_nan_of(smma_encoding_of(outer), p->operation.rule.nan);
  for (size_t i = 0; i < (outer == SMMA_F64 ? count : 0); i++) {
    const uint64_t x = smma_load(8, encodings, i);
    smma_store(8, encodings, i, (x & INT64_MAX) > UINT64_C(0x7ff) << 52 ? nan : x);
  }
  for (size_t i = 0; i < (outer == SMMA_F32 ? count : 0); i++) {
    const uint32_t x = (uint32_t)smma_load(4, encodings, i);
    smma_store(4, encodings, i, either((int32_t)(x & INT32_MAX) > 255 << 23, (uint32_t)nan, x));
  }
}

/* Copies `count` elements between arrays with these steps; `bytes` is a constant in the inlined copies. */
static inline void copy_as(size_t bytes, const void *x, size_t x_step, size_t count, void *y, size_t y_step) {
  for (size_t i = 0; i < count; i++) smma_store(bytes, y, i * y_step, smma_load(bytes, x, i * x_step));
}

static void copy(size_t bytes, const void *x, size_t x_step, size_t count, void *y, size_t y_step) {
  if (x_step == 1 && y_step == 1)
    memcpy(y, x, count * bytes);
  else if (bytes == 2)
    copy_as(2, x, x_step, count, y, y_step);
  else if (bytes == 4)
    copy_as(4, x, x_step, count, y, y_step);
  else
    copy_as(bytes, x, x_step, count, y, y_step);
}

/* c_at and d_at return the address of element (i, j) of C and of D. c_step and d_step return the distance, in elements,
   from one element of a row to the next. */
static const void *c_at(const smma_multiplier *p, size_t i, size_t j) {
  const smma_gemm_arguments *g = &p->with;
  return (const unsigned char *)g->c + smma_index_of(g->order_c, g->ldc, i, j) * smma_bytes_of(p->c_format);
}
static void *d_at(const smma_multiplier *p, size_t i, size_t j) {
  const smma_gemm_arguments *g = &p->with;
  return (unsigned char *)g->d + smma_index_of(g->order_d, g->ldd, i, j) * smma_bytes_of(p->d_format);
}
static size_t c_step(const smma_multiplier *p) { return p->with.order_c == SMMA_ROW_MAJOR ? 1 : p->with.ldc; }
static size_t d_step(const smma_multiplier *p) { return p->with.order_d == SMMA_ROW_MAJOR ? 1 : p->with.ldd; }

/* ---- Before the instruction steps ---- */

/* Reads `count` elements of row i of C, from column j on, and converts them to the format `to`. */
static void read_c(const smma_multiplier *p, size_t i, size_t j, size_t count, smma_format to, void *c) {
  _Alignas(8) unsigned char space[8 * PART];
  const void *from = c_at(p, i, j);
  if (c_step(p) != 1) copy(smma_bytes_of(p->c_format), from, c_step(p), count, space, 1), from = space;
  convert(&p->operation.rule, p->c_format, to, from, count, c);
}

/* Computes beta * C for at most PART elements: rounds it to C's format, then to the instruction's format of D, and
   stores it in the outer format. */
static void start_part(const smma_multiplier *p, size_t i, size_t j, size_t count, void *start) {
  const size_t bytes = smma_bytes_of(p->c_format);
  _Alignas(8) unsigned char c[8 * PART], d[8 * PART];
  read_c(p, i, j, count, p->c_format, c);
  for (size_t x = 0; p->with.beta != 1 && x < count; x++)
    smma_store(bytes, c, x, smma_scaled(p->c_format, smma_load(bytes, c, x), p->with.beta));
  convert(&p->operation.rule, p->c_format, p->operation.d, c, count, d);
  convert(&p->operation.rule, p->operation.d, p->outer, d, count, start);
}

void smma_start_row(const smma_multiplier *p, size_t i, size_t j, size_t count, void *start) {
  const size_t bytes = smma_bytes_of(p->outer);
  if (!smma_starts_from_c(p)) {
    memset(start, 0, count * bytes);
    return;
  }
  if (p->with.beta == 1 && p->c_format == p->outer && p->operation.d == p->outer)
    copy(bytes, c_at(p, i, j), c_step(p), count, start, 1);
  else
    for (size_t x = 0; x < count; x += PART)
      start_part(p, i, j + x, count - x < PART ? count - x : PART, (unsigned char *)start + x * bytes);
  /* Otherwise a NaN result is an operand's NaN, so a NaN of C keeps its bits. */
  if (smma_has_one_nan(p->operation.rule.nan)) smma_unify_nan(p, start, count);
}

bool smma_is_finite_row(const float *x, size_t count) {
  uint32_t any = 0; /* its sign bit is 1 if some exponent field was all ones */
  for (size_t i = 0; i < count; i++) any |= ((uint32_t)smma_load(4, x, i) & INT32_MAX) + (1u << 23);
  return any >> 31 == 0;
}

/* ---- Between chains ---- */

static void add_integers(smma_integer_overflow overflow, int32_t *sum, const int32_t *x, size_t count) {
  for (size_t i = 0; i < count; i++) sum[i] = (int32_t)smma_integer_encode(overflow, (int64_t)sum[i] + x[i]);
}

static void add_doubles(double *restrict sum, const double *restrict x, size_t count) {
  for (size_t i = 0; i < count; i++) sum[i] += x[i];
}

static void add_floats(float *restrict sum, const float *restrict x, size_t count) {
  for (size_t i = 0; i < count; i++) sum[i] += x[i];
}

void smma_round_sums(const smma_multiplier *p, smma_format format, float *sums, size_t count) {
  _Alignas(8) unsigned char rounded[8 * PART];
  for (size_t x = 0; x < count; x += PART) {
    const size_t part = count - x < PART ? count - x : PART;
    convert(&p->operation.rule, SMMA_F32, format, sums + x, part, rounded);
    convert(&p->operation.rule, format, SMMA_F32, rounded, part, sums + x);
  }
}

void smma_outer_add(const smma_multiplier *p, void *sum, const void *x, size_t count) {
  if (p->outer == SMMA_S32)
    add_integers(smma_integer_overflow_of(&p->operation.rule), sum, x, count);
  else if (p->outer == SMMA_F64)
    add_doubles(sum, x, count);
  else
    add_floats(sum, x, count);
  smma_unify_nan(p, sum, count);
}

/* ---- Epilogue ---- */

static void integer_epilogue(const smma_multiplier *p, const int32_t *c, size_t count, int32_t *total) {
  const smma_integer_overflow overflow = smma_integer_overflow_of(&p->operation.rule);
  for (size_t i = 0; i < count; i++) {
    double d = p->with.beta * (double)c[i];
    if (p->with.k) d = fma(p->with.alpha, (double)total[i], d);
    total[i] = (int32_t)smma_integer_of(overflow, d);
  }
}

static void double_epilogue(const smma_multiplier *p, const double *c, size_t count, double *total) {
  for (size_t i = 0; i < count; i++) {
    const double d = p->with.beta * c[i];
    total[i] = p->with.k ? fma(p->with.alpha, total[i], d) : d;
  }
}

static void linear(const smma_multiplier *p, const float *c, size_t count, float *total) {
  const float alpha = (float)p->with.alpha, beta = (float)p->with.beta;
  for (size_t i = 0; i < count; i++) {
    const float d = beta * c[i];
    total[i] = p->with.k ? fmaf(alpha, total[i], d) : d;
  }
}

static float float_in(const smma_multiplier *p, smma_format format, uint64_t encoding) {
  const uint32_t bits = (uint32_t)smma_reformat(format, SMMA_F32, p->operation.rule.nan, encoding);
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Clamps `count` numbers to the range of a format. */
static void clamp(const smma_multiplier *p, smma_format format, size_t count, float *x) {
  const float most = float_in(p, format, smma_greatest_of(smma_encoding_of(format)));
  const float least = float_in(p, format, smma_least_of(smma_encoding_of(format)));
  for (size_t i = 0; i < count; i++) x[i] = x[i] > most ? most : x[i] < least ? least : x[i];
}

/* Reports whether an entry of the epilogue is arithmetic, whose NaN results become the rule's NaN. Other entries leave
   a NaN as it is. */
static bool is_arithmetic(smma_epilogue_kind kind) {
  return kind == SMMA_EPILOGUE_ALPHA || kind == SMMA_EPILOGUE_LINEAR || kind == SMMA_EPILOGUE_BETA ||
         kind == SMMA_EPILOGUE_BIAS || kind == SMMA_EPILOGUE_SCALE_D;
}

/* Applies entry `e` of the epilogue to `count` sums x of a row, from column j on; `c` holds the row's elements of C. */
static void operate(const smma_multiplier *p, const smma_epilogue *e, const float *c, size_t j, size_t count,
                    float *x) {
  const smma_gemm_arguments *g = &p->with;
  const float alpha = (float)g->alpha, beta = (float)g->beta, scale_d = (float)g->scale_d;
  switch (e->kind) {
    case SMMA_EPILOGUE_ALPHA:
      for (size_t i = 0; i < count; i++) x[i] = fmaf(alpha, x[i], 0);
      break;
    case SMMA_EPILOGUE_LINEAR: linear(p, c, count, x); break;
    case SMMA_EPILOGUE_BETA:
      for (size_t i = 0; i < count; i++) x[i] = fmaf(beta, c[i], x[i]);
      break;
    case SMMA_EPILOGUE_BIAS:
      for (size_t i = 0; i < count; i++) x[i] += g->bias[j + i];
      break;
    case SMMA_EPILOGUE_SCALE_D:
      for (size_t i = 0; i < count; i++) x[i] *= scale_d;
      break;
    case SMMA_EPILOGUE_RELU:
      for (size_t i = 0; i < count; i++) x[i] = x[i] <= 0 ? 0 : x[i];
      break;
    case SMMA_EPILOGUE_ROUND: smma_round_sums(p, e->format, x, count); break;
    case SMMA_EPILOGUE_CLAMP: clamp(p, e->format, count, x); break;
  }
  if (is_arithmetic(e->kind)) smma_unify_nan(p, x, count);
}

/* Applies the multiplier's epilogue to at most PART sums of row i, from column j on. In s32 and f64 the epilogue is
   always alpha times the sums plus beta times C. */
static void epilogue(const smma_multiplier *p, size_t i, size_t j, size_t count, void *total) {
  _Alignas(8) unsigned char c[8 * PART] = {0};
  if (p->with.c && p->with.beta != 0) read_c(p, i, j, count, p->outer, c);
  if (p->outer == SMMA_S32)
    integer_epilogue(p, (const int32_t *)c, count, total);
  else if (p->outer == SMMA_F64)
    double_epilogue(p, (const double *)c, count, total);
  for (size_t x = 0; x < (p->outer == SMMA_F32 ? p->epilogues : 0); x++)
    operate(p, &p->epilogue[x], (const float *)c, j, count, total);
  if (p->outer == SMMA_F64) smma_unify_nan(p, total, count);
}

/* Computes and stores at most PART elements of D from their sums. */
static void finish_part(const smma_multiplier *p, const void *total, size_t i, size_t j, size_t count) {
  _Alignas(8) unsigned char sum[8 * PART], d[8 * PART];
  void *to = d_step(p) == 1 ? d_at(p, i, j) : d;
  if (p->epilogues) {
    memcpy(sum, total, count * smma_bytes_of(p->outer));
    epilogue(p, i, j, count, sum);
    total = sum;
  }
  convert(&p->operation.rule, p->outer, p->d_format, total, count, to);
  if (to == d) copy(smma_bytes_of(p->d_format), d, 1, count, d_at(p, i, j), d_step(p));
}

void smma_finish_row(const smma_multiplier *p, size_t i, size_t j, size_t count, void *total) {
  const size_t bytes = smma_bytes_of(p->outer);
  if (p->d_format == p->outer && !p->epilogues)
    copy(bytes, total, 1, count, d_at(p, i, j), d_step(p));
  else
    for (size_t x = 0; x < count; x += PART)
      finish_part(p, (unsigned char *)total + x * bytes, i, j + x, count - x < PART ? count - x : PART);
}
