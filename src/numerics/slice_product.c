/* smma_gemm_slices: products of FP64 matrices from exact products of their slices on one integer instruction. */
#include <math.h>
#include <stdlib.h>

#include "core/wide.h"
#include "host/bits.h"
#include "host/error.h"
#include "host/float.h"
#include "host/sized.h"
#include "numerics/lines.h"
#include "numerics/slices.h"

/* Operand A or B, split into slices. */
typedef struct {
  smma_operand_lines lines;
  int slices;      /* number of slices */
  int *exponents;  /* for each line, an exponent e: its magnitudes are below 2^e */
  bool *special;   /* for each line, whether it holds infinity or NaN */
  int8_t *digits;  /* slice after slice; each slice holds its lines in order */
  bool *not_empty; /* for each slice (1, 2, ...), whether it has a nonzero digit */
} operand;

/* The product A_(i) B_(j) with the weight 2^(-bits level), level = i + j. */
typedef struct {
  int i, j, level;
} slice_pair;

typedef struct {
  const smma_instruction *instruction;
  smma_gemm_arguments with;
  smma_slices how;
  operand a, b;
  slice_pair *pairs; /* smallest first */
  size_t pair_count;
  size_t calls_done, calls; /* numbers of calls of smma_gemm: so far, and in all */
  int first_level;          /* level of the smallest products; the largest products have level 2 */
  int32_t *result;          /* results of the instruction, row-major */
  double *sum;              /* SMMA_SLICES_F64: sums, row-major */
  int64_t *level_sum;       /* SMMA_SLICES_EXACT: sum of one level and the carry from the levels below */
  unsigned char *low;       /* SMMA_SLICES_EXACT: low bits of the levels below, level after level */
} slices_product;

/* ---- Splitting ---- */

/* Returns the element, with infinity and NaN replaced by zero. */
static double finite_element(const smma_operand_lines *x, size_t line, size_t k) {
  double value = smma_line_element(x, line, k);
  return isfinite(value) ? value : 0;
}

/* Sets the exponents of the lines and the number of slices. */
static smma_status measure(operand *x, const smma_slices *how) {
  x->exponents = calloc(x->lines.count + 1, sizeof *x->exponents);
  x->special = calloc(x->lines.count + 1, sizeof *x->special);
  if (!x->exponents || !x->special) return SMMA_NO_MEMORY;
  x->slices = how->slices ? how->slices : smma_slices_of_lines(&x->lines, how->bits);
  for (size_t line = 0; line < x->lines.count; line++)
    x->exponents[line] = smma_slice_exponent(smma_line_largest(&x->lines, line, &x->special[line]));
  return SMMA_OK;
}

static int8_t *slice_matrix(const operand *x, int s) {
  return x->digits + (size_t)(s - 1) * x->lines.count * x->lines.length;
}

static smma_status split(operand *x, int bits) {
  x->digits = calloc(x->lines.count * x->lines.length + 1, (size_t)x->slices + 1);
  x->not_empty = calloc((size_t)x->slices + 1, sizeof *x->not_empty);
  if (!x->digits || !x->not_empty) return SMMA_NO_MEMORY;
  for (size_t line = 0; line < x->lines.count; line++) {
    for (size_t k = 0; k < x->lines.length; k++) {
      double value = finite_element(&x->lines, line, k);
      for (int s = 1; s <= x->slices; s++) {
        int digit = smma_slice(value, x->exponents[line], bits, s);
        slice_matrix(x, s)[line * x->lines.length + k] = (int8_t)digit;
        x->not_empty[s] |= digit != 0;
      }
    }
  }
  return SMMA_OK;
}

/* Lists the pairs of slices to multiply, those with the smallest weight first, without pairs that have a slice of
   zeros. Sets p->first_level. */
static smma_status list_pairs(slices_product *p) {
  int most = p->a.slices > p->b.slices ? p->a.slices : p->b.slices;
  p->first_level = p->how.products == SMMA_PRODUCTS_ALL ? p->a.slices + p->b.slices : most + 1;
  if (p->first_level < 2) p->first_level = 2; /* without slices the loop below lists nothing */
  p->pairs = calloc((size_t)p->a.slices * (size_t)p->b.slices + 1, sizeof *p->pairs);
  if (!p->pairs) return SMMA_NO_MEMORY;
  for (int level = p->first_level; level >= 2; level--) {
    for (int i = 1; i <= p->a.slices && i < level; i++) {
      int j = level - i;
      if (j > p->b.slices || !p->a.not_empty[i] || !p->b.not_empty[j]) continue;
      p->pairs[p->pair_count++] = (slice_pair){i, j, level};
    }
  }
  return SMMA_OK;
}

