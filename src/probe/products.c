/* Products and their sum before the result is formed: rounding, normalisation, carries. */
#include "probe/probe.h"
#include "probe/rounding_mode.h"
#include "probe/triple.h"

/* 1.5 * 1.5 = 2.25, with both factors normal. */
static bool place_unnormalised(const smma_subject *s, smma_vector_row *row, int k, bool negative, int exponent) {
  const smma_instruction *i = s->instruction;
  smma_vector_row a = smma_blank_row(s);
  if (!smma_place(s, &a, k, negative ? -3 : 3, exponent - 1)) return false;
  const smma_number power = smma_decode(smma_encoding_of(i->b), a.b[k]);
  row->a[k] = a.a[k];
  row->b[k] = smma_encode(smma_encoding_of(i->b), false, 3, power.exponent - 1, false, SMMA_TOWARD_ZERO,
                          SMMA_OVERFLOW_SATURATES);
  return smma_is_exactly(smma_dyadic_of((int64_t)smma_decode(smma_encoding_of(i->b), row->b[k]).significand,
                                        power.exponent - power.fraction_bits),
                         3, power.exponent - 1);
}

/* Whether X - X + the last bit kept below X gives that bit, at this X: else something greater than X is there. */
static bool ask_last_bit(smma_examination *x, int i, int j, int k, int large, bool *kept) {
  smma_subject *s = &x->subject;
  smma_vector_row row;
  *kept = smma_place_triple(s, &row, i, j, k, large, 1, large - x->alignment_bits);
  if (!*kept) return true;
  if (!smma_ask_subject(s, &row, 1)) return false;
  *kept = smma_is_exactly(smma_result(s, &row), 1, large - x->alignment_bits);
  return true;
}

static const char out_of_reach[] = "the last bit kept is out of the formats' range";

/* Two products 2.25 and -2.25 beside a small one at the last bit that is kept below 1: it stays if 2.25 is aligned by
   the exponents of its factors, and goes if by its own. */
bool smma_probe_products_normalised(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  int terms[SMMA_MAXIMUM_K + 1], products = 0;
  smma_vector_row row = smma_blank_row(s);
  bool kept;
  if (!x->first.known || !x->first.fused) return smma_cannot_tell(f, "there is no common alignment that is known");
  if (!x->alignment_known) return smma_cannot_tell(f, "the bits kept of aligned products are not known");
  if (x->alignment_bits < 3) return smma_cannot_tell(f, "alignment keeps too few bits of 2.25");
  for (int k = 0; k < s->instruction->k && products < 3; k++)
    if (x->first.product[k]) terms[products++] = k;
  if (products < 3) return smma_cannot_tell(f, "it takes three products in a block");
  const int large = smma_span_of(s, terms[0], terms[1], terms[2]).large - 2;
  if (!place_unnormalised(s, &row, terms[0], false, large) || !place_unnormalised(s, &row, terms[1], true, large) ||
      !smma_place(s, &row, terms[2], 1, large - x->alignment_bits))
    return smma_cannot_tell(f, "the formats have no such products");
  if (!ask_last_bit(x, terms[0], terms[1], terms[2], large, &kept)) return false;
  if (!kept) return smma_cannot_tell(f, out_of_reach);
  if (!smma_ask_subject(s, &row, 1)) return false;
  if (smma_is_exactly(smma_result(s, &row), 1, large - x->alignment_bits)) return smma_tell(f, &row, "not normalised");
  return smma_tell(f, &row, "normalised");
}

/* 1 + 1 - 1 - 1 and the last bit kept below 1: 2 would have pushed it out. */
bool smma_probe_normalisation(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  int terms[SMMA_MAXIMUM_K + 1];
  const int count = smma_first_terms(x, terms);
  smma_vector_row row = smma_blank_row(s);
  bool placed = true, kept;
  if (!x->first.known || !x->first.fused) return smma_cannot_tell(f, "there is no common alignment that is known");
  if (!x->alignment_known) return smma_cannot_tell(f, "the bits kept of aligned products are not known");
  if (count < 5) return smma_cannot_tell(f, "it takes five terms in a block");
  smma_span span = smma_span_of(s, terms[0], terms[count - 1], terms[4]);
  const int large = span.large - 1;
  for (int i = 0; i < 4; i++)
    placed = placed && smma_place(s, &row, terms[i < 3 ? i : count - 1], i < 2 ? 1 : -1, large);
  placed = placed && smma_place(s, &row, terms[3], 1, large - x->alignment_bits);
  if (!placed) return smma_cannot_tell(f, out_of_reach);
  if (!ask_last_bit(x, terms[0], terms[count - 1], terms[3], large, &kept)) return false;
  if (!kept) return smma_cannot_tell(f, out_of_reach);
  if (!smma_ask_subject(s, &row, 1)) return false;
  if (smma_is_exactly(smma_result(s, &row), 1, large - x->alignment_bits))
    return smma_tell(f, &row, "once, at the end");
  return smma_tell(f, &row, "early");
}

