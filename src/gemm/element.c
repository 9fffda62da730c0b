#include "gemm/element.h"

#include <math.h>

#include "host/load.h"

uint64_t smma_widen(const smma_multiplier *p, uint64_t accumulator) {
  return smma_reformat(p->operation.d, p->outer, p->operation.rule.nan, accumulator);
}

uint64_t smma_narrow(const smma_multiplier *p, uint64_t accumulator) {
  return smma_reformat(p->outer, p->operation.d, p->operation.rule.nan, accumulator);
}

static smma_number number_of(double value) {
  union {
    double value;
    uint64_t encoding;
  } u = {value};
  return smma_decode(smma_encoding_of(SMMA_F64), u.encoding);
}

uint64_t smma_scaled(smma_format format, uint64_t encoding, double factor) {
  const smma_encoding f = smma_encoding_of(format);
  return smma_encode_product(f, smma_decode(f, encoding), number_of(factor));
}

/* If integers wrap, x is reduced modulo 2^32 first, because it may not fit in an int64_t. The reduction is exact. */
uint64_t smma_integer_of(smma_integer_overflow overflow, double x) {
  if (overflow == SMMA_INTEGER_WRAPS && isfinite(x))
    return smma_integer_encode(overflow, (int64_t)fmod(rint(x), 0x1p32));
  return smma_encode_number(smma_encoding_of(SMMA_S32), number_of(x), SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
}

uint64_t smma_code_at(const smma_multiplier *p, bool of_a, size_t i, size_t k) {
  const smma_view *v = smma_view_of(p, of_a);
  uint64_t code;
  if (k >= v->count) return 0;
  code = smma_load(smma_bytes_of(v->format), v->data, smma_element(v, i, k));
  return v->factor == 1 ? code : smma_scaled(v->format, code, v->factor);
}

void smma_decode_vector(const smma_multiplier *p, bool of_a, size_t i, size_t k, size_t count, smma_number *out) {
  const smma_view *v = smma_view_of(p, of_a);
  const smma_encoding f = smma_encoding_of(v->format);
  size_t present = k < v->count ? v->count - k : 0;
  if (present > count) present = count;
  if (v->factor != 1) present = 0;
  if (present) smma_decode_array(f, v->data, smma_element(v, i, k), v->k_step, present, out);
  for (size_t x = present; x < count; x++) out[x] = smma_decode(f, smma_code_at(p, of_a, i, k + x));
}

uint64_t smma_scale_code_at(const smma_multiplier *p, bool of_a, size_t i, size_t index) {
  const smma_encoding f = smma_encoding_of(p->operation.scale);
  const size_t block = (size_t)p->operation.scale_block, all = (p->with.k + block - 1) / block;
  if (index >= all) return smma_encode_number(f, number_of(1), SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
  return smma_load(smma_container_bytes(f), smma_view_of(p, of_a)->scale, i * all + index);
}

void smma_decode_scales(const smma_multiplier *p, bool of_a, size_t i, size_t k, size_t count, smma_number *out) {
  const size_t block = (size_t)p->operation.scale_block;
  for (size_t x = 0; x < count / block; x++)
    out[x] = smma_decode(smma_encoding_of(p->operation.scale), smma_scale_code_at(p, of_a, i, k / block + x));
}
