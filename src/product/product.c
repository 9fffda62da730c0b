#include "product/product.h"

#include <stdio.h>
#include <string.h>

#include "host/thread.h"
#include "isa/catalogue.h"
#include "matrix/stored.h"
#include "numerics/blocks.h"
#include "plan/plan.h"
#include "softmma/sparse.h"

smma_product_request smma_product_defaults(void) {
  return (smma_product_request){.narrow = SMMA_NO_FORMAT, .alpha = 1, .beta = 1, .scale_d = 1, .split_k = 1};
}

/* ---- Checks before a matrix is read ---- */

const char *smma_plan_refuses(const smma_plan *plan, const smma_gemm_arguments *g, bool has_c, bool has_bias) {
  const bool linear = smma_plan_has(plan, SMMA_EPILOGUE_LINEAR);
  const bool takes_c = smma_plan_takes_c(plan);
  return g->split_k > 1                                                          ? "split_k"
         : g->promote_every                                                      ? "promote_every"
         : g->scaling != SMMA_SCALING_DEFAULT                                    ? "scaling"
         : has_c && !takes_c                                                     ? "c"
         : g->beta != 1 && !takes_c                                              ? "beta"
         : has_bias && !smma_plan_has(plan, SMMA_EPILOGUE_BIAS)                  ? "bias"
         : g->scale_d != 1 && !smma_plan_has(plan, SMMA_EPILOGUE_SCALE_D)        ? "scale_d"
         : g->alpha != 1 && !linear && !smma_plan_has(plan, SMMA_EPILOGUE_ALPHA) ? "alpha"
                                                                                 : NULL;
}

bool smma_fail_no_place(const char *option, const char *plan, smma_error *error) {
  static const char *const places[][2] = {
      {"-C", "to add C give it \"start\": \"c\", or \"epilogue\": [\"linear\"] (alpha A B + beta C)"},
      {"--c", "to add c give it \"start\": \"c\", or \"epilogue\": [\"linear\"]"},
      {"--with-c", "to add C give it \"start\": \"c\", or \"epilogue\": [\"linear\"]"},
      {"--beta", "give it \"start\": \"c\", or \"epilogue\": [\"linear\"]"},
      {"--alpha", "give it \"epilogue\": [\"alpha\"], or [\"linear\"]"},
      {"--bias", "give it \"epilogue\": [\"bias\"]"},
      {"--scale-d", "give it \"epilogue\": [\"scale-d\"]"},
      {"--split-k", "its \"sum\" splits K; leave it out"},
      {"--promote-every", "its \"sum\" splits K; leave it out"}};
  const char *mend = "leave it out";
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    if (strcmp(option, places[i][0]) == 0) mend = places[i][1];
  return smma_fail(error, "%s: the plan of %s has no place for it; %s", option, plan, mend);
}

static const char *given(const smma_product_request *r, smma_product_matrix which) { return r->of[which].path; }

static bool require(const smma_product_request *r, smma_product_matrix which, const char *option, const char *example,
                    smma_error *error) {
  return given(r, which) || smma_fail(error, "%s is missing; for example %s %s", option, option, example);
}

/* Checks the options of an accurate product, which computes only A B. */
static bool check_alone(const smma_product_request *r, smma_error *error) {
  const char *option = given(r, SMMA_OF_C)                                      ? "-C"
                       : r->alpha != 1                                          ? "--alpha"
                       : r->beta != 1                                           ? "--beta"
                       : r->scaling                                             ? "--scaling"
                       : given(r, SMMA_OF_SCALE_A) || given(r, SMMA_OF_SCALE_B) ? "--scale-a, --scale-b"
                       : r->round_in                                            ? "--round-in"
                                                                                : NULL;
  return !option || smma_fail(error, "%s: --method %s computes A B alone; leave it out", option, r->method.method);
}

static bool take_scaling(const smma_product_request *r, smma_scaling *scaling, smma_error *error) {
  *scaling = SMMA_SCALING_DEFAULT;
  if (!r->scaling) return true;
  *scaling = strcmp(r->scaling, "epilogue") == 0 ? SMMA_SCALING_EPILOGUE : SMMA_SCALING_OPERANDS;
  return *scaling == SMMA_SCALING_EPILOGUE || strcmp(r->scaling, "operands") == 0 ||
         smma_fail(error, "--scaling: '%s' is neither epilogue nor operands", r->scaling);
}

