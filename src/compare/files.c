#include "compare/files.h"

_Static_assert(SMMA_OF_B == SMMA_OF_A + 1, "the paths of A and B are an array of two");
static const char *const *operand_paths(const smma_files *f) { return &f->path[SMMA_OF_A]; }

/* Returns the requirements of one target for a matrix. */
static smma_matrix_need need_of(const smma_files *f, const smma_prepared_target *t, smma_product_matrix which) {
  const smma_tensor *a = &f->of[SMMA_OF_A], *b = &f->of[SMMA_OF_B];
  const smma_product_request request = {.instruction = t->instruction, .plan = t->plan.plan};
  return smma_product_needs(&request, which, &(smma_gemm_arguments){.m = a->rows, .k = a->columns, .n = b->columns});
}

/* Draws A or B. Random numbers of a kind depend on the operation whose operands they are, here one in FP32. */
static bool draw(smma_files *f, smma_product_matrix which, smma_error *error) {
  const smma_random_matrices *r = f->random;
  const bool of_a = which == SMMA_OF_A;
  const smma_operation o = {
      .k = 1, .a = SMMA_F32, .b = SMMA_F32, .c = SMMA_F32, .d = SMMA_F32, .scale = SMMA_NO_FORMAT};
  smma_data_counts counts = {.a = 0};
  smma_data_arrays arrays = {.a = NULL};
  smma_tensor *t = &f->of[which];
  if (!smma_data_fits(r->data, &o) || smma_data_has_c(r->data))
    return smma_fail(error, "--data: %s are no data of A and B in f32", smma_data_infos[r->data.kind].name);
  if (!smma_tensor_new(SMMA_F32, of_a ? r->m : r->k, of_a ? r->k : r->n, t, error)) return false;
  *(of_a ? &counts.a : &counts.b) = t->rows * t->columns;
  *(of_a ? &arrays.a : &arrays.b) = t->data;
  smma_data_fill(r->data, &o, r->k, &counts, &arrays);
  return true;
}

static bool read_file(smma_files *f, smma_product_matrix which, smma_error *error) {
  if (f->random && (which == SMMA_OF_A || which == SMMA_OF_B)) return draw(f, which, error);
  if (!smma_tensor_read(f->path[which], &f->of[which], error)) return false;
  f->of[which].encodings = f->raw;
  return true;
}

/* Replaces a matrix by its transpose. */
static bool transpose(smma_tensor *t, smma_error *error) {
  smma_tensor transposed;
  if (!smma_tensor_transpose(t, &transposed, error)) return false;
  smma_tensor_free(t);
  *t = transposed;
  return true;
}

/* Replaces a tensor by another, if that has elements, and frees it. */
static void replace(smma_tensor *t, const smma_tensor *by) {
  if (!by->data) return;
  smma_tensor_free(t);
  *t = *by;
}

/* Converts integers to numbers, and reads encodings as numbers of the file's format. Only numbers can be quantised to a
   format with scale factors. */
static bool take_numbers(smma_files *f, const smma_prepared_targets *x, bool of_a, smma_error *error) {
  const smma_product_matrix which = of_a ? SMMA_OF_A : SMMA_OF_B;
  const smma_label label = {of_a ? "A" : "B", f->path[which]};
  const smma_block_format input = smma_input_of(x->target[0].instruction, of_a);
  const smma_format element = f->has_format ? of_a ? f->format.a : f->format.b : input.element;
  const bool has_scales = f->has_format ? f->format.scale_block : input.block;
  const smma_format format = has_scales ? SMMA_F64 : element;
  smma_tensor *t = &f->of[which], typed;
  if (!smma_take_numbers(t, format, label, x->notes, &typed, error)) return false;
  replace(t, &typed);
  if (has_scales || !smma_is_raw(t, format)) return true;
  if (!smma_take_matrix(t, format, SMMA_ROUND_NEAREST_EVEN, label, x->notes, &typed, error)) return false;
  replace(t, &typed);
  return true;
}

/* Checks that the format of A and B is known: that of the files themselves, of the caller or of all targets. */
static bool check_format(const smma_files *f, const smma_prepared_targets *x, smma_error *error) {
  const smma_tensor *a = &f->of[SMMA_OF_A], *b = &f->of[SMMA_OF_B];
  if (!f->has_format) return smma_check_meanings(x, a, b, operand_paths(f), SMMA_FORMAT_OF_FILE, error);
  if (!*f->format_is_unused.text || smma_is_raw(a, f->format.a) || smma_is_raw(b, f->format.b)) return true;
  *error = f->format_is_unused;
  return false;
}

bool smma_files_read(smma_files *f, const smma_prepared_targets *x, smma_error *error) {
  smma_tensor *a = &f->of[SMMA_OF_A], *b = &f->of[SMMA_OF_B];
  return read_file(f, SMMA_OF_A, error) && read_file(f, SMMA_OF_B, error) && check_format(f, x, error) &&
         (!f->transpose_a || transpose(a, error)) && (!f->transpose_b || transpose(b, error)) &&
         smma_check_inner(a, b, operand_paths(f), f->transpose_a ? " transposed" : "",
                          f->transpose_b ? " transposed" : "", f->hint, error) &&
         take_numbers(f, x, true, error) && take_numbers(f, x, false, error);
}

