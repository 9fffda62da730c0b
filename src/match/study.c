#include "match/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "isa/catalogue.h"
#include "isa/custom.h"
#include "isa/find.h"
#include "isa/key.h"

/* ---- Matrices ---- */

static const smma_source *source_of(const smma_match_study *x, int which) {
  return which == SMMA_MATCH_OF_D ? &x->request->d : &x->request->product.of[which];
}

static bool is_given(const smma_match_study *x, int which) { return source_of(x, which)->path; }

static smma_label label_of(const smma_match_study *x, int which) {
  static const char *const what[SMMA_MATCH_MATRICES] = {[SMMA_OF_SCALE_A] = "--scale-a",
                                                        [SMMA_OF_SCALE_B] = "--scale-b",
                                                        [SMMA_OF_BIAS] = "--bias",
                                                        [SMMA_OF_C] = "C",
                                                        [SMMA_OF_A] = "A",
                                                        [SMMA_OF_B] = "B",
                                                        [SMMA_MATCH_OF_D] = "D"};
  return (smma_label){what[which], source_of(x, which)->path};
}

static void forget(smma_match_study *x, int which) {
  if (x->owns[which]) smma_tensor_free(&x->given[which]);
  x->owns[which] = false;
}

/* Reads a matrix into x->given, transposed if `transposes`. */
static bool read_matrix(smma_match_study *x, int which, bool transposes, smma_error *error) {
  smma_tensor transposed;
  if (!smma_read_source(source_of(x, which), x->request->product.raw, &x->given[which], &x->owns[which], error))
    return false;
  if (!transposes) return true;
  if (!smma_tensor_transpose(&x->given[which], &transposed, error)) return false;
  forget(x, which);
  x->given[which] = transposed;
  return x->owns[which] = true;
}

static bool check_shape(const smma_match_study *x, int which, size_t rows, size_t columns, smma_error *error) {
  const smma_tensor *t = &x->given[which];
  const smma_label l = label_of(x, which);
  if (t->rows == rows && t->columns == columns) return true;
  return smma_fail(error, "%s, %s, is %zu x %zu, but must be %zu x %zu", which == SMMA_OF_C ? "-C" : l.what, l.path,
                   t->rows, t->columns, rows, columns);
}

/* Converts a matrix to a format, with a note if that changes it, and stores the result in x->taken. Releases the given
   matrix. */
static bool take(smma_match_study *x, int which, smma_format target_format, smma_error *error) {
  if (!smma_take_matrix(&x->given[which], target_format, SMMA_ROUND_NEAREST_EVEN, label_of(x, which), x->request->notes,
                        &x->taken[which], error))
    return false;
  forget(x, which);
  return true;
}

static bool read_product(smma_match_study *x, smma_error *error) {
  const smma_product_request *r = &x->request->product;
  smma_match_data *data = &x->data;
  const smma_tensor *a = &x->given[SMMA_OF_A], *b = &x->given[SMMA_OF_B];
  const char *of_a = label_of(x, SMMA_OF_A).path, *of_b = label_of(x, SMMA_OF_B).path;
  if (!read_matrix(x, SMMA_OF_A, r->transpose_a, error) || !read_matrix(x, SMMA_OF_B, r->transpose_b, error) ||
      !read_matrix(x, SMMA_MATCH_OF_D, false, error))
    return false;
  data->m = a->rows, data->k = a->columns, data->n = b->columns;
  if (b->rows != data->k)
    return smma_fail(error,
                     "%s is %zu x %zu and %s is %zu x %zu: the columns of the first must be the rows of the second "
                     "(--transpose-a, --transpose-b)",
                     of_a, data->m, data->k, of_b, b->rows, data->n);
  if (!data->m || !data->n || !data->k)
    return smma_fail(error, "%s times %s: nothing to compare; M, N or K is 0", of_a, of_b);
  return check_shape(x, SMMA_MATCH_OF_D, data->m, data->n, error);
}

/* ---- Formats ---- */

