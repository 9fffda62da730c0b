/* Measures the effect of FP8's narrow range on accurate products, with and without subnormals. */
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment.h"
#include "experiment/plot.h"
#include "experiment/random_product.h"
#include "numerics/words.h"

/* ---- Formats and settings ---- */

enum { MOST_WORDS = 3, RANGES = 3, ACCUMULATIONS = 2, MOST_LENGTHS = 100, LONGEST = 1 << 24, DECADES = 10 };

/* The exponent range of the format to which words and sums are rounded: that of the format, without or with subnormals,
   or unbounded. */
typedef enum { SUBNORMALS_OFF, SUBNORMALS_ON, UNBOUNDED } range;

static const char *const ranges[RANGES] = {"subnormals-off", "subnormals-on", "unbounded"};

static const struct {
  const char *name;
  int precision;   /* significand bits */
  double normal;   /* the smallest normal number */
  double greatest; /* the greatest number, F_max */
} accumulations[ACCUMULATIONS] = {{"binary16", 11, 0x1p-14, 0x1.ffcp15}, {"binary32", 24, 0x1p-126, 0x1.fffffep127}};

typedef struct {
  size_t lengths, greatest;
} settings;

static bool prepare(smma_experiment_run *run, size_t *cells, smma_error *error) {
  settings *s = run->context;
  if (!smma_parameter_count(run, "lengths", 1, MOST_LENGTHS, &s->lengths, error) ||
      !smma_parameter_count(run, "greatest-n", 10, LONGEST, &s->greatest, error))
    return false;
  *cells = s->lengths * ACCUMULATIONS;
  return true;
}

/* ---- Rounding ---- */

typedef struct {
  range range;
  int precision;
  double normal;
  double magic; /* adding and subtracting this rounds to multiples of the smallest subnormal number */
} rounding;

static rounding rounding_of(range r, size_t accumulation) {
  rounding f = {r, accumulations[accumulation].precision, accumulations[accumulation].normal, 0};
  f.magic = ldexp(1.5, 52) * ldexp(f.normal, 1 - f.precision);
  return f;
}

/* Rounds to the nearest number in the format's range; nothing overflows here. Without subnormals, a number below the
   smallest normal number becomes that number if it is greater than half of it, otherwise zero. */
static inline double round_to(const rounding *f, double x) {
  if (f->range == UNBOUNDED || fabs(x) >= f->normal) return smma_round_significand(x, f->precision);
  if (f->range == SUBNORMALS_ON) return (x + f->magic) - f->magic;
  return copysign(fabs(x) > f->normal / 2 ? f->normal : 0, x);
}

/* ---- Words ---- */

/* The words of A and of B: word i of entry e is at i * count + e. FP32 holds every word exactly, also words with an
   unbounded exponent range. */
typedef struct {
  float *a, *b;
  size_t count;
  int exponents_a[SMMA_RANDOM_PRODUCT_SIDE],
      exponents_b[SMMA_RANDOM_PRODUCT_SIDE]; /* exponents of the factors of rows and columns */
  size_t lost;                               /* entries whose first word is zero */
} words;

/* Splits x into words of four significant bits, as in E4M3, with unbounded exponents. */
static void split_unbounded(double x, const smma_word_format *f, double *word) {
  for (int i = 0; i < MOST_WORDS; i++) {
    word[i] = smma_round_significand(x, f->precision);
    x = ldexp(x - word[i], f->precision);
  }
}

static void split(double x, const smma_word_format *f, range r, double *word) {
  uint64_t encodings[MOST_WORDS];
  if (r == UNBOUNDED) {
    split_unbounded(x, f, word);
    return;
  }
  smma_words_split(f, x, f->precision, r == SUBNORMALS_OFF, MOST_WORDS, encodings);
  for (int i = 0; i < MOST_WORDS; i++) word[i] = smma_format_decode(f->format, encodings[i]);
}

/* Splits the rows of A, or the columns of B, scaled by powers of two to at most theta. */
static void split_lines(words *w, const double *x, float *out, int *exponents, double theta, range r) {
  const smma_word_format f = smma_word_format_of(SMMA_E4M3);
  const size_t n = w->count / SMMA_RANDOM_PRODUCT_SIDE;
  for (size_t line = 0; line < SMMA_RANDOM_PRODUCT_SIDE; line++) {
    double greatest = 0, word[MOST_WORDS];
    for (size_t k = 0; k < n; k++) greatest = fmax(greatest, fabs(x[line * n + k]));
    exponents[line] = smma_words_exponent(greatest, theta);
    for (size_t e = line * n; e < (line + 1) * n; e++) {
      split(ldexp(x[e], exponents[line]), &f, r, word);
      for (size_t i = 0; i < MOST_WORDS; i++) out[i * w->count + e] = (float)word[i];
      w->lost += word[0] == 0;
    }
  }
}

