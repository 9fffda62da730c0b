/* Draws the test vectors that most often show that two rules differ: terms that are aligned, truncated, cancelled or
   rounded at the limits of the rules' parameters. */
#include "core/rounding.h"
#include "equal/witness.h"
#include "host/draw.h"
#include "rows/place.h"

enum { FAR_BINADES = 40 }; /* far terms are placed within this number of binades */

/* ---- Numbers ---- */

/* Returns the exponents of a format's last bit and of its greatest number's leading bit. */
static smma_range whole_range(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  return (smma_range){smma_minimum_exponent(f) - f.fraction_bits,
                      (int)(smma_largest_fields(f) >> f.fraction_bits) - f.bias};
}

/* Encodes 2^exponent, with these fraction bits and a random sign. */
static uint64_t with_fraction(uint64_t *state, smma_format format, int exponent, uint64_t fraction) {
  const smma_encoding f = smma_encoding_of(format);
  const uint64_t one = (uint64_t)1 << f.fraction_bits;
  const bool negative = smma_draw_below(state, 2) && f.sign_bits;
  return smma_encode(f, negative, one | (fraction & (one - 1)), exponent - f.fraction_bits, false,
                     SMMA_ROUND_TOWARD_ZERO, SMMA_OVERFLOW_SATURATE);
}

/* Encodes 2^exponent, with a fraction of 0, one half, only the last bit, or all bits. */
static uint64_t power(uint64_t *state, smma_format format, int exponent) {
  const uint64_t one = (uint64_t)1 << smma_encoding_of(format).fraction_bits;
  const uint64_t fraction[] = {0, 0, 0, one >> 1, 1, one - 1};
  const uint64_t chosen = fraction[smma_draw_below(state, 6)];
  return with_fraction(state, format, exponent, chosen);
}

/* Returns a number at a limit of a format: zero, the least, the least normal, one or the greatest, for example. */
static uint64_t end(uint64_t *state, smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const bool negative = smma_draw_below(state, 2);
  const uint64_t greatest = smma_largest_fields(f), normal = (uint64_t)1 << f.fraction_bits;
  const uint64_t one = smma_encode_one(f, false) >> f.ignored_bits;
  const uint64_t near = greatest - (uint64_t)smma_draw_below(state, 65536);
  const uint64_t fields[] = {0, 1, normal, normal | normal >> 1, one, greatest, greatest - 1, near};
  return smma_sign_and_fields(f, negative, fields[smma_draw_below(state, 8)] & greatest);
}

static uint64_t zero(smma_format format, bool negative) {
  return smma_sign_and_fields(smma_encoding_of(format), negative, 0);
}

static uint64_t minus_one(smma_format format) { return smma_encode_one(smma_encoding_of(format), true); }

/* ---- Terms ---- */

/* Returns F or F2 of a rule; `otherwise` (the fraction bits of d) if the rule has no such parameter. */
static int cut_of(uint64_t *state, const smma_rule *r, int otherwise) {
  switch (r->algorithm) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_FP8_BY_FP16: return r->with.t_fdpa.alignment_bits;
    case SMMA_GST_FDPA: return r->with.gst_fdpa.fused.alignment_bits;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: return smma_draw_below(state, 2) ? r->with.tr_fdpa.alignment_bits : r->with.tr_fdpa.sum_bits;
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA: return smma_draw_below(state, 2) ? r->with.c_fdpa.alignment_bits : r->with.c_fdpa.c_bits;
    case SMMA_COMPOSITION: {
      const smma_step *step = &r->with.composition.step[smma_draw_below(state, r->with.composition.steps)];
      const int bits = smma_draw_below(state, 2) ? step->term.bits : step->accumulator.bits;
      return bits == SMMA_EXACT_ALIGNMENT ? otherwise : bits;
    }
    default: break;
  }
  return otherwise;
}

/* Draws how many bits below the greatest term another term is placed. */
static int depth(uint64_t *state, const smma_search *s) {
  const int fraction = smma_encoding_of(s->as->d).fraction_bits;
  const smma_rule *rule = s->rule[smma_draw_below(state, 2)];
  int bits = fraction;
  switch (smma_draw_below(state, 4)) {
    case 0: return smma_draw_below(state, 4);
    case 1: return smma_draw_below(state, 48);
    case 2: bits = cut_of(state, rule, fraction); break;
  }
  return bits - 2 + smma_draw_below(state, 5);
}

