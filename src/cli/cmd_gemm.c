#include <math.h>
#include <string.h>

#include "cli/gemm.h"
#include "cli/output.h"
#include "cli/plans.h"
#include "cluster/ranks.h"
#include "softmma/sparse.h"

enum {
  MOST_THREADS = 1024,
  PROMOTE_EVERY = 128 /* of --method two-level */
};

void smma_gemm_take_shapes(const smma_gemm_options *o, const char **paths, const smma_tensor *a, const smma_tensor *b,
                           int sparse, smma_gemm_arguments *g) {
  size_t k_of_b = o->transpose_b ? b->columns : b->rows;
  g->m = o->transpose_a ? a->columns : a->rows;
  g->k = o->transpose_a ? a->rows : a->columns;
  g->n = o->transpose_b ? b->rows : b->columns;
  g->order_a = o->transpose_a ? SMMA_COLUMN_MAJOR : SMMA_ROW_MAJOR;
  g->order_b = o->transpose_b ? SMMA_COLUMN_MAJOR : SMMA_ROW_MAJOR;
  if (sparse && 2 * g->k != k_of_b)
    smma_die("%s has %zu elements along K and %s %zu: of a sparse A half of them are stored", paths[0], g->k, paths[1],
             k_of_b);
  if (sparse) g->k = k_of_b;
  if (g->k != k_of_b)
    smma_die(
        "%s%s is %zu x %zu and %s%s is %zu x %zu: the columns of the first must be the rows of the second "
        "(--transpose-a, --transpose-b)",
        paths[0], o->transpose_a ? " transposed" : "", g->m, g->k, paths[1], o->transpose_b ? " transposed" : "",
        k_of_b, g->n);
}

/* The file's matrix in the wanted format; the file's is freed. */
static smma_tensor take_as(smma_tensor *file, smma_format wanted, const char *what, const char *path, bool quiet) {
  smma_tensor t = smma_matrix_as(file, wanted, what, path, quiet);
  smma_tensor_free(file);
  return t;
}

/* A or B: with --method fallback rounded to the format of --in first, which the instruction's holds exactly. */
static smma_tensor take_data(const smma_gemm_options *o, smma_tensor *file, smma_format wanted, smma_rounding rounding,
                             const char *what, const char *path) {
  const bool narrows = smma_method_is(&o->method, "fallback");
  const smma_format first = narrows ? smma_require_format(o->in, "--in") : wanted;
  smma_tensor t = smma_matrix_rounded(file, first, rounding, what, path, false);
  smma_tensor_free(file);
  return narrows ? take_as(&t, wanted, what, path, true) : t;
}

static bool show_progress(size_t done, size_t all, void *context) {
  smma_progress_show(context, done, all);
  return 0;
}

void smma_gemm_print_summary(const smma_gemm_options *o, const smma_gemm_product *p, double seconds) {
  const smma_instruction *i = p->instruction;
  const smma_gemm_arguments *g = &p->arguments;
  double products = (double)g->m * (double)g->n * (double)g->k;
  const char *kernel = smma_kernel_for(i, g->kernel, NULL);
  char method[64];
  json_t *json;
  if (o->json) {
    json = json_pack("{s:o, s:s, s:I, s:I, s:I, s:o, s:s, s:s, s:f}", "arch", smma_json_text(smma_arch_name(i)),
                     "instruction", i->name, "m", (json_int_t)g->m, "n", (json_int_t)g->n, "k", (json_int_t)g->k, "d",
                     smma_json_text(o->d), "d_format", smma_format_text(p->d.format), "kernel", kernel, "seconds",
                     seconds);
    if (o->method.method) json_object_set_new(json, "method", json_string(o->method.method));
    if (p->method.kind == SMMA_METHOD_WORDS) json_object_set_new(json, "words", json_integer(p->method.words.words));
    if (p->method.kind == SMMA_METHOD_SLICES) json_object_set_new(json, "slices", json_string(o->method.slices));
    smma_print_json(json);
    return;
  }
  printf("%s: %zu x %zu (%s), K = %zu, on %s, %s; ", o->d, g->m, g->n, smma_format_text(p->d.format), g->k,
         smma_arch_name(i), i->name);
  if (p->method.kind != SMMA_METHOD_NONE) printf("%s; ", smma_method_text(&o->method, &p->method, method));
  printf("%s kernel, %.3g s, %.3g million products/s\n", kernel, seconds, products / seconds / 1e6);
}