bool smma_fail_misplaced(const char *argument, const char *plan, smma_error *error) {
  static const char *const options[][2] = {{"c", "-C"},
                                           {"split_k", "--split-k"},
                                           {"promote_every", "--promote-every"},
                                           {"scaling", "--scaling"},
                                           {"beta", "--beta"},
                                           {"bias", "--bias"},
                                           {"scale_d", "--scale-d"},
                                           {"alpha", "--alpha"}};
  const char *option = argument;
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    if (strcmp(argument, options[i][0]) == 0) option = options[i][1];
  return smma_fail_no_place(option, plan, error);
}

static bool check_plan(const smma_matrix_product *p, smma_error *error) {
  const smma_product_request *r = p->request;
  const char *argument;
  if (p->method.kind != SMMA_METHOD_NONE) return smma_fail_no_place("--method", r->plan_name, error);
  argument = smma_plan_refuses(r->plan, &p->arguments, given(r, SMMA_OF_C), given(r, SMMA_OF_BIAS));
  if (argument) return smma_fail_misplaced(argument, r->plan_name, error);
  return !smma_plan_has(r->plan, SMMA_EPILOGUE_BIAS) || require(r, SMMA_OF_BIAS, "--bias", "bias.npy", error);
}

static bool check_no_plan(const smma_product_request *r, smma_error *error) {
  const char *option = given(r, SMMA_OF_BIAS) ? "--bias" : r->scale_d != 1 ? "--scale-d" : NULL;
  return !option || smma_fail(error, "%s: it takes a plan whose epilogue has it; give --plan, or leave it out", option);
}

static bool check_promotion(const smma_product_request *r, long long every, smma_error *error) {
  return every % r->instruction->k == 0 ||
         smma_fail(error, "--promote-every: %lld is not a multiple of the instruction's K, %d", every,
                   r->instruction->k);
}

static long long promotion_of(const smma_product_request *r) {
  const bool two_level = smma_method_is(&r->method, "two-level") && !r->promote_every;
  return two_level ? SMMA_TWO_LEVEL_EVERY : r->promote_every;
}

bool smma_check_threads(int threads, smma_error *error) {
  return (threads >= 0 && threads <= SMMA_MOST_THREADS) ||
         smma_fail(error, "--threads: %d is not a number from 0 (all cores) to %d", threads, SMMA_MOST_THREADS);
}

static bool take_numbers(const smma_product_request *r, smma_gemm_arguments *g, smma_error *error) {
  const long long every = promotion_of(r);
  if (r->split_k < 1) return smma_fail(error, "--split-k: %lld is not a number of slices; the least is 1", r->split_k);
  if (r->promote_every < 0) return smma_fail(error, "--promote-every: %lld is negative", r->promote_every);
  if (!smma_check_threads(r->threads, error) || !check_promotion(r, every, error)) return false;
  g->alpha = r->alpha, g->beta = r->beta, g->scale_d = r->scale_d, g->threads = r->threads;
  g->split_k = r->rounds ? 1 : (size_t)r->split_k, g->promote_every = r->rounds ? 0 : (size_t)every;
  return true;
}

static bool has_factor(const smma_instruction *i, bool of_a) {
  const smma_block_format format = smma_input_of(i, of_a);
  return smma_has_tensor_factor(&format);
}

bool smma_takes_factor(const smma_plan *plan) {
  return !plan || smma_plan_has(plan, SMMA_EPILOGUE_LINEAR) || smma_plan_has(plan, SMMA_EPILOGUE_ALPHA);
}

bool smma_check_quantised(const smma_instruction *i, const smma_plan *plan, const char *plan_name, smma_scaling scaling,
                          smma_error *error) {
  if (!has_factor(i, true) && !has_factor(i, false)) return true;
  if (scaling == SMMA_SCALING_OPERANDS)
    return smma_fail(error, "--scaling: operands: the factors of matrices in nvfp4 multiply the sum; leave it out");
  return smma_takes_factor(plan) ||
         smma_fail(error,
                   "--plan: %s has no place for the factors of A and B in nvfp4; give it \"epilogue\": [\"alpha\"], or "
                   "give --scale-a and --scale-b",
                   plan_name);
}

