#include <stdlib.h>
#include <string.h>

#include "bench/blas.h"
#include "bench/chart.h"
#include "bench/machine.h"
#include "bench/timing.h"
#include "cli/kernel.h"
#include "cli/output.h"
#include "cli/target.h"
#include "device/device.h"
#include "host/cpu.h"
#include "io/count.h"

enum { MOST_CASES = 64, MOST_SHAPES = 16, MOST_DATA = 32, LARGEST_SIZE = 65536, MOST_REPETITIONS = 1000 };
enum { DEFAULT_SIZE = 1024 };
static const long long most_rows = 100000000;

typedef struct {
  char *gpu, *instructions, *in, *out, *sizes, *shapes, *rows, *data, *kernel, *blas, *chart;
  int multiplier, threads, repetitions, json;
} bench_options;

typedef struct {
  const char *title, *gpu;
  const smma_instruction *instruction;
} bench_case;

/* The size of a product. For test vectors, m is their number, n is 1 and k is the instruction's K. */
typedef struct {
  size_t m, n, k;
} bench_shape;

/* The request, the cases to measure and the library that they are compared with. */
typedef struct {
  const bench_options *options;
  smma_timing_call call;
  bench_case cases[MOST_CASES];
  bench_shape shapes[MOST_SHAPES];
  smma_data data[MOST_DATA]; /* normal data, then the kinds that are compared with normal data */
  size_t case_count, shape_count, data_count;
  const smma_device *device; /* the device that --kernel names; NULL: this CPU */
  smma_blas blas;
  smma_cublas cublas;
  bool has_blas, has_cublas; /* whether OpenBLAS, or cuBLAS on the device, was loaded for comparison */
  smma_bar bars[MOST_CASES * MOST_SHAPES];
  size_t bar_count;
} bench;

static const struct {
  const char *title, *gpu, *instruction;
} families[] = {
#define SMMA_BENCH(title, gpu, instruction) {title, gpu, instruction},
#include "bench.def"
#undef SMMA_BENCH
};

/* ---- What to measure ---- */

static bool names_blas(const bench_options *o) { return o->blas && strcmp(o->blas, "none") != 0; }

static void add_case(bench *b, const char *title, const char *gpu, const smma_instruction *instruction) {
  if (b->case_count == MOST_CASES) smma_die("more than %d instructions; measure them in several runs", MOST_CASES);
  b->cases[b->case_count++] = (bench_case){title, gpu, instruction};
}

static void add_chosen(bench *b, const char *title, const char *gpu, smma_choice choice) {
  smma_error error;
  const smma_instruction *i = smma_choose_instruction(gpu, &choice, &error);
  smma_require(i, &error);
  add_case(b, title, gpu, i);
}

/* Adds the families of the architecture, or of all architectures without --on. */
static void add_families(bench *b, const char *gpu, smma_arch_id arch) {
  for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
    if (!gpu || smma_find_arch(families[f].gpu) == arch)
      add_chosen(b, families[f].title, families[f].gpu, (smma_choice){.instr = families[f].instruction});
  if (b->case_count == 0) smma_die("--on: nothing is measured on %s by default; add --instr NAME or --in FORMAT", gpu);
}

/* Returns the next item of a list separated by commas, and NULL after the last item. Replaces the comma by a zero
   byte. */
static char *next_item(char **list) {
  char *item = *list, *comma = item ? strchr(item, ',') : NULL;
  if (comma) *comma = 0;
  *list = comma ? comma + 1 : NULL;
  return item;
}

