/* Measures the distribution of the errors of CDNA 3's products, which are rounded down.

   Source: P. Xie et al., "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores", section VI-C and
   figure 2. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment.h"
#include "experiment/plot.h"
#include "experiment/random.h"
#include "host/load.h"
#include "isa/catalogue.h"
#include "isa/custom.h"
#include "numerics/exact.h"
#include "softmma/softmma.h"

/* The addition of c: inside the unit, or outside. Outside, c is added to the unit's result for c = 0, RNE in FP32. */
typedef enum { C_INSIDE, C_OUTSIDE } place_of_c;

typedef struct {
  const char *name;              /* name of the case */
  const char *gpu, *instruction; /* if `gpu` is NULL, `instruction` is the text of a custom unit */
  place_of_c place;
} trial;

/* CDNA 3's rule with every rounding down replaced by rounding toward zero. This is G-FDPA as long as the exponent of c
   is not greater than the greatest exponent of a product. Then products and c are truncated at the same bit, and 31
   bits hold every sum. */
#define TOWARD_ZERO(format, products)                                                                                 \
  "{\"softmma-unit\": 1, \"name\": \"toward-zero\", \"algorithm\": \"G-FDPA\", \"k\": " products ", \"a\": \"" format \
  "\", \"b\": \"" format "\", \"d\": \"f32\", \"alignment_bits\": 24}"

static const trial trials[] = {{"f16 down", "MI300X", "v_mfma_f32_32x32x8_f16", C_INSIDE},
                               {"f16 toward zero", NULL, TOWARD_ZERO("f16", "8"), C_INSIDE},
                               {"f16 down c outside", "MI300X", "v_mfma_f32_32x32x8_f16", C_OUTSIDE},
                               {"f16 down revision 1", "cdna3-r1", "v_mfma_f32_32x32x8_f16", C_INSIDE},
                               {"bf16 down", "MI300X", "v_mfma_f32_32x32x8_bf16", C_INSIDE},
                               {"bf16 toward zero", NULL, TOWARD_ZERO("bf16", "8"), C_INSIDE},
                               {"xf32 down", "MI300X", "v_mfma_f32_32x32x4_xf32", C_INSIDE},
                               {"xf32 toward zero", NULL, TOWARD_ZERO("tf32", "4"), C_INSIDE},
                               {"bf8 down patched", "MI300X", "v_mfma_f32_32x32x16_bf8_bf8", C_INSIDE},
                               {"bf8 down c outside", "MI300X", "v_mfma_f32_32x32x16_bf8_bf8", C_OUTSIDE},
                               {"f16 H100", "H100", "wgmma.m64n8k16.f32.f16.f16", C_INSIDE},
                               {"f16 RDNA 3", "RX 7900 XTX", "v_wmma_f32_16x16x16_f16", C_INSIDE},
                               {"bf16 RDNA 3", "RX 7900 XTX", "v_wmma_f32_16x16x16_bf16", C_INSIDE},
                               {"f16 RDNA 4", "RX 9070 XT", "v_wmma_f32_16x16x16_f16", C_INSIDE},
                               {"bf16 RDNA 4", "RX 9070 XT", "v_wmma_f32_16x16x16_bf16", C_INSIDE}};
enum { TRIALS = sizeof trials / sizeof *trials };

/* Number of bins. A row of the table holds the lower end of its bin; the middle bin is around zero. Deltas beyond
   the outer bins are counted in the outer bins. */
enum { BINS = 97 };
static const double bin_width = 1.0 / 64;

typedef struct {
  size_t samples, scale;
} setup;

/* ---- One row ---- */

typedef struct {
  const smma_instruction *instruction;
  smma_format a, b;
  place_of_c place;
} unit;