/* Checks that A and B, for which scale factors are given, have none of their own, and that one set of scale factors
   serves all targets. */
static bool check_scales(const smma_files *f, const smma_prepared_targets *x, smma_error *error) {
  const smma_prepared_target *first = x->target;
  for (int n = 0; n < 2; n++)
    if (f->path[n ? SMMA_OF_SCALE_B : SMMA_OF_SCALE_A] && f->of[n ? SMMA_OF_B : SMMA_OF_A].stored)
      return smma_fail(error, "--scale-%c: %s is quantised, so that it has its own factors; leave it out",
                       n ? 'b' : 'a', operand_paths(f)[n]);
  for (const smma_prepared_target *t = first; f->path[SMMA_OF_SCALE_A] && t < first + x->count; t++)
    if (smma_scales_of(t->plan.plan, t->instruction).each != smma_scales_of(first->plan.plan, first->instruction).each)
      return smma_fail(error, "--scale-a: scale factors of %s are of other products than those of %s", t->label,
                       first->label);
  return true;
}

bool smma_files_read_others(smma_files *f, const smma_prepared_targets *x, smma_error *error) {
  static const smma_product_matrix order[] = {SMMA_OF_C, SMMA_OF_BIAS, SMMA_OF_SCALE_A, SMMA_OF_SCALE_B};
  if (!check_scales(f, x, error)) return false;
  for (const smma_product_matrix *which = order; which < order + sizeof order / sizeof *order; which++) {
    const smma_matrix_need need = need_of(f, x->target, *which);
    const smma_label label = {need.option, f->path[*which]};
    if (label.path && (!read_file(f, *which, error) ||
                       !smma_check_shape(&f->of[*which], label, need.rows, need.columns, need.needed_by, error)))
      return false;
  }
  return true;
}

bool smma_files_keep_element(smma_files *f, size_t i, size_t j, smma_error *error) {
  for (smma_product_matrix which = 0; which < SMMA_PRODUCT_MATRICES; which++) {
    const bool of_row = which == SMMA_OF_A || which == SMMA_OF_SCALE_A || which == SMMA_OF_C;
    const bool of_column =
        which == SMMA_OF_B || which == SMMA_OF_SCALE_B || which == SMMA_OF_C || which == SMMA_OF_BIAS;
    smma_tensor *t = &f->of[which], part;
    if (!t->data) continue;
    if (!smma_tensor_part(t, of_row ? i : 0, of_row ? 1 : t->rows, of_column ? j : 0, of_column ? 1 : t->columns, &part,
                          error))
      return false;
    smma_tensor_free(t);
    *t = part;
  }
  return true;
}

/* Converts a matrix, if it is given, to the format that the target needs. */
static bool take(const smma_files *f, const smma_prepared_target *t, smma_product_matrix which, smma_rounding rounding,
                 const smma_notes *notes, smma_tensor *taken, smma_error *error) {
  const smma_matrix_need need = need_of(f, t, which);
  const smma_label label = {need.what, f->path[which]};
  *taken = (smma_tensor){.format = SMMA_NO_FORMAT};
  return !f->of[which].data || smma_take_matrix(&f->of[which], need.format, rounding, label, notes, taken, error);
}

bool smma_files_convert(const smma_files *f, const smma_prepared_targets *x, smma_prepared_target *t,
                        smma_error *error) {
  const smma_rounding nearest = SMMA_ROUND_NEAREST_EVEN;
  const smma_notes *notes = smma_notes_of_target(x, t);
  const bool has_scales = f->of[SMMA_OF_SCALE_A].data, is_quantised = has_scales && t->instruction->scale_block;
  return (is_quantised ? take(f, t, SMMA_OF_A, t->rounding.a, notes, &t->a, error) &&
                             take(f, t, SMMA_OF_B, t->rounding.b, notes, &t->b, error)
                       : smma_convert_operands(x, t, &f->of[SMMA_OF_A], &f->of[SMMA_OF_B], operand_paths(f), error)) &&
         (!has_scales || (take(f, t, SMMA_OF_SCALE_A, nearest, NULL, &t->scale_a, error) &&
                          take(f, t, SMMA_OF_SCALE_B, nearest, NULL, &t->scale_b, error) &&
                          transpose(&t->scale_b, error))) && /* the library takes them column by column */
         take(f, t, SMMA_OF_C, nearest, notes, &t->c, error) &&
         take(f, t, SMMA_OF_BIAS, nearest, notes, &t->bias, error);
}

void smma_files_free(smma_files *f) {
  for (smma_product_matrix which = 0; which < SMMA_PRODUCT_MATRICES; which++) smma_tensor_free(&f->of[which]);
}
