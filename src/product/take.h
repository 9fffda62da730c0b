/* Matrices as somebody gives them, taken into the formats that a product wants: numbers are rounded, encodings are read
   as they are, and notes say what becomes of them. */
#ifndef SMMA_PRODUCT_TAKE_H
#define SMMA_PRODUCT_TAKE_H

#include "isa/formats.h"
#include "matrix/tensor.h"
#include "softmma/softmma.h"

/* Who hears what a user should know but need not mend; `say` NULL: nobody. */
typedef struct {
  void (*say)(const char *text, void *context);
  void *context;
} smma_notes;

/* What notes and errors call a matrix: its place in the product, and its file or argument. */
typedef struct {
  const char *what, *path;
} smma_label;

/* A matrix that is given: its elements, or the file that has them. */
typedef struct {
  const char *path;   /* the file, or what errors call the matrix; NULL: it is not given */
  smma_tensor tensor; /* data NULL: the file is read */
} smma_source;

/* Reads the matrix from its file (raw: integers are encodings), or takes the elements that are there: `*owns` says
   whether the caller frees the tensor. */
bool smma_read_source(const smma_source *source, bool raw, smma_tensor *tensor, bool *owns, smma_error *error);

/* Reports whether the elements are raw encodings of the wanted format: of a type without a name, unsigned integers of a
   format that NumPy has no type for, or integers that are said to be encodings. */
bool smma_is_raw(const smma_tensor *tensor, smma_format wanted);

/* Fails if the elements may be numbers or encodings of the wanted format, or are encodings of another one. */
bool smma_check_meaning(const smma_tensor *tensor, smma_format wanted, smma_label label, smma_error *error);

/* Fails with the shape that `needed_by` needs. */
bool smma_check_shape(const smma_tensor *tensor, smma_label label, size_t rows, size_t columns, const char *needed_by,
                      smma_error *error);

/* Makes f64 of integers whose type is no format (int16, int64, ...), unless they are encodings; otherwise `numbers` has
   no data. Checks their meaning, too. */
bool smma_take_numbers(const smma_tensor *tensor, smma_format wanted, smma_label label, const smma_notes *notes,
                       smma_tensor *numbers, smma_error *error);

/* Makes a copy in the wanted format of a part that begins at `row`, `column` of the matrix which the label names.
   Values that the format does not have are rounded (saturating in formats of at most 8 bits) and added to `*lost`. Raw
   encodings must fit. */
bool smma_take_part(const smma_tensor *part, size_t row, size_t column, smma_format wanted, smma_rounding rounding,
                    smma_label label, smma_tensor *taken, smma_conversion *lost, smma_error *error);

/* Adds what another part of a matrix has lost. */
void smma_add_loss(smma_conversion *sum, const smma_conversion *lost);

/* Says what became of `count` values of `from`, whose data are not looked at. */
void smma_note_taken(const smma_tensor *from, smma_format wanted, smma_rounding rounding, smma_label label,
                     size_t count, const smma_conversion *lost, const smma_notes *notes);

/* Makes a copy of a whole matrix as smma_take_part does, and a note. */
bool smma_take_matrix(const smma_tensor *from, smma_format wanted, smma_rounding rounding, smma_label label,
                      const smma_notes *notes, smma_tensor *taken, smma_error *error);

/* A matrix of numbers in blocks along K, each with a scale factor. */
typedef struct {
  smma_tensor values, scales; /* scales: as smma_gemm takes them */
} smma_blocks;

/* Quantises (numerics/blocks.h); K goes along the rows of the matrix, or down its columns. Refuses raw encodings. */
bool smma_take_blocks(const smma_tensor *from, bool along_rows, const smma_block_format *format, smma_label label,
                      const smma_notes *notes, smma_blocks *blocks, smma_error *error);

/* Reads a mode of --round-in, `length` characters of `word`; `otherwise` is what "default" stands for. */
bool smma_rounding_of(const char *word, size_t length, smma_rounding otherwise, smma_rounding *mode, smma_error *error);

#endif
