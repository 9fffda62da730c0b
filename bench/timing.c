#include "bench/timing.h"

#include <stdlib.h>
#include <time.h>

#include "cli/cli.h"
#include "device/device.h"
#include "host/order.h"
#include "matrix/tensor.h"
#include "softmma/device.h"

/* Least duration of one measurement. It makes the clock's resolution negligible. */
static const double least_seconds = 0.02;

/* The arguments of a call on data of one kind. The kinds are timed in turn. */
typedef struct {
  smma_tensor a, b, c, scale_a, scale_b;
  smma_gemm_arguments product;
  smma_batch rows;
  smma_multiplier *multiplier;
  size_t calls; /* in one measurement */
} subject;

typedef struct {
  const smma_instruction *instruction;
  const smma_timing_setup *setup;
  subject *subjects; /* one for each kind of data */
  smma_tensor d;
  smma_tensor blas_a, blas_b, blas_d; /* the values of the first A and B in FP32 (FP64) */
  size_t blas_calls;
  smma_cublas_product cublas, own; /* cublas: cuBLAS's product in FP32 (FP64); own: its product in the instruction's
                                      formats; `by` is NULL if cuBLAS does not compute it */
  smma_progress progress;
  size_t rows_before; /* number of vectors computed in earlier calls, for the progress line */
  bool warming;       /* this is the warm-up, in which a product is stopped after a second */
  bool failed; /* memory ran out or a product failed; `error` has the first reason, and nothing more is computed */
  smma_error error, gemm_error;
} session;

/* ---- Operands ---- */

static void fail(session *s, const char *why) {
  if (!s->failed) smma_fail(&s->error, "%s", why);
  s->failed = true;
}

static smma_tensor new_matrix(session *s, smma_format format, size_t rows, size_t columns) {
  smma_tensor t;
  smma_error error;
  if (!smma_tensor_new(format, rows, columns, &t, &error)) fail(s, error.text);
  return t;
}

static smma_tensor converted(session *s, const smma_tensor *from, smma_format to) {
  smma_tensor t = new_matrix(s, to, from->rows, from->columns);
  if (s->failed) return t;
  smma_convert(from->format, from->data, to, t.data, from->rows * from->columns, SMMA_ROUND_NEAREST_EVEN,
               SMMA_OVERFLOW_DEFAULT, NULL);
  return t;
}

static bool is_wide(const smma_instruction *i) { return i->a == SMMA_F64; }

static size_t elements(const smma_tensor *t) { return t->rows * t->columns; }

static void make_arrays(session *s, smma_data data, subject *x) {
  const smma_instruction *i = s->instruction;
  const smma_timing_setup *setup = s->setup;
  const smma_operation o = smma_operation_of(i);
  const bool rows = setup->call == SMMA_TIMING_ROWS;
  const size_t vectors_of_b = rows ? setup->m : setup->n;
  x->a = new_matrix(s, i->a, setup->m, setup->k);
  x->b = rows ? new_matrix(s, i->b, setup->m, setup->k) : new_matrix(s, i->b, setup->k, setup->n);
  if (smma_data_has_c(data)) x->c = new_matrix(s, i->c, setup->m, setup->n);
  if (i->scale_block) {
    const size_t block = (size_t)i->scale_block, blocks = setup->k / block + (setup->k % block != 0);
    x->scale_a = new_matrix(s, i->scale, setup->m, blocks);
    x->scale_b = new_matrix(s, i->scale, vectors_of_b, blocks);
  }
  if (s->failed) return;
  smma_data_fill(data, &o, setup->k,
                 &(smma_data_counts){elements(&x->a), elements(&x->b), elements(&x->c), elements(&x->scale_a),
                                     elements(&x->scale_b)},
                 &(smma_data_arrays){x->a.data, x->b.data, x->c.data, x->scale_a.data, x->scale_b.data});
}

static bool watch(size_t done, size_t rows, void *context) {
  session *s = context;
  /* On a device two times are measured: whole calls, and the device's kernels alone. */
  const size_t sides = s->setup->device ? 2 : 1;
  const size_t measurements = (size_t)s->setup->repetitions * s->setup->data_count * sides;
  if (s->warming) return smma_seconds() - s->progress.started > 1;
  smma_progress_show(&s->progress, s->rows_before + done, rows * measurements);
  return 0;
}

static void check(session *s, smma_status status) {
  if (status != SMMA_OK && status != SMMA_STOPPED)
    fail(s, *s->gemm_error.text ? s->gemm_error.text : smma_status_text(status));
}

