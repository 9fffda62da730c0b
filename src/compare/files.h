/* The matrices of a product on several targets, as their files hold them: read and checked once, and converted to the
   formats of each target. The functions that take an error return false with it. */
#ifndef SMMA_COMPARE_FILES_H
#define SMMA_COMPARE_FILES_H

#include "compare/prepare.h"
#include "product/product.h"
#include "rows/data.h"

/* Random A and B, M x K and K x N, in FP32. */
typedef struct {
  smma_data data;
  size_t m, n, k;
} smma_random_matrices;

typedef struct {
  const char *path[SMMA_PRODUCT_MATRICES]; /* NULL: not given. There is no metadata */
  const smma_random_matrices *random;      /* what A and B are in place of files, whose paths are then their names */
  bool raw;                                /* integers in files are encodings */
  bool transpose_a, transpose_b;           /* the file holds the transpose */
  const char *hint;                        /* how to mend A and B that do not fit (smma_check_inner) */
  bool has_format;                         /* the caller knows the format of A and B whose files do not name one */
  smma_formats format;                     /* that format; otherwise it is that of the targets */
  smma_error format_is_unused;             /* the error if files name their formats; without text: none */
  smma_tensor of[SMMA_PRODUCT_MATRICES];   /* the matrices; without data if they are not given */
} smma_files;

/* What to do if targets of several formats would read the same encodings as different numbers. */
#define SMMA_FORMAT_OF_FILE "give --in, the format of the file"

/* Reads A and B as numbers, transposes them if the files hold transposes, and checks that A B is a product. Fails if
   the format of a file is not known, because the targets have several. For a format with scale factors, encodings
   remain as they are; smma_files_convert refuses them. */
bool smma_files_read(smma_files *files, const smma_prepared_targets *targets, smma_error *error);

/* Reads C, the bias and the scale factors, and checks that they have the shapes that the product needs, and that all
   targets need the same scale factors. Call it after smma_files_read. */
bool smma_files_read_others(smma_files *files, const smma_prepared_targets *targets, smma_error *error);

/* Reduces the matrices to the product that gives element [i, j]: row i of A times column j of B. */
bool smma_files_keep_element(smma_files *files, size_t i, size_t j, smma_error *error);

/* Sets the matrices of a target. A and B that have scale factors are quantised already. */
bool smma_files_convert(const smma_files *files, const smma_prepared_targets *targets, smma_prepared_target *target,
                        smma_error *error);

void smma_files_free(smma_files *files);

#endif
