#include "cli/matrices.h"

int smma_raw_encodings;

bool smma_load_matrix(const char *path, smma_tensor *tensor, smma_error *error) {
  if (!smma_tensor_read(path, tensor, error)) return false;
  tensor->encodings = smma_raw_encodings;
  return true;
}

bool smma_load_shaped(const char *path, const char *option, size_t rows, size_t columns, const char *needed_by,
                      smma_tensor *tensor, smma_error *error) {
  return smma_load_matrix(path, tensor, error) &&
         smma_check_shape(tensor, (smma_label){option, path}, rows, columns, needed_by, error);
}

void smma_replace_tensor(smma_tensor *t, const smma_tensor *by) {
  if (!by->data) return;
  smma_tensor_free(t);
  *t = *by;
}