/* Finds the format of a matrix: `option_format`, or otherwise the format of its elements. */
static bool find_format(const smma_match_study *x, int which, smma_format option_format, const char *option,
                        smma_format *format, smma_error *error) {
  const smma_instruction *claimed = which == SMMA_MATCH_OF_D ? NULL : x->request->claimed;
  const smma_tensor *t = &x->given[which];
  const char *path = label_of(x, which).path;
  *format = option_format != SMMA_NO_FORMAT ? option_format : t->format;
  if (option_format != SMMA_NO_FORMAT) return true;
  if (claimed && !claimed->scale_block &&
      (t->format == SMMA_NO_FORMAT || t->format == SMMA_F32 || t->format == SMMA_F64)) {
    *format = which == SMMA_OF_A ? claimed->a : claimed->b;
    return true;
  }
  if (t->integers && t->format == SMMA_NO_FORMAT)
    return smma_fail(error,
                     "%s: %s holds %d-bit integers; give the format in which they were multiplied, for example %s f16",
                     option, path, 8 * t->bytes, option);
  if (t->format == SMMA_NO_FORMAT || (t->integers && t->encodings))
    return smma_fail(error, "%s: %s holds raw encodings; give their format, for example %s %s", option, path, option,
                     t->bytes == 1 ? "e4m3" : "bf16");
  return true;
}

static bool find_formats(smma_match_study *x, smma_error *error) {
  const smma_match_request *r = x->request;
  smma_match_data *data = &x->data;
  return find_format(x, SMMA_OF_A, r->a_format, "--in", &data->a_format, error) &&
         find_format(x, SMMA_OF_B, r->b_format, "--in", &data->b_format, error) &&
         find_format(x, SMMA_MATCH_OF_D, r->d_format, "--out", &data->d_format, error) &&
         smma_check_meaning(&x->given[SMMA_OF_A], data->a_format, label_of(x, SMMA_OF_A), error) &&
         smma_check_meaning(&x->given[SMMA_OF_B], data->b_format, label_of(x, SMMA_OF_B), error);
}

/* ---- Rounding of A and B ---- */

static bool is_same_matrix(const smma_tensor *x, const smma_tensor *y) {
  return memcmp(x->data, y->data, x->rows * x->columns * (size_t)x->bytes) == 0;
}

/* Rounds A and B to their formats in one mode. */
static bool round_operands(const smma_match_study *x, smma_rounding mode, smma_tensor made[2], smma_error *error) {
  if (!smma_take_matrix(&x->given[SMMA_OF_A], x->data.a_format, mode, label_of(x, SMMA_OF_A), NULL, &made[0], error))
    return false;
  if (smma_take_matrix(&x->given[SMMA_OF_B], x->data.b_format, mode, label_of(x, SMMA_OF_B), NULL, &made[1], error))
    return true;
  smma_tensor_free(&made[0]);
  return false;
}

static bool take_rounded(smma_match_study *x, smma_rounding mode, smma_error *error) {
  smma_tensor made[2];
  if (!round_operands(x, mode, made, error)) return false;
  for (int i = 0; i < 2; i++) {
    smma_tensor_free(&x->taken[i ? SMMA_OF_B : SMMA_OF_A]);
    x->taken[i ? SMMA_OF_B : SMMA_OF_A] = made[i];
  }
  x->data.a = made[0].data, x->data.b = made[1].data;
  return true;
}

/* Adds a mode if it gives A and B that no earlier mode gives; otherwise notes it as equal to an earlier mode. */
static bool add_mode(smma_match_study *x, smma_rounding mode, smma_error *error) {
  smma_tensor made[2], before[2];
  bool is_new = true, done = true;
  if (!round_operands(x, mode, made, error)) return false;
  for (size_t i = 0; i < x->modes && is_new; i++) {
    done = round_operands(x, x->mode[i], before, error);
    if (!done) break;
    is_new = !is_same_matrix(&made[0], &before[0]) || !is_same_matrix(&made[1], &before[1]);
    if (!is_new) smma_append_text(x->same_as[i], sizeof x->same_as[i], ", %s", smma_roundings[mode]);
    smma_tensor_free(&before[0]);
    smma_tensor_free(&before[1]);
  }
  smma_tensor_free(&made[0]);
  smma_tensor_free(&made[1]);
  if (done && is_new) x->mode[x->modes++] = mode;
  return done;
}

/* Notes how the first mode rounds A or B. */
static bool note_rounded(smma_match_study *x, int which, smma_format format, smma_error *error) {
  const smma_tensor *t = &x->given[which];
  smma_conversion lost = {0};
  smma_tensor rounded;
  if (!smma_take_part(t, 0, 0, format, x->mode[0], label_of(x, which), &rounded, &lost, error)) return false;
  smma_tensor_free(&rounded);
  if (!smma_is_raw(t, format))
    smma_note_taken(t, format, x->mode[0], label_of(x, which), t->rows * t->columns, &lost, x->request->notes);
  x->rounded |= lost.changed != 0;
  return true;
}

