/* Vector files as text: header lines "# key: value", then one row per line of hexadecimal encodings, separated by
   blanks: a[0..k-1] b[0..k-1] c [scale_a[..] scale_b[..]] d. vectors.h reads text and binary files. */
#ifndef SMMA_ROWS_TEXT_H
#define SMMA_ROWS_TEXT_H

#include "rows/vectors.h"

/* Number of digits of the widest format, and number of bytes of the longest line in which every number has the digits
   of its format. */
enum {
  SMMA_MOST_DIGITS = 16,
  SMMA_LONGEST_LINE = (2 * (SMMA_MAXIMUM_K + SMMA_MAXIMUM_ROUNDED_K) + 3) * (SMMA_MOST_DIGITS + 1)
};

static inline int smma_text_digits(smma_format format) { return (smma_encoding_of(format).bits + 3) / 4; }

/* The value of the key "flags" for each smma_tininess. */
extern const char *const smma_tininess_lines[];

typedef struct smma_text_reader smma_text_reader;

smma_text_reader *smma_text_open(FILE *stream, const char *path, smma_vector_header *header, smma_error *error);
smma_vector_status smma_text_next(smma_text_reader *reader, smma_row *row, smma_error *error);

/* Takes rows from the reader's buffer, as smma_vector_take_rows describes, but only rows in the form that this library
   writes: every number has all its digits, one blank separates numbers, and there are no comments. */
size_t smma_text_take_rows(smma_text_reader *reader, smma_rows *rows, size_t first, size_t most);
unsigned long long smma_text_line(const smma_text_reader *reader);
void smma_text_close(smma_text_reader *reader);

/* ---- Writing. Every number has the digits of its format, lower case. ---- */

void smma_text_write_header(FILE *stream, const smma_vector_header *header);
void smma_text_write_row(FILE *stream, const smma_row_layout *layout, const smma_row *row);

/* smma_text_line_length returns the length of a row's line. smma_text_put_rows writes the first `count` rows in lines
   of this length. */
size_t smma_text_line_length(const smma_row_layout *layout);
void smma_text_put_rows(char *text, const smma_rows *rows, size_t count);

/* Writes the first `count` rows; returns false when memory is short. */
bool smma_text_write_rows(FILE *stream, const smma_rows *rows, size_t count);

/* Writes the line of one row, without d. */
void smma_text_write_operands(FILE *stream, const smma_row_layout *layout, const smma_row *row);

/* ---- Files for SystemVerilog's $readmemh: comments, then one row per line as a single number, with d in the highest
   bits down to a[0] in the lowest, and underscores between elements. ---- */

void smma_readmemh_write_header(FILE *stream, const smma_vector_header *header);
void smma_readmemh_put_rows(char *text, const smma_rows *rows, size_t count);

/* ---- CSV: the header as comments, a line of column names, then one row per line of numbers such as 0x3c00. ---- */

void smma_csv_write_header(FILE *stream, const smma_vector_header *header);

/* Writes the names of the columns, separated by commas. */
void smma_csv_names(const smma_row_layout *layout, char *text, size_t size);
size_t smma_csv_line_length(const smma_row_layout *layout);
void smma_csv_put_rows(char *text, const smma_rows *rows, size_t count);

/* ---- JSON and JSON Lines. The first line is a record of the header's keys and this mark. In JSON its last key is
   "rows", a list that follows; each row is a record on a line of its own, after a comma. In JSON Lines each line is a
   record. ---- */

#define SMMA_JSON_MARK_KEY "\"file\""
#define SMMA_JSON_MARK_VALUE "\"softmma vectors\""

void smma_json_write_header(FILE *stream, const smma_vector_header *header);
size_t smma_json_line_length(const smma_row_layout *layout);
void smma_json_put_rows(char *text, const smma_rows *rows, size_t count);
void smma_jsonl_write_header(FILE *stream, const smma_vector_header *header);
size_t smma_jsonl_line_length(const smma_row_layout *layout);
void smma_jsonl_put_rows(char *text, const smma_rows *rows, size_t count);

/* Reports whether a part is a list in JSON, and not one number. */
static inline bool smma_is_list_in_json(int part) {
  return part != SMMA_PART_C && part != SMMA_PART_D && part != SMMA_PART_FLAGS;
}

#endif
