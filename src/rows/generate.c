#include "rows/generate.h"

#include <math.h>
#include <string.h>

#include "core/rounding.h"
#include "host/philox.h"
#include "host/thread.h"

enum {
  PART = 256, /* rows that a thread makes at a time */
  NORMAL_WORDS = 12,
  NORMAL_BLOCKS = NORMAL_WORDS / 4,
  MOST_WORDS = 13 * (5 * SMMA_MAXIMUM_K + 2) /* a number takes at most 13, and ill rows draw a and b again */
};

/* The random numbers of one row after another, Philox4x32-10 of (row, block) under the seed, in the order in which they
   are drawn. */
typedef struct {
  smma_philox_function *philox;
  smma_philox_keys keys;
  smma_philox_block counter;
  size_t used, made;
  uint32_t words[MOST_WORDS + 4 * SMMA_PHILOX_STEP];
  uint64_t sums[NORMAL_BLOCKS * (2 * SMMA_MAXIMUM_K + 1) + SMMA_PHILOX_STEP];
} stream;

static void open_stream(stream *s, uint64_t seed) {
  s->philox = smma_philox_function_here();
  s->keys = smma_philox_keys_of(seed);
}

static void start_row(stream *s, uint64_t row) {
  s->counter = (smma_philox_block){{(uint32_t)row, (uint32_t)(row >> 32), 0, 0}};
  s->used = s->made = 0;
}

/* As many words as that from the row's start on. */
static __attribute__((noinline)) void make(stream *s, size_t count) {
  const size_t step = 4 * SMMA_PHILOX_STEP, words = (count - s->made + step - 1) / step * step;
  s->philox(&s->keys, s->counter, words / 4, s->words + s->made, NULL);
  s->counter.word[2] += (uint32_t)(words / 4);
  s->made += words;
}

/* The next `count` words, of which perhaps only some will be drawn. */
static inline const uint32_t *expect(stream *s, size_t count) {
  if (s->used + count > s->made) make(s, s->used + count);
  return s->words + s->used;
}

static inline const uint32_t *draw(stream *s, size_t count) {
  const uint32_t *words = expect(s, count);
  s->used += count;
  return words;
}

/* The sums of the words of so many blocks, all that a row has drawn so far. */
static inline const uint64_t *draw_sums(stream *s, size_t blocks) {
  const size_t step = SMMA_PHILOX_STEP;
  s->philox(&s->keys, s->counter, (blocks + step - 1) / step * step, NULL, s->sums);
  s->counter.word[2] = (uint32_t)blocks;
  s->used = s->made = 4 * blocks;
  return s->sums;
}

static inline uint64_t pair(const uint32_t *w) { return (uint64_t)w[0] << 32 | w[1]; }

static inline uint32_t below(const uint32_t *w, uint32_t bound) { return (uint32_t)((uint64_t)*w * bound >> 32); }

/* ---- Normal numbers ---- */

/* Sums of twelve uniforms, minus six, in units of 2^-32: mean 0, variance 1, the same bits on every machine. Of the
   sums of blocks, three to a number; of words. */
static inline void normals_of_sums(const uint64_t *x, size_t count, int64_t *sum) {
  for (size_t i = 0; i < count; i++) sum[i] = (int64_t)(x[3 * i] + x[3 * i + 1] + x[3 * i + 2]) - (6LL << 32);
}

static inline int64_t normal(const uint32_t *w) {
  int64_t sum = -(6LL << 32);
  for (int i = 0; i < NORMAL_WORDS; i++) sum += w[i];
  return sum;
}

static inline uint64_t code_of(double x) {
  uint64_t code;
  memcpy(&code, &x, sizeof code);
  return code;
}

static inline double double_of(uint64_t code) {
  double x;
  memcpy(&x, &code, sizeof x);
  return x;
}

/* x as a double, for |x| < 2^51: 2^52 + 2^51 + x has it as its last bits. */
static inline double exact_double(int64_t x) {
  const double offset = 0x1.8p52;
  return double_of(code_of(offset) + (uint64_t)x) - offset;
}