static bool make_words(words *w, const smma_random_product *p, size_t accumulation, range r, smma_error *error) {
  const smma_word_format f = smma_word_format_of(SMMA_E4M3);
  const double theta = smma_words_theta(f.largest, accumulations[accumulation].greatest, p->n);
  *w = (words){.count = SMMA_RANDOM_PRODUCT_SIDE * p->n};
  w->a = malloc(2 * MOST_WORDS * w->count * sizeof *w->a);
  if (!w->a) return smma_no_memory(error);
  w->b = w->a + MOST_WORDS * w->count;
  split_lines(w, p->a, w->a, w->exponents_a, theta, r);
  split_lines(w, p->b, w->b, w->exponents_b, theta, r);
  return true;
}

/* ---- Sums ---- */

/* Computes C = fl(C + factor fl(a b)) for every k in order, as in the published program; the inner addition is in
   FP64. */
static void add_words(const words *w, size_t i, size_t j, double factor, const rounding *f, double *c) {
  const size_t n = w->count / SMMA_RANDOM_PRODUCT_SIDE;
  const float *a = w->a + i * w->count, *b = w->b + j * w->count;
  for (size_t k = 0; k < n; k++)
    for (size_t e = 0; e < SMMA_RANDOM_PRODUCT_SIZE; e++) {
      double product = (double)a[e / SMMA_RANDOM_PRODUCT_SIDE * n + k] * b[e % SMMA_RANDOM_PRODUCT_SIDE * n + k];
      c[e] = round_to(f, c[e] + factor * round_to(f, product));
    }
}

static void multiply(const words *w, size_t count, const rounding *f, double *c) {
  const int step = smma_word_format_of(SMMA_E4M3).precision;
  memset(c, 0, SMMA_RANDOM_PRODUCT_SIZE * sizeof *c);
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; i + j < count; j++) add_words(w, i, j, ldexp(1, -step * (int)(i + j)), f, c);
  for (size_t e = 0; e < SMMA_RANDOM_PRODUCT_SIZE; e++)
    c[e] = ldexp(c[e], -w->exponents_a[e / SMMA_RANDOM_PRODUCT_SIDE] - w->exponents_b[e % SMMA_RANDOM_PRODUCT_SIDE]);
}

/* ---- Cells: the greatest n comes first, so that two processors remain busy until the end ---- */

static bool compute_range(smma_experiment_run *run, const smma_random_product *p, size_t accumulation, range r,
                          smma_error *error) {
  const rounding f = rounding_of(r, accumulation);
  double c[SMMA_RANDOM_PRODUCT_SIZE];
  words w;
  if (!make_words(&w, p, accumulation, r, error)) return false;
  for (size_t count = 1; count <= MOST_WORDS; count++) {
    multiply(&w, count, &f, c);
    smma_row_count(run, p->n);
    smma_row_text(run, accumulations[accumulation].name);
    smma_row_text(run, ranges[r]);
    smma_row_count(run, count);
    smma_row_number(run, smma_random_product_error(p, c));
    smma_row_number(run, (double)w.lost / (double)(2 * w.count));
  }
  free(w.a);
  return true;
}

static bool compute(smma_experiment_run *run, size_t cell, smma_error *error) {
  const settings *s = run->context;
  smma_random_product p;
  size_t n = smma_random_product_length(s->lengths - 1 - cell / ACCUMULATIONS, s->lengths, s->greatest);
  bool computed = smma_random_product_make(&p, run->seed, n, DECADES, error);
  for (int r = 0; computed && r < RANGES; r++) computed = compute_range(run, &p, cell % ACCUMULATIONS, (range)r, error);
  smma_random_product_free(&p);
  return computed;
}

/* ---- Words and pictures ---- */

static void summarise(const smma_experiment_run *run, FILE *out) {
  const size_t last = smma_table_rows(run) - 1;
  const char *const shown[] = {smma_table_text(run, last, "n"), smma_table_text(run, 0, "n")};
  fputs("Normwise error, and the share of entries whose first word is zero.\n\n", out);
  fprintf(out, "%-9s %-9s %-15s %9s %9s %9s %8s\n", "n", "sums", "range", "1 word", "2 words", "3 words", "lost");
  for (size_t i = 0; i < 2; i++)
    for (size_t a = 0; a < ACCUMULATIONS; a++)
      for (size_t r = 0; r < RANGES; r++) {
        char count[2] = "1";
        const char *const where[] = {
            "n", shown[i], "accumulation", accumulations[a].name, "range", ranges[r], "words", count, NULL};
        double lost = smma_table_find(run, where, "lost");
        fprintf(out, "%-9s %-9s %-15s", shown[i], accumulations[a].name, ranges[r]);
        for (; count[0] <= '0' + MOST_WORDS; count[0]++) fprintf(out, " %9.1e", smma_table_find(run, where, "error"));
        fprintf(out, " %6.1f %%\n", 100 * lost);
      }
}

