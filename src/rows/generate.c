#include "rows/generate.h"

#include <math.h>
#include <string.h>

#include "core/rounding.h"
#include "host/philox.h"
#include "host/thread.h"

enum {
  NORMAL_WORDS = 12,
  MOST_WORDS = 13 * (5 * SMMA_MAXIMUM_K + 2) /* a number takes at most 13, and ill rows draw a and b again */
};

/* The random numbers of one row, Philox4x32-10 of (row, block) under the seed, in the order in which they are drawn. */
typedef struct {
  uint64_t key;
  smma_philox_block counter;
  size_t used, made;
  uint32_t words[MOST_WORDS + SMMA_PHILOX_WORDS];
} stream;

static void start(stream *s, uint64_t seed, uint64_t row) {
  s->key = seed;
  s->counter = (smma_philox_block){{(uint32_t)row, (uint32_t)(row >> 32), 0, 0}};
  s->used = s->made = 0;
}

/* The next `count` words. */
static inline const uint32_t *draw(stream *s, size_t count) {
  const uint32_t *words = s->words + s->used;
  s->used += count;
  for (; s->made < s->used; s->made += SMMA_PHILOX_WORDS) {
    smma_philox_blocks(s->counter, s->key, s->words + s->made);
    s->counter.word[2] += SMMA_PHILOX_WORDS / 4;
  }
  return words;
}

static inline uint64_t pair(const uint32_t *w) { return (uint64_t)w[0] << 32 | w[1]; }

static inline uint32_t below(const uint32_t *w, uint32_t bound) { return (uint32_t)((uint64_t)*w * bound >> 32); }

/* ---- Normal numbers ---- */

static inline int64_t sum_of_four(const uint32_t *w) { return (int64_t)w[0] + w[1] + w[2] + w[3]; }

/* The sum of twelve uniforms, minus six, in units of 2^-32: mean 0, variance 1, the same bits on every machine. */
static inline int64_t normal(const uint32_t *w) {
  return sum_of_four(w) + sum_of_four(w + 4) + sum_of_four(w + 8) - (6LL << 32);
}

static inline uint64_t code_of(double x) {
  uint64_t code;
  memcpy(&code, &x, sizeof code);
  return code;
}

/* smma_encode of sum * 2^exponent to nearest even, saturating, for sums below 2^53 and formats with sign and exponent,
   without branches: from exponent and significand of the sum as a double. */
static inline __attribute__((always_inline)) void encode_in_lanes(const smma_encoding *format, int exponent,
                                                                  size_t count, const int64_t *sum, uint64_t *out) {
  const smma_encoding f = *format;
  const uint64_t largest = smma_largest_fields(f), has_zero = f.specials != SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO;
  const int64_t least = smma_minimum_exponent(f);
#pragma omp simd
  for (size_t i = 0; i < count; i++) {
    const uint64_t code = code_of(fabs((double)sum[i]));
    const uint64_t significand = code << 12 >> 11 | (uint64_t)(code != 0) << 53; /* with a bit behind it */
    const int64_t top = (int64_t)(code >> 52) - 1023 + exponent, last = top < least ? least : top;
    const int64_t lost = 53 - f.fraction_bits + last - top;
    const uint64_t to_half = (uint64_t)(lost < 63 ? lost : 63) - 1, halves = significand >> to_half;
    const uint64_t whole = halves >> 1, rest = halves << to_half != significand;
    const uint64_t kept = whole + (halves & (whole | rest) & 1);
    const uint64_t fields = ((uint64_t)(last - least) << f.fraction_bits) + kept;
    const uint64_t finite = fields < largest ? fields : largest;
    const uint64_t sign = (uint64_t)sum[i] >> 63 & (has_zero | (finite != 0));
    out[i] = (sign << (f.exponent_bits + f.fraction_bits) | finite) << f.ignored_bits;
  }
}

#ifdef __x86_64__
__attribute__((target("avx512f,avx512dq"))) static void encode_in_avx512(const smma_encoding *f, int exponent,
                                                                         size_t count, const int64_t *sum,
                                                                         uint64_t *out) {
  encode_in_lanes(f, exponent, count, sum, out);
}
#endif

static void encode_floats(const smma_encoding *f, int exponent, size_t count, const int64_t *sum, uint64_t *out) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512dq")) {
    encode_in_avx512(f, exponent, count, sum, out);
    return;
  }
#endif
  encode_in_lanes(f, exponent, count, sum, out);
}

