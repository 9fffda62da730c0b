/* Measures how sums become results: fraction bits and rounding of the last sum, of sums between blocks, and of c's
   addition. */
#include <string.h>

#include "probe/probe.h"
#include "probe/rounding_mode.h"

/* To confirm a rounding mode, factors need at least this many fraction bits, because terms are eighths of the last bit
   or finer. */
enum { LEAST_FRACTION_BITS = 3 };

enum { MOST_CARRIES = 2, MOST_ONES = 1 << MOST_CARRIES };

/* The terms of one sum: `count` equal terms of 2^exponent, which are called the ones, and a small term. A later sum can
   subtract the ones. */
typedef struct {
  int ones[MOST_ONES], count; /* indices of the ones; their number */
  int small;                  /* index of the small term */
  int tiny;                   /* index of a second small term, or -1 */
  int exponent;               /* exponent of each of the ones */
  int log;                    /* count = 2^log */
} sum;

/* Chooses which terms of the first or the last sum are the 2^log ones, and which is the small term. If `small_is_c`, c
   is the small term even if the first sum does not contain it. Returns false if there are too few terms, or if a
   product is aligned differently from the others. */
static bool find_terms(const smma_examination *x, int log, bool first, bool small_is_c, sum *t) {
  const smma_subject *s = &x->subject;
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1];
  int count = first ? smma_first_terms(x, terms) : smma_last_terms(x, terms);
  *t = (sum){.count = 1 << log, .log = log, .exponent = smma_range_of_d(s).greatest - MOST_CARRIES - 2};
  if (log > MOST_CARRIES || (x->first.products == 1 && !x->first.has_c)) return false;
  if (small_is_c && !x->first.has_c) terms[count++] = s->instruction->k;
  if (count < t->count + 1) return false;
  for (int i = 0; i < count; i++)
    if (terms[i] < s->instruction->k && x->aligned_otherwise[s->place[terms[i]]]) return false;
  t->small = terms[count - 1];
  t->tiny = count > t->count + 1 ? terms[count - 2] : -1;
  for (int i = 0; i < t->count; i++) t->ones[i] = terms[i];
  for (int i = 0; i < t->count; i++) t->exponent = smma_minimum(t->exponent, smma_range_of(s, t->ones[i]).greatest);
  return true;
}

static bool place_sum(const smma_subject *s, const sum *t, bool negative, int64_t significand, int exponent,
                      smma_row *row) {
  *row = smma_blank_row(s);
  for (int i = 0; i < t->count; i++)
    if (!smma_place(s, row, t->ones[i], negative ? -1 : 1, t->exponent)) return false;
  return smma_place(s, row, t->small, significand, exponent);
}

/* Returns how many carries the sum of the ones needs so that alignment retains a quarter of the last bit of d. */
static int carries_for(const smma_examination *x, int bits) {
  if (!x->first.fused || !x->alignment.known) return 0;
  return smma_maximum(0, bits + 2 - x->alignment.bits);
}

/* Finds the lowest bit that d retains in a sum with 2^log ones. Sets `*bits` to its distance from the leading bit, -1
   if unknown, and `*limited` to whether the next lower bit is lost although alignment retains it. */
static bool ask_output_bits(smma_examination *x, int log, int *bits, bool *limited, smma_row *witness) {
  smma_subject *s = &x->subject;
  sum t;
  *bits = -1;
  *limited = false;
  if (!find_terms(x, log, false, false, &t)) return true;
  for (int g = smma_maximum(1, log);; g++) { /* a low bit greater than the ones would determine the alignment */
    smma_row row;
    const int exponent = t.exponent + log - g; /* g bits below the leading bit of the sum */
    if (x->first.fused && g > x->alignment.bits + log) return true;
    if (!place_sum(s, &t, false, 1, exponent, &row)) return true;
    if (!smma_ask_subject(s, &row, 1)) return false;
    *witness = row;
    if (!smma_is_exactly(smma_result(s, &row), ((int64_t)1 << g) + 1, exponent)) {
      *limited = *bits > 0;
      return true;
    }
    *bits = g;
  }
}

