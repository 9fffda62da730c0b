/* What alignment keeps: -X + X + small within one fused sum. */
#include "probe/probe.h"
#include "probe/rounding_mode.h"
#include "probe/triple.h"

/* Two terms of the first sum besides `third`, which is one too. */
static bool partners(const smma_examination *x, int third, int *i, int *j) {
  int terms[SMMA_MAXIMUM_K + 1], found = 0;
  const int count = smma_first_terms(x, terms);
  for (int n = 0; n < count && found < 2; n++)
    if (terms[n] != third) *(found++ ? j : i) = terms[n];
  return found == 2;
}

/* The term whose alignment is examined: c, or the last product of the first sum. */
static int term_of(const smma_examination *x, bool is_c) {
  const int k = x->subject.instruction->k;
  if (is_c) return x->first.has_c ? k : -1;
  for (int i = k - 1; i >= 0; i--)
    if (x->first.product[i]) return i;
  return -1;
}

/* X may be twice as great as anything at k. */
static smma_span alignment_span(const smma_subject *s, int i, int j, int k) {
  smma_span span = smma_span_of(s, i, j, k);
  span.large = smma_minimum(span.large, smma_range_of(s, k).greatest + 1);
  return span;
}

/* The most bits below X at which a small number survives with both signs, and every greater one does; `*beyond`: none
   within reach is lost. */
static bool ask_bits_at(smma_subject *s, int i, int j, int k, smma_span span, int *bits, bool *beyond,
                        smma_row *witness) {
  smma_row rows[2];
  *beyond = true;
  *bits = 0;
  for (int g = 1; span.large - g >= span.least; g++) {
    for (int sign = 0; sign < 2; sign++)
      if (!smma_place_triple(s, &rows[sign], i, j, k, span.large, sign ? -1 : 1, span.large - g)) return true;
    if (!smma_ask_subject(s, rows, 2)) return false;
    *witness = rows[0];
    *beyond = smma_is_exactly(smma_result(s, &rows[0]), 1, span.large - g) &&
              smma_is_exactly(smma_result(s, &rows[1]), -1, span.large - g);
    if (!*beyond) return true;
    *bits = g;
  }
  return true;
}

enum { OTHER_SIZE = 3 };

/* Likewise, and whether a smaller X has as many bits; else X is not what small numbers are aligned to. */
static bool ask_bits(smma_subject *s, int i, int j, int k, int *bits, bool *beyond, bool *steady, smma_row *witness) {
  const smma_span span = alignment_span(s, i, j, k);
  smma_span smaller = {.large = span.large - OTHER_SIZE, .least = span.least};
  smma_row unused;
  int other;
  bool other_beyond;
  if (!ask_bits_at(s, i, j, k, smaller, &other, &other_beyond, &unused) ||
      !ask_bits_at(s, i, j, k, span, bits, beyond, witness))
    return false;
  *steady = other_beyond ? *beyond || *bits >= other : *bits == other;
  return true;
}

/* Why there is no triple; true if there is one. */
static bool can_align(const smma_examination *x, bool is_c, int *i, int *j, int *k, smma_finding *f) {
  *k = term_of(x, is_c);
  if (!x->first.known) return !smma_cannot_tell(f, "the block is not known");
  if (!x->first.fused) return !smma_cannot_tell(f, "no three terms are known to be aligned in common");
  if (*k < 0) return !smma_cannot_tell(f, "c is not added with the first products");
  if (!partners(x, *k, i, j)) return !smma_cannot_tell(f, "it takes three terms");
  return true;
}

static bool probe_bits(smma_examination *x, smma_finding *f, bool is_c) {
  smma_row witness;
  int i, j, k, bits;
  bool beyond, steady;
  if (!can_align(x, is_c, &i, &j, &k, f)) return true;
  if (!ask_bits(&x->subject, i, j, k, &bits, &beyond, &steady, &witness)) return false;
  if (!steady) return smma_cannot_tell(f, "terms are not aligned to the greatest of them");
  if (!is_c) {
    x->alignment_known = !beyond;
    x->alignment_exact = beyond && x->first.exact;
    x->alignment_bits = bits;
  }
  if (beyond && bits == 0) return smma_cannot_tell(f, "the formats have no common range");
  if (beyond) return smma_tell(f, &witness, "all, at least %d", bits);
  return smma_tell(f, &witness, "%d", bits);
}

bool smma_probe_alignment_bits(smma_examination *x, smma_finding *f) { return probe_bits(x, f, false); }
bool smma_probe_alignment_bits_c(smma_examination *x, smma_finding *f) { return probe_bits(x, f, true); }

/* Quarters of the last bit kept. */
static bool probe_rounding(smma_examination *x, smma_finding *f, bool is_c) {
  smma_subject *s = &x->subject;
  smma_row rows[SMMA_ROUNDING_QUESTIONS];
  int64_t results[SMMA_ROUNDING_QUESTIONS];
  smma_span span;
  int i, j, k, bits;
  bool beyond, steady;
  const smma_rounding_mode *mode;
  if (!can_align(x, is_c, &i, &j, &k, f)) return true;
  if (!ask_bits(s, i, j, k, &bits, &beyond, &steady, &rows[0])) return false;
  if (!steady) return smma_cannot_tell(f, "terms are not aligned to the greatest of them");
  if (beyond) return smma_cannot_tell(f, "no bit within reach is lost");
  span = alignment_span(s, i, j, k);
  for (int q = 0; q < SMMA_ROUNDING_QUESTIONS; q++)
    if (!smma_place_triple(s, &rows[q], i, j, k, span.large, smma_quarters[q], span.large - bits - 2))
      return smma_cannot_tell(f, "quarters of the last bit are below the formats' range");
  if (!smma_ask_subject(s, rows, SMMA_ROUNDING_QUESTIONS)) return false;
  for (int q = 0; q < SMMA_ROUNDING_QUESTIONS; q++)
    if (!smma_in_units(smma_result(s, &rows[q]), span.large - bits - 2, &results[q]))
      return smma_cannot_tell(f, "a result is no multiple of a quarter");
  mode = smma_find_rounding_mode(results);
  if (!mode) return smma_cannot_tell(f, "no rounding gives these results");
  return smma_tell(f, &rows[1], "%s", mode->name);
}

bool smma_probe_alignment_rounding(smma_examination *x, smma_finding *f) { return probe_rounding(x, f, false); }
bool smma_probe_alignment_rounding_c(smma_examination *x, smma_finding *f) { return probe_rounding(x, f, true); }