static bool check_scales(const smma_matrix_product *p, smma_error *error) {
  const smma_product_request *r = p->request;
  const smma_instruction *i = r->instruction;
  const char *a = given(r, SMMA_OF_SCALE_A), *b = given(r, SMMA_OF_SCALE_B);
  if (p->method.kind != SMMA_METHOD_NONE) return check_alone(r, error);
  if (i->scale_block && !a && !b && !smma_check_quantised(i, r->plan, r->plan_name, p->arguments.scaling, error))
    return false;
  return i->scale_block || smma_plan_scaled_k(r->plan) || (!a && !b) ||
         smma_fail(error, "%s: %s takes no scale factors; leave it out", a ? "--scale-a" : "--scale-b", i->name);
}

static bool check_sparse(const smma_matrix_product *p, smma_error *error) {
  const smma_product_request *r = p->request;
  const smma_instruction *i = r->instruction;
  if (i->sparse && p->method.kind != SMMA_METHOD_NONE)
    return smma_fail(error, "--method: %s is sparse; its products have no accurate form", i->name);
  if (i->sparse) return require(r, SMMA_OF_METADATA, "--metadata", "metadata.npy", error);
  return !given(r, SMMA_OF_METADATA) || smma_fail(error, "--metadata: %s is not sparse; leave it out", i->name);
}

static bool take_rounding(smma_matrix_product *p, smma_error *error) {
  const smma_product_request *r = p->request;
  const smma_instruction *i = r->instruction;
  const smma_format format[2] = {i->a, i->b};
  for (int n = 0; n < 2; n++) {
    const smma_rounding usual = smma_operand_rounding(i, r->plan, format[n]);
    p->rounding[n] = usual;
    if (r->round_in && !smma_rounding_of(r->round_in, strlen(r->round_in), usual, &p->rounding[n], error)) return false;
  }
  if (r->round_in && strcmp(r->round_in, "default") != 0 && i->scale_block)
    return smma_fail(
        error, "--round-in: %s takes blocks with scale factors, which have a rule of their own; leave it out", i->name);
  return true;
}

bool smma_product_begin(const smma_product_request *r, smma_matrix_product *p, smma_error *error) {
  smma_gemm_arguments *g = &p->arguments;
  *p = (smma_matrix_product){
      .request = r, .factor = {1, 1}, .d = {.format = smma_plan_d_format(r->plan, r->instruction)}};
  smma_gemm_defaults(g, sizeof *g);
  if (!smma_choose_method(&r->method, r->instruction, &p->method, error) || !take_rounding(p, error) ||
      !take_scaling(r, &g->scaling, error) || !take_numbers(r, g, error))
    return false;
  g->kernel = r->kernel, g->plan = r->plan;
  return check_scales(p, error) && check_sparse(p, error) && (r->plan ? check_plan(p, error) : check_no_plan(r, error));
}

bool smma_product_round(smma_product_request *r, smma_format d, smma_error *error) {
  const char *text = smma_format_text(d);
  const bool two_level = smma_method_is(&r->method, "two-level"), fallback = smma_method_is(&r->method, "fallback");
  if (r->method.method && !two_level && !fallback)
    return smma_fail(error, "--out: D of --method %s is not in %s; leave it out", r->method.method, text);
  if (r->plan)
    return r->plan->d == d ||
           smma_fail(error, "--out: the plan of %s has no D in %s; give it \"d\": \"%s\"", r->plan_name, text, text);
  if (r->scaling && strcmp(r->scaling, "epilogue") != 0)
    return smma_fail(error, "--scaling: D is rounded to %s after alpha and beta; give epilogue, or leave it out", text);
  if (r->split_k < 1 || r->promote_every < 0) return true; /* smma_product_begin refuses these */
  r->promote_every = promotion_of(r);
  if (!check_promotion(r, r->promote_every, error)) return false;
  r->plan = smma_plan_of_rounding(d, (size_t)r->split_k, (size_t)r->promote_every, (size_t)r->instruction->k);
  r->plan_name = "--out", r->rounds = true, r->scaling = NULL;
  if (two_level) r->method.method = NULL;
  return r->plan || smma_no_memory(error);
}

