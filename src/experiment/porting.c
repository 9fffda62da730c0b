/* Computes FTTN's porting example on every unit. FTTN's text can be read in several ways; the experiment computes each.

   Source: X. Li et al., "FTTN: Feature-Targeted Testing for Numerical Properties of NVIDIA & AMD Matrix
   Accelerators", CCGrid 2024, section V. */
#include <stdlib.h>
#include <string.h>

#include "experiment/distinct.h"
#include "experiment/experiment.h"
#include "host/load.h"
#include "isa/custom.h"
#include "softmma/softmma.h"

enum { PUBLISHED_K = 8192 };

/* A reading of the points that the paper does not define. In its text A and B are positive, but its formula for D
   subtracts all products except the first. It does not say whether the loop over K starts with C, or in which order
   it runs. */
typedef struct {
  const char *start, *others, *order;
} reading;

static const reading readings[] = {{"zero", "positive", "forward"},  {"zero", "negative", "forward"},
                                   {"C", "positive", "forward"},     {"C", "negative", "forward"},
                                   {"zero", "positive", "backward"}, {"zero", "negative", "backward"},
                                   {"C", "positive", "backward"},    {"C", "negative", "backward"}};
enum { READINGS = sizeof readings / sizeof *readings, FORWARD_READINGS = 4 };

/* The paper's results, for FP16. For the CPU the experiment uses a loop of fused multiply-adds in FP32. */
static const struct {
  const char *gpu, *arch, *inputs, *d;
} published[] = {{"V100", "volta", "f16", "0"},        {"A100", "ampere", "f16", "0"},
                 {"H100", "hopper", "f16", "191.875"}, {"MI100", "cdna1", "f16", "255.875"},
                 {"MI250X", "cdna2", "f16", "0"},      {"CPU", "CPU", "f32", "0"}};
enum { PUBLISHED = sizeof published / sizeof *published };

static const char cpu[] =
    "{\"softmma-unit\": 1, \"name\": \"fma\", \"algorithm\": \"FMA\", \"k\": 1, \"a\": \"f32\", \"b\": \"f32\", \"d\": "
    "\"f32\"}";

typedef struct {
  const smma_instruction **units; /* the CPU is last */
  size_t count, k;
} setup;

/* ---- The product ---- */

/* Returns A[0][k]. A[0][0] and B[0][0] are 2^10. For k > 0, A[0][k] is 2^-2 if k is odd and 2^-3 if k is even, and
   B[k][0] is 2^-3. */
static double element_of_a(const reading *r, size_t k) {
  const double size = k == 0 ? 0x1p10 : k % 2 ? 0x1p-2 : 0x1p-3;
  return k > 0 && r->others[0] == 'n' ? -size : size;
}

static double element_of_b(size_t k) { return k == 0 ? 0x1p10 : 0x1p-3; }

static const double element_of_c = 0x1p20;

