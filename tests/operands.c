/* The boundary operands are those of genCases in J. Hauser's TestFloat 3e. */
#include "operands.h"

#include <math.h>
#include <string.h>

#include "random.h"

typedef uint64_t generator; /* the state of a generator */

static bool one_in(generator *g, int n) { return random_between(g, 1, n) == 1; }

static int greatest_field(smma_encoding f) { return (1 << f.exponent_bits) - 1; }

static int clamped(int x, int least, int greatest) { return x < least ? least : x > greatest ? greatest : x; }

/* Returns the encoding of a sign, exponent field and fraction; random ignored bits below and above. */
static uint64_t assembled(generator *g, smma_encoding f, int exponent_field, uint64_t fraction) {
  uint64_t bits = random_bits(g), ignored = smma_low_bits(bits, f.ignored_bits);
  uint64_t fields = (uint64_t)exponent_field << f.fraction_bits | smma_low_bits(fraction, f.fraction_bits);
  fields |= bits >> 63 << (f.exponent_bits + f.fraction_bits);
  return smma_low_bits(fields << f.ignored_bits | (bits >> 40 & 1 ? ignored : 0), f.bits);
}

/* Returns a fraction: all zeros, the number one, all ones, a single one, a few bits at the top, or random bits. */
static uint64_t boundary_fraction(generator *g, smma_encoding f) {
  switch (random_between(g, 0, 6)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return ~UINT64_C(0);
    case 3: return f.fraction_bits ? UINT64_C(1) << random_between(g, 0, f.fraction_bits - 1) : 0;
    case 4: return ~UINT64_C(1);
    case 5: return random_bits(g) & random_bits(g) & random_bits(g);
    default: return random_bits(g);
  }
}

static uint64_t boundary(generator *g, smma_encoding f) {
  int last = greatest_field(f);
  int fields[] = {0, 1, 2, f.bias - 1, f.bias, f.bias + 1, last - 1, last};
  int field = clamped(fields[random_between(g, 0, 7)], 0, last);
  return assembled(g, f, field, boundary_fraction(g, f));
}

static uint64_t with_exponent(generator *g, smma_encoding f, int exponent) {
  return assembled(g, f, clamped(exponent + f.bias, 0, greatest_field(f)), boundary_fraction(g, f));
}

static uint64_t zero(generator *g, smma_encoding f) {
  uint64_t z = assembled(g, f, 0, 0);
  return smma_has_nan_for_negative_zero(f) ? 0 : z;
}

static double value_of(smma_number x) {
  double magnitude = ldexp((double)x.significand, x.exponent - x.fraction_bits);
  return x.kind > SMMA_FINITE ? 0 : x.negative ? -magnitude : magnitude;
}

static uint64_t encoded(smma_encoding f, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return smma_encode_number(f, smma_decode(smma_encoding_of(SMMA_F64), bits), SMMA_ROUND_NEAREST_EVEN,
                            SMMA_OVERFLOW_INFINITY);
}

/* Parameters that all operands of one row share. */
typedef struct {
  generator g;
  const smma_operation *o;
  operand_kind kind;
  bool specials;      /* NaN and infinities are allowed */
  int exponent;       /* OPERANDS_NEAR: exponent of products, including scale factors */
  int scale_exponent; /* exponent of both scale factors together */
  int spread;
} row_state;

static uint64_t sparse(generator *g, smma_encoding f) { return one_in(g, 5) ? boundary(g, f) : zero(g, f); }

/* Returns one element; `exponent` is its exponent for OPERANDS_NEAR. */
static uint64_t element(row_state *s, operand_kind kind, smma_encoding f, int exponent) {
  generator *g = &s->g;
  int last = greatest_field(f), field;
  switch (kind) {
    case OPERANDS_BOUNDARY: return boundary(g, f);
    case OPERANDS_NEAR:
    case OPERANDS_CANCELLATION: return with_exponent(g, f, exponent + random_between(g, -s->spread, s->spread));
    case OPERANDS_SPARSE: return sparse(g, f);
    case OPERANDS_TINY: field = clamped(random_between(g, -1, 3), 0, last); break;
    case OPERANDS_HUGE: field = clamped(last - random_between(g, -1, 3), 0, last); break;
    case OPERANDS_MIXED: return element(s, (operand_kind)random_between(g, 0, OPERANDS_MIXED - 1), f, exponent);
    default: return smma_low_bits(random_bits(g), f.bits);
  }
  return assembled(g, f, field, boundary_fraction(g, f));
}

/* Replaces NaN and infinities by finite numbers. If the row allows special values, keeps a few of them. */
static uint64_t mostly_finite(row_state *s, smma_encoding f, uint64_t encoding) {
  if (smma_decode(f, encoding).kind <= SMMA_FINITE || (s->specials && one_in(&s->g, 8))) return encoding;
  if (smma_has_nan_for_negative_zero(f)) return 0;
  return encoding ^ UINT64_C(1) << (f.exponent_bits + f.fraction_bits + f.ignored_bits - 1);
}

/* Chooses the exponent around which sums lie: that of one, that of d's smallest numbers (half of its last bit, or the
   exponent at which a zero term determines the alignment), or that at which d overflows. */
static int choose_exponent(generator *g, smma_encoding d) {
  int least = smma_minimum_exponent(d);
  if (d.specials == SMMA_SPECIALS_INTEGER) return 0;
  switch (random_between(g, 0, 5)) {
    case 0: return random_between(g, least - d.fraction_bits - 6, least + 6);
    case 1: return random_between(g, -least - 6, -least + 2);
    case 2: return random_between(g, least - 10, -least);
    case 3: return least - d.fraction_bits - random_between(g, 1, 3);
    case 4: return random_between(g, least - 20, least - 6);
    default: return random_between(g, -6, 6);
  }
}

