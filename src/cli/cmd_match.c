#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/choose.h"
#include "cli/matrices.h"
#include "cli/output.h"
#include "cli/plans.h"
#include "cli/target.h"
#include "cli/values.h"
#include "cluster/ranks.h"
#include "host/load.h"
#include "io/sha256.h"
#include "isa/key.h"
#include "match/match.h"

enum {
  MOST_INSTRUCTIONS = 8192,
  MOST_THREADS = 1024,
  MOST_SHOWN = 8,
  FEW_ULPS = 1000,
  MODES = SMMA_ROUND_NEAREST_AWAY + 1
};

typedef struct {
  const char *gpus, *instruction, *in, *out, *c, *scale_a, *scale_b, *bias, *claim, *plan, *round_in;
  double alpha, beta, scale_d;
  int transpose_a, transpose_b, threads, json;
} match_options;

/* What is given, in the formats that it is compared in. */
typedef struct {
  const match_options *options;
  const char *path[3];
  smma_tensor file[2]; /* A and B as their files hold them, not transposed any more */
  smma_tensor a, b, c, d, scale_a, scale_b, bias;
  bool rounded;              /* some value of A or B is not in its format */
  smma_rounding mode[MODES]; /* how A and B may have been rounded; different matrices come from each */
  size_t modes;
  char same_as[MODES][96]; /* other modes that make the same matrices, as text */
  smma_match_data data;
  const smma_instruction *instruction[MOST_INSTRUCTIONS]; /* that are searched */
  size_t instructions;
  const smma_instruction *fma; /* of CUDA cores; or NULL */
} matching;

/* ---- Matrices ---- */

static smma_tensor transposed(const smma_tensor *t) {
  const size_t bytes = (size_t)t->bytes;
  smma_tensor turned = *t;
  turned.rows = t->columns, turned.columns = t->rows;
  turned.data = malloc(t->rows * t->columns * bytes + 1);
  if (!turned.data) smma_die("out of memory");
  for (size_t i = 0; i < t->rows * t->columns; i++)
    smma_store(bytes, turned.data, i % t->columns * t->rows + i / t->columns, smma_load(bytes, t->data, i));
  return turned;
}

static void turn(smma_tensor *t) {
  smma_tensor turned = transposed(t);
  smma_tensor_free(t);
  *t = turned;
}

static void take_as(smma_tensor *t, smma_format wanted, const char *what, const char *path) {
  smma_tensor taken = smma_matrix_as(t, wanted, what, path, false);
  smma_tensor_free(t);
  *t = taken;
}

/* D must keep its bits. */
static void take_d(smma_tensor *t, smma_format wanted, const char *path) {
  smma_tensor back, taken;
  smma_settle_integers(t, wanted, "D", path);
  taken = smma_matrix_as(t, wanted, "D", path, true);
  const size_t count = t->rows * t->columns;
  if (!smma_is_raw(t, wanted) && t->format != wanted) {
    back = smma_matrix_as(&taken, t->format, "D", path, true);
    for (size_t i = 0; i < count; i++) {
      const uint64_t x = smma_load((size_t)t->bytes, t->data, i), y = smma_load((size_t)t->bytes, back.data, i);
      if (x == y || (isnan(smma_value(t->format, x)) && isnan(smma_value(t->format, y)))) continue;
      smma_die("D, %s: [%zu, %zu] is no number of %s; give its format with --out", path, i / t->columns, i % t->columns,
               smma_format_text(wanted));
    }
    smma_tensor_free(&back);
  }
  smma_tensor_free(t);
  *t = taken;
}

/* What a file holds, where no option says it. */
static smma_format format_of(const smma_tensor *t, const char *option, const char *path) {
  if (t->integers && t->format == SMMA_NO_FORMAT)
    smma_die("%s: %s holds %d-bit integers; say in which format they were multiplied, for example %s f16", option, path,
             8 * t->bytes, option);
  if (t->format == SMMA_NO_FORMAT || (t->integers && t->encodings))
    smma_die("%s: %s holds raw encodings; say of which format, for example %s %s", option, path, option,
             t->bytes == 1 ? "e4m3" : "bf16");
  return t->format;
}

static void check_shape(const smma_tensor *t, const char *what, const char *path, size_t rows, size_t columns) {
  if (t->rows == rows && t->columns == columns) return;
  smma_die("%s, %s, is %zu x %zu, but must be %zu x %zu", what, path, t->rows, t->columns, rows, columns);
}

static smma_tensor load_beside(const char *path, const char *option, size_t rows, size_t columns) {
  smma_tensor t = smma_load_matrix(path);
  check_shape(&t, option, path, rows, columns);
  return t;
}

