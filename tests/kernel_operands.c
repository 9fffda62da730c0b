#include "kernel_operands.h"

#include <stdlib.h>

#include "random.h"

typedef enum { ANY_FRACTION, ALL_ONES, ALL_ZEROS, TWO_BITS, EDGES, FRACTION_LAWS } fraction_law;

/* The distribution of the elements of one array. Rates are in 256ths. */
typedef struct {
  bool any_bits;        /* then only `zeros` is used as well */
  bool geometric;       /* each exponent below the largest is half as frequent as the next larger one */
  bool positive;        /* otherwise of either sign */
  int exponent, spread; /* uniform within `spread` of `exponent` */
  int reach;            /* distance of an outlier's exponent */
  fraction_law fraction;
  unsigned outliers, zeros;
} law;

typedef struct {
  uint64_t g; /* random state */
  const smma_operation *o;
  kernel_operands *x;
  law a, b, c, scale_a, scale_b;
  int sum;          /* exponent around which products, including scale factors, are placed */
  int tilt;         /* maximum by which A's exponents are raised, and B's lowered, at each k */
  unsigned sinking; /* rate of indices k at which products are `depth` binades smaller */
  int depth;
  int shift;         /* maximum by which the exponents of a whole row of A or column of B are shifted */
  bool cancels;      /* products, including lowered ones, form pairs that cancel */
  bool zero_parts;   /* some rows, columns and ranges of k are all zero */
  unsigned specials; /* rate of NaN and infinities */
  bool one_special;  /* each row or column has one NaN or infinity */
  bool aimed;        /* THEME_AIMED with formats that are not integers */
} design;

static int least_of(int x, int y) { return x < y ? x : y; }
static int clamped(int x, int least, int greatest) { return x < least ? least : x > greatest ? greatest : x; }

/* ---- Elements ---- */

static int greatest_exponent(smma_encoding f) { return (int)(smma_largest_fields(f) >> f.fraction_bits) - f.bias; }

/* Returns the exponent of the smallest number above zero. */
static int tiniest_exponent(smma_encoding f) { return smma_minimum_exponent(f) - f.fraction_bits; }

/* Returns the encoding with this sign and these fields. In half of the cases its ignored bits are random. */
static uint64_t assembled(uint64_t *g, smma_encoding f, bool negative, uint64_t fields) {
  uint64_t bits = random_bits(g), sign = (uint64_t)negative << (f.exponent_bits + f.fraction_bits);
  if (smma_has_nan_for_negative_zero(f) && fields == 0) sign = 0;
  fields |= sign; /* ignored bit of a format without sign */
  return smma_low_bits(fields << f.ignored_bits | (bits & 1 ? smma_low_bits(bits >> 8, f.ignored_bits) : 0), f.bits);
}

/* Returns the low `bits` bits of a fraction. */
static uint64_t fraction_of(uint64_t *g, fraction_law fraction, int bits) {
  uint64_t ones = smma_low_bits(~UINT64_C(0), bits), random = random_bits(g) & ones;
  int top = least_of(bits, 2);
  switch (fraction) {
    case ALL_ONES: return ones;
    case ALL_ZEROS: return 0;
    case TWO_BITS: return random >> (bits - top) << (bits - top);
    case EDGES: break;
    default: return random;
  }
  switch (random_below(g, 5)) {
    case 0: return 0;
    case 1: return 1 & ones;
    case 2: return ones;
    case 3: return ones - (1 & ones);
    default: return random & random_bits(g) & random_bits(g);
  }
}

/* Returns (-1)^negative * 1.fraction * 2^exponent, truncated if the result is subnormal; exponents above the format's
   largest are replaced by it. */
static uint64_t number_at(uint64_t *g, smma_encoding f, bool negative, int exponent, uint64_t fraction) {
  int least = smma_minimum_exponent(f);
  uint64_t fields, largest = smma_largest_fields(f);
  if (exponent > greatest_exponent(f)) exponent = greatest_exponent(f);
  if (f.specials == SMMA_SPECIALS_POWERS_OF_TWO)
    fields = (uint64_t)(exponent < least ? 0 : exponent - least);
  else if (exponent < least)
    fields = smma_shift_right(fraction | UINT64_C(1) << f.fraction_bits, least - exponent);
  else
    fields = (uint64_t)(exponent - least + 1) << f.fraction_bits | fraction;
  return assembled(g, f, negative, fields < largest ? fields : largest);
}

/* Returns a zero of random sign, or the smallest power of two if the format has no zero. */
static uint64_t zero_of(uint64_t *g, smma_encoding f) { return assembled(g, f, random_bits(g) >> 63, 0); }

/* Returns random bits; if they are not finite, clears a bit of the exponent. */
static uint64_t any_number(uint64_t *g, smma_encoding f) {
  uint64_t x = smma_low_bits(random_bits(g), f.bits);
  if (smma_decode(f, x).kind <= SMMA_FINITE) return x;
  if (smma_has_nan_for_negative_zero(f)) return 0;
  return x ^ UINT64_C(1) << (f.exponent_bits + f.fraction_bits + f.ignored_bits - 1);
}

static uint64_t element(uint64_t *g, smma_encoding f, const law *l, int shift) {
  unsigned dice = random_below(g, 256);
  bool negative = random_bits(g) >> 63 && !l->positive;
  int exponent = l->exponent + shift;
  if (dice < l->zeros) return zero_of(g, f);
  if (l->any_bits) return any_number(g, f);
  exponent += l->geometric ? -smma_leading_zeros(random_bits(g)) : random_between(g, -l->spread, l->spread);
  if (dice >= 256 - l->outliers) exponent += l->reach;
  return number_at(g, f, negative, exponent, fraction_of(g, l->fraction, f.fraction_bits));
}

