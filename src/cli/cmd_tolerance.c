#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/choose.h"
#include "cli/matrices.h"
#include "cli/mutants.h"
#include "cli/target.h"
#include "numerics/bound.h"
#include "numerics/envelope.h"
#include "rows/data.h"

/* Elements that are measured: of random data at least LEAST x LEAST, of any at most MOST x MOST. */
enum { MOST_TARGETS = 32, LEAST = 64, MOST = 256, QUANTILES = 5 };

static const double quantiles[QUANTILES] = {0.5, 0.9, 0.99, 0.999, 1};
static const char *const quantile_names[QUANTILES] = {"50 %", "90 %", "99 %", "99.9 %", "max"};

typedef struct {
  const char *gpus, *instructions, *in, *out, *shape, *data, *c, *store;
  double alpha, beta, margin;
  long long split_k, promote_every;
  int with_c, threads, json, paste;
} tolerance_options;

/* One unit, its product, and how far it is off. */
typedef struct {
  char label[512];
  const smma_instruction *instruction;
  char inputs[SMMA_INPUTS_TEXT_SIZE];
  smma_format stored;
  smma_tensor a, b, c, scale_a, scale_b;
  smma_gemm_arguments product;
  smma_bounded *bound;
  double *d, error[QUANTILES], most_bound;
  size_t unbounded, special; /* elements without a proven bound; with NaN or infinity among their operands */
} target;

/* How much of a mutant is refused: the least share of elements over all targets. */
typedef struct {
  bool applies, possible; /* possible: some rtol and atol refuse it on every target and accept all targets */
  double measured, proven, bound;
} verdict;

typedef struct {
  const tolerance_options *options;
  const char *path[2];
  smma_data data; /* without files */
  size_t m, n, k; /* what was asked for */
  size_t rows, columns;
  target target[MOST_TARGETS];
  int targets;
  double exact[QUANTILES]; /* magnitudes of the first target's exact results */
  smma_tolerance measured, proven;
  bool is_proven; /* every element has a bound */
  verdict verdict[SMMA_MUTANTS];
} tolerance;

/* ---- Targets ---- */

static void add_target(tolerance *x, const char *label, const smma_instruction *instruction) {
  target *t = &x->target[x->targets++];
  snprintf(t->label, sizeof t->label, "%s", label);
  t->instruction = instruction;
  smma_inputs_text(instruction, t->inputs);
}

/* "GPU", "GPU:FORMAT", "GPU:FORMAT:FORMAT" or a custom unit's file. */
static void add_named(tolerance *x, const char *text, size_t length) {
  const tolerance_options *o = x->options;
  char label[512];
  const char *inputs;
  if (x->targets == MOST_TARGETS) smma_die("--on: more than %d GPUs", MOST_TARGETS);
  if (length == 0 || length >= sizeof label) smma_die("--on: '%.*s' is not the name of a GPU", (int)length, text);
  memcpy(label, text, length);
  label[length] = 0;
  const smma_target t = smma_require_target_and_more(label, &inputs);
  if (t.custom || o->instructions) {
    if (inputs) smma_die("--on: '%s:%s': --instr says the formats; leave out one", label, inputs);
    add_target(x, label, smma_require_of_target(&t, t.custom ? NULL : o->instructions, "--instr"));
    return;
  }
  const smma_formats formats = smma_require_formats(inputs  ? inputs
                                                    : o->in ? o->in
                                                            : "f16",
                                                    inputs ? "--on" : "--in", o->out);
  add_target(x, label, smma_require_by_formats(label, &formats, "--on"));
}

/* The first GPU of an architecture. */
static const char *gpu_of(smma_arch_id arch) {
  for (size_t i = 0; i < smma_gpu_count; i++)
    if (smma_gpus[i].arch == arch) return smma_gpus[i].name;
  return smma_architectures[arch].name;
}

/* Every architecture that has the formats. */
static void add_all(tolerance *x) {
  const smma_formats formats = smma_require_formats(x->options->in ? x->options->in : "f16", "--in", x->options->out);
  for (int arch = 0; arch < SMMA_ARCH_COUNT; arch++) {
    const smma_instruction *i = smma_resolve_formats(smma_architectures[arch].name, &formats, NULL, 0);
    if (smma_architectures[arch].listed && i) add_target(x, gpu_of((smma_arch_id)arch), i);
  }
  if (!x->targets) smma_die("--in: no GPU has %s with results in %s", x->options->in, smma_format_text(formats.d));
}