/* ---- Products of slices ---- */

static bool show_progress(size_t rows_done, size_t rows, void *context) {
  const slices_product *p = context;
  return p->with.progress(p->calls_done * rows + rows_done, p->calls * rows, p->with.progress_context);
}

/* Returns the largest number of products of two slices whose sum always fits a 32-bit integer. */
static size_t most_products(int bits) { return (size_t)(INT32_MAX / (((1 << bits) - 1) * ((1 << bits) - 1))); }

/* Multiplies a pair over elements first .. first + length - 1 of K. */
static smma_status multiply(slices_product *p, const slice_pair *pair, size_t first, size_t length) {
  smma_gemm_arguments g = p->with;
  g.a = slice_matrix(&p->a, pair->i) + first, g.b = slice_matrix(&p->b, pair->j) + first, g.d = p->result;
  g.k = length, g.lda = g.ldb = p->with.k, g.ldd = 0;
  g.order_a = g.order_d = SMMA_ROW_MAJOR, g.order_b = SMMA_COLUMN_MAJOR;
  if (g.progress) g.progress = show_progress, g.progress_context = p;
  return smma_gemm(p->instruction, &g);
}

/* Returns the exponent by which the integers of element (i, j) are scaled. */
static int exponent_of(const slices_product *p, size_t i, size_t j) { return p->a.exponents[i] + p->b.exponents[j]; }

static void take_result(slices_product *p, int level) {
  const size_t m = p->with.m, n = p->with.n;
  if (p->how.sum == SMMA_SLICES_EXACT)
    for (size_t e = 0; e < m * n; e++) p->level_sum[e] += p->result[e];
  else
    for (size_t i = 0; i < m; i++)
      for (size_t j = 0; j < n; j++)
        p->sum[i * n + j] += ldexp(p->result[i * n + j], exponent_of(p, i, j) - p->how.bits * level);
}

/* Completes the exact sum of a level: stores its low bits, and carries the higher bits to the next level. */
static void carry(slices_product *p, int level) {
  size_t count = p->with.m * p->with.n;
  unsigned char *low = p->low + (size_t)(p->first_level - level) * count;
  for (size_t e = 0; e < count; e++) {
    low[e] = (unsigned char)smma_low_bits((uint64_t)p->level_sum[e], p->how.bits);
    p->level_sum[e] = smma_shift_down(p->level_sum[e], p->how.bits);
  }
}

static smma_status add_products(slices_product *p) {
  size_t chunk = most_products(p->how.bits);
  smma_status status = SMMA_OK;
  size_t next = 0;
  p->calls = p->pair_count * ((p->with.k + chunk - 1) / chunk);
  for (int level = p->first_level; level >= 2; level--) {
    for (; next < p->pair_count && p->pairs[next].level == level; next++) {
      for (size_t first = 0; first < p->with.k; first += chunk, p->calls_done++) {
        status = multiply(p, &p->pairs[next], first, p->with.k - first < chunk ? p->with.k - first : chunk);
        if (status != SMMA_OK) return status;
        take_result(p, level);
      }
    }
    if (p->how.sum == SMMA_SLICES_EXACT && level > 2) carry(p, level);
  }
  return SMMA_OK;
}

/* ---- The result ---- */

/* Returns the sum of all levels of element e, rounded once to FP64; the lowest level has the weight 2^exponent. */
static double round_levels(const slices_product *p, size_t e, int exponent) {
  size_t count = p->with.m * p->with.n;
  smma_wide sum;
  smma_wide_clear(&sum);
  for (int level = p->first_level; level > 2; level--, exponent += p->how.bits) {
    unsigned char low = p->low[(size_t)(p->first_level - level) * count + e];
    if (low)
      smma_wide_add(&sum, false, low,
                    exponent); /* a nonzero `low` times its weight is at least 2^-2148, as every product is */
  }
  if (p->level_sum[e]) smma_wide_add(&sum, p->level_sum[e] < 0, smma_magnitude(p->level_sum[e]), exponent);
  return smma_f64_of_bits(smma_wide_encode(&sum, smma_encoding_of(SMMA_F64), SMMA_ROUND_NEAREST_EVEN));
}

