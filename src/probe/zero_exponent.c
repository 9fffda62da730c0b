/* Measures the exponent that a zero has when the greatest exponent for alignment is chosen. Adds only small products.
   The least of them is truncated if it is too far below the exponent of a zero. Source: MMA-Sim, IV-C; the vector
   recorded on an H100 that determines this exponent is of this kind. */
#include "probe/probe.h"

/* Adds terms whose exact sum is the least number of d's format. In FP32 this is 2^-149, the sum of 2^-150 + 2^-151 +
   ... + 2^-m + 2^-m. The result is that number if every bit is retained, and zero if the last terms are truncated. */
bool smma_probe_zero_exponent(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int least = smma_range_of_d(s).least - smma_encoding_of(s->instruction->d).fraction_bits;
  const smma_rounding_mode *truncation = &smma_rounding_modes[SMMA_MODE_TOWARD_ZERO];
  int terms[SMMA_MAXIMUM_ROUNDED_K], count = 0, kept = 0;
  smma_row witness;
  for (int k = 0; k < s->instruction->k; k++)
    if (x->first.product[k]) terms[count++] = k;
  if (!x->alignment.known || !x->first.fused)
    return smma_cannot_tell(f, "no terms are known to be aligned to a common exponent");
  if (x->output_rounding != truncation || x->alignment.rounding != truncation)
    return smma_cannot_tell(f, "the test needs truncation of terms and of results");
  for (int m = 1; m < count; m++) {
    smma_row row = smma_blank_row(s);
    for (int i = 1; i <= m + 1 && i <= count; i++)
      if (!smma_place(s, &row, terms[i - 1], 1, least - smma_minimum(i, m)))
        return smma_cannot_tell(f, "no product is as small as the smallest result");
    if (!smma_ask_subject(s, &row, 1)) return false;
    if (!smma_is_exactly(smma_result(s, &row), 1, least)) {
      if (m == 1) return smma_cannot_tell(f, "even the smallest result is truncated");
      const int found = least - kept + x->alignment.bits;
      return found == least - 1 ? smma_tell(f, &row, "none, or at most %d", found) : smma_tell(f, &row, "%d", found);
    }
    witness = row;
    kept = m;
  }
  if (count < 2) return smma_cannot_tell(f, "the test needs two products in a block");
  return smma_tell(f, &witness, "none, or at most %d", least - kept + x->alignment.bits);
}