/* Returns a NaN with any payload, or an infinity; the format's default for NaN if it is not an IEEE format. */
static uint64_t special_of(uint64_t *g, smma_encoding f) {
  uint64_t bits = random_bits(g), infinity = smma_largest_fields(f) + 1, payload = 0;
  if (f.specials != SMMA_SPECIALS_IEEE) return smma_default_nan(f);
  if (bits & 1) payload = smma_low_bits(bits >> 8, f.fraction_bits);
  if ((bits & 3) == 3) payload = bits & 4 ? smma_low_bits(~UINT64_C(0), f.fraction_bits) : 1;
  return assembled(g, f, bits >> 63, infinity | payload);
}

/* ---- Designs ---- */

static int random_spread(uint64_t *g) {
  static const int spreads[] = {0, 0, 1, 2, 4, 8, 14, 25, 40, 70};
  return spreads[random_below(g, 10)];
}

static int random_either(uint64_t *g, int x) { return random_bits(g) >> 63 ? x : -x; }

/* Returns an exponent near D's smallest numbers: around half of D's last bit, or around the exponent at which zeros
   determine the alignment. */
static int exponent_of_underflow(uint64_t *g, smma_encoding d) {
  int least = smma_minimum_exponent(d);
  switch (random_below(g, 4)) {
    case 0: return least - d.fraction_bits - random_between(g, 1, 3);
    case 1: return least - random_between(g, 6, 20);
    case 2: return least + random_between(g, -3, 3);
    default: return random_between(g, least - d.fraction_bits - 6, least + 6);
  }
}

static int exponent_of_overflow(uint64_t *g, smma_encoding d) {
  return greatest_exponent(d) - random_between(g, -2, 7);
}

/* Splits an exponent between two factors, within the range of their formats. */
static void share_exponent(uint64_t *g, int sum, smma_encoding x, smma_encoding y, law *of_x, law *of_y) {
  int share = sum / 2 + random_between(g, -3, 3);
  share = clamped(share, sum - greatest_exponent(y), sum - tiniest_exponent(y));
  of_x->exponent = clamped(share, tiniest_exponent(x), greatest_exponent(x));
  of_y->exponent = clamped(sum - of_x->exponent, tiniest_exponent(y), greatest_exponent(y));
}

static int any_exponent(uint64_t *g, smma_encoding d) {
  switch (random_below(g, 10)) {
    case 0: return exponent_of_underflow(g, d);
    case 1: return exponent_of_overflow(g, d);
    case 2: return random_between(g, tiniest_exponent(d), greatest_exponent(d));
    case 3: return random_between(g, -40, 40);
    case 4: return random_between(g, -100, -30);
    default: return random_between(g, -8, 8);
  }
}

/* Return the least and the greatest exponent that a product of two numbers can have. */
static int least_reach(smma_encoding x, smma_encoding y) { return tiniest_exponent(x) + tiniest_exponent(y); }
static int greatest_reach(smma_encoding x, smma_encoding y) { return greatest_exponent(x) + greatest_exponent(y); }

/* Returns `exponent` if products can have it, otherwise a random exponent that they can have. */
static int within_reach(design *d, int exponent) {
  smma_encoding a = smma_encoding_of(d->o->a), b = smma_encoding_of(d->o->b), s = smma_encoding_of(d->o->scale);
  int least = least_reach(a, b), greatest = greatest_reach(a, b);
  if (d->o->scale_block) least += least_reach(s, s), greatest += greatest_reach(s, s);
  return exponent < least || exponent > greatest ? random_between(&d->g, least, greatest) : exponent;
}

/* Places products at `sum`, limited to the range of the formats. Scale factors take the part of `sum` beyond the
   exponents of a and b. */
static void place_products(design *d, int sum) {
  smma_encoding a = smma_encoding_of(d->o->a), b = smma_encoding_of(d->o->b), s = smma_encoding_of(d->o->scale);
  int products = sum;
  if (d->o->scale_block) {
    products = clamped(random_between(&d->g, -4, 4), least_reach(a, b), greatest_reach(a, b));
    share_exponent(&d->g, sum - products, s, s, &d->scale_a, &d->scale_b);
  }
  share_exponent(&d->g, products, a, b, &d->a, &d->b);
  d->sum = d->a.exponent + d->b.exponent + d->scale_a.exponent + d->scale_b.exponent;
}

/* Sets the distribution of C for themes that do not define one. */
static void place_c(design *d) {
  smma_encoding f = smma_encoding_of(d->o->c);
  law *c = &d->c;
  c->fraction = (fraction_law)random_below(&d->g, FRACTION_LAWS);
  c->exponent = d->sum;
  switch (random_below(&d->g, 10)) {
    case 0: c->zeros = 256; break;
    case 1: c->exponent += random_between(&d->g, -40, 40); break;
    case 2: c->spread = 40; break;
    case 3: c->exponent += random_between(&d->g, -3, 3); break;
    case 4: c->exponent = greatest_exponent(f) - 1, c->spread = 2; break;
    case 5: c->exponent = smma_minimum_exponent(f) - f.fraction_bits / 2, c->spread = f.fraction_bits / 2 + 2; break;
    case 6: c->any_bits = true; break;
    case 7: c->exponent += random_between(&d->g, 20, 38), c->spread = 2; break;
    case 8: c->spread = 4, c->zeros = 128; break;
    default: c->exponent = smma_minimum_exponent(f), c->spread = 1; break;
  }
}

