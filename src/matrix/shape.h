/* Shapes of stored tensors and the bytes of their elements: what the readers of tensor files share. */
#ifndef SMMA_MATRIX_SHAPE_H
#define SMMA_MATRIX_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/error.h"
#include "matrix/tensor.h"

enum { SMMA_SHAPE_LIMIT = 64 /* NumPy's greatest number of dimensions */, SMMA_SHAPE_TEXT = 128 };

typedef struct {
  int count;
  size_t extent[SMMA_SHAPE_LIMIT];
} smma_shape;

/* False when the product exceeds size_t. */
static inline bool smma_multiply(size_t a, size_t b, size_t *product) {
  if (a != 0 && b > SIZE_MAX / a) return false;
  *product = a * b;
  return true;
}

/* "(2, 3)", as NumPy prints it; cut with "..." when it is long. */
void smma_shape_text(const smma_shape *shape, char text[SMMA_SHAPE_TEXT]);

/* Rows and columns of a one- or two-dimensional shape, and their product; `where` begins the error line. */
bool smma_shape_matrix(const smma_shape *shape, const char *where, smma_tensor *tensor, size_t *elements,
                       smma_error *error);

/* Memory for `elements` elements of tensor->bytes bytes, also when there are none. */
bool smma_tensor_allocate(smma_tensor *tensor, size_t elements, const char *path, smma_error *error);

/* Elements of 1, 2, 4 or 8 bytes, in place, from the byte order said to the native one, or back. */
void smma_swap_elements(void *data, size_t elements, int bytes, bool big_endian);

#endif
