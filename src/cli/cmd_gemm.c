#include "cli/choose.h"
#include "cli/matrices.h"
#include "cli/output.h"
#include "cli/plans.h"
#include "cluster/ranks.h"
#include "product/pieces.h"

typedef struct {
  const char *gpu, *instruction, *in, *out, *d;
  const char *path[SMMA_PRODUCT_MATRICES], *plan; /* files, or NULL */
  int transpose_a, transpose_b, json;
  long long memory;
  smma_product_request product;
} gemm_options;

/* With the method fallback that of an instruction which holds the data's format. */
static const smma_instruction *choose_instruction(gemm_options *o) {
  const smma_method_options *m = &o->product.method;
  const char *through;
  smma_error error;
  if (!smma_method_is(m, "fallback")) return smma_choose_instruction(o->gpu, o->instruction, o->in, o->out);
  if (o->instruction) smma_die("--instr: --method fallback takes the one of --through; leave it out");
  if (o->in) o->product.narrow = smma_require_format(o->in, "--in");
  if (!smma_choose_fallback(m, o->product.narrow, &through, &error)) smma_die("%s", error.text);
  return smma_choose_instruction(o->gpu, NULL, through, o->out);
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
  if (p->method.kind != SMMA_METHOD_NONE) printf("%s; ", smma_method_text(&r->method, &p->method, method));
  printf("%s kernel, %.3g s, %.3g million products/s\n", smma_kernel_for(r->instruction, r->kernel), seconds,
         products / seconds / 1e6);
}

static int show_rows(size_t done, size_t all, void *context) {
  smma_progress_show(context, done, all);
  return 0;
}

/* The progress of a product in pieces, whose K is known once its files are open. */
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
  if (!smma_product_take(p, &smma_notes_printed, &error)) smma_die("%s", error.text);
  p->arguments.progress = show_rows, p->arguments.progress_context = &progress;
  smma_progress_start(&progress, "products", (double)p->arguments.n * (double)p->arguments.k);
  if (!smma_product_run(p, &error)) smma_die("%s", error.text);
  smma_progress_end();
  if (!smma_npy_write(o->d, &p->d, &error)) smma_die("-o: %s", error.text);
}

static void compute_in_pieces(const gemm_options *o, smma_matrix_product *p) {
  const smma_group group = {smma_rank(), smma_ranks(), smma_ranks_share, smma_ranks_send, smma_ranks_receive};
  piecewise x = {.product = p};
  const smma_pieces pieces = {&group, o->memory, o->d, &smma_notes_printed, show_elements, &x};
  smma_error error;
  smma_progress_start(&x.progress, "products", 1);
  if (!smma_product_in_pieces(p, &pieces, &error)) smma_die("%s", error.text);
  smma_progress_end();
}

/* What can be seen wrong before any file is read. */
static void begin(gemm_options *o, smma_matrix_product *p) {
  smma_product_request *r = &o->product;
  smma_target_rounding rounding;
  smma_error error;
  r->instruction = choose_instruction(o);
  smma_check_kernel(r->kernel);
  r->plan = o->plan ? smma_require_plan(o->plan, r->instruction) : NULL, r->plan_name = o->plan;
  smma_require_roundings(r->round_in, &r->instruction, &(smma_target_plan){.plan = (smma_plan *)r->plan}, 1, &rounding);
  smma_require_file(o->d, "-o", "the summary");
  if (smma_ends_with(o->d, ".safetensors")) smma_die("-o: '%s': D is written as a .npy file; name one", o->d);
  for (int which = 0; which < SMMA_PRODUCT_MATRICES; which++) r->of[which].path = o->path[which];
  r->transpose_a = o->transpose_a, r->transpose_b = o->transpose_b, r->raw = smma_raw_encodings;
  if (!smma_product_begin(r, p, &error)) smma_die("%s", error.text);
  smma_require_writable(o->d, "-o");
}

