/* Matrices in files: .npy (NumPy 1.0 to 3.0 headers) and .safetensors. */
#ifndef SMMA_MATRIX_TENSOR_H
#define SMMA_MATRIX_TENSOR_H

#include <stddef.h>

#include "core/format.h"
#include "host/error.h"
#include "io/input.h"

/* Whether a file's type is an integer type. Its elements are then numbers, or encodings if the reader's caller sets
   `encodings`. */
typedef enum { SMMA_NO_INTEGERS, SMMA_SIGNED_INTEGERS, SMMA_UNSIGNED_INTEGERS } smma_integer_type;

/* A matrix that was read from a file. NumPy has no names for FP8 and bfloat16, so files with these formats hold raw
   encodings. The caller of the reader must know their format. */
typedef struct {
  smma_format format; /* SMMA_NO_FORMAT: raw encodings, or integers of `bytes` bytes that are not one of the formats */
  int bytes;          /* bytes of one element in `data`: 1, 2, 4 or 8 */
  size_t rows, columns;
  void *data; /* row-major, native byte order, one encoding per element (sub-byte types are unpacked); never NULL */
  smma_integer_type integers;
  bool encodings;             /* set by the reader's caller: integers are encodings of a format, not numbers */
  struct smma_stored *stored; /* quantised form, whose numbers `data` has (matrix/stored.h); NULL if there is none. The
                                 tensor owns it */
} smma_tensor;

/* Reads a tensor of one or two dimensions, and of further leading dimensions of 1; one dimension of n becomes 1 x n.
   `path` may be "FILE.safetensors:NAME"; without NAME the file must hold exactly one tensor, or one weight. NAME may be
   a layer ("layers.0.mlp.down_proj"), or begin the name of only one weight; "NAME[3]" is one matrix of a tensor of
   three dimensions. A quantised weight of a checkpoint becomes its numbers in f32, with their stored form
   (matrix/checkpoint.def). The first bytes of the file decide its kind, not its name. On failure nothing is allocated.
   Free the tensor with smma_tensor_free. */
bool smma_tensor_read(const char *path, smma_tensor *tensor, smma_error *error);

/* Like smma_tensor_read, with the tensor's name in an argument of its own; NULL: without a name. */
bool smma_tensor_read_named(const char *path, const char *name, smma_tensor *tensor, smma_error *error);

/* Readers for one kind of file, from its first byte; otherwise like smma_tensor_read. `name` is NULL or the tensor's
   name. */
bool smma_npy_read(smma_input *input, smma_tensor *tensor, smma_error *error);
bool smma_safetensors_read(smma_input *input, const char *name, smma_tensor *tensor, smma_error *error);

/* Reads a tensor from one of several .safetensors files, by their index (model.safetensors.index.json). */
bool smma_safetensors_read_index(smma_input *input, const char *name, smma_tensor *tensor, smma_error *error);

/* Writes a .npy file atomically: a temporary file in the same directory is renamed when it is complete. f16, f32 and
   f64 are written as '<f2', '<f4', '<f8'; tf32 and e8m13 as '<f4'; s8, u8 and s32 as '|i1', '|u1', '<i4'; formats
   without a NumPy name as raw '<V1' or '<V2', as ml_dtypes does. tensor->bytes must be the format's smallest container,
   or 1 or 2 for raw encodings. */
bool smma_npy_write(const char *path, const smma_tensor *tensor, smma_error *error);

/* Makes a matrix of zeros. Returns false if memory runs out or the size overflows. */
bool smma_tensor_new(smma_format format, size_t rows, size_t columns, smma_tensor *tensor, smma_error *error);

/* Copies part of a matrix. */
bool smma_tensor_part(const smma_tensor *from, size_t row, size_t rows, size_t column, size_t columns,
                      smma_tensor *part, smma_error *error);

/* Makes a transposed copy of a matrix. */
bool smma_tensor_transpose(const smma_tensor *from, smma_tensor *transposed, smma_error *error);

void smma_tensor_free(smma_tensor *tensor);

#endif
