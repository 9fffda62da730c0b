/* softmma gemm: multiplies matrices in files. */
#include <math.h>

#include "cli/kernel.h"
#include "cli/matrices.h"
#include "cli/output.h"
#include "cli/target.h"
#include "cluster/ranks.h"
#include "product/pieces.h"

typedef struct {
  const char *gpu, *d;
  smma_choice choice;
  const char *path[SMMA_PRODUCT_MATRICES], *plan; /* files, or NULL */
  int transpose_a, transpose_b, json;
  long long memory;
  smma_product_request product;
} gemm_options;

/* Returns the instruction. With --method fallback, that is an instruction whose format holds all values of the data's
   format. */
static const smma_instruction *choose_instruction(gemm_options *o) {
  const smma_method_options *m = &o->product.method;
  const char *through;
  const smma_instruction *i;
  smma_target target;
  smma_error error;
  smma_require(smma_read_target(o->gpu, &target, &error), &error);
  if (smma_method_is(m, "ozaki") && !o->choice.instr && !o->choice.in && !target.more && !target.custom)
    o->choice.in = "s8"; /* the format of slices */
  if (!smma_method_is(m, "fallback")) {
    i = smma_choose_instruction(o->gpu, &o->choice, &error);
    smma_require(i, &error);
    return i;
  }
  if (o->choice.instr) smma_die("--instr: --method fallback takes the one of --through; leave it out");
  if (o->choice.in && target.more) smma_die("--in: %s already gives it; leave it out", o->gpu);
  if (target.more) o->choice.in = target.more;
  if (o->choice.in)
    smma_require((o->product.narrow = smma_format_of_option(o->choice.in, "--in", &error)) != SMMA_NO_FORMAT, &error);
  smma_require(smma_choose_fallback(m, o->product.narrow, &through, &error), &error);
  const smma_choice choice = {.in = through, .out = o->choice.out, .rounded = o->choice.rounded};
  i = smma_choose_instruction(target.gpu, &choice, &error);
  smma_require(i, &error);
  return i;
}

/* Says so if the accuracy of --accuracy, which is that of words, is finer than numbers in the format of the unit's
 * sums. */
static void note_accuracy(const smma_product_request *r) {
  const smma_format d = r->instruction->d;
  if (r->method.accuracy == 0 || r->method.accuracy >= ldexp(1, -1 - smma_encoding_of(d).fraction_bits)) return;
  smma_note("--accuracy: the words reach %g, but the unit's sums are in %s; 'softmma trace' shows their error",
            r->method.accuracy, smma_format_text(d));
}

static void print_summary(const gemm_options *o, const smma_matrix_product *p, double seconds) {
  const smma_product_request *r = p->request;
  const smma_gemm_arguments *g = &p->arguments;
  const double products = (double)g->m * (double)g->n * (double)g->k;
  char method[64];
  if (o->json) {
    smma_print_datum(smma_product_datum(p, o->d, seconds));
    return;
  }
  printf("%s: %zu x %zu (%s), K = %zu, on %s, %s; ", o->d, g->m, g->n, smma_format_text(p->d.format), g->k,
         smma_arch_name(r->instruction), r->instruction->name);
  if (p->method.kind != SMMA_METHOD_NONE)
    printf("%s; ", smma_method_text(&r->method, &p->method, method));
  else if (p->d.format != r->instruction->d)
    printf("sums in %s, D rounded to %s; ", smma_format_text(r->instruction->d), smma_format_text(p->d.format));
  printf("%s kernel, %.3g s, %.3g million products/s\n", smma_kernel_for(r->instruction, r->kernel, NULL), seconds,
         products / seconds / 1e6);
}

/* The progress of a product computed in blocks. Its K is known only when the files are open. */
typedef struct {
  smma_progress progress;
  const smma_matrix_product *product;
} piecewise;

static void show_elements(size_t done, size_t all, void *context) {
  piecewise *x = context;
  x->progress.per_step = (double)x->product->arguments.k;
  smma_progress_show(&x->progress, done, all);
}

static void compute_whole(const gemm_options *o, smma_matrix_product *p) {
  smma_progress progress;
  smma_error error;
  smma_require(smma_product_take(p, &smma_notes_printed, &error), &error);
  p->arguments.progress = smma_progress_watch, p->arguments.progress_context = &progress;
  smma_progress_start(&progress, "products", (double)p->arguments.n * (double)p->arguments.k);
  smma_require(smma_product_run(p, &error), &error);
  smma_progress_end();
  if (!smma_npy_write(o->d, &p->d, &error)) smma_die("-o: %s", error.text);
}