/* Lowers some products far below the rest. */
static void sink_some(design *d) {
  d->sinking = 1 + random_below(&d->g, 128);
  d->depth = random_below(&d->g, 4) ? random_between(&d->g, 4, 40) : random_between(&d->g, 20, 200);
}

static void near(design *d) {
  d->a.spread = random_spread(&d->g), d->b.spread = random_spread(&d->g);
  d->a.fraction = (fraction_law)random_below(&d->g, FRACTION_LAWS);
  d->b.fraction = (fraction_law)random_below(&d->g, FRACTION_LAWS);
  d->scale_a.spread = random_spread(&d->g) / 4, d->scale_b.spread = random_spread(&d->g) / 4;
  if (random_below(&d->g, 3) == 0) d->shift = random_spread(&d->g);
  if (random_below(&d->g, 4) == 0) d->a.positive = d->b.positive = true;
  if (random_below(&d->g, 4) == 0) sink_some(d);
  if (random_below(&d->g, 3) == 0) d->a.zeros = d->b.zeros = 1 + random_below(&d->g, 32);
  place_products(d, within_reach(d, any_exponent(&d->g, smma_encoding_of(d->o->d))));
  place_c(d);
}

static void full_range(smma_encoding f, law *l) {
  l->exponent = (tiniest_exponent(f) + greatest_exponent(f)) / 2;
  l->spread = (greatest_exponent(f) - tiniest_exponent(f)) / 2 + 1;
}

static void ordinary(design *d) {
  d->a.geometric = d->b.geometric = d->c.geometric = true;
  d->scale_a.spread = d->scale_b.spread = 1;
  d->c.exponent = random_between(&d->g, 0, 4);
}

static void around(design *d, int sum) {
  d->a.spread = d->b.spread = random_between(&d->g, 0, 4);
  d->a.fraction = d->b.fraction = random_below(&d->g, 2) ? ANY_FRACTION : EDGES;
  d->scale_a.spread = d->scale_b.spread = random_between(&d->g, 0, 2);
  d->a.zeros = random_below(&d->g, 2) ? 24 : 0;
  place_products(d, sum);
  place_c(d);
}

static void subnormal(smma_encoding f, law *l) {
  l->exponent = smma_minimum_exponent(f) - f.fraction_bits / 2 - 1;
  l->spread = f.fraction_bits / 2 + 2;
}

static void zeros(design *d) {
  near(d);
  if (random_below(&d->g, 2)) d->a.zeros = 32 * random_below(&d->g, 8), d->b.zeros = 32 * random_below(&d->g, 8);
  d->scale_a.zeros = 8 * random_below(&d->g, 8);
  d->zero_parts = true;
  if (random_below(&d->g, 2)) d->c.zeros = 192;
  if (random_below(&d->g, 3) == 0) d->c = (law){.zeros = 32}, subnormal(smma_encoding_of(d->o->c), &d->c);
}

static void integers(design *d) {
  d->a.fraction = d->b.fraction = d->c.fraction = TWO_BITS;
  d->a.spread = d->b.spread = d->c.spread = random_between(&d->g, 0, 2);
  d->a.zeros = d->b.zeros = d->c.zeros = 32;
  place_products(d, random_between(&d->g, 0, 6));
  d->c.exponent = d->sum + random_between(&d->g, -2, 4);
}

static void maximal(design *d) {
  d->a.fraction = d->b.fraction = d->c.fraction = ALL_ONES;
  d->a.positive = random_below(&d->g, 8) != 0, d->b.positive = d->a.positive;
  d->a.outliers = random_below(&d->g, 2) ? 4 : 0, d->a.reach = -1;
  place_products(d, within_reach(d, any_exponent(&d->g, smma_encoding_of(d->o->d))));
  d->c.exponent = d->sum + random_between(&d->g, -3, 6);
  d->c.spread = random_between(&d->g, 0, 1);
  d->c.positive = random_below(&d->g, 2);
}

/* Makes products small multiples of half of c's last bit, or of D's last bit above zero. The lowered products then
   decide, among the last bits that a unit retains. */
static void ties(design *d) {
  smma_encoding f = smma_encoding_of(d->o->d);
  int reach = least_reach(smma_encoding_of(d->o->a), smma_encoding_of(d->o->b));
  bool exact = random_below(&d->g, 3), low = tiniest_exponent(f) > reach && random_below(&d->g, 2);
  d->a.fraction = d->b.fraction = exact ? ALL_ZEROS : TWO_BITS;
  d->a.spread = d->b.spread = exact ? 0 : random_between(&d->g, 0, 2);
  d->a.zeros = 32 * random_below(&d->g, 5);
  if (random_below(&d->g, 2)) d->a.outliers = 12, d->a.reach = -random_between(&d->g, 4, 34);
  if (random_below(&d->g, 4)) sink_some(d), d->cancels = random_below(&d->g, 2);
  if (random_below(&d->g, 2))
    d->depth = clamped(24 - f.fraction_bits + random_between(&d->g, low ? 1 : -2, low ? 8 : 1), 1, 40);
  place_products(
      d, low ? tiniest_exponent(f) - clamped(random_between(&d->g, -3, 3), 1, 3) : random_between(&d->g, -8, 2));
  d->c.fraction = random_below(&d->g, 2) ? ANY_FRACTION : EDGES;
  d->c.exponent = d->sum + f.fraction_bits + 1 + random_between(&d->g, exact ? 0 : -4, exact ? 2 : 4);
  d->c.spread = random_between(&d->g, 0, 2);
  if (low) d->c.exponent = smma_minimum_exponent(f) - f.fraction_bits / 2, d->c.spread = f.fraction_bits / 2 + 3;
}

