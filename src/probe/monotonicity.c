/* Whether a greater operand can make a smaller result: 2^E in the place of the number before it raises what alignment
   cuts from all other terms. */
#include "probe/probe.h"

bool smma_probe_monotonicity(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  const int bits = smma_encoding_of(i->c).fraction_bits;
  smma_row rows[2];
  if (!x->first.known) return smma_cannot_tell(f, "the block is not known");
  if (!x->first.has_c || !x->first.fused) return smma_tell(f, NULL, "no violation found");
  if (x->alignment_exact && x->alignment_bits > 2 * bits) return smma_tell(f, NULL, "no violation found");
  if (!x->alignment_known) return smma_cannot_tell(f, "the bits kept of aligned products are not known");
  for (int shift = 0; shift < 3; shift++) {
    const int exponent = smma_minimum(smma_range_of(s, 0).greatest, smma_range_of_d(s).greatest - 4) - shift;
    bool placed = true;
    int64_t less, more;
    for (int r = 0; r < 2; r++) {
      rows[r] = smma_blank_row(s);
      placed = placed && (r == 0 ? smma_place(s, &rows[r], i->k, ((int64_t)2 << bits) - 1, exponent - bits - 1)
                                 : smma_place(s, &rows[r], i->k, 1, exponent));
      for (int k = 0; k < i->k; k++)
        if (x->first.product[k]) placed = placed && smma_place(s, &rows[r], k, 1, exponent - 1 - x->alignment_bits);
    }
    if (!placed) return smma_cannot_tell(f, "the last bits kept are below the formats' range");
    if (!smma_ask_subject(s, rows, 2)) return false;
    const int unit = exponent - bits - 1;
    if (smma_in_units(smma_result(s, &rows[0]), unit, &less) && smma_in_units(smma_result(s, &rows[1]), unit, &more) &&
        more < less)
      return smma_tell(f, &rows[1], "violated: a greater c gives a smaller d");
  }
  return smma_tell(f, &rows[1], "no violation found");
}
