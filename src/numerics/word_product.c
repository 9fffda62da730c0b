/* smma_gemm_words: products of FP64 matrices from products of their words on one instruction. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/float.h"
#include "host/load.h"
#include "host/sized.h"
#include "numerics/lines.h"
#include "numerics/words.h"

/* Operand A or B, split into words. */
typedef struct {
  smma_operand_lines lines;
  smma_word_format format;
  int step;             /* word i has the weight 2^(-step i) */
  int *exponents;       /* for each line, the exponent of the power of two that scales it */
  bool *special;        /* for each line, whether it holds infinity or NaN */
  unsigned char *words; /* word matrices in order; each holds its lines in order */
  unsigned char *ones;  /* scale factors of 1 for block-scaled instructions; otherwise NULL */
} operand;

/* The product A^(i) B^(j) with the weight 2^-weight. */
typedef struct {
  int i, j, weight;
  int order; /* products of pairs with a greater order are smaller */
} word_pair;

typedef struct {
  const smma_instruction *instruction;
  smma_instruction_info info;
  smma_gemm_arguments with;
  smma_words how;
  operand a, b;
  word_pair pairs[SMMA_MOST_WORDS * SMMA_MOST_WORDS];
  size_t pair_count, pairs_done;
  size_t calls, calls_done; /* numbers of calls of smma_gemm: in all, and so far */
  size_t first, length;     /* the k that are multiplied now: all, or a block */
  unsigned char *result;    /* results of the instruction, row-major */
  double *sum;              /* sums of the scaled problem, row-major */
} words_product;

/* ---- Splitting ---- */

/* Splits all elements into words. Infinity and NaN become zero words. */
static void split_operand(operand *x, const smma_words *how, double theta) {
  size_t bytes = smma_format_bytes(x->format.format);
  uint64_t word[SMMA_MOST_WORDS];
  for (size_t line = 0; line < x->lines.count; line++) {
    double largest = smma_line_largest(&x->lines, line, &x->special[line]);
    x->exponents[line] = how->method == SMMA_WORDS_SCALED ? smma_words_exponent(largest, theta) : 0;
    for (size_t k = 0; k < x->lines.length; k++) {
      double value = smma_line_element(&x->lines, line, k);
      value = isfinite(value) ? ldexp(value, x->exponents[line]) : 0;
      smma_words_split(&x->format, value, x->step, how->flush_subnormals, how->words, word);
      for (int i = 0; i < how->words; i++)
        smma_store(bytes, x->words, ((size_t)i * x->lines.count + line) * x->lines.length + k, word[i]);
    }
  }
}

static unsigned char *word_matrix(const operand *x, int i) {
  return x->words + (size_t)i * x->lines.count * x->lines.length * smma_format_bytes(x->format.format);
}

/* ---- Products of words ---- */

/* Lists the pairs of words to multiply. In mode SMMA_SUM_UNIT they are in the order of i and j, as in the published
   program; in other modes the smallest products come first. */
static void list_pairs(words_product *p) {
  const smma_words *how = &p->how;
  for (int i = 0; i < how->words; i++) {
    for (int j = 0; j < how->words; j++) {
      word_pair pair = {i, j, i * p->a.step + j * p->b.step, i * p->a.format.precision + j * p->b.format.precision};
      size_t at = p->pair_count;
      if (how->method == SMMA_WORDS_SCALED && i + j >= how->words) continue;
      for (; how->sum != SMMA_SUM_UNIT && at && p->pairs[at - 1].order < pair.order; at--)
        p->pairs[at] = p->pairs[at - 1];
      p->pairs[at] = pair;
      p->pair_count++;
    }
  }
}

static bool show_progress(size_t rows_done, size_t rows, void *context) {
  const words_product *p = context;
  return p->with.progress(p->calls_done * rows + rows_done, p->calls * rows, p->with.progress_context);
}

/* Reports whether the unit itself adds the products of the pairs. */
static bool is_in_unit(smma_words_sum sum) {
  return sum == SMMA_SUM_UNIT || sum == SMMA_SUM_UNIT_SCALED || sum == SMMA_SUM_BLOCKS;
}