/* Chooses the rounding modes to try. If round_in names a mode, only this mode is tried. Otherwise all modes are tried:
   first the default of the format's library, then the others in the order of how many libraries use them. */
static bool choose_modes(smma_match_study *x, smma_error *error) {
  static const smma_rounding others[] = {SMMA_ROUND_NEAREST_AWAY, SMMA_ROUND_TOWARD_ZERO, SMMA_ROUND_NEAREST_EVEN,
                                         SMMA_ROUND_DOWN, SMMA_ROUND_UP};
  const char *round_in = x->request->product.round_in;
  const smma_rounding usual = smma_operand_rounding(NULL, NULL, x->data.a_format);
  x->mode[0] = usual, x->modes = 1;
  if ((round_in && !smma_rounding_of(round_in, strlen(round_in), usual, &x->mode[0], error)) ||
      !note_rounded(x, SMMA_OF_A, x->data.a_format, error) || !note_rounded(x, SMMA_OF_B, x->data.b_format, error))
    return false;
  for (int i = 0; x->rounded && !round_in && i < SMMA_ROUNDING_MODES; i++)
    if (others[i] != x->mode[0] && !add_mode(x, others[i], error)) return false;
  return take_rounded(x, x->mode[0], error);
}

/* ---- D, C, bias and scale factors ---- */

/* Adds a note if D is f32 but all of its numbers have a narrower format, as when it was widened to be saved. */
static bool note_width(const smma_match_study *x, smma_error *error) {
  static const smma_format narrow[] = {SMMA_BF16, SMMA_F16};
  const smma_tensor *d = &x->given[SMMA_MATCH_OF_D];
  if (x->request->d_format != SMMA_NO_FORMAT || d->format != SMMA_F32) return true;
  for (size_t f = 0; f < 2; f++) {
    const char *name = smma_format_text(narrow[f]);
    char text[sizeof error->text];
    smma_conversion lost;
    smma_tensor t;
    if (!smma_tensor_new(narrow[f], d->rows, d->columns, &t, error)) return false;
    smma_convert(SMMA_F32, d->data, narrow[f], t.data, d->rows * d->columns, SMMA_ROUND_NEAREST_EVEN,
                 SMMA_OVERFLOW_DEFAULT, &lost);
    smma_tensor_free(&t);
    if (lost.changed) continue;
    snprintf(text, sizeof text, "D, %s: all of its f32 are numbers of %s; if that was its format, give --out %s",
             label_of(x, SMMA_MATCH_OF_D).path, name, name);
    if (x->request->notes) x->request->notes->say(text, x->request->notes->context);
    return true;
  }
  return true;
}

/* Checks that converting D to its format has not changed its numbers. */
static bool check_kept(const smma_match_study *x, smma_error *error) {
  const smma_tensor *t = &x->given[SMMA_MATCH_OF_D], *taken = &x->taken[SMMA_MATCH_OF_D];
  const smma_label label = label_of(x, SMMA_MATCH_OF_D);
  smma_tensor back;
  bool kept = true;
  if (!smma_take_matrix(taken, t->format, SMMA_ROUND_NEAREST_EVEN, label, NULL, &back, error)) return false;
  for (size_t i = 0; i < t->rows * t->columns && kept; i++) {
    const uint64_t one = smma_load((size_t)t->bytes, t->data, i), other = smma_load((size_t)t->bytes, back.data, i);
    kept = one == other || (isnan(smma_format_decode(t->format, one)) && isnan(smma_format_decode(t->format, other))) ||
           smma_fail(error, "D, %s: [%zu, %zu] is no number of %s; give its format with --out", label.path,
                     i / t->columns, i % t->columns, smma_format_text(taken->format));
  }
  smma_tensor_free(&back);
  return kept;
}

static bool take_d(smma_match_study *x, smma_error *error) {
  const smma_format target_format = x->data.d_format;
  const smma_label label = label_of(x, SMMA_MATCH_OF_D);
  smma_tensor *t = &x->given[SMMA_MATCH_OF_D], numbers;
  if (!smma_take_numbers(t, target_format, label, x->request->notes, &numbers, error)) return false;
  if (numbers.data) {
    forget(x, SMMA_MATCH_OF_D);
    *t = numbers, x->owns[SMMA_MATCH_OF_D] = true;
  }
  if (!smma_take_matrix(t, target_format, SMMA_ROUND_NEAREST_EVEN, label, NULL, &x->taken[SMMA_MATCH_OF_D], error) ||
      (!smma_is_raw(t, target_format) && t->format != target_format && !check_kept(x, error)))
    return false;
  forget(x, SMMA_MATCH_OF_D);
  x->data.d = x->taken[SMMA_MATCH_OF_D].data;
  return true;
}