static void choose_targets(tolerance *x) {
  const tolerance_options *o = x->options;
  const char *list = o->gpus;
  if (o->instructions && (o->in || o->out))
    smma_die("%s: --instr says it already; leave it out", o->in ? "--in" : "--out");
  if (o->instructions && !list) smma_die("--on GPU is missing; for example --on H100");
  if (!list) add_all(x);
  while (list && *list) {
    const size_t length = strcspn(list, ",");
    add_named(x, list, length);
    list += length + (list[length] == ',');
  }
  if (!x->targets) smma_die("--on: the list of GPUs is empty; for example --on V100,A100,H100");
  for (int i = 0; i < x->targets; i++) {
    target *t = &x->target[i];
    t->stored = o->store ? smma_require_format(o->store, "--store") : t->instruction->d;
    if (smma_is_integer(t->stored) != smma_is_integer(t->instruction->d) || smma_format_bits(t->stored) == 6)
      smma_die("--store: %s of results in %s is not what kernels store", o->store, smma_format_text(t->instruction->d));
  }
}

/* ---- Operands ---- */

static void parse_shape(tolerance *x, const char *text) {
  unsigned long long size[3];
  char end;
  if (sscanf(text, "%llux%llux%llu%c", &size[0], &size[1], &size[2], &end) != 3 || strchr(text, '-') || !size[0] ||
      !size[1] || !size[2] || size[0] > SIZE_MAX || size[2] > (size_t)1 << 30)
    smma_die("--shape: '%s' is not MxNxK, each at least 1; for example 64x64x4096", text);
  x->m = (size_t)size[0], x->n = (size_t)size[1], x->k = (size_t)size[2];
}

static size_t between(size_t x, size_t least, size_t most) { return x < least ? least : x > most ? most : x; }

static smma_tensor matrix_if(bool there, smma_format format, size_t rows, size_t columns) {
  return there ? smma_new_matrix(format, rows, columns) : (smma_tensor){.format = SMMA_NO_FORMAT};
}

/* N(0, 1). */
static void fill_c(target *t) {
  smma_operation o = smma_operation_of(t->instruction);
  const smma_data_counts counts = {.a = t->c.rows * t->c.columns};
  const smma_data_arrays arrays = {.a = t->c.data};
  o.a = o.b = o.c, o.k = t->instruction->k;
  smma_data_fill((smma_data){SMMA_DATA_NORMAL, 0}, &o, 1, &counts, &arrays);
}

static void generate(const tolerance *x, target *t) {
  const smma_operation o = smma_operation_of(t->instruction);
  const size_t m = x->rows, n = x->columns, k = x->k;
  const size_t block = (size_t)o.scale_block, blocks = block ? (k + block - 1) / block : 0;
  const bool own_c = smma_data_has_c(x->data);
  const smma_data_counts counts = {m * k, k * n, own_c ? m * n : 0, m * blocks, n * blocks};
  if (!smma_data_fits(x->data, &o)) smma_die("--data: %s has no such data", t->inputs);
  t->a = smma_new_matrix(o.a, m, k), t->b = smma_new_matrix(o.b, k, n);
  t->c = matrix_if(x->options->with_c || own_c, o.c, m, n);
  t->scale_a = matrix_if(block != 0, o.scale, m, blocks), t->scale_b = matrix_if(block != 0, o.scale, n, blocks);
  const smma_data_arrays arrays = {t->a.data, t->b.data, own_c ? t->c.data : NULL, t->scale_a.data, t->scale_b.data};
  smma_data_fill(x->data, &o, k, &counts, &arrays);
  if (t->c.data && !own_c) fill_c(t);
}

/* Rows and columns that lie evenly in a matrix which has more. */
static smma_tensor sample(smma_tensor *from, size_t rows, size_t columns) {
  smma_tensor t;
  if (!from->data || (from->rows == rows && from->columns == columns)) return *from;
  t = smma_new_matrix(from->format, rows, columns);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++) {
      const size_t at = i * from->rows / rows * from->columns + j * from->columns / columns;
      memcpy((char *)t.data + (i * columns + j) * (size_t)t.bytes, (char *)from->data + at * (size_t)t.bytes,
             (size_t)t.bytes);
    }
  smma_tensor_free(from);
  return t;
}

