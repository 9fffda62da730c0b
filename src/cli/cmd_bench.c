#include <stdlib.h>
#include <string.h>

#include "cli/blas.h"
#include "cli/chart.h"
#include "cli/choose.h"
#include "cli/machine.h"
#include "cli/output.h"
#include "cli/target.h"
#include "cli/timing.h"
#include "io/count.h"

enum { MOST_CASES = 64, MOST_SIZES = 16, LARGEST_SIZE = 65536, MOST_REPETITIONS = 1000, DEFAULT_SIZE = 1024 };

typedef struct {
  char *gpu, *instructions, *in, *out, *sizes, *m, *n, *k, *kernel, *blas, *chart;
  int threads, repetitions, json;
} bench_options;

typedef struct {
  const char *title, *gpu;
  const smma_instruction *instruction;
} bench_case;

typedef struct {
  size_t m, n, k;
} bench_size;

/* What is measured, and what is known of it by now. */
typedef struct {
  const bench_options *options;
  bench_case cases[MOST_CASES];
  bench_size sizes[MOST_SIZES];
  size_t case_count, size_count;
  smma_blas blas;
  bool has_blas;
  smma_bar bars[MOST_CASES * MOST_SIZES];
  size_t bar_count;
} bench;

static const struct {
  const char *title, *gpu, *instruction;
} families[] = {
#define SMMA_BENCH(title, gpu, instruction) {title, gpu, instruction},
#include "cli/bench.def"
#undef SMMA_BENCH
};

/* ---- What to measure ---- */

static void add_case(bench *b, const char *title, const char *gpu, const smma_instruction *instruction) {
  if (b->case_count == MOST_CASES) smma_die("more than %d instructions; measure them in several runs", MOST_CASES);
  b->cases[b->case_count++] = (bench_case){title, gpu, instruction};
}

/* The families of the architecture; all of them without --on. */
static void add_families(bench *b, const char *gpu, smma_arch_id arch) {
  for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
    if (!gpu || smma_find_arch(families[f].gpu) == arch)
      add_case(b, families[f].title, families[f].gpu,
               smma_require_instruction(families[f].gpu, families[f].instruction, NULL));
  if (b->case_count == 0) smma_die("--on: nothing is measured on %s unasked; add --instr NAME or --in FORMAT", gpu);
}

/* The next item of a list separated by commas, which is cut there; NULL past the last. */
static char *next_item(char **list) {
  char *item = *list, *comma = item ? strchr(item, ',') : NULL;
  if (comma) *comma = 0;
  *list = comma ? comma + 1 : NULL;
  return item;
}

static void choose_cases(bench *b) {
  const bench_options *o = b->options;
  char *names = o->instructions, *formats = o->in, *item;
  if (names && (o->in || o->out)) smma_die("%s: --instr says it already; leave it out", o->in ? "--in" : "--out");
  if (o->out && !o->in) smma_die("--out: it goes with --in FORMAT");
  if (!names && !formats) {
    const smma_target target = smma_target_or_none(o->gpu);
    if (target.custom)
      add_case(b, o->gpu, o->gpu, target.custom);
    else
      add_families(b, o->gpu, target.arch);
  }
  while ((item = next_item(&names))) add_case(b, o->gpu, o->gpu, smma_choose_instruction(o->gpu, item, NULL, NULL));
  while ((item = next_item(&formats))) add_case(b, o->gpu, o->gpu, smma_choose_instruction(o->gpu, NULL, item, o->out));
}

static size_t read_size(const char *text, const char *option) {
  long long size;
  if (!smma_read_count(text, &size) || size < 1 || size > LARGEST_SIZE)
    smma_die("%s: '%s' is not a size from 1 to %d", option, text, LARGEST_SIZE);
  return (size_t)size;
}

static void add_size(bench *b, size_t m, size_t n, size_t k) {
  if (b->size_count == MOST_SIZES) smma_die("--size: more than %d sizes; measure them in several runs", MOST_SIZES);
  b->sizes[b->size_count++] = (bench_size){m, n, k};
}

static void choose_sizes(bench *b) {
  const bench_options *o = b->options;
  char *list = o->sizes, *item;
  if (o->m || o->n || o->k) {
    const char *missing = !o->m ? "--m" : !o->n ? "--n" : !o->k ? "--k" : NULL;
    if (o->sizes) smma_die("--size: --m, --n and --k say it already; leave it out");
    if (missing) smma_die("%s is missing; --m, --n and --k go together (or --size N for all three)", missing);
    add_size(b, read_size(o->m, "--m"), read_size(o->n, "--n"), read_size(o->k, "--k"));
  } else if (!o->sizes) {
    add_size(b, DEFAULT_SIZE, DEFAULT_SIZE, DEFAULT_SIZE);
  }
  while ((item = next_item(&list))) {
    size_t size = read_size(item, "--size");
    add_size(b, size, size, size);
  }
}

