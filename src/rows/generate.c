#include "rows/generate.h"

#include <string.h>

#include "core/rounding.h"
#include "host/philox.h"

/* The random numbers of one row: Philox4x32-10 of (row, draw) under the seed; word w of a block is words[w][block]. */
typedef struct {
  uint64_t key;
  smma_philox_block counter;
  unsigned used;
  uint32_t words[4][SMMA_PHILOX_BLOCKS];
  int64_t sums[SMMA_PHILOX_BLOCKS]; /* of a block's words */
} stream;

enum { WORDS = 4 * SMMA_PHILOX_BLOCKS };

static void start(stream *s, uint64_t seed, uint64_t row) {
  s->key = seed;
  s->counter = (smma_philox_block){{(uint32_t)row, (uint32_t)(row >> 32), 0, 0}};
  s->used = WORDS;
}

static void refill(stream *s) {
  smma_philox_blocks(s->counter, s->key, s->words);
  s->counter.word[2] += SMMA_PHILOX_BLOCKS;
  s->used = 0;
  for (int i = 0; i < SMMA_PHILOX_BLOCKS; i++)
    s->sums[i] = (int64_t)s->words[0][i] + s->words[1][i] + s->words[2][i] + s->words[3][i];
}

static inline uint32_t draw(stream *s) {
  if (s->used == WORDS) refill(s);
  const unsigned n = s->used++;
  return s->words[n % 4][n / 4];
}

/* The sum of four draws. */
static inline int64_t draw_four(stream *s) {
  int64_t sum = 0;
  if (s->used == WORDS) refill(s);
  if (s->used % 4 == 0) {
    sum = s->sums[s->used / 4];
    s->used += 4;
  } else {
    for (int i = 0; i < 4; i++) sum += draw(s);
  }
  return sum;
}

static inline uint64_t draw64(stream *s) {
  uint64_t high = draw(s);
  return high << 32 | draw(s);
}

static inline uint32_t below(stream *s, uint32_t bound) { return (uint32_t)((uint64_t)draw(s) * bound >> 32); }

static uint64_t random_bits(stream *s, const smma_encoding *f) { return smma_low_bits(draw64(s), f->bits); }

/* smma_encode to nearest even, saturating; it is asked only where the result is subnormal, none, or of no such format.
 */
