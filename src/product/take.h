/* Conversion of given matrices to the formats of a product: numbers are rounded, encodings are read unchanged, and
   notes report the changes. */
#ifndef SMMA_PRODUCT_TAKE_H
#define SMMA_PRODUCT_TAKE_H

#include "host/notes.h"
#include "isa/formats.h"
#include "matrix/tensor.h"
#include "plan/scales.h"
#include "softmma/softmma.h"

/* The name of a matrix in notes and errors: its role in the product, and its file or argument. */
typedef struct {
  const char *what, *path;
} smma_label;

/* A matrix that the caller passes: its elements, or the file that has them. */
typedef struct {
  const char *path;   /* the file, or the name of the matrix in errors; NULL: not given */
  smma_tensor tensor; /* if its data is NULL, the elements are in the file */
} smma_source;

/* Reads the matrix from its file (raw: integers are encodings), or uses the given elements. `*owns` receives whether
   the caller must free the tensor. */
bool smma_read_source(const smma_source *source, bool raw, smma_tensor *tensor, bool *owns, smma_error *error);

/* Reports whether the elements are raw encodings of the target format: their type has no name, or they are unsigned
   integers and NumPy has no type for the format, or the caller has declared integers to be encodings. */
bool smma_is_raw(const smma_tensor *tensor, smma_format target_format);

/* Fails if the elements could be either numbers or encodings of the wanted format, or if they are encodings of another
   format. */
bool smma_check_meaning(const smma_tensor *tensor, smma_format target_format, smma_label label, smma_error *error);

/* Fails if the matrix is not `rows` x `columns`, which `needed_by` needs. */
bool smma_check_shape(const smma_tensor *tensor, smma_label label, size_t rows, size_t columns, const char *needed_by,
                      smma_error *error);

/* Sets `numbers` to the elements in f64 if they are integers of a type that is not a format (int16, int64, ...) and are
   not encodings; otherwise sets its data to NULL. Fails as smma_check_meaning does. */
bool smma_take_numbers(const smma_tensor *tensor, smma_format target_format, smma_label label, const smma_notes *notes,
                       smma_tensor *numbers, smma_error *error);

/* Makes a copy of part of a matrix, in the wanted format. The part begins at `row`, `column` of the matrix that the
   label names. Values that the format cannot hold are rounded, and saturate in formats of at most 8 bits. They are
   counted in `*lost`. Raw encodings must fit. */
bool smma_take_part(const smma_tensor *part, size_t row, size_t column, smma_format target_format,
                    smma_rounding rounding, smma_label label, smma_tensor *taken, smma_conversion *lost,
                    smma_error *error);

/* Adds the counts of another part of a matrix. */
void smma_add_loss(smma_conversion *sum, const smma_conversion *lost);

/* Writes a note on the conversion of `count` values of `from`; does not read their data. */
void smma_note_taken(const smma_tensor *from, smma_format target_format, smma_rounding rounding, smma_label label,
                     size_t count, const smma_conversion *lost, const smma_notes *notes);

/* Makes a copy of a whole matrix, like smma_take_part, and writes a note. */
bool smma_take_matrix(const smma_tensor *from, smma_format target_format, smma_rounding rounding, smma_label label,
                      const smma_notes *notes, smma_tensor *taken, smma_error *error);

/* A matrix of numbers in blocks along K, each with a scale factor. */
typedef struct {
  smma_tensor values, scales; /* scales: in the layout of smma_gemm */
  float factor; /* the tensor's factor, by which the result is multiplied; 1 if the format has only one level of factors
                 */
} smma_blocks;

/* Quantises a matrix (numerics/blocks.h). K runs along its rows if `along_rows`, otherwise along its columns. The
   caller sets `blocks->factor` to the tensor's factor, or to 0 if it is to be computed. Fails for raw encodings. */
bool smma_take_blocks(const smma_tensor *from, bool along_rows, const smma_block_format *format, smma_label label,
                      const smma_notes *notes, smma_blocks *blocks, smma_error *error);

/* Reports whether the matrix has a stored form whose elements and scale factors a product with these scale factors can
   take unchanged. */
bool smma_takes_stored(const smma_tensor *from, bool along_rows, smma_format element, smma_scales scales);

/* Copies the elements, scale factors and factor of a quantised matrix, and writes a note. */
bool smma_take_stored(const smma_tensor *from, bool along_rows, smma_scales scales, smma_label label,
                      const smma_notes *notes, smma_blocks *blocks, smma_error *error);

/* Reads a rounding mode of --round-in: `length` characters of `word`. "default" means `otherwise`. */
bool smma_rounding_of(const char *word, size_t length, smma_rounding otherwise, smma_rounding *mode, smma_error *error);

#endif
