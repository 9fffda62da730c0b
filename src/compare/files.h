/* The matrices of a product on several targets, as their files hold them: read and checked once, and converted to the
   formats of each target. The functions that take an error return false with it. */
#ifndef SMMA_COMPARE_FILES_H
#define SMMA_COMPARE_FILES_H

#include "compare/prepare.h"
#include "product/product.h"

typedef struct {
  const char *path[SMMA_PRODUCT_MATRICES]; /* NULL: not given. There is no metadata */
  bool raw;                                /* integers in files are encodings */
  bool transpose_a, transpose_b;           /* the file holds the transpose */
  const char *hint;                        /* how to mend A and B that do not fit (smma_check_inner) */
  smma_tensor of[SMMA_PRODUCT_MATRICES];   /* the matrices; without data if they are not given */
} smma_files;

/* Reads A and B, transposes them if the files hold transposes, and checks that A B is a product. If `remedy` is not
   NULL, also checks that all targets read their elements as the same numbers (smma_check_meanings). */
bool smma_files_read(smma_files *files, const smma_prepared_targets *targets, const char *remedy, smma_error *error);

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
