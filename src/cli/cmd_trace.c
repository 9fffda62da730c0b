#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/choose.h"
#include "cli/matrices.h"
#include "cli/output.h"
#include "cli/trace.h"
#include "host/load.h"
#include "io/custom_file.h"
#include "isa/key.h"
#include "numerics/compare.h"

typedef struct {
  const char *gpus, *instruction, *in, *out, *plans, *round_in, *c, *bias, *scale_a, *scale_b, *at, *own, *svg;
  double alpha, beta, scale_d;
  long long every;
  int transpose_a, transpose_b, threads, json;
} trace_options;

static const trace_options defaults = {.alpha = 1, .beta = 1, .scale_d = 1};

bool smma_same_element(smma_format format, uint64_t x, uint64_t y) {
  const smma_encoding f = smma_encoding_of(format);
  return x == y || (smma_decode(f, x).kind == SMMA_NAN && smma_decode(f, y).kind == SMMA_NAN);
}

/* ---- Targets ---- */

static void add_units(const trace_options *o, smma_traced_element *x) {
  for (const char *list = o->gpus; *list;) {
    const size_t length = strcspn(list, ",");
    smma_traced *u = &x->unit[x->units];
    if (x->units == SMMA_MOST_TRACED) smma_die("--on: more than %d targets", SMMA_MOST_TRACED);
    if (length == 0 || length >= sizeof u->label) smma_die("--on: '%.*s' is not the name of a GPU", (int)length, list);
    memcpy(u->label, list, length);
    u->instruction = smma_choose_target(u->label, o->instruction, o->in, o->out);
    smma_inputs_text(u->instruction, u->inputs);
    x->units++;
    list += length + (list[length] == ',');
  }
  if (!x->units) smma_die("--on: the list of GPUs is empty; for example --on V100,H100");
}

/* The last part of a path. */
static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void add_plans(const trace_options *o, smma_traced_element *x) {
  static smma_target_plan plans[SMMA_MOST_TRACED];
  const smma_instruction *instructions[SMMA_MOST_TRACED];
  smma_target_rounding roundings[SMMA_MOST_TRACED];
  const bool modes = o->round_in && strchr(o->round_in, ',');
  bool several = false;
  for (size_t i = 0; i < x->units; i++) instructions[i] = x->unit[i].instruction;
  smma_require_plans(o->plans, instructions, x->units, plans);
  x->planned = o->plans;
  x->d_format = smma_plan_d_format(plans[0].plan, instructions[0]);
  smma_require_roundings(o->round_in, instructions, plans, x->units, roundings);
  for (size_t i = 0; i < x->units; i++) {
    x->unit[i].plan = &plans[i], x->unit[i].rounding = roundings[i];
    several = several || strcmp(plans[i].text, plans[0].text) != 0;
    if (smma_plan_d_format(plans[i].plan, instructions[i]) != x->d_format) x->d_format = SMMA_NO_FORMAT;
    for (size_t j = 0; j < i; j++)
      if (smma_same_rounding(roundings[i], roundings[j]))
        smma_refuse_same_target(x->unit[i].label, instructions[i], &plans[i], x->unit[j].label, instructions[j],
                                &plans[j]);
  }
  for (size_t i = 0; i < x->units; i++) {
    smma_traced *u = &x->unit[i];
    const char *label = smma_is_custom_file(u->label) ? base_name(u->label) : u->label;
    snprintf(u->name, sizeof u->name, "%.30s%s%.30s%s%s", label, several ? " " : "",
             several ? base_name(plans[i].text) : "", modes ? " " : "", modes ? smma_roundings[roundings[i].a] : "");
  }
}

/* What a target has a place for. */
typedef struct {
  bool alpha, c, bias, scale_d, scales;
} places;

static places places_of(const smma_traced *u) {
  const smma_plan *p = u->plan->plan;
  const bool linear = p && smma_plan_has(p, SMMA_EPILOGUE_LINEAR);
  return (places){.alpha = !p || linear || smma_plan_has(p, SMMA_EPILOGUE_ALPHA),
                  .c = !p || linear || p->starts_from_c,
                  .bias = p && smma_plan_has(p, SMMA_EPILOGUE_BIAS),
                  .scale_d = p && smma_plan_has(p, SMMA_EPILOGUE_SCALE_D),
                  .scales = u->instruction->scale_block || smma_plan_scaled_k(p)};
}