static void load_product(matching *x) {
  const match_options *o = x->options;
  smma_match_data *data = &x->data;
  smma_tensor *a = &x->file[0], *b = &x->file[1];
  *a = smma_load_matrix(x->path[0]), *b = smma_load_matrix(x->path[1]), x->d = smma_load_matrix(x->path[2]);
  if (o->transpose_a) turn(a);
  if (o->transpose_b) turn(b);
  data->m = a->rows, data->k = a->columns, data->n = b->columns;
  if (b->rows != data->k)
    smma_die(
        "%s is %zu x %zu and %s is %zu x %zu: the columns of the first must be the rows of the second "
        "(--transpose-a, --transpose-b)",
        x->path[0], data->m, data->k, x->path[1], b->rows, data->n);
  if (!data->m || !data->n || !data->k)
    smma_die("%s times %s: nothing to compare; M, N or K is 0", x->path[0], x->path[1]);
  check_shape(&x->d, "D", x->path[2], data->m, data->n);
}

/* ---- How A and B were rounded ---- */

static bool same_matrix(const smma_tensor *x, const smma_tensor *y) {
  return memcmp(x->data, y->data, x->rows * x->columns * (size_t)x->bytes) == 0;
}

/* A and B rounded in one mode. */
static void round_operands(const matching *x, smma_rounding mode, smma_tensor made[2]) {
  const smma_format wanted[2] = {x->data.a_format, x->data.b_format};
  for (int i = 0; i < 2; i++) made[i] = smma_matrix_rounded(&x->file[i], wanted[i], mode, "", x->path[i], true);
}

static void take_rounded(matching *x, smma_rounding mode) {
  smma_tensor made[2];
  round_operands(x, mode, made);
  smma_tensor_free(&x->a);
  smma_tensor_free(&x->b);
  x->a = made[0], x->b = made[1];
  x->data.a = x->a.data, x->data.b = x->b.data;
}

/* Whether A and B are others in this mode than in those before; else it is noted with the mode that makes the same. */
static bool is_new_mode(matching *x, smma_rounding mode) {
  smma_tensor made[2], before[2];
  bool is_new = true;
  round_operands(x, mode, made);
  for (size_t i = 0; i < x->modes && is_new; i++) {
    round_operands(x, x->mode[i], before);
    is_new = !same_matrix(&made[0], &before[0]) || !same_matrix(&made[1], &before[1]);
    if (!is_new) smma_append_text(x->same_as[i], sizeof x->same_as[i], ", %s", smma_roundings[mode]);
    smma_tensor_free(&before[0]);
    smma_tensor_free(&before[1]);
  }
  smma_tensor_free(&made[0]);
  smma_tensor_free(&made[1]);
  return is_new;
}

/* The mode of --round-in; or all, that of the format's library first, then by how many libraries have it. */
static void choose_modes(matching *x) {
  static const smma_rounding others[] = {SMMA_ROUND_NEAREST_AWAY, SMMA_ROUND_TOWARD_ZERO, SMMA_ROUND_NEAREST_EVEN,
                                         SMMA_ROUND_DOWN, SMMA_ROUND_UP};
  const smma_format f[2] = {x->data.a_format, x->data.b_format};
  smma_conversion lost[2] = {{0}};
  smma_rounding first = smma_operand_rounding(NULL, NULL, f[0]);
  smma_tensor rounded;
  smma_error error;
  const char *round_in = x->options->round_in;
  if (round_in && !smma_rounding_of(round_in, strlen(round_in), first, &first, &error)) smma_die("%s", error.text);
  x->mode[x->modes++] = first;
  for (int i = 0; i < 2; i++) {
    const smma_label label = {i ? "B" : "A", x->path[i]};
    if (!smma_take_part(&x->file[i], 0, 0, f[i], first, label, &rounded, &lost[i], &error)) smma_die("%s", error.text);
    smma_tensor_free(&rounded);
    if (!smma_is_raw(&x->file[i], f[i]))
      smma_note_taken(&x->file[i], f[i], first, label, x->file[i].rows * x->file[i].columns, &lost[i],
                      &smma_notes_printed);
    x->rounded |= lost[i].changed != 0;
  }
  for (int i = 0; x->rounded && !x->options->round_in && i < MODES; i++)
    if (others[i] != first && is_new_mode(x, others[i])) x->mode[x->modes++] = others[i];
  take_rounded(x, first);
}