/* An accurate product is A B alone. */
static void check_no_others(const smma_gemm_options *o) {
  const char *option = o->c                       ? "-C"
                       : o->alpha != 1            ? "--alpha"
                       : o->beta != 1             ? "--beta"
                       : o->scaling               ? "--scaling"
                       : o->scale_a || o->scale_b ? "--scale-a, --scale-b"
                       : o->round_in              ? "--round-in"
                                                  : NULL;
  if (option) smma_die("%s: --method %s computes A B alone; leave it out", option, o->method.method);
}

static smma_scaling scaling_of(const smma_gemm_options *o) {
  if (!o->scaling) return SMMA_SCALING_DEFAULT;
  if (strcmp(o->scaling, "epilogue") == 0) return SMMA_SCALING_EPILOGUE;
  if (strcmp(o->scaling, "operands") == 0) return SMMA_SCALING_OPERANDS;
  smma_die("--scaling: '%s' is neither epilogue nor operands", o->scaling);
}

/* What a plan takes, and what it has no place for. */
static void check_plan(const smma_gemm_options *o, const smma_gemm_product *p) {
  const bool linear = smma_plan_has(p->plan, SMMA_EPILOGUE_LINEAR);
  const bool takes_c = linear || p->plan->starts_from_c;
  const bool takes_bias = smma_plan_has(p->plan, SMMA_EPILOGUE_BIAS);
  const char *option = o->split_k > 1                                                             ? "--split-k"
                       : o->promote_every                                                         ? "--promote-every"
                       : o->scaling                                                               ? "--scaling"
                       : p->method.kind != SMMA_METHOD_NONE                                       ? "--method"
                       : o->c && !takes_c                                                         ? "-C"
                       : o->beta != 1 && !takes_c                                                 ? "--beta"
                       : o->bias && !takes_bias                                                   ? "--bias"
                       : o->scale_d != 1 && !smma_plan_has(p->plan, SMMA_EPILOGUE_SCALE_D)        ? "--scale-d"
                       : o->alpha != 1 && !linear && !smma_plan_has(p->plan, SMMA_EPILOGUE_ALPHA) ? "--alpha"
                                                                                                  : NULL;
  if (option) smma_die_no_place(option, o->plan);
  if (takes_bias) smma_require_option(o->bias, "--bias", "bias.npy");
}

/* What can be seen wrong before any file is read. */
static void check_options(const smma_gemm_options *o, const smma_gemm_product *p) {
  const smma_instruction *i = p->instruction;
  smma_require_file(o->d, "-o", "the summary");
  scaling_of(o);
  if (smma_ends_with(o->d, ".safetensors")) smma_die("-o: '%s': D is written as a .npy file; name one", o->d);
  if (o->promote_every % i->k)
    smma_die("--promote-every: %lld is not a multiple of the instruction's K, %d", o->promote_every, i->k);
  if (p->method.kind != SMMA_METHOD_NONE) {
    check_no_others(o);
  } else if ((i->scale_block && (o->scale_a || o->scale_b)) || smma_plan_scaled_k(p->plan)) {
    smma_require_option(o->scale_a, "--scale-a", "scales-a.npy");
    smma_require_option(o->scale_b, "--scale-b", "scales-b.npy");
  } else if (!i->scale_block && (o->scale_a || o->scale_b)) {
    smma_die("%s: %s takes no scale factors; leave it out", o->scale_a ? "--scale-a" : "--scale-b", i->name);
  }
  if (i->sparse && p->method.kind != SMMA_METHOD_NONE)
    smma_die("--method: %s is sparse; its products have no accurate form", i->name);
  if (i->sparse) smma_require_option(o->metadata, "--metadata", "metadata.npy");
  if (o->metadata && !i->sparse) smma_die("--metadata: %s is not sparse; leave it out", i->name);
  if (p->plan) check_plan(o, p);
  smma_require_writable(o->d, "-o");
}