static void compute_in_pieces(const gemm_options *o, smma_matrix_product *p) {
  const smma_group group = smma_ranks_group();
  piecewise x = {.product = p};
  const smma_pieces pieces = {&group, o->memory, o->d, &smma_notes_printed, show_elements, &x};
  smma_error error;
  smma_progress_start(&x.progress, "products", 1);
  smma_require(smma_product_in_pieces(p, &pieces, &error), &error);
  smma_progress_end();
}

/* Sets up the product, and finds all errors that can be found before the matrices are read. */
static void begin(gemm_options *o, smma_matrix_product *p) {
  smma_product_request *r = &o->product;
  smma_target_rounding rounding;
  smma_format rounded = SMMA_NO_FORMAT;
  smma_error error;
  o->choice.rounded = &rounded;
  smma_check(smma_check_file(o->d, "-o", "the summary", &error) && smma_check_ending(o->d, "-o", ".npy", &error),
             &error);
  smma_check(smma_check_kernel(r->kernel, &error), &error);
  r->instruction = choose_instruction(o);
  smma_end_of_checks();
  r->plan_name = o->plan;
  smma_require((!o->plan || (r->plan = smma_named_plan(o->plan, r->instruction, &error))) &&
                   (rounded == SMMA_NO_FORMAT || smma_product_round(r, rounded, &error)),
               &error);
  const smma_target_plan plan = {.plan = (smma_plan *)r->plan};
  smma_require(smma_target_roundings(r->round_in, &r->instruction, &plan, 1, &rounding, &error), &error);
  for (int which = 0; which < SMMA_PRODUCT_MATRICES; which++) r->of[which].path = o->path[which];
  r->transpose_a = o->transpose_a, r->transpose_b = o->transpose_b, r->raw = smma_raw_encodings;
  smma_require(smma_product_begin(r, p, &error) && smma_check_writable(o->d, "-o", &error), &error);
}

