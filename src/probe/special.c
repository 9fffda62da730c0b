/* Probes for zeros, infinities, NaN and overflow. */
#include <stdio.h>
#include <stdlib.h>

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
  const bool in_b = !has_negative_zero(i->a);
  if (!has_negative_zero(in_b ? i->b : i->a) || !has_negative_zero(i->c))
    return smma_cannot_tell(f, "c or both factors have no -0");
  for (int k = 0; k < i->k; k++) *(in_b ? &row.b[k] : &row.a[k]) = negative_zero(in_b ? i->b : i->a);
  row.c = negative_zero(i->c);
  return smma_ask_subject(s, &row, 1) && tell_zero(f, s, &row);
}

bool smma_probe_zero_cancellation(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  smma_row row = smma_blank_row(s);
  if (!smma_place(s, &row, smma_first_product(x), 1, 0) || !smma_place(s, &row, s->instruction->k, -1, 0))
    return smma_cannot_tell(f, "products and c have no common number");
  if (!smma_ask_subject(s, &row, 1)) return false;
  const smma_dyadic d = smma_result(s, &row); /* the result for x = 1 */
  if (d.kind == SMMA_IS_DYADIC && (d.significand == 1 || d.significand == -1))
    return smma_tell(f, &row, "not zero: %s2^%d x", d.significand < 0 ? "-" : "", d.exponent);
  return tell_zero(f, s, &row);
}

/* ---- Overflow ---- */

enum { MOST_OVERFLOW_TERMS = 24 };

static const char *finite_or_not(const smma_subject *s, const smma_row *row) {
  const smma_number d = smma_decode(smma_encoding_of(s->instruction->d), row->d);
  return d.kind == SMMA_NAN ? "NaN" : d.kind == SMMA_INFINITE ? "infinity" : "a finite number";
}

/* Tests 2^(E + 1) - 2^E, where E is the output's largest exponent. */
bool smma_probe_product_overflow(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int greatest = smma_range_of_d(s).greatest;
  smma_row row = smma_blank_row(s);
  if (!smma_place(s, &row, smma_first_product(x), 1, greatest + 1) ||
      !smma_place(s, &row, s->instruction->k, -1, greatest))
    return smma_cannot_tell(f, "products cannot exceed the output's range");
  if (!smma_ask_subject(s, &row, 1)) return false;
  if (smma_is_exactly(smma_result(s, &row), 1, greatest))
    return smma_tell(f, &row, "retained: 2^(E + 1) - 2^E is 2^E (E: greatest exponent of d)");
  return smma_tell(f, &row, "overflow to %s", finite_or_not(s, &row));
}

/* Makes a vector of three numbers. The sum of the first two is out of d's range, and the third is the negative of each
   of them. */
static bool place_overflow(const smma_subject *s, smma_row *row, const int terms[3], int sign) {
  const int greatest = smma_range_of_d(s).greatest;
  *row = smma_blank_row(s);
  return smma_place(s, row, terms[0], sign, greatest) && smma_place(s, row, terms[1], sign, greatest) &&
         smma_place(s, row, terms[2], -sign, greatest);
}

/* Lists up to three products of each block, and c, and returns their number. With these, every sum in which two terms
   may first be added occurs, unless blocks have more than MOST_OVERFLOW_TERMS - 1 such products. */
static int overflow_terms(const smma_examination *x, int terms[2 * SMMA_MAXIMUM_ROUNDED_K + 1]) {
  const int k = x->subject.instruction->k;
  int count = 0, seen[SMMA_MAXIMUM_ROUNDED_K] = {0};
  for (int i = 0; i < k; i++)
    if (seen[x->first.block[i]]++ < 3 && count < MOST_OVERFLOW_TERMS - 1) terms[count++] = i;
  terms[count++] = k;
  return count;
}

