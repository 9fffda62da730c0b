/* Measures the error of accurate products from words in narrow formats, on many units. */
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment.h"
#include "experiment/plot.h"
#include "experiment/random_product.h"
#include "isa/custom.h"
#include "numerics/words.h"
#include "softmma/accurate.h"

/* ---- Formats and units ---- */

enum { FORMATS = 3, NUMBERS_OF_WORDS = 3, MOST_LENGTHS = 100, LONGEST = 1 << 24, DECADES = 10 };

static const struct {
  const char *name, *title;
  int words[NUMBERS_OF_WORDS];
} formats[FORMATS] = {{"e5m2", "FP8 E5M2", {1, 4, 6}}, {"f16", "FP16", {1, 2, 3}}, {"bf16", "BF16", {1, 2, 3}}};

/* A unit. The models of the H100 and the B200 differ only for FP8. The source uses mma.sync, which computes FP8 as FP16
   on both GPUs; each GPU also has an FP8 instruction, which only it has. If `key` is not NULL, the unit is a custom
   unit: the instruction with `value` for this key. `line`: line type in the picture; 0: not drawn. */
typedef struct {
  const char *name, *arch, *instruction[FORMATS], *key, *value;
  int line;
} unit;

#define F16_MMA "mma.m16n8k16.f32.f16.f16.f32"
#define BF16_MMA "mma.m16n8k16.f32.bf16.bf16.f32"
#define FP8_MMA "mma.m16n8k32.f32.e5m2.e5m2.f32"
#define FP8_TCGEN05 "tcgen05.m64n8k32.f32.e5m2.e5m2"

static const unit units[] = {
    {"V100", "volta", {NULL, "mma.m8n8k4.f32.f16.f16.f32", NULL}, NULL, NULL, 1},
    {"A100", "ampere", {NULL, F16_MMA, BF16_MMA}, NULL, NULL, 2},
    {"L40S", "ada", {FP8_MMA, NULL, NULL}, NULL, NULL, 3},
    {"H100-wgmma", "hopper", {"wgmma.m64n8k32.f32.e5m2.e5m2", NULL, NULL}, NULL, NULL, 4},
    {"H100/B200", "blackwell", {FP8_MMA, F16_MMA, BF16_MMA}, NULL, NULL, 5},
    {"B200-tcgen05", "blackwell", {FP8_TCGEN05, NULL, NULL}, NULL, NULL, 10},
    {"B200-RN", "blackwell", {FP8_TCGEN05, F16_MMA, BF16_MMA}, "rounding", "\"nearest-even\"", 6},
    {"B200-23", "blackwell", {NULL, F16_MMA, NULL}, "alignment_bits", "23", 0},
    {"MI100", "cdna1", {NULL, "v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x8bf16"}, NULL, NULL, 7},
    {"MI250X", "cdna2", {NULL, "v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16bf16_1k"}, NULL, NULL, 8},
    {"MI300X",
     "cdna3",
     {"v_mfma_f32_16x16x32_bf8_bf8", "v_mfma_f32_16x16x16_f16", "v_mfma_f32_16x16x16_bf16"},
     NULL,
     NULL,
     9},
};

enum { UNITS = sizeof units / sizeof units[0] };

/* ---- Setting up ---- */

typedef struct {
  const unit *unit;
  size_t format;
  const smma_instruction *instruction;
} combination;

typedef struct {
  size_t lengths, greatest, count;
  smma_words_sum sum;
  combination combinations[UNITS * FORMATS];
} settings;

/* Returns a custom unit with an instruction's description, except that `key` has the value `value`. */
static const smma_instruction *changed(const smma_instruction *instruction, const char *key, const char *value,
                                       smma_error *error) {
  char text[2048], quoted[64], other[2048], *found, *behind;
  smma_custom_text(instruction, text, sizeof text);
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  found = strstr(text, quoted) + strlen(quoted);
  behind = found + strcspn(found, ",\n");
  snprintf(other, sizeof other, "%.*s%s%s", (int)(found - text), text, value, behind);
  return smma_custom_read("custom", other, strlen(other), error);
}

/* Reports whether a comma-separated list holds the name. */
static bool lists(const char *list, const char *name, size_t length) {
  while (list) {
    if (strncmp(list, name, length) == 0 && (list[length] == ',' || !list[length])) return true;
    list = strchr(list, ',');
    if (list) list++;
  }
  return false;
}