/* Reads C, which keeps its own format if it has one. */
static bool take_c(smma_match_study *x, smma_error *error) {
  smma_match_data *data = &x->data;
  const smma_tensor *c = &x->given[SMMA_OF_C];
  if (!is_given(x, SMMA_OF_C)) return true;
  if (!read_matrix(x, SMMA_OF_C, false, error) || !check_shape(x, SMMA_OF_C, data->m, data->n, error)) return false;
  if (c->format == SMMA_NO_FORMAT || smma_is_raw(c, data->d_format)) {
    if (!take(x, SMMA_OF_C, data->d_format, error)) return false;
    c = &x->taken[SMMA_OF_C];
  }
  data->c = c->data, data->c_format = c->format;
  return true;
}

static bool take_bias(smma_match_study *x, smma_error *error) {
  if (!is_given(x, SMMA_OF_BIAS)) return true;
  if (!read_matrix(x, SMMA_OF_BIAS, false, error) || !check_shape(x, SMMA_OF_BIAS, 1, x->data.n, error) ||
      !take(x, SMMA_OF_BIAS, SMMA_F32, error))
    return false;
  x->data.bias = x->taken[SMMA_OF_BIAS].data;
  return true;
}

static bool take_scales(smma_match_study *x, smma_error *error) {
  smma_match_data *data = &x->data;
  size_t parts;
  if (is_given(x, SMMA_OF_SCALE_A) != is_given(x, SMMA_OF_SCALE_B))
    return smma_fail(error, "--scale-a and --scale-b go together; give both");
  if (!is_given(x, SMMA_OF_SCALE_A)) return true;
  if (!read_matrix(x, SMMA_OF_SCALE_A, false, error)) return false;
  parts = x->given[SMMA_OF_SCALE_A].columns;
  if (!parts || parts > data->k)
    return smma_fail(error, "--scale-a: %s has %zu columns for K = %zu; one for each part of K",
                     label_of(x, SMMA_OF_SCALE_A).path, parts, data->k);
  if (!check_shape(x, SMMA_OF_SCALE_A, data->m, parts, error) || !read_matrix(x, SMMA_OF_SCALE_B, false, error) ||
      !check_shape(x, SMMA_OF_SCALE_B, parts, data->n, error) || !take(x, SMMA_OF_SCALE_A, SMMA_F32, error) ||
      !take(x, SMMA_OF_SCALE_B, SMMA_F32, error) ||
      !smma_tensor_transpose(&x->taken[SMMA_OF_SCALE_B], &x->scale_b, error))
    return false;
  data->scale_a = x->taken[SMMA_OF_SCALE_A].data, data->scale_b = x->scale_b.data, data->parts = parts;
  return true;
}

static bool check_numbers(const smma_product_request *r, smma_error *error) {
  if (!smma_check_threads(r->threads, error)) return false;
  if (!isfinite(r->alpha) || !isfinite(r->beta) || !isfinite(r->scale_d) || r->alpha == 0 || r->scale_d == 0)
    return smma_fail(error, "--alpha, --beta, --scale-d: finite numbers, alpha and scale-d not 0");
  return r->beta == 1 || r->of[SMMA_OF_C].path || smma_fail(error, "--beta: needs -C");
}

bool smma_match_load(const smma_match_request *request, smma_match_study *x, smma_error *error) {
  const smma_product_request *r = &request->product;
  memset(x, 0, sizeof *x);
  x->request = request;
  x->data.alpha = r->alpha, x->data.beta = r->beta, x->data.scale_d = r->scale_d, x->data.threads = r->threads;
  x->data.progress = x->request->progress, x->data.context = x->request->context;
  return check_numbers(r, error) && read_product(x, error) && find_formats(x, error) && choose_modes(x, error) &&
         note_width(x, error) && take_d(x, error) && take_c(x, error) && take_bias(x, error) && take_scales(x, error);
}

void smma_match_study_free(smma_match_study *x) {
  for (int which = 0; which < SMMA_MATCH_MATRICES; which++) {
    forget(x, which);
    smma_tensor_free(&x->taken[which]);
  }
  smma_tensor_free(&x->scale_b);
  smma_match_free(&x->found);
  smma_custom_release(x->cuda_cores);
  free(x->instruction);
  memset(x, 0, sizeof *x);
}