/* ---- Matrices ---- */

bool smma_product_size(smma_matrix_product *p, const smma_tensor *a, const smma_tensor *b, smma_error *error) {
  const smma_product_request *r = p->request;
  const smma_instruction *i = r->instruction;
  const char *of_a = given(r, SMMA_OF_A), *of_b = given(r, SMMA_OF_B);
  const size_t k_of_b = r->transpose_b ? b->columns : b->rows;
  smma_gemm_arguments *g = &p->arguments;
  smma_error why;
  g->m = r->transpose_a ? a->columns : a->rows;
  g->k = r->transpose_a ? a->rows : a->columns;
  g->n = r->transpose_b ? b->rows : b->columns;
  g->order_a = r->transpose_a ? SMMA_COLUMN_MAJOR : SMMA_ROW_MAJOR;
  g->order_b = r->transpose_b ? SMMA_COLUMN_MAJOR : SMMA_ROW_MAJOR;
  if (!smma_check_meaning(a, i->a, (smma_label){"A", of_a}, error) ||
      !smma_check_meaning(b, i->b, (smma_label){"B", of_b}, error))
    return false;
  if (i->sparse && 2 * g->k != k_of_b)
    return smma_fail(error, "%s has %zu elements along K and %s %zu: of a sparse A half of them are stored", of_a, g->k,
                     of_b, k_of_b);
  if (i->sparse) g->k = k_of_b;
  if (g->k != k_of_b)
    return smma_fail(error,
                     "%s%s is %zu x %zu and %s%s is %zu x %zu: the columns of the first must be the rows of the second "
                     "(--transpose-a, --transpose-b)",
                     of_a, r->transpose_a ? " transposed" : "", g->m, g->k, of_b, r->transpose_b ? " transposed" : "",
                     k_of_b, g->n);
  if (r->plan && smma_plan_check(r->plan, i, g->k, &why) != SMMA_OK)
    return smma_fail_as(error, why.status, "%s%s: %s", *r->plan_name == '-' ? "" : "--plan: ", r->plan_name, why.text);
  return true;
}

static bool is_along_rows(const smma_product_request *r, bool of_a) { return of_a ? !r->transpose_a : r->transpose_b; }

/* Returns the kind of scale factors of the caller's matrix along K. If A is sparse, its blocks are counted in stored
   elements, so a block of B has twice as many elements. */
static smma_scales scales_of(const smma_product_request *r, bool of_a) {
  smma_scales scales = smma_scales_of(r->plan, r->instruction);
  if (r->instruction->sparse && !of_a) scales.each *= 2;
  return scales;
}

/* Reports whether the product uses the stored (quantised) form of the caller's matrix. */
static bool enters_stored(const smma_product_request *r, bool of_a, const smma_tensor *matrix) {
  const smma_format element = of_a ? r->instruction->a : r->instruction->b;
  return !given(r, of_a ? SMMA_OF_SCALE_A : SMMA_OF_SCALE_B) && r->narrow == SMMA_NO_FORMAT &&
         smma_takes_stored(matrix, is_along_rows(r, of_a), element, scales_of(r, of_a));
}

/* Fails because scale factors of A, of B or of both are missing. The error says of which shape they must be. */
static bool fail_missing_scales(const smma_product_request *r, const bool missing[2], const smma_tensor *a,
                                const smma_tensor *b, smma_error *error) {
  const smma_gemm_arguments g = {.m = r->transpose_a ? a->columns : a->rows,
                                 .n = r->transpose_b ? b->rows : b->columns,
                                 .k = r->transpose_b ? b->columns : b->rows};
  const smma_matrix_need of_a = smma_product_needs(r, SMMA_OF_SCALE_A, &g),
                         of_b = smma_product_needs(r, SMMA_OF_SCALE_B, &g);
  const smma_matrix_need *one = missing[0] ? &of_a : &of_b;
  if (missing[0] && missing[1])
    return smma_fail(error,
                     "--scale-a and --scale-b are missing: scale factors in %s, %zu x %zu and %zu x %zu; for example "
                     "--scale-a scales-a.npy --scale-b scales-b.npy",
                     smma_format_text(of_a.format), of_a.rows, of_a.columns, of_b.rows, of_b.columns);
  return smma_fail(error, "%s is missing: scale factors in %s, %zu x %zu; for example %s %s", one->option,
                   smma_format_text(one->format), one->rows, one->columns, one->option,
                   missing[0] ? "scales-a.npy" : "scales-b.npy");
}