bool smma_probe_output_bits(smma_examination *x, smma_finding *f) {
  int best = -1;
  x->output_known = false;
  x->rounded_bits = -1;
  x->output_rounding = NULL;
  if (!x->first.known) return smma_cannot_tell(f, "the structure of the first sum is not fully known");
  if (x->first.fused && !x->alignment.known && !x->alignment.exact)
    return smma_cannot_tell(f, "the number of bits that alignment retains is not known");
  for (int log = 0; log <= MOST_CARRIES; log++) {
    smma_row witness;
    int bits;
    bool limited;
    if (!ask_output_bits(x, log, &bits, &limited, &witness)) return false;
    best = smma_maximum(best, bits);
    if (!limited) continue;
    if (!x->first.fused && bits != smma_encoding_of(x->subject.instruction->d).fraction_bits)
      return smma_cannot_tell(f, "with two terms, rounding looks like truncation by alignment");
    x->output_known = true;
    x->output_bits = bits;
    return smma_tell(f, &witness, "%d", bits);
  }
  if (best < 0) return smma_cannot_tell(f, "the test needs two terms in the last sum");
  return smma_cannot_tell(f, "results have more than %d, the most that this test can show", best);
}

/* Lets the unit compute a vector with c = whole * 2^last and one product, part * 2^(last - bits), where |part| <
   2^bits. Sets `*agrees` to whether d is their sum, rounded by `mode` to a multiple of 2^(last - finer). */
static bool ask_sum(smma_examination *x, int product, const smma_rounding_mode *mode, int64_t whole, int last,
                    int64_t part, int bits, int finer, bool *agrees) {
  smma_subject *s = &x->subject;
  smma_row row = smma_blank_row(s);
  int64_t units;
  *agrees = smma_place(s, &row, s->instruction->k, whole, last) && smma_place(s, &row, product, part, last - bits);
  if (!*agrees) return true;
  if (!smma_ask_subject(s, &row, 1)) return false;
  *agrees = smma_in_units(smma_result(s, &row), last - finer, &units) &&
            units == mode->round(whole * ((int64_t)1 << bits) + part, bits - finer);
  return true;
}

/* Distinguishes rounding of the sum from alignment of the product, when only c and one product are added. The sum is
   rounded if products that are a fraction of the last bit are rounded in the same way. Such products are added to and
   subtracted from c = 3/2 and the next odd number, with both signs, and subtracted from c = 1, where the last bit of
   the result is half as large. Rounding up, down and to odd cannot be distinguished from the same rounding of aligned
   products. */
static bool confirm(smma_examination *x, const sum *t, int output_bits, const smma_rounding_mode *mode,
                    bool *confirmed) {
  const smma_instruction *i = x->subject.instruction;
  const int bits = smma_minimum(smma_encoding_of(i->a).fraction_bits, 8), last = t->exponent - output_bits;
  const int64_t half = (int64_t)1 << (bits - 1), parts[] = {1, half - 1, half, half + 1, 2 * half - 1};
  const int64_t three_halves = (int64_t)3 << (output_bits - 1), one = (int64_t)1 << output_bits;
  const int product = t->ones[0] == i->k ? t->small : t->ones[0];
  *confirmed = mode->round && !mode->alike_of_terms && bits >= LEAST_FRACTION_BITS && t->count == 1 && x->first.has_c;
  for (int n = 0; *confirmed && n < 5; n++)
    for (int sign = -1; *confirmed && sign <= 1; sign += 2) {
      for (int odd = 0; *confirmed && odd <= 1; odd++)
        for (int other = -1; *confirmed && other <= 1; other += 2)
          if (!ask_sum(x, product, mode, sign * (three_halves + odd), last, other * parts[n], bits, 0, confirmed))
            return false;
      if (*confirmed && !ask_sum(x, product, mode, sign * one, last, -sign * parts[n], bits, 1, confirmed))
        return false;
    }
  return true;
}

/* The sum whose rounding is examined. Its last bit is `bits` bits below its leading bit, and its small term is a
   multiple of a quarter of the last bit. If `cancelled` is not -1, the product with this index subtracts the ones in a
   later sum. */
typedef struct {
  sum t;
  int bits, cancelled;
} rounding;

