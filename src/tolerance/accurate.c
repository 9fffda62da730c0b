#include "tolerance/accurate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numerics/exact.h"
#include "numerics/slices.h"
#include "softmma/accurate.h"
#include "tolerance/measured.h"

/* The measured rows of A and columns of B (each contiguous), and D. */
typedef struct {
  size_t m, n, k;
  double *a, *b, *d, *space;
} sample;

/* ---- Checks ---- */

/* Returns the number of words or slices of a value; 0 for "auto", -1 for anything else. */
static int number_of(const smma_sweep *s, size_t value) {
  const char *text = s->value[value];
  const int most = s->kind == SMMA_SWEEP_SLICES ? SMMA_MOST_SLICES : SMMA_MOST_WORDS;
  char *end;
  const long x = strtol(text, &end, 10);
  if (s->kind == SMMA_SWEEP_SLICES && strcmp(text, "auto") == 0) return 0;
  return *end || x < 1 || x > most ? -1 : (int)x;
}

/* Returns the name of an argument that accurate products do not have but the request gives, or NULL if there is
   none. */
static const char *misplaced(const smma_sweep_request *r) {
  const smma_gemm_arguments *g = &r->of.target[0].product;
  if (g->plan) return "plan";
  if (g->c || r->of.with_c) return g->c ? "c" : "with_c";
  if (r->of.stored != SMMA_NO_FORMAT) return "store";
  return g->alpha != 1 ? "alpha" : g->beta != 1 ? "beta" : NULL;
}

bool smma_accurate_check(const smma_sweep_request *r, size_t value, const smma_instruction *i, smma_error *error) {
  const smma_sweep *s = &r->sweep;
  const bool slices = s->kind == SMMA_SWEEP_SLICES;
  const char *member = misplaced(r);
  if (member) return smma_fail(error, "%s: accurate products compute A B alone; leave it out", member);
  if (slices && (i->a != SMMA_S8 || i->b != SMMA_S8 || i->d != SMMA_S32))
    return smma_fail(error, "sweep: slices need an instruction with A and B in s8, which %s is not; take H100:s8",
                     i->name);
  if (!slices && smma_is_fixed_point(i->a))
    return smma_fail(error, "sweep: words need a floating-point instruction, which %s is not; take H100:bf16", i->name);
  if (number_of(s, value) < 0)
    return smma_fail(error, "sweep: %s = '%s' is not a number from 1 to %d%s", s->name, s->value[value],
                     slices ? SMMA_MOST_SLICES : SMMA_MOST_WORDS, slices ? " or auto" : "");
  if (!r->of.m || !r->of.n || !r->of.k) return smma_fail(error, "shape: M, N and K are at least 1");
  return true;
}

/* ---- The sample ---- */

static void take(const smma_sweep_request *r, sample *x) {
  const size_t n = r->of.n;
  for (size_t i = 0; i < x->m; i++) memcpy(x->a + i * x->k, r->a + i * r->of.m / x->m * x->k, x->k * sizeof *x->a);
  for (size_t j = 0; j < x->n; j++)
    for (size_t k = 0; k < x->k; k++) x->b[j * x->k + k] = r->b[k * n + j * n / x->n];
}

static bool generate(const smma_sweep_request *r, const smma_instruction *i, sample *x, smma_error *error) {
  smma_operation o = smma_operation_of(i);
  const smma_data_counts counts = {.a = x->m * x->k, .b = x->k * x->n};
  const smma_data_arrays arrays = {.a = x->a, .b = x->b};
  o.a = o.b = o.c = o.d = SMMA_F64, o.scale_block = 0;
  if (!smma_data_fits(r->of.data, &o)) return smma_fail(error, "data: f64 has no such data");
  smma_data_fill(r->of.data, &o, x->k, &counts, &arrays);
  return true;
}

static bool make_sample(const smma_sweep_result *result, const smma_instruction *i, sample *x, smma_error *error) {
  const smma_sweep_request *r = result->request;
  *x = (sample){.m = result->rows, .n = result->columns, .k = r->of.k};
  x->a = calloc(x->m * x->k + 1, sizeof *x->a), x->b = calloc(x->n * x->k + 1, sizeof *x->b);
  x->d = calloc(x->m * x->n + 1, sizeof *x->d), x->space = calloc(x->m * x->n + 1, sizeof *x->space);
  if (!x->a || !x->b || !x->d || !x->space) return smma_no_memory(error);
  if (!r->a) return generate(r, i, x, error);
  take(r, x);
  return true;
}