/* What is given must have a place in every target's product. */
static void check_places(const trace_options *o, const smma_traced_element *x) {
  if (!o->scale_a != !o->scale_b) smma_die("--scale-a, --scale-b: one goes with the other");
  for (size_t i = 0; i < x->units; i++) {
    const smma_traced *u = &x->unit[i];
    const places has = places_of(u);
    const char *option = o->c && !has.c                    ? "-C"
                         : o->beta != 1 && !has.c          ? "--beta"
                         : o->alpha != 1 && !has.alpha     ? "--alpha"
                         : o->bias && !has.bias            ? "--bias"
                         : o->scale_d != 1 && !has.scale_d ? "--scale-d"
                         : o->scale_a && !has.scales       ? "--scale-a"
                                                           : NULL;
    if (option && u->plan->plan) smma_die_no_place(option, u->plan->text);
    if (option) smma_die("%s: the product of %s has no place for it; leave it out, or give a plan", option, u->label);
  }
}

/* ---- Operands ---- */

/* The matrices as the files hold them, or what of them the one element takes. */
typedef struct {
  smma_tensor a, b, c, bias, scale_a, scale_b;
} files;

static void take_part(smma_tensor *t, size_t row, size_t rows, size_t column, size_t columns) {
  const smma_tensor part = smma_part_of_matrix(t, row, rows, column, columns);
  smma_tensor_free(t);
  *t = part;
}

static void load_files(const trace_options *o, const char **paths, smma_traced_element *x, files *f) {
  x->path[0] = paths[0], x->path[1] = paths[1];
  f->a = smma_load_matrix(paths[0]), f->b = smma_load_matrix(paths[1]);
  for (size_t i = 0; i < x->units; i++) {
    smma_require_meaning(&f->a, x->unit[i].instruction->a, "A", paths[0]);
    smma_require_meaning(&f->b, x->unit[i].instruction->b, "B", paths[1]);
  }
  if (o->transpose_a) smma_turn_matrix(&f->a);
  if (o->transpose_b) smma_turn_matrix(&f->b);
  x->m = f->a.rows, x->k = f->a.columns, x->n = f->b.columns;
  if (f->b.rows != x->k)
    smma_die(
        "%s%s is %zu x %zu and %s%s is %zu x %zu: the columns of the first must be the rows of the second "
        "(--transpose-a, --transpose-b)",
        paths[0], o->transpose_a ? " transposed" : "", x->m, x->k, paths[1], o->transpose_b ? " transposed" : "",
        f->b.rows, x->n);
  if (!x->m || !x->n) smma_die("%s times %s has no elements: it is %zu x %zu", paths[0], paths[1], x->m, x->n);
  if (o->c) f->c = smma_load_shaped(o->c, "-C", x->m, x->n, "A*B is");
  if (o->bias) f->bias = smma_load_shaped(o->bias, "--bias", 1, x->n, "this product needs");
}

/* Scale factors are of blocks or of parts, as many as the target's product needs. */
static void load_scales(const trace_options *o, const smma_traced_element *x, files *f) {
  const smma_traced *u = &x->unit[0];
  const size_t part = smma_plan_scaled_k(u->plan->plan), each = part ? part : (size_t)u->instruction->scale_block;
  for (size_t i = 1; i < x->units; i++) {
    const size_t other = smma_plan_scaled_k(x->unit[i].plan->plan);
    if ((other ? other : (size_t)x->unit[i].instruction->scale_block) != each)
      smma_die("--scale-a: scale factors of %s are of other products than those of %s", x->unit[i].label, u->label);
  }
  f->scale_a = smma_load_shaped(o->scale_a, "--scale-a", x->m, x->k / each + (x->k % each != 0), "this product needs");
  f->scale_b = smma_load_shaped(o->scale_b, "--scale-b", x->k / each + (x->k % each != 0), x->n, "this product needs");
}