/* Makes products powers of two: some near one exponent, others around half of the last bit that this exponent has in D.
   c, far below or zero, decides ties. */
static void ties_of_products(design *d) {
  int last = smma_encoding_of(d->o->d).fraction_bits;
  d->a.fraction = d->b.fraction = ALL_ZEROS;
  d->a.zeros = 128;
  d->a.outliers = 64, d->a.reach = -last - random_between(&d->g, 0, 2);
  place_products(d, random_between(&d->g, -4, 12));
  d->c.exponent = d->sum - random_between(&d->g, last + 1, last + 120);
  d->c.zeros = 32;
}

static void subnormals(design *d) {
  smma_encoding a = smma_encoding_of(d->o->a), b = smma_encoding_of(d->o->b);
  unsigned which = random_below(&d->g, 4);
  near(d);
  if (which != 1) subnormal(a, &d->a);
  if (which != 0) subnormal(b, &d->b);
  /* One factor is so large that D can represent the products. */
  if (which == 0) d->b.exponent = clamped(tiniest_exponent(smma_encoding_of(d->o->d)) - d->a.exponent, 0, 300);
  if (which == 1) d->a.exponent = clamped(tiniest_exponent(smma_encoding_of(d->o->d)) - d->b.exponent, 0, 300);
  d->sum = d->a.exponent + d->b.exponent + d->scale_a.exponent + d->scale_b.exponent;
  place_c(d);
}

static void huge(design *d) {
  near(d);
  d->a.exponent = greatest_exponent(smma_encoding_of(d->o->a)), d->a.spread = random_between(&d->g, 0, 3);
  d->b.exponent = greatest_exponent(smma_encoding_of(d->o->b)), d->b.spread = random_between(&d->g, 0, 3);
  if (random_below(&d->g, 2)) d->scale_a.exponent = d->scale_b.exponent = 127;
  d->sum = d->a.exponent + d->b.exponent;
  place_c(d);
}

static void outliers(design *d) {
  near(d);
  d->a.outliers = d->b.outliers = 1 + random_below(&d->g, 24);
  d->a.reach = random_either(&d->g, random_between(&d->g, 8, 70));
  d->b.reach = random_below(&d->g, 2) ? d->a.reach : -d->a.reach;
  d->scale_a.outliers = 16, d->scale_a.reach = random_either(&d->g, random_between(&d->g, 8, 60));
}

static void any_bits(design *d) {
  place_products(d, 0);
  place_c(d);
  d->a.any_bits = d->b.any_bits = true;
  d->scale_a.any_bits = d->scale_b.any_bits = random_below(&d->g, 2);
  if (random_below(&d->g, 2)) d->c.any_bits = true;
  if (random_below(&d->g, 4) == 0) d->specials = 2;
}

static void full_ranges(design *d) {
  near(d);
  full_range(smma_encoding_of(d->o->a), &d->a);
  full_range(smma_encoding_of(d->o->b), &d->b);
  if (random_below(&d->g, 2)) full_range(smma_encoding_of(d->o->c), &d->c);
  if (d->o->scale_block && random_below(&d->g, 2)) full_range(smma_encoding_of(d->o->scale), &d->scale_a);
  if (d->o->scale_block && random_below(&d->g, 2)) full_range(smma_encoding_of(d->o->scale), &d->scale_b);
}

static void cancelling(design *d) {
  near(d);
  d->cancels = true;
  d->scale_a.spread = d->scale_b.spread = 0;
}

/* Leaves the elements to aim(), except for fixed-point formats. */
static void aimed(design *d) {
  d->aimed = !smma_is_fixed_point(d->o->a);
  if (!d->aimed) integers(d);
}

static void make_design(design *d, unsigned theme) {
  smma_encoding f = smma_encoding_of(d->o->d);
  switch (theme) {
    case THEME_ORDINARY: ordinary(d); break;
    case THEME_ANY_BITS: any_bits(d); break;
    case THEME_FULL_RANGE: full_ranges(d); break;
    case THEME_FAR_OPERANDS: near(d), d->tilt = random_between(&d->g, 4, 120); break;
    case THEME_UNDERFLOW: around(d, exponent_of_underflow(&d->g, f)); break;
    case THEME_OVERFLOW: around(d, exponent_of_overflow(&d->g, f)); break;
    case THEME_CANCELLATION: cancelling(d); break;
    case THEME_ZEROS: zeros(d); break;
    case THEME_INTEGERS: integers(d); break;
    case THEME_MAXIMAL: maximal(d); break;
    case THEME_TIES: random_below(&d->g, 4) ? ties(d) : ties_of_products(d); break;
    case THEME_SUBNORMAL: subnormals(d); break;
    case THEME_HUGE: huge(d); break;
    case THEME_OUTLIERS: outliers(d); break;
    case THEME_ONE_SPECIAL: make_design(d, random_below(&d->g, THEME_ONE_SPECIAL)), d->one_special = true; break;
    case THEME_MANY_SPECIALS:
      make_design(d, random_below(&d->g, THEME_ONE_SPECIAL)), d->specials = 1 + random_below(&d->g, 64);
      break;
    case THEME_AIMED: aimed(d); break;
    default: near(d); break;
  }
}

const char *kernel_theme_name(unsigned theme) {
  static const char *const names[ALL_THEMES] = {"ordinary",    "any bits",      "full range",   "near",  "far operands",
                                                "underflow",   "overflow",      "cancellation", "zeros", "integers",
                                                "maximal",     "ties",          "subnormal",    "huge",  "outliers",
                                                "one special", "many specials", "aimed"};
  return names[theme];
}

/* ---- Arrays ---- */

