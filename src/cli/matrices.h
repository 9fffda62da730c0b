/* Matrices from files, in the formats that an instruction takes. */
#ifndef SMMA_CLI_MATRICES_H
#define SMMA_CLI_MATRICES_H

#include "cli/cli.h"
#include "isa/formats.h"
#include "matrix/tensor.h"

/* Reads a file; ends the program with one line if it cannot. */
smma_tensor smma_load_matrix(const char *path);

/* The same of a matrix of rows x columns; `needed_by` says what needs them. */
smma_tensor smma_load_shaped(const char *path, const char *option, size_t rows, size_t columns, const char *needed_by);

/* The check alone, of a matrix whose data are not looked at. */
void smma_require_shape(const smma_tensor *file, const char *path, const char *option, size_t rows, size_t columns,
                        const char *needed_by);

/* A part of a matrix: a copy. */
smma_tensor smma_part_of_matrix(const smma_tensor *from, size_t row, size_t rows, size_t column, size_t columns);

/* The matrix becomes its transpose. */
void smma_turn_matrix(smma_tensor *t);

/* What --raw sets: integers are encodings of the wanted format, unless that is an integer, too. Otherwise they are
   numbers. Unsigned integers as wide as the format are its encodings if NumPy has no type for the format; otherwise they
   may be either, and are refused. */
extern int smma_raw_encodings;

#define SMMA_RAW_OPTION \
  {"raw", 0, POPT_ARG_NONE, &smma_raw_encodings, 0, "files of integers hold encodings of formats, not numbers", NULL}

/* Ends the program if the elements may be numbers or encodings of the wanted format, or are encodings of another one. */
void smma_require_meaning(const smma_tensor *tensor, smma_format wanted, const char *what, const char *path);

/* Turns integers of a type that is no format (int16, int64, ...) into f64, unless they are encodings. Requires their
   meaning, too. */
void smma_settle_integers(smma_tensor *tensor, smma_format wanted, const char *what, const char *path);

/* Reports whether the elements are raw encodings of the wanted format: of a type without a name, unsigned integers of a
   format that NumPy has no type for, or integers with --raw. */
bool smma_is_raw(const smma_tensor *t, smma_format wanted);

/* The matrix in the wanted format: a copy, rounded (RNE; saturating in formats of at most 8 bits) where it differs. Raw
   encodings are taken as they are and must fit. `what` and `path` are for notes and errors, and with `quiet` nothing is
   noted. */
smma_tensor smma_matrix_as(const smma_tensor *from, smma_format wanted, const char *what, const char *path, bool quiet);

/* Like smma_matrix_as, rounded as `rounding` says. */
smma_tensor smma_matrix_rounded(const smma_tensor *from, smma_format wanted, smma_rounding rounding, const char *what,
                                const char *path, bool quiet);

/* Like smma_matrix_rounded, of a part of a file that begins at `row`, `column`, without a note: adds to `*lost`. */
smma_tensor smma_part_as(const smma_tensor *part, size_t row, size_t column, smma_format wanted, smma_rounding rounding,
                         const char *what, const char *path, smma_conversion *lost);

/* The note on a conversion of `count` values: of `from`, whose data are not looked at. */
void smma_note_conversion(const smma_tensor *from, smma_format wanted, smma_rounding rounding, const char *what,
                          const char *path, size_t count, const smma_conversion *lost);

/* A matrix of numbers in blocks along K, each with a scale factor. */
typedef struct {
  smma_tensor values, scales; /* scales: as smma_gemm takes them */
  smma_tensor products;       /* of both, in f64: what the blocks stand for */
} smma_blocks;

/* Quantised (numerics/blocks.h); K goes along the rows of the file, or down its columns. Raw encodings are refused. */
smma_blocks smma_matrix_in_blocks(const smma_tensor *from, bool along_rows, const smma_block_format *format,
                                  const char *what, const char *path, bool quiet);
void smma_blocks_free(smma_blocks *blocks);

/* Zeroed; ends the program when the sizes overflow or memory runs out. */
smma_tensor smma_new_matrix(smma_format format, size_t rows, size_t columns);

#endif