/* Row i of A and column j of B are a product of their own. */
static void take_element(const smma_traced_element *x, files *f) {
  const size_t i = x->at[0], j = x->at[1];
  take_part(&f->a, i, 1, 0, x->k), take_part(&f->b, 0, x->k, j, 1);
  if (f->c.data) take_part(&f->c, i, 1, j, 1);
  if (f->bias.data) take_part(&f->bias, 0, 1, j, 1);
  if (f->scale_a.data) take_part(&f->scale_a, i, 1, 0, f->scale_a.columns);
  if (f->scale_b.data) take_part(&f->scale_b, 0, f->scale_b.rows, j, 1);
}

static bool told(const smma_traced_element *x, const smma_traced *u) {
  for (const smma_traced *earlier = x->unit; earlier < u; earlier++)
    if (strcmp(earlier->inputs, u->inputs) == 0 && smma_same_rounding(earlier->rounding, u->rounding)) return true;
  return false;
}

static smma_tensor given_as(const smma_tensor *from, smma_format wanted, const char *what, const char *path,
                            bool quiet) {
  return from->data ? smma_matrix_as(from, wanted, what, path, quiet) : (smma_tensor){.format = SMMA_NO_FORMAT};
}

static void convert(const trace_options *o, const smma_traced_element *x, const files *f, smma_traced *u) {
  const smma_instruction *i = u->instruction;
  const bool quiet = told(x, u);
  const smma_format scale = smma_plan_scaled_k(u->plan->plan) ? SMMA_F32 : i->scale;
  if (i->scale_block && !o->scale_a) {
    const smma_block_format format[2] = {smma_input_of(i, true), smma_input_of(i, false)};
    smma_blocks a = smma_matrix_in_blocks(&f->a, true, &format[0], "A", x->path[0], quiet);
    smma_blocks b = smma_matrix_in_blocks(&f->b, false, &format[1], "B", x->path[1], quiet);
    u->a = a.values, u->b = b.values, u->scale_a = a.scales, u->scale_b = b.scales;
    smma_tensor_free(&a.products), smma_tensor_free(&b.products);
  } else {
    u->a = smma_matrix_rounded(&f->a, i->a, u->rounding.a, "A", x->path[0], quiet);
    u->b = smma_matrix_rounded(&f->b, i->b, u->rounding.b, "B", x->path[1], quiet);
    u->scale_a = given_as(&f->scale_a, scale, "--scale-a", o->scale_a, true);
    u->scale_b = given_as(&f->scale_b, scale, "--scale-b", o->scale_b, true);
    if (u->scale_b.data) smma_turn_matrix(&u->scale_b); /* the library takes them column by column */
  }
  u->c = given_as(&f->c, i->c, "C", o->c, quiet);
  u->bias = given_as(&f->bias, SMMA_F32, "--bias", o->bias, quiet);
}

static void describe_product(const trace_options *o, const smma_traced_element *x, const files *f, smma_traced *u) {
  smma_gemm_arguments *g = &u->product;
  smma_gemm_defaults(g, sizeof *g);
  convert(o, x, f, u);
  g->m = u->a.rows, g->n = u->b.columns, g->k = x->k;
  g->a = u->a.data, g->b = u->b.data, g->c = u->c.data;
  g->alpha = o->alpha, g->beta = o->beta, g->scale_d = o->scale_d, g->threads = o->threads;
  u->neutral = smma_take_plan(u->plan->plan, g);
  if (u->scale_a.data) g->scale_a = u->scale_a.data, g->scale_b = u->scale_b.data;
  if (u->bias.data) g->bias = u->bias.data;
}

/* ---- Which element ---- */

static void parse_at(const char *text, smma_traced_element *x) {
  unsigned long long i, j;
  char end;
  if (sscanf(text, "%llu,%llu%c", &i, &j, &end) != 2 || strchr(text, '-') || strchr(text, '+'))
    smma_die("--at: '%s' is not I,J, a row and a column from 0; for example --at 3,5", text);
  if (i >= x->m || j >= x->n)
    smma_die("--at: [%llu, %llu] is not in the product, which is %zu x %zu", i, j, x->m, x->n);
  x->at[0] = (size_t)i, x->at[1] = (size_t)j;
}

static void compute(smma_traced_element *x) {
  for (size_t i = 0; i < x->units; i++) {
    smma_traced *u = &x->unit[i];
    smma_status status;
    u->d = smma_new_matrix(x->d_format, x->m, x->n);
    u->product.d = u->d.data;
    status = smma_gemm(u->instruction, &u->product);
    if (status != SMMA_OK) smma_die("%s", smma_status_text(status));
  }
  x->whole = true;
}