/* As many equal terms as make the greatest power of two. */
bool smma_probe_carry_bits(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  int terms[SMMA_MAXIMUM_K + 1], carries = 0;
  const int count = smma_first_terms(x, terms);
  smma_vector_row row = smma_blank_row(s), alone = row;
  if (!x->first.known || !x->first.fused) return smma_cannot_tell(f, "there is no common alignment that is known");
  while (2 << carries <= count) carries++;
  int exponent = smma_range_of_d(s).greatest - carries - 1;
  for (int i = 0; i < 1 << carries; i++) exponent = smma_minimum(exponent, smma_range_of(s, terms[i]).greatest);
  for (int i = 0; i < 1 << carries; i++)
    if (!smma_place(s, &row, terms[i], 1, exponent)) return smma_cannot_tell(f, "the terms have no common range");
  smma_place(s, &alone, terms[0], 1, exponent);
  if (!smma_ask_subject(s, &row, 1) || !smma_ask_subject(s, &alone, 1)) return false;
  if (!smma_is_exactly(smma_result(s, &alone), 1, exponent)) return smma_cannot_tell(f, "a term alone is not returned");
  if (!smma_is_exactly(smma_result(s, &row), 1, exponent + carries))
    return smma_tell(f, &row, "too few for %d equal terms", 1 << carries);
  return smma_tell(f, &row, "at least %d", carries);
}

/* Products too long for the output: (1 + 2^-p)^2 and the like. Only formats whose products exceed d have a question. */
bool smma_probe_product_rounding(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  const smma_encoding a = smma_encoding_of(i->a), b = smma_encoding_of(i->b), d = smma_encoding_of(i->d);
  smma_vector_row rows[2];
  if (a.fraction_bits + b.fraction_bits + 1 <= d.fraction_bits)
    return smma_cannot_tell(f, "products are exact in the output's format");
  if (a.fraction_bits + 2 > d.fraction_bits + 2 + b.fraction_bits || i->k < 2 || a.fraction_bits > 60)
    return smma_cannot_tell(f, "the formats have no such products");
  /* (1 + u)(1 + u) = 1 + 2u + u^2 less what d can hold of it: u^2 is left if the product was not rounded. */
  for (int r = 0; r < 2; r++) {
    const uint64_t one = smma_encode(a, false, 1, 0, false, SMMA_TOWARD_ZERO, SMMA_OVERFLOW_SATURATES);
    rows[r] = smma_blank_row(s);
    rows[r].a[0] = one + ((uint64_t)1 << a.ignored_bits);
    rows[r].b[0] =
        smma_encode(b, false, 1, 0, false, SMMA_TOWARD_ZERO, SMMA_OVERFLOW_SATURATES) + ((uint64_t)1 << b.ignored_bits);
  }
  const int u = -a.fraction_bits, v = -b.fraction_bits;
  const smma_dyadic lead = smma_dyadic_of(((int64_t)1 << -u) + 1 + ((int64_t)1 << (v - u > 0 ? v - u : 0)), u);
  if (u != v || -u > 52) return smma_cannot_tell(f, "the formats have no such products");
  if (!smma_place(s, &rows[0], i->k, -lead.significand, lead.exponent))
    return smma_cannot_tell(f, "c cannot hold the leading bits");
  if (!smma_ask_subject(s, rows, 1)) return false;
  if (smma_is_exactly(smma_result(s, &rows[0]), 1, u + v)) return smma_tell(f, &rows[0], "not rounded");
  if (smma_is_exactly(smma_result(s, &rows[0]), 0, 0)) return smma_tell(f, &rows[0], "rounded before they are added");
  return smma_cannot_tell(f, "the result is neither the rest of the product nor zero");
}