/* Tests 2^E + 2^E - 2^E, with both signs, for every choice of three terms of overflow_terms. */
bool smma_probe_sum_overflow(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int greatest = smma_range_of_d(s).greatest, k = s->instruction->k;
  int terms[2 * SMMA_MAXIMUM_ROUNDED_K + 1], signs[2] = {1, -1};
  const int n = overflow_terms(x, terms);
  const size_t most = (size_t)(n * n * n);
  if (k < 2) return smma_cannot_tell(f, "the test needs two products");
  smma_row *rows = malloc(most * sizeof *rows);
  int *sign_of = malloc(most * sizeof *sign_of); /* the sign of each row's exact result */
  size_t count = 0, kept = 0, lost = 0;
  bool good = (rows && sign_of) || smma_no_memory(&s->error);
  for (int p = 0; good && p < n * n * n * 2; p++) {
    const int three[] = {terms[p / 2 % n], terms[p / 2 / n % n], terms[p / 2 / n / n]};
    if (p / 2 % n >= p / 2 / n % n || three[0] == three[2] || three[1] == three[2]) continue;
    sign_of[count] = signs[p % 2];
    count += place_overflow(s, &rows[count], three, signs[p % 2]);
  }
  good = good && (count == 0 || smma_ask_subject(s, rows, count));
  for (size_t r = 0; good && r < count; r++) {
    const bool is_kept = smma_is_exactly(smma_result(s, &rows[r]), sign_of[r], greatest);
    kept += is_kept;
    if (!is_kept && (lost == 0 || kept == 0)) lost = r + 1;
  }
  if (good && count == 0)
    smma_cannot_tell(f, "products cannot exceed the output's range");
  else if (good && kept == count)
    smma_tell(f, &rows[0], "retained: 2^E + 2^E - 2^E is 2^E in %zu orders of terms (E: greatest exponent of d)",
              count);
  else if (good)
    smma_tell(
        f, &rows[lost - 1],
        "overflow to %s if 2^E + 2^E is added before -2^E, in %zu of %zu orders of terms (E: greatest exponent of d)",
        finite_or_not(s, &rows[lost - 1]), count - kept, count);
  free(rows);
  free(sign_of);
  return good;
}

/* Adds 1/4, 1/2 and 3/4 of the last bit to the greatest finite number, then the same with negative signs. In the
   finding, max stands for the greatest number and inf for infinity. */
bool smma_probe_overflow_edges(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  const smma_encoding c = smma_encoding_of(i->c), d = smma_encoding_of(i->d);
  smma_row rows[6];
  const char *word[6];
  const uint64_t largest = smma_largest_fields(d);
  if (i->c != i->d) return smma_cannot_tell(f, "c and d differ in format");
  for (int r = 0; r < 6; r++) {
    const bool negative = r >= 3;
    rows[r] = smma_blank_row(s);
    rows[r].c = smma_sign_and_fields(c, negative, largest);
    if (!smma_place(s, &rows[r], smma_first_product(x), negative ? -(r - 2) : r + 1,
                    smma_range_of_d(s).greatest - d.fraction_bits - 2))
      return smma_cannot_tell(f, "no product is as small as a quarter of the last bit of the greatest number");
  }
  if (!smma_ask_subject(s, rows, 6)) return false;
  for (int r = 0; r < 6; r++) {
    const smma_number n = smma_decode(d, rows[r].d);
    word[r] = n.kind == SMMA_INFINITE ? "inf" : rows[r].d == rows[r].c ? "max" : "other";
  }
  return smma_tell(f, &rows[1], "+: %s, %s, %s; -: %s, %s, %s (max: greatest number, inf: infinity)", word[0], word[1],
                   word[2], word[3], word[4], word[5]);
}

/* ---- NaN ---- */

/* Lets the unit compute vectors that have a special operand at each k in turn. Writes the result of the first vector,
   and how many of the other results differ from it. */
static bool tell_nans(smma_finding *f, smma_subject *s, smma_row *rows, size_t count) {
  const smma_encoding d = smma_encoding_of(s->instruction->d);
  const int digits = (d.bits + 3) / 4;
  size_t other = 0, others = 0;
  char first[40], text[40];
  if (!smma_ask_subject(s, rows, count)) return false;
  for (size_t i = 1; i < count; i++)
    if (rows[i].d != rows[0].d) other = others ? other : i, others++;
  for (int i = 0; i < 2; i++) {
    const uint64_t result = rows[i ? other : 0].d;
    const bool is_nan = smma_decode(d, result).kind == SMMA_NAN;
    snprintf(i ? text : first, sizeof text, "%s0x%0*llx%s", is_nan ? "NaN " : "", digits, (unsigned long long)result,
             is_nan ? "" : " (not a NaN)");
  }
  if (others == 0) return smma_tell(f, &rows[0], "%s", first);
  return smma_tell(f, &rows[other], "%s; another result in %zu of %zu test vectors, for example %s", first, others,
                   count, text);
}