/* Makes a vector for each of smma_quarters, with all terms scaled by 2^-below. Returns false if the formats have no
   such numbers. */
static bool place_quarters(const smma_subject *s, const rounding *r, int below, smma_row *rows) {
  sum t = r->t;
  t.exponent -= below;
  const int quarter = t.exponent + t.log - r->bits - 2, least = smma_range_of_d(s).least;
  if (below && (r->cancelled < 0 ? t.exponent : quarter) < least) return false;
  for (int q = 0; q < SMMA_ROUNDING_QUESTIONS; q++) {
    const bool negative = smma_quarters[q] < 0;
    if (!place_sum(s, &t, negative, smma_quarters[q], quarter, &rows[q])) return false;
    if (r->cancelled >= 0 && !smma_place(s, &rows[q], r->cancelled, negative ? 1 : -1, t.exponent + t.log))
      return false;
  }
  return true;
}

/* Sets results[q] to the result of vector q without the ones, in quarters of the last bit. Returns false if a result is
   not a multiple of a quarter. */
static bool read_quarters(const smma_subject *s, const rounding *r, int below, const smma_row *rows,
                          int64_t results[SMMA_ROUNDING_QUESTIONS]) {
  const int64_t ones = r->cancelled >= 0 ? 0 : (int64_t)1 << (r->bits + 2);
  const int quarter = r->t.exponent + r->t.log - r->bits - 2 - below;
  for (int q = 0; q < SMMA_ROUNDING_QUESTIONS; q++) {
    if (!smma_in_units(smma_result(s, &rows[q]), quarter, &results[q])) return false;
    results[q] -= smma_quarters[q] < 0 ? -ones : ones;
  }
  return true;
}

enum { MOST_SIZES = 12 };

/* Repeats the vectors, scaled by 2^-1, 2^-2, 2^-4, ..., as long as the terms stay above the exponent that a zero has in
   alignment. Sets `*same` to whether the results are scaled by the same factors. */
static bool ask_smaller(smma_examination *x, const rounding *r, const int64_t results[SMMA_ROUNDING_QUESTIONS],
                        bool *same) {
  smma_row rows[MOST_SIZES * SMMA_ROUNDING_QUESTIONS];
  int sizes = 0;
  *same = true;
  while (sizes < MOST_SIZES && (!x->alignment.known || r->t.exponent - (1 << sizes) >= x->alignment.floor) &&
         place_quarters(&x->subject, r, 1 << sizes, &rows[sizes * SMMA_ROUNDING_QUESTIONS]))
    sizes++;
  if (sizes == 0) return true;
  if (!smma_ask_subject(&x->subject, rows, (size_t)(sizes * SMMA_ROUNDING_QUESTIONS))) return false;
  for (int n = 0; n < sizes; n++) {
    int64_t smaller[SMMA_ROUNDING_QUESTIONS];
    *same = *same && read_quarters(&x->subject, r, 1 << n, &rows[n * SMMA_ROUNDING_QUESTIONS], smaller) &&
            memcmp(smaller, results, sizeof smaller) == 0;
  }
  return true;
}

/* ---- Bits far below the last bit of d ---- */

enum { MOST_DEPTH = 60, ROWS_A_DEPTH = 4 };

/* Makes vectors whose sum ends in half of the last bit, plus or minus the last bit times 2^-depth, with both signs of
   the sum. Returns false if the formats have no such numbers. */
static bool place_depth(const smma_subject *s, const rounding *r, int depth, smma_row *rows) {
  const int last = r->t.exponent + r->t.log - r->bits;
  for (int n = 0; n < ROWS_A_DEPTH; n++) {
    const bool negative = n & 1;
    const int sign = negative ? -1 : 1, tiny = n & 2 ? -sign : sign;
    if (!place_sum(s, &r->t, negative, sign, last - 1, &rows[n]) ||
        !smma_place(s, &rows[n], r->t.tiny, tiny, last - depth))
      return false;
    if (r->cancelled >= 0 && !smma_place(s, &rows[n], r->cancelled, -sign, r->t.exponent + r->t.log)) return false;
  }
  return true;
}

