/* Reads any bytes as a .safetensors file. Expects an error line, or a tensor whose data can be read in full and fits
   its format. */
#include <stdlib.h>

#include "matrix/tensor.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

static void parse(const unsigned char *bytes, size_t size, const char *name) {
  smma_tensor tensor;
  smma_error error = {.text = ""};
  smma_input input;
  if (!smma_input_memory(bytes, size, "input", &input, &error)) abort();
  bool read = smma_safetensors_read(&input, name, &tensor, &error);
  smma_input_close(&input);
  if (read) {
    const unsigned char *data = tensor.data;
    size_t length = tensor.rows * tensor.columns * (size_t)tensor.bytes;
    int bits = smma_encoding_of(tensor.format).bits;
    if (!data || length > 2 * size) abort();
    for (size_t i = 0; i < length; i++)
      if (bits != 0 && bits < 8 && data[i] >> bits != 0) abort();
    smma_tensor_free(&tensor);
  } else if (!error.text[0]) {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  parse(bytes, size, NULL);
  parse(bytes, size, "x");
  return 0;
}