/* --blas FILE must be there; the OpenBLAS of the system may be missing, which is noted. */
static void load_baseline(bench *b) {
  const bench_options *o = b->options;
  const char *core_type = smma_cpu_has_avx512() ? "SKYLAKEX" : NULL;
  smma_error error;
  if (o->kernel && strcmp(o->kernel, "avx2") == 0) core_type = "HASWELL";
  if (o->blas && strcmp(o->blas, "none") == 0) return;
  b->has_blas = smma_blas_load(o->blas, core_type, o->threads, &b->blas, &error);
  if (!b->has_blas && o->blas) smma_die("--blas: %s; name the file of an OpenBLAS, or none", error.text);
  if (!b->has_blas) smma_note("nothing to compare with: %s", error.text);
}

/* ---- Results ---- */

/* "OpenBLAS 0.3.21 SkylakeX" */
static const char *blas_name(const bench *b, char text[96]) {
  snprintf(text, 96, "OpenBLAS %s %s", b->blas.version, b->blas.kernel);
  return text;
}

/* The same with the function that is compared with; null without. */
static json_t *baseline_json(const bench *b, const bench_case *c) {
  char name[96], text[128];
  if (!b->has_blas) return json_null();
  snprintf(text, sizeof text, "%s %s", blas_name(b, name), c->instruction->a == SMMA_F64 ? "DGEMM" : "SGEMM");
  return smma_json_text(text);
}

static void print_setting(const bench *b) {
  const bench_options *o = b->options;
  char model[128], name[96], rounds[64] = "each measured once";
  if (o->repetitions > 1) snprintf(rounds, sizeof rounds, "medians of %d rounds", o->repetitions);
  printf("CPU       %s\n", smma_cpu_model(model));
  if (b->has_blas) printf("baseline  %s kernel: SGEMM, DGEMM for f64\n", blas_name(b, name));
  printf("threads   %d%s\n", o->threads, b->has_blas ? ", both sides on the same cores, in turn" : "");
  printf("figures   billion products/s%s, %s\n", b->has_blas ? " and their ratio" : "", rounds);
}

static void print_heading(const bench_size *s) {
  printf("\n%zu x %zu x %zu (M x N x K)\n", s->m, s->n, s->k);
  printf("%-20s  %-48s  %-8s  %8s  %8s  %7s\n", "family", "instruction", "kernel", "SoftMMA", "OpenBLAS", "ratio");
}

static void print_row(const bench_case *c, const char *kernel, const smma_timing *t, bool has_blas) {
  printf("%-20s  %-48s  %-8s  %8.3f", c->title, c->instruction->name, kernel, t->rate / 1e9);
  if (has_blas)
    printf("  %8.3f  %7.4f\n", t->baseline_rate / 1e9, t->ratio);
  else
    printf("  %8s  %7s\n", "-", "-");
  fflush(stdout);
}

