/* Vector files: rows of recorded or computed dot-product-adds.

   "# key: value" header lines, then one row per line of hexadecimal encodings, separated by blanks:
   a[0..k-1] b[0..k-1] c [scale_a[..] scale_b[..]] d. */
#ifndef SMMA_ROWS_TEXT_H
#define SMMA_ROWS_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "io/error.h"
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

typedef struct smma_vector_reader smma_vector_reader;

/* Opens and reads the header. `path` is for messages; the stream stays the caller's. NULL on failure. */
smma_vector_reader *smma_vector_open(FILE *stream, const char *path, smma_vector_header *header, smma_error *error);

typedef enum { SMMA_VECTOR_ROW, SMMA_VECTOR_END, SMMA_VECTOR_ERROR } smma_vector_status;

/* The next row. Blank lines and comments are skipped; a header key among the rows must say what the header said. After
   an error the next call goes on with the next line, but behind one that is too long there is none. */
smma_vector_status smma_vector_next(smma_vector_reader *reader, smma_row *row, smma_error *error);

/* As many of the next rows, `most` at most, as are at hand and stand as they are written: each number with all its
   digits, a single blank between, no comments; into `rows`, of the header's layout, from `first` on, on all cores. None
   where smma_vector_next has to look. */
size_t smma_vector_take_rows(smma_vector_reader *reader, smma_rows *rows, size_t first, size_t most);

/* The line of the last row, from 1. */
unsigned long long smma_vector_line(const smma_vector_reader *reader);

void smma_vector_close(smma_vector_reader *reader);

/* Whether the stream starts with a vector file's header: the first lines are "# key: value" and one key is
   "instruction". Reads from the start and rewinds, so the stream must be a file's; for directories, where other .txt
   files are passed over. */
bool smma_vector_recognize(FILE *stream);

/* The instruction that a header names, checked against the header's own formats and K; NULL with one line. */
const smma_instruction *smma_instruction_of_header(const smma_vector_header *header, const char *path,
                                                   smma_error *error);

/* How a row under the header is laid out. */
smma_row_layout smma_vector_layout(const smma_vector_header *header);

/* The header of an instruction's rows. */
void smma_vector_header_of(const smma_instruction *instruction, smma_vector_header *header);

/* Writing. Every number has the digits of its format, lower case. */
void smma_vector_write_header(FILE *stream, const smma_vector_header *header);
void smma_vector_write_row(FILE *stream, const smma_row_layout *layout, const smma_row *row);

/* A row's characters, and the first `count` rows as so many each. */
size_t smma_vector_line_length(const smma_row_layout *layout);
void smma_vector_put_rows(char *text, const smma_rows *rows, size_t count);

/* Writes them; false without memory. */
bool smma_vector_write_rows(FILE *stream, const smma_rows *rows, size_t count);

/* A row without d. */
void smma_vector_write_operands(FILE *stream, const smma_row_layout *layout, const smma_row *row);

#endif