static void load_rest(matching *x) {
  const match_options *o = x->options;
  smma_match_data *data = &x->data;
  if (o->c) {
    x->c = load_beside(o->c, "-C", data->m, data->n);
    if (x->c.format == SMMA_NO_FORMAT || smma_is_raw(&x->c, data->d_format)) take_as(&x->c, data->d_format, "C", o->c);
    data->c = x->c.data, data->c_format = x->c.format;
  }
  if (o->bias) {
    x->bias = load_beside(o->bias, "--bias", 1, data->n);
    take_as(&x->bias, SMMA_F32, "--bias", o->bias);
    data->bias = x->bias.data;
  }
  if (!o->scale_a != !o->scale_b) smma_die("--scale-a and --scale-b go together; give both");
  if (!o->scale_a) return;
  x->scale_a = smma_load_matrix(o->scale_a);
  if (!x->scale_a.columns || x->scale_a.columns > data->k)
    smma_die("--scale-a: %s has %zu columns for K = %zu; one for each part of K", o->scale_a, x->scale_a.columns,
             data->k);
  check_shape(&x->scale_a, "--scale-a", o->scale_a, data->m, x->scale_a.columns);
  x->scale_b = load_beside(o->scale_b, "--scale-b", x->scale_a.columns, data->n);
  take_as(&x->scale_a, SMMA_F32, "--scale-a", o->scale_a);
  take_as(&x->scale_b, SMMA_F32, "--scale-b", o->scale_b);
  turn(&x->scale_b);
  data->scale_a = x->scale_a.data, data->scale_b = x->scale_b.data, data->parts = x->scale_a.columns;
}

/* A narrower format whose numbers D's all are, as when it was widened to be saved. */
static void note_width(const matching *x) {
  static const smma_format narrow[] = {SMMA_BF16, SMMA_F16};
  const size_t count = x->d.rows * x->d.columns;
  if (x->options->out || x->d.format != SMMA_F32) return;
  for (size_t f = 0; f < 2; f++) {
    smma_conversion lost;
    smma_tensor t = smma_new_matrix(narrow[f], x->d.rows, x->d.columns);
    smma_convert(SMMA_F32, x->d.data, narrow[f], t.data, count, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT, &lost);
    smma_tensor_free(&t);
    if (lost.changed) continue;
    smma_note("D, %s: all of its f32 are numbers of %s; if that was its format, give --out %s", x->path[2],
              smma_format_text(narrow[f]), smma_format_text(narrow[f]));
    return;
  }
}

static void load(matching *x) {
  const match_options *o = x->options;
  smma_match_data *data = &x->data;
  smma_formats formats = {SMMA_NO_FORMAT, SMMA_NO_FORMAT, SMMA_NO_FORMAT, SMMA_NO_FORMAT, 0};
  load_product(x);
  if (o->in)
    formats = smma_require_formats(o->in, "--in", NULL);
  else
    formats.a = format_of(&x->file[0], "--in", x->path[0]), formats.b = format_of(&x->file[1], "--in", x->path[1]);
  if (formats.scale_block)
    smma_die("--in: %s has scale factors of blocks, of whose products no plans are known; match takes formats without",
             o->in);
  data->a_format = formats.a, data->b_format = formats.b;
  data->d_format = o->out ? smma_require_format(o->out, "--out") : format_of(&x->d, "--out", x->path[2]);
  smma_require_meaning(&x->file[0], formats.a, "A", x->path[0]);
  smma_require_meaning(&x->file[1], formats.b, "B", x->path[1]);
  choose_modes(x);
  note_width(x);
  take_d(&x->d, data->d_format, x->path[2]);
  data->d = x->d.data;
  data->alpha = o->alpha, data->beta = o->beta, data->scale_d = o->scale_d, data->threads = o->threads;
  load_rest(x);
}

static void release(matching *x) {
  smma_tensor *all[] = {&x->file[0], &x->file[1], &x->a, &x->b, &x->c, &x->d, &x->scale_a, &x->scale_b, &x->bias};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) smma_tensor_free(all[i]);
  smma_custom_free(x->fma);
}

/* ---- Instructions ---- */

static void add_instruction(matching *x, const smma_instruction *i) {
  if (x->instructions < MOST_INSTRUCTIONS) x->instruction[x->instructions++] = i;
}

/* Its dense instructions: a sparse one's product is not of two whole matrices. */
static void add_architecture(matching *x, smma_arch_id arch) {
  const smma_instruction *instruction;
  for (size_t i = 0; (instruction = smma_catalogue_at(i)); i++)
    if (instruction->arch == arch && !instruction->sparse) add_instruction(x, instruction);
}

static void add_target(matching *x, const char *text, size_t length) {
  char *name = strndup(text, length);
  if (!name || !length) smma_die("--on: a name is missing in the list; for example --on V100,H100, or all");
  const smma_target target = smma_require_target(name);
  if (target.custom)
    add_instruction(x, target.custom);
  else
    add_architecture(x, target.arch);
  free(name);
}

/* FP32 FMA, which libraries use for small products. */
static void add_cuda_cores(matching *x) {
  char text[256], message[256];
  snprintf(text, sizeof text,
           "{\"softmma-unit\": 1, \"name\": \"fp32-fma\", \"algorithm\": \"FMA\", \"m\": 1, \"n\": 1, \"k\": 1, "
           "\"a\": \"%s\", \"b\": \"%s\", \"d\": \"f32\", \"nan\": \"quiet\"}",
           smma_format_text(x->data.a_format), smma_format_text(x->data.b_format));
  errno = 0;
  x->fma = smma_custom_parse("CUDA cores", text, strlen(text), message, sizeof message);
  if (!x->fma && errno == ENOMEM) smma_die("out of memory"); /* else it multiplies no such formats */
  if (x->fma) add_instruction(x, x->fma);
}

