/* Measures how the error of a dot product grows with its length, for accumulators of different width. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment.h"
#include "experiment/plot.h"
#include "experiment/random.h"
#include "numerics/exact.h"
#include "softmma/softmma.h"

/* ---- Units and operands ---- */

/* The entries of A and B. Their products are exact, so that only sums cause errors. FP32 gets the entries of the
   FP16 units. */
typedef enum { E4M3_ENTRIES, F16_ENTRIES, PRECISIONS } precision;

static const smma_format entry_format[PRECISIONS] = {SMMA_E4M3, SMMA_F16};

typedef struct {
  const char *title, *gpu, *instruction;
  precision entries;
  bool promoted;
} accumulator;

static const accumulator accumulators[] = {
    {"13 bits (H100 FP8)", "hopper", "wgmma.m64n8k32.f32.e4m3.e4m3", E4M3_ENTRIES, false},
    {"13 bits and FP32 (H100 FP8)", "hopper", "wgmma.m64n8k32.f32.e4m3.e4m3", E4M3_ENTRIES, true},
    {"23 bits (V100 FP16)", "volta", "mma.m8n8k4.f32.f16.f16.f32", F16_ENTRIES, false},
    {"24 bits (A100 FP16)", "ampere", "mma.m16n8k16.f32.f16.f16.f32", F16_ENTRIES, false},
    {"25 bits (H100 FP16)", "hopper", "wgmma.m64n8k16.f32.f16.f16", F16_ENTRIES, false},
    {"25 bits and FP32 (H100 FP16)", "hopper", "wgmma.m64n8k16.f32.f16.f16", F16_ENTRIES, true},
    {"FP32 FMA (MI300X FP32)", "cdna3", "v_mfma_f32_16x16x4_f32", F16_ENTRIES, false},
    {"complements (RX 7900 XTX FP16)", "rdna3", "v_wmma_f32_16x16x16_f16", F16_ENTRIES, false},
    {"24 bits down (RX 9070 XT FP16)", "rdna4", "v_wmma_f32_16x16x16_f16", F16_ENTRIES, false},
};

enum { ACCUMULATORS = sizeof accumulators / sizeof accumulators[0], LONGEST = 1 << 24, MOST_SIDE = 64 };

static const char *const entries[] = {"uniform", "normal"};

enum { DISTRIBUTIONS = sizeof entries / sizeof entries[0] };

typedef struct {
  size_t least, side, promote;
} settings;

static bool prepare(smma_experiment_run *run, size_t *cells, smma_error *error) {
  settings *s = run->context;
  size_t greatest, lengths = 1;
  if (!smma_parameter_count(run, "least-k", 1, LONGEST, &s->least, error) ||
      !smma_parameter_count(run, "greatest-k", s->least, LONGEST, &greatest, error) ||
      !smma_parameter_count(run, "side", 1, MOST_SIDE, &s->side, error) ||
      !smma_parameter_count(run, "promote-every", 32, LONGEST, &s->promote, error) ||
      (s->promote % 32 && !smma_parameter_fail(run, "promote-every", "a multiple of 32", error)))
    return false;
  for (size_t k = s->least; k <= greatest / 2; k *= 2) lengths++;
  *cells = lengths * DISTRIBUTIONS;
  return true;
}

/* Returns the format's nearest number to a random one, normal or uniform in [0, 1). */
static double random_entry(const smma_experiment_run *run, smma_format format, bool normal, uint32_t stream, size_t i) {
  double x = (normal ? smma_random_normal : smma_random_uniform)(run->seed, stream, i);
  return smma_format_decode(format, smma_format_encode(format, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE));
}

/* The products of a cell: `side` rows of A and columns of B, each of k numbers, and a result for each pair. */
typedef struct {
  size_t k, side;
  double *a, *b;
  smma_double_double *exact;
  double *magnitude; /* sum of |a b| */
  uint32_t *words;   /* room for A and B in a format of up to 32 bits, and D in FP32 */
  double *errors;
} products;

static void free_products(products *p) {
  free(p->a);
  free(p->exact);
  free(p->words);
}

