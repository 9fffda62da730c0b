/* Products and their sum before the result is formed: rounding, normalisation, carries. */
#include "probe/probe.h"
#include "probe/triple.h"

/* 1.5 * 1.5 = 2.25, with both factors normal. */
static bool place_unnormalised(const smma_subject *s, smma_row *row, int k, bool negative, int exponent) {
  const smma_instruction *i = s->instruction;
  smma_row a = smma_blank_row(s);
  if (!smma_place(s, &a, k, negative ? -3 : 3, exponent - 1)) return false;
  const smma_number power = smma_decode(smma_encoding_of(i->b), a.b[k]);
  row->a[k] = a.a[k];
  row->b[k] = smma_encode(smma_encoding_of(i->b), power.negative, 3, power.exponent - 1, false, SMMA_ROUND_TOWARD_ZERO,
                          SMMA_OVERFLOW_SATURATE);
  return smma_is_exactly(smma_dyadic_of((int64_t)smma_decode(smma_encoding_of(i->b), row->b[k]).significand,
                                        power.exponent - power.fraction_bits),
                         3, power.exponent - 1);
}

/* Whether X - X + the last bit kept below X gives that bit, at this X: else something greater than X is there. */
static bool ask_last_bit(smma_examination *x, int i, int j, int k, int large, bool *kept) {
  smma_subject *s = &x->subject;
  smma_row row;
  *kept = smma_place_triple(s, &row, i, j, k, large, 1, large - x->alignment.bits);
  if (!*kept) return true;
  if (!smma_ask_subject(s, &row, 1)) return false;
  *kept = smma_is_exactly(smma_result(s, &row), 1, large - x->alignment.bits);
  return true;
}

static const char out_of_reach[] = "the last bit kept is out of the formats' range";

/* Two products 2.25 and -2.25 beside a small one at the last bit that is kept below 1: it stays if 2.25 is aligned by
   the exponents of its factors, and goes if by its own. */
bool smma_probe_products_normalised(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1], products = 0;
  smma_row row = smma_blank_row(s);
  bool kept;
  if (!x->first.known || !x->first.fused) return smma_cannot_tell(f, "there is no common alignment that is known");
  if (!x->alignment.known) return smma_cannot_tell(f, "the bits kept of aligned products are not known");
  if (x->alignment.bits < 3) return smma_cannot_tell(f, "alignment keeps too few bits of 2.25");
  for (int k = 0; k < s->instruction->k && products < 3; k++)
    if (x->first.product[k]) terms[products++] = k;
  if (products < 3) return smma_cannot_tell(f, "it takes three products in a block");
  const int large = smma_span_of(s, terms[1], terms[2], terms[0]).large - 2;
  if (!place_unnormalised(s, &row, terms[1], false, large) || !place_unnormalised(s, &row, terms[2], true, large) ||
      !smma_place(s, &row, terms[0], 1, large - x->alignment.bits))
    return smma_cannot_tell(f, "the formats have no such products");
  if (!ask_last_bit(x, terms[1], terms[2], terms[0], large, &kept)) return false;
  if (!kept) return smma_cannot_tell(f, out_of_reach);
  if (!smma_ask_subject(s, &row, 1)) return false;
  if (smma_is_exactly(smma_result(s, &row), 1, large - x->alignment.bits)) return smma_tell(f, &row, "not normalised");
  return smma_tell(f, &row, "normalised");
}

/* 1 + 1 - 1 - 1 and the last bit kept below 1: 2 would have pushed it out. */
bool smma_probe_normalisation(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1];
  const int count = smma_first_terms(x, terms);
  smma_row row = smma_blank_row(s);
  bool placed = true, kept;
  if (!x->first.known || !x->first.fused) return smma_cannot_tell(f, "there is no common alignment that is known");
  if (!x->alignment.known) return smma_cannot_tell(f, "the bits kept of aligned products are not known");
  if (count < 5) return smma_cannot_tell(f, "it takes five terms in a block");
  const int large = smma_span_of(s, terms[1], terms[count - 1], terms[4]).large - 1;
  for (int i = 0; i < 4; i++)
    placed = placed && smma_place(s, &row, terms[i < 3 ? i + 1 : count - 1], i < 2 ? 1 : -1, large);
  placed = placed && smma_place(s, &row, terms[0], 1, large - x->alignment.bits);
  if (!placed) return smma_cannot_tell(f, out_of_reach);
  if (!ask_last_bit(x, terms[1], terms[count - 1], terms[0], large, &kept)) return false;
  if (!kept) return smma_cannot_tell(f, out_of_reach);
  if (!smma_ask_subject(s, &row, 1)) return false;
  if (smma_is_exactly(smma_result(s, &row), 1, large - x->alignment.bits))
    return smma_tell(f, &row, "once, at the end");
  return smma_tell(f, &row, "early");
}

/* As many equal terms as make the greatest power of two. */
bool smma_probe_carry_bits(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1], carries = 0;
  const int count = smma_first_terms(x, terms);
  smma_row row = smma_blank_row(s), alone = row;
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

/* (1 + u)^2 = 1 + 2 u + u^2, u the last bit of one, beside c = -(1 + 2 u): u^2 is left if the product was neither
   rounded nor cut before it met c. */
bool smma_probe_product_rounding(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  const smma_encoding a = smma_encoding_of(i->a);
  const int bits = a.fraction_bits, shift = smma_maximum(0, (smma_range_of_d(s).least + 2 * bits + 1) / 2);
  smma_row row = smma_blank_row(s);
  if (2 * bits <= smma_encoding_of(i->d).fraction_bits)
    return smma_cannot_tell(f, "products are exact in the output's format");
  if (!x->first.known || !x->first.has_c) return smma_cannot_tell(f, "c is not known to join with the first products");
  if (i->a != i->b) return smma_cannot_tell(f, "a and b differ in format");
  row.a[smma_first_product(x)] = smma_encode(a, false, ((uint64_t)1 << bits) + 1, shift - bits, false,
                                             SMMA_ROUND_TOWARD_ZERO, SMMA_OVERFLOW_SATURATE);
  row.b[smma_first_product(x)] = row.a[smma_first_product(x)];
  if (shift > smma_range_of_format(i->a).greatest ||
      !smma_place(s, &row, i->k, -(((int64_t)1 << bits) + 2), 2 * shift - bits))
    return smma_cannot_tell(f, "c cannot hold the leading bits");
  if (!smma_ask_subject(s, &row, 1)) return false;
  if (smma_is_exactly(smma_result(s, &row), 1, 2 * (shift - bits))) return smma_tell(f, &row, "not rounded");
  if (!smma_is_exactly(smma_result(s, &row), 0, 0))
    return smma_cannot_tell(f, "the result is neither the rest of the product nor zero");
  if (!x->first.fused || !(x->alignment.exact || (x->alignment.known && x->alignment.bits >= 2 * bits)))
    return smma_cannot_tell(f, "what is lost of the product may be cut off by alignment");
  return smma_tell(f, &row, "rounded before they are added");
}
