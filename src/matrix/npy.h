/* .npy files in parts: what is read or written at its place, of matrices that memory may not hold. */
#ifndef SMMA_MATRIX_NPY_H
#define SMMA_MATRIX_NPY_H

#include <stdio.h>

#include "matrix/tensor.h"

/* Where a file has its elements. */
typedef struct {
  smma_format format; /* as in smma_tensor */
  int bytes;
  size_t rows, columns;
  size_t start; /* of the data, in the file */
  bool big_endian;
  bool turned; /* column by column */
  smma_integer_type integers;
} smma_npy_layout;

/* From the file's first byte; the data must be exactly what the shape needs. */
bool smma_npy_layout_read(smma_input *input, smma_npy_layout *layout, smma_error *error);

/* Version 1.0, padded with blanks so that the data begins at a multiple of 64. */
void smma_npy_write_header(FILE *stream, const smma_tensor *tensor);

/* An open file: to be read, or rows by rows to be written. */
typedef struct {
  smma_npy_layout layout;
  const char *path; /* the caller's */
  int descriptor;
} smma_npy_file;

bool smma_npy_open(const char *path, smma_npy_file *file, smma_error *error);
void smma_npy_close(smma_npy_file *file);

/* Rows `row` to row + rows - 1 of so many columns; on failure nothing is allocated. */
bool smma_npy_read_part(const smma_npy_file *file, size_t row, size_t rows, size_t column, size_t columns,
                        smma_tensor *part, smma_error *error);

/* The header of a matrix and room for all of its elements, zero; `matrix` has no data. The layout of what follows. */
bool smma_npy_begin(FILE *stream, const char *path, const smma_tensor *matrix, smma_npy_layout *layout,
                    smma_error *error);

/* Puts a part in its place; its elements become little-endian. */
bool smma_npy_write_part(const smma_npy_file *file, size_t row, size_t column, smma_tensor *part, smma_error *error);

#endif