/* The same in all formats, of sums in units of 2^-32. Integers have a quarter of their range as the standard deviation.
 */
static void encode_normals(const smma_encoding *f, int exponent, size_t count, const int64_t *sum, uint64_t *out) {
  exponent -= 32;
  if (f->sign_bits && f->exponent_bits) {
    encode_floats(f, exponent, count, sum, out);
    return;
  }
  if (f->specials == SMMA_SPECIALS_INTEGER) exponent += f->fraction_bits - 2;
  for (size_t i = 0; i < count; i++)
    out[i] = smma_encode(*f, sum[i] < 0, smma_magnitude(sum[i]), exponent, false, SMMA_ROUND_NEAREST_EVEN,
                         SMMA_OVERFLOW_SATURATE);
}

static void normals(stream *s, const smma_encoding *f, size_t count, uint64_t *out) {
  const uint32_t *w = draw(s, NORMAL_WORDS * count);
  int64_t sum[SMMA_MAXIMUM_K];
  for (size_t i = 0; i < count; i++) sum[i] = normal(w + NORMAL_WORDS * i);
  encode_normals(f, 0, count, sum, out);
}

static void network(stream *s, const smma_encoding *f, size_t count, uint64_t *out) {
  const uint32_t *w = draw(s, (1 + NORMAL_WORDS) * count);
  int64_t sum[SMMA_MAXIMUM_K];
  for (size_t i = 0; i < count; i++, w += 1 + NORMAL_WORDS) sum[i] = (below(w, 64) ? 1 : 10) * normal(w + 1);
  encode_normals(f, 0, count, sum, out);
}

/* ---- Encodings ---- */

static inline uint64_t random_bits(const smma_encoding *f, const uint32_t *w) {
  return smma_low_bits(pair(w), f->bits);
}

static inline uint64_t assemble(const smma_encoding *f, uint64_t sign, uint64_t exponent, uint64_t fraction) {
  uint64_t fields =
      smma_low_bits(exponent, f->exponent_bits) << f->fraction_bits | smma_low_bits(fraction, f->fraction_bits);
  return ((f->sign_bits ? sign : 0) << (f->exponent_bits + f->fraction_bits) | fields) << f->ignored_bits;
}

static inline uint64_t tiny(const smma_encoding *f, const uint32_t *w) {
  return assemble(f, below(w + 3, 2), below(w + 2, 3), pair(w));
}

static void edges(stream *s, const smma_encoding *f, size_t count, uint64_t *out) {
  const uint64_t greatest = smma_low_bits(~(uint64_t)0, f->exponent_bits), middle = (uint64_t)f->bias;
  const uint64_t ones = smma_low_bits(~(uint64_t)0, f->fraction_bits);
  uint64_t exponent[] = {0, 0, 1, 2, middle - 1, middle, middle + 1, greatest - 1, greatest, 0};
  uint64_t fraction[] = {0, 1, ones, ones - 1, 0};
  for (size_t i = 0; i < count; i++) {
    const uint32_t *w = draw(s, 6);
    exponent[9] = random_bits(f, w), fraction[4] = pair(w + 2);
    uint64_t e = smma_low_bits(exponent[below(w + 4, 10)], f->exponent_bits), m = fraction[below(w + 5, 5)];
    /* Infinities and NaN stay rare enough not to decide every row. */
    if (e == greatest && below(draw(s, 1), 4)) e = middle;
    out[i] = assemble(f, below(draw(s, 1), 2), e, m);
  }
}

static void zeros(stream *s, const smma_encoding *f, size_t count, uint64_t *out) {
  for (size_t i = 0; i < count; i++) switch (below(draw(s, 1), 6)) {
      case 0: out[i] = random_bits(f, draw(s, 2)); break;
      case 1: out[i] = tiny(f, draw(s, 4)); break;
      default: out[i] = assemble(f, below(draw(s, 1), 2), 0, 0); break;
    }
}

static void numbers(stream *s, const smma_encoding *f, smma_row_kind kind, size_t count, uint64_t *out) {
  const uint32_t *w;
  switch (kind) {
    case SMMA_ROWS_RANDOM:
      w = draw(s, 2 * count);
      for (size_t i = 0; i < count; i++) out[i] = random_bits(f, w + 2 * i);
      break;
    case SMMA_ROWS_EDGE: edges(s, f, count, out); break;
    case SMMA_ROWS_ZEROS: zeros(s, f, count, out); break;
    case SMMA_ROWS_TINY:
      w = draw(s, 4 * count);
      for (size_t i = 0; i < count; i++) out[i] = tiny(f, w + 4 * i);
      break;
    case SMMA_ROWS_NETWORK: network(s, f, count, out); break;
    default: normals(s, f, count, out); break;
  }
}

