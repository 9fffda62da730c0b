/* Measures which bits alignment retains, with sums of X, -X and a small number within one fused sum. The number of bits
   and the rounding count as known only if they explain the results for all X and all small numbers that the unit
   computed. */
#include <stdlib.h>
#include <string.h>

#include "probe/probe.h"
#include "probe/triple.h"

/* Sets `*i` and `*j` to two terms of the first sum, other than `third`, which will hold X and -X. If X and -X do not
   cancel exactly, the result may depend on the sign of c: then makes c hold X, if possible. Returns false if there are
   too few terms. */
static bool find_partners(const smma_examination *x, int third, int *i, int *j) {
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1], found = 0;
  const int count = smma_first_terms(x, terms);
  if (x->left && x->first.has_c && x->first.products < 3) {
    const int c = terms[count - 1];
    terms[count - 1] = terms[0];
    terms[0] = c;
  }
  for (int n = 0; n < count && found < 2; n++)
    if (terms[n] != third) *(found++ ? j : i) = terms[n];
  return found == 2;
}

/* Returns the term whose alignment is examined: c, or the last product of the first sum, or -1 if there is no such
   term. */
static int term_of(const smma_examination *x, bool is_c) {
  const int k = x->subject.instruction->k;
  if (is_c) return x->first.has_c ? k : -1;
  for (int i = k - 1; i >= 0; i--)
    if (x->first.product[i]) return i;
  return -1;
}

/* Returns the exponents of X and of the least small number. X may be up to twice the greatest number that term k, the
   small number, can be. */
static smma_span alignment_span(const smma_subject *s, int i, int j, int k) {
  smma_span span = smma_span_of(s, i, j, k);
  span.large = smma_minimum(span.large, smma_range_of(s, k).greatest + 1);
  return span;
}

/* ---- Test vectors ---- */

/* The content of a test vector: the small number, significand * 2^exponent, and what it is added to. This is X and -X
   with X = 2^large (CANCELLED), nothing (ALONE), or c = X (WITH_LARGE_C). */
typedef struct {
  int large, exponent;
  int64_t significand;
  enum { CANCELLED, ALONE, WITH_LARGE_C } others;
} question;

typedef struct {
  const smma_subject *s;
  int i, j, k; /* terms that hold X, -X and the small number */
  smma_span span;
  question *question;     /* the content of each test vector */
  smma_row *row;          /* the test vectors */
  size_t count, capacity; /* number of test vectors; room for them */
} questions;

static bool allocate(questions *q, size_t capacity) {
  q->capacity = capacity;
  q->question = malloc(capacity * sizeof *q->question);
  q->row = malloc(capacity * sizeof *q->row);
  return q->question && q->row;
}

static void release(questions *q) {
  free(q->question);
  free(q->row);
}

static bool have_same_format(const smma_instruction *i, int k) { return k < i->k && i->a == i->b; }

/* Adds a vector for each sign of the small number, if the formats have these numbers. If `in_b`, the small number's
   significand is in b instead of a. */
static void add(questions *q, int large, int64_t significand, int exponent, bool in_b) {
  for (int sign = -1; sign <= 1; sign += 2) {
    smma_row *row = &q->row[q->count];
    if (exponent + smma_bit_length((uint64_t)significand) - 1 < q->span.least || q->count == q->capacity) return;
    if (!smma_place_triple(q->s, row, q->i, q->j, q->k, large, sign * significand, exponent)) return;
    if (in_b) {
      const uint64_t a = row->a[q->k];
      row->a[q->k] = row->b[q->k];
      row->b[q->k] = a;
    }
    q->question[q->count++] = (question){large, exponent, sign * significand, CANCELLED};
  }
}

static void add_alone(questions *q, int64_t significand, int exponent) {
  const int large = exponent + smma_bit_length((uint64_t)significand) - 1;
  for (int sign = -1; sign <= 1 && q->count < q->capacity; sign += 2) {
    q->row[q->count] = smma_blank_row(q->s);
    if (!smma_place(q->s, &q->row[q->count], q->k, sign * significand, exponent)) return;
    q->question[q->count++] = (question){large, exponent, sign * significand, ALONE};
  }
}

static void add_with_large_c(questions *q, int large, int exponent) {
  for (int sign = -1; sign <= 1 && q->count < q->capacity; sign += 2) {
    q->row[q->count] = smma_blank_row(q->s);
    if (!smma_place(q->s, &q->row[q->count], q->s->instruction->k, 1, large) ||
        !smma_place(q->s, &q->row[q->count], q->k, sign, exponent))
      return;
    q->question[q->count++] = (question){large, exponent, sign, WITH_LARGE_C};
  }
}

enum { PARTS = 4 };