/* Sets `*depth` to how many bits below the last one determine the rounding, among the bits that alignment retains, and
   `*limited` to whether lower bits are ignored. */
static bool ask_depth(smma_examination *x, const rounding *r, const smma_rounding_mode *mode, int *depth,
                      bool *limited) {
  smma_subject *s = &x->subject;
  smma_row rows[MOST_DEPTH * ROWS_A_DEPTH];
  int most = 2;
  const int kept = x->alignment.bits + r->t.log - r->bits;
  *limited = false;
  *depth = 0;
  if (r->t.tiny < 0 || !x->first.fused || !(x->alignment.known || x->alignment.exact)) return true;
  while (most < MOST_DEPTH && most <= kept && place_depth(s, r, most, &rows[(most - 2) * ROWS_A_DEPTH])) most++;
  if (most == 2) return true;
  if (!smma_ask_subject(s, rows, (size_t)((most - 2) * ROWS_A_DEPTH))) return false;
  for (*depth = 2; *depth < most && !*limited; ++*depth)
    for (int n = 0; n < ROWS_A_DEPTH && !*limited; n++) {
      const int sign = n & 1 ? -1 : 1, last = r->t.exponent + r->t.log - r->bits;
      const int64_t ones = r->cancelled >= 0 ? 0 : sign * ((int64_t)1 << r->bits);
      const int64_t parts = sign * (((int64_t)1 << (*depth - 1)) + (n & 2 ? -1 : 1));
      int64_t units;
      *limited = !smma_in_units(smma_result(s, &rows[(*depth - 2) * ROWS_A_DEPTH + n]), last, &units) ||
                 units - ones != mode->round(parts, *depth);
    }
  *depth -= 2; /* the loop ended one past the last depth that was tested; if `*limited`, that depth failed */
  *depth += !*limited;
  return true;
}

/* Determines the rounding mode of a sum, and sets `*found` to it, or to NULL if no mode fits. If `cancelled` is not -1,
   the ones are subtracted in a later sum, so d shows the rounding of the first sum. */
static bool ask_rounding(smma_examination *x, smma_finding *f, int bits, int log, int cancelled, bool small_is_c,
                         const smma_rounding_mode **found) {
  smma_subject *s = &x->subject;
  smma_row rows[SMMA_ROUNDING_QUESTIONS];
  int64_t results[SMMA_ROUNDING_QUESTIONS];
  rounding r = {.bits = bits, .cancelled = cancelled};
  bool confirmed = false, same, limited = false;
  int depth = 0;
  const smma_rounding_mode *mode;
  *found = NULL;
  if (!find_terms(x, log, cancelled >= 0, small_is_c, &r.t))
    return smma_cannot_tell(f, "the test needs %d terms in a sum", (1 << log) + 1);
  if (cancelled >= 0) r.t.exponent = smma_minimum(r.t.exponent, smma_range_of(s, cancelled).greatest - log);
  if (!place_quarters(s, &r, 0, rows))
    return smma_cannot_tell(f, "quarters of the last bit are out of the formats' range");
  if (!smma_ask_subject(s, rows, SMMA_ROUNDING_QUESTIONS)) return false;
  if (!read_quarters(s, &r, 0, rows, results))
    return smma_cannot_tell(f, "a result is not a multiple of a quarter of the last bit");
  mode = smma_find_rounding_mode(results);
  if (!mode) return smma_cannot_tell(f, "no rounding gives these results");
  if (!ask_smaller(x, &r, results, &same)) return false;
  if (!same) return smma_cannot_tell(f, "smaller numbers are rounded differently");
  if (!x->first.fused && !small_is_c && !confirm(x, &r.t, bits, mode, &confirmed)) return false;
  if (!x->first.fused && !small_is_c && !confirmed)
    return smma_cannot_tell(f, "with two terms, rounding looks like truncation by alignment");
  if (mode->round && !small_is_c && !ask_depth(x, &r, mode, &depth, &limited)) return false;
  *found = mode;
  if (limited) {
    if (cancelled < 0) x->rounded_bits = depth;
    return smma_tell(f, &rows[2], "%s, by the %d bits below the last alone", mode->name, depth);
  }
  return smma_tell(f, &rows[2], "%s", mode->name);
}