static inline uint64_t encode(const smma_encoding *f, bool negative, uint64_t x, int exponent) {
  const int shift = smma_bit_length(x) - 1 - f->fraction_bits, biased = exponent + f->fraction_bits + shift + f->bias;
  if (shift > 0 && biased > 0 && f->sign_bits && f->exponent_bits) {
    const uint64_t odd = x >> shift & 1, kept = (x + ((uint64_t)1 << (shift - 1)) - 1 + odd) >> shift;
    const uint64_t fields = ((uint64_t)(biased - 1) << f->fraction_bits) + kept;
    if (fields <= smma_largest_fields(*f))
      return ((uint64_t)negative << (f->exponent_bits + f->fraction_bits) | fields) << f->ignored_bits;
  }
  return smma_encode(*f, negative, x, exponent, false, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
}

/* The sum of twelve uniforms, minus six, times factor 2^exponent: mean 0, variance 1 without these, the same bits on
   every machine. Integers have a quarter of their range as the standard deviation. */
static uint64_t scaled_normal(stream *s, const smma_encoding *f, int64_t factor, int exponent) {
  int64_t sum = -(6LL << 32);
  if (f->specials == SMMA_SPECIALS_INTEGER) exponent += f->fraction_bits - 2;
  for (int i = 0; i < 3; i++) sum += draw_four(s);
  sum *= factor;
  return encode(f, sum < 0, smma_magnitude(sum), exponent - 32);
}

static uint64_t normal(stream *s, const smma_encoding *f) { return scaled_normal(s, f, 1, 0); }

static uint64_t assemble(const smma_encoding *f, uint64_t sign, uint64_t exponent, uint64_t fraction) {
  uint64_t fields =
      smma_low_bits(exponent, f->exponent_bits) << f->fraction_bits | smma_low_bits(fraction, f->fraction_bits);
  return ((f->sign_bits ? sign : 0) << (f->exponent_bits + f->fraction_bits) | fields) << f->ignored_bits;
}

static uint64_t edge(stream *s, const smma_encoding *f) {
  uint64_t greatest = smma_low_bits(~(uint64_t)0, f->exponent_bits), middle = (uint64_t)f->bias;
  uint64_t exponent[] = {0, 0, 1, 2, middle - 1, middle, middle + 1, greatest - 1, greatest, random_bits(s, f)};
  uint64_t ones = smma_low_bits(~(uint64_t)0, f->fraction_bits), fraction[] = {0, 1, ones, ones - 1, draw64(s)};
  uint64_t e = smma_low_bits(exponent[below(s, 10)], f->exponent_bits), m = fraction[below(s, 5)];
  if (e == greatest && below(s, 4)) e = middle; /* infinities and NaN stay rare enough not to decide every row */
  return assemble(f, below(s, 2), e, m);
}

/* Draws in arguments of one call would come in an order of the compiler's. */
static uint64_t tiny(stream *s, const smma_encoding *f) {
  const uint64_t fraction = draw64(s), exponent = below(s, 3);
  return assemble(f, below(s, 2), exponent, fraction);
}

static uint64_t mostly_zero(stream *s, const smma_encoding *f) {
  switch (below(s, 6)) {
    case 0: return random_bits(s, f);
    case 1: return tiny(s, f);
    default: return assemble(f, below(s, 2), 0, 0);
  }
}

static uint64_t element(stream *s, const smma_encoding *f, smma_row_kind kind) {
  switch (kind) {
    case SMMA_ROWS_RANDOM: return random_bits(s, f);
    case SMMA_ROWS_EDGE: return edge(s, f);
    case SMMA_ROWS_ZEROS: return mostly_zero(s, f);
    case SMMA_ROWS_TINY: return tiny(s, f);
    case SMMA_ROWS_NETWORK: return scaled_normal(s, f, below(s, 64) ? 1 : 10, 0);
    default: return normal(s, f);
  }
}

/* A scale factor: of a few octaves around one, or any in rows of random and edge encodings. */
static uint64_t scale_factor(stream *s, const smma_encoding *f, smma_row_kind kind) {
  if (kind == SMMA_ROWS_RANDOM) return random_bits(s, f);
  if (kind == SMMA_ROWS_EDGE) return edge(s, f);
  const uint64_t fraction = draw64(s);
  return assemble(f, 0, (uint64_t)f->bias - 4 + below(s, 8), fraction);
}

static uint64_t negated(smma_encoding f, uint64_t x) {
  uint64_t sign = (uint64_t)1 << (f.exponent_bits + f.fraction_bits + f.ignored_bits);
  bool zero = (x & (sign - 1)) == 0;
  if (f.specials == SMMA_SPECIALS_INTEGER) return f.sign_bits ? smma_low_bits(0 - x, f.bits) : x;
  return f.specials == SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO && zero ? x : x ^ sign;
}

/* Makes every odd product cancel the one before it, here and there up to the last bit, and c cancel the first. */
static void cancel(stream *s, const smma_operation *o, smma_row *row) {
  smma_encoding a = smma_encoding_of(o->a), c = smma_encoding_of(o->c);
  for (int k = 1; k < o->k; k += 2) {
    row->a[k] = negated(a, row->a[k - 1]);
    row->b[k] = row->b[k - 1];
    if (below(s, 4) == 0) row->a[k] ^= (uint64_t)1 << a.ignored_bits;
  }
  if (below(s, 2)) {
    smma_number x = smma_decode(a, row->a[0]), y = smma_decode(smma_encoding_of(o->b), row->b[0]);
    smma_number p = smma_product(x, y);
    if (o->a != SMMA_F64) {
      p.negative ^= 1;
      row->c = smma_encode_number(c, p, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
    }
  }
}

static void swap(uint64_t *x, uint64_t *y) {
  const uint64_t before = *x;
  *x = *y;
  *y = before;
}

/* Raises the condition number, sum |a_k b_k| over |sum a_k b_k|, to about a power of two up to 2^40: pairs of products
   that cancel and are so many times the others, each at a place of its own. Formats of little range saturate. */
static void worsen(stream *s, const smma_operation *o, smma_row *row) {
  const smma_encoding a = smma_encoding_of(o->a), b = smma_encoding_of(o->b);
  const int bits = (int)below(s, 41), end = o->k > 2 ? o->k - 1 : o->k;
  for (int k = 0; k + 1 < end; k += 2) {
    row->a[k] = scaled_normal(s, &a, 1, (bits + 1) / 2);
    row->b[k] = scaled_normal(s, &b, 1, bits / 2);
    row->a[k + 1] = negated(a, row->a[k]);
    row->b[k + 1] = row->b[k];
  }
  for (int k = o->k - 1; k > 0; k--) {
    const int other = (int)below(s, (uint32_t)k + 1);
    swap(&row->a[k], &row->a[other]);
    swap(&row->b[k], &row->b[other]);
  }
}

void smma_generate_row(const smma_operation *o, uint64_t seed, uint64_t index, smma_row_kind kind, smma_row *row) {
  const smma_encoding a = smma_encoding_of(o->a), b = smma_encoding_of(o->b), c = smma_encoding_of(o->c);
  const smma_encoding scale = smma_encoding_of(o->scale);
  stream s;
  int scales = smma_scale_count(o->k, o->scale_block);
  start(&s, seed, index);
  for (int k = 0; k < o->k; k++) row->a[k] = element(&s, &a, kind);
  for (int k = 0; k < o->k; k++) row->b[k] = element(&s, &b, kind);
  row->c = element(&s, &c, kind);
  for (int i = 0; i < scales; i++) row->scale_a[i] = scale_factor(&s, &scale, kind);
  for (int i = 0; i < scales; i++) row->scale_b[i] = scale_factor(&s, &scale, kind);
  if (kind == SMMA_ROWS_CANCELLATION) cancel(&s, o, row);
  if (kind == SMMA_ROWS_ILL) worsen(&s, o, row);
}

static const char *const kind_text[SMMA_ROWS_KINDS] = {"random", "normal",       "edge", "zeros",
                                                       "tiny",   "cancellation", "ill",  "network"};

const char *smma_row_kind_text(smma_row_kind kind) { return kind_text[kind]; }

smma_row_kind smma_row_kind_from_text(const char *text) {
  int kind = 0;
  while (kind < SMMA_ROWS_KINDS && strcmp(text, kind_text[kind]) != 0) kind++;
  return (smma_row_kind)kind;
}