/* Accurate products are of FP64; D is FP64 if A or B is, else FP32. */
static void take_wide(const char **paths, smma_tensor *a, smma_tensor *b, smma_gemm_product *p) {
  for (int i = 0; i < 2; i++) {
    smma_tensor *file = i ? b : a;
    if (smma_is_raw(file, SMMA_F64))
      smma_die("%s holds raw encodings; --method takes numbers: f64, f32, f16", paths[i]);
  }
  p->wide = a->format == SMMA_F64 || b->format == SMMA_F64;
  p->a = take_as(a, SMMA_F64, "A", paths[0], true);
  p->b = take_as(b, SMMA_F64, "B", paths[1], true);
  p->d = smma_new_matrix(SMMA_F64, p->arguments.m, p->arguments.n);
}

/* Numbers without files of scale factors get their own. */
static void take_blocks(smma_tensor *file, bool along_rows, smma_block_format format, const char *what,
                        const char *path, smma_tensor *values, smma_tensor *scales) {
  smma_blocks b = smma_matrix_in_blocks(file, along_rows, &format, what, path, false);
  smma_tensor_free(file);
  smma_tensor_free(&b.products);
  *values = b.values, *scales = b.scales;
}

/* One row of N numbers. */
static void take_bias(const smma_gemm_options *o, smma_gemm_product *p) {
  smma_tensor bias = smma_load_shaped(o->bias, "--bias", 1, p->arguments.n, "this product needs");
  p->bias = take_as(&bias, SMMA_F32, "--bias", o->bias, false);
}

/* All shapes are checked before anything is rounded or noted. */
static void load_operands(const smma_gemm_options *o, const char **paths, smma_gemm_product *p) {
  const smma_instruction *i = p->instruction;
  smma_gemm_arguments *g = &p->arguments;
  smma_tensor a = smma_load_matrix(paths[0]), b = smma_load_matrix(paths[1]), c, scale_a, scale_b;
  smma_require_meaning(&a, i->a, "A", paths[0]);
  smma_require_meaning(&b, i->b, "B", paths[1]);
  smma_gemm_take_shapes(o, paths, &a, &b, i->sparse, g);
  if (o->c) c = smma_load_shaped(o->c, "-C", g->m, g->n, "A*B is");
  if (o->scale_a) {
    const size_t part = smma_plan_scaled_k(p->plan), each = part ? part : (size_t)i->scale_block;
    const size_t blocks = g->k / each + (g->k % each != 0);
    const smma_format format = part ? SMMA_F32 : i->scale;
    scale_a = smma_load_shaped(o->scale_a, "--scale-a", g->m, blocks, "this product needs");
    scale_b = smma_load_shaped(o->scale_b, "--scale-b", blocks, g->n, "this product needs");
    p->scale_a = take_as(&scale_a, format, "--scale-a", o->scale_a, false);
    p->scale_b = take_as(&scale_b, format, "--scale-b", o->scale_b, false);
    smma_turn_matrix(&p->scale_b); /* the library takes them column by column */
  }
  if (p->method.kind != SMMA_METHOD_NONE) {
    take_wide(paths, &a, &b, p);
    return;
  }
  p->d = smma_new_matrix(smma_plan_d_format(p->plan, i), g->m, g->n);
  if (o->bias) take_bias(o, p);
  if (o->metadata) {
    smma_tensor file = smma_load_shaped(o->metadata, "--metadata", g->m, g->k / 2, "this product needs");
    p->metadata = take_as(&file, SMMA_U8, "--metadata", o->metadata, false);
  }
  if (o->c) p->c = take_as(&c, i->c, "C", o->c, false);
  if (i->scale_block && !o->scale_a) {
    take_blocks(&a, !o->transpose_a, smma_input_of(i, true), "A", paths[0], &p->a, &p->scale_a);
    take_blocks(&b, o->transpose_b, smma_input_of(i, false), "B", paths[1], &p->b, &p->scale_b);
    return;
  }
  p->a = take_data(o, &a, i->a, p->rounding.a, "A", paths[0]);
  p->b = take_data(o, &b, i->b, p->rounding.b, "B", paths[1]);
}

