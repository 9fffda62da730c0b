/* Vector files: test vectors of a dot-product-add, recorded or computed, as text, CSV, JSON, JSON Lines (text.h) or
   binary (binary.h), which are read alike, or for $readmemh, which is only written. docs/vector-files.md describes
   these forms. */
#ifndef SMMA_ROWS_VECTORS_H
#define SMMA_ROWS_VECTORS_H

#include <stdint.h>
#include <stdio.h>

#include "host/error.h"
#include "rows/rows.h"
#include "softmma/flags.h"

typedef struct {
  char arch[512], instruction[128]; /* arch: a custom unit's file name if the instruction is a custom unit */
  char recorded_on[128];            /* empty if the header does not have this key */
  smma_format a, b, c, d, scale;    /* scale: SMMA_NO_FORMAT if there are no scale factors */
  int k, scale_block;               /* scale_block: 0 if there are no scale factors */
  int wave;                         /* AMD RDNA: 32, 64, or 0 if the header does not say */
  int fp16_ovfl, clamp;             /* AMD RDNA: 1 if set */
  smma_tininess tininess;  /* when the rows' flags count a result as tiny; SMMA_TININESS_OF_UNIT: rows have no flags */
  unsigned long long line; /* the header's line that names the instruction, from 1; not written */
} smma_vector_header;

/* Returns the instruction that a header names, after checking it against the formats and K of the header, or NULL with
   one error line. */
const smma_instruction *smma_instruction_of_header(const smma_vector_header *header, const char *path,
                                                   smma_error *error);

/* Fills in the header for rows of an instruction. */
void smma_vector_header_of(const smma_instruction *instruction, smma_vector_header *header);

/* Returns an instruction with only the header's formats and sizes, for smma_rows_allocate_as. smma_vector_layout
   returns the layout of the header's rows, including flags. */
smma_instruction smma_vector_shape(const smma_vector_header *header);
smma_row_layout smma_vector_layout(const smma_vector_header *header);

/* ---- Reading ---- */

typedef struct smma_vector_reader smma_vector_reader;

/* Opens a vector file and reads its header. The first byte distinguishes binary files. In a binary file each block of
   rows is checked before any row of it is returned. A binary file from a pipe (at most 1 GiB) is first copied to a
   temporary file. `path` is for messages; the caller still owns the stream. Returns NULL on failure. */
smma_vector_reader *smma_vector_open(FILE *stream, const char *path, smma_vector_header *header, smma_error *error);
void smma_vector_close(smma_vector_reader *reader);

/* Sets `*rows` to the number of rows of a binary file. Returns false for a text file, whose header does not have the
   number. */
bool smma_vector_count(const smma_vector_reader *reader, uint64_t *rows);

typedef enum { SMMA_VECTOR_ROW, SMMA_VECTOR_END, SMMA_VECTOR_ERROR } smma_vector_status;

/* Reads the next row. In text, skips blank lines and comments; a header key among the rows must have the value it has
   in the header. After an error the next call continues with the next line, except after a line that is too long and in
   a binary file: there reading has ended. */
smma_vector_status smma_vector_next(smma_vector_reader *reader, smma_row *row, smma_error *error);

/* Reads rows that are already in the reader's buffer, at most `most`, into `rows` from index `first` on, using all
   cores. `rows` must have the header's layout. Returns their number; 0 if smma_vector_next has to read the next row. */
size_t smma_vector_take_rows(smma_vector_reader *reader, smma_rows *rows, size_t first, size_t most);

/* Reads the next rows into the start of `rows`, up to its capacity. Stores the position of each in `at` unless that is
   NULL. The rows read are valid whatever is returned; SMMA_VECTOR_ROW means that more may follow. */
smma_vector_status smma_vector_read_rows(smma_vector_reader *reader, smma_rows *rows, unsigned long long *at,
                                         size_t *count, smma_error *error);

/* Returns the position of the last row, from 1: the line of a text file, or the row number in a binary file.
   smma_vector_place_word returns "line" or "row". */
unsigned long long smma_vector_place(const smma_vector_reader *reader);
const char *smma_vector_place_word(const smma_vector_reader *reader);

/* Report whether the stream starts as a vector file: binary by its magic number; text, CSV, JSON and JSON Lines by a
   header that names an instruction, or by the mark of JSON. Every file that smma_vector_open opens is recognised. They
   read from the start and rewind, so the stream must be a regular file. Used to select the vector files in a
   directory. */
bool smma_vector_is_binary(FILE *stream);
bool smma_vector_is_text(FILE *stream);

/* ---- Writing ---- */

/* All but files for $readmemh can be read back. */
typedef enum {
  SMMA_VECTOR_TEXT,
  SMMA_VECTOR_BINARY,
  SMMA_VECTOR_READMEMH,
  SMMA_VECTOR_CSV,
  SMMA_VECTOR_JSON,
  SMMA_VECTOR_JSONL,
  SMMA_VECTOR_FORMATS
} smma_vector_format;

/* The names of all formats, separated by commas, as an error shows them. */
#define SMMA_VECTOR_FORMAT_NAMES "text, binary, readmemh, csv, json or jsonl"

/* Reads "text", "binary", "readmemh", "csv", "json" or "jsonl", or the ending of such files: "txt", "bin" or "hex".
   Returns SMMA_VECTOR_FORMATS for any other name. */
smma_vector_format smma_vector_format_from_text(const char *text);

/* Returns the format that the ending of a file's name stands for (".mem" is ".hex"); any other ending is text. `path`
   may be NULL. */
smma_vector_format smma_vector_format_of_file(const char *path);

/* Number of rows in a part. Threads encode parts while another thread appends them to the file. Every call of the
   functions below, except the last, must write a multiple of this number. */
enum { SMMA_VECTOR_PART = 4096 };

typedef struct smma_vector_writer smma_vector_writer;

/* Argument `rows` of smma_vector_create if the number of rows is known only at the end. */
#define SMMA_ROWS_LATER UINT64_MAX

/* Writes the header of a file that will have `rows` rows. With SMMA_ROWS_LATER the stream of a binary file must be at
   the start of a file, because the number is written there after all rows. The caller still owns the stream and checks
   it for errors. Returns NULL with one error line, also when memory is short. */
smma_vector_writer *smma_vector_create(FILE *stream, smma_vector_format format, const smma_vector_header *header,
                                       uint64_t rows, smma_error *error);

/* Generates `count` rows starting at `first`, counted from the start of the file, into the start of `rows`. Called on
   any thread. */
typedef void smma_vector_source(void *context, uint64_t first, size_t count, smma_rows *rows);

/* Generates rows `first` to first + count - 1 with `source` and writes them, on all cores. Returns false with one error
   line when memory is short. */
bool smma_vector_produce(smma_vector_writer *writer, const smma_instruction *instruction, uint64_t first, size_t count,
                         smma_vector_source *source, void *context, smma_error *error);

/* Writes the first `count` rows, on all cores; returns false with one error line when memory is short. */
bool smma_vector_write_rows(smma_vector_writer *writer, const smma_rows *rows, size_t count, smma_error *error);

/* Writes the end of the file. The number of vectors written must be the announced number. Returns false with one error
   line on failure. */
bool smma_vector_finish(smma_vector_writer *writer, smma_error *error);
void smma_vector_free(smma_vector_writer *writer);

#endif