static void add_targets(matching *x) {
  const char *list = x->options->gpus;
  if (!list || strcmp(list, "all") == 0)
    for (int arch = 0; arch < SMMA_ARCH_COUNT; arch++) add_architecture(x, (smma_arch_id)arch);
  else
    for (size_t length; *list; list += length + (list[length] == ',')) {
      length = strcspn(list, ",");
      add_target(x, list, length);
    }
  add_cuda_cores(x);
}

/* ---- What was found, as text ---- */

static bool is_first_of_arch(const smma_match_class *class, size_t i) {
  for (size_t j = 0; j < i; j++)
    if (class->member[j]->arch == class->member[i]->arch) return false;
  return true;
}

static size_t count_of_arch(const smma_match_class *class, size_t i) {
  size_t count = 0;
  for (size_t j = 0; j < class->members; j++) count += class->member[j]->arch == class->member[i]->arch;
  return count;
}

static void print_class(const smma_match_class *class) {
  const smma_rule *rule = &class->member[0]->rule->rule;
  const char *name;
  char value[SMMA_PARAMETER_SIZE];
  for (size_t i = 0; i < class->members; i++) {
    if (!is_first_of_arch(class, i)) continue;
    printf("%s%s %s", i ? ", " : "", smma_arch_name(class->member[i]), class->member[i]->name);
    if (count_of_arch(class, i) > 1) printf(" (and %zu more)", count_of_arch(class, i) - 1);
  }
  printf("\n   %s", smma_model_name(rule));
  for (int p = 0; smma_parameter(rule, p, &name, value, sizeof value); p++) printf(" %s=%s", name, value);
  putchar('\n');
}

static void print_candidate(const smma_match *m, const smma_match_candidate *c, bool same_class) {
  if (!same_class) print_class(&m->class[c->of]);
  printf("%s%s\n", same_class ? "the same by " : "   ", c->text);
  for (size_t i = 0; i < c->libraries; i++) {
    printf("   as %s", c->library[i].text);
    if (c->library[i].others) printf(" (and %zu more configurations)", c->library[i].others);
    putchar('\n');
  }
}

static void print_apart(const smma_match *m, size_t f) {
  printf("   cannot tell from 1, because these matrices give the same; of %d random elements %d differ\n",
         SMMA_MATCH_SAMPLE, m->fit[f].differs_at_random);
}

static void print_exact(const matching *x, const smma_match *m) {
  const bool integer = x->data.d_format == SMMA_S32;
  if (!m->exact) return;
  printf(
      "every partial sum of A B is a number of %s here, so that additions in it never round, and their order cannot\n"
      "show%s\n",
      integer || x->data.d_format == SMMA_F64 ? smma_format_text(x->data.d_format) : "f32",
      integer ? "" : "; matrices of numbers with more significant bits can tell");
}

static void print_fits(const matching *x, const smma_match *m) {
  printf("fits: all %zu elements\n", x->data.m * x->data.n);
  for (size_t f = 0; f < m->fits && f < MOST_SHOWN; f++) {
    printf("%-2zu ", f + 1);
    print_candidate(m, &m->fit[f], f && m->fit[f].of == m->fit[0].of);
    if (f) print_apart(m, f);
  }
  if (m->fits > MOST_SHOWN) printf("and %zu more, which --json lists\n", m->fits - MOST_SHOWN);
  if (m->untried)
    printf("%zu more give the same in all samples; they were not computed in whole\n", m->untried);
  else
    printf("nothing else fits\n");
  print_exact(x, m);
}

/* "rows 61 to 63", or an empty text where they are all over. */
static void lines_text(const char *what, size_t first, size_t last, size_t all, char *text, size_t size) {
  text[0] = 0;
  if (last - first + 1 > all / 2) return;
  if (first == last)
    snprintf(text, size, "%s %zu", what, first);
  else
    snprintf(text, size, "%ss %zu to %zu", what, first, last);
}

static void difference_text(const matching *x, const smma_match_difference *d, char *text, size_t size) {
  char rows[64], columns[64];
  char ulps[64] = "";
  if (!d->special && d->largest_ulps == 1)
    snprintf(ulps, sizeof ulps, ", by one unit in the last place");
  else if (!d->special && d->largest_ulps < FEW_ULPS)
    snprintf(ulps, sizeof ulps, ", by at most %llu units in the last place", (unsigned long long)d->largest_ulps);
  lines_text("row", d->first_row, d->last_row, x->data.m, rows, sizeof rows);
  lines_text("column", d->first_column, d->last_column, x->data.n, columns, sizeof columns);
  if (d->different == 1)
    snprintf(text, size, "one element, [%zu, %zu]%s", d->row, d->column, ulps);
  else
    snprintf(text, size, "%zu of %zu elements%s%s%s%s%s", d->different, x->data.m * x->data.n,
             *rows || *columns ? ", all in " : "", rows, *rows && *columns ? " and " : "", columns, ulps);
}