void smma_gemm_fill(const smma_gemm_options *o, smma_gemm_product *p) {
  smma_gemm_arguments *g = &p->arguments;
  g->lda = p->a.columns, g->ldb = p->b.columns;
  g->a = p->a.data, g->b = p->b.data, g->c = p->c.data, g->d = p->d.data;
  g->scale_a = p->scale_a.data, g->scale_b = p->scale_b.data;
  g->alpha = o->alpha, g->beta = o->beta, g->threads = o->threads, g->kernel = o->kernel;
  g->scaling = scaling_of(o);
  g->plan = p->plan, g->bias = p->bias.data, g->scale_d = o->scale_d;
  g->split_k = (size_t)o->split_k, g->promote_every = (size_t)o->promote_every;
}

static const smma_instruction *choose_instruction(const smma_gemm_options *o) {
  if (!smma_method_is(&o->method, "fallback")) return smma_choose_instruction(o->gpu, o->instruction, o->in, o->out);
  if (o->instruction) smma_die("--instr: --method fallback takes the one of --through; leave it out");
  return smma_choose_fallback(&o->method, o->gpu, o->in, o->out);
}

/* The matrices of a method hold FP64. */
static smma_f64_product accurate_product(const smma_gemm_product *p) {
  const smma_gemm_arguments *g = &p->arguments;
  smma_f64_product x;
  smma_f64_product_defaults(&x, sizeof x);
  x.m = g->m, x.n = g->n, x.k = g->k, x.a = g->a, x.b = g->b, x.d = g->d;
  x.lda = g->lda, x.ldb = g->ldb, x.order_a = g->order_a, x.order_b = g->order_b;
  x.split_k = g->split_k, x.promote_every = g->promote_every, x.threads = g->threads, x.kernel = g->kernel;
  x.error = g->error;
  x.progress = g->progress, x.progress_context = g->progress_context;
  return x;
}

smma_status smma_gemm_multiply(const smma_gemm_product *p) {
  const smma_f64_product accurate = accurate_product(p);
  switch (p->method.kind) {
    case SMMA_METHOD_WORDS: return smma_gemm_words(p->instruction, &accurate, &p->method.words);
    case SMMA_METHOD_SLICES: return smma_gemm_slices(p->instruction, &accurate, &p->method.slices);
    default: break;
  }
  return p->instruction->sparse ? smma_gemm_sparse(p->instruction, &p->arguments, p->metadata.data)
                                : smma_gemm(p->instruction, &p->arguments);
}

void smma_gemm_free(smma_gemm_product *p) {
  smma_tensor *all[] = {&p->a, &p->b, &p->c, &p->d, &p->scale_a, &p->scale_b, &p->bias, &p->metadata};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i]->data) smma_tensor_free(all[i]);
    all[i]->data = NULL;
  }
}

static void compute_whole(const smma_gemm_options *o, const char **paths, smma_gemm_product *p,
                          smma_progress *progress) {
  smma_status status;
  smma_error error;
  load_operands(o, paths, p);
  smma_gemm_fill(o, p);
  p->arguments.progress = show_progress, p->arguments.progress_context = progress;
  smma_progress_start(progress, "products", (double)p->arguments.n * (double)p->arguments.k);
  if (p->plan && smma_plan_check(p->plan, p->instruction, p->arguments.k, &error) != SMMA_OK)
    smma_die("--plan: %s: %s", o->plan, error.text);
  p->arguments.error = &error;
  status = smma_gemm_multiply(p);
  smma_progress_end();
  if (status != SMMA_OK) smma_die("%s", error.text);
  if (p->method.kind != SMMA_METHOD_NONE && !p->wide) p->d = take_as(&p->d, SMMA_F32, "D", o->d, true);
  if (!smma_npy_write(o->d, &p->d, &error)) smma_die("-o: %s", error.text);
}

