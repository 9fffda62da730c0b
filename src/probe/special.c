/* Zeros, infinities, NaN, and where results overflow. */
#include <string.h>

#include "probe/probe.h"

/* ---- Zeros ---- */

static bool tell_zero(smma_finding *f, const smma_subject *s, const smma_row *row) {
  const smma_number d = smma_decode(smma_encoding_of(s->instruction->d), row->d);
  if (d.kind != SMMA_ZERO) return smma_tell(f, row, "not zero");
  return smma_tell(f, row, "%s", d.negative ? "-0" : "+0");
}

static uint64_t negative_zero(smma_format format) { return smma_sign_and_fields(smma_encoding_of(format), true, 0); }

static bool has_negative_zero(smma_format format) {
  return smma_decode(smma_encoding_of(format), negative_zero(format)).kind == SMMA_ZERO && negative_zero(format) != 0;
}

bool smma_probe_zero_sum(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  smma_row row = smma_blank_row(s);
  if (!has_negative_zero(i->a) || !has_negative_zero(i->c)) return smma_cannot_tell(f, "the formats have no -0");
  for (int k = 0; k < i->k; k++) row.a[k] = negative_zero(i->a);
  row.c = negative_zero(i->c);
  return smma_ask_subject(s, &row, 1) && tell_zero(f, s, &row);
}

bool smma_probe_zero_cancellation(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  smma_row row = smma_blank_row(s);
  if (!smma_place(s, &row, 0, 1, 0) || !smma_place(s, &row, s->instruction->k, -1, 0))
    return smma_cannot_tell(f, "the formats have no common number");
  return smma_ask_subject(s, &row, 1) && tell_zero(f, s, &row);
}

/* ---- Overflow ---- */

static const char *finite_or_not(const smma_subject *s, const smma_row *row) {
  const smma_number d = smma_decode(smma_encoding_of(s->instruction->d), row->d);
  return d.kind == SMMA_NAN ? "NaN" : d.kind == SMMA_INFINITE ? "infinity" : "finite";
}

/* 2^(E + 1) - 2^E, E the output's greatest exponent. */
bool smma_probe_product_overflow(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int greatest = smma_range_of_d(s).greatest;
  smma_row row = smma_blank_row(s);
  if (!smma_place(s, &row, 0, 1, greatest + 1) || !smma_place(s, &row, s->instruction->k, -1, greatest))
    return smma_cannot_tell(f, "no product is as great");
  if (!smma_ask_subject(s, &row, 1)) return false;
  if (smma_is_exactly(smma_result(s, &row), 1, greatest)) return smma_tell(f, &row, "kept: 2^(E + 1) - 2^E is 2^E");
  return smma_tell(f, &row, "overflow to %s", finite_or_not(s, &row));
}

/* 2^E + 2^E - 2^E. */
bool smma_probe_sum_overflow(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int greatest = smma_range_of_d(s).greatest, k = s->instruction->k;
  smma_row rows[3];
  if (k < 2) return smma_cannot_tell(f, "it takes two products");
  for (int r = 0; r < 3; r++) { /* -2^E at c, at the first product, at the second */
    rows[r] = smma_blank_row(s);
    if (!smma_place(s, &rows[r], k, r == 0 ? -1 : 1, greatest) ||
        !smma_place(s, &rows[r], 0, r == 1 ? -1 : 1, greatest) ||
        !smma_place(s, &rows[r], 1, r == 2 ? -1 : 1, greatest))
      return smma_cannot_tell(f, "no product is as great");
  }
  if (!smma_ask_subject(s, rows, 3)) return false;
  for (int r = 0; r < 3; r++)
    if (!smma_is_exactly(smma_result(s, &rows[r]), 1, greatest))
      return smma_tell(f, &rows[r], "overflow to %s where they are added before the third", finite_or_not(s, &rows[r]));
  return smma_tell(f, &rows[0], "kept: 2^E + 2^E - 2^E is 2^E in any order");
}

/* The greatest finite number and 1/4, 1/2, 3/4 of its last bit, then their negatives: i infinity, m the greatest. */
bool smma_probe_overflow_edges(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  const smma_encoding c = smma_encoding_of(i->c), d = smma_encoding_of(i->d);
  smma_row rows[6];
  char text[7] = "";
  const uint64_t largest = smma_largest_fields(d);
  if (i->c != i->d) return smma_cannot_tell(f, "c and d differ in format");
  for (int r = 0; r < 6; r++) {
    const bool negative = r >= 3;
    rows[r] = smma_blank_row(s);
    rows[r].c = smma_sign_and_fields(c, negative, largest);
    if (!smma_place(s, &rows[r], 0, negative ? -(r - 2) : r + 1, smma_range_of_d(s).greatest - d.fraction_bits - 2))
      return smma_cannot_tell(f, "no product is as great as a quarter of the last bit");
  }
  if (!smma_ask_subject(s, rows, 6)) return false;
  for (int r = 0; r < 6; r++) {
    const smma_number n = smma_decode(d, rows[r].d);
    text[r] = n.kind == SMMA_INFINITE ? 'i' : rows[r].d == rows[r].c ? 'm' : '?';
  }
  return smma_tell(f, &rows[1], "%.3s %.3s (m the greatest, i infinity)", text, text + 3);
}

/* ---- NaN ---- */

static bool tell_nan(smma_finding *f, const smma_subject *s, const smma_row *row) {
  const smma_encoding d = smma_encoding_of(s->instruction->d);
  if (smma_decode(d, row->d).kind != SMMA_NAN) return smma_tell(f, row, "no NaN");
  return smma_tell(f, row, "NaN 0x%0*llx", (d.bits + 3) / 4, (unsigned long long)row->d);
}

static bool infinity_of(smma_format format, bool negative, uint64_t *encoding) {
  *encoding = smma_overflowed(smma_encoding_of(format), negative, SMMA_OVERFLOW_INFINITY);
  return smma_decode(smma_encoding_of(format), *encoding).kind == SMMA_INFINITE;
}

bool smma_probe_nan_input(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  smma_row row = smma_blank_row(s);
  row.a[0] = smma_default_nan(smma_encoding_of(i->a));
  if (smma_decode(smma_encoding_of(i->a), row.a[0]).kind != SMMA_NAN)
    return smma_cannot_tell(f, "the format has no NaN");
  if (!smma_place(s, &row, i->k, 1, 0)) return smma_cannot_tell(f, "c has no one");
  return smma_ask_subject(s, &row, 1) && tell_nan(f, s, &row);
}

bool smma_probe_nan_invalid(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  smma_row row = smma_blank_row(s);
  if (!infinity_of(s->instruction->a, false, &row.a[0])) return smma_cannot_tell(f, "the format has no infinity");
  return smma_ask_subject(s, &row, 1) && tell_nan(f, s, &row);
}

bool smma_probe_nan_difference(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  smma_row row = smma_blank_row(s);
  if (!smma_place(s, &row, 0, 1, 0) || !infinity_of(i->a, false, &row.a[0]) || !infinity_of(i->c, true, &row.c))
    return smma_cannot_tell(f, "the formats have no infinity");
  return smma_ask_subject(s, &row, 1) && tell_nan(f, s, &row);
}
