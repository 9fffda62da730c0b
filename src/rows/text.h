/* Vector files as text: "# key: value" header lines, then one row per line of hexadecimal encodings, separated by
   blanks: a[0..k-1] b[0..k-1] c [scale_a[..] scale_b[..]] d. For reading see vectors.h, which reads binary files alike.
 */
#ifndef SMMA_ROWS_TEXT_H
#define SMMA_ROWS_TEXT_H

#include "rows/vectors.h"

typedef struct smma_text_reader smma_text_reader;

smma_text_reader *smma_text_open(FILE *stream, const char *path, smma_vector_header *header, smma_error *error);
smma_vector_status smma_text_next(smma_text_reader *reader, smma_row *row, smma_error *error);

/* As smma_vector_take_rows: rows that stand as they are written, each number with all its digits, a single blank
   between, no comments. */
size_t smma_text_take_rows(smma_text_reader *reader, smma_rows *rows, size_t first, size_t most);
unsigned long long smma_text_line(const smma_text_reader *reader);
void smma_text_close(smma_text_reader *reader);

/* ---- Writing. Every number has the digits of its format, lower case. ---- */

void smma_text_write_header(FILE *stream, const smma_vector_header *header);
void smma_text_write_row(FILE *stream, const smma_row_layout *layout, const smma_row *row);

/* A row's characters, and the first `count` rows as so many each. */
size_t smma_text_line_length(const smma_row_layout *layout);
void smma_text_put_rows(char *text, const smma_rows *rows, size_t count);

/* Writes them; false without memory. */
bool smma_text_write_rows(FILE *stream, const smma_rows *rows, size_t count);

/* A row without d. */
void smma_text_write_operands(FILE *stream, const smma_row_layout *layout, const smma_row *row);

/* ---- The same for SystemVerilog's $readmemh: comments, then a row per line as one number, from d at its top down to
   a[0] in its lowest bits, with underscores between elements. ---- */

void smma_readmemh_write_header(FILE *stream, const smma_vector_header *header);
void smma_readmemh_put_rows(char *text, const smma_rows *rows, size_t count);

#endif
