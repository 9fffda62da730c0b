#include "cli/matrices.h"

int smma_raw_encodings;

bool smma_load_matrix(const char *path, smma_tensor *tensor, smma_error *error) {
  if (!smma_tensor_read(path, tensor, error)) return false;
  tensor->encodings = smma_raw_encodings;
  return true;
}

static bool check_file(const smma_prepared_targets *x, const char *path, bool of_a, const char *remedy,
                       smma_error *error) {
  const smma_prepared_target *first = x->target;
  smma_tensor t;
  if (!smma_load_matrix(path, &t, error)) return false;
  const bool is_raw = remedy && x->count && smma_is_raw(&t, of_a ? first->instruction->a : first->instruction->b);
  smma_tensor_free(&t);
  return !is_raw || smma_fail(error, "%s, %s: its elements are encodings, here of %s; for targets of other formats %s",
                              of_a ? "A" : "B", path, first->inputs, remedy);
}

void smma_check_files(const smma_prepared_targets *x, const char *const path[2], const char *remedy) {
  smma_error error;
  smma_check(check_file(x, path[0], true, remedy, &error), &error);
  smma_check(check_file(x, path[1], false, remedy, &error), &error);
}

void smma_replace_tensor(smma_tensor *t, const smma_tensor *by) {
  if (!by->data) return;
  smma_tensor_free(t);
  *t = *by;
}
