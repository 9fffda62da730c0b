#include <stdlib.h>
#include <string.h>

#include "cli/choose.h"
#include "cli/target.h"
#include "cli/tolerance.h"
#include "isa/key.h"
#include "plan/plan.h"

/* Elements that are measured: of random data at least LEAST x LEAST, of any at most MOST x MOST. */
enum { LEAST = 64, MOST = 256 };

/* ---- Targets ---- */

static void add_target(smma_tolerance_study *x, const char *label, const smma_instruction *instruction) {
  smma_tolerance_target *t = &x->target[x->targets++];
  snprintf(t->label, sizeof t->label, "%s", label);
  if (smma_products_of(&instruction->rule->rule) != SMMA_PRODUCT_MULTIPLIED)
    smma_die("--instr: %s counts a xor b, which is no product of A and B, and exact: there is nothing to tolerate",
             instruction->name);
  t->instruction = instruction;
  smma_inputs_text(instruction, t->inputs);
}

/* "GPU", "GPU:FORMAT", "GPU:FORMAT:FORMAT" or a custom unit's file. */
static void add_named(smma_tolerance_study *x, const char *text, size_t length) {
  const smma_tolerance_options *o = x->options;
  char label[512];
  const char *inputs;
  if (x->targets == SMMA_MOST_TARGETS) smma_die("--on: more than %d GPUs", SMMA_MOST_TARGETS);
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
static void add_all(smma_tolerance_study *x) {
  const smma_formats formats = smma_require_formats(x->options->in ? x->options->in : "f16", "--in", x->options->out);
  for (int arch = 0; arch < SMMA_ARCH_COUNT; arch++) {
    const smma_instruction *i = smma_resolve_formats(smma_architectures[arch].name, &formats, NULL);
    if (smma_architectures[arch].listed && i) add_target(x, gpu_of((smma_arch_id)arch), i);
  }
  if (!x->targets) smma_die("--in: no GPU has %s with results in %s", x->options->in, smma_format_text(formats.d));
}

/* What a plan has no place for. */
static void check_plan(const smma_tolerance_options *o, const smma_target_plan *plan) {
  const bool linear = smma_plan_has(plan->plan, SMMA_EPILOGUE_LINEAR);
  const bool takes_c = linear || plan->plan->starts_from_c;
  const char *option = o->split_k > 1                                                                ? "--split-k"
                       : o->promote_every                                                            ? "--promote-every"
                       : o->with_c && !takes_c                                                       ? "--with-c"
                       : o->c && !takes_c                                                            ? "-C"
                       : o->beta != 1 && !takes_c                                                    ? "--beta"
                       : o->alpha != 1 && !linear && !smma_plan_has(plan->plan, SMMA_EPILOGUE_ALPHA) ? "--alpha"
                                                                                                     : NULL;
  if (option) smma_die_no_place(option, plan->text);
}

static void add_plans(smma_tolerance_study *x) {
  const smma_instruction *instructions[SMMA_MOST_TARGETS];
  smma_target_rounding rounding[SMMA_MOST_TARGETS];
  for (int i = 0; i < x->targets; i++) instructions[i] = x->target[i].instruction;
  smma_require_plans(x->options->plans, instructions, (size_t)x->targets, x->plan);
  smma_require_roundings(x->options->round_in, instructions, x->plan, (size_t)x->targets, rounding);
  for (int i = 0; i < x->targets; i++) {
    smma_tolerance_target *t = &x->target[i];
    t->plan = &x->plan[i], t->rounding = rounding[i];
    t->d = smma_plan_d_format(t->plan->plan, t->instruction);
    if (t->plan->plan) check_plan(x->options, t->plan);
    snprintf(t->shown, sizeof t->shown, "%s%s%s", t->inputs, x->options->plans ? ", " : "", t->plan->text);
    if (x->options->round_in) smma_append_text(t->shown, sizeof t->shown, ", %s", smma_roundings[rounding[i].a]);
  }
}

void smma_tolerance_targets(smma_tolerance_study *x) {
  const smma_tolerance_options *o = x->options;
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
  add_plans(x);
  for (int i = 0; i < x->targets; i++) {
    smma_tolerance_target *t = &x->target[i];
    t->stored = o->store ? smma_require_format(o->store, "--store") : t->d;
    if (smma_is_integer(t->stored) != smma_is_integer(t->d) || smma_format_bits(t->stored) == 6)
      smma_die("--store: %s of results in %s is not what kernels store", o->store, smma_format_text(t->d));
  }
}

/* ---- Operands ---- */

static void parse_shape(smma_tolerance_study *x, const char *text) {
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
static void fill_c(smma_tolerance_target *t) {
  smma_operation o = smma_operation_of(t->instruction);
  const smma_data_counts counts = {.a = t->c.rows * t->c.columns};
  const smma_data_arrays arrays = {.a = t->c.data};
  o.a = o.b = o.c, o.k = t->instruction->k;
  smma_data_fill((smma_data){SMMA_DATA_NORMAL, 0}, &o, 1, &counts, &arrays);
}

static void generate(const smma_tolerance_study *x, smma_tolerance_target *t) {
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

static void load(smma_tolerance_study *x, const char **paths, files *f) {
  x->path[0] = paths[0], x->path[1] = paths[1];
  f->a = smma_load_matrix(paths[0]), f->b = smma_load_matrix(paths[1]);
  for (const smma_tolerance_target *t = x->target; t < x->target + x->targets; t++) {
    smma_require_meaning(&f->a, t->instruction->a, "A", paths[0]);
    smma_require_meaning(&f->b, t->instruction->b, "B", paths[1]);
  }
  f->c = x->options->c ? smma_load_matrix(x->options->c) : (smma_tensor){.format = SMMA_NO_FORMAT};
  x->m = f->a.rows, x->k = f->a.columns, x->n = f->b.columns;
  if (f->b.rows != x->k)
    smma_die("%s is %zu x %zu and %s is %zu x %zu: the columns of the first must be the rows of the second", paths[0],
             x->m, x->k, paths[1], f->b.rows, x->n);
  if (f->c.data && (f->c.rows != x->m || f->c.columns != x->n))
    smma_die("%s is %zu x %zu, but the product is %zu x %zu", x->options->c, f->c.rows, f->c.columns, x->m, x->n);
  if (!x->m || !x->n || !x->k) smma_die("%s times %s is empty; there is nothing to measure", paths[0], paths[1]);
}

static bool told(const smma_tolerance_study *x, const smma_tolerance_target *t) {
  for (const smma_tolerance_target *earlier = x->target; earlier < t; earlier++)
    if (strcmp(earlier->inputs, t->inputs) == 0 && smma_same_rounding(earlier->rounding, t->rounding)) return true;
  return false;
}

static void convert(const smma_tolerance_study *x, const files *f, smma_tolerance_target *t) {
  const smma_instruction *i = t->instruction;
  const bool quiet = told(x, t);
  if (i->scale_block) {
    const smma_block_format format[2] = {smma_input_of(i, true), smma_input_of(i, false)};
    smma_blocks a = smma_matrix_in_blocks(&f->a, true, &format[0], "A", x->path[0], quiet);
    smma_blocks b = smma_matrix_in_blocks(&f->b, false, &format[1], "B", x->path[1], quiet);
    t->a = a.values, t->b = b.values, t->scale_a = a.scales, t->scale_b = b.scales;
    smma_tensor_free(&a.products), smma_tensor_free(&b.products);
  } else {
    t->a = smma_matrix_rounded(&f->a, i->a, t->rounding.a, "A", x->path[0], quiet);
    t->b = smma_matrix_rounded(&f->b, i->b, t->rounding.b, "B", x->path[1], quiet);
  }
  if (f->c.data) t->c = smma_matrix_as(&f->c, i->c, "C", x->options->c, quiet);
  t->a = sample(&t->a, x->rows, x->k), t->b = sample(&t->b, x->k, x->columns);
  t->c = sample(&t->c, x->rows, x->columns);
  t->scale_a = sample(&t->scale_a, x->rows, t->scale_a.columns);
  t->scale_b = sample(&t->scale_b, x->columns, t->scale_b.columns);
}

static void describe_product(const smma_tolerance_study *x, smma_tolerance_target *t) {
  const smma_tolerance_options *o = x->options;
  smma_gemm_arguments *g = &t->product;
  smma_gemm_defaults(g, sizeof *g);
  g->m = x->rows, g->n = x->columns, g->k = x->k;
  g->a = t->a.data, g->b = t->b.data, g->c = t->c.data, g->scale_a = t->scale_a.data, g->scale_b = t->scale_b.data;
  g->alpha = o->alpha, g->beta = o->beta, g->threads = o->threads;
  if (!t->plan->plan) g->split_k = (size_t)o->split_k, g->promote_every = (size_t)o->promote_every;
  smma_check_plan(t->plan, t->instruction, x->k);
  t->neutral = smma_take_plan(t->plan->plan, g);
}

void smma_tolerance_operands(smma_tolerance_study *x, const char **paths) {
  const bool from_files = paths[0];
  files f = {.a = {.format = SMMA_NO_FORMAT}};
  smma_error error;
  if (from_files && (x->options->shape || x->options->data || x->options->with_c))
    smma_die("%s: the files say it; leave it out", x->options->shape  ? "--shape"
                                                   : x->options->data ? "--data"
                                                                      : "--with-c");
  if (from_files && !paths[1]) smma_die("two files are needed, A and B; or --shape and --data");
  if (!from_files && x->options->round_in)
    smma_die("--round-in: it is for files; generated data are numbers of the unit's formats; leave it out");
  if (!from_files && x->options->c) smma_die("-C: it is for files; --with-c gives random data a C");
  if (from_files) {
    load(x, paths, &f);
  } else {
    if (!smma_data_from_text(x->options->data ? x->options->data : "normal", &x->data, &error))
      smma_die("--data: %s", error.text);
    parse_shape(x, x->options->shape ? x->options->shape : "64x64x4096");
  }
  x->rows = between(x->m, from_files ? 1 : LEAST, MOST), x->columns = between(x->n, from_files ? 1 : LEAST, MOST);
  for (int i = 0; i < x->targets; i++) {
    if (from_files)
      convert(x, &f, &x->target[i]);
    else
      generate(x, &x->target[i]);
    describe_product(x, &x->target[i]);
  }
  smma_tensor_free(&f.a), smma_tensor_free(&f.b), smma_tensor_free(&f.c);
}

void smma_tolerance_release(smma_tolerance_study *x) {
  for (int i = 0; i < x->targets; i++) {
    smma_tolerance_target *t = &x->target[i];
    smma_tensor *const matrices[] = {&t->a, &t->b, &t->c, &t->scale_a, &t->scale_b};
    for (size_t n = 0; n < sizeof matrices / sizeof matrices[0]; n++) smma_tensor_free(matrices[n]);
    free(t->bound), free(t->values), free(t->neutral);
    smma_plan_free(t->plan->plan);
  }
}