static void print_first(const matching *x, const smma_match_difference *d) {
  const smma_format f = x->data.d_format;
  char hex[2][24], value[2][40];
  printf("   [%zu, %zu] is %s %s, there %s %s\n", d->row, d->column, smma_hex_text(f, d->wanted, hex[0]),
         smma_value_text(f, d->wanted, value[0]), smma_hex_text(f, d->got, hex[1]),
         smma_value_text(f, d->got, value[1]));
}

/* What is wrong with all candidates at once. */
static const char *hint_text(const smma_match *m, char *text, size_t size) {
  text[0] = 0;
  if (m->factor && fabs(m->factor - 1) > 0.05)
    snprintf(text, size, "D is %.4g times what A, B and the rest give: --alpha?", m->factor);
  else if (m->distance > 0.1)
    snprintf(text, size,
             "D is not near the product, but off by %.2g of it: other matrices, a transposed one, another format?",
             m->distance);
  return text;
}

static void print_none(const matching *x, const smma_match *m) {
  char text[256];
  printf("none: no candidate gives all %zu elements\n", x->data.m * x->data.n);
  if (*hint_text(m, text, sizeof text)) printf("%s\n", text);
  if (!x->options->in && x->data.a_format == SMMA_F32 && x->data.b_format == SMMA_F32)
    printf(
        "only products in f32, which the files hold, were tried; if it was made in another format, give --in tf32,\n"
        "--in bf16 or --in f16\n");
  if (!m->has_near) return;
  difference_text(x, &m->near.difference, text, sizeof text);
  printf("nearest, but for %s:\n   ", text);
  print_candidate(m, &m->near, false);
  print_first(x, &m->near.difference);
}

/* "nearest-even, toward-zero" */
static const char *modes_text(const matching *x, char *text, size_t size) {
  text[0] = 0;
  for (size_t i = 0; i < x->modes; i++)
    smma_append_text(text, size, "%s%s%s", i ? ", " : "", smma_roundings[x->mode[i]], x->same_as[i]);
  return text;
}

/* How A and B are rounded in what is found; nothing where all their values are in the format. */
static void print_mode(const matching *x, bool fits, size_t mode) {
  char tried[256];
  if (!x->rounded) return;
  if (fits)
    printf("A and B rounded by --round-in %s%s%s\n", smma_roundings[x->mode[mode]],
           *x->same_as[mode] ? "; the same numbers by " : "", *x->same_as[mode] ? x->same_as[mode] + 2 : "");
  else
    printf("A and B rounded in each of these ways: %s; nearest by %s\n", modes_text(x, tried, sizeof tried),
           smma_roundings[x->mode[mode]]);
}

static void print_match(const matching *x, const smma_match *m, size_t mode, double seconds) {
  char inputs[64];
  snprintf(inputs, sizeof inputs, "%s%s%s", smma_format_text(x->data.a_format),
           x->data.a_format == x->data.b_format ? "" : ",",
           x->data.a_format == x->data.b_format ? "" : smma_format_text(x->data.b_format));
  printf("A (%zu x %zu) times B (%zu x %zu) in %s, D in %s\n", x->data.m, x->data.k, x->data.k, x->data.n, inputs,
         smma_format_text(x->data.d_format));
  printf("%zu plans around %zu functions of instructions: %zu candidates that differ with this K, %.1f s\n\n", m->plans,
         m->classes, m->candidates, seconds);
  print_mode(x, m->fits, mode);
  if (m->fits)
    print_fits(x, m);
  else
    print_none(x, m);
}

/* ---- As JSON ---- */

static json_t *plan_json(const smma_plan *plan) {
  const size_t size = smma_plan_text(plan, NULL, 0) + 1;
  char *text = malloc(size);
  json_t *json;
  if (!text) smma_die("out of memory");
  smma_plan_text(plan, text, size);
  json = json_loads(text, 0, NULL);
  free(text);
  return json ? json : json_null();
}

static json_t *element_json(smma_format f, uint64_t x) {
  char hex[24];
  return json_pack("{s:s, s:o}", "hex", smma_hex_text(f, x, hex), "value", smma_json_value(smma_value(f, x)));
}

static json_t *difference_json(const matching *x, const smma_match_difference *d) {
  const smma_format f = x->data.d_format;
  char text[256] = "";
  if (!d->different) return json_pack("{s:i}", "different", 0);
  difference_text(x, d, text, sizeof text);
  return json_pack("{s:I, s:s, s:[I, I], s:o, s:o, s:[I, I], s:[I, I], s:I, s:I}", "different",
                   (json_int_t)d->different, "in_words", text, "first", (json_int_t)d->row, (json_int_t)d->column, "d",
                   element_json(f, d->wanted), "computed", element_json(f, d->got), "rows", (json_int_t)d->first_row,
                   (json_int_t)d->last_row, "columns", (json_int_t)d->first_column, (json_int_t)d->last_column,
                   "largest_ulps", (json_int_t)(d->largest_ulps <= INT64_MAX ? d->largest_ulps : INT64_MAX), "special",
                   (json_int_t)d->special);
}