static void free_sample(sample *x) { free(x->a), free(x->b), free(x->d), free(x->space); }

/* ---- The product ---- */

static bool multiply(const smma_sweep_request *r, const smma_instruction *i, int number, const sample *x,
                     smma_error *error) {
  const smma_gemm_arguments *g = &r->of.target[0].product;
  smma_f64_product product;
  smma_slices slices;
  smma_words words;
  smma_f64_product_defaults(&product, sizeof product);
  product.m = x->m, product.n = x->n, product.k = x->k, product.a = x->a, product.b = x->b, product.d = x->d;
  product.order_b = SMMA_COLUMN_MAJOR, product.split_k = g->split_k, product.promote_every = g->promote_every;
  product.threads = g->threads, product.progress = g->progress, product.progress_context = g->progress_context;
  product.error = error;
  smma_slices_defaults(&slices, sizeof slices); /* of `auto`: exact */
  if (number) slices.slices = number, slices.products = SMMA_PRODUCTS_LEADING, slices.sum = SMMA_SLICES_F64;
  smma_words_defaults(&words, sizeof words);
  words.words = number, words.method = r->sweep.kind == SMMA_SWEEP_WORDS ? SMMA_WORDS_SCALED : SMMA_WORDS_RESIDUAL;
  return (r->sweep.kind == SMMA_SWEEP_SLICES ? smma_gemm_slices(i, &product, &slices)
                                             : smma_gemm_words(i, &product, &words)) == SMMA_OK;
}

static void measure(sample *x, smma_sweep_row *row) {
  size_t finite = 0;
  row->error.unbounded = x->m * x->n; /* no bound is proved for accurate products */
  double *magnitudes = x->d;          /* each magnitude overwrites an element of d that is no longer needed */
  for (size_t e = 0; e < x->m * x->n; e++) {
    const smma_double_double exact = smma_exact_dot(x->a + e / x->n * x->k, x->b + e % x->n * x->k, x->k);
    const double off = fabs(smma_difference_from(x->d[e], exact));
    row->error.special += !isfinite(exact.high);
    if (isnan(off) || !isfinite(exact.high)) continue;
    x->space[finite] = off, magnitudes[finite++] = fabs(exact.high);
  }
  smma_take_quantiles(x->space, finite, row->error.error);
  smma_take_quantiles(magnitudes, finite, row->exact);
}

/* Sets the numbers of slices that represent all of A and B exactly. */
static void count_slices(smma_sweep_result *result, const sample *x) {
  const smma_sweep_request *r = result->request;
  const size_t k = r->of.k, n = r->of.n;
  const smma_operand_lines a = r->a ? (smma_operand_lines){r->a, r->of.m, k, k, 1}
                                    : (smma_operand_lines){x->a, x->m, k, k, 1},
                           b = r->b ? (smma_operand_lines){r->b, n, k, 1, n}
                                    : (smma_operand_lines){x->b, x->n, k, k, 1};
  result->automatic[0] = smma_slices_of_lines(&a, 7), result->automatic[1] = smma_slices_of_lines(&b, 7);
}

bool smma_accurate_measure(smma_sweep_result *result, const smma_instruction *i, smma_sweep_row *row,
                           smma_error *error) {
  const smma_sweep_request *r = result->request;
  sample x;
  bool done;
  smma_measured_part(r->a != NULL, r->of.m, r->of.n, &result->rows, &result->columns);
  result->m = r->of.m, result->n = r->of.n;
  row->k = r->of.k, row->error.d = row->error.stored = SMMA_F64;
  done = make_sample(result, i, &x, error) && multiply(r, i, number_of(&r->sweep, row->value), &x, error);
  if (done) measure(&x, row);
  if (done && r->sweep.kind == SMMA_SWEEP_SLICES && !result->automatic[0]) count_slices(result, &x);
  free_sample(&x);
  return done;
}