static void make_subject(session *s, smma_data data, subject *x) {
  const smma_timing_setup *setup = s->setup;
  smma_gemm_arguments *g = &x->product;
  make_arrays(s, data, x);
  if (s->failed) return;
  smma_gemm_defaults(g, sizeof *g);
  g->m = setup->m, g->n = setup->n, g->k = setup->k;
  g->a = x->a.data, g->b = x->b.data, g->c = x->c.data, g->d = s->d.data;
  g->scale_a = x->scale_a.data, g->scale_b = x->scale_b.data;
  g->threads = setup->threads, g->kernel = setup->kernel;
  g->error = &s->gemm_error;
  g->progress = watch, g->progress_context = s;
  x->rows = (smma_batch){sizeof x->rows, setup->m, g->a, g->b, g->c, g->scale_a, g->scale_b, g->d};
  if (setup->call == SMMA_TIMING_MULTIPLIER) check(s, smma_multiplier_create(s->instruction, g, &x->multiplier));
}

static void free_subject(subject *x) {
  for (smma_tensor *t[] = {&x->a, &x->b, &x->c, &x->scale_a, &x->scale_b}, **each = t; each < t + 5; each++)
    smma_tensor_free(*each);
  smma_multiplier_free(x->multiplier);
}

static void make_baseline(session *s) {
  const smma_format wide = is_wide(s->instruction) ? SMMA_F64 : SMMA_F32;
  s->blas_a = converted(s, &s->subjects[0].a, wide), s->blas_b = converted(s, &s->subjects[0].b, wide);
  s->blas_d = new_matrix(s, wide, s->setup->m, s->setup->n);
}

/* Prepares cuBLAS's product of A and B on the device. If cuBLAS cannot compute it, a note says so. */
static void make_on_device(session *s, const smma_tensor *a, const smma_tensor *b, smma_cublas_product *p) {
  smma_error error;
  if (!smma_cublas_prepare(s->setup->cublas, a, b, p, &error))
    smma_note("nothing to compare %s by %s with: %s", smma_format_name(a->format), smma_format_name(b->format),
              error.text);
}

/* Prepares cuBLAS's products: the baseline, and that in the instruction's formats unless it is the baseline. Skips the
   latter for instructions with scale factors. */
static void make_cublas(session *s) {
  const subject *x = &s->subjects[0];
  make_baseline(s);
  if (s->failed) return;
  make_on_device(s, &s->blas_a, &s->blas_b, &s->cublas);
  if (x->a.format != s->blas_a.format && !s->instruction->scale_block && smma_cublas_takes(x->a.format, x->b.format))
    make_on_device(s, &x->a, &x->b, &s->own);
}

/* ---- Time ---- */

/* Waits until the threads of the previous measurement sleep. They spin for some 30 ms, on cores that the next
   measurement uses. */
static void settle(const session *s) {
  struct timespec pause = {.tv_nsec = 60000000};
  if (s->setup->threads > 1) nanosleep(&pause, NULL);
}