static bool holds(smma_format format, double value) {
  const uint64_t x = smma_format_encode(format, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
  return smma_format_decode(format, x) == value;
}

static bool fits(const smma_instruction *i) {
  return i->scale == SMMA_NO_FORMAT && i->c == i->d && holds(i->c, element_of_c) && holds(i->a, 0x1p10) &&
         holds(i->a, -0x1p-2) && holds(i->a, -0x1p-3);
}

static void store(smma_format format, void *array, size_t index, double value) {
  const uint64_t x = smma_format_encode(format, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
  smma_store(smma_format_bytes(format), array, index, x);
}

static double load(smma_format format, const void *array) {
  return smma_format_decode(format, smma_load(smma_format_bytes(format), array, 0));
}

/* Computes D = -A B + C. As r->start says, either C is the first term of the loop and A is negated, or an FMA adds C to
   the finished product. */
static bool compute_product(const smma_instruction *i, const reading *r, size_t k, double *d, smma_error *error) {
  const bool from_c = r->start[0] == 'C';
  uint64_t *a = malloc(k * sizeof *a), *b = malloc(k * sizeof *b), c_element, d_element = 0;
  smma_gemm_arguments g;
  smma_status status = SMMA_NO_MEMORY;
  smma_gemm_defaults(&g, sizeof g);
  g.m = g.n = 1, g.k = k, g.threads = 1;
  g.a = a, g.b = b, g.c = &c_element, g.d = &d_element;
  g.alpha = -1;
  g.scaling = from_c ? SMMA_SCALING_OPERANDS : SMMA_SCALING_EPILOGUE;
  store(i->c, &c_element, 0, element_of_c);
  for (size_t n = 0; a && b && n < k; n++) {
    const size_t place = r->order[0] == 'f' ? n : k - 1 - n;
    store(i->a, a, place, element_of_a(r, n));
    store(i->b, b, place, element_of_b(n));
  }
  if (a && b) status = smma_gemm(i, &g);
  free(a);
  free(b);
  *d = load(i->d, &d_element);
  return status == SMMA_OK || smma_fail(error, "porting: %s", smma_status_text(status));
}

/* ---- The experiment ---- */

/* Returns parameter k: the number of elements of a row of A. 0: the parameter's text is no such number. */
static size_t row_length(const smma_experiment_run *run) {
  size_t k;
  return smma_parameter_count(run, "k", 2, 1 << 20, &k, NULL) ? k : 0;
}

static void finish(smma_experiment_run *run) {
  setup *s = run->context;
  if (s->count) smma_custom_release(s->units[s->count - 1]);
  free(s->units);
}

static bool prepare(smma_experiment_run *run, size_t *cells, smma_error *error) {
  const size_t most = smma_distinct_instructions(NULL);
  setup *s = run->context;
  if (!smma_parameter_count(run, "k", 2, 1 << 20, &s->k, error)) return false;
  if (!(s->units = malloc((most + 1) * sizeof *s->units))) return smma_no_memory(error);
  smma_distinct_instructions(s->units);
  for (size_t i = 0; i < most; i++)
    if (fits(s->units[i])) s->units[s->count++] = s->units[i];
  s->units[s->count++] = smma_custom_read("CPU", cpu, strlen(cpu), error);
  *cells = s->count;
  return s->units[s->count - 1];
}

/* Returns the index of the paper's result for a unit, or PUBLISHED. */
static int published_for(const smma_instruction *i, const setup *s) {
  int p = 0;
  while (p < PUBLISHED && (strcmp(published[p].arch, smma_arch_name(i)) != 0 ||
                           strcmp(published[p].inputs, smma_format_text(i->a)) != 0))
    p++;
  return s->k == PUBLISHED_K ? p : PUBLISHED;
}

static const char *gpu_of(const smma_instruction *i) {
  for (int p = 0; p < PUBLISHED; p++)
    if (strcmp(published[p].arch, smma_arch_name(i)) == 0) return published[p].gpu;
  return smma_architectures[i->arch].title;
}

static bool compute(smma_experiment_run *run, size_t cell, smma_error *error) {
  const setup *s = run->context;
  const smma_instruction *i = s->units[cell];
  const int p = published_for(i, s);
  char words[SMMA_RULE_WORDS];
  for (int r = 0; r < READINGS; r++) {
    double d;
    if (!compute_product(i, &readings[r], s->k, &d, error)) return false;
    smma_row_text(run, gpu_of(i));
    smma_row_text(run, i->name);
    smma_row_text(run, smma_format_text(i->a));
    smma_row_text(run, smma_rule_in_words(i, words));
    smma_row_text(run, readings[r].start);
    smma_row_text(run, readings[r].others);
    smma_row_text(run, readings[r].order);
    smma_row_number(run, d);
    smma_row_text(run, p == PUBLISHED ? "none" : published[p].d);
    smma_row_text(run, p == PUBLISHED ? "none" : d == atof(published[p].d) ? "yes" : "no");
  }
  return true;
}

/* ---- Summary ---- */

static bool is_of(const smma_experiment_run *run, size_t row, const reading *r) {
  const char *const where[] = {"start", r->start, "others", r->others, "order", r->order, NULL};
  return smma_table_has(run, row, where);
}

/* Reports whether an instruction with the paper's inputs gives the paper's result. */
static bool gives(const smma_experiment_run *run, int p, const reading *r) {
  const char *const where[] = {"gpu",   published[p].gpu, "inputs", published[p].inputs,
                               "start", r->start,         "others", r->others,
                               "order", r->order,         "agrees", "yes",
                               NULL};
  for (size_t row = 0; row < smma_table_rows(run); row++)
    if (smma_table_has(run, row, where)) return true;
  return false;
}

static int count_given(const smma_experiment_run *run, const reading *r) {
  int count = 0;
  for (int p = 0; p < PUBLISHED; p++) count += gives(run, p, r);
  return count;
}

static const reading *best_reading(const smma_experiment_run *run) {
  const reading *best = readings;
  for (int r = 1; r < READINGS; r++)
    if (count_given(run, &readings[r]) > count_given(run, best)) best = &readings[r];
  return best;
}

static bool explains(const smma_experiment_run *run, size_t row, int p, const reading *r) {
  return is_of(run, row, r) && smma_table_number(run, row, "d") == atof(published[p].d);
}

/* Columns of a line. */
enum { WIDTH = 100 };

/* Prints the rules that would give a published result, and the GPUs that use them. */
static void print_explanations(const smma_experiment_run *run, int p, const reading *r, FILE *out) {
  for (size_t row = 0; row < smma_table_rows(run); row++) {
    const char *rule = smma_table_text(run, row, "rule");
    const char *const where[] = {"rule", rule, NULL};
    bool first = explains(run, row, p, r);
    for (size_t before = 0; before < row && first; before++)
      first = !explains(run, before, p, r) || !smma_table_has(run, before, where);
    if (!first) continue;
    fprintf(out, "    %s:", rule);
    for (size_t same = row, column = WIDTH; same < smma_table_rows(run); same++) {
      const char *gpu = smma_table_text(run, same, "gpu"), *inputs = smma_table_text(run, same, "inputs");
      const size_t length = strlen(gpu) + strlen(inputs) + strlen(" _;");
      if (!explains(run, same, p, r) || !smma_table_has(run, same, where)) continue;
      if (column + length > WIDTH) column = (size_t)fprintf(out, "\n     ") - 1;
      fprintf(out, " %s %s;", gpu, inputs);
      column += length;
    }
    fputc('\n', out);
  }
}

static void print_readings(const smma_experiment_run *run, FILE *out) {
  fprintf(out, "%-6s  %-9s  %-9s  published figures given\n", "start", "others", "order");
  for (int r = 0; r < READINGS; r++) {
    fprintf(out, "%-6s  %-9s  %-9s  %d of %d:", readings[r].start, readings[r].others, readings[r].order,
            count_given(run, &readings[r]), PUBLISHED);
    for (int p = 0; p < PUBLISHED; p++)
      if (gives(run, p, &readings[r])) fprintf(out, " %s", published[p].gpu);
    fputc('\n', out);
  }
}

static void summarise(const smma_experiment_run *run, FILE *out) {
  const reading *best = best_reading(run);
  if (row_length(run) != PUBLISHED_K) {
    fprintf(out, "The published figures are for k = %d.\n", PUBLISHED_K);
    return;
  }
  print_readings(run, out);
  fprintf(out, "\nThe loop from %s, the other products %s, %s:\n", best->start, best->others, best->order);
  for (int p = 0; p < PUBLISHED; p++) {
    const char *const where[] = {"gpu",    published[p].gpu, "inputs", published[p].inputs, "start", best->start,
                                 "others", best->others,     "order",  best->order,         NULL};
    fprintf(out, "  %-6s published %8s, here %8g\n", published[p].gpu, published[p].d,
            smma_table_find(run, where, "d"));
  }
  for (int p = 0; p < PUBLISHED; p++) {
    if (gives(run, p, best)) continue;
    fprintf(out, "  %s would be given by the rules of\n", published[p].gpu);
    print_explanations(run, p, best, out);
  }
}

/* ---- The picture ---- */

enum { MOST_LINES = 16 };

/* Finds the table row at which each line of the picture begins. The picture has one line for each GPU: that of the
   first instruction with the paper's input formats. */
static int find_lines(const smma_experiment_run *run, size_t lines[MOST_LINES]) {
  int count = 0;
  for (size_t row = 0; row < smma_table_rows(run) && count < MOST_LINES; row += READINGS) {
    const char *gpu = smma_table_text(run, row, "gpu"), *inputs = smma_table_text(run, row, "inputs");
    const bool known = count && strcmp(gpu, smma_table_text(run, lines[count - 1], "gpu")) == 0;
    if (!known && strcmp(inputs, strcmp(gpu, "CPU") == 0 ? "f32" : "f16") == 0) lines[count++] = row;
  }
  return count;
}

/* Returns |C - A B| in exact arithmetic. C and the first product cancel, so it is the sum of the other products. */
static double exact_result(const smma_experiment_run *run) {
  const size_t k = row_length(run);
  double sum = 0;
  for (size_t n = 1; n < k; n++) sum += element_of_a(&readings[0], n) * element_of_b(n);
  return sum;
}

/* Writes the data blocks: the published results, the results of each forward reading, the exact ones. */
static void write_blocks(const smma_experiment_run *run, FILE *script, const size_t *lines, int count) {
  static const double places[FORWARD_READINGS] = {-0.28, 0, 0.28, 0.28}; /* above and below the line of the GPU */
  const double exact = exact_result(run);
  fputs("$published << END\n", script);
  for (int l = 0; l < count; l++)
    if (strcmp(smma_table_text(run, lines[l], "published"), "none") != 0)
      fprintf(script, "%s %d\n", smma_table_text(run, lines[l], "published"), l);
  fputs("END\n", script);
  for (int r = 0; r < FORWARD_READINGS; r++) {
    fprintf(script, "$reading%d << END\n", r);
    for (int l = 0; l < count; l++)
      fprintf(script, "%s %g\n", smma_table_text(run, lines[l] + (size_t)r, "d"), l + places[r]);
    fputs("END\n", script);
  }
  fprintf(script, "$exact << END\n%g -0.6\n%g %d.6\n\n%g -0.6\n%g %d.6\nEND\n", -exact, -exact, count - 1, exact, exact,
          count - 1);
}

static void plot(const smma_experiment_run *run, FILE *script) {
  size_t lines[MOST_LINES];
  const int count = find_lines(run, lines);
  write_blocks(run, script, lines, count);
  fprintf(script, "set format '%%g'\nset xrange [%g:%g]\nset yrange [-0.6:*] reverse\nset ytics (",
          -1.5 * exact_result(run), 1.5 * exact_result(run));
  for (int l = 0; l < count; l++) fprintf(script, "%s'%s' %d", l ? ", " : "", smma_table_text(run, lines[l], "gpu"), l);
  fputs(
      ")\nset xlabel 'D = C - A B, inputs in FP16 (CPU: FP32)'\n"
      "set key outside below horizontal reverse Left samplen 1 maxcols 2 height 1 spacing 1.3\n"
      "plot $exact with lines linetype 8 title 'exact', "
      "$published with points linetype 5 pointtype 6 pointsize 2 title 'published'",
      script);
  for (int r = 0; r < FORWARD_READINGS; r++)
    fprintf(script,
            ", $reading%d with points linetype %d pointsize 0.75 linewidth 1.5 title 'loop from %s, other products %s'",
            r, r + 1, readings[r].start, readings[r].others);
  fputc('\n', script);
}

static const smma_experiment_parameter parameters[] = {
    {"k", "8192", "8192", "elements to a row of A; the published figures are for 8192"}, {NULL, NULL, NULL, NULL}};
static const char *const columns[] = {"gpu",   "instruction", "inputs",    "rule",   "start", "others",
                                      "order", "d",           "published", "agrees", NULL};

const smma_experiment smma_experiment_porting = {
    .name = "porting",
    .title = "FTTN's product C - A B on every GPU, in every way to read it",
    .source =
        "X. Li et al., FTTN: Feature-Targeted Testing for Numerical Properties of NVIDIA & AMD Matrix Accelerators, "
        "2024, "
        "section V",
    .parameters = parameters,
    .columns = columns,
    .width = 760,
    .height = 720,
    .context_bytes = sizeof(setup),
    .prepare = prepare,
    .compute = compute,
    .summarise = summarise,
    .plot = plot,
    .finish = finish,
};