static int run(const smma_gemm_options *o, const char **paths) {
  smma_gemm_product p = {.instruction = choose_instruction(o)};
  smma_progress progress = {.started = smma_seconds()};
  smma_gemm_defaults(&p.arguments, sizeof p.arguments);
  smma_check_kernel(o->kernel);
  p.method = smma_choose_method(&o->method, p.instruction);
  if (o->plan) p.plan = smma_require_plan(o->plan, p.instruction);
  smma_require_roundings(o->round_in, &p.instruction, &(smma_target_plan){.plan = p.plan}, 1, &p.rounding);
  check_options(o, &p);
  if (smma_ranks() > 1 || o->memory)
    smma_gemm_in_pieces(o, paths, &p);
  else
    compute_whole(o, paths, &p, &progress);
  if (smma_rank() == 0) smma_gemm_print_summary(o, &p, smma_seconds() - progress.started);
  smma_gemm_free(&p);
  smma_plan_free(p.plan);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

int smma_command_gemm(int argc, const char **argv) {
  smma_gemm_options o = {.alpha = 1, .beta = 1, .scale_d = 1, .split_k = 1};
  const char **paths;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &o.gpu, 0, "the GPU or architecture", "GPU"},
      {"instr", 0, POPT_ARG_STRING, &o.instruction, 0, "the instruction, by name or alias", "NAME"},
      {"in", 0, POPT_ARG_STRING, &o.in, 0, "format of A and B, or A,B; picks the preferred instruction", "FORMAT"},
      {"out", 0, POPT_ARG_STRING, &o.out, 0, "format of D: f32 (f64 for f64, s32 for integers) without it", "FORMAT"},
      {"c", 'C', POPT_ARG_STRING, &o.c, 0, "the matrix C; zero without it", "FILE"},
      {"output", 'o', POPT_ARG_STRING, &o.d, 0, "where D goes, as .npy", "FILE"},
      {"alpha", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.alpha, 0, "factor of A B", "X"},
      {"beta", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.beta, 0, "factor of C", "X"},
      {"scaling", 0, POPT_ARG_STRING, &o.scaling, 0,
       "where alpha and beta act: epilogue, after the sum, in FP32 FMA, or operands, on A and C before it, rounded; "
       "without it C is the instruction's own where alpha and beta are 1, and others act after the sum",
       "WHERE"},
      {"split-k", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &o.split_k, 0,
       "cut K into N slices whose results are added in FP32", "N"},
      {"promote-every", 0, POPT_ARG_LONGLONG, &o.promote_every, 0,
       "move partial sums to an FP32 accumulator every N of K", "N"},
      {"plan", 0, POPT_ARG_STRING, &o.plan, 0,
       "how the library around the instruction sums: parts of K, their order, an epilogue (docs/plans.md); or of a "
       "library, by name",
       "FILE|NAME"},
      SMMA_ROUND_IN_OPTION(&o.round_in, "MODE"),
      {"bias", 0, POPT_ARG_STRING, &o.bias, 0, "a row of N numbers, for a plan's epilogue", "FILE"},
      {"scale-d", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.scale_d, 0, "likewise, a factor of D", "X"},
      SMMA_RAW_OPTION,
      {"transpose-a", 0, POPT_ARG_NONE, &o.transpose_a, 0, "the file holds A transposed", NULL},
      {"transpose-b", 0, POPT_ARG_NONE, &o.transpose_b, 0, "the file holds B transposed", NULL},
      {"scale-a", 0, POPT_ARG_STRING, &o.scale_a, 0,
       "scale factors of block-scaled instructions, M x K/block, without which A and B are quantised; or of a plan's "
       "parts, "
       "f32",
       "FILE"},
      {"scale-b", 0, POPT_ARG_STRING, &o.scale_b, 0, "likewise of B, K/block x N", "FILE"},
      {"metadata", 0, POPT_ARG_STRING, &o.metadata, 0,
       "of sparse instructions, M x K/2: the position in its group of each element of A (docs/sparse.md)", "FILE"},
      {"method", 0, POPT_ARG_STRING, &o.method.method, 0,
       "words, markidis, ozaki: an accurate product of FP64 or FP32 matrices; two-level: --promote-every 128; "
       "fallback: "
       "FP8 data on an FP16 instruction",
       "NAME"},
      {"words", 0, POPT_ARG_INT, &o.method.words, 0, "words, markidis: words of each number, 1 to 32", "P"},
      {"accuracy", 0, POPT_ARG_DOUBLE, &o.method.accuracy, 0, "instead: the fewest words for this relative accuracy",
       "X"},
      {"subnormals", 0, POPT_ARG_STRING, &o.method.subnormals, 0,
       "words, markidis: subnormal words, on (without it) or off", "on|off"},
      {"slices", 0, POPT_ARG_STRING, &o.method.slices, 0, "ozaki: slices of each number, or auto: as many as are exact",
       "S|auto"},
      {"slice-bits", 0, POPT_ARG_INT, &o.method.slice_bits, 0, "ozaki: bits of a slice, 1 to 7; 7 without it", "N"},
      {"products", 0, POPT_ARG_STRING, &o.method.products, 0,
       "ozaki: which products of slices, leading (without it) or all (without it, with auto)", "WHICH"},
      {"sum", 0, POPT_ARG_STRING, &o.method.sum, 0,
       "where they are added: words in f64 (without it), f32, unit or unit-scaled; slices in f64 (without it) or exact "
       "(without it, with auto)",
       "WHERE"},
      {"through", 0, POPT_ARG_STRING, &o.method.through, 0,
       "fallback: the format that takes the data, f16 (without it) or bf16", "FORMAT"},
      {"threads", 't', POPT_ARG_INT, &o.threads, 0, "all cores without it; the result is the same", "N"},
      {"kernel", 0, POPT_ARG_STRING, &o.kernel, 0, "how it is computed; the result is the same (see 'softmma version')",
       "NAME"},
      {"memory", 0, POPT_ARG_LONGLONG, &o.memory, 0,
       "in pieces of so many bytes together, read and written in their place, for matrices that memory does not hold; "
       "ranks of mpirun do so, with 1073741824 each",
       "BYTES"},
      {"json", 0, POPT_ARG_NONE, &o.json, 0, "print the summary as JSON", NULL},
      POPT_TABLEEND};
  paths =
      smma_parse_options(argc, argv, options, 2, 2,
                         "D = alpha A B + beta C; --alpha and --beta are 1 and C is zero without the options.\n"
                         "A, B, C: .npy or FILE.safetensors[:TENSOR]. Wider values are rounded to the instruction's\n"
                         "format, which is said; integers are numbers, or with --raw encodings of it.\n"
                         "Example: softmma gemm --on H100 --in f16 A.npy B.npy -o D.npy\n");
  smma_require_option(o.d, "-o", "D.npy");
  smma_check_method(&o.method);
  if (o.split_k < 1) smma_die("--split-k: %lld is not a number of slices; the least is 1", o.split_k);
  if (o.promote_every < 0) smma_die("--promote-every: %lld is negative", o.promote_every);
  if (o.threads < 0 || o.threads > MOST_THREADS)
    smma_die("--threads: %d is not a number from 0 (all cores) to %d", o.threads, MOST_THREADS);
  if (o.memory < 0) smma_die("--memory: %lld is negative", o.memory);
  if (smma_method_is(&o.method, "two-level") && !o.promote_every) o.promote_every = PROMOTE_EVERY;
  return run(&o, paths);
}
