/* Computes one dot-product-add of T-FDPA; each lane holds a product of the block. */
#ifndef SMMA_GEMM_LANES_ROW_H
#define SMMA_GEMM_LANES_ROW_H

#include "gemm/lanes/fused.h"
#include "host/load.h"

/* Loads encodings `first` to first + count - 1, at most one per lane, and fills the other lanes with zeros. `bytes` is
   a constant in all callers. */
LANE_BODY void lane_load_constant(size_t bytes, const void *array, int first, int count, uint32_t *out) {
  if (count == SMMA_LANES) {
    for (int i = 0; i < SMMA_LANES; i++) out[i] = (uint32_t)smma_load(bytes, array, (size_t)(first + i));
    return;
  }
  for (int i = 0; i < SMMA_LANES; i++) out[i] = 0;
  for (int i = 0; i < count; i++) out[i] = (uint32_t)smma_load(bytes, array, (size_t)(first + i));
}

LANE_BODY void lane_load(size_t bytes, const void *array, int first, int count, uint32_t *out) {
  switch (bytes) {
    case 1: lane_load_constant(1, array, first, count, out); break;
    case 2: lane_load_constant(2, array, first, count, out); break;
    default: lane_load_constant(4, array, first, count, out); break;
  }
}

LANE_BODY int32_t lane_greatest_of(const int32_t *x) {
  int32_t greatest = x[0];
#pragma omp simd reduction(max : greatest)
  for (int i = 0; i < SMMA_LANES; i++) greatest = lane_maximum(greatest, x[i]);
  return greatest;
}

LANE_BODY int64_t lane_total(const int64_t *x) {
  int64_t total = 0;
#pragma omp simd reduction(+ : total)
  for (int i = 0; i < SMMA_LANES; i++) total += x[i];
  return total;
}

LANE_BODY int32_t lane_any(const int32_t *x) {
  int32_t any = 0;
#pragma omp simd reduction(| : any)
  for (int i = 0; i < SMMA_LANES; i++) any |= x[i];
  return any;
}

/* Returns the accumulator, which was c, after the block of products that begins at index `first`. A lane without a
   product has an exponent below all others. */
LANE_BODY uint32_t lane_row_block(const lane_rule *r, size_t a_bytes, size_t b_bytes, const void *a, const void *b,
                                  int first, uint32_t c) {
  const smma_operation *o = r->operation;
  const smma_t_fdpa *p = &o->rule.with.t_fdpa;
  const lane_output out = lane_output_of(p->output, o->rule.nan);
  const int end = first + smma_block_of(o);
  int64_t sum[SMMA_LANES], of_c;
  int32_t greatest, specials = 0;
  uint32_t finite;
  int vectors = 0;
  lane_term accumulator;
  lane_terms terms;
  smma_lanes x;
  for (int i = 0; i < SMMA_LANES; i++) terms.specials[i] = 0;
  for (int k = first; k < end; k += SMMA_LANES, vectors++) {
    const int count = lane_minimum(end - k, SMMA_LANES);
    lane_term *term = &terms.term[vectors];
    lane_load(a_bytes, a, k, count, x.a.code[vectors]);
    lane_load(b_bytes, b, k, count, x.b.code[vectors]);
    lane_product(r, &x, vectors, LANE_PLAIN, NULL, p->alignment_bits, p->zero_exponent, SMMA_LANES, term,
                 terms.specials);
    for (int i = 0; i < SMMA_LANES; i++) term->exponent[i] = i < count ? term->exponent[i] : SMMA_NO_EXPONENT;
  }
  lane_c(r, &c, p->alignment_bits, p->zero_exponent, 1, &accumulator, &specials);
  lane_greatest(terms.term, 0, vectors, 1, SMMA_LANES, terms.exponent);
  greatest = lane_maximum(accumulator.exponent[0], lane_greatest_of(terms.exponent));
  for (int i = 0; i < SMMA_LANES; i++) terms.exponent[i] = greatest;
  lane_sum(terms.term, 0, vectors, 1, terms.exponent, SMMA_LANES, sum);
  lane_sum(&accumulator, 0, 1, 1, &greatest, 1, &of_c);
  finite = lane_encode_sum(out, p->rounding, of_c + lane_total(sum), greatest - p->alignment_bits);
  return lane_with_specials(out, specials | lane_any(terms.specials), lane_positive_zero(out, finite));
}

/* Returns d for a and b of the same format, which is a constant in all callers, and for c and d in FP32. */
LANE_BODY uint32_t lane_row_in(smma_format format, const smma_operation *o, const void *a, const void *b, uint32_t c) {
  const size_t bytes = smma_bytes_of(format);
  const lane_rule r = {.operation = o,
                       .a = lane_format_of(format),
                       .b = lane_format_of(format),
                       .d = lane_format_of(SMMA_F32),
                       .out = lane_output_of(SMMA_F32, o->rule.nan),
                       .fraction_bits = 2 * smma_encoding_of(format).fraction_bits};
  for (int k = 0; k < o->k; k += smma_block_of(o)) c = lane_row_block(&r, bytes, bytes, a, b, k, c);
  return c;
}

LANE_BODY uint32_t lane_row(const smma_operation *o, const void *a, const void *b, uint32_t c) {
  if (o->a == o->b && o->c == SMMA_F32 && o->d == SMMA_F32) switch (o->a) {
      case SMMA_F16: return lane_row_in(SMMA_F16, o, a, b, c);
      case SMMA_BF16: return lane_row_in(SMMA_BF16, o, a, b, c);
      case SMMA_TF32: return lane_row_in(SMMA_TF32, o, a, b, c);
      case SMMA_E4M3: return lane_row_in(SMMA_E4M3, o, a, b, c);
      default: break;
    }
  const lane_rule r = lane_rule_of(o);
  if (o->c != o->d) c = lane_convert(lane_format_of(o->c), r.out, c);
  const size_t a_bytes = smma_bytes_of(o->a);
  const size_t b_bytes = smma_bytes_of(o->b);
  for (int k = 0; k < o->k; k += smma_block_of(o)) c = lane_row_block(&r, a_bytes, b_bytes, a, b, k, c);
  return c;
}

#endif
