#include "cli/timing.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/matrices.h"
#include "host/load.h"
#include "rows/generate.h"

enum { SEED = 1 };

/* One product on both sides. */
typedef struct {
  const smma_instruction *instruction;
  const smma_timing_setup *setup;
  smma_tensor a, b, d, scale_a, scale_b;
  smma_tensor blas_a, blas_b, blas_d; /* the values of A and B in FP32 (FP64) */
  smma_gemm_arguments arguments;
  smma_progress progress;
  size_t rows_before; /* rows done in the repetitions before, for the progress line */
} product;

/* ---- Operands ---- */

/* Elements of A and B, in the order of memory, are those of generated rows one behind the other. */
static void fill_normal(product *p) {
  smma_operation o = smma_operation_of(p->instruction);
  size_t of_a = p->a.rows * p->a.columns, of_b = p->b.rows * p->b.columns, row_length = (size_t)o.k;
  smma_row row;
  for (size_t first = 0; first < of_a || first < of_b; first += row_length) {
    smma_generate_row(&o, SEED, first / row_length, SMMA_ROWS_NORMAL, &row);
    for (size_t k = 0; k < row_length; k++) {
      if (first + k < of_a) smma_store((size_t)p->a.bytes, p->a.data, first + k, row.a[k]);
      if (first + k < of_b) smma_store((size_t)p->b.bytes, p->b.data, first + k, row.b[k]);
    }
  }
}

/* Scale factors from 1/4 to 4 (ue8m0), from 1/2 to 2 (ue4m3). */
static smma_tensor scale_factors(const product *p, size_t vectors) {
  const smma_instruction *i = p->instruction;
  size_t blocks = p->setup->k / (size_t)i->scale_block + (p->setup->k % (size_t)i->scale_block != 0);
  smma_tensor t = smma_new_matrix(i->scale, vectors, blocks);
  unsigned one = (unsigned)smma_round(i->scale, 1, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
  unsigned span = i->scale == SMMA_UE8M0 ? 2 : 8, state = SEED;
  for (size_t s = 0; s < vectors * blocks; s++) {
    state = state * 1664525 + 1013904223; /* Numerical Recipes' generator; its high bits serve */
    ((uint8_t *)t.data)[s] = (uint8_t)(one - span + (state >> 16) % (2 * span + 1));
  }
  return t;
}

static smma_tensor converted(const smma_tensor *from, smma_format to) {
  smma_tensor t = smma_new_matrix(to, from->rows, from->columns);
  smma_convert(from->format, from->data, to, t.data, from->rows * from->columns, SMMA_ROUND_NEAREST_EVEN,
               SMMA_OVERFLOW_DEFAULT, NULL);
  return t;
}

static bool is_wide(const smma_instruction *i) { return i->a == SMMA_F64; }

static void make_operands(product *p) {
  const smma_instruction *i = p->instruction;
  const smma_timing_setup *s = p->setup;
  smma_format wide = is_wide(i) ? SMMA_F64 : SMMA_F32;
  smma_gemm_arguments *g = &p->arguments;
  p->a = smma_new_matrix(i->a, s->m, s->k), p->b = smma_new_matrix(i->b, s->k, s->n);
  p->d = smma_new_matrix(i->d, s->m, s->n);
  fill_normal(p);
  if (i->scale_block) p->scale_a = scale_factors(p, s->m), p->scale_b = scale_factors(p, s->n);
  if (s->blas) {
    p->blas_a = converted(&p->a, wide), p->blas_b = converted(&p->b, wide);
    p->blas_d = smma_new_matrix(wide, s->m, s->n);
  }
  smma_gemm_defaults(g);
  g->m = s->m, g->n = s->n, g->k = s->k;
  g->a = p->a.data, g->b = p->b.data, g->d = p->d.data;
  g->scale_a = p->scale_a.data, g->scale_b = p->scale_b.data;
  g->threads = s->threads, g->kernel = s->kernel, g->progress_context = p;
}

static void free_operands(product *p) {
  for (smma_tensor *t[] = {&p->a, &p->b, &p->d, &p->scale_a, &p->scale_b, &p->blas_a, &p->blas_b, &p->blas_d}, **x = t;
       x < t + 8; x++)
    smma_tensor_free(*x);
}

/* ---- Time ---- */

/* Threads of the side that ran last spin for some 30 ms before they sleep, on the cores that the other one uses. */
static void settle(const product *p) {
  struct timespec pause = {.tv_nsec = 60000000};
  if (p->setup->threads > 1) nanosleep(&pause, NULL);
}

static double multiply(product *p) {
  double started;
  smma_status status;
  settle(p);
  started = smma_seconds();
  status = smma_gemm(p->instruction, &p->arguments);
  if (status != SMMA_OK && status != SMMA_STOPPED) smma_die("%s", smma_status_text(status));
  return smma_seconds() - started;
}

static double multiply_with_blas(const product *p) {
  const smma_timing_setup *s = p->setup;
  double started;
  settle(p);
  started = smma_seconds();
  smma_blas_multiply(s->blas, is_wide(p->instruction), s->m, s->n, s->k, p->blas_a.data, p->blas_b.data,
                     p->blas_d.data);
  return smma_seconds() - started;
}

static int stop_after_a_second(size_t done, size_t rows, void *context) {
  const product *p = context;
  (void)done, (void)rows;
  return smma_seconds() - p->progress.started > 1;
}

static int show_progress(size_t done, size_t rows, void *context) {
  product *p = context;
  smma_progress_show(&p->progress, p->rows_before + done, rows * (size_t)p->setup->repetitions);
  return 0;
}

static int ascending(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* Sorts them. */
static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static smma_timing time_rounds(product *p) {
  const smma_timing_setup *s = p->setup;
  size_t count = (size_t)s->repetitions;
  double products = (double)s->m * (double)s->n * (double)s->k, *rates = calloc(3 * count, sizeof *rates);
  double *baseline = rates + count, *ratios = baseline + count;
  smma_timing timing = {0};
  if (!rates) smma_die("no memory for %d repetitions", s->repetitions);
  for (size_t r = 0; r < count; r++) {
    rates[r] = products / multiply(p);
    p->rows_before += s->m;
    if (!s->blas) continue;
    baseline[r] = products / multiply_with_blas(p);
    ratios[r] = rates[r] / baseline[r];
  }
  timing.rate = median(rates, s->repetitions);
  timing.baseline_rate = median(baseline, s->repetitions);
  timing.ratio = median(ratios, s->repetitions);
  free(rates);
  return timing;
}

smma_timing smma_time_product(const smma_instruction *instruction, const smma_timing_setup *setup) {
  product p = {.instruction = instruction, .setup = setup};
  smma_timing timing;
  make_operands(&p);
  p.arguments.progress = stop_after_a_second;
  smma_progress_start(&p.progress, "products", (double)setup->n * (double)setup->k);
  multiply(&p);
  if (setup->blas) multiply_with_blas(&p);
  p.arguments.progress = show_progress;
  smma_progress_start(&p.progress, "products", (double)setup->n * (double)setup->k);
  timing = time_rounds(&p);
  smma_progress_end();
  free_operands(&p);
  return timing;
}