static int clamp(int x, smma_range r) { return x < r.least ? r.least : x > r.greatest ? r.greatest : x; }

/* Sets a[k] and b[k] so that their product is about 2^exponent, or exactly 2^exponent. */
static void place_product(uint64_t *state, const smma_search *s, smma_row *row, int k, int exponent, bool exactly) {
  const smma_range a = whole_range(s->as->a), b = whole_range(s->as->b);
  const int least = clamp(exponent - b.greatest, a), greatest = clamp(exponent - b.least, a);
  const int first = least + smma_draw_below(state, greatest - least + 1), second = clamp(exponent - first, b);
  row->a[k] = exactly ? with_fraction(state, s->as->a, first, 0) : power(state, s->as->a, first);
  row->b[k] = exactly ? with_fraction(state, s->as->b, second, 0) : power(state, s->as->b, second);
}

/* Draws the exponent of the greatest term: at the least subnormal or normal results, at the greatest results, near
   1, or anywhere. */
static int anchor(uint64_t *state, const smma_search *s) {
  const smma_range a = whole_range(s->as->a), b = whole_range(s->as->b), d = whole_range(s->as->d);
  switch (smma_draw_below(state, 5)) {
    case 0: return d.least - 2 + smma_draw_below(state, 6);
    case 1: return d.least + smma_encoding_of(s->as->d).fraction_bits - 3 + smma_draw_below(state, 6);
    case 2: return d.greatest - smma_draw_below(state, 4);
    case 3: return smma_draw_below(state, 20) - 4;
    default: return a.least + b.least + smma_draw_below(state, a.greatest + b.greatest - a.least - b.least + 1);
  }
}

/* Draws a position: at the start or end of the vector or of a block, or anywhere. */
static int place(uint64_t *state, const smma_search *s) {
  const int k = s->as->k, block = smma_block_limit(s->rule[smma_draw_below(state, 2)], k);
  switch (smma_draw_below(state, 6)) {
    case 0: return 0;
    case 1: return 1 % k;
    case 2: return (block - 1) % k;
    case 3: return block % k;
    case 4: return k - 1;
    default: return smma_draw_below(state, k);
  }
}

/* ---- Vectors ---- */

/* Fills a vector with products that are zero, of either sign, and with scale factors of 1 or near 1. */
static void fill(uint64_t *state, const smma_search *s, smma_row *row) {
  const smma_instruction *i = s->as;
  const int sign = smma_draw_below(state, 8), scales = smma_scale_count(i->k, i->scale_block);
  for (int k = 0; k < i->k; k++) {
    row->a[k] = zero(i->a, sign == 1);
    row->b[k] = sign == 0 ? minus_one(i->b) : zero(i->b, sign == 2);
  }
  for (int n = 0; n < scales; n++) {
    row->scale_a[n] = power(state, i->scale, smma_draw_below(state, 4) ? 0 : smma_draw_below(state, 9) - 4);
    row->scale_b[n] = power(state, i->scale, smma_draw_below(state, 4) ? 0 : smma_draw_below(state, 9) - 4);
  }
  row->c = zero(i->c, smma_draw_below(state, 2));
}

static void place_ends(uint64_t *state, const smma_search *s, smma_row *row) {
  for (int n = smma_draw_below(state, 4); n >= 0; n--) {
    const int k = place(state, s);
    row->a[k] = end(state, s->as->a);
    row->b[k] = end(state, s->as->b);
  }
  if (smma_draw_below(state, 4)) row->c = end(state, s->as->c);
}

static void place_terms(uint64_t *state, const smma_search *s, smma_row *row) {
  const int top = anchor(state, s), terms = 1 + smma_draw_below(state, 4);
  int k = 0;
  for (int n = 0; n < terms; n++) {
    const int below_top = n == 0 ? smma_draw_below(state, 2) : depth(state, s);
    k = place(state, s);
    place_product(state, s, row, k, top - below_top, false);
  }
  if (smma_draw_below(state, 4) == 0)
    for (int n = smma_draw_below(state, s->as->k); n > 0; n--) {
      const int copy = smma_draw_below(state, s->as->k);
      row->a[copy] = row->a[k], row->b[copy] = row->b[k];
    }
  if (smma_draw_below(state, 4)) {
    const int below_top = depth(state, s);
    row->c = power(state, s->as->c, top - below_top);
  }
}