/* Where two results differ most: NaN and infinity more than any numbers. */
typedef struct {
  size_t differ, index;
  double difference, relative; /* relative: over the largest result */
  bool special;
} worst;

static worst find_worst(const smma_tensor *one, const smma_tensor *other) {
  const size_t bytes = (size_t)one->bytes;
  const double largest =
      smma_compare_results(one->format, one->data, other->data, one->rows * one->columns).largest;
  worst w = {.differ = 0};
  for (size_t i = 0; i < one->rows * one->columns; i++) {
    const smma_comparison c = smma_compare_results(one->format, (const char *)one->data + i * bytes,
                                                   (const char *)other->data + i * bytes, 1);
    const bool more = c.special ? !w.special : !w.special && (!w.differ || c.largest_difference > w.difference);
    if (!c.different) continue;
    w.differ++;
    if (!more) continue;
    w.index = i, w.difference = c.largest_difference, w.special = c.special;
  }
  w.relative = w.difference == 0 ? 0 : w.difference / largest;
  return w;
}

/* A worst element and whose it is. */
static bool take_worst(smma_traced_element *x, const char *first, const smma_tensor *one, const char *second,
                       const smma_tensor *other, worst *most) {
  const worst w = find_worst(one, other);
  const bool worse = w.differ && (!most->differ || (!most->special && (w.special || w.relative > most->relative)));
  size_t used;
  if (!worse) return false;
  *most = w;
  x->at[0] = w.index / x->n, x->at[1] = w.index % x->n;
  used = (size_t)snprintf(x->why, sizeof x->why, "%.500s and %.500s differ in %zu of %zu elements, here most", first,
                          second, w.differ, x->m * x->n);
  if (!w.special) snprintf(x->why + used, sizeof x->why - used, ", by %.3g of the largest result",
                           w.relative);
  return true;
}

/* Of the two results that are given, or of one and the first target, or of any two targets. */
static void choose_worst(smma_traced_element *x) {
  worst most = {.differ = 0};
  if (x->owns > 1) take_worst(x, x->own[0].path, &x->own[0].d, x->own[1].path, &x->own[1].d, &most);
  if (x->owns && !most.differ) take_worst(x, x->own[0].path, &x->own[0].d, x->unit[0].name, &x->unit[0].d, &most);
  for (size_t i = 0; !x->owns && i < x->units; i++)
    for (size_t j = 0; j < i; j++) take_worst(x, x->unit[j].name, &x->unit[j].d, x->unit[i].name, &x->unit[i].d, &most);
  if (!most.differ)
    snprintf(x->why, sizeof x->why, x->units + x->owns > 1 ? "all results are the same" : "there is one result alone");
}

static void choose_element(const trace_options *o, smma_traced_element *x) {
  if (!o->at) {
    compute(x);
    choose_worst(x);
  }
  for (size_t i = 0; i < x->units; i++) {
    smma_traced *u = &x->unit[i];
    if (!o->at) memcpy(u->at, x->at, sizeof u->at);
  }
}

/* ---- Results of the user's own ---- */

/* In D's format, to which nothing is rounded. */
static void load_own(const char *path, smma_traced_element *x, smma_own_result *own) {
  smma_tensor file = smma_load_shaped(path, "--d", x->m, x->n, "the product is");
  smma_conversion lost = {0};
  own->path = path;
  smma_settle_integers(&file, x->d_format, "--d", path);
  if (smma_is_raw(&file, x->d_format)) {
    own->d = smma_matrix_as(&file, x->d_format, "D", path, true);
  } else {
    own->d = smma_new_matrix(x->d_format, x->m, x->n);
    smma_convert(file.format, file.data, x->d_format, own->d.data, x->m * x->n, SMMA_ROUND_NEAREST_EVEN,
                 SMMA_OVERFLOW_INFINITY, &lost);
    if (lost.changed)
      smma_die(
          "--d: %s is in %s, and %zu of its values are none of %s, in which the targets' results are (--out, or a "
          "plan's \"d\")",
          path, smma_format_text(file.format), lost.changed, smma_format_text(x->d_format));
  }
  smma_tensor_free(&file);
}

