#include "rows/generate.h"

#include <math.h>
#include <string.h>

#include "core/rounding.h"
#include "host/bits.h"
#include "host/cpu.h"
#include "host/philox.h"
#include "host/sized.h"
#include "host/thread.h"
#include "softmma/rows.h"

enum {
  PART = 256, /* number of rows that a thread generates at a time */
  NORMAL_BLOCKS = SMMA_NORMAL_WORDS / 4,
  /* A number uses at most 13 random words; ill-conditioned rows draw a and b twice. */
  MOST_WORDS = 13 * (5 * SMMA_MAXIMUM_K + 2)
};

/* ---- Random numbers, generated in bulk for one test vector at a time ---- */

typedef struct {
  smma_philox_function *philox;
  smma_philox_keys keys;
  smma_philox_block counter;
  size_t made;
  uint32_t words[MOST_WORDS + 4 * SMMA_PHILOX_STEP];
  uint64_t sums[NORMAL_BLOCKS * (2 * SMMA_MAXIMUM_K + 1) + SMMA_PHILOX_STEP];
} stream;

/* Where the drawing from a stream stands: its next word, and its next sum. */
typedef struct {
  stream *from;
  const uint32_t *word;
  const uint64_t *sum;
} smma_draws;

static void open_stream(stream *s, uint64_t seed) {
  s->philox = smma_philox_function_for_cpu();
  s->keys = smma_philox_keys_of(seed);
}

static smma_draws draws_of_row(stream *s, uint64_t row) {
  s->counter = (smma_philox_block){{(uint32_t)row, (uint32_t)(row >> 32), 0, 0}};
  s->made = 0;
  return (smma_draws){s, s->words, s->sums};
}

/* Generates more words, until the stream has at least `count` words of the current test vector. */
static __attribute__((noinline)) void make(stream *s, size_t count) {
  const size_t step = 4 * SMMA_PHILOX_STEP, words = (count - s->made + step - 1) / step * step;
  s->philox(&s->keys, s->counter, words / 4, s->words + s->made, NULL);
  s->counter.word[2] += (uint32_t)(words / 4);
  s->made += words;
}

static inline uint32_t smma_draw(smma_draws *s) { return *s->word++; }

static inline void smma_expect(smma_draws *s, int count) {
  const size_t end = (size_t)(s->word - s->from->words) + (size_t)count;
  if (end > s->from->made) make(s->from, end);
}

/* Generates the random words for `count` normal numbers, each the sum of NORMAL_BLOCKS blocks of four words. Stores
   only the sums of blocks. Call this before anything else is drawn for the test vector. */
static inline void smma_expect_normals(smma_draws *s, int count) {
  const size_t step = SMMA_PHILOX_STEP, blocks = NORMAL_BLOCKS * (size_t)count;
  stream *from = s->from;
  from->philox(&from->keys, from->counter, (blocks + step - 1) / step * step, NULL, from->sums);
  from->counter.word[2] = (uint32_t)blocks;
  from->made = 4 * blocks;
  s->word = from->words + from->made;
}

static inline void smma_draw_normals(smma_draws *s, int count, int64_t *sum) {
  const uint64_t *x = s->sum;
  s->sum += NORMAL_BLOCKS * count;
  for (int i = 0; i < count; i++) sum[i] = (int64_t)(x[3 * i] + x[3 * i + 1] + x[3 * i + 2]) - smma_normal_mean();
}

/* ---- Encodings of normal numbers ---- */

/* Returns x as a double, for |x| < 2^51: the last bits of 2^52 + 2^51 + x are those of x. */
static inline double exact_double(int64_t x) {
  const double offset = 0x1.8p52;
  return smma_f64_of_bits(smma_bits_of_f64(offset) + (uint64_t)x) - offset;
}

/* Computes smma_encode of sum * 2^exponent, to nearest even, saturating, without branches. Bounds: sums are below 2^51;
   the format has a sign, an exponent, at most 51 fraction bits and subnormals below 2^200. Adds a power of two whose
   last bit has the weight of the result's last bit. The sum's code minus the power's code is the result's
   significand. */