/* Scale factors: of a few octaves around one, or any in rows of random and edge encodings. */
static void scale_factors(stream *s, const smma_encoding *f, smma_row_kind kind, size_t count, uint64_t *out) {
  if (kind == SMMA_ROWS_RANDOM || kind == SMMA_ROWS_EDGE) {
    numbers(s, f, kind, count, out);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    const uint32_t *w = draw(s, 3);
    out[i] = assemble(f, 0, (uint64_t)f->bias - 4 + below(w + 2, 8), pair(w));
  }
}

/* ---- Rows ---- */

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
    if (below(draw(s, 1), 4) == 0) row->a[k] ^= (uint64_t)1 << a.ignored_bits;
  }
  if (below(draw(s, 1), 2)) {
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
  const int bits = (int)below(draw(s, 1), 41), end = o->k > 2 ? o->k - 1 : o->k;
  const size_t pairs = (size_t)end / 2;
  const uint32_t *w = draw(s, 2 * NORMAL_WORDS * pairs);
  int64_t sum[2][SMMA_MAXIMUM_K / 2];
  uint64_t code[2][SMMA_MAXIMUM_K / 2];
  for (size_t i = 0; i < 2 * pairs; i++) sum[i % 2][i / 2] = normal(w + NORMAL_WORDS * i);
  encode_normals(&a, (bits + 1) / 2, pairs, sum[0], code[0]);
  encode_normals(&b, bits / 2, pairs, sum[1], code[1]);
  for (size_t i = 0; i < pairs; i++) {
    row->a[2 * i] = code[0][i], row->a[2 * i + 1] = negated(a, code[0][i]);
    row->b[2 * i] = row->b[2 * i + 1] = code[1][i];
  }
  for (int k = o->k - 1; k > 0; k--) {
    const int other = (int)below(draw(s, 1), (uint32_t)k + 1);
    swap(&row->a[k], &row->a[other]);
    swap(&row->b[k], &row->b[other]);
  }
}

void smma_generate_row(const smma_operation *o, uint64_t seed, uint64_t index, smma_row_kind kind, smma_row *row) {
  const smma_encoding a = smma_encoding_of(o->a), b = smma_encoding_of(o->b), c = smma_encoding_of(o->c);
  const smma_encoding scale = smma_encoding_of(o->scale);
  const size_t k = (size_t)o->k, scales = (size_t)smma_scale_count(o->k, o->scale_block);
  stream s;
  start(&s, seed, index);
  numbers(&s, &a, kind, k, row->a);
  numbers(&s, &b, kind, k, row->b);
  numbers(&s, &c, kind, 1, &row->c);
  scale_factors(&s, &scale, kind, scales, row->scale_a);
  scale_factors(&s, &scale, kind, scales, row->scale_b);
  if (kind == SMMA_ROWS_CANCELLATION) cancel(&s, o, row);
  if (kind == SMMA_ROWS_ILL) worsen(&s, o, row);
}

void smma_generate_rows(smma_rows *rows, uint64_t seed, uint64_t first, size_t count, int kinds, smma_row_kind one) {
  const smma_operation o = smma_operation_of(rows->instruction);
#pragma omp parallel for num_threads(smma_default_threads()) schedule(static) if (count > 256)
  for (size_t i = 0; i < count; i++) {
    const uint64_t index = first + i;
    smma_row row;
    smma_generate_row(&o, seed, index, kinds ? (smma_row_kind)(index % (uint64_t)kinds) : one, &row);
    row.d = 0;
    smma_rows_put(rows, i, &row);
  }
}

static const char *const kind_text[SMMA_ROWS_KINDS] = {"random", "normal",       "edge", "zeros",
                                                       "tiny",   "cancellation", "ill",  "network"};

const char *smma_row_kind_text(smma_row_kind kind) { return kind_text[kind]; }

smma_row_kind smma_row_kind_from_text(const char *text) {
  int kind = 0;
  while (kind < SMMA_ROWS_KINDS && strcmp(text, kind_text[kind]) != 0) kind++;
  return (smma_row_kind)kind;
}