bool smma_probe_output_rounding(smma_examination *x, smma_finding *f) {
  if (!x->output_known) return smma_cannot_tell(f, "the number of fraction bits of results is not known");
  return ask_rounding(x, f, x->output_bits, carries_for(x, x->output_bits), -1, false, &x->output_rounding);
}

/* Increases `*bits` to the number of fraction bits that the first sum retains. The first sum adds 2^log ones and one
   low bit, and a later sum subtracts the ones. Sets `*lost` to whether the next lower bit is lost although alignment
   retains it. */
static bool ask_block_bits(smma_examination *x, int log, int *bits, bool *lost) {
  smma_subject *s = &x->subject;
  sum t;
  *lost = false;
  if (!find_terms(x, log, true, false, &t)) return true;
  t.exponent = smma_minimum(t.exponent, smma_range_of(s, x->first.other).greatest - log);
  for (int g = *bits + 1; !x->alignment.known || g <= x->alignment.bits; g++) {
    smma_row row;
    const int exponent = t.exponent + log - g;
    if (!place_sum(s, &t, false, 1, exponent, &row) || !smma_place(s, &row, x->first.other, -1, t.exponent + log))
      return true;
    if (!smma_ask_subject(s, &row, 1)) return false;
    *lost = !smma_is_exactly(smma_result(s, &row), 1, exponent);
    if (*lost) return true;
    *bits = g;
  }
  return true;
}

/* Determines how a sum between blocks is rounded, in the case that it retains more bits than d has. */
static bool tell_long_sum(smma_examination *x, smma_finding *f) {
  const smma_rounding_mode *mode;
  const smma_finding seen = *f;
  int bits = x->output_bits + 2;
  bool lost;
  if (!ask_block_bits(x, carries_for(x, x->output_bits), &bits, &lost)) return false;
  if (!lost) return smma_tell(f, &seen.witness, "not rounded to %d fraction bits or fewer", bits);
  if (!ask_rounding(x, f, bits, carries_for(x, bits), x->first.other, false, &mode)) return false;
  if (!mode || !mode->round) return smma_cannot_tell(f, "the sum has %d fraction bits, rounded in no known way", bits);
  const smma_row witness = f->witness;
  return smma_tell(f, &witness, "%s, to %d fraction bits", mode->name, bits);
}

bool smma_probe_block_rounding(smma_examination *x, smma_finding *f) {
  const smma_rounding_mode *mode;
  if (!x->output_known) return smma_cannot_tell(f, "the number of fraction bits of results is not known");
  if (x->first.other < 0) return smma_cannot_tell(f, "there is only one block");
  if (x->alignment.known && x->alignment.bits < x->output_bits)
    return smma_cannot_tell(f, "the next block truncates bits of this sum");
  if (!ask_rounding(x, f, x->output_bits, carries_for(x, x->output_bits), x->first.other, false, &mode)) return false;
  return !mode || mode->round || tell_long_sum(x, f);
}

bool smma_probe_c_rounding(smma_examination *x, smma_finding *f) {
  const smma_rounding_mode *unused;
  if (!x->output_known) return smma_cannot_tell(f, "the number of fraction bits of results is not known");
  if (x->first.has_c) return smma_cannot_tell(f, "c is a term of the first sum");
  return ask_rounding(x, f, smma_encoding_of(x->subject.instruction->d).fraction_bits, 0, -1, true, &unused);
}

/* ---- Extra bits ---- */

/* Returns the number of fraction bits that d retains, or those of its format if that number is not known. */
static int fraction_bits_of_d(const smma_examination *x) {
  return x->output_known ? x->output_bits : smma_encoding_of(x->subject.instruction->d).fraction_bits;
}

bool smma_probe_extra_bits(smma_examination *x, smma_finding *f) {
  const int fraction = fraction_bits_of_d(x);
  if (!x->first.known) return smma_cannot_tell(f, "the structure of the first sum is not fully known");
  if (x->rounded_bits >= 0) return smma_tell(f, NULL, "%d", x->rounded_bits);
  if (!x->first.fused && x->output_rounding) return smma_tell(f, NULL, "enough for correct rounding");
  if (x->alignment.exact && x->alignment.bits >= fraction + 3) return smma_tell(f, NULL, "3 or more");
  if (!x->alignment.known) return smma_cannot_tell(f, "the number of bits that alignment retains is not known");
  if (!x->output_known) return smma_cannot_tell(f, "the number of fraction bits of results is not known");
  return smma_tell(f, NULL, "%d", x->alignment.bits - fraction);
}