static int run(gemm_options *o) {
  const double start = smma_seconds();
  smma_matrix_product p;
  begin(o, &p);
  if (smma_ranks() > 1 || o->memory)
    compute_in_pieces(o, &p);
  else
    compute_whole(o, &p);
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
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &o.gpu, 0, "the GPU or architecture", "GPU"},
      {"instr", 0, POPT_ARG_STRING, &o.instruction, 0, "the instruction, by name or alias", "NAME"},
      {"in", 0, POPT_ARG_STRING, &o.in, 0, "format of A and B, or A,B; picks the preferred instruction", "FORMAT"},
      {"out", 0, POPT_ARG_STRING, &o.out, 0, "format of D: f32 (f64 for f64, s32 for integers) without it", "FORMAT"},
      {"c", 'C', POPT_ARG_STRING, &o.path[SMMA_OF_C], 0, "the matrix C; zero without it", "FILE"},
      {"output", 'o', POPT_ARG_STRING, &o.d, 0, "where D goes, as .npy", "FILE"},
      {"alpha", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &r->alpha, 0, "factor of A B", "X"},
      {"beta", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &r->beta, 0, "factor of C", "X"},
      {"scaling", 0, POPT_ARG_STRING, &r->scaling, 0,
       "where alpha and beta act: epilogue, after the sum, in FP32 FMA, or operands, on A and C before it, rounded; "
       "without it C is the instruction's own where alpha and beta are 1, and others act after the sum",
       "WHERE"},
      {"split-k", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &r->split_k, 0,
       "cut K into N slices whose results are added in FP32", "N"},
      {"promote-every", 0, POPT_ARG_LONGLONG, &r->promote_every, 0,
       "move partial sums to an FP32 accumulator every N of K", "N"},
      {"plan", 0, POPT_ARG_STRING, &o.plan, 0,
       "how the library around the instruction sums: parts of K, their order, an epilogue (docs/plans.md); or of a "
       "library, by name",
       "FILE|NAME"},
      SMMA_ROUND_IN_OPTION(&r->round_in, "MODE"),
      {"bias", 0, POPT_ARG_STRING, &o.path[SMMA_OF_BIAS], 0, "a row of N numbers, for a plan's epilogue", "FILE"},
      {"scale-d", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &r->scale_d, 0, "likewise, a factor of D", "X"},
      SMMA_RAW_OPTION,
      {"transpose-a", 0, POPT_ARG_NONE, &o.transpose_a, 0, "the file holds A transposed", NULL},
      {"transpose-b", 0, POPT_ARG_NONE, &o.transpose_b, 0, "the file holds B transposed", NULL},
      {"scale-a", 0, POPT_ARG_STRING, &o.path[SMMA_OF_SCALE_A], 0,
       "scale factors of block-scaled instructions, M x K/block, without which A and B are quantised; or of a plan's "
       "parts, "
       "f32",
       "FILE"},
      {"scale-b", 0, POPT_ARG_STRING, &o.path[SMMA_OF_SCALE_B], 0, "likewise of B, K/block x N", "FILE"},
      {"metadata", 0, POPT_ARG_STRING, &o.path[SMMA_OF_METADATA], 0,
       "of sparse instructions, M x K/2: the position in its group of each element of A (docs/sparse.md)", "FILE"},
      {"method", 0, POPT_ARG_STRING, &r->method.method, 0,
       "words, markidis, ozaki: an accurate product of FP64 or FP32 matrices; two-level: --promote-every 128; "
       "fallback: "
       "FP8 data on an FP16 instruction",
       "NAME"},
      {"words", 0, POPT_ARG_INT, &r->method.words, 0, "words, markidis: words of each number, 1 to 32", "P"},
      {"accuracy", 0, POPT_ARG_DOUBLE, &r->method.accuracy, 0, "instead: the fewest words for this relative accuracy",
       "X"},
      {"subnormals", 0, POPT_ARG_STRING, &r->method.subnormals, 0,
       "words, markidis: subnormal words, on (without it) or off", "on|off"},
      {"slices", 0, POPT_ARG_STRING, &r->method.slices, 0,
       "ozaki: slices of each number, or auto: as many as are exact", "S|auto"},
      {"slice-bits", 0, POPT_ARG_INT, &r->method.slice_bits, 0, "ozaki: bits of a slice, 1 to 7; 7 without it", "N"},
      {"products", 0, POPT_ARG_STRING, &r->method.products, 0,
       "ozaki: which products of slices, leading (without it) or all (without it, with auto)", "WHICH"},
      {"sum", 0, POPT_ARG_STRING, &r->method.sum, 0,
       "where they are added: words in f64 (without it), f32, unit or unit-scaled; slices in f64 (without it) or exact "
       "(without it, with auto)",
       "WHERE"},
      {"through", 0, POPT_ARG_STRING, &r->method.through, 0,
       "fallback: the format that takes the data, f16 (without it) or bf16", "FORMAT"},
      {"threads", 't', POPT_ARG_INT, &r->threads, 0, "all cores without it; the result is the same", "N"},
      {"kernel", 0, POPT_ARG_STRING, &r->kernel, 0,
       "how it is computed; the result is the same (see 'softmma version')", "NAME"},
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
  o.path[SMMA_OF_A] = paths[0], o.path[SMMA_OF_B] = paths[1];
  if (!smma_check_method(&r->method, &error)) smma_die("%s", error.text);
  if (o.memory < 0) smma_die("--memory: %lld is negative", o.memory);
  return run(&o);
}