static json_t *candidate_json(const matching *x, const smma_match *m, const smma_match_candidate *c) {
  const smma_match_class *class = &m->class[c->of];
  json_t *instructions = json_array(), *libraries = json_array();
  for (size_t i = 0; i < class->members; i++)
    json_array_append_new(
        instructions, json_pack("{s:o, s:s}", "arch", smma_json_text(smma_arch_name(class->member[i])), "instruction",
                                class->member[i]->name));
  for (size_t i = 0; i < c->libraries; i++)
    json_array_append_new(libraries, json_pack("{s:s, s:s, s:I}", "library", c->library[i].name, "configuration",
                                               c->library[i].text, "others", (json_int_t)c->library[i].others));
  return json_pack("{s:o, s:s, s:o, s:o, s:i, s:o}", "instructions", instructions, "in_words", c->text, "plan",
                   plan_json(c->plan), "libraries", libraries, "differs_at_random", c->differs_at_random, "difference",
                   difference_json(x, &c->difference));
}

static json_t *match_json(const matching *x, const smma_match *m, size_t mode, double seconds) {
  json_t *fits = json_array(), *tried = json_array();
  char hint[256];
  for (size_t f = 0; f < m->fits; f++) json_array_append_new(fits, candidate_json(x, m, &m->fit[f]));
  for (size_t i = 0; x->rounded && i < x->modes; i++)
    json_array_append_new(tried, json_string(smma_roundings[x->mode[i]]));
  return json_pack("{s:I, s:I, s:I, s:s, s:s, s:s, s:s?, s:o, s:I, s:I, s:I, s:I, s:o, s:I, s:o, s:b, s:s, s:f}", "m",
                   (json_int_t)x->data.m, "n", (json_int_t)x->data.n, "k", (json_int_t)x->data.k, "a_format",
                   smma_format_text(x->data.a_format), "b_format", smma_format_text(x->data.b_format), "d_format",
                   smma_format_text(x->data.d_format), "round_in", x->rounded ? smma_roundings[x->mode[mode]] : NULL,
                   "round_in_tried", tried, "plans", (json_int_t)m->plans, "functions", (json_int_t)m->classes,
                   "candidates", (json_int_t)m->candidates, "chain_products", (json_int_t)m->products, "fits", fits,
                   "untried", (json_int_t)m->untried, "near",
                   m->has_near ? candidate_json(x, m, &m->near) : json_null(), "exact", m->exact, "hint",
                   m->fits ? "" : hint_text(m, hint, sizeof hint), "seconds", seconds);
}

/* ---- The search ---- */

static void write_plan(const match_options *o, const smma_match *m) {
  smma_output output;
  char *text;
  size_t size;
  if (!o->plan) return;
  if (!m->fits) smma_die("-o: nothing fits, so that there is no plan to write");
  size = smma_plan_text(m->fit[0].plan, NULL, 0) + 1;
  text = malloc(size);
  if (!text) smma_die("out of memory");
  smma_plan_text(m->fit[0].plan, text, size);
  smma_begin_output(o->plan, "-o", &output);
  fputs(text, output.stream);
  free(text);
  if (smma_end_output(&output, "-o") != SMMA_EXIT_EQUAL) exit(SMMA_EXIT_FAILED);
}

/* Plans of fits say how A and B were rounded, so that a product by them gives D. */
static void note_mode(smma_match *m, smma_rounding mode) {
  for (size_t f = 0; f < m->fits; f++)
    m->fit[f].plan->has_operand_rounding = true, m->fit[f].plan->operand_rounding = mode;
}

/* Searches with A and B rounded in each mode until something fits, else keeps the mode that comes nearest; all ranks
   search alike. Returns the mode's number. */
static size_t search_modes(matching *x, const smma_group *ranks, smma_match *best) {
  static smma_match m;
  size_t kept = 0;
  smma_error error;
  for (size_t i = 0; i < x->modes; i++) {
    bool found, nearer;
    take_rounded(x, x->mode[i]);
    if (!smma_match_search(&x->data, x->instruction, x->instructions, ranks, &m, &error)) smma_die("%s", error.text);
    found = m.fits;
    smma_ranks_share(&found, sizeof found);
    nearer = i == 0 || found ||
             (m.has_near && best->has_near && m.near.difference.different < best->near.difference.different);
    if (nearer && i) smma_match_free(best);
    if (nearer)
      *best = m, kept = i;
    else
      smma_match_free(&m);
    if (found) break;
  }
  if (x->rounded) note_mode(best, x->mode[kept]);
  return kept;
}