/* Returns the time of the clock: this thread's CPU time if only this thread computes, otherwise wall time. */
static double now(const session *s) {
  struct timespec t;
  const bool alone = s->setup->threads == 1 && !smma_is_device_name(s->setup->kernel);
  clock_gettime(alone ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static smma_status call(const session *s, const subject *x) {
  const smma_gemm_arguments *g = &x->product;
  switch (s->setup->call) {
    case SMMA_TIMING_MULTIPLIER: return smma_multiplier_run(x->multiplier, g->m, g->a, g->scale_a, g->c, g->d);
    case SMMA_TIMING_ROWS:
      return g->kernel ? smma_dot_rows_on(g->kernel, s->instruction, &x->rows, NULL)
                       : smma_dot_rows(s->instruction, &x->rows, g->threads);
    default: return smma_gemm(s->instruction, g);
  }
}

/* Measures the seconds of one call. */
static double measure(session *s, const subject *x) {
  double started;
  settle(s);
  started = now(s);
  for (size_t i = 0; i < x->calls && !s->failed; i++) check(s, call(s, x));
  s->rows_before += s->setup->m;
  return (now(s) - started) / (double)x->calls;
}

/* Measures the seconds that the device's kernels take in one call. */
static double measure_kernels(session *s, const subject *x) {
  double seconds = 0;
  smma_device_time(s->setup->device, &seconds);
  check(s, call(s, x));
  smma_device_time(s->setup->device, NULL);
  s->rows_before += s->setup->m;
  return seconds;
}

static double measure_cublas(session *s, const smma_cublas_product *p) {
  double seconds = 0;
  smma_error error;
  if (p->by && !smma_cublas_run(p, &seconds, &error)) fail(s, error.text);
  return seconds;
}

static double measure_baseline(session *s) {
  const smma_timing_setup *setup = s->setup;
  double started;
  if (setup->cublas) return measure_cublas(s, &s->cublas);
  settle(s);
  started = now(s);
  for (size_t i = 0; i < s->blas_calls; i++)
    smma_blas_multiply(setup->blas, is_wide(s->instruction), setup->m, setup->n, setup->k, s->blas_a.data,
                       s->blas_b.data, s->blas_d.data);
  return (now(s) - started) / (double)s->blas_calls;
}

/* Returns how many calls a measurement needs if one call takes `seconds`. */
static size_t calls_of(double seconds) {
  return seconds > least_seconds / 1e6 ? (size_t)(least_seconds / seconds) + 1 : 1000000;
}

/* Runs each call before it is measured. The first run loads code and memory. If it is short, a second run determines
   how many calls a measurement needs. */
static void warm_up(session *s) {
  s->warming = true;
  for (size_t i = 0; i < s->setup->data_count && !s->failed; i++) {
    subject *x = &s->subjects[i];
    double seconds;
    x->calls = 1;
    smma_progress_start(&s->progress, NULL, 0);
    seconds = measure(s, x);
    if (seconds < least_seconds) x->calls = calls_of(measure(s, x));
  }
  s->warming = false;
  if (!s->setup->blas || s->failed) return;
  s->blas_calls = 1;
  if (measure_baseline(s) < least_seconds) s->blas_calls = calls_of(measure_baseline(s));
}

/* Returns the median of the values, and sorts them. */
static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, smma_order_f64);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Seconds of all rounds: for each array, all rounds of the first kind of data, then all rounds of the second, and so
   on. */
typedef struct {
  double *data, *kernels; /* data: whole calls, for each kind of data; kernels: the device's kernels in these calls */
  double *baseline, *own; /* baseline: OpenBLAS or cuBLAS in FP32 (FP64); own: cuBLAS in the instruction's formats */
  double *ratios;         /* working memory for the ratios of one pair of times */
} rounds;

/* Returns the median, over the rounds, of y / x. */
static double median_ratio(const rounds *r, const double *y, const double *x, int count) {
  for (int j = 0; j < count; j++) r->ratios[j] = y[j] / x[j];
  return median(r->ratios, count);
}

static void summarise(const session *s, const rounds *r, smma_timing *timings) {
  const smma_timing_setup *setup = s->setup;
  const int count = setup->repetitions;
  /* The first kind of data is summarised last, because the median sorts its times, and ratios of the other kinds need
     them in the order of rounds. */
  for (size_t i = setup->data_count; i-- > 0;) {
    double *seconds = r->data + i * (size_t)count, *kernels = r->kernels + i * (size_t)count;
    const double *compared = setup->cublas ? kernels : seconds;
    timings[i] = (smma_timing){.slowdown = median_ratio(r, seconds, r->data, count),
                               .ratio = median_ratio(r, r->baseline, compared, count),
                               .own_ratio = median_ratio(r, r->own, compared, count)};
    timings[i].seconds = median(seconds, count);
    timings[i].kernel_seconds = median(kernels, count);
  }
  timings[0].baseline_seconds = median(r->baseline, count);
  timings[0].own_seconds = median(r->own, count);
}

static void time_rounds(session *s, smma_timing *timings) {
  const smma_timing_setup *setup = s->setup;
  const size_t count = (size_t)setup->repetitions;
  rounds r = {.data = calloc((2 * setup->data_count + 3) * count, sizeof *r.data)};
  if (!r.data) {
    s->failed = !smma_fail(&s->error, "no memory for %d repetitions", setup->repetitions);
    return;
  }
  r.kernels = r.data + setup->data_count * count, r.baseline = r.kernels + setup->data_count * count;
  r.own = r.baseline + count, r.ratios = r.own + count;
  for (size_t round = 0; round < count && !s->failed; round++) {
    for (size_t i = 0; i < setup->data_count; i++) {
      r.data[i * count + round] = measure(s, &s->subjects[i]);
      if (setup->device) r.kernels[i * count + round] = measure_kernels(s, &s->subjects[i]);
    }
    if (setup->blas || setup->cublas) r.baseline[round] = measure_baseline(s);
    r.own[round] = measure_cublas(s, &s->own);
  }
  if (!s->failed) summarise(s, &r, timings);
  free(r.data);
}

bool smma_time(const smma_instruction *instruction, const smma_timing_setup *setup, smma_timing *timings,
               smma_error *error) {
  session s = {.instruction = instruction, .setup = setup};
  s.subjects = calloc(setup->data_count, sizeof *s.subjects);
  if (!s.subjects) return smma_fail(error, "no memory for %zu kinds of data", setup->data_count);
  s.d = new_matrix(&s, instruction->d, setup->m, setup->n);
  for (size_t i = 0; i < setup->data_count && !s.failed; i++) make_subject(&s, setup->data[i], &s.subjects[i]);
  if (setup->blas && !s.failed) make_baseline(&s);
  if (setup->cublas && !s.failed) make_cublas(&s);
  if (!s.failed) warm_up(&s);
  s.rows_before = 0;
  smma_progress_start(&s.progress, "products", (double)setup->n * (double)setup->k);
  if (!s.failed) time_rounds(&s, timings);
  smma_progress_end();
  smma_cublas_release(&s.cublas);
  smma_cublas_release(&s.own);
  for (size_t i = 0; i < setup->data_count; i++) free_subject(&s.subjects[i]);
  for (smma_tensor *t[] = {&s.d, &s.blas_a, &s.blas_b, &s.blas_d}, **x = t; x < t + 4; x++) smma_tensor_free(*x);
  free(s.subjects);
  return !s.failed || smma_fail(error, "%s", s.error.text);
}