static int longest(const questions *q) {
  const smma_instruction *i = q->s->instruction;
  return smma_minimum(smma_encoding_of(q->k == i->k ? i->c : i->a).fraction_bits, 32);
}

/* Adds vectors with two kinds of small numbers: multiples of a sixteenth of the last retained bit, and numbers with the
   longest possible significand, which have bits above and below the last retained bit. */
static void add_around(questions *q, int large, int bits) {
  static const int parts[] = {1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31};
  const smma_instruction *i = q->s->instruction;
  const int length = longest(q);
  const int below[] = {1, bits / 2, bits - 1, bits, bits + 1, bits + 2, bits + 8};
  for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
    for (int in_b = 0; in_b <= have_same_format(i, q->k); in_b++) add(q, large, parts[p], large - bits - PARTS, in_b);
  for (size_t b = 0; b < sizeof below / sizeof below[0]; b++)
    for (int in_b = 0; below[b] > 0 && in_b <= have_same_format(i, q->k); in_b++) {
      add(q, large, ((int64_t)2 << length) - 1, large - below[b] - length, in_b);
      add(q, large, ((int64_t)1 << length) + 1, large - below[b] - length, in_b);
    }
}

/* Adds vectors with the longest small number alone, at every exponent, and vectors with a c so large that no bit of the
   small number is retained. */
static void add_others(questions *q, int bits, bool has_c) {
  const int k = q->s->instruction->k, length = longest(q);
  const smma_range own = smma_range_of(q->s, q->k), d = smma_range_of_d(q->s), c = smma_range_of(q->s, k);
  for (int e = smma_maximum(own.least, d.least) + length; e <= smma_minimum(own.greatest, d.greatest); e++)
    add_alone(q, ((int64_t)2 << length) - 1, e - length);
  for (int large = own.least; has_c && q->k < k && large <= smma_minimum(c.greatest, d.greatest - 1); large++)
    if (large - bits - 2 >= own.least) {
      add_with_large_c(q, large, own.least);
      add_with_large_c(q, large, smma_minimum(large - bits - 2, own.greatest));
    }
}

/* Adds vectors with every power of two below X as the small number. */
static void add_ones(questions *q, int large) {
  for (int g = 1; large - g >= q->span.least; g++) add(q, large, 1, large - g, false);
}

/* ---- Hypotheses ---- */

/* A hypothesis about alignment: terms are rounded to multiples of 2^(emax - bits). emax is the greatest exponent, and
   at least `floor`, the exponent of a zero. If `complemented`, terms whose sign differs from c's also lose one such
   power of two. */
typedef struct {
  const smma_rounding_mode *rounding; /* its `round` is NULL if terms are exact */
  int bits, floor;
  bool complemented;
} hypothesis;

enum { NO_FLOOR = -100000, MOST_SHIFT = 60 };

static bool explains(const hypothesis *t, const smma_subject *s, const question *q, const smma_row *row) {
  const smma_encoding d = smma_encoding_of(s->instruction->d);
  const int unit = smma_maximum(q->large, t->floor) - t->bits, shift = unit - q->exponent;
  int64_t kept = q->significand;
  if (t->rounding->round && shift > MOST_SHIFT)
    kept = t->rounding->round(q->significand < 0 ? -1 : 1, MOST_SHIFT);
  else if (t->rounding->round && shift > 0)
    kept = t->rounding->round(q->significand, shift);
  const int exponent = t->rounding->round && shift > 0 ? unit : q->exponent;
  if (q->others == WITH_LARGE_C) return kept != 0 || smma_is_exactly(smma_result(s, row), 1, q->large);
  /* A predicted value that d would round, or that is subnormal, proves nothing. */
  const smma_dyadic value = smma_dyadic_of(kept, exponent);
  if (smma_bit_length(smma_magnitude(value.significand)) > d.fraction_bits + 1) return true;
  if (value.significand && value.exponent < smma_range_of_d(s).least) return true;
  return smma_is_exactly(smma_result(s, row), kept, exponent);
}

/* Reports whether the hypothesis explains X - X + small with complemented terms. Compares d in units of 2^(emax -
   bits). If c is X or 0, -X loses one unit, and so does a negative small product. If c is the small number, either X or
   -X loses one unit. */