/* smma_encode of sum * 2^exponent to nearest even, saturating, for sums below 2^51 and formats with sign, exponent and
   at most 51 fraction bits, without branches: a power of two whose last bit has the value of the result's is added, and
   what it gains is the result's significand. */
static inline void encode_floats(const smma_encoding *format, int exponent, size_t count, const int64_t *sum,
                                 uint64_t *out) {
  const smma_encoding f = *format;
  const uint64_t largest = smma_largest_fields(f), has_zero = f.specials != SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO;
  const uint64_t least = (uint64_t)(1023 + smma_minimum_exponent(f) - exponent);
  for (size_t i = 0; i < count; i++) {
    const double x = fabs(exact_double(sum[i]));
    const uint64_t top = code_of(x) >> 52, last = top > least ? top : least;
    const uint64_t power = (last + 52 - (uint64_t)f.fraction_bits) << 52;
    const uint64_t kept = code_of(x + double_of(power)) - power;
    const uint64_t fields = ((last - least) << f.fraction_bits) + kept;
    const uint64_t finite = fields < largest ? fields : largest;
    const uint64_t sign = (uint64_t)sum[i] >> 63 & (has_zero | (finite != 0));
    out[i] = (sign << (f.exponent_bits + f.fraction_bits) | finite) << f.ignored_bits;
  }
}

/* The same in f64, which has them all. */
static inline void encode_doubles(int exponent, size_t count, const int64_t *sum, uint64_t *out) {
  for (size_t i = 0; i < count; i++) {
    const uint64_t code = code_of(exact_double(sum[i]));
    out[i] = sum[i] ? code + ((uint64_t)(int64_t)exponent << 52) : 0;
  }
}

/* The same in all formats, of sums in units of 2^-32. Integers have a quarter of their range as the standard deviation.
 */
static inline void encode_normals(const smma_encoding *f, int exponent, size_t count, const int64_t *sum,
                                  uint64_t *out) {
  exponent -= 32;
  if (f->sign_bits && f->exponent_bits) {
    if (f->fraction_bits > 51)
      encode_doubles(exponent, count, sum, out);
    else
      encode_floats(f, exponent, count, sum, out);
    return;
  }
  if (f->specials == SMMA_SPECIALS_INTEGER) exponent += f->fraction_bits - 2;
  for (size_t i = 0; i < count; i++)
    out[i] = smma_encode(*f, sum[i] < 0, smma_magnitude(sum[i]), exponent, false, SMMA_ROUND_NEAREST_EVEN,
                         SMMA_OVERFLOW_SATURATE);
}

static inline void normals(const uint64_t *sums, const smma_encoding *f, size_t count, uint64_t *out) {
  int64_t sum[SMMA_MAXIMUM_K];
  normals_of_sums(sums, count, sum);
  encode_normals(f, 0, count, sum, out);
}

static inline void network(stream *s, const smma_encoding *f, size_t count, uint64_t *out) {
  const uint32_t *w = draw(s, (1 + NORMAL_WORDS) * count);
  int64_t sum[SMMA_MAXIMUM_K];
  for (size_t i = 0; i < count; i++, w += 1 + NORMAL_WORDS) sum[i] = (below(w, 64) ? 1 : 10) * normal(w + 1);
  encode_normals(f, 0, count, sum, out);
}

/* ---- Encodings ---- */

/* A format's encodings: ones as wide as a field, and where it begins. */
typedef struct {
  uint64_t all, sign, exponent, fraction;
  int sign_at, exponent_at, fraction_at;
} fields;

static inline fields fields_of(const smma_encoding *f) {
  const uint64_t ones = ~(uint64_t)0;
  return (fields){.all = smma_low_bits(ones, f->bits),
                  .sign = f->sign_bits ? 1 : 0,
                  .exponent = smma_low_bits(ones, f->exponent_bits),
                  .fraction = smma_low_bits(ones, f->fraction_bits),
                  .sign_at = f->exponent_bits + f->fraction_bits + f->ignored_bits,
                  .exponent_at = f->fraction_bits + f->ignored_bits,
                  .fraction_at = f->ignored_bits};
}