static bool make_products(const smma_experiment_run *run, size_t cell, precision entry, products *p) {
  const settings *s = run->context;
  size_t count, pairs = s->side * s->side;
  *p = (products){.k = s->least << cell / DISTRIBUTIONS, .side = s->side};
  count = p->k * p->side;
  p->a = malloc(2 * count * sizeof *p->a);
  p->exact = malloc(pairs * (sizeof *p->exact + 2 * sizeof(double)));
  p->words = malloc((2 * count + pairs) * sizeof *p->words);
  if (!p->a || !p->exact || !p->words) return false;
  p->b = p->a + count;
  p->magnitude = (double *)(p->exact + pairs);
  p->errors = p->magnitude + pairs;
  for (size_t i = 0; i < 2 * count; i++)
    p->a[i] = random_entry(run, entry_format[entry], cell % DISTRIBUTIONS == 1, (uint32_t)cell, i);
  for (size_t i = 0; i < pairs; i++) {
    const double *a = p->a + i / p->side * p->k, *b = p->b + i % p->side * p->k;
    p->exact[i] = smma_exact_dot(a, b, p->k);
    p->magnitude[i] = 0;
    for (size_t k = 0; k < p->k; k++) p->magnitude[i] += fabs(a[k] * b[k]);
  }
  return true;
}

/* ---- Cells ---- */

/* Computes the error of every pair: d - exact, negative if d is nearer to zero, divided by the sum of |a b|. */
static bool find_errors(const products *p, const accumulator *a, size_t promote, smma_error *error) {
  const smma_instruction *instruction = smma_find(a->gpu, a->instruction, NULL);
  size_t count = p->k * p->side;
  smma_gemm_arguments g;
  smma_instruction_info info;
  smma_status status;
  float *d = (float *)(p->words + 2 * count);
  smma_describe(instruction, &info, sizeof info);
  smma_convert(SMMA_F64, p->a, info.a, p->words, 2 * count, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT, NULL);
  smma_gemm_defaults(&g, sizeof g);
  g.m = g.n = p->side, g.k = p->k;
  g.a = p->words, g.b = (const char *)p->words + count * smma_format_bytes(info.a);
  g.d = d;
  g.order_b = SMMA_COLUMN_MAJOR;
  g.promote_every = a->promoted ? promote : 0;
  g.threads = 1;
  status = smma_gemm(instruction, &g);
  if (status != SMMA_OK) return smma_fail(error, "%s", smma_status_text(status));
  for (size_t i = 0; i < p->side * p->side; i++) {
    const double difference = copysign(1, p->exact[i].high) * smma_difference_from(d[i], p->exact[i]);
    p->errors[i] = p->magnitude[i] == 0 ? 0 : difference / p->magnitude[i]; /* 0: all products are zero, and so is d */
  }
  return true;
}

static int by_magnitude(const void *x, const void *y) {
  double a = fabs(*(const double *)x), b = fabs(*(const double *)y);
  return (a > b) - (a < b);
}

static void add_row(smma_experiment_run *run, size_t cell, const products *p, const accumulator *a) {
  size_t pairs = p->side * p->side;
  double sum = 0;
  qsort(p->errors, pairs, sizeof *p->errors, by_magnitude);
  for (size_t i = 0; i < pairs; i++) sum += p->errors[i];
  smma_row_text(run, entries[cell % DISTRIBUTIONS]);
  smma_row_count(run, p->k);
  smma_row_text(run, a->title);
  smma_row_number(run, fabs(p->errors[pairs / 2]));
  smma_row_number(run, fabs(p->errors[pairs - 1]));
  smma_row_number(run, sum / (double)pairs);
}

static bool compute_with(smma_experiment_run *run, size_t cell, precision entry, smma_error *error) {
  const settings *s = run->context;
  products p;
  bool computed = make_products(run, cell, entry, &p) || smma_no_memory(error);
  for (size_t i = 0; computed && i < ACCUMULATORS; i++) {
    if (accumulators[i].entries != entry) continue;
    computed = find_errors(&p, &accumulators[i], s->promote, error);
    if (computed) add_row(run, cell, &p, &accumulators[i]);
  }
  free_products(&p);
  return computed;
}

static bool compute(smma_experiment_run *run, size_t cell, smma_error *error) {
  return compute_with(run, cell, E4M3_ENTRIES, error) && compute_with(run, cell, F16_ENTRIES, error);
}

/* ---- Words and pictures ---- */

