#include "cli/matrices.h"

#include <stdlib.h>

#include "matrix/stored.h"

int smma_raw_encodings;

static void say(const char *text, void *context) {
  (void)context;
  smma_note("%s", text);
}

const smma_notes smma_notes_printed = {say, NULL};

static const smma_notes *notes_unless(bool quiet) { return quiet ? NULL : &smma_notes_printed; }

smma_tensor smma_load_matrix(const char *path) {
  smma_tensor tensor;
  smma_error error;
  if (!smma_tensor_read(path, &tensor, &error)) smma_die("%s", error.text);
  tensor.encodings = smma_raw_encodings;
  return tensor;
}

smma_tensor smma_load_numbers(const char *path) {
  smma_tensor tensor = smma_load_matrix(path);
  smma_stored_free(tensor.stored);
  tensor.stored = NULL;
  return tensor;
}

smma_tensor smma_new_matrix(smma_format format, size_t rows, size_t columns) {
  smma_tensor t;
  smma_error error;
  if (!smma_tensor_new(format, rows, columns, &t, &error)) smma_die("%s", error.text);
  return t;
}

smma_tensor smma_load_shaped(const char *path, const char *option, size_t rows, size_t columns, const char *needed_by) {
  const smma_tensor file = smma_load_matrix(path);
  smma_error error;
  if (!smma_check_shape(&file, (smma_label){option, path}, rows, columns, needed_by, &error))
    smma_die("%s", error.text);
  return file;
}

smma_tensor smma_part_of_matrix(const smma_tensor *from, size_t row, size_t rows, size_t column, size_t columns) {
  smma_tensor t;
  smma_error error;
  if (!smma_tensor_part(from, row, rows, column, columns, &t, &error)) smma_die("%s", error.text);
  return t;
}

void smma_turn_matrix(smma_tensor *t) {
  smma_tensor turned;
  smma_error error;
  if (!smma_tensor_transpose(t, &turned, &error)) smma_die("%s", error.text);
  smma_tensor_free(t);
  *t = turned;
}

void smma_require_meaning(const smma_tensor *t, smma_format wanted, const char *what, const char *path) {
  smma_error error;
  if (!smma_check_meaning(t, wanted, (smma_label){what, path}, &error)) smma_die("%s", error.text);
}

void smma_settle_integers(smma_tensor *t, smma_format wanted, const char *what, const char *path) {
  smma_tensor numbers;
  smma_error error;
  if (!smma_take_numbers(t, wanted, (smma_label){what, path}, &smma_notes_printed, &numbers, &error))
    smma_die("%s", error.text);
  if (!numbers.data) return;
  smma_tensor_free(t);
  *t = numbers;
}

smma_tensor smma_matrix_rounded(const smma_tensor *from, smma_format wanted, smma_rounding rounding, const char *what,
                                const char *path, bool quiet) {
  smma_tensor t;
  smma_error error;
  if (!smma_take_matrix(from, wanted, rounding, (smma_label){what, path}, notes_unless(quiet), &t, &error))
    smma_die("%s", error.text);
  return t;
}

smma_tensor smma_matrix_as(const smma_tensor *from, smma_format wanted, const char *what, const char *path,
                           bool quiet) {
  return smma_matrix_rounded(from, wanted, SMMA_ROUND_NEAREST_EVEN, what, path, quiet);
}

smma_blocks smma_matrix_in_blocks(const smma_tensor *from, bool along_rows, const smma_block_format *format,
                                  float factor, const char *what, const char *path, bool quiet) {
  smma_blocks b = {.factor = factor};
  smma_error error;
  if (!smma_take_blocks(from, along_rows, format, (smma_label){what, path}, notes_unless(quiet), &b, &error))
    smma_die("%s", error.text);
  return b;
}

smma_blocks smma_matrix_as_stored(const smma_tensor *from, bool along_rows, smma_scales scales, const char *what,
                                  const char *path, bool quiet) {
  smma_blocks b;
  smma_error error;
  if (!smma_take_stored(from, along_rows, scales, (smma_label){what, path}, notes_unless(quiet), &b, &error))
    smma_die("%s", error.text);
  return b;
}
