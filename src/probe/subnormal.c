/* Where subnormal numbers are kept and where they become zero: operands, products, results. */
#include "probe/probe.h"

static bool tell_kept(smma_finding *f, const smma_subject *s, const smma_vector_row *row, int64_t significand,
                      int exponent) {
  const smma_dyadic d = smma_result(s, row);
  if (smma_is_exactly(d, significand, exponent)) return smma_tell(f, row, "kept");
  if (smma_is_exactly(d, 0, 0)) return smma_tell(f, row, "become zero");
  return smma_cannot_tell(f, "the result is neither the number nor zero");
}

/* The least number of `format` times the power of two of `other` that brings it into d's normal range. */
static bool probe_operand(smma_examination *x, smma_finding *f, bool is_a) {
  smma_subject *s = &x->subject;
  const smma_encoding own = smma_encoding_of(is_a ? s->instruction->a : s->instruction->b);
  const smma_encoding other = smma_encoding_of(is_a ? s->instruction->b : s->instruction->a);
  const smma_range d = smma_range_of_d(s, false);
  const int least = smma_minimum_exponent(own) - own.fraction_bits, most = other.bias;
  smma_vector_row row = smma_blank_row(s);
  uint64_t power;
  int exponent = most;
  if (!own.fraction_bits) return smma_cannot_tell(f, "the format has none");
  if (least + most < d.least) return smma_cannot_tell(f, "products with them are not normal in the output's format");
  if (least + exponent > d.greatest) exponent = d.greatest - least;
  power = smma_encode(other, false, 1, exponent, false, SMMA_TOWARD_ZERO, SMMA_OVERFLOW_SATURATES);
  exponent = smma_decode(other, power).exponent;
  row.a[0] = is_a ? (uint64_t)1 << own.ignored_bits : power;
  row.b[0] = is_a ? power : (uint64_t)1 << own.ignored_bits;
  return smma_ask_subject(s, &row, 1) && tell_kept(f, s, &row, 1, least + exponent);
}

bool smma_probe_subnormal_a(smma_examination *x, smma_finding *f) { return probe_operand(x, f, true); }

bool smma_probe_subnormal_b(smma_examination *x, smma_finding *f) {
  const smma_finding *a = &x->findings[SMMA_PROBE_subnormal_a];
  if (!probe_operand(x, f, false)) return false;
  x->subject.subnormals = a->value[0] == 'k' && f->value[0] == 'k';
  return true;
}

/* Half the least normal number as c. */
bool smma_probe_subnormal_c(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_encoding c = smma_encoding_of(s->instruction->c);
  const int exponent = smma_minimum_exponent(c) - 1;
  smma_vector_row row = smma_blank_row(s);
  row.c = (uint64_t)1 << (c.fraction_bits - 1);
  return smma_ask_subject(s, &row, 1) && tell_kept(f, s, &row, 1, exponent);
}

/* Two products of half the least normal result: their sum is normal. */
bool smma_probe_subnormal_product(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int least = smma_range_of_d(s, false).least;
  smma_vector_row row = smma_blank_row(s);
  if (s->instruction->k < 2) return smma_cannot_tell(f, "an instruction of one product cannot add two");
  if (!smma_place(s, &row, 0, 1, least - 1) || !smma_place(s, &row, 1, 1, least - 1))
    return smma_cannot_tell(f, "products of normal operands are not as small");
  return smma_ask_subject(s, &row, 1) && tell_kept(f, s, &row, 1, least);
}

/* Three halves of the least normal result less one. */
bool smma_probe_subnormal_sum(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int least = smma_range_of_d(s, false).least, k = s->instruction->k;
  for (int i = 0; i < k; i++) {
    smma_vector_row row = smma_blank_row(s);
    if (!smma_place(s, &row, k, 3, least - 1) || !smma_place(s, &row, i, -1, least)) continue;
    return smma_ask_subject(s, &row, 1) && tell_kept(f, s, &row, 1, least - 1);
  }
  return smma_cannot_tell(f, "products are not as small as the least normal result");
}