typedef struct {
  smma_tensor a, b, c;
} files;

static void load(tolerance *x, const char **paths, files *f) {
  x->path[0] = paths[0], x->path[1] = paths[1];
  f->a = smma_load_matrix(paths[0]), f->b = smma_load_matrix(paths[1]);
  f->c = x->options->c ? smma_load_matrix(x->options->c) : (smma_tensor){.format = SMMA_NO_FORMAT};
  x->m = f->a.rows, x->k = f->a.columns, x->n = f->b.columns;
  if (f->b.rows != x->k)
    smma_die("%s is %zu x %zu and %s is %zu x %zu: the columns of the first must be the rows of the second", paths[0],
             x->m, x->k, paths[1], f->b.rows, x->n);
  if (f->c.data && (f->c.rows != x->m || f->c.columns != x->n))
    smma_die("%s is %zu x %zu, but the product is %zu x %zu", x->options->c, f->c.rows, f->c.columns, x->m, x->n);
  if (!x->m || !x->n || !x->k) smma_die("%s times %s is empty; there is nothing to measure", paths[0], paths[1]);
}

static bool told(const tolerance *x, const target *t) {
  for (const target *earlier = x->target; earlier < t; earlier++)
    if (strcmp(earlier->inputs, t->inputs) == 0) return true;
  return false;
}

static void convert(const tolerance *x, const files *f, target *t) {
  const smma_instruction *i = t->instruction;
  const bool quiet = told(x, t);
  if (i->scale_block) {
    const smma_block_format format[2] = {smma_input_of(i, true), smma_input_of(i, false)};
    smma_blocks a = smma_matrix_in_blocks(&f->a, true, &format[0], "A", x->path[0], quiet);
    smma_blocks b = smma_matrix_in_blocks(&f->b, false, &format[1], "B", x->path[1], quiet);
    t->a = a.values, t->b = b.values, t->scale_a = a.scales, t->scale_b = b.scales;
    smma_tensor_free(&a.products), smma_tensor_free(&b.products);
  } else {
    t->a = smma_matrix_as(&f->a, i->a, "A", x->path[0], quiet);
    t->b = smma_matrix_as(&f->b, i->b, "B", x->path[1], quiet);
  }
  if (f->c.data) t->c = smma_matrix_as(&f->c, i->c, "C", x->options->c, quiet);
  t->a = sample(&t->a, x->rows, x->k), t->b = sample(&t->b, x->k, x->columns);
  t->c = sample(&t->c, x->rows, x->columns);
  t->scale_a = sample(&t->scale_a, x->rows, t->scale_a.columns);
  t->scale_b = sample(&t->scale_b, x->columns, t->scale_b.columns);
}

static void take_operands(tolerance *x, const char **paths) {
  const bool from_files = paths[0];
  files f = {.a = {.format = SMMA_NO_FORMAT}};
  smma_error error;
  if (from_files && (x->options->shape || x->options->data || x->options->with_c))
    smma_die("%s: the files say it; leave it out", x->options->shape  ? "--shape"
                                                   : x->options->data ? "--data"
                                                                      : "--with-c");
  if (from_files && !paths[1]) smma_die("two files are needed, A and B; or --shape and --data");
  if (!from_files && x->options->c) smma_die("-C: it is for files; --with-c gives random data a C");
  if (from_files) {
    load(x, paths, &f);
  } else {
    if (!smma_data_from_text(x->options->data ? x->options->data : "normal", &x->data, &error))
      smma_die("--data: %s", error.text);
    parse_shape(x, x->options->shape ? x->options->shape : "64x64x4096");
  }
  x->rows = between(x->m, from_files ? 1 : LEAST, MOST), x->columns = between(x->n, from_files ? 1 : LEAST, MOST);
  for (int i = 0; i < x->targets; i++)
    if (from_files)
      convert(x, &f, &x->target[i]);
    else
      generate(x, &x->target[i]);
  smma_tensor_free(&f.a), smma_tensor_free(&f.b), smma_tensor_free(&f.c);
}

/* ---- Errors ---- */

/* The one place that multiplies. */
static void describe_product(const tolerance *x, target *t) {
  const tolerance_options *o = x->options;
  smma_gemm_arguments *g = &t->product;
  smma_gemm_defaults(g);
  g->m = x->rows, g->n = x->columns, g->k = x->k;
  g->a = t->a.data, g->b = t->b.data, g->c = t->c.data, g->scale_a = t->scale_a.data, g->scale_b = t->scale_b.data;
  g->alpha = o->alpha, g->beta = o->beta, g->threads = o->threads;
  g->split_k = (size_t)o->split_k, g->promote_every = (size_t)o->promote_every;
}