static inline void encode_floats(smma_encoding f, int exponent, int count, const int64_t *sum, uint64_t *out) {
  const uint64_t largest = smma_largest_fields(f), has_zero = !smma_has_nan_for_negative_zero(f);
  const uint64_t least = (uint64_t)(1023 + smma_minimum_exponent(f) - exponent);
#pragma omp simd
  for (int i = 0; i < count; i++) {
    const double x = fabs(exact_double(sum[i]));
    const uint64_t top = smma_bits_of_f64(x) >> 52, last = top > least ? top : least;
    const uint64_t power = (last + 52 - (uint64_t)f.fraction_bits) << 52;
    const uint64_t kept = smma_bits_of_f64(x + smma_f64_of_bits(power)) - power;
    const uint64_t fields = ((last - least) << f.fraction_bits) + kept;
    const uint64_t finite = fields < largest ? fields : largest;
    const uint64_t sign = (uint64_t)sum[i] >> 63 & (has_zero | (finite != 0));
    out[i] = (sign << (f.exponent_bits + f.fraction_bits) | finite) << f.ignored_bits;
  }
}

/* Does what encode_floats does, for f64, in which every sum is exact. */
static inline void encode_doubles(int exponent, int count, const int64_t *sum, uint64_t *out) {
  for (int i = 0; i < count; i++) {
    const uint64_t code = smma_bits_of_f64(exact_double(sum[i]));
    out[i] = sum[i] ? code + ((uint64_t)(int64_t)exponent << 52) : 0;
  }
}

static inline void smma_encode_normals(smma_encoding f, int exponent, int count, const int64_t *sum, uint64_t *out) {
  if (f.sign_bits && f.exponent_bits && smma_minimum_exponent(f) <= 200 && !smma_rounds_by_code(f)) {
    if (f.fraction_bits > 51)
      encode_doubles(exponent + smma_normal_exponent(f), count, sum, out);
    else
      encode_floats(f, exponent + smma_normal_exponent(f), count, sum, out);
    return;
  }
  for (int i = 0; i < count; i++) out[i] = smma_encode_normal(f, exponent, sum[i]);
}

#include "core/generate.inc"

/* ---- Rows ---- */

/* The rows to generate. */
typedef struct {
  smma_row_recipe recipe;
  smma_row_selection rows;
} selection;

/* Generates rows `from` to end - 1, counted from the first row of the selection. */
static inline void fill_rows_of(const selection *x, const smma_row_recipe *recipe, size_t from, size_t end,
                                smma_rows *rows) {
  stream s;
  open_stream(&s, x->rows.seed);
  for (size_t i = from; i < end; i++) {
    const uint64_t index = x->rows.first + i;
    smma_draws draws = draws_of_row(&s, index);
    smma_row row;
    smma_fill_row(&draws, recipe, smma_kind_of_row(&x->rows, index), &row);
    row.d = 0;
    smma_rows_put(rows, i, &row);
  }
}

