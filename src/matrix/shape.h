/* Shapes of stored tensors and the bytes of their elements, for all readers of tensor files. */
#ifndef SMMA_MATRIX_SHAPE_H
#define SMMA_MATRIX_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/error.h"
#include "matrix/tensor.h"

enum { SMMA_SHAPE_LIMIT = 64 /* NumPy's maximum number of dimensions */, SMMA_SHAPE_TEXT = 128 };

typedef struct {
  int count;
  size_t extent[SMMA_SHAPE_LIMIT];
} smma_shape;

/* Multiplies a and b. Returns false if the product exceeds size_t. */
static inline bool smma_multiply(size_t a, size_t b, size_t *product) {
  if (a != 0 && b > SIZE_MAX / a) return false;
  *product = a * b;
  return true;
}

/* Writes the shape as NumPy prints it, "(2, 3)"; truncates a long shape with "...". */
void smma_shape_text(const smma_shape *shape, char text[SMMA_SHAPE_TEXT]);

/* Removes axes of extent 1 from the front until at most `most` axes are left. */
void smma_shape_drop_ones(smma_shape *shape, int most);

/* Returns the number of elements. */
size_t smma_shape_elements(const smma_shape *shape);

/* Sets the rows, the columns and the number of elements. The shape must have one or two dimensions, apart from leading
   dimensions of 1. `where` begins the error message. */
bool smma_shape_matrix(const smma_shape *shape, const char *where, smma_tensor *tensor, size_t *elements,
                       smma_error *error);

/* Allocates memory for `elements` elements of tensor->bytes bytes; `elements` may be 0. */
bool smma_tensor_allocate(smma_tensor *tensor, size_t elements, const char *path, smma_error *error);

/* Converts elements of 1, 2, 4 or 8 bytes in place between the named byte order and the native order. */
void smma_swap_elements(void *data, size_t elements, int bytes, bool big_endian);

#endif
