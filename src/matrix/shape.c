#include "matrix/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void smma_shape_text(const smma_shape *shape, char text[SMMA_SHAPE_TEXT]) {
  size_t length = 1;
  text[0] = '(';
  for (int i = 0; i < shape->count; i++) {
    if (length > SMMA_SHAPE_TEXT - 32) { /* no room for ", ", 20 digits, ",)" and the final zero */
      length += (size_t)snprintf(text + length, SMMA_SHAPE_TEXT - length, ", ...");
      break;
    }
    length += (size_t)snprintf(text + length, SMMA_SHAPE_TEXT - length, "%s%zu", i ? ", " : "", shape->extent[i]);
  }
  snprintf(text + length, SMMA_SHAPE_TEXT - length, shape->count == 1 ? ",)" : ")");
}

void smma_shape_drop_ones(smma_shape *shape, int most) {
  while (shape->count > most && shape->extent[0] == 1)
    memmove(shape->extent, shape->extent + 1, (size_t)--shape->count * sizeof *shape->extent);
}

size_t smma_shape_elements(const smma_shape *shape) {
  size_t elements = 1;
  for (int i = 0; i < shape->count; i++) elements *= shape->extent[i];
  return elements;
}

bool smma_shape_matrix(const smma_shape *shape, const char *where, smma_tensor *tensor, size_t *elements,
                       smma_error *error) {
  char text[SMMA_SHAPE_TEXT];
  int ones = 0; /* leading dimensions of 1 */
  smma_shape_text(shape, text);
  while (shape->count - ones > 2 && shape->extent[ones] == 1) ones++;
  if (shape->count < 1 || shape->count - ones > 2)
    return smma_fail(error, "%s: shape %s has %d dimensions; one or two are accepted: reshape it, e.g. %s", where, text,
                     shape->count, shape->count ? "x.reshape(-1, x.shape[-1])" : "x.reshape(1, 1)");
  tensor->rows = shape->count > 1 ? shape->extent[shape->count - 2] : 1;
  tensor->columns = shape->extent[shape->count - 1];
  if (!smma_multiply(tensor->rows, tensor->columns, elements))
    return smma_fail(error, "%s: shape %s has more elements than memory can hold; the header is damaged", where, text);
  return true;
}

bool smma_tensor_allocate(smma_tensor *tensor, size_t elements, const char *path, smma_error *error) {
  size_t size = 0;
  bool countable = smma_multiply(elements, (size_t)tensor->bytes, &size);
  tensor->data = countable ? malloc(size ? size : 1) : NULL;
  if (tensor->data) return true;
  return smma_fail(error, "%s: no memory for %zu elements of %d bytes", path, elements, tensor->bytes);
}

static bool host_is_big_endian(void) {
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 0;
}

void smma_swap_elements(void *data, size_t elements, int bytes, bool big_endian) {
  unsigned char *element = data;
  const int last = bytes - 1;
  if (bytes == 1 || big_endian == host_is_big_endian()) return;
  for (size_t i = 0; i < elements; i++, element += bytes)
    for (int j = 0; j < bytes / 2; j++) {
      const unsigned char first = element[j];
      element[j] = element[last - j];
      element[last - j] = first;
    }
}