static void choose_cases(bench *b) {
  const bench_options *o = b->options;
  char *names = o->instructions, *formats = o->in, *item;
  if (names && (o->in || o->out)) smma_die("%s: --instr already gives it; leave it out", o->in ? "--in" : "--out");
  if (o->out && !o->in) smma_die("--out: it goes with --in FORMAT");
  if (!names && !formats) {
    const smma_instruction *chosen = NULL;
    smma_target target;
    smma_error error;
    smma_require(smma_read_target_or_none(o->gpu, &target, &error) &&
                     smma_chosen(&target, &(smma_choice){.instr = NULL}, &chosen, &error),
                 &error);
    if (chosen)
      add_case(b, o->gpu, o->gpu, chosen);
    else
      add_families(b, o->gpu, target.arch);
  }
  while ((item = next_item(&names))) add_chosen(b, o->gpu, o->gpu, (smma_choice){.instr = item});
  while ((item = next_item(&formats))) add_chosen(b, o->gpu, o->gpu, (smma_choice){.in = item, .out = o->out});
}

static size_t read_size(const char *text, const char *option) {
  long long size;
  if (!smma_read_count(text, &size) || size < 1 || size > LARGEST_SIZE)
    smma_die("%s: '%s' is not a size from 1 to %d", option, text, LARGEST_SIZE);
  return (size_t)size;
}

static void add_shape(bench *b, bench_shape shape) {
  if (b->shape_count == MOST_SHAPES) smma_die("more than %d shapes; measure them in several runs", MOST_SHAPES);
  b->shapes[b->shape_count++] = shape;
}

/* Reads a shape such as "16x8x16". */
static bench_shape read_shape(char *text) {
  char *n = strchr(text, 'x'), *k = n ? strchr(n + 1, 'x') : NULL;
  if (!k) smma_die("--shape: '%s' is not MxNxK, as 16x4096x4096", text);
  *n++ = 0, *k++ = 0;
  return (bench_shape){read_size(text, "--shape"), read_size(n, "--shape"), read_size(k, "--shape")};
}

static void choose_rows(bench *b) {
  const bench_options *o = b->options;
  const char *other = o->sizes ? "--size" : o->shapes ? "--shape" : NULL;
  char *list = o->rows, *item;
  long long rows;
  if (o->kernel && !smma_is_device_name(o->kernel)) other = "--kernel";
  if (o->multiplier) other = "--multiplier";
  if (names_blas(o)) other = "--blas";
  if (other) smma_die("%s: --rows measures smma_dot_rows, which has none; leave it out", other);
  b->call = SMMA_TIMING_ROWS;
  while ((item = next_item(&list))) {
    if (!smma_read_count(item, &rows) || rows < 1 || rows > most_rows)
      smma_die("--rows: '%s' is not a number from 1 to %lld", item, most_rows);
    add_shape(b, (bench_shape){(size_t)rows, 1, 0});
  }
}

static void choose_shapes(bench *b) {
  const bench_options *o = b->options;
  char *sizes = o->sizes, *shapes = o->shapes, *item;
  if (o->rows) {
    choose_rows(b);
    return;
  }
  if (o->multiplier) b->call = SMMA_TIMING_MULTIPLIER;
  if (sizes && shapes) smma_die("--size: --shape already gives it; leave it out");
  if (!sizes && !shapes) add_shape(b, (bench_shape){DEFAULT_SIZE, DEFAULT_SIZE, DEFAULT_SIZE});
  while ((item = next_item(&sizes))) {
    size_t size = read_size(item, "--size");
    add_shape(b, (bench_shape){size, size, size});
  }
  while ((item = next_item(&shapes))) add_shape(b, read_shape(item));
}

static bool fits_any(const bench *b, smma_data data) {
  for (size_t c = 0; c < b->case_count; c++) {
    const smma_operation o = smma_operation_of(b->cases[c].instruction);
    if (smma_data_fits(data, &o)) return true;
  }
  return false;
}

static void add_data(bench *b, smma_data data) {
  if (b->data_count == MOST_DATA) smma_die("--data: more than %d kinds; measure them in several runs", MOST_DATA);
  if (data.kind != SMMA_DATA_NORMAL) b->data[b->data_count++] = data;
}

/* Adds every kind of data that the formats of at least one case can hold, with its default amount. */
static void add_all_data(bench *b) {
  for (int kind = 0; kind < SMMA_DATA_KINDS; kind++) {
    const smma_data data = {.kind = (smma_data_kind)kind, .amount = smma_data_infos[kind].amount};
    if (fits_any(b, data)) add_data(b, data);
  }
}

