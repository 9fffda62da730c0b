/* Vector files: rows of recorded or computed dot-product-adds, as text (text.h) or binary (binary.h), which are read
   alike. docs/vector-files.md has both formats. */
#ifndef SMMA_ROWS_VECTORS_H
#define SMMA_ROWS_VECTORS_H

#include <stdint.h>
#include <stdio.h>

#include "host/error.h"
#include "rows/rows.h"

typedef struct {
  char arch[512], instruction[128]; /* arch: or the file of a custom unit */
  char recorded_on[128];            /* empty when the header has none */
  smma_format a, b, c, d, scale;    /* scale: SMMA_NO_FORMAT without scales */
  int k, scale_block;               /* scale_block: 0 without scales */
  int wave;                         /* AMD RDNA: 32, 64, or 0 where the header does not say */
  int fp16_ovfl, clamp;             /* AMD RDNA: 1 if set */
  unsigned long long line;          /* where the header names the instruction, from 1; not written */
} smma_vector_header;

/* The instruction that a header names, checked against the header's own formats and K; NULL with one line. */
const smma_instruction *smma_instruction_of_header(const smma_vector_header *header, const char *path,
                                                   smma_error *error);

/* The header of an instruction's rows. */
void smma_vector_header_of(const smma_instruction *instruction, smma_vector_header *header);

/* An instruction of the header's formats and sizes and nothing else, for smma_rows_allocate, and how a row is laid out.
 */
smma_instruction smma_vector_shape(const smma_vector_header *header);
smma_row_layout smma_vector_layout(const smma_vector_header *header);

/* ---- Reading ---- */

typedef struct smma_vector_reader smma_vector_reader;

/* Opens and reads the header. The first byte tells a binary file, of which every block of rows is checked before any of
   it is returned; one that comes through a pipe, of at most 1 GiB, is put into a temporary file first. `path` is for
   messages; the stream stays the caller's. NULL on failure. */
smma_vector_reader *smma_vector_open(FILE *stream, const char *path, smma_vector_header *header, smma_error *error);
void smma_vector_close(smma_vector_reader *reader);

/* How many rows there are where the header says that, of a binary file; false else. */
bool smma_vector_count(const smma_vector_reader *reader, uint64_t *rows);

typedef enum { SMMA_VECTOR_ROW, SMMA_VECTOR_END, SMMA_VECTOR_ERROR } smma_vector_status;

/* The next row. In text blank lines and comments are skipped; a header key among the rows must say what the header
   said. After an error the next call goes on with the next line, but behind one that is too long, and in a binary file,
   there is none. */
smma_vector_status smma_vector_next(smma_vector_reader *reader, smma_row *row, smma_error *error);

/* As many of the next rows, `most` at most, as are at hand; into `rows`, of the header's layout, from `first` on, on
   all cores. None where smma_vector_next has to look. */
size_t smma_vector_take_rows(smma_vector_reader *reader, smma_rows *rows, size_t first, size_t most);

/* Next rows as the first ones of `rows`, up to its capacity. With each, unless `at` is NULL, where it stands. The rows
   count whatever is returned: SMMA_VECTOR_ROW where there may be more. */
smma_vector_status smma_vector_read_rows(smma_vector_reader *reader, smma_rows *rows, unsigned long long *at,
                                         size_t *count, smma_error *error);

/* Where the last row stands, from 1: the line of a text, the number of a binary file's row; and the word for that. */
unsigned long long smma_vector_place(const smma_vector_reader *reader);
const char *smma_vector_place_word(const smma_vector_reader *reader);

/* Whether the stream starts as a vector file. Text: the first lines are "# key: value" and one key is "instruction".
   Reads from the start and rewinds, so the stream must be a file's; for directories, where other files are passed over.
 */
bool smma_vector_is_binary(FILE *stream);
bool smma_vector_is_text(FILE *stream);

/* ---- Writing ---- */

typedef enum { SMMA_VECTOR_TEXT, SMMA_VECTOR_BINARY, SMMA_VECTOR_READMEMH, SMMA_VECTOR_FORMATS } smma_vector_format;

/* "text", "binary", "readmemh"; SMMA_VECTOR_FORMATS if there is none of this name. */
smma_vector_format smma_vector_format_from_text(const char *text);

/* Rows go into a file in parts of so many, which threads encode while another one appends. Of the calls below all but
   the last write a multiple of it. */
enum { SMMA_VECTOR_PART = 4096 };

typedef struct smma_vector_writer smma_vector_writer;

/* For a number of rows that is known at the end. */
#define SMMA_ROWS_LATER UINT64_MAX

/* Writes the header of a file that will have so many rows. With SMMA_ROWS_LATER a binary file's stream must be at the
   start of a file, as the number is put there behind all rows. The stream stays the caller's, who looks for its errors.
   NULL with one line, also without memory. */
smma_vector_writer *smma_vector_create(FILE *stream, smma_vector_format format, const smma_vector_header *header,
                                       uint64_t rows, smma_error *error);

/* What makes `count` rows from `first` on, counted from the start of the file, as the first ones of `rows`. On any
   thread. */
typedef void smma_vector_source(void *context, uint64_t first, size_t count, smma_rows *rows);

/* Makes rows `first` to first + count - 1 and writes them, on all cores; false with one line without memory. */
bool smma_vector_produce(smma_vector_writer *writer, const smma_instruction *instruction, uint64_t first, size_t count,
                         smma_vector_source *source, void *context, smma_error *error);

/* Writes the first `count` rows, on all cores; false with one line without memory. */
bool smma_vector_write_rows(smma_vector_writer *writer, const smma_rows *rows, size_t count, smma_error *error);

/* Writes what stands behind the rows, of which there are as many as were announced. False with one line. */
bool smma_vector_finish(smma_vector_writer *writer, smma_error *error);
void smma_vector_free(smma_vector_writer *writer);

#endif