static void *require_memory(void *memory) {
  if (!memory) smma_die("out of memory");
  return memory;
}

static int compare_doubles(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* NaN where there are none. */
static void take_quantiles(double *values, size_t count, double result[QUANTILES]) {
  qsort(values, count, sizeof *values, compare_doubles);
  for (int i = 0; i < QUANTILES; i++) {
    const double rank = ceil(quantiles[i] * (double)count);
    result[i] = count ? values[rank < 1 ? 0 : (size_t)rank - 1] : NAN;
  }
}

static size_t count_of(const tolerance *x) { return x->rows * x->columns; }

static double greater_bound(const smma_bounded *b) { return b->below > b->above ? b->below : b->above; }

static void require_ok(smma_status status) {
  if (status != SMMA_OK) smma_die("%s", smma_status_text(status));
}

static void measure(tolerance *x, target *t, double *space) {
  const size_t count = count_of(x);
  size_t finite = 0;
  t->bound = require_memory(calloc(count, sizeof *t->bound));
  t->d = require_memory(calloc(count, sizeof *t->d));
  require_ok(smma_bound_rows(t->instruction, &t->product, t->stored, 0, x->rows, t->bound));
  if (!smma_product_compute(t->instruction, &t->product, t->stored, t->d)) smma_die("out of memory");
  for (size_t i = 0; i < count; i++) {
    const smma_bounded *b = &t->bound[i];
    const double error = fabs(smma_bounded_error(b, t->d[i]));
    t->special += !isfinite(b->exact);
    if (isfinite(b->exact) && isinf(b->below)) t->unbounded++;
    if (isfinite(b->exact) && !isinf(b->below) && greater_bound(b) > t->most_bound) t->most_bound = greater_bound(b);
    if (isfinite(b->exact) && !smma_bounded_accepts(b, t->d[i]))
      smma_die("internal error: element %zu of %s is %a, which its bound refuses", i, t->label, t->d[i]);
    if (!isnan(error)) space[finite++] = error;
  }
  take_quantiles(space, finite, t->error);
  if (t != x->target) return;
  finite = 0;
  for (size_t i = 0; i < count; i++)
    if (isfinite(t->bound[i].exact)) space[finite++] = fabs(t->bound[i].exact);
  take_quantiles(space, finite, x->exact);
}

/* ---- Tolerances ---- */

static smma_error_point point_of(const smma_bounded *b, double value) {
  const double error = fabs(smma_bounded_error(b, value));
  return (smma_error_point){fabs(b->exact), isfinite(b->exact) && isnan(error) ? INFINITY : error};
}

/* Elements this near 0, one in twenty, are 0 in other data. */
#define NEAR_ZERO 0.05

/* Of the measured errors times `margin`, or of the bounds. Elements without are left out. */
static smma_envelope envelope_of(const tolerance *x, double margin, bool bounds, double near) {
  const size_t count = count_of(x);
  smma_error_point *points = require_memory(calloc(count * (size_t)x->targets, sizeof *points));
  smma_envelope e;
  size_t all = 0;
  for (int i = 0; i < x->targets; i++)
    for (size_t j = 0; j < count; j++) {
      const target *t = &x->target[i];
      smma_error_point p = point_of(&t->bound[j], t->d[j]);
      p.error = bounds ? greater_bound(&t->bound[j]) : p.error * margin;
      if (isfinite(p.error) && isfinite(p.exact)) points[all++] = p;
    }
  e = smma_envelope_of(points, all, near);
  free(points);
  return e;
}

/* Refused elements of one mutant on one target: by each tolerance, by the bound, by some tolerance at all. */
typedef struct {
  double by_measured[SMMA_MOST_TOLERANCES], by_proven[SMMA_MOST_TOLERANCES], by_bound, by_any;
} refusals;

static void count_refusals(const tolerance *x, const target *t, const double *values, const smma_envelope *least,
                           const smma_envelope *measured, const smma_envelope *proven, refusals *r) {
  const double part = 1 / (double)count_of(x);
  memset(r, 0, sizeof *r);
  for (size_t i = 0; i < count_of(x); i++) {
    const smma_bounded *b = &t->bound[i];
    const smma_error_point p = point_of(b, values[i]);
    if (!smma_bounded_accepts(b, values[i])) r->by_bound += part;
    if (!isfinite(b->exact)) continue;
    for (int e = 0; e < measured->edges; e++)
      r->by_measured[e] += smma_tolerance_accepts(measured->edge[e], p) ? 0 : part;
    for (int e = 0; e < proven->edges; e++) r->by_proven[e] += smma_tolerance_accepts(proven->edge[e], p) ? 0 : part;
    if (smma_envelope_refuses(least, p)) r->by_any += part;
  }
}

static void lower(double *least, double x) {
  if (x < *least) *least = x;
}

/* The edge that refuses the most mutants, and of several the most of their elements. */
static int best_edge(const smma_envelope *e, double refused[SMMA_MUTANTS][SMMA_MOST_TOLERANCES],
                     const verdict verdicts[SMMA_MUTANTS]) {
  double most = -1;
  int best = 0;
  for (int edge = 0; edge < e->edges; edge++) {
    double score = 0;
    for (int m = 0; m < SMMA_MUTANTS; m++)
      if (verdicts[m].applies && refused[m][edge] > 0) score += SMMA_MUTANTS + refused[m][edge];
    if (score > most) most = score, best = edge;
  }
  return best;
}

static void round_up(smma_envelope *e) {
  for (int i = 0; i < e->edges; i++) e->edge[i] = smma_tolerance_rounded_up(e->edge[i]);
}

static void try_mutants(tolerance *x) {
  static double by_measured[SMMA_MUTANTS][SMMA_MOST_TOLERANCES], by_proven[SMMA_MUTANTS][SMMA_MOST_TOLERANCES];
  const smma_envelope least = envelope_of(x, 1, false, 0);
  smma_envelope measured = envelope_of(x, x->options->margin, false, NEAR_ZERO);
  smma_envelope proven = envelope_of(x, 1, true, NEAR_ZERO);
  double *values = require_memory(calloc(count_of(x), sizeof *values));
  int best;
  round_up(&measured), round_up(&proven);
  for (int m = 0; m < SMMA_MUTANTS; m++) {
    verdict *v = &x->verdict[m];
    *v = (verdict){smma_mutant_applies((smma_mutant)m, &x->target[0].product), true, 1, 1, 1};
    for (int e = 0; e < SMMA_MOST_TOLERANCES; e++) by_measured[m][e] = by_proven[m][e] = 1;
    for (int i = 0; v->applies && i < x->targets; i++) {
      const target *t = &x->target[i];
      refusals r;
      if (!smma_mutant_compute((smma_mutant)m, t->instruction, &t->product, t->stored, t->d, values))
        smma_die("out of memory");
      count_refusals(x, t, values, &least, &measured, &proven, &r);
      for (int e = 0; e < measured.edges; e++) lower(&by_measured[m][e], r.by_measured[e]);
      for (int e = 0; e < proven.edges; e++) lower(&by_proven[m][e], r.by_proven[e]);
      lower(&v->bound, r.by_bound);
      v->possible = v->possible && r.by_any > 0;
    }
  }
  free(values);
  best = best_edge(&measured, by_measured, x->verdict);
  x->measured = measured.edge[best];
  for (int m = 0; m < SMMA_MUTANTS; m++) x->verdict[m].measured = by_measured[m][best];
  best = best_edge(&proven, by_proven, x->verdict);
  x->proven = proven.edge[best];
  for (int m = 0; m < SMMA_MUTANTS; m++) x->verdict[m].proven = by_proven[m][best];
}

/* ---- Output ---- */

static const char *data_text(const tolerance *x, char text[512]) {
  char kind[32];
  if (x->path[0])
    snprintf(text, 512, "%s times %s", x->path[0], x->path[1]);
  else
    snprintf(text, 512, "data %s", smma_data_text(x->data, kind));
  return text;
}

static void print_heading(const tolerance *x) {
  const target *t = x->target;
  char text[512];
  printf("%zu x %zu x %zu (M x N x K), %s, results in %s", x->m, x->n, x->k, data_text(x, text),
         smma_format_text(t->stored));
  if (t->stored != t->instruction->d) printf(", rounded from %s", smma_format_text(t->instruction->d));
  printf("; measured on %zu elements (%zu x %zu)\n", count_of(x), x->rows, x->columns);
  printf("exact results: |x| 50 %% %.3g, 99 %% %.3g, max %.3g\n\n", x->exact[0], x->exact[2], x->exact[4]);
}

static int width_of(const tolerance *x, bool names) {
  size_t width = names ? 24 : 6;
  for (int i = 0; i < x->targets; i++) {
    const size_t length = strlen(names ? x->target[i].instruction->name : x->target[i].label);
    if (length > width) width = length;
  }
  return (int)width;
}

/* A number of ten columns; "-" for NaN. */
static const char *number(double value, char text[32]) {
  snprintf(text, 32, isnan(value) ? "-" : "%.2e", value);
  return text;
}

static void print_errors(const tolerance *x) {
  const int labels = width_of(x, false), names = width_of(x, true);
  char text[32];
  size_t unbounded = 0, special = 0;
  printf("%-*s  %-8s  %-*s", labels, "GPU", "inputs", names, "|result - exact|");
  for (int i = 0; i < QUANTILES; i++) printf("  %8s", quantile_names[i]);
  printf("  %8s  %9s\n", "bound", "bound/max");
  for (int i = 0; i < x->targets; i++) {
    const target *t = &x->target[i];
    const double most = t->error[QUANTILES - 1];
    printf("%-*s  %-8s  %-*s", labels, t->label, t->inputs, names, t->instruction->name);
    for (int q = 0; q < QUANTILES; q++) printf("  %8s", number(t->error[q], text));
    printf("  %8s", number(t->unbounded ? NAN : t->most_bound, text));
    if (most > 0 && !t->unbounded)
      printf("  %9.2f\n", t->most_bound / most);
    else
      printf("  %9s\n", "-");
    unbounded += t->unbounded, special += t->special;
  }
  printf("bound: the greatest of all elements' bounds, which no result of the unit can exceed (docs/tolerance.md)\n");
  if (unbounded) printf("%zu elements have no bound, because a sum of theirs may overflow\n", unbounded);
  if (special) printf("%zu elements are left out, because operands of theirs are NaN or infinite\n", special);
}

static void print_tolerance(const char *what, smma_tolerance t) {
  printf("%-24s  %8.1e  %8.1e\n", what, t.relative, t.absolute);
}

static const char *verdict_text(double refused, char text[32]) {
  if (refused == 0) return "accepted";
  snprintf(text, 32, refused >= 0.001 ? "refused by %.3g %%" : "refused by %.2g %%", 100 * refused);
  return text;
}

static void print_verdicts(const tolerance *x) {
  char measured[32], proven[32], bound[32];
  printf("\n%-30s  %-19s  %-19s  %-19s\n", "wrong result", "measured", "proven", "each element's bound");
  for (int m = 0; m < SMMA_MUTANTS; m++) {
    const verdict *v = &x->verdict[m];
    if (!v->applies) continue;
    printf("%-30s  %-19s  %-19s  %s\n", smma_mutant_name((smma_mutant)m), verdict_text(v->measured, measured),
           x->is_proven ? verdict_text(v->proven, proven) : "-", verdict_text(v->bound, bound));
  }
  printf("in percent of the elements, on the GPU where they are fewest\n");
}

/* What no rtol and atol can do, and what can. */
static void print_impossible(const tolerance *x) {
  for (int m = 0; m < SMMA_MUTANTS; m++) {
    const verdict *v = &x->verdict[m];
    if (!v->applies || v->measured > 0) continue;
    printf("%s: %s; each element's bound (softmma.assert_close) %s\n", smma_mutant_name((smma_mutant)m),
           v->possible ? "only an rtol and atol with no margin for other data, or that refuse less of the rest, do"
                       : "no rtol and atol that accept these GPUs refuse it on each of them",
           v->bound > 0  ? "does"
           : v->possible ? "does not"
                         : "does not either");
  }
}

static void print_paste_line(const tolerance *x, smma_tolerance t, const char *what) {
  const tolerance_options *o = x->options;
  char text[512];
  printf("# softmma tolerance: %s; K = %zu, %s", what, x->k, data_text(x, text));
  for (int i = 0; i < x->targets; i++) printf("%s%s", i ? ", " : "; ", x->target[i].label);
  printf("\ntorch.testing.assert_close(D.double(), ");
  if (o->alpha != 1) printf("%.9g * (", o->alpha);
  printf("A.double() @ B.double()%s", o->alpha != 1 ? ")" : "");
  if (x->target[0].c.data && o->beta == 1) printf(" + C.double()");
  if (x->target[0].c.data && o->beta != 1) printf(" + %.9g * C.double()", o->beta);
  printf(", rtol=%.1e, atol=%.1e)\n", t.relative, t.absolute);
}

static void print_paste(const tolerance *x) {
  char what[64];
  snprintf(what, sizeof what, x->options->margin == 1 ? "measured" : "%g times what was measured", x->options->margin);
  print_paste_line(x, x->measured, what);
  if (x->is_proven) print_paste_line(x, x->proven, "proven for these operands");
}

static void print_text(const tolerance *x) {
  char what[64];
  print_heading(x);
  print_errors(x);
  printf("\n%-24s  %8s  %8s\n", "accepts all of these", "rtol", "atol");
  snprintf(what, sizeof what, "measured, times %g", x->options->margin);
  print_tolerance(what, x->measured);
  if (x->is_proven) print_tolerance("proven", x->proven);
  print_verdicts(x);
  print_impossible(x);
  putchar('\n');
  print_paste(x);
}

static json_t *tolerance_json(bool there, smma_tolerance t) {
  return there ? json_pack("{s:o, s:o}", "rtol", smma_json_value(t.relative), "atol", smma_json_value(t.absolute))
               : json_null();
}

static json_t *target_json(const target *t) {
  json_t *errors = json_object();
  for (int q = 0; q < QUANTILES; q++) {
    char name[16];
    snprintf(name, sizeof name, q == QUANTILES - 1 ? "max" : "%g", 100 * quantiles[q]);
    json_object_set_new(errors, name, smma_json_value(t->error[q]));
  }
  return json_pack("{s:o, s:s, s:s, s:s, s:o, s:o, s:I, s:I}", "on", smma_json_text(t->label), "arch",
                   smma_arch_name(t->instruction), "instruction", t->instruction->name, "in", t->inputs, "error",
                   errors, "bound", t->unbounded ? json_null() : smma_json_value(t->most_bound), "unbounded",
                   (json_int_t)t->unbounded, "left_out", (json_int_t)t->special);
}

static void print_json(const tolerance *x) {
  json_t *units = json_array(), *mutants = json_array();
  char text[512];
  for (int i = 0; i < x->targets; i++) json_array_append_new(units, target_json(&x->target[i]));
  for (int m = 0; m < SMMA_MUTANTS; m++) {
    const verdict *v = &x->verdict[m];
    if (!v->applies) continue;
    json_array_append_new(
        mutants, json_pack("{s:s, s:o, s:o, s:o, s:b}", "wrong", smma_mutant_name((smma_mutant)m), "measured",
                           json_real(v->measured), "proven", x->is_proven ? json_real(v->proven) : json_null(), "bound",
                           json_real(v->bound), "some_tolerance_refuses", v->possible));
  }
  smma_print_json(json_pack(
      "{s:I, s:I, s:I, s:o, s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "m", (json_int_t)x->m, "n", (json_int_t)x->n, "k",
      (json_int_t)x->k, "data", smma_json_text(data_text(x, text)), "stored", smma_format_text(x->target[0].stored),
      "elements", (json_int_t)count_of(x), "margin", smma_json_value(x->options->margin), "units", units, "measured",
      tolerance_json(true, x->measured), "proven", tolerance_json(x->is_proven, x->proven), "mutants", mutants));
}

/* ---- All ---- */

static void release(tolerance *x) {
  for (int i = 0; i < x->targets; i++) {
    target *t = &x->target[i];
    smma_tensor *const matrices[] = {&t->a, &t->b, &t->c, &t->scale_a, &t->scale_b};
    for (size_t n = 0; n < sizeof matrices / sizeof matrices[0]; n++) smma_tensor_free(matrices[n]);
    free(t->bound), free(t->d);
  }
}

static int run(const tolerance_options *o, const char **paths) {
  static tolerance x;
  smma_progress progress;
  double *space;
  x.options = o;
  x.is_proven = true;
  choose_targets(&x);
  take_operands(&x, paths);
  space = require_memory(calloc(count_of(&x), sizeof *space));
  smma_progress_start(&progress, NULL, 1);
  for (int i = 0; i < x.targets; i++) {
    describe_product(&x, &x.target[i]);
    measure(&x, &x.target[i], space);
    x.is_proven = x.is_proven && !x.target[i].unbounded;
    smma_progress_show(&progress, (size_t)i + 1, (size_t)x.targets);
  }
  smma_progress_end();
  free(space);
  try_mutants(&x);
  if (o->json)
    print_json(&x);
  else if (o->paste)
    print_paste(&x);
  else
    print_text(&x);
  release(&x);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* What --help says behind the options. */
static const char *details(char *text, size_t size) {
  size_t used = (size_t)snprintf(
      text, size,
      "How far each GPU's product is from the exact one, A and B as they are in its formats: measured,\n"
      "and proved; then which rtol and atol accept all of them, and which wrong results these refuse.\n"
      "A and B are files (.npy or FILE.safetensors[:TENSOR]), or random data of a kind:\n");
  for (int kind = 0; kind < SMMA_DATA_KINDS; kind++)
    used += (size_t)snprintf(text + used, size - used, "  %-11s %s\n", smma_data_infos[kind].name,
                             smma_data_infos[kind].what);
  snprintf(text + used, size - used,
           "Example: softmma tolerance --in bf16 --shape 64x64x4096 --store bf16\n"
           "         softmma tolerance --on H100:e4m3,MI300X:e4m3fnuz --data uniform --paste\n");
  return text;
}

int smma_command_tolerance(int argc, const char **argv) {
  tolerance_options o = {.alpha = 1, .beta = 1, .margin = 2, .split_k = 1};
  char text[4096];
  const char **paths;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &o.gpus, 0,
       "GPUs or architectures, each with ':FORMAT' or ':A:B' if not that of --in; all that have it without the option",
       "GPU[:FORMAT],..."},
      {"instr", 0, POPT_ARG_STRING, &o.instructions, 0, "their instruction, by name or alias", "NAME"},
      {"in", 0, POPT_ARG_STRING, &o.in, 0, "format of A and B, or A,B; f16 without it", "FORMAT"},
      {"out", 0, POPT_ARG_STRING, &o.out, 0,
       "format of the unit's results: f32 (f64 for f64, s32 for integers) without it", "FORMAT"},
      {"store", 0, POPT_ARG_STRING, &o.store, 0, "what the kernel rounds results to at last; those of --out without it",
       "FORMAT"},
      {"shape", 0, POPT_ARG_STRING, &o.shape, 0, "of random data; 64x64x4096 without it", "MxNxK"},
      {"data", 0, POPT_ARG_STRING, &o.data, 0, "which random data: below; normal without it", "KIND[=AMOUNT]"},
      {"with-c", 0, POPT_ARG_NONE, &o.with_c, 0, "random data have a C, of N(0, 1)", NULL},
      {"c", 'C', POPT_ARG_STRING, &o.c, 0, "the matrix C; zero without it", "FILE"},
      {"alpha", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.alpha, 0, "factor of A B", "X"},
      {"beta", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.beta, 0, "factor of C", "X"},
      {"split-k", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &o.split_k, 0,
       "cut K into N slices whose results are added in FP32", "N"},
      {"promote-every", 0, POPT_ARG_LONGLONG, &o.promote_every, 0,
       "move partial sums to an FP32 accumulator every N of K", "N"},
      {"margin", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.margin, 0,
       "how many times the measured errors are accepted", "X"},
      {"threads", 't', POPT_ARG_INT, &o.threads, 0, "all cores without it; the result is the same", "N"},
      {"paste", 0, POPT_ARG_NONE, &o.paste, 0, "print only the lines for a kernel's test", NULL},
      {"json", 0, POPT_ARG_NONE, &o.json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  paths = smma_parse_options(argc, argv, options, 0, 2, details(text, sizeof text));
  if (o.split_k < 1) smma_die("--split-k: %lld is not a number of slices; the least is 1", o.split_k);
  if (o.promote_every < 0) smma_die("--promote-every: %lld is negative", o.promote_every);
  if (!(o.margin >= 1 && o.margin <= 1000)) smma_die("--margin: %g is not a number from 1 to 1000", o.margin);
  if (!isfinite(o.alpha) || !isfinite(o.beta)) smma_die("--alpha, --beta: they are finite numbers");
  if (o.threads < 0 || o.threads > 1024)
    smma_die("--threads: %d is not a number from 0 (all cores) to 1024", o.threads);
  return run(&o, paths);
}