/* Fills vectors of `length` elements. `shifts`, if not NULL, has one number for each position in a vector, which is
   added to the exponents. */
static void fill(design *d, smma_format format, const law *l, size_t vectors, size_t length, const int *shifts,
                 uint64_t *x) {
  smma_encoding f = smma_encoding_of(format);
  for (size_t i = 0; i < vectors; i++) {
    int shift = shifts && d->shift ? random_between(&d->g, -d->shift, d->shift) : 0;
    for (size_t e = 0; e < length; e++) x[i * length + e] = element(&d->g, f, l, shift + (shifts ? shifts[e] : 0));
  }
}

/* Draws for each k by how many binades products are lowered. The two products of a pair that may cancel are lowered
   equally. */
static void make_sinks(design *d, int *sinks) {
  for (size_t k = 0; k < d->x->k; k++)
    if (d->cancels && k % 2)
      sinks[k] = sinks[k - 1];
    else
      sinks[k] = random_below(&d->g, 256) < d->sinking ? d->depth : 0;
}

/* Computes the shift of the exponents of A and of B at each k. */
static void make_shifts(design *d, const int *sinks, int *of_a, int *of_b) {
  for (size_t k = 0; k < d->x->k; k++) {
    int tilt = random_between(&d->g, -d->tilt, d->tilt);
    of_a[k] = tilt - sinks[k] / 2;
    of_b[k] = -tilt - (sinks[k] - sinks[k] / 2);
  }
}

static uint64_t negated(smma_encoding f, uint64_t x) {
  if (f.specials == SMMA_SPECIALS_INTEGER) return f.sign_bits ? smma_low_bits(0 - x, f.bits) : x;
  if (smma_has_nan_for_negative_zero(f) && x == 0) return x;
  return x ^ UINT64_C(1) << (f.exponent_bits + f.fraction_bits + f.ignored_bits);
}

/* Returns the encoding that is `by` steps further from zero, if it is a number of the same sign. */
static uint64_t nudged(smma_encoding f, uint64_t x, int by) {
  uint64_t y = smma_low_bits(x + ((uint64_t)by << f.ignored_bits), f.bits);
  smma_number before = smma_decode(f, x), after = smma_decode(f, y);
  return before.kind == SMMA_FINITE && after.kind == SMMA_FINITE && before.negative == after.negative ? y : x;
}

/* Makes product k equal to the product `distance` before it with the sign of A flipped, in every dot product. Sometimes
   changes both factors slightly, so that a far smaller product remains. */
static void cancel_product(design *d, size_t k, size_t distance) {
  static const int off[][2] = {{1, -1}, {-1, 1}, {1, -2}, {-2, 1}, {1, 0}, {0, 1}};
  kernel_operands *x = d->x;
  smma_encoding a = smma_encoding_of(d->o->a), b = smma_encoding_of(d->o->b);
  const int *by = off[random_below(&d->g, 6)];
  bool exact = random_below(&d->g, 2);
  for (size_t i = 0; i < x->m; i++)
    x->a[i * x->k + k] = nudged(a, negated(a, x->a[i * x->k + k - distance]), exact ? 0 : by[0]);
  for (size_t j = 0; j < x->n; j++) x->b[j * x->k + k] = nudged(b, x->b[j * x->k + k - distance], exact ? 0 : by[1]);
}

/* Makes pairs of products cancel. Some of the others are up to 40 bits lower. */
static void cancel(design *d, const int *sinks) {
  kernel_operands *x = d->x;
  law rest = d->a;
  size_t distance = d->sinking ? 1 : (size_t)1 << random_below(&d->g, 4);
  rest.exponent -= random_between(&d->g, 1, 40);
  for (size_t k = distance; k < x->k; k++)
    if (random_below(&d->g, 10) == 0)
      for (size_t i = 0; i < x->m; i++) x->a[i * x->k + k] = element(&d->g, smma_encoding_of(d->o->a), &rest, 0);
    else if (k / distance % 2 && (!d->sinking || sinks[k]))
      cancel_product(d, k, distance);
}

/* Sets elements first..last - 1 of a vector to zero. */
static void clear(design *d, smma_format format, uint64_t *vector, size_t first, size_t last) {
  for (size_t e = first; e < last; e++) vector[e] = zero_of(&d->g, smma_encoding_of(format));
}

/* In each group of 16 elements of a vector, sets all elements, all except one, or no element to zero. */
static void clear_groups(design *d, smma_format format, uint64_t *x, size_t vectors, size_t length) {
  bool sparse = random_below(&d->g, 2);
  for (size_t i = 0; i < vectors; i++)
    for (size_t first = 0; first < length; first += 16) {
      size_t last = first + 16 < length ? first + 16 : length, kept = first + random_below(&d->g, 16);
      if (!sparse && random_below(&d->g, 3)) continue;
      if (!sparse || kept > last) kept = last;
      clear(d, format, x + i * length, first, kept);
      if (kept < last) clear(d, format, x + i * length, kept + 1, last);
    }
}

/* Sets whole vectors to zero, and perhaps the same range of k in all vectors. */
static void clear_vectors(design *d, smma_format format, uint64_t *x, size_t vectors, size_t length) {
  size_t first = random_below(&d->g, (unsigned)length);
  size_t last = first + random_below(&d->g, (unsigned)(length - first)) + 1;
  bool everywhere = random_below(&d->g, 3) == 0;
  for (size_t i = 0; i < vectors; i++)
    if (random_below(&d->g, 6) == 0)
      clear(d, format, x + i * length, 0, length);
    else if (everywhere)
      clear(d, format, x + i * length, first, last);
}