bool smma_product_check_scales(const smma_matrix_product *p, const smma_tensor *a, const smma_tensor *b,
                               smma_error *error) {
  const smma_product_request *r = p->request;
  const bool any = given(r, SMMA_OF_SCALE_A) || given(r, SMMA_OF_SCALE_B) || smma_plan_scaled_k(r->plan);
  bool missing[2];
  if (!any || p->method.kind != SMMA_METHOD_NONE) return true;
  for (int n = 0; n < 2; n++) {
    const smma_tensor *t = n ? b : a;
    const char *option = n ? "--scale-b" : "--scale-a";
    const smma_product_matrix scales = n ? SMMA_OF_SCALE_B : SMMA_OF_SCALE_A;
    char form[SMMA_STORED_TEXT];
    missing[n] = false;
    if (enters_stored(r, n == 0, t)) continue;
    if (t->stored)
      return smma_fail(error,
                       given(r, scales) ? "%s: %s is %s, so that it has its own factors; leave it out"
                                        : "%s is missing: %s is %s, and the product takes other scale factors",
                       option, given(r, n ? SMMA_OF_B : SMMA_OF_A), smma_stored_text(t->stored, form));
    missing[n] = !given(r, scales);
  }
  return (!missing[0] && !missing[1]) || fail_missing_scales(r, missing, a, b, error);
}

smma_matrix_need smma_product_needs(const smma_product_request *r, smma_product_matrix which,
                                    const smma_gemm_arguments *g) {
  const smma_scales scales = scales_of(r, false);
  const size_t along = smma_scales_along(scales, g->k);
  const char *by = "this product needs";
  switch (which) {
    case SMMA_OF_SCALE_A: return (smma_matrix_need){"--scale-a", "--scale-a", scales.format, g->m, along, by};
    case SMMA_OF_SCALE_B: return (smma_matrix_need){"--scale-b", "--scale-b", scales.format, along, g->n, by};
    case SMMA_OF_BIAS: return (smma_matrix_need){"--bias", "--bias", SMMA_F32, 1, g->n, by};
    case SMMA_OF_METADATA: return (smma_matrix_need){"--metadata", "--metadata", SMMA_U8, g->m, g->k / 2, by};
    case SMMA_OF_C: return (smma_matrix_need){"-C", "C", r->instruction->c, g->m, g->n, "A*B is"};
    case SMMA_OF_A: return (smma_matrix_need){"A", "A", r->instruction->a, 0, 0, ""};
    default: return (smma_matrix_need){"B", "B", r->instruction->b, 0, 0, ""};
  }
}

void smma_product_fill(smma_matrix_product *p) {
  smma_gemm_arguments *g = &p->arguments;
  const smma_tensor *t = p->taken;
  g->lda = t[SMMA_OF_A].columns, g->ldb = t[SMMA_OF_B].columns;
  g->a = t[SMMA_OF_A].data, g->b = t[SMMA_OF_B].data, g->c = t[SMMA_OF_C].data, g->d = p->d.data;
  g->scale_a = t[SMMA_OF_SCALE_A].data, g->scale_b = t[SMMA_OF_SCALE_B].data, g->bias = t[SMMA_OF_BIAS].data;
}

/* The matrices as they were given. */
typedef struct {
  smma_tensor given[SMMA_PRODUCT_MATRICES];
  bool owns[SMMA_PRODUCT_MATRICES]; /* `given` was read from a file */
} files;

static bool read_file(const smma_product_request *r, smma_product_matrix which, files *f, smma_error *error) {
  return smma_read_source(&r->of[which], r->raw, &f->given[which], &f->owns[which], error);
}

/* Frees the contents of a file as soon as the matrix is converted, because matrices may be large. */
static void forget(files *f, smma_product_matrix which) {
  if (f->owns[which]) smma_tensor_free(&f->given[which]);
  f->owns[which] = false;
}