/* Chooses the kinds of data to measure. Normal data always come first, even if they were not requested. */
static void choose_data(bench *b) {
  char *list = b->options->data, *item;
  smma_error error;
  smma_data data = {.seed = 0};
  b->data[b->data_count++] = (smma_data){.kind = SMMA_DATA_NORMAL};
  while ((item = next_item(&list))) {
    if (strcmp(item, "all") == 0) {
      add_all_data(b);
      continue;
    }
    if (!smma_data_from_text(item, &data, &error)) smma_die("--data: %s", error.text);
    if (fits_any(b, data))
      add_data(b, data);
    else
      smma_note("--data: '%s' is left out: the formats of what is measured do not have it", item);
  }
}

static bool compares_data(const bench *b) { return b->data_count > 1; }

/* Returns the file that --blas names, or NULL for the library of this system, which the library's name means, too. */
static const char *library_file(const char *blas, const char *usual) {
  if (blas && strcmp(blas, usual) != 0 && !strpbrk(blas, "./"))
    smma_die("--blas: '%s' is not compared; type --blas %s for that of this system, the file of one, or none", blas,
             usual);
  return blas && strcmp(blas, usual) != 0 ? blas : NULL;
}

/* Loads the library to compare with: cuBLAS for a CUDA device, otherwise OpenBLAS. A missing library is an error if
   --blas names it; otherwise it is only noted. */
static void load_baseline(bench *b) {
  const bench_options *o = b->options;
  const char *core_type = smma_cpu_has(SMMA_CPU_AVX512) ? "SKYLAKEX" : NULL;
  const bool on_cuda = b->device && strcmp(b->device->driver->name, "cuda") == 0;
  smma_error error;
  if (o->kernel && strcmp(o->kernel, "avx2") == 0) core_type = "HASWELL";
  if ((o->blas && !names_blas(o)) || compares_data(b) || b->call == SMMA_TIMING_ROWS) return;
  const char *file = library_file(o->blas, on_cuda ? "cublas" : "openblas");
  if (on_cuda)
    b->has_cublas = smma_cublas_load(file, b->device, &b->cublas, &error);
  else
    b->has_blas = smma_blas_load(file, core_type, o->threads, &b->blas, &error);
  if (b->has_blas || b->has_cublas) return;
  if (o->blas) smma_die("--blas: %s; name the file of %s, or none", error.text, on_cuda ? "cuBLAS" : "an OpenBLAS");
  smma_note("nothing to compare with: %s", error.text);
}

static bool has_baseline(const bench *b) { return b->has_blas || b->has_cublas; }

/* ---- Results ---- */

/* Returns the name of the loaded library, such as "OpenBLAS 0.3.21 SkylakeX" or "cuBLAS 13.0.2". */
static const char *blas_name(const bench *b, char text[96]) {
  if (b->has_cublas) return b->cublas.name;
  snprintf(text, 96, "OpenBLAS %s %s", b->blas.version, b->blas.kernel);
  return text;
}

static const char *library(const bench *b) { return b->has_cublas ? "cuBLAS" : "OpenBLAS"; }

/* Returns the library and its function that the case is compared with, as a record; null if nothing is compared. */
static smma_datum *baseline_datum(const bench *b, const bench_case *c) {
  char name[96], text[128];
  if (!has_baseline(b)) return smma_datum_null();
  snprintf(text, sizeof text, "%s %s", blas_name(b, name), c->instruction->a == SMMA_F64 ? "DGEMM" : "SGEMM");
  return smma_datum_text(text);
}