static void clear_parts(design *d) {
  kernel_operands *x = d->x;
  bool groups = random_below(&d->g, 2);
  (groups ? clear_groups : clear_vectors)(d, d->o->a, x->a, x->m, x->k);
  (groups ? clear_groups : clear_vectors)(d, d->o->b, x->b, x->n, x->k);
}

static void sprinkle(design *d, smma_format format, uint64_t *x, size_t count) {
  for (size_t e = 0; e < count; e++)
    if (random_below(&d->g, 256) < d->specials) x[e] = special_of(&d->g, smma_encoding_of(format));
}

/* Puts one special value into most vectors. Its position is different in each vector. */
static void place_specials(design *d, smma_format format, uint64_t *x, size_t vectors, size_t length) {
  size_t first = random_below(&d->g, (unsigned)length);
  for (size_t i = 0; i < vectors; i++)
    if (random_below(&d->g, 3)) x[i * length + (first + i) % length] = special_of(&d->g, smma_encoding_of(format));
}

static void add_specials(design *d) {
  kernel_operands *x = d->x;
  const smma_operation *o = d->o;
  unsigned which = random_below(&d->g, x->scales ? 5 : 3);
  if (d->one_special) switch (which) {
      case 0: place_specials(d, o->a, x->a, x->m, x->k); return;
      case 1: place_specials(d, o->b, x->b, x->n, x->k); return;
      case 2: place_specials(d, o->c, x->c, x->m, x->n); return;
      case 3: place_specials(d, o->scale, x->scale_a, x->m, x->scales); return;
      default: place_specials(d, o->scale, x->scale_b, x->n, x->scales); return;
    }
  sprinkle(d, o->a, x->a, x->m * x->k);
  sprinkle(d, o->b, x->b, x->n * x->k);
  if (random_below(&d->g, 2)) sprinkle(d, o->c, x->c, x->m * x->n);
  if (x->scales && random_below(&d->g, 2)) sprinkle(d, o->scale, x->scale_a, x->m * x->scales);
}

/* Sets integer accumulators to any distance from an end of their range. */
static void approach_ends(design *d) {
  smma_encoding c = smma_encoding_of(d->o->c);
  for (size_t e = 0; e < d->x->m * d->x->n; e++) {
    int bits = (int)random_below(&d->g, 32);
    uint64_t distance = smma_low_bits(random_bits(&d->g), bits);
    d->x->c[e] = (random_below(&d->g, 2) ? smma_largest_fields(c) : smma_largest_fields(c) + 1) ^ distance;
  }
}

/* ---- Aimed products ---- */

/* Values of the elements at all other k. */
typedef enum { FILL_ZEROS, FILL_NEAR_TERM, FILL_BELOW_ANCHOR } filling;

/* The positions and exponents of the terms of an aimed product. Each dot product has an anchor, its largest product,
   and an aimed term. Lines are the vectors of the longer operand (rows of A, or columns of B): line v puts the term
   `distance` + v binades below the anchor. The element at `opposite` may cancel the anchor, so that D holds the last
   bits that a kernel retains of the term. `fill` selects the elements at other k. Exponents are those of leading bits,
   also for subnormal numbers. */
typedef struct {
  bool by_columns;               /* lines are the columns of B */
  size_t anchor, term, opposite; /* k; `opposite` is the anchor's k if nothing cancels it */
  int distance;                  /* distance of line 0, in binades */
  bool by_scales;                /* the distance comes from the scale factor of the term's block */
  bool nudges;                   /* `opposite` differs by a few last bits */
  bool meets_zero; /* the other operand is zero at the anchor, so that the anchor only raises its line's exponents */
  filling fill;
  int below[2], jitter; /* binades from the anchor down to the fill of the other operand and of the lines, and a random
                           addition */
  bool moves_anchor;    /* lines differ in their anchor's exponent; otherwise in their term's */
  int stays;            /* exponent of the element that all lines share */
  int other_anchor, other_term, scale; /* exponents of the other operand's elements, and of scale factors */
  fraction_law of_anchor, of_term;
  int c; /* the kind of exponents of c */
} target;

/* Returns an exponent at or near a bound of the format, or any exponent. */
static int aimed_exponent(uint64_t *g, smma_encoding f) {
  int least = smma_minimum_exponent(f), tiniest = tiniest_exponent(f), greatest = greatest_exponent(f);
  switch (random_below(g, 8)) {
    case 0: return clamped(least + random_between(g, -1, 1), tiniest, greatest);
    case 1: return random_between(g, tiniest, least);
    case 2: return tiniest;
    case 3: return random_between(g, tiniest, greatest);
    case 4: return clamped(greatest - random_between(g, 0, 12), tiniest, greatest);
    default: return clamped(random_between(g, -2, 2), tiniest, greatest);
  }
}

static uint64_t aimed_number(uint64_t *g, smma_encoding f, int exponent, fraction_law fraction) {
  int within = clamped(exponent, tiniest_exponent(f), greatest_exponent(f));
  bool negative = random_bits(g) >> 63;
  return number_at(g, f, negative, within, fraction_of(g, fraction, f.fraction_bits));
}

/* Chooses the k of the anchor and of the term: mostly in one step, and then often in one pair, group or block. Both are
   0 if K is 1. */
