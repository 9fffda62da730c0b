/* Reads any bytes as a .npy file. Expects an error line, or a tensor whose data can be read in full. */
#include <stdlib.h>

#include "matrix/tensor.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  smma_tensor tensor;
  smma_error error = {.text = ""};
  smma_input input;
  if (!smma_input_memory(bytes, size, "input", &input, &error)) abort();
  bool read = smma_npy_read(&input, &tensor, &error);
  smma_input_close(&input);
  if (read) {
    const unsigned char *data = tensor.data;
    unsigned char sum = 0;
    size_t length = tensor.rows * tensor.columns * (size_t)tensor.bytes;
    if (!data || length > size) abort();
    for (size_t i = 0; i < length; i++) sum ^= data[i];
    *(volatile unsigned char *)&sum = sum;
    smma_tensor_free(&tensor);
  } else if (!error.text[0]) {
    abort();
  }
  return 0;
}