static void print_setting(const bench *b) {
  const bench_options *o = b->options;
  const bool rows = b->call == SMMA_TIMING_ROWS;
  char model[128], name[96], rounds[64] = "each measured once";
  if (o->repetitions > 1) snprintf(rounds, sizeof rounds, "medians of %d rounds", o->repetitions);
  printf("CPU       %s\n", smma_cpu_model(model));
  if (b->device)
    printf("device    %s (%s); kernels: their time by its clock\n", b->device->is.name, b->device->is.driver);
  if (b->has_cublas)
    printf("baseline  %s: SGEMM, DGEMM for f64; own: its product of the same formats; kernels alone\n", b->cublas.name);
  if (b->has_blas) printf("baseline  %s kernel: SGEMM, DGEMM for f64\n", blas_name(b, name));
  printf("threads   %d%s\n", o->threads, b->has_blas ? ", both sides on the same cores, in turn" : "");
  if (o->multiplier) printf("multiplier      keeps B; making it takes no part in the time\n");
  printf("figures   %s/s%s, %s\n", rows ? "million rows" : "billion products",
         has_baseline(b)    ? " and their ratio"
         : compares_data(b) ? ", and how many times as long as on normal data a call takes"
                            : "",
         rounds);
}

static void print_heading(const bench *b, const bench_shape *s) {
  if (b->call == SMMA_TIMING_ROWS)
    printf("\n%zu row%s a call of smma_dot_rows\n", s->m, s->m == 1 ? "" : "s");
  else
    printf("\n%zu x %zu x %zu (M x N x K)\n", s->m, s->n, s->k);
  printf("%-20s  %-48s  %-8s  ", "family", "instruction", "kernel");
  if (compares_data(b)) printf("%-14s  ", "data");
  printf("%9s  %8s", "a call", "SoftMMA");
  if (compares_data(b)) printf("  %8s", "slowdown");
  if (b->device) printf("  %8s", "kernels");
  if (has_baseline(b)) printf("  %8s  %7s", library(b), "ratio");
  if (b->has_cublas) printf("  %8s  %7s", "own", "ratio");
  putchar('\n');
}

/* Writes a time with its unit, such as "3.62 us", to `text`. Returns `text`. */
static const char *time_text(double seconds, char text[32]) {
  const char *unit = seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s";
  const double number = seconds < 1e-3 ? 1e6 * seconds : seconds < 1 ? 1e3 * seconds : seconds;
  snprintf(text, 32, number < 100 ? "%.3g %s" : "%.0f %s", number, unit);
  return text;
}

static double products_of(const bench_shape *s) { return (double)s->m * (double)s->n * (double)s->k; }

/* One measurement: a case in one shape, on data of one kind. */
typedef struct {
  const bench_case *subject;
  const bench_shape *shape;
  const char *kernel; /* NULL for test vectors on this CPU, which are not computed by a named kernel */
  smma_data data;
  smma_timing timing;
} result;

static void print_compared(double amount, double seconds, double ratio) {
  if (seconds > 0)
    printf("  %8.3f  %7.4f", amount / seconds, ratio);
  else
    printf("  %8s  %7s", "-", "-");
}

static void print_row(const bench *b, const result *r) {
  const bool rows = b->call == SMMA_TIMING_ROWS;
  const double amount = rows ? (double)r->shape->m * 1e-6 : products_of(r->shape) * 1e-9;
  char time[32], data[32];
  printf("%-20s  %-48s  %-8s  ", r->subject->title, r->subject->instruction->name, r->kernel ? r->kernel : "-");
  if (compares_data(b)) printf("%-14s  ", smma_data_text(r->data, data));
  printf("%9s  %8.3f", time_text(r->timing.seconds, time), amount / r->timing.seconds);
  if (compares_data(b)) printf("  %8.2f", r->timing.slowdown);
  if (b->device) printf("  %8.3f", amount / r->timing.kernel_seconds);
  if (has_baseline(b)) print_compared(amount, r->timing.baseline_seconds, r->timing.ratio);
  if (b->has_cublas) print_compared(amount, r->timing.own_seconds, r->timing.own_ratio);
  putchar('\n');
  fflush(stdout);
}

static smma_datum *number(bool there, double value) { return there ? smma_datum_real(value) : smma_datum_null(); }