/* Calls fill_rows_of, with constants for the most frequent formats, so that compilers optimise for these. */
static inline void fill_rows(const selection *x, size_t from, size_t end, smma_rows *rows) {
  const smma_instruction *i = rows->instruction;
  smma_row_recipe r = x->recipe;
  if (i->a == SMMA_F16 && i->b == SMMA_F16 && i->c == SMMA_F32) {
    r.a = r.b = smma_encoding_of(SMMA_F16);
    r.c = smma_encoding_of(SMMA_F32);
    r.takes_product = true;
    fill_rows_of(x, &r, from, end, rows);
  } else {
    fill_rows_of(x, &x->recipe, from, end, rows);
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

/* Returns the variant for the widest SIMD vectors of this CPU. */
static fill_function *fill_function_here(void) {
#ifdef __x86_64__
  if (smma_cpu_has(SMMA_CPU_AVX512)) return fill_rows_avx512;
  if (smma_cpu_has(SMMA_CPU_AVX2)) return fill_rows_avx2;
#endif
  return fill_rows;
}

void smma_generate_row(const smma_operation *o, uint64_t seed, uint64_t index, smma_row_kind kind, smma_row *row) {
  const smma_row_recipe r = smma_row_recipe_of(o);
  smma_draws draws;
  stream s;
  open_stream(&s, seed);
  draws = draws_of_row(&s, index);
  smma_fill_row(&draws, &r, kind, row);
}

void smma_generate_rows(smma_rows *rows, uint64_t seed, uint64_t first, size_t count, int kinds, smma_row_kind one) {
  const smma_operation o = smma_operation_of(rows->instruction);
  const selection x = {smma_row_recipe_of(&o), {seed, first, kinds, (int)one}};
  fill_function *const fill = fill_function_here();
  if (count <= PART) { /* without OpenMP, whose overhead exceeds the time for a few rows */
    fill(&x, 0, count, rows);
    return;
  }
#pragma omp parallel for num_threads(smma_default_threads()) schedule(dynamic)
  for (size_t from = 0; from < count; from += PART) fill(&x, from, count - from < PART ? count : from + PART, rows);
}

static const char *const kind_text[SMMA_ROWS_KINDS] = {"random",       "normal", "edge",    "zeros",   "tiny",
                                                       "cancellation", "ill",    "network", "schryer", "aimed"};

const char *smma_row_kind_text(smma_row_kind kind) { return kind_text[kind]; }

/* Other names of kinds. */
static const struct {
  const char *name;
  smma_row_kind kind;
} other_names[] = {{"special", SMMA_ROWS_EDGE},   {"specials", SMMA_ROWS_EDGE},   {"edges", SMMA_ROWS_EDGE},
                   {"corner", SMMA_ROWS_EDGE},    {"corners", SMMA_ROWS_EDGE},    {"nan", SMMA_ROWS_EDGE},
                   {"inf", SMMA_ROWS_EDGE},       {"infinity", SMMA_ROWS_EDGE},   {"zero", SMMA_ROWS_ZEROS},
                   {"subnormal", SMMA_ROWS_TINY}, {"subnormals", SMMA_ROWS_TINY}, {"denormal", SMMA_ROWS_TINY},
                   {"denormals", SMMA_ROWS_TINY}, {"gaussian", SMMA_ROWS_NORMAL}, {"cancel", SMMA_ROWS_CANCELLATION}};

smma_row_kind smma_row_kind_from_text(const char *text) {
  int kind = 0;
  while (kind < SMMA_ROWS_KINDS && strcmp(text, kind_text[kind]) != 0) kind++;
  for (size_t i = 0; kind == SMMA_ROWS_KINDS && i < sizeof other_names / sizeof *other_names; i++)
    if (strcmp(text, other_names[i].name) == 0) kind = other_names[i].kind;
  return (smma_row_kind)kind;
}

/* ---- Functions for other files ---- */

void smma_row_request_defaults(smma_row_request *request, size_t size) {
  const smma_row_request defaults = {.rows = 0};
  smma_give_defaults(request, size, &defaults, sizeof defaults);
}

static smma_status make_rows(const smma_instruction *i, const smma_row_request *request) {
  const smma_row_kind kind = request->kind ? smma_row_kind_from_text(request->kind) : SMMA_ROWS_RANDOM;
  smma_operation o;
  selection x;
  smma_rows rows;
  if (!i || kind == SMMA_ROWS_KINDS) return SMMA_INVALID_ARGUMENT;
  if (request->rows == 0) return SMMA_OK;
  if (!request->a || !request->b || !request->c) return SMMA_INVALID_ARGUMENT;
  if (i->scale_block ? !request->scale_a || !request->scale_b : request->scale_a || request->scale_b)
    return SMMA_MISSING_SCALE;
  rows = (smma_rows){.instruction = i,
                     .layout = smma_row_layout_of(i),
                     .part = {request->a, request->b, request->c, request->scale_a, request->scale_b}};
  rows.layout.part[SMMA_PART_D].count = 0;
  o = smma_operation_of(i);
  x.recipe = smma_row_recipe_of(&o);
  x.rows = (smma_row_selection){request->seed, request->first, request->kind ? 0 : SMMA_ROWS_IN_TURN, (int)kind};
  fill_function_here()(&x, 0, request->rows, &rows);
  return SMMA_OK;
}

smma_status smma_make_rows(const smma_instruction *i, const smma_row_request *request) {
  smma_row_request own = {.rows = 0};
  const smma_status status = smma_take_struct(request, &own, sizeof own);
  return status == SMMA_OK ? make_rows(i, &own) : status;
}
