/* Reads any bytes as a .safetensors file. Expects an error line, or a tensor. All data of the tensor must be readable
   and fit its format. If it has a stored form, this can be copied, cut and split. */
#include <stdlib.h>

#include "matrix/stored.h"
#include "matrix/tensor.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

/* Splits the stored form for units that take scale factors in FP32 or in the stored format, with several numbers of
   elements per factor. */
static void split(const smma_stored *s) {
  const smma_format formats[] = {SMMA_F32, s->scale};
  for (int n = 0; n < 12; n++) {
    const size_t each = (const size_t[]){0, 16, 128}[n % 3];
    const bool along_rows = n & 1;
    smma_tensor values, scales;
    smma_error error;
    float factor;
    if (!smma_stored_fits(s, along_rows, s->element, formats[n / 6], each)) continue;
    if (!smma_stored_split(s, along_rows, formats[n / 6], each, &values, &scales, &factor, &error)) continue;
    smma_tensor_free(&values), smma_tensor_free(&scales);
  }
}

static void check_stored(const smma_tensor *tensor) {
  smma_tensor turned, part;
  smma_error error;
  char text[SMMA_STORED_TEXT];
  split(tensor->stored);
  if (!smma_stored_text(tensor->stored, text)[0]) abort();
  if (!smma_tensor_transpose(tensor, &turned, &error)) return;
  split(turned.stored);
  if (turned.rows && turned.columns) {
    if (!smma_tensor_part(&turned, turned.rows - 1, 1, 0, turned.columns, &part, &error)) abort();
    split(part.stored);
    smma_tensor_free(&part);
  }
  smma_tensor_free(&turned);
}

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
    if (!data || length > 8 * size) abort(); /* two FP4 elements in a byte become two FP32 numbers */
    for (size_t i = 0; i < length; i++)
      if (bits != 0 && bits < 8 && data[i] >> bits != 0) abort();
    if (tensor.stored) check_stored(&tensor);
    smma_tensor_free(&tensor);
  } else if (!error.text[0]) {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  parse(bytes, size, NULL);
  parse(bytes, size, "x");
  parse(bytes, size, "w[1]");
  return 0;
}