/* Prints a result as one JSON object on its own line. */
static void print_object(const bench *b, const result *r) {
  const bool rows = b->call == SMMA_TIMING_ROWS;
  const double gmacs = products_of(r->shape) * 1e-9;
  const smma_timing *t = &r->timing;
  char data[32];
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "on", r->subject->gpu);
  smma_put_text(record, "instr", r->subject->instruction->name);
  smma_put_count(record, rows ? "rows" : "m", r->shape->m);
  if (!rows) smma_put_count(record, "n", r->shape->n);
  smma_put_count(record, "k", r->shape->k);
  smma_put_flag(record, "multiplier", b->options->multiplier);
  smma_put_count(record, "threads", (uint64_t)b->options->threads);
  smma_put_text(record, "kernel", r->kernel);
  smma_put_text(record, "data", smma_data_text(r->data, data));
  smma_put_real(record, "seconds", t->seconds);
  smma_put_real(record, "gmacs", gmacs / t->seconds);
  smma_datum_put(record, "slowdown", number(compares_data(b), t->slowdown));
  smma_datum_put(record, "baseline", baseline_datum(b, r->subject));
  smma_datum_put(record, "baseline_gmacs", number(t->baseline_seconds > 0, gmacs / t->baseline_seconds));
  smma_datum_put(record, "ratio", number(t->baseline_seconds > 0, t->ratio));
  smma_datum_put(record, "kernel_seconds", number(b->device, t->kernel_seconds));
  smma_datum_put(record, "own_gmacs", number(t->own_seconds > 0, gmacs / t->own_seconds));
  smma_datum_put(record, "own_ratio", number(t->own_seconds > 0, t->own_ratio));
  if (!smma_datum_is_complete(record)) smma_die("out of memory");
  smma_datum_write_digits(record, stdout, SMMA_JSON_ONE_LINE, 6);
  putchar('\n');
  fflush(stdout);
  smma_datum_free(record);
}

static void add_bar(bench *b, const result *r) {
  smma_bar *bar = &b->bars[b->bar_count++];
  const bench_case *c = r->subject;
  const bench_shape *s = r->shape;
  /* If the title is only the GPU, the bar also names the instruction. */
  const char *name = c->title == c->gpu ? c->instruction->name : "";
  char shape[64] = "";
  if (b->shape_count > 1 && s->m == s->n && s->n == s->k)
    snprintf(shape, sizeof shape, ", %zu", s->m);
  else if (b->shape_count > 1)
    snprintf(shape, sizeof shape, ", %zu x %zu x %zu", s->m, s->n, s->k);
  snprintf(bar->label, sizeof bar->label, "%s%s%s%s", c->title, *name ? " " : "", name, shape);
  bar->group = c->instruction->origin ? "custom" : smma_architectures[c->instruction->arch].vendor;
  bar->value = has_baseline(b) ? r->timing.ratio : products_of(s) * 1e-9 / r->timing.seconds;
}

/* Selects the kinds of data that the instruction's formats can represent, and returns their number. */
static size_t data_of(const bench *b, const smma_instruction *i, smma_data data[MOST_DATA]) {
  const smma_operation o = smma_operation_of(i);
  size_t count = 0;
  for (size_t d = 0; d < b->data_count; d++)
    if (smma_data_fits(b->data[d], &o)) data[count++] = b->data[d];
  return count;
}

static void measure(bench *b, const bench_case *c, bench_shape s) {
  const bench_options *o = b->options;
  smma_data data[MOST_DATA];
  smma_timing timings[MOST_DATA];
  smma_error error;
  smma_timing_setup setup = {
      .call = b->call, .threads = o->threads, .repetitions = o->repetitions, .kernel = o->kernel};
  if (b->call == SMMA_TIMING_ROWS) s.k = (size_t)c->instruction->k;
  setup.m = s.m, setup.n = s.n, setup.k = s.k;
  setup.data = data, setup.data_count = data_of(b, c->instruction, data);
  setup.blas = b->has_blas ? &b->blas : NULL;
  setup.device = b->device, setup.cublas = b->has_cublas ? &b->cublas : NULL;
  smma_require(smma_time(c->instruction, &setup, timings, &error), &error);
  for (size_t d = 0; d < setup.data_count; d++) {
    const char *kernel = b->call == SMMA_TIMING_ROWS ? o->kernel : smma_kernel_for(c->instruction, o->kernel, NULL);
    const result r = {c, &s, kernel, data[d], timings[d]};
    if (o->json)
      print_object(b, &r);
    else
      print_row(b, &r);
    if (!compares_data(b)) add_bar(b, &r);
  }
}

