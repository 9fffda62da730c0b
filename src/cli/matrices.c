#include "cli/matrices.h"

int smma_raw_encodings;

bool smma_load_matrix(const char *path, smma_tensor *tensor, smma_error *error) {
  if (!smma_tensor_read(path, tensor, error)) return false;
  tensor->encodings = smma_raw_encodings;
  return true;
}

void smma_replace_tensor(smma_tensor *t, const smma_tensor *by) {
  if (!by->data) return;
  smma_tensor_free(t);
  *t = *by;
}