static bool check_units(const smma_experiment_run *run, smma_error *error) {
  const char *list = smma_parameter_text(run, "units"), *name = list;
  char known[160] = "";
  for (size_t u = 0; u < UNITS; u++) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", u ? "," : "", units[u].name);
  }
  while (name) {
    size_t length = strcspn(name, ",");
    if (!length || !lists(known, name, length))
      return smma_fail(error, "%s: units: '%.*s' is not one of %s", run->experiment->name, (int)length, name, known);
    name = name[length] ? name + length + 1 : NULL;
  }
  return true;
}

static bool check_sum(const smma_experiment_run *run, smma_words_sum *sum, smma_error *error) {
  const char *name = smma_parameter_text(run, "sum");
  for (int i = 0; smma_words_sum_names[i]; i++) {
    *sum = (smma_words_sum)i;
    if (strcmp(smma_words_sum_names[i], name) == 0) return true;
  }
  return smma_parameter_fail(run, "sum", "one of f64, f32, unit, unit-scaled", error);
}

static bool add_combinations(settings *s, const unit *u, smma_error *error) {
  for (size_t f = 0; f < FORMATS; f++) {
    combination *c = &s->combinations[s->count];
    if (!u->instruction[f]) continue;
    *c = (combination){u, f, smma_find(u->arch, u->instruction[f], NULL)};
    if (u->key) c->instruction = changed(c->instruction, u->key, u->value, error);
    if (!c->instruction) return false;
    s->count++;
  }
  return true;
}

static void finish(smma_experiment_run *run) {
  settings *s = run->context;
  for (size_t i = 0; i < s->count; i++) smma_custom_release(s->combinations[i].instruction);
}

static bool prepare(smma_experiment_run *run, size_t *cells, smma_error *error) {
  settings *s = run->context;
  bool ready = smma_parameter_count(run, "lengths", 1, MOST_LENGTHS, &s->lengths, error) &&
               smma_parameter_count(run, "greatest-n", 10, LONGEST, &s->greatest, error) &&
               check_sum(run, &s->sum, error) && check_units(run, error);
  for (size_t u = 0; ready && u < UNITS; u++)
    if (lists(smma_parameter_text(run, "units"), units[u].name, strlen(units[u].name)))
      ready = add_combinations(s, &units[u], error);
  *cells = s->lengths * s->count;
  return ready;
}

/* ---- Cells: the greatest n comes first, so that two processors remain busy until the end ---- */

static bool multiply(const settings *s, const combination *c, int words, const smma_random_product *p, double *d,
                     smma_error *error) {
  smma_words how;
  smma_f64_product product;
  smma_status status;
  smma_words_defaults(&how, sizeof how);
  how.words = words, how.sum = s->sum;
  smma_f64_product_defaults(&product, sizeof product);
  product.m = product.n = SMMA_RANDOM_PRODUCT_SIDE, product.k = p->n;
  product.a = p->a, product.b = p->b, product.d = d;
  product.order_b = SMMA_COLUMN_MAJOR;
  product.threads = 1;
  status = smma_gemm_words(c->instruction, &product, &how);
  return status == SMMA_OK || smma_fail(error, "%s", smma_status_text(status));
}

static bool compute(smma_experiment_run *run, size_t cell, smma_error *error) {
  const settings *s = run->context;
  const combination *c = &s->combinations[cell % s->count];
  smma_random_product p;
  size_t n = smma_random_product_length(s->lengths - 1 - cell / s->count, s->lengths, s->greatest);
  bool computed = smma_random_product_make(&p, run->seed, n, DECADES, error);
  for (size_t w = 0; computed && w < NUMBERS_OF_WORDS; w++) {
    double d[SMMA_RANDOM_PRODUCT_SIZE];
    computed = multiply(s, c, formats[c->format].words[w], &p, d, error);
    if (!computed) break;
    smma_row_count(run, n);
    smma_row_text(run, formats[c->format].name);
    smma_row_count(run, (size_t)formats[c->format].words[w]);
    smma_row_text(run, c->unit->name);
    smma_row_number(run, smma_random_product_error(&p, d));
    smma_row_number(run, smma_random_product_toward_zero(&p, d));
  }
  smma_random_product_free(&p);
  return computed;
}

/* ---- Words and pictures ---- */