/* Multiplies one pair into p->result. If the unit adds the pairs, adds the product to the previous sum there. */
static smma_status multiply(words_product *p, const word_pair *pair) {
  smma_gemm_arguments g = p->with;
  const bool in_unit = is_in_unit(p->how.sum);
  g.a = word_matrix(&p->a, pair->i) + p->first * smma_format_bytes(p->info.a);
  g.b = word_matrix(&p->b, pair->j) + p->first * smma_format_bytes(p->info.b);
  g.d = p->result, g.k = p->length;
  g.lda = p->a.lines.length, g.ldb = p->b.lines.length, g.ldc = g.ldd = 0;
  g.order_a = g.order_c = g.order_d = SMMA_ROW_MAJOR, g.order_b = SMMA_COLUMN_MAJOR;
  g.scale_a = p->a.ones, g.scale_b = p->b.ones;
  g.c = in_unit && p->pairs_done ? p->result : NULL;
  g.scaling = SMMA_SCALING_OPERANDS; /* alpha and beta give the pair its weight if the unit adds the pairs */
  if (p->how.sum == SMMA_SUM_UNIT) g.alpha = ldexp(1, -pair->weight);
  if (in_unit && p->how.sum != SMMA_SUM_UNIT && p->pairs_done) g.beta = ldexp(1, pair->weight - pair[-1].weight);
  if (g.progress) g.progress = show_progress, g.progress_context = p;
  return smma_gemm(p->instruction, &g);
}

/* Adds the unit's result to the sum. If the unit itself adds the pairs, the result replaces the sum. */
static void take_result(words_product *p, int weight) {
  size_t bytes = smma_format_bytes(p->info.d);
  for (size_t e = 0; e < p->with.m * p->with.n; e++) {
    double term = smma_format_decode(p->info.d, smma_load(bytes, p->result, e));
    if (p->how.sum == SMMA_SUM_F64 || p->how.sum == SMMA_SUM_F32) term = ldexp(term, -weight);
    if (p->how.sum == SMMA_SUM_F32) term = (float)term;
    if (p->how.sum == SMMA_SUM_F64 && p->pairs_done) term = p->sum[e] + term;
    if (p->how.sum == SMMA_SUM_F32 && p->pairs_done) term = (float)((float)p->sum[e] + (float)term);
    p->sum[e] = term;
  }
}

/* Adds the unit's result for a block of K to the sum. */
static void take_block(words_product *p) {
  const size_t bytes = smma_format_bytes(p->info.d);
  for (size_t e = 0; e < p->with.m * p->with.n; e++) {
    const double term = smma_format_decode(p->info.d, smma_load(bytes, p->result, e));
    p->sum[e] = p->info.d == SMMA_F64 ? p->sum[e] + term : (double)((float)p->sum[e] + (float)term);
  }
}

/* ---- The result ---- */

static void store_result(const words_product *p) {
  const smma_gemm_arguments *g = &p->with;
  for (size_t i = 0; i < g->m; i++) {
    for (size_t j = 0; j < g->n; j++) {
      double d = ldexp(p->sum[i * g->n + j], -p->a.exponents[i] - p->b.exponents[j]);
      if (p->a.special[i] || p->b.special[j]) d = smma_sum_of_specials(&p->a.lines, &p->b.lines, i, j);
      smma_store_result(g, i, j, d);
    }
  }
}

/* Multiplies and adds all pairs for the current k. */
static smma_status add_pairs(words_product *p) {
  for (p->pairs_done = 0; p->pairs_done < p->pair_count; p->pairs_done++, p->calls_done++) {
    const word_pair *pair = &p->pairs[p->pairs_done];
    const smma_status status = multiply(p, pair);
    if (status != SMMA_OK) return status;
    if (p->how.sum != SMMA_SUM_BLOCKS) take_result(p, pair->weight);
  }
  return SMMA_OK;
}

static smma_status add_blocks(words_product *p) {
  const size_t k = p->with.k, block = (size_t)p->info.k;
  p->calls *= (k + block - 1) / block;
  for (p->first = 0; p->first < k; p->first += block) {
    p->length = k - p->first < block ? k - p->first : block;
    const smma_status status = add_pairs(p);
    if (status != SMMA_OK) return status;
    take_block(p);
  }
  return SMMA_OK;
}

static smma_status compute(words_product *p) {
  double result_largest = smma_word_format_of(p->info.d).largest;
  if (p->how.sum == SMMA_SUM_F32 && result_largest > FLT_MAX) result_largest = FLT_MAX;
  split_operand(&p->a, &p->how, smma_words_theta(p->a.format.largest, result_largest, p->with.k));
  split_operand(&p->b, &p->how, smma_words_theta(p->b.format.largest, result_largest, p->with.k));
  list_pairs(p);
  p->length = p->with.k, p->calls = p->pair_count;
  const smma_status status = p->how.sum == SMMA_SUM_BLOCKS ? add_blocks(p) : add_pairs(p);
  if (status == SMMA_OK) store_result(p);
  return status;
}

