/* Two tests as FTTN defines them, where an ulp is the last bit of 1 in d's format. The findings of other probes are
   more reliable. */
#include "probe/probe.h"

/* Computes 1 - 2^-1 ulp with c = 1. The result is exact only if the unit retains one bit below the last bit of 1. */
bool smma_probe_fttn_one_bit(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int half = -smma_encoding_of(s->instruction->d).fraction_bits - 1;
  smma_row row = smma_blank_row(s);
  if (!smma_place(s, &row, s->instruction->k, 1, 0) || !smma_place(s, &row, smma_first_product(x), -1, half))
    return smma_cannot_tell(f, "half an ulp is below the formats' range");
  if (!smma_ask_subject(s, &row, 1)) return false;
  return smma_tell(f, &row, "%s",
                   smma_is_exactly(smma_result(s, &row), ((int64_t)1 << -half) - 1, half) ? "yes" : "no");
}

/* Adds c = 1, half an ulp in the first product and half an ulp in another product. Finds the first other product with
   which the two halves no longer sum to an ulp. */
bool smma_probe_fttn_width(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int k = s->instruction->k, half = -smma_encoding_of(s->instruction->d).fraction_bits - 1;
  smma_row rows[SMMA_MAXIMUM_ROUNDED_K];
  for (int i = 1; i < k; i++) {
    rows[i] = smma_blank_row(s);
    if (!smma_place(s, &rows[i], k, 1, 0) || !smma_place(s, &rows[i], smma_first_product(x), 1, half) ||
        !smma_place(s, &rows[i], i, 1, half))
      return smma_cannot_tell(f, "half an ulp is below the formats' range");
  }
  if (k < 2) return smma_cannot_tell(f, "the test needs two products");
  if (!smma_ask_subject(s, rows + 1, (size_t)k - 1)) return false;
  for (int i = 1; i < k; i++)
    if (smma_is_exactly(smma_result(s, &rows[i]), 1, 0)) return smma_tell(f, &rows[i], "%d", i);
  return smma_tell(f, &rows[k - 1], "%d or more", k);
}