static bool explains_complement(const hypothesis *t, const smma_subject *s, const question *q, bool small_is_c,
                                const smma_row *row) {
  const int unit = q->large - t->bits, shift = unit - q->exponent;
  const int64_t magnitude = (int64_t)smma_magnitude(q->significand);
  int64_t whole, left;
  if (smma_bit_length((uint64_t)magnitude) - shift > MOST_SHIFT) return true;
  whole = shift > MOST_SHIFT ? 0 : shift > 0 ? magnitude >> shift : magnitude << -shift;
  if (small_is_c)
    left = q->significand < 0 ? 1 - whole : whole - 1;
  else
    left = q->significand < 0 ? -whole - 2 : whole - 1;
  const smma_dyadic value = smma_dyadic_of(left, unit);
  if (smma_bit_length(smma_magnitude(value.significand)) > smma_encoding_of(s->instruction->d).fraction_bits + 1)
    return true;
  if (value.significand && value.exponent < smma_range_of_d(s).least) return true;
  return smma_is_exactly(smma_result(s, row), left, unit);
}

static bool explains_all(const hypothesis *t, const questions *q) {
  const bool small_is_c = q->k == q->s->instruction->k;
  for (size_t n = 0; n < q->count; n++)
    if (!(t->complemented ? explains_complement(t, q->s, &q->question[n], small_is_c, &q->row[n])
                          : explains(t, q->s, &q->question[n], &q->row[n])))
      return false;
  return true;
}

/* Returns the number of retained bits below X: the greatest n such that the powers of two down to X * 2^-n are retained
   with both signs. Sets `*lost` to whether the next smaller power of two is lost, and `*witness` to the vector of
   the other sign to the last one examined. */
static int count_bits(const questions *q, int large, bool *lost, smma_row *witness) {
  int bits = 0;
  *lost = false;
  for (size_t n = 0; !*lost && n < q->count; n++) {
    *lost = !smma_is_exactly(smma_result(q->s, &q->row[n]), q->question[n].significand, q->question[n].exponent);
    *witness = q->row[n - n % 2 + (n % 2 == 0)];
    if (n % 2 && !*lost) bits = large - q->question[n].exponent;
  }
  return bits;
}

/* A floor must be at least this many binades below the greatest X. A higher floor cannot be distinguished from
   alignment to X itself. */
enum { FLOOR_MARGIN = 3 };

/* Searches hypotheses that explain every result: each rounding mode, first without a floor, then with each floor until
   one explains the results. Returns how many rounding modes do, and sets `*t` to one of these hypotheses. */
static int find_hypotheses(const questions *q, smma_span span, int bits, bool lost, hypothesis *t) {
  static const smma_rounding_mode exact = {"not rounded", NULL, false};
  int found = 0;
  *t = (hypothesis){&exact, bits, NO_FLOOR, false};
  if (!lost) return explains_all(t, q);
  for (int floor = span.least - 1; found == 0 && floor <= span.large - FLOOR_MARGIN; floor++)
    for (int m = 0; m < SMMA_MODES; m++) {
      const hypothesis candidate = {&smma_rounding_modes[m], bits, floor < span.least ? NO_FLOOR : floor, false};
      if (!explains_all(&candidate, q)) continue;
      *t = candidate;
      found++;
    }
  return found;
}

/* add_around adds at most QUESTIONS_A_LEVEL vectors. */
enum { MOST_QUESTIONS = 32768, QUESTIONS_A_LEVEL = 100, LEVELS_WITH_ONES = 3, MOVED_LEVELS = 3 };

/* Returns how many smaller X, of `levels`, have room for their vectors. */
static int most_levels(const questions *q, int levels) {
  const int room = (int)(q->capacity - q->count) - LEVELS_WITH_ONES * 2 * levels;
  return smma_maximum(1, room / QUESTIONS_A_LEVEL);
}

/* Adds vectors with smaller X, and lets the unit compute all vectors. Uses every smaller X, or as many as there is room
   for, spread over the range. Uses only MOVED_LEVELS if products were moved. */
static bool ask_levels(smma_examination *x, questions *q, int bits) {
  const int levels = q->span.large - FLOOR_MARGIN - q->span.least;
  add_around(q, q->span.large, bits);
  if (!x->moved && !x->left) add_others(q, bits, x->first.has_c);
  const int count = smma_minimum(levels, x->moved ? MOVED_LEVELS : most_levels(q, levels));
  for (int n = 1; n <= count; n++) {
    const int large = q->span.large - FLOOR_MARGIN - (int)((int64_t)levels * (n - 1) / count);
    add_around(q, large, bits);
    if (n == 1 || n == count / 2 || n == count) add_ones(q, large);
  }
  return smma_ask_subject(&x->subject, q->row, q->count);
}

/* ---- The probes ---- */