static inline uint64_t assemble(const fields *f, uint64_t sign, uint64_t exponent, uint64_t fraction) {
  return (sign & f->sign) << f->sign_at | (exponent & f->exponent) << f->exponent_at |
         (fraction & f->fraction) << f->fraction_at;
}

static inline uint64_t random_bits(const fields *f, const uint32_t *w) { return pair(w) & f->all; }

static inline uint64_t tiny(const fields *f, const uint32_t *w) {
  return assemble(f, below(w + 3, 2), below(w + 2, 3), pair(w));
}

/* x or 0, without a branch. */
static inline uint64_t where(bool condition, uint64_t x) { return x & (0 - (uint64_t)condition); }

/* At most eight words a number. */
static inline void edges(stream *s, const smma_encoding *format, size_t count, uint64_t *out) {
  const fields f = fields_of(format);
  const uint64_t greatest = f.exponent, middle = (uint64_t)format->bias & greatest, ones = f.fraction;
  const uint64_t exponent[] = {0, 0, 1, 2, middle - 1, middle, middle + 1, greatest - 1, greatest, 0};
  const uint64_t fraction[] = {0, 1, ones, ones - 1, 0};
  const uint32_t *w = expect(s, 8 * count);
  for (size_t i = 0; i < count; i++) {
    const uint32_t of_exponent = below(w + 4, 10), of_fraction = below(w + 5, 5);
    const uint64_t m = fraction[of_fraction] | where(of_fraction == 4, pair(w + 2));
    uint64_t e = (exponent[of_exponent] | where(of_exponent == 9, w[1])) & greatest;
    w += 6;
    /* Infinities and NaN stay rare enough not to decide every row. */
    if (e == greatest) e = below(w++, 4) ? middle : greatest;
    out[i] = assemble(&f, below(w++, 2), e, m);
  }
  s->used = (size_t)(w - s->words);
}

/* At most five. */
static inline void zeros(stream *s, const smma_encoding *format, size_t count, uint64_t *out) {
  const fields f = fields_of(format);
  const uint32_t *w = expect(s, 5 * count);
  for (size_t i = 0; i < count; i++) switch (below(w++, 6)) {
      case 0: out[i] = random_bits(&f, w), w += 2; break;
      case 1: out[i] = tiny(&f, w), w += 4; break;
      default: out[i] = assemble(&f, below(w++, 2), 0, 0); break;
    }
  s->used = (size_t)(w - s->words);
}

static inline void numbers(stream *s, const smma_encoding *format, smma_row_kind kind, size_t count, uint64_t *out) {
  const fields f = fields_of(format);
  const uint32_t *w;
  switch (kind) {
    case SMMA_ROWS_RANDOM:
      w = draw(s, 2 * count);
      for (size_t i = 0; i < count; i++) out[i] = random_bits(&f, w + 2 * i);
      break;
    case SMMA_ROWS_EDGE: edges(s, format, count, out); break;
    case SMMA_ROWS_ZEROS: zeros(s, format, count, out); break;
    case SMMA_ROWS_TINY:
      w = draw(s, 4 * count);
      for (size_t i = 0; i < count; i++) out[i] = tiny(&f, w + 4 * i);
      break;
    default: network(s, format, count, out); break;
  }
}

/* Scale factors: of a few octaves around one, or any in rows of random and edge encodings. */
static inline void scale_factors(stream *s, const smma_encoding *format, smma_row_kind kind, size_t count,
                                 uint64_t *out) {
  const fields f = fields_of(format);
  if (kind == SMMA_ROWS_RANDOM || kind == SMMA_ROWS_EDGE) {
    numbers(s, format, kind, count, out);
    return;
  }
  const uint32_t *w = draw(s, 3 * count);
  for (size_t i = 0; i < count; i++, w += 3)
    out[i] = assemble(&f, 0, (uint64_t)format->bias - 4 + below(w + 2, 8), pair(w));
}

/* ---- Rows ---- */