static int run_search(matching *x) {
  const smma_group ranks = {smma_rank(), smma_ranks(), smma_ranks_share, smma_ranks_send, smma_ranks_receive};
  static smma_match m;
  const double start = smma_seconds();
  double seconds;
  size_t mode;
  bool found;
  add_targets(x);
  mode = search_modes(x, &ranks, &m);
  if (smma_rank()) {
    smma_match_free(&m);
    return SMMA_EXIT_EQUAL;
  }
  seconds = smma_seconds() - start;
  found = m.fits;
  if (x->options->json)
    smma_print_json(match_json(x, &m, mode, seconds));
  else
    print_match(x, &m, mode, seconds);
  if (found) write_plan(x->options, &m);
  smma_match_free(&m);
  return smma_finish_output(found ? SMMA_EXIT_EQUAL : SMMA_EXIT_DIFFERENT);
}

/* ---- A claim ---- */

/* "GPU", "GPU:FORMAT" or "GPU:INSTRUCTION" without --on: one chain. */
static const smma_instruction *claimed_target(const matching *x, const char *text) {
  char gpu[512], message[512];
  const char *more;
  smma_formats formats = {x->data.a_format, x->data.b_format, SMMA_NO_FORMAT, SMMA_NO_FORMAT, 0};
  if (!*text || strlen(text) >= sizeof gpu) smma_die("--claim: '%.40s' is no target; for example H100:f16", text);
  snprintf(gpu, sizeof gpu, "%s", text);
  const smma_target target = smma_require_target_and_more(gpu, &more);
  if (target.custom) return target.custom;
  if (more && !smma_formats_from_text(more, SMMA_NO_FORMAT, &formats, message, sizeof message))
    return smma_require_of_target(&target, more, "--claim");
  if (!more) formats.d = smma_usual_output(formats.a);
  return smma_require_by_formats(gpu, &formats, "--claim");
}

static json_t *digest_json(const smma_tensor *t, const char *path) {
  char digest[65];
  if (!t->data) return json_null();
  return json_pack("{s:o, s:s, s:I, s:I, s:s}", "file", smma_json_text(path), "format", smma_format_text(t->format),
                   "rows", (json_int_t)t->rows, "columns", (json_int_t)t->columns, "sha256",
                   smma_sha256(t->data, t->rows * t->columns * (size_t)t->bytes, digest));
}

/* Compares D with the claimed product: with A and B rounded as the plan says, or else in each mode until it is equal.
   Keeps the mode that leaves the fewest elements different. */
static void compare_modes(matching *x, const smma_instruction *i, const smma_plan *plan,
                          smma_match_difference *difference, smma_rounding *mode) {
  smma_error error;
  if (plan && plan->has_operand_rounding && !x->options->round_in) x->mode[0] = plan->operand_rounding, x->modes = 1;
  *difference = (smma_match_difference){.different = SIZE_MAX};
  *mode = x->mode[0];
  for (size_t n = 0; n < x->modes && difference->different; n++) {
    smma_match_difference now;
    take_rounded(x, x->mode[n]);
    if (!smma_match_compare(&x->data, i, plan, &now, &error)) smma_die("--claim: %s", error.text);
    if (now.different < difference->different) *difference = now, *mode = x->mode[n];
  }
  take_rounded(x, *mode);
}