static void store_results(const slices_product *p) {
  const smma_gemm_arguments *g = &p->with;
  for (size_t i = 0; i < g->m; i++) {
    for (size_t j = 0; j < g->n; j++) {
      double d = p->how.sum == SMMA_SLICES_F64
                     ? p->sum[i * g->n + j]
                     : round_levels(p, i * g->n + j, exponent_of(p, i, j) - p->how.bits * p->first_level);
      if (p->a.special[i] || p->b.special[j]) d = smma_sum_of_specials(&p->a.lines, &p->b.lines, i, j);
      smma_store_result(g, i, j, d);
    }
  }
}

static smma_status make_sums(slices_product *p) {
  size_t count = p->with.m * p->with.n + 1;
  p->result = calloc(count, sizeof *p->result);
  if (p->how.sum == SMMA_SLICES_F64) {
    p->sum = calloc(count, sizeof *p->sum);
    return p->result && p->sum ? SMMA_OK : SMMA_NO_MEMORY;
  }
  p->level_sum = calloc(count, sizeof *p->level_sum);
  p->low = calloc(count, (size_t)p->first_level + 1);
  return p->result && p->level_sum && p->low ? SMMA_OK : SMMA_NO_MEMORY;
}

/* ---- Arguments ---- */

/* Checks the method. Also calls smma_gemm for an empty product: it checks the other arguments, and is not called again
   if all slices are zero. */
static smma_status check(const slices_product *p) {
  const smma_instruction *instruction = p->instruction;
  const smma_slices *how = &p->how;
  smma_gemm_arguments empty = p->with;
  smma_instruction_info info;
  if (smma_describe(instruction, &info, sizeof info) != SMMA_OK) return SMMA_INVALID_ARGUMENT;
  if (info.a != SMMA_S8 || info.b != SMMA_S8 || info.d != SMMA_S32) return SMMA_INVALID_ARGUMENT;
  if (how->slices < 0 || how->slices > SMMA_MOST_SLICES || how->bits < 1 || how->bits > 7) return SMMA_INVALID_ARGUMENT;
  if ((unsigned)how->products > SMMA_PRODUCTS_ALL || (unsigned)how->sum > SMMA_SLICES_EXACT)
    return SMMA_INVALID_ARGUMENT;
  empty.m = empty.n = empty.k = 0;
  return smma_gemm(instruction, &empty);
}

static void free_operand(operand *x) {
  free(x->exponents);
  free(x->special);
  free(x->digits);
  free(x->not_empty);
}

static smma_status run(slices_product *p) {
  smma_status status;
  p->a.lines = smma_operand_lines_of_a(&p->with), p->b.lines = smma_operand_lines_of_b(&p->with);
  status = measure(&p->a, &p->how);
  if (status == SMMA_OK) status = measure(&p->b, &p->how);
  if (status == SMMA_OK) status = split(&p->a, p->how.bits);
  if (status == SMMA_OK) status = split(&p->b, p->how.bits);
  if (status == SMMA_OK) status = list_pairs(p);
  if (status == SMMA_OK) status = make_sums(p);
  if (status == SMMA_OK) status = add_products(p);
  if (status == SMMA_OK) store_results(p);
  if (status == SMMA_OK && p->how.used) p->how.used[0] = p->a.slices, p->how.used[1] = p->b.slices;
  free_operand(&p->a);
  free_operand(&p->b);
  free(p->pairs);
  free(p->result);
  free(p->sum);
  free(p->level_sum);
  free(p->low);
  return status;
}

static const smma_slices slices_defaults = {0, 0, 7, SMMA_PRODUCTS_ALL, SMMA_SLICES_EXACT, NULL};

smma_status smma_gemm_slices(const smma_instruction *instruction, const smma_f64_product *product,
                             const smma_slices *how) {
  smma_status (*volatile run_in_mode)(slices_product *) =
      run; /* volatile: the call must stay inside the changed floating-point mode */
  smma_float_state state;
  smma_status status;
  slices_product p = {.instruction = instruction};
  p.how = slices_defaults;
  status = smma_take_product(product, &p.with);
  if (status == SMMA_OK) status = smma_take_struct(how, &p.how, sizeof p.how);
  if (status == SMMA_OK) status = check(&p);
  if (status == SMMA_OK) {
    state = smma_float_enter(SMMA_MODE_NEAREST_EVEN);
    status = run_in_mode(&p);
    smma_float_leave(state);
  }
  return smma_end_error(p.with.error, status);
}

void smma_slices_defaults(smma_slices *how, size_t size) {
  smma_give_defaults(how, size, &slices_defaults, sizeof slices_defaults);
}