/* ---- Memory and arguments ---- */

static smma_status make_operand(const words_product *p, operand *x, smma_format format) {
  x->format = smma_word_format_of(format);
  x->step = p->how.method == SMMA_WORDS_RESIDUAL ? 0 : x->format.precision;
  x->exponents = calloc(x->lines.count + 1, sizeof *x->exponents);
  x->special = calloc(x->lines.count + 1, sizeof *x->special);
  x->words = calloc(x->lines.count * x->lines.length + 1, (size_t)p->how.words * smma_format_bytes(format));
  if (!x->exponents || !x->special || !x->words) return SMMA_NO_MEMORY;
  if (p->info.scale_block) {
    size_t count =
        x->lines.count * x->lines.length + 1; /* more than the number of blocks, and already checked for overflow */
    x->ones = malloc(count);
    if (!x->ones) return SMMA_NO_MEMORY;
    memset(x->ones, (int)smma_format_encode(p->info.scale, 1, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE), count);
  }
  return SMMA_OK;
}

static void free_operand(operand *x) {
  free(x->exponents);
  free(x->special);
  free(x->words);
  free(x->ones);
}

static smma_status check(const smma_instruction_info *info, const smma_words *how) {
  if ((unsigned)how->method > SMMA_WORDS_SHIFTED || (unsigned)how->sum > SMMA_SUM_BLOCKS) return SMMA_INVALID_ARGUMENT;
  if (how->words < 1 || how->words > SMMA_MOST_WORDS) return SMMA_INVALID_ARGUMENT;
  if (is_in_unit(how->sum) && info->c != info->d) return SMMA_INVALID_ARGUMENT;
  if (!smma_is_word_format(info->a) || !smma_is_word_format(info->b) || smma_is_fixed_point(info->d))
    return SMMA_INVALID_ARGUMENT;
  return SMMA_OK;
}

static smma_status run(words_product *p) {
  const smma_gemm_arguments *g = &p->with;
  smma_status status;
  p->a.lines = smma_operand_lines_of_a(g), p->b.lines = smma_operand_lines_of_b(g);
  p->result = calloc(g->m * g->n + 1, smma_format_bytes(p->info.d));
  p->sum = calloc(g->m * g->n + 1, sizeof *p->sum);
  status = p->result && p->sum ? make_operand(p, &p->a, p->info.a) : SMMA_NO_MEMORY;
  if (status == SMMA_OK) status = make_operand(p, &p->b, p->info.b);
  if (status == SMMA_OK) status = compute(p);
  free_operand(&p->a);
  free_operand(&p->b);
  free(p->result);
  free(p->sum);
  return status;
}

static const smma_words words_defaults = {.method = SMMA_WORDS_SCALED, .words = 2, .sum = SMMA_SUM_F64};

smma_status smma_gemm_words(const smma_instruction *instruction, const smma_f64_product *product,
                            const smma_words *how) {
  smma_status (*volatile run_in_mode)(words_product *) =
      run; /* volatile: the call must stay inside the changed floating-point mode */
  words_product *p;
  smma_float_state state;
  smma_status status;
  p = calloc(1, sizeof *p);
  if (!p) return SMMA_NO_MEMORY;
  p->instruction = instruction, p->how = words_defaults;
  status = smma_take_product(product, &p->with);
  if (status == SMMA_OK) status = smma_take_struct(how, &p->how, sizeof p->how);
  if (status == SMMA_OK) status = smma_describe(instruction, &p->info, sizeof p->info);
  if (status == SMMA_OK) status = check(&p->info, &p->how);
  if (status == SMMA_OK) {
    state = smma_float_enter(SMMA_MODE_NEAREST_EVEN);
    status = run_in_mode(p);
    smma_float_leave(state);
  }
  smma_end_error(p->with.error, status);
  free(p);
  return status;
}

void smma_words_defaults(smma_words *how, size_t size) {
  smma_give_defaults(how, size, &words_defaults, sizeof words_defaults);
}

int smma_words_for(const smma_instruction *instruction, double accuracy) {
  smma_instruction_info info;
  int a, b;
  if (smma_describe(instruction, &info, sizeof info) != SMMA_OK) return 0;
  a = smma_word_format_of(info.a).precision, b = smma_word_format_of(info.b).precision;
  return smma_words_needed(a < b ? a : b, accuracy);
}
