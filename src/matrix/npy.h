/* Parts of .npy files, read or written in place, for matrices that may not fit in memory. */
#ifndef SMMA_MATRIX_NPY_H
#define SMMA_MATRIX_NPY_H

#include <stdio.h>

#include "matrix/tensor.h"

/* The position and type of a file's elements. */
typedef struct {
  smma_format format; /* as in smma_tensor */
  int bytes;
  size_t rows, columns;
  size_t start; /* first byte of the data in the file */
  bool big_endian;
  bool turned; /* stored column by column */
  smma_integer_type integers;
} smma_npy_layout;

/* Reads the layout, from the first byte of the file. The data must have exactly the size that the shape needs. */
bool smma_npy_layout_read(smma_input *input, smma_npy_layout *layout, smma_error *error);

/* Writes a header of version 1.0, padded with blanks so that the data begins at a multiple of 64 bytes. */
void smma_npy_write_header(FILE *stream, const smma_tensor *tensor);

/* A file that is open for reading, or for writing rows. */
typedef struct {
  smma_npy_layout layout;
  const char *path; /* the caller's */
  int descriptor;
} smma_npy_file;

bool smma_npy_open(const char *path, smma_npy_file *file, smma_error *error);
void smma_npy_close(smma_npy_file *file);

/* Reads part of a matrix: `rows` rows starting at `row`, and in them `columns` columns starting at `column`. If it
   fails, nothing is allocated. */
bool smma_npy_read_part(const smma_npy_file *file, size_t row, size_t rows, size_t column, size_t columns,
                        smma_tensor *part, smma_error *error);

/* Writes the header of a matrix, and extends the file with zeros to its full size. `matrix` needs no data. `*layout`
   receives the layout for smma_npy_write_part. */
bool smma_npy_begin(FILE *stream, const char *path, const smma_tensor *matrix, smma_npy_layout *layout,
                    smma_error *error);

/* Writes a part at its position in the file. Converts the elements of `part` to little-endian in place. */
bool smma_npy_write_part(const smma_npy_file *file, size_t row, size_t column, smma_tensor *part, smma_error *error);

#endif