/* ---- Instructions ---- */

/* Adds an instruction, unless it is there already, as one of another GPU of its architecture. */
static bool add_instruction(smma_match_study *x, const smma_instruction *i, smma_error *error) {
  for (size_t n = 0; n < x->instructions; n++)
    if (x->instruction[n] == i) return true;
  if (x->instructions == x->room) {
    const size_t room = x->room ? 2 * x->room : 256;
    const smma_instruction **more = realloc(x->instruction, room * sizeof *more);
    if (!more) return smma_no_memory(error);
    x->instruction = more, x->room = room;
  }
  x->instruction[x->instructions++] = i;
  return true;
}

/* Adds the dense instructions of a GPU or architecture; a sparse instruction does not multiply two whole matrices. */
static bool add_gpu(smma_match_study *x, const char *gpu, smma_error *error) {
  const smma_arch_id arch = smma_find_arch(gpu);
  const char *prefixes = smma_prefixes_of(gpu);
  const smma_instruction *i;
  for (size_t n = 0; (i = smma_catalogue_at(n)); n++)
    if (i->arch == arch && !i->sparse && smma_has_a_prefix(i->name, prefixes) && !add_instruction(x, i, error))
      return false;
  return true;
}

static bool add_cuda_cores(smma_match_study *x, smma_error *error) {
  const bool is_double = x->data.a_format == SMMA_F64 && x->data.b_format == SMMA_F64;
  char text[256];
  smma_error why;
  snprintf(text, sizeof text,
           "{\"softmma-unit\": 1, \"name\": \"%s-fma\", \"algorithm\": \"FMA\", \"m\": 1, \"n\": 1, \"k\": 1, "
           "\"a\": \"%s\", \"b\": \"%s\", \"d\": \"%s\", \"nan\": \"quiet\"}",
           is_double ? "fp64" : "fp32", smma_format_text(x->data.a_format), smma_format_text(x->data.b_format),
           is_double ? "f64" : "f32");
  x->cuda_cores = smma_custom_read("CUDA cores", text, strlen(text), &why);
  if (!x->cuda_cores && why.status == SMMA_NO_MEMORY)
    return smma_no_memory(error); /* otherwise CUDA cores do not multiply these formats */
  return !x->cuda_cores || add_instruction(x, x->cuda_cores, error);
}

static bool add_targets(smma_match_study *x, const smma_match_target *targets, size_t count, smma_error *error) {
  for (int arch = 0; !count && arch < SMMA_ARCH_COUNT; arch++)
    if (!add_gpu(x, smma_architectures[arch].name, error)) return false;
  for (size_t n = 0; n < count; n++)
    if (targets[n].only && targets[n].only->sparse)
      return smma_fail(error, "--on: %s is sparse: it does not multiply two whole matrices", targets[n].only->name);
  for (size_t n = 0; n < count; n++)
    if (targets[n].only ? !add_instruction(x, targets[n].only, error) : !add_gpu(x, targets[n].gpu, error))
      return false;
  return add_cuda_cores(x, error);
}

/* ---- The search ---- */

/* Sets in the plans of fits how A and B were rounded, so that the plan reproduces D. */
static void note_mode(smma_match *m, smma_rounding mode) {
  for (size_t f = 0; f < m->fits; f++)
    m->fit[f].plan->has_operand_rounding = true, m->fit[f].plan->operand_rounding = mode;
}

static bool is_nearer(const smma_match *m, const smma_match *best) {
  return m->has_near && best->has_near && m->near.difference.different < best->near.difference.different;
}

/* Repeats the search with another rounding mode. Keeps its result if a candidate fits, or comes nearer than before. `m`
   is workspace. */
static bool search_mode(smma_match_study *x, size_t mode, const smma_group *group, smma_match *m, bool *fits,
                        smma_error *error) {
  if (!take_rounded(x, x->mode[mode], error) ||
      !smma_match_search(&x->data, x->instruction, x->instructions, group, m, error))
    return false;
  *fits = m->fits;
  group->share(fits, sizeof *fits);
  if (mode && !*fits && !is_nearer(m, &x->found)) {
    smma_match_free(m);
    return true;
  }
  smma_match_free(&x->found);
  x->found = *m, x->kept = mode;
  return true;
}

static void keep(void *bytes, size_t size) { (void)bytes, (void)size; }