static bool examine(smma_examination *x, questions *q, smma_alignment *a) {
  hypothesis t;
  bool lost;
  add_ones(q, q->span.large);
  if (q->count == 0) {
    a->why = "the formats have no common range";
    return true;
  }
  if (!smma_ask_subject(&x->subject, q->row, q->count)) return false;
  a->bits = count_bits(q, q->span.large, &lost, &a->witness);
  if (!ask_levels(x, q, a->bits)) return false;
  const int roundings = find_hypotheses(q, q->span, a->bits, lost, &t);
  a->known = lost && roundings > 0;
  a->exact = !lost && roundings > 0;
  a->floor = t.floor;
  a->rounding = roundings == 1 ? t.rounding : NULL;
  a->rounding_witness = a->witness;
  if (roundings == 0) a->why = "no pair of a number of bits and a rounding explains all results";
  return true;
}

/* Examines a unit on which X and -X do not cancel. If terms whose sign differs from c's lose 1 in the last retained
   bit, this 1 remains. Two products and c = 0 show the last retained bit of products. If c, as X, retains another last
   bit, the hypothesis fails. */
static bool examine_complement(smma_examination *x, questions *q, smma_alignment *a) {
  static const smma_rounding_mode truncated = {"toward zero, and 1 less in the last bit where it opposes c", NULL,
                                               false};
  hypothesis t = {&smma_rounding_modes[SMMA_MODE_TOWARD_ZERO], 0, NO_FLOOR, true};
  smma_dyadic unit;
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1];
  a->why = "a number minus itself is not zero, and not what terms that oppose c lose";
  a->witness = smma_blank_row(&x->subject);
  if (!x->first.has_c || x->first.products < 2 || smma_first_terms(x, terms) < 3 ||
      !smma_place(q->s, &a->witness, terms[0], 1, q->span.large) ||
      !smma_place(q->s, &a->witness, terms[1], -1, q->span.large))
    return true;
  if (!smma_ask_subject(&x->subject, &a->witness, 1)) return false;
  unit = smma_result(q->s, &a->witness);
  if (unit.kind != SMMA_IS_DYADIC || unit.significand != -1) return true;
  a->bits = t.bits = q->span.large - unit.exponent;
  add_ones(q, q->span.large);
  if (!ask_levels(x, q, a->bits)) return false;
  if (q->count == 0 || !explains_all(&t, q)) return true;
  a->known = a->complemented = true;
  a->floor = NO_FLOOR;
  a->rounding = q->k == x->subject.instruction->k ? t.rounding : &truncated;
  a->rounding_witness = a->witness;
  a->why = NULL;
  return true;
}

static bool examine_term(smma_examination *x, bool is_c, smma_alignment *a) {
  questions q = {.s = &x->subject};
  bool good;
  *a = (smma_alignment){.known = false};
  q.k = term_of(x, is_c);
  if (!x->first.known)
    a->why = "the structure of the first sum is not fully known";
  else if (!is_c && x->inexact)
    a->why = "products of long significands are not exact";
  else if (!x->first.fused)
    a->why = "no three terms are known to share an alignment";
  else if (q.k < 0)
    a->why = "c is not added with the first products";
  else if (!find_partners(x, q.k, &q.i, &q.j))
    a->why = "the test needs three terms";
  if (a->why) return true;
  q.span = alignment_span(&x->subject, q.i, q.j, q.k);
  good = allocate(&q, MOST_QUESTIONS) ? (x->left ? examine_complement : examine)(x, &q, a)
                                      : smma_no_memory(&x->subject.error);
  release(&q);
  return good;
}

static bool tell_bits(smma_finding *f, const smma_alignment *a) {
  if (a->why) return smma_cannot_tell(f, "%s", a->why);
  if (a->exact) return smma_tell(f, &a->witness, "all, at least %d", a->bits);
  return smma_tell(f, &a->witness, "%d", a->bits);
}

static bool tell_rounding(smma_finding *f, const smma_alignment *a) {
  if (a->why) return smma_cannot_tell(f, "%s", a->why);
  if (a->exact) return smma_cannot_tell(f, "every bit that the formats can show is retained");
  if (!a->rounding) return smma_cannot_tell(f, "parts of the last bit are below the formats' range");
  return smma_tell(f, &a->rounding_witness, "%s", a->rounding->name);
}

bool smma_probe_alignment_bits(smma_examination *x, smma_finding *f) {
  if (!smma_ask_long_products(x)) return false;
  return examine_term(x, false, &x->alignment) && tell_bits(f, &x->alignment);
}

bool smma_probe_alignment_bits_c(smma_examination *x, smma_finding *f) {
  return examine_term(x, true, &x->alignment_c) && tell_bits(f, &x->alignment_c);
}

bool smma_probe_alignment_rounding(smma_examination *x, smma_finding *f) { return tell_rounding(f, &x->alignment); }
bool smma_probe_alignment_rounding_c(smma_examination *x, smma_finding *f) { return tell_rounding(f, &x->alignment_c); }