static uint64_t negated(smma_encoding f, uint64_t x) {
  uint64_t sign = (uint64_t)1 << (f.exponent_bits + f.fraction_bits + f.ignored_bits);
  bool zero = (x & (sign - 1)) == 0;
  if (f.specials == SMMA_SPECIALS_INTEGER) return f.sign_bits ? smma_low_bits(0 - x, f.bits) : x;
  return f.specials == SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO && zero ? x : x ^ sign;
}

/* What rows of an operation are made of. */
typedef struct {
  smma_encoding a, b, c, scale;
  bool takes_product; /* c can be the negated product of the first a and b */
  size_t k, scales;
} recipe;

static recipe recipe_of(const smma_operation *o) {
  return (recipe){.a = smma_encoding_of(o->a),
                  .b = smma_encoding_of(o->b),
                  .c = smma_encoding_of(o->c),
                  .scale = smma_encoding_of(o->scale),
                  .takes_product = o->a != SMMA_F64,
                  .k = (size_t)o->k,
                  .scales = (size_t)smma_scale_count(o->k, o->scale_block)};
}

/* Makes every odd product cancel the one before it, here and there up to the last bit, and c cancel the first. */
static inline void cancel(stream *s, const recipe *r, smma_row *row) {
  const uint32_t *w = draw(s, r->k / 2);
  for (size_t k = 1; k < r->k; k += 2, w++) {
    row->a[k] = negated(r->a, row->a[k - 1]) ^ (uint64_t)(below(w, 4) == 0) << r->a.ignored_bits;
    row->b[k] = row->b[k - 1];
  }
  if (below(draw(s, 1), 2) && r->takes_product) {
    smma_number p = smma_product(smma_decode(r->a, row->a[0]), smma_decode(r->b, row->b[0]));
    p.negative ^= 1;
    row->c = smma_encode_number(r->c, p, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
  }
}

static void swap(uint64_t *x, uint64_t *y) {
  const uint64_t before = *x;
  *x = *y;
  *y = before;
}

/* Raises the condition number, sum |a_k b_k| over |sum a_k b_k|, to about a power of two up to 2^40: pairs of products
   that cancel and are so many times the others, each at a place of its own. Formats of little range saturate. */
static inline void worsen(stream *s, const recipe *r, smma_row *row) {
  if (r->k < 2) return;
  const int bits = (int)below(draw(s, 1), 41);
  const size_t end = r->k > 2 ? r->k - 1 : r->k, pairs = end / 2;
  const uint32_t *w = draw(s, 2 * NORMAL_WORDS * pairs);
  int64_t sum[2][SMMA_MAXIMUM_K / 2];
  uint64_t code[2][SMMA_MAXIMUM_K / 2];
  size_t n = 0;
  do sum[0][n] = normal(w), sum[1][n] = normal(w + NORMAL_WORDS), w += 2 * NORMAL_WORDS;
  while (++n < pairs);
  encode_normals(&r->a, (bits + 1) / 2, pairs, sum[0], code[0]);
  encode_normals(&r->b, bits / 2, pairs, sum[1], code[1]);
  for (size_t i = 0; i < pairs; i++) {
    row->a[2 * i] = code[0][i], row->a[2 * i + 1] = negated(r->a, code[0][i]);
    row->b[2 * i] = row->b[2 * i + 1] = code[1][i];
  }
  w = draw(s, r->k - 1);
  for (size_t k = r->k - 1; k > 0; k--, w++) {
    const size_t other = below(w, (uint32_t)k + 1);
    swap(&row->a[k], &row->a[other]);
    swap(&row->b[k], &row->b[other]);
  }
}

/* About how many words a number takes, 0 where all are normal numbers. */
static const size_t words_of[SMMA_ROWS_KINDS] = {[SMMA_ROWS_RANDOM] = 2,
                                                 [SMMA_ROWS_EDGE] = 7,
                                                 [SMMA_ROWS_ZEROS] = 3,
                                                 [SMMA_ROWS_TINY] = 4,
                                                 [SMMA_ROWS_NETWORK] = 13};

static inline void fill_row(const recipe *r, stream *s, uint64_t index, smma_row_kind kind, smma_row *row) {
  start_row(s, index);
  if (words_of[kind]) {
    expect(s, words_of[kind] * (2 * r->k + 1));
    numbers(s, &r->a, kind, r->k, row->a);
    numbers(s, &r->b, kind, r->k, row->b);
    numbers(s, &r->c, kind, 1, &row->c);
  } else {
    const uint64_t *sums = draw_sums(s, NORMAL_BLOCKS * (2 * r->k + 1));
    normals(sums, &r->a, r->k, row->a);
    normals(sums + NORMAL_BLOCKS * r->k, &r->b, r->k, row->b);
    normals(sums + 2 * NORMAL_BLOCKS * r->k, &r->c, 1, &row->c);
  }
  scale_factors(s, &r->scale, kind, r->scales, row->scale_a);
  scale_factors(s, &r->scale, kind, r->scales, row->scale_b);
  if (kind == SMMA_ROWS_CANCELLATION) cancel(s, r, row);
  if (kind == SMMA_ROWS_ILL) worsen(s, r, row);
}

/* Which rows are made. */
typedef struct {
  recipe recipe;
  uint64_t seed, first;
  int kinds; /* in turn, or `one` */
  smma_row_kind one;
} selection;

/* Rows first + from to first + end - 1. */
static inline void fill_rows(const selection *x, size_t from, size_t end, smma_rows *rows) {
  stream s;
  open_stream(&s, x->seed);
  for (size_t i = from; i < end; i++) {
    const uint64_t index = x->first + i;
    smma_row row;
    fill_row(&x->recipe, &s, index, x->kinds ? (smma_row_kind)(index % (uint64_t)x->kinds) : x->one, &row);
    row.d = 0;
    smma_rows_put(rows, i, &row);
  }
}

typedef void fill_function(const selection *x, size_t from, size_t end, smma_rows *rows);

#ifdef __x86_64__
__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"), flatten)) static void fill_rows_avx512(const selection *x,
                                                                                                    size_t from,
                                                                                                    size_t end,
                                                                                                    smma_rows *rows) {
  fill_rows(x, from, end, rows);
}

