/* The reader of vector files as text, CSV, JSON and JSON Lines: what its files share. text_lines.c reads
   lines, text_header.c the header's keys, text.c the rows of text, text_rows.c many rows of text at once, and
   text_forms.c CSV and JSON. */
#ifndef SMMA_ROWS_TEXT_READER_H
#define SMMA_ROWS_TEXT_READER_H

#include <string.h>

#include "rows/text.h"

enum {
  SMMA_LINE_LIMIT = 65536,        /* a row has at most 643 numbers of 16 digits; the rest is room for leading zeros */
  SMMA_LINES_WITHOUT_ROW = 10000, /* limit of consecutive comments and blank lines */
  SMMA_CHUNK = 1 << 21,           /* number of bytes read together */
  SMMA_BEHIND_LINE = 16,          /* number of bytes behind a line that SIMD vectors may read */
  SMMA_KEY_VALUE_SIZE = sizeof((smma_vector_header *)NULL)->arch /* the longest value of a header */
};

typedef enum {
  SMMA_KEY_ARCH,
  SMMA_KEY_INSTRUCTION,
  SMMA_KEY_K,
  SMMA_KEY_A,
  SMMA_KEY_B,
  SMMA_KEY_C,
  SMMA_KEY_D,
  SMMA_KEY_SCALE, /* this key and all that follow are optional */
  SMMA_KEY_RECORDED_ON,
  SMMA_KEY_WAVE, /* modifiers of AMD's instructions that are not part of the name */
  SMMA_KEY_FP16_OVFL,
  SMMA_KEY_CLAMP,
  SMMA_KEY_FLAGS,
  SMMA_KEY_COUNT
} smma_text_key;

/* The name of each key in a header. */
extern const char *const smma_text_keys[SMMA_KEY_COUNT];

/* The forms that this reader reads. */
typedef enum { SMMA_FORM_TEXT, SMMA_FORM_CSV, SMMA_FORM_JSON, SMMA_FORM_JSONL } smma_text_form;

struct smma_text_reader {
  FILE *stream;
  smma_text_form form;
  char *path;
  smma_vector_header header;
  smma_row_layout layout;
  char values[SMMA_KEY_COUNT][SMMA_KEY_VALUE_SIZE]; /* value of each key as written; empty: the key was not seen */
  bool in_rows;                                     /* the header is complete */
  bool closed;                                      /* in JSON: the list of rows has ended */
  bool together;                                    /* rows were taken on several threads */
  bool pending;                                     /* `text` holds a row that was not returned yet */
  bool ended;    /* the line ended with a newline; the last line of a file may lack it */
  bool too_long; /* no line end within the limit; reading stops there */
  unsigned long long line;
  size_t length;
  char text[SMMA_LINE_LIMIT];
  size_t taken, filled;                      /* bytes of `chunk` that were used, and bytes that it has */
  char chunk[SMMA_CHUNK + SMMA_BEHIND_LINE]; /* data read from the stream */
};

/* A section of a line; it has no terminating zero. */
typedef struct {
  const char *text;
  size_t length;
} smma_span;

static inline bool smma_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static inline smma_span smma_trim(smma_span s) {
  for (; s.length > 0 && smma_is_blank(s.text[0]); s.length--) s.text++;
  while (s.length > 0 && smma_is_blank(s.text[s.length - 1])) s.length--;
  return s;
}

static inline bool smma_span_equals(smma_span s, const char *text) {
  return s.length == strlen(text) && memcmp(s.text, text, s.length) == 0;
}

/* Splits "# key: value"; returns false for a comment without a key. */
bool smma_split_key(smma_span line, smma_span *key, smma_span *value);

/* Sets an error at a position in the current line; returns false. */
__attribute__((format(printf, 4, 5))) bool smma_text_fail(const smma_text_reader *reader, const char *place,
                                                          smma_error *error, const char *format, ...);

/* Reads one line into reader->text, without its line end. Returns SMMA_VECTOR_ROW for any line. */
smma_vector_status smma_text_read_line(smma_text_reader *reader, smma_error *error);

/* Reads up to the next line that is neither blank nor a comment. */
smma_vector_status smma_text_next_line(smma_text_reader *reader, smma_error *error);

/* Sets a key's value. A repeated key must have the same value, also between rows, so that files of one instruction can
   be concatenated. */
bool smma_text_set_key(smma_text_reader *reader, smma_text_key key, smma_span value, smma_error *error);

/* Reads a line that begins with '#'. Ignores unknown keys. */
bool smma_text_take_comment(smma_text_reader *reader, smma_span line, smma_error *error);

/* Checks that all required keys are present and that the scale block fits k. */
bool smma_text_check_header(const smma_text_reader *reader, smma_error *error);

/* Checks CSV's line of column names. */
bool smma_csv_check_names(const smma_text_reader *reader, smma_error *error);

/* Replaces commas and 0x of CSV by blanks, so that the line becomes one of text with its numbers in their places. Fails
   if a cell before the last number is empty, or if a cell has several numbers. */
bool smma_csv_blank_separators(smma_text_reader *reader, smma_error *error);

/* Reads the first line of JSON or JSON Lines. In JSON it ends within the list of rows. */
bool smma_json_read_header(smma_text_reader *reader, smma_error *error);

/* Reads the row of the line. SMMA_VECTOR_END: the line ends the list of rows. */
smma_vector_status smma_json_take_row(smma_text_reader *reader, smma_row *row, smma_error *error);

#endif