/* Adds 1 and three halves of an ulp. The result is 1 + 1 ulp or 1 + 2 ulp if the halves are added before they are
   truncated. A control vector adds 1 and 1 ulp: if it loses the ulp although alignment does not, later blocks cut the
   sum. */
bool smma_probe_extra_bits_preserved(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int unit = -fraction_bits_of_d(x);
  const int64_t one = (int64_t)1 << -unit;
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1];
  const int count = smma_first_terms(x, terms);
  smma_row row[2] = {smma_blank_row(s), smma_blank_row(s)};
  bool placed = true;
  if (!x->first.known) return smma_cannot_tell(f, "the structure of the first sum is not fully known");
  if (count < 4) return smma_cannot_tell(f, "the first sum has fewer than four terms");
  /* c is the last term. */
  const int low = smma_range_of(s, terms[0]).least - (unit - 1);
  const int base = smma_maximum(0, smma_maximum(low, smma_range_of_d(s).least - unit));
  for (int r = 0; r < 2; r++) placed = placed && smma_place(s, &row[r], terms[count - 1], 1, base);
  for (int i = 0; i < 3; i++) placed = placed && smma_place(s, &row[0], terms[i], 1, base + unit - 1);
  placed = placed && smma_place(s, &row[1], terms[0], 1, base + unit);
  if (!placed) return smma_cannot_tell(f, "halves of an ulp are below the formats' range");
  if (!smma_ask_subject(s, row, 2)) return false;
  const smma_dyadic d = smma_result(s, &row[0]);
  const bool keeps_ulp = smma_is_exactly(smma_result(s, &row[1]), one + 1, base + unit);
  if (x->first.other >= 0 && !keeps_ulp && !(x->alignment.known && x->alignment.bits < -unit))
    return smma_cannot_tell(f, "1 + 1 ulp of the first sum does not reach the result");
  if (smma_is_exactly(d, 1, base)) return smma_tell(f, &row[0], "truncated: 1 + 3 * ulp/2 is 1");
  if (smma_is_exactly(d, one + 1, base + unit) || smma_is_exactly(d, one + 2, base + unit))
    return smma_tell(f, &row[0], "preserved: 1 + 3 * ulp/2 is not 1");
  return smma_cannot_tell(f, "1 + 3 * ulp/2 is none of 1, 1 + 1 ulp and 1 + 2 ulp");
}

/* Adds 1 and four quarters of an ulp, with 1 at every term of the first sum in turn. */
bool smma_probe_order_control(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int unit = -fraction_bits_of_d(x);
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1];
  const int count = smma_first_terms(x, terms);
  smma_row rows[SMMA_MAXIMUM_ROUNDED_K + 1];
  if (!x->first.known) return smma_cannot_tell(f, "the structure of the first sum is not fully known");
  if (count < 5) return smma_cannot_tell(f, "the first sum has fewer than five terms");
  const int base = smma_maximum(0, smma_range_of(s, terms[0]).least - (unit - 2));
  for (int i = 0; i < count; i++) {
    rows[i] = smma_blank_row(s);
    bool placed = smma_place(s, &rows[i], terms[i], 1, base);
    for (int j = 0, quarters = 0; j < count && quarters < 4; j++)
      if (j != i) placed = placed && smma_place(s, &rows[i], terms[j], 1, base + unit - 2), quarters++;
    if (!placed) return smma_cannot_tell(f, "quarters of an ulp are below the formats' range");
  }
  if (!smma_ask_subject(s, rows, (size_t)count)) return false;
  for (int i = 1; i < count; i++)
    if (rows[i].d != rows[0].d) return smma_tell(f, &rows[i], "yes: 1 + 4 * ulp/4 depends on the position of 1");
  return smma_tell(f, &rows[0], "no");
}