static int run_claim(matching *x) {
  const match_options *o = x->options;
  const smma_instruction *i;
  smma_target_plan plan = {"none", NULL};
  smma_match_difference difference;
  smma_rounding mode;
  json_t *report;
  if (o->gpus) {
    i = smma_choose_instruction(o->gpus, o->instruction,
                                o->instruction ? NULL
                                : o->in        ? o->in
                                               : smma_format_text(x->data.a_format),
                                NULL);
    smma_require_plans(o->claim, &i, 1, &plan);
    smma_check_plan(&plan, i, x->data.k);
  } else {
    i = claimed_target(x, o->claim);
  }
  if (i->a != x->data.a_format || i->b != x->data.b_format || i->scale_block)
    smma_die("--claim: %s does not multiply %s by %s", i->name, smma_format_text(x->data.a_format),
             smma_format_text(x->data.b_format));
  if (smma_plan_d(plan.plan, i) != x->data.d_format)
    smma_die("--claim: D would be in %s, not in %s; a plan's \"d\" says it, or --out what the file holds",
             smma_format_text(smma_plan_d(plan.plan, i)), smma_format_text(x->data.d_format));
  compare_modes(x, i, plan.plan, &difference, &mode);
  report = json_pack(
      "{s:s, s:b, s:s?, s:o, s:s, s:s, s:o, s:o, s:{s:o, s:o, s:o, s:o, s:o, s:o, s:o}, s:f, s:f, s:f, s:s, s:I}",
      "claim", o->claim, "equal", difference.different == 0, "round_in", x->rounded ? smma_roundings[mode] : NULL,
      "arch", smma_json_text(smma_arch_name(i)), "instruction", i->name, "rule", i->rule->name, "plan",
      plan.plan ? plan_json(plan.plan) : json_null(), "difference", difference_json(x, &difference), "inputs", "a",
      digest_json(&x->a, x->path[0]), "b", digest_json(&x->b, x->path[1]), "c", digest_json(&x->c, o->c), "d",
      digest_json(&x->d, x->path[2]), "scale_a", digest_json(&x->scale_a, o->scale_a), "scale_b",
      digest_json(&x->scale_b, o->scale_b), "bias", digest_json(&x->bias, o->bias), "alpha", o->alpha, "beta", o->beta,
      "scale_d", o->scale_d, "softmma", smma_version(), "elements", (json_int_t)(x->data.m * x->data.n));
  smma_print_json(report);
  smma_plan_free(plan.plan);
  return smma_finish_output(difference.different ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}

/* ---- The command ---- */

static void check_options(const match_options *o) {
  if (o->claim && o->plan) smma_die("-o: --claim searches for no plan; leave it out");
  if (o->instruction && !(o->claim && o->gpus)) smma_die("--instr: goes with --claim and --on; leave it out");
  if (o->threads < 0 || o->threads > MOST_THREADS) smma_die("--threads: %d; 0 to %d", o->threads, MOST_THREADS);
  if (!isfinite(o->alpha) || !isfinite(o->beta) || !isfinite(o->scale_d) || o->alpha == 0 || o->scale_d == 0)
    smma_die("--alpha, --beta, --scale-d: finite numbers, alpha and scale-d not 0");
  if (o->beta != 1 && !o->c) smma_die("--beta: needs -C");
  if (o->plan) smma_require_writable(o->plan, "-o");
}

int smma_command_match(int argc, const char **argv) {
  static matching x;
  match_options o = {.alpha = 1, .beta = 1, .scale_d = 1};
  const char **paths;
  int status;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &o.gpus, 0, "GPUs or architectures to search; all without it", "LIST"},
      {"in", 0, POPT_ARG_STRING, &o.in, 0, "format of A and B, or A,B: what the files hold without it", "FORMAT"},
      {"out", 0, POPT_ARG_STRING, &o.out, 0, "format of D: what the file holds without it", "FORMAT"},
      {"c", 'C', POPT_ARG_STRING, &o.c, 0, "C, which was added", "C.npy"},
      SMMA_RAW_OPTION,
      {"transpose-a", 0, POPT_ARG_NONE, &o.transpose_a, 0, "A's file holds its transpose", NULL},
      {"transpose-b", 0, POPT_ARG_NONE, &o.transpose_b, 0, "B's file holds its transpose", NULL},
      {"alpha", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.alpha, 0, "factor of A B", "X"},
      {"beta", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.beta, 0, "factor of C", "X"},
      {"bias", 0, POPT_ARG_STRING, &o.bias, 0, "a row that was added", "FILE"},
      {"scale-a", 0, POPT_ARG_STRING, &o.scale_a, 0, "scale factors of parts of K: M x parts", "FILE"},
      {"scale-b", 0, POPT_ARG_STRING, &o.scale_b, 0, "the same of B: parts x N", "FILE"},
      {"scale-d", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.scale_d, 0, "factor of the result", "X"},
      {"output", 'o', POPT_ARG_STRING, &o.plan, 0, "write the plan that fits, for gemm --plan", "PLAN.json"},
      {"claim", 0, POPT_ARG_STRING, &o.claim, 0, "no search: whether D is this; a report in JSON", "PLAN|TARGET"},
      {"instr", 0, POPT_ARG_STRING, &o.instruction, 0, "of --claim and --on: the instruction", "NAME"},
      {"round-in", 0, POPT_ARG_STRING, &o.round_in, 0,
       "how A and B were rounded to their formats: nearest-even, nearest-away, toward-zero, toward-negative, "
       "toward-positive; without it all of them are tried",
       "MODE"},
      {"threads", 't', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o.threads, 0, "0: all cores", "T"},
      {"json", 0, POPT_ARG_NONE, &o.json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  paths = smma_parse_options(
      argc, argv, options, 3, 3,
      "Which GPU, instruction and plan give exactly the bits of D? Exit status 0: something does; 1:\n"
      "nothing that is known, with what comes nearest. Any two NaN are the same.\n"
      "--claim PLAN (a file, a library's name, 'none' for one chain) is that of --on and --in or\n"
      "--instr; TARGET is GPU, GPU:FORMAT or GPU:INSTRUCTION, one chain. Exit status 0: D is that; 1: not.\n"
      "Example: softmma match A.npy B.npy D.npy --in f16 --on H100,B200\n");
  check_options(&o);
  if (o.claim && smma_rank()) return SMMA_EXIT_EQUAL;
  x.options = &o;
  memcpy(x.path, paths, sizeof x.path);
  load(&x);
  status = o.claim ? run_claim(&x) : run_search(&x);
  release(&x);
  return status;
}