static void generate_scales(row_state *s, smma_row *r) {
  const smma_operation *o = s->o;
  smma_encoding f = smma_encoding_of(o->scale);
  operand_kind kind = s->kind == OPERANDS_SPARSE || s->kind == OPERANDS_CANCELLATION ? OPERANDS_NEAR : s->kind;
  for (int i = 0; i < o->k / o->scale_block; i++) {
    int both = s->scale_exponent - (one_in(&s->g, 3) ? random_between(&s->g, 16, 40) : 0);
    int share = both / 2 + random_between(&s->g, -3, 3);
    r->scale_a[i] = mostly_finite(s, f, element(s, kind, f, share));
    r->scale_b[i] = mostly_finite(s, f, element(s, kind, f, both - share));
    if (one_in(&s->g, 40)) r->scale_a[i] = zero(&s->g, f);
  }
}

static void generate_elements(row_state *s, smma_row *r) {
  smma_encoding a = smma_encoding_of(s->o->a), b = smma_encoding_of(s->o->b);
  int products = s->exponent - s->scale_exponent;
  for (int k = 0; k < s->o->k; k++) {
    int share = products / 2 + random_between(&s->g, -2, 2);
    r->a[k] = mostly_finite(s, a, element(s, s->kind, a, share));
    r->b[k] = mostly_finite(s, b, element(s, s->kind, b, products - share));
    if (s->kind == OPERANDS_NEAR && one_in(&s->g, 12)) r->a[k] = zero(&s->g, a);
  }
}

/* Returns -x; x itself if the format has no sign. */
static uint64_t negated(smma_encoding f, uint64_t x) {
  uint64_t sign = UINT64_C(1) << (f.exponent_bits + f.fraction_bits + f.ignored_bits);
  if (!f.sign_bits) return x;
  if (f.specials == SMMA_SPECIALS_INTEGER) return smma_low_bits(0 - x, f.bits);
  return smma_has_nan_for_negative_zero(f) && (x | sign) == sign ? 0 : x ^ sign;
}

/* Makes product k repeat an earlier one with the sign of a flipped; a few products stay unchanged. */
static void cancel(row_state *s, smma_row *r) {
  smma_encoding a = smma_encoding_of(s->o->a);
  for (int k = 1; k < s->o->k; k++) {
    int from = one_in(&s->g, 3) ? random_between(&s->g, 0, k - 1) : k - 1;
    if (k % 2 == 0 || one_in(&s->g, 6)) continue;
    r->a[k] = negated(a, r->a[from]);
    r->b[k] = r->b[from];
  }
}

/* Returns product k, including scale factors, as a double: exact for every format except f64. */
static double product_at(const smma_operation *o, const smma_row *r, int k) {
  double p =
      value_of(smma_decode(smma_encoding_of(o->a), r->a[k])) * value_of(smma_decode(smma_encoding_of(o->b), r->b[k]));
  if (o->scale_block > 0) {
    smma_encoding f = smma_encoding_of(o->scale);
    p *= value_of(smma_decode(f, r->scale_a[k / o->scale_block]));
    p *= value_of(smma_decode(f, r->scale_b[k / o->scale_block]));
  }
  return p;
}

static uint64_t generate_c(row_state *s, const smma_row *r) {
  smma_encoding f = smma_encoding_of(s->o->c);
  generator *g = &s->g;
  double sum = 0, one;
  int near;
  for (int k = 0; k < s->o->k; k++) sum += product_at(s->o, r, k);
  one = product_at(s->o, r, random_between(g, 0, s->o->k - 1));
  near = sum != 0 && isfinite(sum) ? ilogb(sum) : s->exponent;
  switch (random_between(g, 0, 11)) {
    case 0:
    case 9: return zero(g, f);
    case 8: return assembled(g, f, 1, 0); /* the smallest normal number */
    case 1: return encoded(f, -sum);
    case 2: return smma_low_bits(encoded(f, -sum) + (uint64_t)random_between(g, -2, 2), f.bits);
    case 3: return encoded(f, -one);
    case 4: return with_exponent(g, f, near + random_between(g, -40, 40));
    case 5: return with_exponent(g, f, near + random_between(g, -3, 3));
    case 6: return with_exponent(g, f, near + random_between(g, 20, 36));
    case 7: return with_exponent(g, f, s->exponent + random_between(g, -4, 30));
    default: return element(s, s->kind, f, s->exponent);
  }
}

void operands_generate(const smma_operation *o, uint64_t seed, uint64_t row, smma_row *r) {
  row_state s = {.g = mixed_bits(mixed_bits(seed) + row), .o = o, .kind = (operand_kind)(row % OPERAND_KINDS)};
  static const int spreads[] = {0, 1, 3, 8, 14};
  s.specials = one_in(&s.g, 8);
  s.exponent = choose_exponent(&s.g, smma_encoding_of(o->d));
  s.spread = spreads[random_between(&s.g, 0, 4)];
  s.scale_exponent = o->scale_block > 0 ? s.exponent - random_between(&s.g, -6, 6) : 0;
  if (o->scale_block > 0) generate_scales(&s, r);
  generate_elements(&s, r);
  if (s.kind == OPERANDS_CANCELLATION) cancel(&s, r);
  r->c = mostly_finite(&s, smma_encoding_of(o->c), generate_c(&s, r));
}

smma_row operands_row(const smma_operation *o, uint64_t seed, uint64_t row) {
  smma_row r;
  operands_generate(o, seed, row, &r);
  return r;
}