static void aim_at_k(design *d, target *t) {
  size_t k = d->x->k, step = (size_t)d->o->k;
  t->anchor = random_below(&d->g, (unsigned)k);
  t->term = t->anchor ^ (size_t)1 << random_below(&d->g, random_below(&d->g, 2) ? 2 : 6);
  if (random_below(&d->g, 6) == 0 || t->term / step != t->anchor / step) t->term = random_below(&d->g, (unsigned)k);
  if (t->term >= k || t->term == t->anchor) t->term = (t->anchor + 1) % k;
  t->opposite = random_below(&d->g, 3) == 0 ? t->anchor : t->anchor ^ (size_t)1 << random_below(&d->g, 4);
  if (t->opposite >= k || t->opposite == t->term) t->opposite = t->anchor;
}

/* Returns the distance of the first of `lines` lines. Often some line is then at a bound of a kernel; otherwise the
   lines are near the anchor, or anywhere. Bounds are: the bits that sums retain, the largest deficit that a byte holds,
   and the exponents at which binary32 becomes subnormal or zero, with additional binades for the bits of formats and F.
 */
static int aimed_distance(uint64_t *g, int reach, size_t lines) {
  static const int bounds[] = {8, 10, 24, 29, 32, 35, 53, 63, 86, 104, 126, 133, 142, 149, 173};
  unsigned count = sizeof bounds / sizeof bounds[0];
  int most = lines < 64 ? (int)lines : 64;
  switch (random_below(g, 4)) {
    case 0:
    case 1:
      while (count > 1 && bounds[count - 1] > reach) count--;
      return bounds[random_below(g, count)] - random_between(g, -4, most);
    case 2: return random_between(g, -8, 70);
    default: return random_between(g, 0, reach);
  }
}

/* Chooses the exponents of the other operand: one for all elements, or up to three different ones. */
static void aim_others(uint64_t *g, smma_encoding f, target *t) {
  t->other_anchor = t->other_term = clamped(random_between(g, -2, 2), tiniest_exponent(f), greatest_exponent(f));
  if (random_below(g, 2)) return;
  t->other_anchor = t->other_term = aimed_exponent(g, f);
  if (random_below(g, 2)) t->other_term = aimed_exponent(g, f);
  t->below[0] = random_between(g, 0, 40);
}

/* Chooses exponents such that the product that all lines share (the anchor's or the term's) has exponent `sum`. Adjusts
   the scale factors instead if the instruction has them. */
static void aim_at_sum(design *d, int sum, target *t) {
  int rest = sum - t->other_anchor;
  if (random_below(&d->g, 2)) t->moves_anchor = false;
  if (d->o->scale_block)
    t->scale = (rest - t->stays) / 2;
  else
    t->stays = rest;
}

static target make_target(design *d) {
  target t = {.by_columns = d->x->n > d->x->m, .moves_anchor = random_below(&d->g, 3) == 0};
  smma_encoding a = smma_encoding_of(d->o->a), b = smma_encoding_of(d->o->b), scale = smma_encoding_of(d->o->scale);
  smma_encoding of_lines = t.by_columns ? b : a, of_other = t.by_columns ? a : b;
  size_t block = (size_t)d->o->scale_block;
  int reach = greatest_reach(a, b) - least_reach(a, b);
  aim_at_k(d, &t);
  if (block) t.by_scales = t.anchor / block != t.term / block && random_below(&d->g, 2);
  if (t.by_scales) reach = greatest_exponent(scale) - tiniest_exponent(scale);
  t.distance = aimed_distance(&d->g, reach, t.by_columns ? d->x->n : d->x->m);
  t.stays = aimed_exponent(&d->g, of_lines);
  t.fill = (filling)least_of((int)random_below(&d->g, 4), FILL_BELOW_ANCHOR);
  t.below[1] = random_between(&d->g, 0, 40), t.jitter = random_between(&d->g, 0, 3);
  if (block) t.scale = random_below(&d->g, 2) ? random_between(&d->g, -3, 3) : aimed_exponent(&d->g, scale);
  aim_others(&d->g, of_other, &t);
  t.nudges = random_below(&d->g, 4) == 0, t.meets_zero = random_below(&d->g, 8) == 0;
  if (random_below(&d->g, 4) == 0) aim_at_sum(d, any_exponent(&d->g, smma_encoding_of(d->o->d)), &t);
  t.of_anchor = (fraction_law)random_below(&d->g, FRACTION_LAWS);
  t.of_term = (fraction_law)random_below(&d->g, FRACTION_LAWS);
  t.c = (int)random_below(&d->g, 7);
  return t;
}

/* Computes the exponents of line v's anchor and term. If the format cannot reach one of the two, the other is moved so
   that their distance is preserved. */
static void exponents_of_line(const target *t, smma_encoding f, int v, int *anchor, int *term) {
  int apart = (t->by_scales ? 0 : t->distance + v) + t->other_term - t->other_anchor;
  int least = tiniest_exponent(f), greatest = greatest_exponent(f);
  *anchor = clamped(t->moves_anchor ? t->stays + apart : t->stays, least, greatest);
  *term = clamped(*anchor - apart, least, greatest);
  *anchor = clamped(*term + apart, least, greatest);
}

/* Fills one vector along k. */
static void aim_vector(design *d, const target *t, smma_encoding f, bool of_lines, int anchor, int term, uint64_t *x) {
  int at = t->fill == FILL_NEAR_TERM ? term : anchor - t->below[of_lines];
  for (size_t k = 0; k < d->x->k; k++)
    x[k] = t->fill == FILL_ZEROS
               ? zero_of(&d->g, f)
               : aimed_number(&d->g, f, at - random_between(&d->g, 0, of_lines ? t->jitter : 0), t->of_term);
  x[t->term] = aimed_number(&d->g, f, term, t->of_term);
  x[t->anchor] = aimed_number(&d->g, f, anchor, t->of_anchor);
  if (t->meets_zero && !of_lines) x[t->anchor] = zero_of(&d->g, f);
  if (t->opposite == t->anchor) return;
  x[t->opposite] = of_lines ? negated(f, x[t->anchor]) : x[t->anchor];
  if (t->nudges) x[t->opposite] = nudged(f, x[t->opposite], random_between(&d->g, -3, 3));
}