static void summarise(const smma_experiment_run *run, FILE *out) {
  size_t last = smma_table_rows(run) - 1;
  const char *k = smma_table_text(run, last, "k");
  fprintf(out, "Error over sum |a b| at K = %s: median, greatest, and mean (negative: toward zero).\n\n", k);
  fprintf(out, "%-32s %-28s %s\n", "", "uniform in [0, 1)", "normal");
  for (size_t i = 0; i < ACCUMULATORS; i++) {
    fprintf(out, "%-32s", accumulators[i].title);
    for (size_t e = 0; e < DISTRIBUTIONS; e++) {
      const char *const where[] = {"entries", entries[e], "k", k, "accumulator", accumulators[i].title, NULL};
      fprintf(out, " %8.1e %8.1e %9.1e", smma_table_find(run, where, "median_error"),
              smma_table_find(run, where, "greatest_error"), smma_table_find(run, where, "mean_error"));
    }
    fputc('\n', out);
  }
}

/* Plots one panel, with the curve of every accumulator. */
static void plot_panel(const smma_experiment_run *run, FILE *script, const char *distribution, const char *column) {
  const char *const columns[] = {"k", column, NULL};
  for (size_t i = 0; i < ACCUMULATORS; i++) {
    const char *const where[] = {"entries", distribution, "accumulator", accumulators[i].title, NULL};
    char block[32];
    snprintf(block, sizeof block, "$data%zu", i);
    smma_plot_block(run, script, block, where, columns);
  }
  fputs("plot ", script);
  for (size_t i = 0; i < ACCUMULATORS; i++) fprintf(script, "$data%zu with linespoints linetype %zu, ", i, i + 1);
  fputc('\n', script);
}

static void plot(const smma_experiment_run *run, FILE *script) {
  static const char *const titles[] = {"entries uniform in [0, 1): all terms positive",
                                       "entries N(0, 1): random signs"};
  const char *legend[ACCUMULATORS];
  for (size_t i = 0; i < ACCUMULATORS; i++) legend[i] = accumulators[i].title;
  fputs(
      "set logscale x 2\nset logscale y 10\nset format x '2^{%L}'\nset yrange [1e-10:1]\nset key off\n"
      "set multiplot layout 2,2 margins 0.12,0.98,0.23,0.94 spacing 0.09,0.07\n",
      script);
  for (size_t row = 0; row < 2; row++) {
    for (size_t e = 0; e < DISTRIBUTIONS; e++) {
      if (row == 0) fprintf(script, "set title '%s'\n", titles[e]);
      fprintf(script, "set ylabel '%s'\nset xlabel '%s'\n",
              e     ? ""
              : row ? "greatest |error| / Σ|a_k b_k|"
                    : "median |error| / Σ|a_k b_k|",
              row ? "length of the dot product, K" : "");
      plot_panel(run, script, entries[e], row ? "greatest_error" : "median_error");
    }
    fputs("unset title\n", script);
  }
  smma_plot_legend(script, legend, ACCUMULATORS, 2, 0.15);
}

static const smma_experiment_parameter parameters[] = {
    {"least-k", "16", "16", "the shortest dot product; the others are twice as long, and so on"},
    {"greatest-k", "1048576", "1024", "none is longer"},
    {"side", "5", "3", "rows of A and columns of B: side^2 dot products of each kind and length"},
    {"promote-every", "128", "128", "K after which partial sums move to FP32 in two-level accumulation"},
    {NULL, NULL, NULL, NULL}};

static const char *const columns[] = {"entries",        "k",          "accumulator", "median_error",
                                      "greatest_error", "mean_error", NULL};

const smma_experiment smma_experiment_accumulation = {
    .name = "accumulation",
    .title = "error over K: sums of 13 to 25 fraction bits, FP32, two-level accumulation, RDNA",
    .source =
        "widths: P. Xie et al., MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores, 2025; "
        "F. A. Khattak, M. Mikaitis, Accurate Models of NVIDIA Tensor Cores, 2025; "
        "two-level accumulation: DeepSeek-AI, DeepSeek-V3 Technical Report, 2024",
    .parameters = parameters,
    .columns = columns,
    .width = 1000,
    .height = 760,
    .context_bytes = sizeof(settings),
    .prepare = prepare,
    .compute = compute,
    .summarise = summarise,
    .plot = plot,
};