static void draw(const bench *b) {
  const bench_options *o = b->options;
  const bench_shape *s = b->shapes;
  char model[128], name[96], subtitle[512], size[64] = "";
  smma_error error;
  smma_chart chart = {.title = "SoftMMA: products per second, bit for bit as GPUs compute them",
                      .subtitle = subtitle,
                      .axis = "billion products per second",
                      .bars = b->bars,
                      .count = b->bar_count};
  if (b->shape_count == 1) snprintf(size, sizeof size, "%zu x %zu x %zu, ", s->m, s->n, s->k);
  snprintf(subtitle, sizeof subtitle, "%s%d thread%s, %s", size, o->threads, o->threads > 1 ? "s" : "",
           smma_cpu_model(model));
  if (has_baseline(b)) {
    size_t used = strlen(subtitle);
    snprintf(subtitle + used, sizeof subtitle - used, "; %s", blas_name(b, name));
    chart.axis = b->has_cublas ? "ratio to cuBLAS SGEMM (f64: DGEMM) on the same device"
                               : "ratio to OpenBLAS SGEMM (f64: DGEMM) on the same cores";
    chart.reference = library(b);
  }
  if (!smma_chart_draw(&chart, o->chart, &error)) smma_die("--chart: %s", error.text);
}

static void prepare_chart(const bench *b) {
  const char *chart = b->options->chart;
  smma_error error;
  if (b->options->rows || compares_data(b))
    smma_die("--chart: it shows products of normal data; leave out %s", b->options->rows ? "--rows" : "--data");
  smma_require(smma_check_file(chart, "--chart", "the table", &error) && smma_check_writable(chart, "--chart", &error),
               &error);
  if (!smma_chart_possible(&error)) smma_die("--chart: %s", error.text);
}