bool smma_match_run(smma_match_study *x, const smma_match_target *targets, size_t count, const smma_group *group,
                    smma_error *error) {
  static const smma_group alone = {0, 1, keep, NULL, NULL};
  smma_match *m = malloc(sizeof *m);
  bool fits = false, done = m ? add_targets(x, targets, count, error) : smma_no_memory(error);
  for (size_t i = 0; i < x->modes && done && !fits; i++)
    done = search_mode(x, i, group ? group : &alone, m, &fits, error);
  free(m);
  if (done && x->rounded) note_mode(&x->found, x->mode[x->kept]);
  return done;
}

/* ---- A claim ---- */

/* Checks that the claim has a place for every operand and factor that is given, as products of the command do. */
static bool check_places(const smma_match_study *x, const smma_match_claim *claim, smma_error *error) {
  const smma_match_data *data = &x->data;
  const smma_gemm_arguments g = {.alpha = data->alpha, .beta = data->beta, .scale_d = data->scale_d, .split_k = 1};
  const char *option = data->bias ? "--bias" : data->scale_d != 1 ? "--scale-d" : NULL, *argument;
  if (!claim->plan)
    return !option || smma_fail(error,
                                "%s: a single chain has no place for it; claim a plan whose epilogue has it, or "
                                "leave it out",
                                option);
  argument = smma_plan_refuses(claim->plan, &g, data->c, data->bias);
  if (argument) return smma_fail_misplaced(argument, claim->text, error);
  return data->bias || !smma_plan_has(claim->plan, SMMA_EPILOGUE_BIAS) ||
         smma_fail(error, "--bias is missing: the plan of %s adds one", claim->text);
}

/* Checks that there are as many scale factors as the claim's plan has parts of K. */
static bool check_factors(const smma_match_study *x, const smma_match_claim *claim, smma_error *error) {
  const smma_match_data *data = &x->data;
  const size_t each = smma_plan_scaled_k(claim->plan), parts = smma_scaled_parts(claim->plan, data->k);
  if (data->parts && !each)
    return smma_fail(error, "--scale-a: %s takes no scale factors; leave out --scale-a and --scale-b", claim->text);
  if (each && !data->parts)
    return smma_fail(error,
                     "--scale-a is missing: %s takes scale factors of every %zu products: a matrix of %zu x %zu, "
                     "and for --scale-b one of %zu x %zu",
                     claim->text, each, data->m, parts, parts, data->n);
  return data->parts == parts ||
         smma_fail(error, "--scale-a: %s is %zu x %zu, but %s takes scale factors of every %zu products, %zu x %zu",
                   label_of(x, SMMA_OF_SCALE_A).path, data->m, data->parts, claim->text, each, data->m, parts);
}

static bool check_claim(const smma_match_study *x, const smma_match_claim *claim, smma_error *error) {
  const smma_instruction *i = claim->instruction;
  const smma_match_data *data = &x->data;
  const smma_format d = smma_plan_d_format(claim->plan, i);
  smma_error why;
  if (claim->plan && smma_plan_check(claim->plan, i, data->k, &why) != SMMA_OK)
    return smma_fail_as(error, why.status, "--plan: %s: %s", claim->text, why.text);
  if (i->a != data->a_format || i->b != data->b_format || i->scale_block)
    return smma_fail(error, "--claim: %s does not multiply %s by %s; give --in, the format in which D was made",
                     i->name, smma_format_text(data->a_format), smma_format_text(data->b_format));
  if (!check_places(x, claim, error) || !check_factors(x, claim, error)) return false;
  return d == data->d_format ||
         smma_fail(error, "--claim: D would be in %s, not in %s; the plan's \"d\" or --out sets it",
                   smma_format_text(d), smma_format_text(data->d_format));
}

bool smma_match_check(smma_match_study *x, const smma_match_claim *claim, smma_error *error) {
  const smma_plan *plan = claim->plan;
  smma_error why;
  if (!check_claim(x, claim, error)) return false;
  if (plan && plan->has_operand_rounding && !x->request->product.round_in)
    x->mode[0] = plan->operand_rounding, x->modes = 1;
  x->claim = claim;
  x->difference = (smma_match_difference){.different = SIZE_MAX};
  for (size_t n = 0; n < x->modes && x->difference.different; n++) {
    smma_match_difference now;
    if (!take_rounded(x, x->mode[n], error)) return false;
    if (!smma_match_compare(&x->data, claim->instruction, plan, &now, &why))
      return smma_fail(error, "--claim: %s", why.text);
    if (now.different < x->difference.different) x->difference = now, x->kept = n;
  }
  return take_rounded(x, x->mode[x->kept], error);
}