static void load_owns(const trace_options *o, smma_traced_element *x) {
  static char first[4096];
  const char *comma = strchr(o->own, ',');
  const size_t length = comma ? (size_t)(comma - o->own) : strlen(o->own);
  if (!length || length >= sizeof first || (comma && (!comma[1] || strchr(comma + 1, ','))))
    smma_die("--d: '%s' is not FILE or FILE,FILE", o->own);
  memcpy(first, o->own, length);
  x->owns = comma ? 2 : 1;
  load_own(first, x, &x->own[0]);
  if (comma) load_own(comma + 1, x, &x->own[1]);
}

static void compare_owns(smma_traced_element *x) {
  for (size_t r = 0; r < x->owns; r++) {
    smma_own_result *own = &x->own[r];
    own->element = smma_load((size_t)own->d.bytes, own->d.data, x->at[0] * x->n + x->at[1]);
    for (size_t i = 0; x->whole && i < x->units; i++) own->differ[i] = find_worst(&own->d, &x->unit[i].d).differ;
  }
}

/* ---- All ---- */

static void trace(smma_traced_element *x) {
  for (size_t i = 0; i < x->units; i++) {
    smma_traced *u = &x->unit[i];
    const smma_status status = smma_trace_element(u->instruction, &u->product, u->at[0], u->at[1], &u->trace);
    if (status != SMMA_OK) smma_die("%s", smma_status_text(status));
  }
  for (size_t i = 0; i < x->units; i++)
    for (size_t j = 0; j < i; j++) {
      const smma_parting p = smma_find_parting(&x->unit[j].trace, &x->unit[i].trace);
      if (!p.parted || (x->parting.parted && x->parting.products <= p.products)) continue;
      x->parting = p, x->parted[0] = j, x->parted[1] = i;
    }
}

/* Targets may part and meet again. */
static bool results_differ(const smma_traced_element *x) {
  for (size_t i = 1; i < x->units; i++) {
    const smma_trace *t = &x->unit[i].trace, *first = &x->unit[0].trace;
    const double value = smma_format_decode(t->d_format, t->d), other = smma_format_decode(first->d_format, first->d);
    const bool same = t->d_format == first->d_format ? smma_same_element(t->d_format, t->d, first->d)
                                                     : value == other || (isnan(value) && isnan(other));
    if (!same) return true;
  }
  return false;
}

static void release(smma_traced_element *x) {
  for (size_t i = 0; i < x->units; i++) {
    smma_traced *u = &x->unit[i];
    smma_tensor *const all[] = {&u->a, &u->b, &u->c, &u->scale_a, &u->scale_b, &u->bias, &u->d};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) smma_tensor_free(all[t]);
    free(u->neutral);
    smma_trace_free(&u->trace);
    smma_plan_free(u->plan->plan);
  }
  for (size_t r = 0; r < x->owns; r++) smma_tensor_free(&x->own[r].d);
}