/* One object, on a line of its own. */
static void print_object(const bench *b, const bench_case *c, const bench_size *s, const char *kernel,
                         const smma_timing *t) {
  json_t *object =
      json_pack("{s:o, s:s, s:I, s:I, s:I, s:i, s:s, s:f, s:o, s:o, s:o}", "on", smma_json_text(c->gpu), "instr",
                c->instruction->name, "m", (json_int_t)s->m, "n", (json_int_t)s->n, "k", (json_int_t)s->k, "threads",
                b->options->threads, "kernel", kernel, "gmacs", t->rate / 1e9, "baseline", baseline_json(b, c),
                "baseline_gmacs", b->has_blas ? json_real(t->baseline_rate / 1e9) : json_null(), "ratio",
                b->has_blas ? json_real(t->ratio) : json_null());
  json_dumpf(object, stdout, JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
  putchar('\n');
  fflush(stdout);
  json_decref(object);
}

static void add_bar(bench *b, const bench_case *c, const bench_size *s, const smma_timing *t) {
  smma_bar *bar = &b->bars[b->bar_count++];
  const char *name = c->title == c->gpu ? c->instruction->name : ""; /* the title of what is asked for is the GPU */
  char size[32] = "";
  if (b->size_count > 1) snprintf(size, sizeof size, ", %zu", s->m);
  snprintf(bar->label, sizeof bar->label, "%s%s%s%s", c->title, *name ? " " : "", name, size);
  bar->group = c->instruction->origin ? "custom" : smma_architectures[c->instruction->arch].vendor;
  bar->value = b->has_blas ? t->ratio : t->rate / 1e9;
}

static void measure(bench *b, const bench_case *c, const bench_size *s) {
  const bench_options *o = b->options;
  smma_timing_setup setup = {s->m, s->n, s->k, o->threads, o->repetitions, o->kernel, b->has_blas ? &b->blas : NULL};
  const char *kernel = smma_kernel_for(c->instruction, o->kernel);
  smma_timing timing = smma_time_product(c->instruction, &setup);
  if (o->json)
    print_object(b, c, s, kernel, &timing);
  else
    print_row(c, kernel, &timing, b->has_blas);
  add_bar(b, c, s, &timing);
}

static void draw(const bench *b) {
  const bench_options *o = b->options;
  char model[128], name[96], subtitle[512], size[64] = "";
  smma_error error;
  smma_chart chart = {.title = "SoftMMA: products per second, bit for bit as GPUs compute them",
                      .subtitle = subtitle,
                      .axis = "billion products per second",
                      .bars = b->bars,
                      .count = b->bar_count};
  if (b->size_count == 1) snprintf(size, sizeof size, "%zu x %zu x %zu, ", b->sizes[0].m, b->sizes[0].n, b->sizes[0].k);
  snprintf(subtitle, sizeof subtitle, "%s%d thread%s, %s", size, o->threads, o->threads > 1 ? "s" : "",
           smma_cpu_model(model));
  if (b->has_blas) {
    size_t used = strlen(subtitle);
    snprintf(subtitle + used, sizeof subtitle - used, "; %s", blas_name(b, name));
    chart.axis = "ratio to OpenBLAS SGEMM (f64: DGEMM) on the same cores";
    chart.reference = "OpenBLAS";
  }
  if (!smma_chart_draw(&chart, o->chart, &error)) smma_die("--chart: %s", error.text);
}

static int run(const bench_options *o) {
  static bench b;
  smma_error error;
  b.options = o;
  smma_check_kernel(o->kernel);
  choose_cases(&b);
  choose_sizes(&b);
  if (o->chart) {
    smma_require_file(o->chart, "--chart", "the table");
    smma_require_writable(o->chart, "--chart");
    if (!smma_chart_possible(&error)) smma_die("--chart: %s", error.text);
  }
  smma_keep_to_processors(o->threads);
  load_baseline(&b);
  if (!o->json) print_setting(&b);
  for (size_t s = 0; s < b.size_count; s++) {
    if (!o->json) print_heading(&b.sizes[s]);
    for (size_t c = 0; c < b.case_count; c++) measure(&b, &b.cases[c], &b.sizes[s]);
  }
  if (o->chart) draw(&b);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

int smma_command_bench(int argc, const char **argv) {
  bench_options o = {.threads = 1, .repetitions = 5};
  int processors = smma_processor_count();
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &o.gpu, 0, "the GPU or architecture; alone: its families", "GPU"},
      {"instr", 0, POPT_ARG_STRING, &o.instructions, 0, "the instructions, by name or alias", "NAME[,NAME...]"},
      {"in", 0, POPT_ARG_STRING, &o.in, 0, "formats of A and B; picks the preferred instructions",
       "FORMAT[,FORMAT...]"},
      {"out", 0, POPT_ARG_STRING, &o.out, 0, "format of D: f32 (f64 for f64, s32 for integers) without it", "FORMAT"},
      {"size", 0, POPT_ARG_STRING, &o.sizes, 0, "M = N = K; 1024 without it", "N[,N...]"},
      {"m", 0, POPT_ARG_STRING, &o.m, 0, "rows of A and D, with --n and --k", "M"},
      {"n", 0, POPT_ARG_STRING, &o.n, 0, "columns of B and D", "N"},
      {"k", 0, POPT_ARG_STRING, &o.k, 0, "columns of A, rows of B", "K"},
      {"threads", 't', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o.threads, 0, "of both sides; 0: all cores", "T"},
      {"kernel", 0, POPT_ARG_STRING, &o.kernel, 0, "SoftMMA's kernel; the fastest without it", "NAME"},
      {"repetitions", 'r', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o.repetitions, 0, "of which medians are taken",
       "R"},
      {"blas", 0, POPT_ARG_STRING, &o.blas, 0, "the OpenBLAS to compare with; the system's without it", "FILE|none"},
      {"chart", 0, POPT_ARG_STRING, &o.chart, 0, "draw the ratios as bars, with gnuplot", "FILE.svg"},
      {"json", 0, POPT_ARG_NONE, &o.json, 0, "print one object a line", NULL},
      POPT_TABLEEND};
  smma_parse_options(argc, argv, options, 0, 0,
                     "Without --on one instruction of each family is measured. Operands are N(0, 1) rounded to the\n"
                     "instruction's formats. Both sides run in turn, in this process and on the same cores; OpenBLAS\n"
                     "uses its AVX-512 kernel where the CPU has AVX-512, its AVX2 kernel with --kernel avx2.\n"
                     "Example: softmma bench --on H100 --in f16,e4m3 --size 512,2048\n");
  if (o.threads < 0 || o.threads > processors)
    smma_die("--threads: %d is not a number from 0 (all cores) to %d, the processors of this process", o.threads,
             processors);
  if (o.threads == 0) o.threads = processors;
  if (o.repetitions < 1 || o.repetitions > MOST_REPETITIONS)
    smma_die("--repetitions: %d is not a number from 1 to %d", o.repetitions, MOST_REPETITIONS);
  return run(&o);
}