static int run(const bench_options *o) {
  static bench b;
  char message[SMMA_DEVICE_MESSAGE];
  smma_error error;
  b.options = o;
  smma_require(smma_check_kernel(o->kernel, &error), &error);
  if (smma_is_device_name(o->kernel)) b.device = smma_device_open(o->kernel, message);
  choose_cases(&b);
  choose_shapes(&b);
  choose_data(&b);
  if (compares_data(&b) && names_blas(o))
    smma_die("--blas: with --data it is normal data that is compared with; leave it out");
  if (o->chart) prepare_chart(&b);
  smma_keep_to_processors(o->threads);
  load_baseline(&b);
  if (!o->json) print_setting(&b);
  for (size_t s = 0; s < b.shape_count; s++) {
    if (!o->json) print_heading(&b, &b.shapes[s]);
    for (size_t c = 0; c < b.case_count; c++) measure(&b, &b.cases[c], b.shapes[s]);
  }
  if (o->chart) draw(&b);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* Returns what --help prints after the options. */
static const char *details(char *text, size_t size) {
  size_t used = (size_t)snprintf(
      text, size,
      "Operands are N(0, 1), rounded to the instruction's formats. SoftMMA and OpenBLAS run alternately, in\n"
      "this process and on the same cores. OpenBLAS uses its AVX-512 kernel if the CPU has AVX-512, and\n"
      "its AVX2 kernel with --kernel avx2.\n"
      "\n"
      "On a device (--kernel opencl or cuda), the figures called kernels are the time of the kernels by the\n"
      "device's clock, without transfers. With cuda, the comparison is with kernels of cuBLAS: SGEMM and,\n"
      "if cuBLAS has one, a product in the instruction's formats (on tensor cores).\n"
      "\n"
      "With --data, normal data and the named kinds are multiplied alternately, without OpenBLAS. The\n"
      "slowdown is the ratio of their times. Values that a format does not have are left out.\n"
      "Kinds of A and B:\n");
  for (int kind = 0; kind < SMMA_DATA_KINDS; kind++)
    used += (size_t)snprintf(text + used, size - used, "  %-11s %s\n", smma_data_infos[kind].name,
                             smma_data_infos[kind].what);
  snprintf(text + used, size - used,
           "  all         each of these\n"
           "\n"
           "Times of one thread are CPU time; calls too short for the clock are repeated.\n");
  return text;
}

int smma_command_bench(int argc, const char **argv) {
  bench_options o = {.threads = 1, .repetitions = 5};
  char text[4608];
  int processors = smma_processor_count(), status;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &o.gpu, 0,
       "the GPU or architecture, without --instr and --in its families (default: one instruction of every family)",
       "GPU"},
      {"instr", 0, POPT_ARG_STRING, &o.instructions, 0, "the instructions, by name or alias", "NAME[,NAME...]"},
      {"in", 0, POPT_ARG_STRING, &o.in, 0, "formats of A and B, which select the preferred instructions",
       "FORMAT[,FORMAT...]"},
      {"out", 0, POPT_ARG_STRING, &o.out, 0, "with --in: format of D (default: f32; f64 for f64, s32 for integers)",
       "FORMAT"},
      {"json", 0, POPT_ARG_NONE, &o.json, 0, "print one JSON object a line", NULL},
      {"chart", 0, POPT_ARG_STRING, &o.chart, 0, "draw the ratios as bars, with gnuplot", "FILE.svg"},
      SMMA_OPTION_GROUP("What to compute:"),
      {"size", 0, POPT_ARG_STRING, &o.sizes, 0, "M = N = K (default: 1024)", "N[,N...]"},
      {"shape", 0, POPT_ARG_STRING, &o.shapes, 0, "instead of --size: products of M x K and K x N matrices",
       "MxNxK[,MxNxK...]"},
      {"multiplier", 0, POPT_ARG_NONE, &o.multiplier, 0, "products by the library's multipliers, which keep B prepared",
       NULL},
      {"rows", 0, POPT_ARG_STRING, &o.rows, 0,
       "instead of products: this many single dot-product-adds a call (smma_dot_rows)", "N[,N...]"},
      {"data", 0, POPT_ARG_STRING, &o.data, 0, "other operands than N(0, 1), from the list below",
       "KIND[=AMOUNT][,KIND...]"},
      SMMA_OPTION_GROUP("How to measure:"),
      {"threads", 't', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o.threads, 0,
       "number of threads of both sides, 0 for all cores", "T"},
      {"kernel", 0, POPT_ARG_STRING, &o.kernel, 0, "SoftMMA's kernel (default: the fastest)", "NAME"},
      {"repetitions", 'r', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o.repetitions, 0,
       "number of runs, of which the median is taken", "R"},
      {"blas", 0, POPT_ARG_STRING, &o.blas, 0,
       "the OpenBLAS (or cuBLAS) library to compare with, or none (default: openblas, the system's; on CUDA cublas)",
       "FILE|NAME|none"},
      POPT_TABLEEND};
  if (!smma_parse_options(argc, argv, options, 0, 0, details(text, sizeof text), &status)) return status;
  if (o.threads < 0 || o.threads > 1024)
    smma_die("--threads: %d is not a number from 0 (all cores) to 1024", o.threads);
  if (o.threads > processors) smma_note("%d threads share %d processors", o.threads, processors);
  if (o.threads == 0) o.threads = processors;
  if (o.repetitions < 1 || o.repetitions > MOST_REPETITIONS)
    smma_die("--repetitions: %d is not a number from 1 to %d", o.repetitions, MOST_REPETITIONS);
  return run(&o);
}