static int run(const trace_options *o, const char **paths) {
  static smma_traced_element x;
  files f = {.c = {.data = NULL}};
  bool differ;
  add_units(o, &x);
  add_plans(o, &x);
  check_places(o, &x);
  if (!o->at && x.d_format == SMMA_NO_FORMAT)
    smma_die("--at I,J is missing: results of the targets are in different formats, which are not compared");
  if (o->own && x.d_format == SMMA_NO_FORMAT)
    smma_die("--d: results of the targets are in different formats; give targets with one");
  if (o->svg) smma_require_writable(o->svg, "--svg");
  load_files(o, paths, &x, &f);
  if (o->scale_a) load_scales(o, &x, &f);
  for (size_t i = 0; i < x.units; i++) smma_check_plan(x.unit[i].plan, x.unit[i].instruction, x.k);
  if (o->own) load_owns(o, &x);
  if (o->at) parse_at(o->at, &x);
  if (o->at) take_element(&x, &f);
  for (size_t i = 0; i < x.units; i++) describe_product(o, &x, &f, &x.unit[i]);
  for (smma_tensor *t[] = {&f.a, &f.b, &f.c, &f.bias, &f.scale_a, &f.scale_b}, **e = t; e < t + 6; e++)
    smma_tensor_free(*e);
  choose_element(o, &x);
  compare_owns(&x);
  trace(&x);
  differ = results_differ(&x);
  if (o->svg) smma_trace_draw(&x, o->svg);
  if (o->json)
    smma_trace_print_json(&x, (size_t)o->every);
  else
    smma_trace_print(&x);
  release(&x);
  return smma_finish_output(differ ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}

int smma_command_trace(int argc, const char **argv) {
  trace_options o = defaults;
  const char **paths;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &o.gpus, 0,
       "the targets: GPUs, each with ':FORMAT' or ':INSTRUCTION' if not that of --in or --instr, or custom units' "
       "files",
       "GPU[:FORMAT],..."},
      {"instr", 0, POPT_ARG_STRING, &o.instruction, 0, "their instruction, by name or alias", "NAME"},
      {"in", 0, POPT_ARG_STRING, &o.in, 0, "or their preferred one with A and B in this format, or A,B; f16 without it",
       "FORMAT"},
      {"out", 0, POPT_ARG_STRING, &o.out, 0, "and D in that: f32 (f64 for f64, s32 for integers) without it", "FORMAT"},
      {"plan", 0, POPT_ARG_STRING, &o.plans, 0,
       "how the library around the instruction sums (docs/plans.md): one for all, or one for each target, 'none' for "
       "one chain",
       "FILE|NAME,..."},
      SMMA_ROUND_IN_OPTION(&o.round_in, "MODE,..."),
      {"at", 0, POPT_ARG_STRING, &o.at, 0, "the element: row and column, from 0; without it the one that differs most",
       "I,J"},
      {"d", 0, POPT_ARG_STRING, &o.own, 0, "one or two results of your own, whose worst element is traced",
       "FILE[,FILE]"},
      {"c", 'C', POPT_ARG_STRING, &o.c, 0, "the matrix C; zero without it", "FILE"},
      {"alpha", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.alpha, 0, "factor of A B", "X"},
      {"beta", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.beta, 0, "factor of C", "X"},
      {"bias", 0, POPT_ARG_STRING, &o.bias, 0, "a row of N numbers, for a plan's epilogue; 0 without it", "FILE"},
      {"scale-d", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.scale_d, 0, "likewise, a factor of D", "X"},
      {"scale-a", 0, POPT_ARG_STRING, &o.scale_a, 0,
       "scale factors: of block-scaled instructions, without which A and B are quantised, or of a plan's parts, "
       "without "
       "which they are 1",
       "FILE"},
      {"scale-b", 0, POPT_ARG_STRING, &o.scale_b, 0, "likewise of B", "FILE"},
      SMMA_RAW_OPTION,
      {"transpose-a", 0, POPT_ARG_NONE, &o.transpose_a, 0, "the file holds A transposed", NULL},
      {"transpose-b", 0, POPT_ARG_NONE, &o.transpose_b, 0, "the file holds B transposed", NULL},
      {"svg", 'o', POPT_ARG_STRING, &o.svg, 0, "beside the text, draw the error over k into this file", "FILE"},
      {"every", 0, POPT_ARG_LONGLONG, &o.every, 0, "with --json, print every N-th step; all without it", "N"},
      {"threads", 't', POPT_ARG_INT, &o.threads, 0, "all cores without it; the result is the same", "N"},
      {"json", 0, POPT_ARG_NONE, &o.json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  paths = smma_parse_options(
      argc, argv, options, 2, 2,
      "What each target's sum is after each instruction of one element of A B, how far that is from\n"
      "the exact sum, and where targets part. Exit status 1 if their results differ.\n"
      "Example: softmma trace --on V100,H100 A.npy B.npy --at 3,5 --svg error.svg\n"
      "         softmma trace --on H100,H100 --plan none,deepgemm --in e4m3 A.npy B.npy\n"
      "         softmma trace --on H100 --d ours.npy,theirs.npy A.npy B.npy\n");
  smma_require_option(o.gpus, "--on", "V100,H100");
  if (o.every < 0 || (o.every && !o.json)) smma_die("--every: it is a number from 1 that goes with --json");
  if (o.svg) smma_require_file(o.svg, "--svg", o.json ? "the JSON" : "the text");
  if (o.threads < 0 || o.threads > 1024)
    smma_die("--threads: %d is not a number from 0 (all cores) to 1024", o.threads);
  if (!o.every) o.every = 1;
  return run(&o, paths);
}