static void plot_panel(const smma_experiment_run *run, FILE *script, size_t accumulation, range r) {
  static const char *const columns[] = {"n", "error", NULL};
  for (int count = 1; count <= MOST_WORDS; count++)
    for (int unbounded = 0; unbounded < 2; unbounded++) {
      char words_text[8], block[32];
      const char *const where[] = {"accumulation",
                                   accumulations[accumulation].name,
                                   "range",
                                   ranges[unbounded ? UNBOUNDED : r],
                                   "words",
                                   words_text,
                                   NULL};
      snprintf(words_text, sizeof words_text, "%d", count);
      snprintf(block, sizeof block, "$data%d", 2 * count - 1 + unbounded);
      smma_plot_block(run, script, block, where, columns);
    }
  fputs("plot ", script);
  for (int line = 1; line <= 2 * MOST_WORDS; line++)
    fprintf(script, "$data%d with linespoints linetype %d, ", line, line);
  fputc('\n', script);
}

/* Sets a colour for each number of words; dashes and open marks if the range is unbounded. */
static void set_line_types(FILE *script) {
  static const char *const colours[MOST_WORDS] = {"#0072B2", "#D55E00", "#009E73"};
  static const int marks[2 * MOST_WORDS] = {7, 6, 5, 4, 9, 8};
  for (int i = 0; i < 2 * MOST_WORDS; i++)
    fprintf(script, "set linetype %d linecolor '%s' linewidth 1.5 pointtype %d pointsize %g dashtype %s\n", i + 1,
            colours[i / 2], marks[i], i % 2 ? 0.9 : 0.5, i % 2 ? "(6,4)" : "solid");
}

static void plot(const smma_experiment_run *run, FILE *script) {
  static const char *const legend[] = {"1 word",  "1 word, unbounded range", "2 words", "2 words, unbounded range",
                                       "3 words", "3 words, unbounded range"};
  set_line_types(script);
  fputs(
      "set logscale xy\nset yrange [1e-8:1e0]\nset xrange [10:1e6]\nset key off\nset xtics 1e1,1e1,1e6\n"
      "set multiplot layout 2,2 margins 0.11,0.98,0.2,0.95 spacing 0.09,0.1\n",
      script);
  for (size_t a = 0; a < ACCUMULATIONS; a++)
    for (int r = SUBNORMALS_OFF; r <= SUBNORMALS_ON; r++) {
      fprintf(script, "set title 'E4M3 words, sums in %s, subnormals %s' offset 0,-0.5\n", accumulations[a].name,
              r == SUBNORMALS_ON ? "on" : "off");
      fprintf(script, "set ylabel '%s'\nset xlabel '%s'\n", r == SUBNORMALS_OFF ? "‖Ĉ − C‖ / (‖A‖ ‖B‖)" : "",
              a == ACCUMULATIONS - 1 ? "inner dimension, n" : "");
      plot_panel(run, script, a, (range)r);
    }
  smma_plot_legend(script, legend, sizeof legend / sizeof legend[0], 2, 0.12);
}

static const smma_experiment_parameter parameters[] = {
    {"lengths", "40", "3", "values of n, logarithmically even from 10 to greatest-n"},
    {"greatest-n", "1000000", "300", "the longest inner dimension"},
    {NULL, NULL, NULL, NULL}};

static const char *const columns[] = {"n", "accumulation", "range", "words", "error", "lost", NULL};

const smma_experiment smma_experiment_narrow_range = {
    .name = "narrow-range",
    .title = "words in FP8 E4M3, whose range is narrow: with and without subnormals, and unbounded",
    .source =
        "T. Mary, M. Mikaitis, Error Analysis of Matrix Multiplication with Narrow Range Floating-Point Arithmetic, "
        "2025: "
        "entries in [10^-10, 10^10] with signs",
    .parameters = parameters,
    .columns = columns,
    .width = 960,
    .height = 840,
    .context_bytes = sizeof(settings),
    .prepare = prepare,
    .compute = compute,
    .summarise = summarise,
    .plot = plot,
};