/* Adds the text of another failure to an error, after a semicolon. */
static void add_failure(smma_error *error, const smma_error *other) {
  const size_t length = strlen(error->text);
  snprintf(error->text + length, sizeof error->text - length, "; %s", other->text);
}

/* Checks all shapes before any matrix is rounded or a note is printed. */
static bool read_files(smma_matrix_product *p, files *f, smma_error *error) {
  static const smma_product_matrix order[] = {SMMA_OF_C, SMMA_OF_SCALE_A, SMMA_OF_SCALE_B, SMMA_OF_BIAS,
                                              SMMA_OF_METADATA};
  const smma_product_request *r = p->request;
  bool fits = true;
  if (!read_file(r, SMMA_OF_A, f, error) || !read_file(r, SMMA_OF_B, f, error) ||
      !smma_product_check_scales(p, &f->given[SMMA_OF_A], &f->given[SMMA_OF_B], error) ||
      !smma_product_size(p, &f->given[SMMA_OF_A], &f->given[SMMA_OF_B], error))
    return false;
  for (size_t n = 0; n < sizeof order / sizeof *order; n++) {
    const smma_matrix_need need = smma_product_needs(r, order[n], &p->arguments);
    const smma_label label = {need.option, given(r, order[n])};
    smma_error one;
    if (!label.path) continue;
    if (!read_file(r, order[n], f, error)) return false;
    if (smma_check_shape(&f->given[order[n]], label, need.rows, need.columns, need.needed_by, fits ? error : &one))
      continue;
    if (!fits) add_failure(error, &one);
    fits = false;
  }
  return fits;
}

/* Fails if the method bf16x9 would lose bits of a matrix, because its elements need not be FP32 numbers. */
static bool fits_words(const smma_matrix_product *p, const smma_tensor *t, smma_label label, smma_error *error) {
  const bool is_wide = t->format == SMMA_F64 || t->format == SMMA_S32 || (t->format == SMMA_NO_FORMAT && t->bytes > 2);
  if (!is_wide || !smma_method_is(&p->request->method, "bf16x9")) return true;
  return smma_fail(error, "--method bf16x9: %s is not in f32; convert it to f32, or take --method words with --words 4",
                   label.path);
}

/* Takes A and B of an accurate product as FP64. D is FP64 if A or B is, otherwise FP32. */
static bool take_wide(smma_matrix_product *p, files *f, smma_error *error) {
  p->d.format = SMMA_F64;
  for (smma_product_matrix which = SMMA_OF_A; which <= SMMA_OF_B; which++) {
    const smma_label label = {which == SMMA_OF_A ? "A" : "B", given(p->request, which)};
    if (smma_is_raw(&f->given[which], SMMA_F64))
      return smma_fail(error, "%s holds raw encodings; --method takes numbers: f64, f32, f16", label.path);
    if (!fits_words(p, &f->given[which], label, error)) return false;
    p->wide |= f->given[which].format == SMMA_F64;
    if (!smma_take_matrix(&f->given[which], SMMA_F64, SMMA_ROUND_NEAREST_EVEN, label, NULL, &p->taken[which], error))
      return false;
    forget(f, which);
  }
  return true;
}

/* Computes scale factors for numbers that were given without them. */
static bool take_blocks(smma_matrix_product *p, files *f, smma_product_matrix which, const smma_notes *notes,
                        smma_error *error) {
  const smma_product_request *r = p->request;
  const bool is_a = which == SMMA_OF_A, along_rows = is_along_rows(r, is_a);
  smma_block_format format = smma_input_of(r->instruction, is_a);
  smma_blocks b = {.factor = 0};
  if (r->instruction->sparse && !is_a) format.block *= 2; /* half of the elements of a block are multiplied */
  if (!smma_take_blocks(&f->given[which], along_rows, &format, (smma_label){is_a ? "A" : "B", given(r, which)}, notes,
                        &b, error))
    return false;
  forget(f, which);
  p->factor[!is_a] = b.factor;
  p->taken[which] = b.values, p->taken[is_a ? SMMA_OF_SCALE_A : SMMA_OF_SCALE_B] = b.scales;
  return true;
}

