/* Matrices from files. These are the functions of product/take.h, except that they end the program with one line on an
   error, and print notes on stderr unless `quiet`. */
#ifndef SMMA_CLI_MATRICES_H
#define SMMA_CLI_MATRICES_H

#include "cli/cli.h"
#include "product/take.h"

/* Set by --raw: integers in files are encodings (smma_tensor). */
extern int smma_raw_encodings;

#define SMMA_RAW_OPTION                                                                                          \
  {                                                                                                              \
    "raw", 0, POPT_ARG_NONE, &smma_raw_encodings, 0,                                                             \
        "integers in files are encodings of the format, not numbers; unsigned integers for a format that NumPy " \
        "lacks, such as BF16 and E4M3, always are",                                                              \
        NULL                                                                                                     \
  }

/* Notes that are printed on stderr. */
extern const smma_notes smma_notes_printed;

smma_tensor smma_load_matrix(const char *path);

/* Loads a matrix without its stored form, so that every target rounds or quantises its numbers. */
smma_tensor smma_load_numbers(const char *path);

smma_tensor smma_load_shaped(const char *path, const char *option, size_t rows, size_t columns, const char *needed_by);
smma_tensor smma_new_matrix(smma_format format, size_t rows, size_t columns);
smma_tensor smma_part_of_matrix(const smma_tensor *from, size_t row, size_t rows, size_t column, size_t columns);

/* Replaces the matrix by its transpose. */
void smma_turn_matrix(smma_tensor *t);

void smma_require_meaning(const smma_tensor *tensor, smma_format wanted, const char *what, const char *path);

/* Converts integers of a type that is not a number format to f64, unless they are encodings. */
void smma_settle_integers(smma_tensor *tensor, smma_format wanted, const char *what, const char *path);

/* Return a copy in the wanted format, rounded to nearest even, or in the mode `rounding`. */
smma_tensor smma_matrix_as(const smma_tensor *from, smma_format wanted, const char *what, const char *path, bool quiet);
smma_tensor smma_matrix_rounded(const smma_tensor *from, smma_format wanted, smma_rounding rounding, const char *what,
                                const char *path, bool quiet);

/* `factor` is the tensor's factor, or 0 to compute it. */
smma_blocks smma_matrix_in_blocks(const smma_tensor *from, bool along_rows, const smma_block_format *format,
                                  float factor, const char *what, const char *path, bool quiet);

smma_blocks smma_matrix_as_stored(const smma_tensor *from, bool along_rows, smma_scales scales, const char *what,
                                  const char *path, bool quiet);

#endif