static bool infinity_of(smma_format format, bool negative, uint64_t *encoding) {
  *encoding = smma_overflowed(smma_encoding_of(format), negative, SMMA_OVERFLOW_INFINITY);
  return smma_decode(smma_encoding_of(format), *encoding).kind == SMMA_INFINITE;
}

enum { MOST_SPECIAL_ROWS = 4 * SMMA_MAXIMUM_ROUNDED_K + 1 };

/* Tests a NaN in a and in b at every product, and in c. */
static bool ask_nan_input(smma_examination *x, smma_finding *f, smma_row *rows) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  const uint64_t a = smma_default_nan(smma_encoding_of(i->a)), b = smma_default_nan(smma_encoding_of(i->b)),
                 c = smma_default_nan(smma_encoding_of(i->c));
  smma_row blank = smma_blank_row(s);
  size_t count = 0;
  if (!smma_place(s, &blank, i->k, 1, 0)) return smma_cannot_tell(f, "c cannot represent 1");
  for (int k = 0; k < i->k; k++)
    for (int in_b = 0; in_b < 2; in_b++) {
      if (smma_decode(smma_encoding_of(in_b ? i->b : i->a), in_b ? b : a).kind != SMMA_NAN) continue;
      rows[count] = blank;
      *(in_b ? &rows[count].b[k] : &rows[count].a[k]) = in_b ? b : a;
      count++;
    }
  rows[count] = blank;
  rows[count].c = c;
  count += smma_decode(smma_encoding_of(i->c), c).kind == SMMA_NAN;
  if (count == 0) return smma_cannot_tell(f, "the formats have no NaN");
  return tell_nans(f, s, rows, count);
}

bool smma_probe_nan_input(smma_examination *x, smma_finding *f) {
  return smma_with_rows(x, f, MOST_SPECIAL_ROWS, ask_nan_input);
}

/* Tests infinity in either factor, with both signs, at every product. */
static bool ask_nan_invalid(smma_examination *x, smma_finding *f, smma_row *rows) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  size_t count = 0;
  for (int k = 0; k < i->k; k++)
    for (int n = 0; n < 4; n++) {
      uint64_t infinity;
      if (!infinity_of(n % 2 ? i->b : i->a, n / 2, &infinity)) continue;
      rows[count] = smma_blank_row(s);
      *(n % 2 ? &rows[count].b[k] : &rows[count].a[k]) = infinity;
      count++;
    }
  if (count == 0) return smma_cannot_tell(f, "the format has no infinity");
  return tell_nans(f, s, rows, count);
}

bool smma_probe_nan_invalid(smma_examination *x, smma_finding *f) {
  return smma_with_rows(x, f, MOST_SPECIAL_ROWS, ask_nan_invalid);
}

/* Tests an infinite product of either sign, from either factor, at every position, with the opposite infinity in c. */
static bool ask_nan_difference(smma_examination *x, smma_finding *f, smma_row *rows) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  bool have_infinities = false;
  size_t count = 0;
  for (int k = 0; k < i->k; k++)
    for (int n = 0; n < 4; n++) {
      uint64_t infinity, opposite;
      rows[count] = smma_blank_row(s);
      if (!infinity_of(n % 2 ? i->b : i->a, n / 2, &infinity) || !infinity_of(i->c, !(n / 2), &opposite)) continue;
      have_infinities = true;
      if (!smma_place(s, &rows[count], k, 1, 0)) continue;
      *(n % 2 ? &rows[count].b[k] : &rows[count].a[k]) = infinity;
      rows[count++].c = opposite;
    }
  if (count == 0 && have_infinities) return smma_cannot_tell(f, "no product is 1");
  if (count == 0) return smma_cannot_tell(f, "c or both factors have no infinity");
  return tell_nans(f, s, rows, count);
}

bool smma_probe_nan_difference(smma_examination *x, smma_finding *f) {
  return smma_with_rows(x, f, MOST_SPECIAL_ROWS, ask_nan_difference);
}