static void summarise(const smma_experiment_run *run, FILE *out) {
  const char *n = smma_table_text(run, 0, "n");
  fprintf(out, "n = %s: normwise error, and the share of elements that are too near to zero (%%).\n", n);
  for (size_t f = 0; f < FORMATS; f++) {
    fprintf(out, "\n%-12s", formats[f].title);
    for (size_t w = 0; w < NUMBERS_OF_WORDS; w++)
      fprintf(out, "  %10d word%c", formats[f].words[w], formats[f].words[w] > 1 ? 's' : ' ');
    fputc('\n', out);
    for (size_t u = 0; u < UNITS; u++) {
      bool any = false;
      for (size_t w = 0; w < NUMBERS_OF_WORDS; w++) {
        char words[8];
        const char *const where[] = {"n", n, "format", formats[f].name, "words", words, "unit", units[u].name, NULL};
        double error;
        snprintf(words, sizeof words, "%d", formats[f].words[w]);
        error = smma_table_find(run, where, "error");
        if (isnan(error)) continue;
        if (!any) fprintf(out, "%-12s", units[u].name);
        fprintf(out, "  %8.1e %5.0f %%", error, 100 * smma_table_find(run, where, "toward_zero"));
        any = true;
      }
      if (any) fputc('\n', out);
    }
  }
}

static void plot_panel(const smma_experiment_run *run, FILE *script, size_t f, size_t w) {
  static const char *const columns[] = {"n", "error", NULL};
  char words[8];
  bool any[UNITS];
  snprintf(words, sizeof words, "%d", formats[f].words[w]);
  for (size_t u = 0; u < UNITS; u++) {
    const char *const where[] = {"format", formats[f].name, "words", words, "unit", units[u].name, NULL};
    char block[16];
    snprintf(block, sizeof block, "$unit%zu", u);
    any[u] = units[u].line && smma_plot_block(run, script, block, where, columns);
  }
  fprintf(script, "set title '%s: %s word%s' offset 0,-0.6\nset ylabel '%s'\nset xlabel '%s'\nplot 1/0",
          formats[f].title, words, formats[f].words[w] > 1 ? "s" : "", w ? "" : "‖Ĉ − C‖ / (‖A‖ ‖B‖)",
          f == FORMATS - 1 ? "inner dimension, n" : "");
  for (size_t u = 0; u < UNITS; u++)
    if (any[u]) fprintf(script, ", $unit%zu with linespoints linetype %d", u, units[u].line);
  fputc('\n', script);
}

static void plot(const smma_experiment_run *run, FILE *script) {
  static const char *const legend[] = {
      "V100",  "A100",   "L40S",   "H100 (wgmma)",  "H100, B200 (mma)", "B200, to nearest",
      "MI100", "MI250X", "MI300X", "B200 (tcgen05)"};
  fputs(
      "set logscale xy\nset yrange [1e-9:1e-1]\nset xrange [10:1e6]\nset key off\nset xtics 1e1,1e1,1e6\n"
      "set multiplot layout 3,3 margins 0.085,0.985,0.165,0.965 spacing 0.06,0.075\n",
      script);
  for (size_t f = 0; f < FORMATS; f++)
    for (size_t w = 0; w < NUMBERS_OF_WORDS; w++) plot_panel(run, script, f, w);
  smma_plot_legend(script, legend, sizeof legend / sizeof legend[0], 3, 0.095);
}

#define ALL_UNITS "V100,A100,L40S,H100-wgmma,H100/B200,B200-tcgen05,B200-RN,B200-23,MI100,MI250X,MI300X"

static const smma_experiment_parameter parameters[] = {
    {"lengths", "20", "3", "values of n, logarithmically even from 10 to greatest-n"},
    {"greatest-n", "1000000", "300", "the longest inner dimension"},
    {"units", ALL_UNITS, ALL_UNITS, "which; B200-RN rounds sums to nearest, B200-23 keeps 23 bits instead of 25"},
    {"sum", "unit", "unit", "where products of words are added: unit (as the paper's program), unit-scaled, f32, f64"},
    {NULL, NULL, NULL, NULL}};

static const char *const columns[] = {"n", "format", "words", "unit", "error", "toward_zero", NULL};

const smma_experiment smma_experiment_multiword = {
    .name = "multiword",
    .title = "accurate products from words in FP8, FP16 and BF16 on many units",
    .source =
        "F. A. Khattak, M. Mikaitis, Accurate Models of NVIDIA Tensor Cores, 2025, Fig. 7; AMD's units and more "
        "instructions for FP8 are ours",
    .parameters = parameters,
    .columns = columns,
    .width = 1080,
    .height = 1080,
    .context_bytes = sizeof(settings),
    .prepare = prepare,
    .compute = compute,
    .summarise = summarise,
    .plot = plot,
    .finish = finish,
};