/* Rounds a value to a format, stores it in an array, and returns the rounded value. */
static double put(smma_format format, unsigned char *array, int index, double value) {
  const uint64_t x = smma_format_encode(format, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
  smma_store(smma_format_bytes(format), array, (size_t)index, x);
  return smma_format_decode(format, x);
}

/* Returns d of a test vector rounded to the unit's formats, and its exact sum. */
static double result_of(const unit *u, const double *a, const double *b, double c, smma_double_double *exact) {
  unsigned char a_row[4 * SMMA_MAXIMUM_ROUNDED_K], b_row[4 * SMMA_MAXIMUM_ROUNDED_K], c_element[4], d_element[4];
  double d;
  c = put(SMMA_F32, c_element, 0, c);
  *exact = (smma_double_double){c, 0};
  for (int k = 0; k < u->instruction->k; k++)
    *exact = smma_add_product(*exact, put(u->a, a_row, k, a[k]), put(u->b, b_row, k, b[k]));
  if (u->place == C_OUTSIDE) put(SMMA_F32, c_element, 0, 0);
  smma_dot(u->instruction, a_row, b_row, c_element, NULL, NULL, d_element);
  d = smma_format_decode(SMMA_F32, smma_load(sizeof d_element, d_element, 0));
  /* FP64 has more than 2 * 24 + 2 bits, so the first rounding of the sum to FP64 has no effect. */
  return u->place == C_INSIDE ? d : put(SMMA_F32, c_element, 0, d + c);
}

enum { STREAM_A, STREAM_B, STREAM_C };

/* Returns the delta of sample `index`, which is the unit's result minus the exact sum. A sample has the same operands
   for every unit. */
static double delta_of(const smma_experiment_run *run, const unit *u, size_t index) {
  const setup *s = run->context;
  double a[SMMA_MAXIMUM_ROUNDED_K], b[SMMA_MAXIMUM_ROUNDED_K], d;
  smma_double_double exact;
  for (int k = 0; k < u->instruction->k; k++) {
    const uint64_t element = (uint64_t)index * SMMA_MAXIMUM_ROUNDED_K + (uint64_t)k;
    a[k] = (double)s->scale * smma_random_normal(run->seed, STREAM_A, element);
    b[k] = (double)s->scale * smma_random_normal(run->seed, STREAM_B, element);
  }
  d = result_of(u, a, b, smma_random_normal(run->seed, STREAM_C, index), &exact);
  return smma_difference_from(d, exact);
}

/* Returns the mean delta of the samples with a negative c, or of the other samples. */
static double mean_where(const smma_experiment_run *run, const double *delta, bool negative) {
  const setup *s = run->context;
  double sum = 0, count = 0;
  for (size_t i = 0; i < s->samples; i++) {
    if ((smma_random_normal(run->seed, STREAM_C, i) < 0) != negative) continue;
    sum += delta[i];
    count++;
  }
  return count > 0 ? sum / count : 0;
}

/* Returns the unit's result for the paper's example: 2048 * 2048 - 2048 * 2048 - 0.000001. */
static double example_of(const unit *u) {
  const double a[SMMA_MAXIMUM_ROUNDED_K] = {2048, 2048}, b[SMMA_MAXIMUM_ROUNDED_K] = {2048, -2048};
  smma_double_double exact;
  return result_of(u, a, b, -0.000001, &exact);
}

/* ---- Distribution of the deltas ---- */

typedef struct {
  double mean, deviation, skewness, negative; /* skewness: 0 if all deltas are equal */
  double bins[BINS];                          /* shares of the samples */
} distribution;

static int bin_of(double delta) {
  const double bin = floor(delta / bin_width + BINS / 2.0);
  return bin < 0 ? 0 : bin >= BINS ? BINS - 1 : (int)bin;
}

static distribution describe(const double *delta, size_t count) {
  const double n = (double)count;
  distribution r = {0};
  double second = 0, third = 0;
  for (size_t i = 0; i < count; i++) {
    r.mean += delta[i] / n;
    r.negative += delta[i] < 0;
    r.bins[bin_of(delta[i])]++;
  }
  for (size_t i = 0; i < count; i++) {
    const double x = delta[i] - r.mean;
    second += x * x / n;
    third += x * x * x / n;
  }
  r.negative /= n;
  for (int bin = 0; bin < BINS; bin++) r.bins[bin] /= n;
  r.deviation = sqrt(second);
  r.skewness = second > 0 ? third / (second * r.deviation) : 0;
  return r;
}

/* ---- The experiment ---- */

static bool prepare(smma_experiment_run *run, size_t *cells, smma_error *error) {
  setup *s = run->context;
  *cells = TRIALS;
  return smma_parameter_count(run, "samples", 2, 10000000, &s->samples, error) &&
         smma_parameter_count(run, "scale", 1, 1000000, &s->scale, error);
}

static bool open_unit(const trial *t, unit *u, smma_error *error) {
  smma_instruction_info info;
  u->instruction = t->gpu ? smma_find(t->gpu, t->instruction, error)
                          : smma_custom_read("bias", t->instruction, strlen(t->instruction), error);
  if (!u->instruction) return false;
  smma_describe(u->instruction, &info, sizeof info);
  u->a = info.a, u->b = info.b, u->place = t->place;
  return true;
}

static void add_row(smma_experiment_run *run, const trial *t, const char *quantity, double delta, double value) {
  smma_row_text(run, t->name);
  smma_row_text(run, quantity);
  smma_row_number(run, delta);
  smma_row_number(run, value);
}

static void add_rows(smma_experiment_run *run, const trial *t, const double *delta) {
  const setup *s = run->context;
  const distribution x = describe(delta, s->samples);
  add_row(run, t, "mean", 0, x.mean);
  add_row(run, t, "mean where c < 0", 0, mean_where(run, delta, true));
  add_row(run, t, "mean where c >= 0", 0, mean_where(run, delta, false));
  add_row(run, t, "standard error", 0, x.deviation / sqrt((double)s->samples));
  add_row(run, t, "standard deviation", 0, x.deviation);
  add_row(run, t, "skewness", 0, x.skewness);
  add_row(run, t, "negative", 0, x.negative);
  for (int bin = 0; bin < BINS; bin++) add_row(run, t, "share", (bin - BINS / 2.0) * bin_width, x.bins[bin]);
}

static bool compute(smma_experiment_run *run, size_t cell, smma_error *error) {
  const setup *s = run->context;
  double *delta = malloc(s->samples * sizeof *delta);
  unit u;
  if (!delta) return smma_fail(error, "bias: out of memory");
  if (!open_unit(&trials[cell], &u, error)) {
    free(delta);
    return false;
  }
  for (size_t i = 0; i < s->samples; i++) delta[i] = delta_of(run, &u, i);
  add_row(run, &trials[cell], "example", 0, example_of(&u));
  add_rows(run, &trials[cell], delta);
  free(delta);
  smma_custom_release(u.instruction);
  return true;
}

static double quantity_of(const smma_experiment_run *run, const char *name, const char *quantity) {
  const char *const where[] = {"case", name, "quantity", quantity, NULL};
  return smma_table_find(run, where, "value");
}

static void summarise(const smma_experiment_run *run, FILE *out) {
  fprintf(out,
          "delta = D - the exact sum, A and B of %s N(0;1), C of N(0;1), %s samples.\n"
          "Example: 2048 * 2048 - 2048 * 2048 - 0.000001.\n\n",
          smma_parameter_text(run, "scale"), smma_parameter_text(run, "samples"));
  fprintf(out, "%-21s%9s%9s%9s%9s%9s%9s%9s%9s\n", "case", "mean", "error", "c < 0", "c >= 0", "std.dev.", "skewness",
          "negative", "example");
  for (int t = 0; t < TRIALS; t++) {
    const char *name = trials[t].name;
    fprintf(out, "%-21s%9.1e%9.1e%9.1e%9.1e%9.3f%9.3f%8.1f%%%9.2g\n", name, quantity_of(run, name, "mean"),
            quantity_of(run, name, "standard error"), quantity_of(run, name, "mean where c < 0"),
            quantity_of(run, name, "mean where c >= 0"), quantity_of(run, name, "standard deviation"),
            quantity_of(run, name, "skewness"), 100 * quantity_of(run, name, "negative"),
            quantity_of(run, name, "example"));
  }
}

/* Plots two cases in one panel. */
static void plot_pair(const smma_experiment_run *run, FILE *script, int panel, const char *first, const char *second) {
  static const char *const columns[] = {"delta", "value", NULL};
  const char *const names[] = {first, second};
  for (int i = 0; i < 2; i++) {
    const char *const where[] = {"case", names[i], "quantity", "share", NULL};
    char block[32];
    snprintf(block, sizeof block, "$case%d", 2 * panel + i);
    smma_plot_block(run, script, block, where, columns);
  }
  fprintf(script, "plot $case%d with fillsteps fillstyle solid 0.25 noborder linetype 1 notitle, ", 2 * panel);
  fprintf(script, "$case%d with steps linetype 1 title '%s', ", 2 * panel, first);
  fprintf(script, "$case%d with steps linetype 2 linewidth 2 title '%s'\n", 2 * panel + 1, second);
}

static void plot(const smma_experiment_run *run, FILE *script) {
  fprintf(script,
          "set format '%%g'\nset xrange [-0.5:0.5]\nset xtics 0.25\nset mxtics 2\nset yrange [0:0.18]\n"
          "set xlabel 'delta = D - exact'\nset key outside above center horizontal reverse Left samplen 2\n"
          "set multiplot layout 2,2\nset ylabel 'share of samples, bins of 1/%g'\n",
          1 / bin_width);
  plot_pair(run, script, 0, "f16 down", "f16 toward zero");
  plot_pair(run, script, 1, "f16 down", "f16 down c outside");
  plot_pair(run, script, 2, "bf16 down", "bf16 toward zero");
  plot_pair(run, script, 3, "bf8 down patched", "bf8 down c outside");
  fputs("unset multiplot\n", script);
}

static const smma_experiment_parameter parameters[] = {
    {"samples", "1000000", "2000", "rows of A and B with an element of C"},
    {"scale", "1000", "1000", "standard deviation of A and B"},
    {NULL, NULL, NULL, NULL}};
static const char *const columns[] = {"case", "quantity", "delta", "value", NULL};

const smma_experiment smma_experiment_bias = {
    .name = "bias",
    .title = "errors of CDNA 3, which rounds down, against rounding toward zero",
    .source =
        "P. Xie et al., MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores, 2025, "
        "section VI-C, figure 2",
    .parameters = parameters,
    .columns = columns,
    .width = 900,
    .height = 700,
    .context_bytes = sizeof(setup),
    .prepare = prepare,
    .compute = compute,
    .summarise = summarise,
    .plot = plot,
};