/* Places c, a product near the last bit of the rounded sum, and a tiny product near the last retained bit. The first
   product makes a tie, and the second decides it. */
static void place_tie(uint64_t *state, const smma_search *s, smma_row *row) {
  const int fraction = smma_encoding_of(s->as->d).fraction_bits, near = smma_draw_below(state, 8);
  const smma_rule *rule = s->rule[smma_draw_below(state, 2)];
  const int cut = cut_of(state, rule, fraction), last = whole_range(s->as->a).least + whole_range(s->as->b).least;
  const int top = last + near + cut, middle = top - fraction + 1 - smma_draw_below(state, 4),
            least = top - cut + 1 - smma_draw_below(state, 4);
  const uint64_t ones = smma_draw_below(state, 2) ? ~UINT64_C(0) : 0;
  const int first = place(state, s), second = place(state, s);
  place_product(state, s, row, first, middle, true);
  place_product(state, s, row, second, least, true);
  row->c = with_fraction(state, s->as->c, top, ones);
}

/* Places a product near the least results, and others anywhere below it. If zeros take part in the alignment with an
   exponent, they truncate terms that are so small. */
static void place_least(uint64_t *state, const smma_search *s, smma_row *row) {
  const int least = whole_range(s->as->d).least;
  int exponent = least - 2 + smma_draw_below(state, 6);
  for (int n = smma_draw_below(state, 4); n >= 0; n--) {
    place_product(state, s, row, place(state, s), exponent, false);
    exponent = least - smma_draw_below(state, FAR_BINADES);
  }
  if (smma_draw_below(state, 4)) {
    const bool negative = smma_draw_below(state, 2);
    row->c = smma_sign_and_fields(smma_encoding_of(s->as->c), negative, (uint64_t)smma_draw_below(state, 8));
  }
}

/* Places two or three products near the least normal result, which cancel to subnormal numbers, and another term
   anywhere. */
static void place_normal(uint64_t *state, const smma_search *s, smma_row *row) {
  const int normal = whole_range(s->as->d).least + smma_encoding_of(s->as->d).fraction_bits,
            anywhere = anchor(state, s);
  for (int n = 1 + smma_draw_below(state, 2); n >= 0; n--) {
    const int exponent = normal - 1 + smma_draw_below(state, 3);
    place_product(state, s, row, place(state, s), exponent, false);
  }
  if (smma_draw_below(state, 2))
    place_product(state, s, row, place(state, s), anywhere, false);
  else if (smma_draw_below(state, 2))
    row->c = power(state, s->as->c, anywhere);
}

/* Places a product near the greatest possible one and another near the least: the sum has bits of both only if its
   accumulator is wide enough. */
static void place_far(uint64_t *state, const smma_search *s, smma_row *row) {
  const smma_range a = whole_range(s->as->a), b = whole_range(s->as->b);
  const int top = a.greatest + b.greatest - smma_draw_below(state, 6),
            low = a.least + b.least + smma_draw_below(state, FAR_BINADES);
  const int first = place(state, s), second = place(state, s);
  place_product(state, s, row, first, top, true);
  place_product(state, s, row, second, low, true);
  if (smma_draw_below(state, 4) == 0) row->c = power(state, s->as->c, top);
}

void smma_directed_row(const smma_search *s, uint64_t index, smma_row *row) {
  uint64_t state = s->seed ^ index * UINT64_C(0xd1342543de82ef95);
  fill(&state, s, row);
  const int sort = smma_draw_below(&state, 11);
  if (smma_is_integer(s->as->d) || sort == 0)
    place_ends(&state, s, row);
  else if (sort == 1)
    place_tie(&state, s, row);
  else if (sort == 2)
    place_least(&state, s, row);
  else if (sort == 3)
    place_normal(&state, s, row);
  else if (sort == 4)
    place_far(&state, s, row);
  else
    place_terms(&state, s, row);
}
