/* Tests whether a greater operand can give a smaller result. This can happen if 2^E replaces the next smaller number,
   because then alignment truncates more of all other terms. */
#include <math.h>

#include "probe/probe.h"
#include "rows/generate.h"

enum { PAIRS = 512 };

/* Replaces an encoding by that of the next greater number of its format. Returns false if either number is not
   finite. */
static bool step_up(smma_format format, uint64_t *encoding) {
  const smma_encoding e = smma_encoding_of(format);
  const smma_number x = smma_decode(e, *encoding);
  const uint64_t step = (uint64_t)1 << e.ignored_bits;
  if (x.kind > SMMA_FINITE) return false;
  if (x.kind == SMMA_ZERO)
    *encoding = step;
  else
    *encoding = x.negative ? *encoding - step : *encoding + step;
  return smma_decode(e, *encoding).kind <= SMMA_FINITE;
}

static double value_of(const smma_subject *s, const smma_row *row) {
  const smma_number d = smma_decode(smma_encoding_of(s->instruction->d), row->d);
  if (d.kind == SMMA_NAN) return NAN;
  const double magnitude =
      d.kind == SMMA_INFINITE ? INFINITY : ldexp((double)d.significand, d.exponent - d.fraction_bits);
  return d.negative ? -magnitude : magnitude;
}

/* Compares pairs of vectors that differ only in c, which is the next greater number in the second vector of a pair. In
   many of them the products nearly cancel. */
static bool search_in(smma_examination *x, smma_finding *f, smma_row *rows) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  const smma_operation o = smma_operation_of(i);
  static const smma_row_kind kinds[] = {SMMA_ROWS_CANCELLATION, SMMA_ROWS_NORMAL, SMMA_ROWS_ILL};
  size_t count = 0;
  for (uint64_t n = 0; n < PAIRS; n++) {
    rows[count].d = 0;
    smma_generate_row(&o, 2, n, kinds[n % 3], &rows[count]);
    rows[count + 1] = rows[count];
    if (step_up(i->c, &rows[count + 1].c)) count += 2;
  }
  if (!smma_ask_subject(s, rows, count)) return false;
  for (size_t n = 0; n < count; n += 2)
    if (value_of(s, &rows[n + 1]) < value_of(s, &rows[n]))
      return smma_tell(f, &rows[n + 1], "violated: a greater c gives a smaller d");
  return smma_tell(f, NULL, "no violation found in %zu pairs with rising c", count / 2);
}

static bool search(smma_examination *x, smma_finding *f) { return smma_with_rows(x, f, 2 * PAIRS, search_in); }

bool smma_probe_monotonicity(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  const int bits = smma_encoding_of(i->c).fraction_bits;
  smma_row rows[2];
  if (!x->first.known) return smma_cannot_tell(f, "the structure of the first sum is not fully known");
  if (!x->first.has_c || !x->first.fused) return search(x, f);
  if (x->alignment.exact && x->alignment.bits > 2 * bits) return search(x, f);
  if (!x->alignment.known) return smma_cannot_tell(f, "the number of bits that alignment retains is not known");
  for (int shift = 0; shift < 3; shift++) {
    const int exponent = smma_minimum(smma_range_of(s, 0).greatest, smma_range_of_d(s).greatest - 4) - shift;
    bool placed = true;
    int64_t less, more;
    for (int r = 0; r < 2; r++) {
      rows[r] = smma_blank_row(s);
      placed = placed && (r == 0 ? smma_place(s, &rows[r], i->k, ((int64_t)2 << bits) - 1, exponent - bits - 1)
                                 : smma_place(s, &rows[r], i->k, 1, exponent));
      for (int k = 0; k < i->k; k++)
        if (x->first.product[k]) placed = placed && smma_place(s, &rows[r], k, 1, exponent - 1 - x->alignment.bits);
    }
    if (!placed) return smma_cannot_tell(f, "the last retained bits are below the formats' range");
    if (!smma_ask_subject(s, rows, 2)) return false;
    const int unit = exponent - bits - 1;
    if (smma_in_units(smma_result(s, &rows[0]), unit, &less) && smma_in_units(smma_result(s, &rows[1]), unit, &more) &&
        more < less)
      return smma_tell(f, &rows[1], "violated: a greater c gives a smaller d");
  }
  return search(x, f);
}