__attribute__((target("avx2"), flatten)) static void fill_rows_avx2(const selection *x, size_t from, size_t end,
                                                                    smma_rows *rows) {
  fill_rows(x, from, end, rows);
}
#endif

/* On the widest vectors of this CPU. */
static fill_function *fill_function_here(void) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return fill_rows_avx512;
  if (__builtin_cpu_supports("avx2")) return fill_rows_avx2;
#endif
  return fill_rows;
}

void smma_generate_row(const smma_operation *o, uint64_t seed, uint64_t index, smma_row_kind kind, smma_row *row) {
  const recipe r = recipe_of(o);
  stream s;
  open_stream(&s, seed);
  fill_row(&r, &s, index, kind, row);
}

void smma_generate_rows(smma_rows *rows, uint64_t seed, uint64_t first, size_t count, int kinds, smma_row_kind one) {
  const smma_operation o = smma_operation_of(rows->instruction);
  const selection x = {recipe_of(&o), seed, first, kinds, one};
  fill_function *const fill = fill_function_here();
  if (count <= PART) { /* without OpenMP, whose calls cost more than some rows */
    fill(&x, 0, count, rows);
    return;
  }
#pragma omp parallel for num_threads(smma_default_threads()) schedule(dynamic)
  for (size_t from = 0; from < count; from += PART) fill(&x, from, count - from < PART ? count : from + PART, rows);
}

static const char *const kind_text[SMMA_ROWS_KINDS] = {"random", "normal",       "edge", "zeros",
                                                       "tiny",   "cancellation", "ill",  "network"};

const char *smma_row_kind_text(smma_row_kind kind) { return kind_text[kind]; }

smma_row_kind smma_row_kind_from_text(const char *text) {
  int kind = 0;
  while (kind < SMMA_ROWS_KINDS && strcmp(text, kind_text[kind]) != 0) kind++;
  return (smma_row_kind)kind;
}