static void aim_scales(design *d, const target *t, bool varies, size_t vectors, uint64_t *x) {
  smma_encoding f = smma_encoding_of(d->o->scale);
  size_t block = (size_t)d->o->scale_block, scales = d->x->scales;
  for (size_t v = 0; v < vectors; v++) {
    int least = tiniest_exponent(f), apart = t->by_scales && varies ? t->distance + (int)v : 0;
    int low = clamped(t->scale - apart, least, greatest_exponent(f)), high = low + apart;
    for (size_t s = 0; s < scales; s++) x[v * scales + s] = aimed_number(&d->g, f, high, t->of_anchor);
    if (apart) x[v * scales + t->term / block] = aimed_number(&d->g, f, low, t->of_term);
  }
}

/* Returns an element of C: 70 binades below the anchor to 36 above it, near the term, or at a bound of its format. */
static uint64_t aimed_c(design *d, const target *t, int anchor, int term) {
  smma_encoding f = smma_encoding_of(d->o->c);
  fraction_law fraction = (fraction_law)random_below(&d->g, FRACTION_LAWS);
  switch (t->c) {
    case 0: return zero_of(&d->g, f);
    case 1:
    case 2: return aimed_number(&d->g, f, anchor + random_between(&d->g, -70, 36), fraction);
    case 3: return aimed_number(&d->g, f, anchor + random_between(&d->g, -2, 3), fraction);
    case 4:
    case 5: return aimed_number(&d->g, f, term + random_between(&d->g, -3, 3), fraction);
    default: return aimed_number(&d->g, f, aimed_exponent(&d->g, f), fraction);
  }
}

/* Fills all arrays. */
static void aim(design *d) {
  kernel_operands *x = d->x;
  const target t = make_target(d);
  smma_encoding of_lines = smma_encoding_of(t.by_columns ? d->o->b : d->o->a);
  smma_encoding of_other = smma_encoding_of(t.by_columns ? d->o->a : d->o->b);
  uint64_t *lines = t.by_columns ? x->b : x->a, *others = t.by_columns ? x->a : x->b;
  size_t line_count = t.by_columns ? x->n : x->m, other_count = t.by_columns ? x->m : x->n;
  for (size_t v = 0; v < other_count; v++)
    aim_vector(d, &t, of_other, false, t.other_anchor, t.other_term, others + v * x->k);
  if (x->scales) aim_scales(d, &t, !t.by_columns, x->m, x->scale_a), aim_scales(d, &t, t.by_columns, x->n, x->scale_b);
  for (size_t v = 0; v < line_count; v++) {
    int anchor, term;
    exponents_of_line(&t, of_lines, (int)v, &anchor, &term);
    aim_vector(d, &t, of_lines, true, anchor, term, lines + v * x->k);
    for (size_t w = 0; w < other_count; w++)
      x->c[t.by_columns ? w * x->n + v : v * x->n + w] =
          aimed_c(d, &t, anchor + t.other_anchor + 2 * t.scale, term + t.other_term + 2 * t.scale);
  }
}

static bool fill_all(design *d) {
  kernel_operands *x = d->x;
  const smma_operation *o = d->o;
  int *sinks = calloc(3 * x->k, sizeof *sinks), *shifts = sinks + x->k;
  if (!sinks) return false;
  make_sinks(d, sinks);
  make_shifts(d, sinks, shifts, shifts + x->k);
  fill(d, o->a, &d->a, x->m, x->k, shifts, x->a);
  fill(d, o->b, &d->b, x->n, x->k, shifts + x->k, x->b);
  if (d->cancels) cancel(d, sinks);
  free(sinks);
  fill(d, o->c, &d->c, x->m, x->n, NULL, x->c);
  if (smma_is_integer(o->c) && random_below(&d->g, 3) == 0) approach_ends(d);
  if (x->scales) fill(d, o->scale, &d->scale_a, x->m, x->scales, NULL, x->scale_a);
  if (x->scales) fill(d, o->scale, &d->scale_b, x->n, x->scales, NULL, x->scale_b);
  if (d->zero_parts) clear_parts(d);
  if (d->specials || d->one_special) add_specials(d);
  return true;
}

static uint64_t *array_of(size_t count) { return calloc(count + 1, sizeof(uint64_t)); }

bool kernel_operands_make(const smma_operation *o, size_t m, size_t n, size_t k, unsigned theme, uint64_t seed,
                          kernel_operands *x) {
  design d = {.g = mixed_bits(seed) + theme, .o = o, .x = x};
  bool there;
  *x = (kernel_operands){.m = m, .n = n, .k = k};
  if (o->scale_block) x->scales = (k + (size_t)o->scale_block - 1) / (size_t)o->scale_block;
  x->a = array_of(m * k), x->b = array_of(n * k), x->c = array_of(m * n);
  if (x->scales) x->scale_a = array_of(m * x->scales), x->scale_b = array_of(n * x->scales);
  there = x->a && x->b && x->c && (!x->scales || (x->scale_a && x->scale_b));
  if (there) make_design(&d, theme);
  if (there && d.aimed) return aim(&d), true;
  if (there && fill_all(&d)) return true;
  kernel_operands_free(x);
  return false;
}

void kernel_operands_free(kernel_operands *x) {
  free(x->a), free(x->b), free(x->c), free(x->scale_a), free(x->scale_b);
}
