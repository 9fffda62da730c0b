#include "gemm/element.h"

#include <math.h>

#include "host/load.h"

/* x in another format, NaN as the rule has it; as it is in the same one. */
static uint64_t convert(const smma_rule *rule, smma_format from, smma_format to, uint64_t x) {
  smma_number number = smma_decode(smma_encoding_of(from), x);
  if (from == to) return x;
  if (number.kind == SMMA_NAN) return smma_nan_of(smma_encoding_of(to), rule->nan);
  return smma_encode_number(smma_encoding_of(to), number, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

uint64_t smma_widen(const smma_plan *p, uint64_t accumulator) {
  return convert(&p->operation.rule, p->operation.d, p->outer, accumulator);
}

uint64_t smma_narrow(const smma_plan *p, uint64_t accumulator) {
  return convert(&p->operation.rule, p->outer, p->operation.d, accumulator);
}

static smma_number number_of(double value) {
  union {
    double value;
    uint64_t encoding;
  } u = {value};
  return smma_decode(smma_encoding_of(SMMA_F64), u.encoding);
}

uint64_t smma_scaled(smma_format format, uint64_t encoding, double factor) {
  smma_encoding f = smma_encoding_of(format);
  smma_number x = smma_decode(f, encoding), y = number_of(factor), product = smma_product(x, y);
  if (product.kind > SMMA_FINITE) return smma_encode_number(f, product, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
  return smma_encode_exact(f, smma_exact_product(x, y), SMMA_OVERFLOW_DEFAULT);
}

static uint64_t load_c(const smma_plan *p, size_t i, size_t j) {
  const smma_gemm_arguments *g = &p->with;
  if (!g->c || g->beta == 0) return 0;
  return smma_load(smma_container_bytes(smma_encoding_of(p->c_format)), g->c, smma_index_of(g->order_c, g->ldc, i, j));
}

/* beta * C's element, rounded to its format, then to D's, in the outer format. */
static uint64_t start_of(const smma_plan *p, size_t i, size_t j) {
  uint64_t c = load_c(p, i, j);
  if (p->with.beta != 1) c = smma_scaled(p->c_format, c, p->with.beta);
  return smma_widen(p, convert(&p->operation.rule, p->c_format, p->operation.d, c));
}

void smma_start_row(const smma_plan *p, size_t i, size_t j, size_t count, void *start) {
  const smma_gemm_arguments *g = &p->with;
  size_t bytes = smma_container_bytes(smma_encoding_of(p->outer));
  bool as_is = g->beta == 1 && p->c_format == p->outer && p->operation.d == p->outer;
  if (!g->c || g->beta == 0 || g->scaling == SMMA_SCALING_EPILOGUE) {
    memset(start, 0, count * bytes);
    return;
  }
  for (size_t x = 0; x < count; x++) smma_store(bytes, start, x, as_is ? load_c(p, i, j + x) : start_of(p, i, j + x));
  /* Where the rule's NaN is an operand's, C's is one. */
  if (p->operation.rule.nan != SMMA_NAN_OPERAND) smma_unify_nan(p, start, count);
}

/* FP16 of a binary32 value, RNE. */
static uint64_t half_of(const smma_plan *p, uint32_t x) {
  uint32_t magnitude = x & 0x7fffffff, sign = x >> 16 & 0x8000;
  const uint32_t least_normal = UINT32_C(113) << 23, above_greatest = UINT32_C(143) << 23;
  if (magnitude == 0) return sign;
  if (magnitude < least_normal || magnitude >= above_greatest) return smma_narrow(p, x);
  return sign | (magnitude - (UINT32_C(112) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
}

/* A double as the instruction holds an integer: RNE, then its overflow; the remainder of 2^32 is exact. */
static uint64_t integer_of(const smma_plan *p, double x) {
  const smma_integer *integer = &p->operation.rule.with.integer;
  if (integer->overflow == SMMA_INTEGER_WRAPS && isfinite(x))
    return smma_integer_encode(integer, (int64_t)fmod(rint(x), 0x1p32));
  return smma_encode_number(smma_encoding_of(SMMA_S32), number_of(x), SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
}

static uint64_t integer_epilogue(const smma_plan *p, int32_t total, size_t i, size_t j) {
  double d = p->with.beta * (double)(int32_t)load_c(p, i, j);
  if (p->steps) d = fma(p->with.alpha, (double)total, d);
  return integer_of(p, d);
}

/* The epilogue in native arithmetic, which is IEEE's: the thread rounds to nearest and keeps subnormals. */
static uint64_t native_epilogue(const smma_plan *p, uint64_t total, size_t i, size_t j) {
  uint64_t c = convert(&p->operation.rule, p->c_format, p->outer, load_c(p, i, j));
  if (p->outer == SMMA_S32) return integer_epilogue(p, (int32_t)total, i, j);
  if (p->outer == SMMA_F64) {
    double x, y, d;
    memcpy(&x, &total, sizeof x), memcpy(&y, &c, sizeof y);
    d = p->with.beta * y;
    if (p->steps) d = fma(p->with.alpha, x, d);
    memcpy(&total, &d, sizeof d);
    smma_unify_nan(p, &total, 1);
    return total;
  } else {
    uint32_t low_total = (uint32_t)total, low_c = (uint32_t)c;
    float x, y, d;
    memcpy(&x, &low_total, sizeof x), memcpy(&y, &low_c, sizeof y);
    d = (float)p->with.beta * y;
    if (p->steps) d = fmaf((float)p->with.alpha, x, d);
    memcpy(&low_total, &d, sizeof d);
    smma_unify_nan(p, &low_total, 1);
    return low_total;
  }
}

void smma_finish_row(const smma_plan *p, const void *total, size_t i, size_t j, size_t count) {
  const smma_gemm_arguments *g = &p->with;
  size_t bytes = smma_container_bytes(smma_encoding_of(p->outer));
  size_t d_bytes = smma_container_bytes(smma_encoding_of(p->operation.d));
  if (p->operation.d == p->outer && g->scaling == SMMA_SCALING_OPERANDS && g->order_d == SMMA_ROW_MAJOR) {
    memcpy((unsigned char *)g->d + smma_index_of(g->order_d, g->ldd, i, j) * bytes, total, count * bytes);
    return;
  }
  for (size_t x = 0; x < count; x++) {
    uint64_t d = smma_load(bytes, total, x);
    if (g->scaling == SMMA_SCALING_EPILOGUE) d = native_epilogue(p, d, i, j + x);
    if (p->operation.d == SMMA_F16)
      d = half_of(p, (uint32_t)d);
    else if (p->operation.d != p->outer)
      d = smma_narrow(p, d);
    smma_store(d_bytes, g->d, smma_index_of(g->order_d, g->ldd, i, j + x), d);
  }
}

static void add_integers(const smma_integer *p, int32_t *sum, const int32_t *x, size_t count) {
  for (size_t i = 0; i < count; i++) sum[i] = (int32_t)smma_integer_encode(p, (int64_t)sum[i] + x[i]);
}

void smma_outer_add(const smma_plan *p, void *sum, const void *x, size_t count) {
  if (p->outer == SMMA_S32) {
    add_integers(&p->operation.rule.with.integer, sum, x, count);
  } else if (p->outer == SMMA_F64) {
    double *s = sum;
    const double *y = x;
    for (size_t i = 0; i < count; i++) s[i] += y[i];
  } else {
    float *s = sum;
    const float *y = x;
    for (size_t i = 0; i < count; i++) s[i] += y[i];
  }
  smma_unify_nan(p, sum, count);
}

void smma_unify_nan(const smma_plan *p, void *encodings, size_t count) {
  uint64_t nan = smma_nan_of(smma_encoding_of(p->outer), p->operation.rule.nan);
  for (size_t i = 0; p->outer == SMMA_F64 && i < count; i++) {
    uint64_t x = smma_load(8, encodings, i);
    smma_store(8, encodings, i, x << 1 > UINT64_C(0x7ff) << 53 ? nan : x);
  }
  for (size_t i = 0; p->outer == SMMA_F32 && i < count; i++) {
    uint32_t x = (uint32_t)smma_load(4, encodings, i);
    smma_store(4, encodings, i, x << 1 > UINT32_C(0xff) << 24 ? nan : x);
  }
}

uint64_t smma_code_at(const smma_plan *p, bool of_a, size_t i, size_t k) {
  const smma_view *v = smma_view_of(p, of_a);
  uint64_t code;
  if (k >= v->count) return 0;
  code = smma_load(smma_container_bytes(smma_encoding_of(v->format)), v->data, smma_element(v, i, k));
  return v->factor == 1 ? code : smma_scaled(v->format, code, v->factor);
}

void smma_decode_vector(const smma_plan *p, bool of_a, size_t i, size_t k, size_t count, smma_number *out) {
  const smma_view *v = smma_view_of(p, of_a);
  const smma_encoding f = smma_encoding_of(v->format);
  size_t present = k < v->count ? v->count - k : 0;
  if (present > count) present = count;
  if (v->factor != 1) present = 0;
  if (present) smma_decode_array(f, v->data, smma_element(v, i, k), v->k_step, present, out);
  for (size_t x = present; x < count; x++) out[x] = smma_decode(f, smma_code_at(p, of_a, i, k + x));
}

uint64_t smma_scale_code_at(const smma_plan *p, bool of_a, size_t i, size_t index) {
  const smma_encoding f = smma_encoding_of(p->operation.scale);
  const size_t block = (size_t)p->operation.scale_block, all = (p->with.k + block - 1) / block;
  if (index >= all) return smma_encode_number(f, number_of(1), SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
  return smma_load(smma_container_bytes(f), smma_view_of(p, of_a)->scale, i * all + index);
}

void smma_decode_scales(const smma_plan *p, bool of_a, size_t i, size_t k, size_t count, smma_number *out) {
  const size_t block = (size_t)p->operation.scale_block;
  for (size_t x = 0; x < count / block; x++)
    out[x] = smma_decode(smma_encoding_of(p->operation.scale), smma_scale_code_at(p, of_a, i, k / block + x));
}
