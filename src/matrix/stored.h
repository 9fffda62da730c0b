/* Matrices as quantised checkpoints store them: elements in a narrow format, scale factors that blocks of elements
   share, and a factor of the whole matrix. */
#ifndef SMMA_MATRIX_STORED_H
#define SMMA_MATRIX_STORED_H

#include <stdbool.h>
#include <stddef.h>

#include "core/format.h"
#include "host/error.h"
#include "matrix/tensor.h"

/* The matrix's number at [row, column] is the element, times its block's scale factor, times (or divided by) the
   matrix's factor. */
typedef struct smma_stored {
  smma_format element; /* of at most 8 bits */
  smma_format scale;   /* SMMA_F32, SMMA_UE8M0 or SMMA_UE4M3; SMMA_NO_FORMAT: no scale factors */
  size_t rows, columns;
  size_t block[2];      /* rows and columns that share a scale factor */
  size_t first[2];      /* row and column of the matrix within the blocks: not 0 if it is a part of another matrix */
  size_t scale_columns; /* scale factors in a row of blocks */
  size_t scale_count;   /* scale factors in all */
  unsigned char *element_codes; /* row-major, one encoding a byte */
  void *scale_codes;            /* row-major encodings; NULL: no scale factors */
  float factor;
  bool divides; /* numbers are divided by the factor */
} smma_stored;

enum { SMMA_STORED_TEXT = 64 };

/* Writes the form: "nvfp4", "e4m3 with f32 per 128 x 128". */
const char *smma_stored_text(const smma_stored *stored, char text[SMMA_STORED_TEXT]);

/* Computes the numbers in FP32, as the checkpoints' own libraries do: first the product (or quotient) of the block's
   scale factor and the matrix's factor, then its product with the element, each rounded to nearest even. */
void smma_stored_numbers(const smma_stored *stored, float *numbers);

/* Reports whether a unit can take the elements unchanged: as encodings of `element`, with a scale factor in `scale` for
   each `each` elements along K (0: without scale factors). K goes along the rows, or down the columns. */
bool smma_stored_fits(const smma_stored *stored, bool along_rows, smma_format element, smma_format scale, size_t each);

/* Copies the elements, and the scale factors that smma_stored_fits describes, one line for each row (K along rows) or
   column. `*factor` receives the number that multiplies the result of a product. Scale factors in FP32 contain the
   matrix's factor. */
bool smma_stored_split(const smma_stored *stored, bool along_rows, smma_format scale, size_t each, smma_tensor *values,
                       smma_tensor *scales, float *factor, smma_error *error);

/* Copies a part, or the transpose. Returns NULL with an error if memory runs out. */
smma_stored *smma_stored_part(const smma_stored *stored, size_t row, size_t rows, size_t column, size_t columns,
                              smma_error *error);
smma_stored *smma_stored_transpose(const smma_stored *stored, smma_error *error);

void smma_stored_free(smma_stored *stored); /* accepts NULL */

#endif