/* Uses elements and scale factors as a checkpoint stores them, without conversion. */
static bool take_stored(smma_matrix_product *p, files *f, smma_product_matrix which, const smma_notes *notes,
                        smma_error *error) {
  const smma_product_request *r = p->request;
  const bool is_a = which == SMMA_OF_A;
  const smma_label label = {is_a ? "A" : "B", given(r, which)};
  smma_blocks b;
  if (!smma_take_stored(&f->given[which], is_along_rows(r, is_a), scales_of(r, is_a), label, notes, &b, error))
    return false;
  forget(f, which);
  p->factor[!is_a] = b.factor;
  p->taken[which] = b.values, p->taken[is_a ? SMMA_OF_SCALE_A : SMMA_OF_SCALE_B] = b.scales;
  if (b.factor == 1) return true;
  if (p->arguments.scaling == SMMA_SCALING_OPERANDS)
    return smma_fail(error, "--scaling: operands: the factor of %s multiplies the sum; leave it out", label.path);
  return smma_takes_factor(r->plan) || smma_fail_no_place("--alpha", r->plan_name, error);
}

/* Converts a matrix to the format that the product needs. If the request has a narrow format, A and B are first rounded
   to it; the format that the product needs holds all its numbers. */
static bool take_one(smma_matrix_product *p, files *f, smma_product_matrix which, const smma_notes *notes,
                     smma_error *error) {
  const smma_product_request *r = p->request;
  const bool is_operand = which == SMMA_OF_A || which == SMMA_OF_B;
  const bool narrows = is_operand && r->narrow != SMMA_NO_FORMAT;
  const smma_matrix_need need = smma_product_needs(r, which, &p->arguments);
  const smma_label label = {need.what, given(r, which)};
  const smma_rounding rounding = is_operand ? p->rounding[which == SMMA_OF_B] : SMMA_ROUND_NEAREST_EVEN;
  smma_tensor t;
  bool done;
  if (!smma_take_matrix(&f->given[which], narrows ? r->narrow : need.format, rounding, label, notes, &t, error))
    return false;
  forget(f, which);
  p->taken[which] = t;
  if (!narrows && which != SMMA_OF_SCALE_B) return true;
  done = narrows ? smma_take_matrix(&t, need.format, rounding, label, NULL, &p->taken[which], error)
                 : smma_tensor_transpose(&t, &p->taken[which], error); /* the library takes them column-major */
  smma_tensor_free(&t);
  return done;
}

static bool take_files(smma_matrix_product *p, files *f, const smma_notes *notes, smma_error *error) {
  const smma_product_request *r = p->request;
  if (p->method.kind != SMMA_METHOD_NONE) return take_wide(p, f, error);
  for (smma_product_matrix which = 0; which < SMMA_PRODUCT_MATRICES; which++) {
    const bool is_a = which == SMMA_OF_A, is_operand = is_a || which == SMMA_OF_B;
    if (!given(r, which)) continue;
    const bool stored = is_operand && enters_stored(r, is_a, &f->given[which]);
    const bool in_blocks =
        is_operand && r->instruction->scale_block && !given(r, is_a ? SMMA_OF_SCALE_A : SMMA_OF_SCALE_B);
    if (stored      ? !take_stored(p, f, which, notes, error)
        : in_blocks ? !take_blocks(p, f, which, notes, error)
                    : !take_one(p, f, which, notes, error))
      return false;
  }
  p->arguments.alpha *= (double)p->factor[0] * (double)p->factor[1];
  return true;
}

void smma_product_note_sums(const smma_matrix_product *p, const smma_notes *notes) {
  const smma_product_request *r = p->request;
  const size_t k = p->arguments.k, every = (size_t)promotion_of(r), split_k = (size_t)r->split_k;
  const size_t part = every ? every : (size_t)r->instruction->k, parts = (k + part - 1) / part;
  if (r->instruction->sparse || k == 0) return;
  if (split_k > parts)
    smma_say(notes, "split-k: slices with elements: %zu of %zu, because K = %zu and a slice has a multiple of %zu",
             parts, split_k, k, part);
  if (r->promote_every && every >= k)
    smma_say(notes, "promote-every: K = %zu is not greater than %zu, so no partial sum moves before the end", k, every);
}