static int run(gemm_options *o) {
  const double start = smma_seconds();
  smma_matrix_product p;
  begin(o, &p);
  if (smma_ranks() > 1 || o->memory)
    compute_in_pieces(o, &p);
  else
    compute_whole(o, &p);
  note_accuracy(p.request);
  if (smma_rank() == 0) print_summary(o, &p, smma_seconds() - start);
  smma_product_free(&p);
  smma_plan_free((smma_plan *)o->product.plan);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

int smma_command_gemm(int argc, const char **argv) {
  gemm_options o = {.product = smma_product_defaults()};
  smma_product_request *r = &o.product;
  smma_error error;
  const char **paths;
  int status;
  struct poptOption options[] = {
      SMMA_ON_OPTION(&o.gpu, "the target"),
      SMMA_CHOICE_OPTIONS(o.choice, ""),
      {"c", 'C', POPT_ARG_STRING, &o.path[SMMA_OF_C], 0, "the matrix C (default: zero)", "FILE"},
      {"output", 'o', POPT_ARG_STRING, &o.d, 0, "the .npy file to write D to", "FILE"},
      {"json", 0, POPT_ARG_NONE, &o.json, 0, "print the summary as JSON", NULL},
      SMMA_OPTION_GROUP("Operands:"),
      SMMA_RAW_OPTION,
      {"transpose-a", 0, POPT_ARG_NONE, &o.transpose_a, 0, "the file of A holds its transpose", NULL},
      {"transpose-b", 0, POPT_ARG_NONE, &o.transpose_b, 0, "the file of B holds its transpose", NULL},
      SMMA_ROUND_IN_OPTION(&r->round_in, "MODE"),
      {"scale-a", 0, POPT_ARG_STRING, &o.path[SMMA_OF_SCALE_A], 0,
       "for a block-scaled instruction: its scale factors of A, M x K/block (default: A and B are quantised; to nvfp4 "
       "also with a factor of each matrix, which multiplies the result). For a plan with scale factors: FP32 factors "
       "of A's parts, M x parts of K",
       "FILE"},
      {"scale-b", 0, POPT_ARG_STRING, &o.path[SMMA_OF_SCALE_B], 0,
       "likewise for B: K/block x N for the instruction, parts of K x N for the plan", "FILE"},
      {"metadata", 0, POPT_ARG_STRING, &o.path[SMMA_OF_METADATA], 0,
       "for sparse instructions, M x K/2: the position of each element of A in its group (docs/sparse.md)", "FILE"},
      SMMA_OPTION_GROUP("Sums and epilogue:"),
      {"split-k", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &r->split_k, 0,
       "divide K into N slices, and add their results in FP32", "N"},
      {"promote-every", 0, POPT_ARG_LONGLONG, &r->promote_every, 0,
       "move partial sums to an FP32 accumulator every N of K (default: never)", "N"},
      {"plan", 0, POPT_ARG_STRING, &o.plan, 0,
       "how the library around the instruction sums (docs/plans.md): a file with the parts of K, their order and an "
       "epilogue, or the name of a library",
       "FILE|NAME"},
      {"alpha", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &r->alpha, 0, "factor of A B", "X"},
      {"beta", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &r->beta, 0, "factor of C", "X"},
      {"scaling", 0, POPT_ARG_STRING, &r->scaling, 0,
       "where alpha and beta act: epilogue (after the sum, in FP32 FMA) or operands (on A and C before the sum, "
       "rounded) (default: C is the instruction's own addend if alpha and beta are 1, otherwise epilogue)",
       "WHERE"},
      {"bias", 0, POPT_ARG_STRING, &o.path[SMMA_OF_BIAS], 0, "for a plan's epilogue: a row of N numbers", "FILE"},
      {"scale-d", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &r->scale_d, 0,
       "for a plan's epilogue: a factor of D", "X"},
      SMMA_OPTION_GROUP("Methods made of several products:"),
      {"method", 0, POPT_ARG_STRING, &r->method.method, 0,
       "words, markidis, bf16x9 or ozaki: an accurate product of FP64 or FP32 matrices; two-level: the same as "
       "--promote-every 128; fallback: FP8 data on an FP16 instruction",
       "NAME"},
      {"words", 0, POPT_ARG_INT, &r->method.words, 0, "words, markidis: number of words of each element, 1 to 32", "P"},
      {"accuracy", 0, POPT_ARG_DOUBLE, &r->method.accuracy, 0,
       "instead of --words: the fewest words whose products have this relative accuracy; sums on the unit may have "
       "less",
       "X"},
      {"subnormals", 0, POPT_ARG_STRING, &r->method.subnormals, 0,
       "words, markidis: whether words may be subnormal (default: on)", "on|off"},
      {"slices", 0, POPT_ARG_STRING, &r->method.slices, 0,
       "ozaki: number of slices of each element; auto: as many as represent it exactly (default: auto)", "S|auto"},
      {"slice-bits", 0, POPT_ARG_INT, &r->method.slice_bits, 0, "ozaki: bits of a slice, 1 to 7 (default: 7)", "N"},
      {"products", 0, POPT_ARG_STRING, &r->method.products, 0,
       "ozaki: which products of slices to compute, leading or all (default: leading; all with --slices auto)",
       "WHICH"},
      {"sum", 0, POPT_ARG_STRING, &r->method.sum, 0,
       "how the products are added: words in f64, f32, unit, unit-scaled or blocks, slices in f64 or exact (default: "
       "f64; exact with --slices auto)",
       "WHERE"},
      {"through", 0, POPT_ARG_STRING, &r->method.through, 0,
       "fallback: the format that the data are converted to, f16 or bf16 (default: f16)", "FORMAT"},
      SMMA_OPTION_GROUP("Execution, which does not change the result:"),
      {"kernel", 0, POPT_ARG_STRING, &r->kernel, 0,
       "the kernel, one of those in 'softmma version' (default: the fastest)", "NAME"},
      {"memory", 0, POPT_ARG_LONGLONG, &o.memory, 0,
       "for matrices larger than memory: compute in blocks of this many bytes in all, read from and written to the "
       "files in place (default: no blocks; under mpirun 1073741824 for each rank)",
       "BYTES"},
      POPT_TABLEEND};
  paths = smma_parse_options(
      argc, argv, options, 2, 3,
      "Computes D = alpha A B + beta C. A, B and C are .npy or FILE.safetensors[:TENSOR]; a third one is C.\n"
      "Values of a wider format are rounded to the instruction's format, with a note. Integers are numbers,\n"
      "or with --raw encodings of the format. With --out f16 or bf16 that no instruction has, sums are in\n"
      "f32, and D is rounded after alpha and C, as by libraries. TENSOR may be a layer; a quantised weight\n"
      "comes with its scale factors (docs/checkpoints.md).\n",
      &status);
  if (!paths) return status;
  if (paths[2] && (!o.d || o.path[SMMA_OF_C]))
    smma_die("unexpected argument '%s'; %s", paths[2], o.d ? "-C names C already" : "-o FILE names the file to write");
  smma_require(smma_is_given(o.d, "-o", "D.npy", &error), &error);
  o.path[SMMA_OF_A] = paths[0], o.path[SMMA_OF_B] = paths[1];
  if (paths[2]) o.path[SMMA_OF_C] = paths[2];
  smma_require(smma_check_method(&r->method, &error), &error);
  if (o.memory < 0) smma_die("--memory: %lld is negative", o.memory);
  return run(&o);
}