bool smma_product_take(smma_matrix_product *p, const smma_notes *notes, smma_error *error) {
  files f = {{{.format = SMMA_NO_FORMAT}}, {false}};
  const bool done = read_files(p, &f, error) && take_files(p, &f, notes, error) &&
                    smma_tensor_new(p->d.format, p->arguments.m, p->arguments.n, &p->d, error);
  for (smma_product_matrix which = 0; which < SMMA_PRODUCT_MATRICES; which++) forget(&f, which);
  if (done) {
    smma_product_fill(p);
    smma_product_note_sums(p, notes);
  } else {
    smma_product_free(p);
  }
  return done;
}

void smma_product_free(smma_matrix_product *p) {
  for (int which = 0; which < SMMA_PRODUCT_MATRICES; which++) smma_tensor_free(&p->taken[which]);
  smma_tensor_free(&p->d);
}

/* ---- The product ---- */

/* Returns the product of a method, whose matrices are FP64. */
static smma_f64_product accurate_product(const smma_matrix_product *p) {
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

static smma_status multiply(smma_matrix_product *p) {
  const smma_instruction *i = p->request->instruction;
  smma_slices slices = p->method.slices;
  const smma_f64_product accurate = accurate_product(p);
  switch (p->method.kind) {
    case SMMA_METHOD_WORDS: return smma_gemm_words(i, &accurate, &p->method.words);
    case SMMA_METHOD_SLICES: slices.used = p->method.used; return smma_gemm_slices(i, &accurate, &slices);
    default: break;
  }
  return i->sparse ? smma_gemm_sparse(i, &p->arguments, p->taken[SMMA_OF_METADATA].data) : smma_gemm(i, &p->arguments);
}

bool smma_product_run(smma_matrix_product *p, smma_error *error) {
  smma_tensor wide = p->d;
  smma_status status;
  p->arguments.error = error;
  status = multiply(p);
  p->arguments.error = NULL;
  if (status != SMMA_OK) return false;
  if (p->method.kind == SMMA_METHOD_NONE || p->wide) return true;
  if (!smma_take_matrix(&wide, SMMA_F32, SMMA_ROUND_NEAREST_EVEN, (smma_label){"D", ""}, NULL, &p->d, error))
    return p->d = wide, false;
  smma_tensor_free(&wide);
  return true;
}

smma_datum *smma_product_datum(const smma_matrix_product *p, const char *d, double seconds) {
  const smma_instruction *i = p->request->instruction;
  const smma_gemm_arguments *g = &p->arguments;
  smma_datum *r = smma_datum_record();
  smma_put_text(r, "arch", smma_arch_name(i));
  smma_put_text(r, "instruction", i->name);
  smma_put_count(r, "m", g->m);
  smma_put_count(r, "n", g->n);
  smma_put_count(r, "k", g->k);
  if (d) smma_put_text(r, "d", d);
  smma_put_text(r, "d_format", smma_format_text(p->d.format));
  smma_put_text(r, "kernel", smma_kernel_for(i, p->request->kernel, NULL));
  smma_put_real(r, "seconds", seconds);
  if (p->request->method.method) smma_put_text(r, "method", p->request->method.method);
  if (p->method.kind == SMMA_METHOD_WORDS) smma_put_count(r, "words", (uint64_t)p->method.words.words);
  if (p->method.kind == SMMA_METHOD_SLICES) {
    smma_put_text(r, "slices", p->request->method.slices ? p->request->method.slices : "auto");
    smma_put_count(r, "slices_of_a", (uint64_t)p->method.used[0]);
    smma_put_count(r, "slices_of_b", (uint64_t)p->method.used[1]);
  }
  if (p->method.kind == SMMA_METHOD_NONE && p->d.format != i->d)
    smma_put_text(r, "rounded_from", smma_format_text(i->d));
  if ((has_factor(i, true) && !given(p->request, SMMA_OF_SCALE_A)) || p->factor[0] != 1 || p->factor[1] != 1) {
    smma_put_real(r, "factor_a", (double)p->factor[0]);
    smma_put_real(r, "factor_b", (double)p->factor[1]);
  }
  return r;
}
