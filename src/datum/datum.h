/* A tree of data, which holds the result of a study or the contents of one of the project's files: texts, numbers,
   flags, lists and records. JSON, Python objects and reports are made from it. */
#ifndef SMMA_DATUM_DATUM_H
#define SMMA_DATUM_DATUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "host/error.h"

typedef enum {
  SMMA_DATUM_NULL,
  SMMA_DATUM_FLAG,
  SMMA_DATUM_COUNT, /* a signed 64-bit integer */
  SMMA_DATUM_REAL,  /* a finite double */
  SMMA_DATUM_TEXT,  /* UTF-8 */
  SMMA_DATUM_LIST,
  SMMA_DATUM_RECORD /* keeps the order of its keys */
} smma_datum_kind;

typedef struct smma_datum smma_datum;

/* ---- Making. A function that makes a datum returns NULL if memory runs out. Adding NULL to a list or record makes it,
   and every datum that contains it, incomplete. One call of smma_datum_is_complete at the end is therefore enough. ----
 */

smma_datum *smma_datum_null(void);
smma_datum *smma_datum_flag(bool flag);
smma_datum *smma_datum_count(int64_t count);

/* Makes a number of a finite value. Other values become the texts "inf", "-inf" and "nan", because JSON has no numbers
   for them. */
smma_datum *smma_datum_real(double value);

/* Makes a text by copying. In a text that is not UTF-8 each byte outside ASCII becomes '?'. NULL gives null. */
smma_datum *smma_datum_text(const char *text);

/* Makes a text by printf's rules. */
smma_datum *smma_datum_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

smma_datum *smma_datum_list(void);
smma_datum *smma_datum_record(void);

/* Makes a list that is to hold records, so that it is a table also while it is empty. */
smma_datum *smma_datum_table(void);

/* Reports whether the datum is a list of records. */
bool smma_datum_is_table(const smma_datum *datum);

/* smma_datum_texts makes a list of `count` strings. smma_datum_list_of makes a list of `count` arguments of type
   smma_datum *, and takes them over. */
smma_datum *smma_datum_texts(const char *const *text, size_t count);
smma_datum *smma_datum_list_of(size_t count, ...);

/* Appends a child to a list, or to a record under a new key. Copies the key. The parent frees the child later; a NULL
   parent frees it at once. */
void smma_datum_append(smma_datum *list, smma_datum *child);
void smma_datum_put(smma_datum *record, const char *key, smma_datum *child);

static inline void smma_put_flag(smma_datum *record, const char *key, bool flag) {
  smma_datum_put(record, key, smma_datum_flag(flag));
}

static inline void smma_put_count(smma_datum *record, const char *key, uint64_t count) {
  smma_datum_put(record, key, smma_datum_count((int64_t)count));
}

static inline void smma_put_real(smma_datum *record, const char *key, double value) {
  smma_datum_put(record, key, smma_datum_real(value));
}

static inline void smma_put_text(smma_datum *record, const char *key, const char *text) {
  smma_datum_put(record, key, smma_datum_text(text));
}

/* Reports whether memory sufficed for every part of the datum; false for NULL. */
bool smma_datum_is_complete(const smma_datum *datum);

/* Frees a datum and everything in it. Accepts NULL. */
void smma_datum_free(smma_datum *datum);

/* ---- Reading. These functions accept NULL and a datum of another kind. ---- */

smma_datum_kind smma_datum_kind_of(const smma_datum *datum); /* returns SMMA_DATUM_NULL for NULL */

/* Returns the number of elements of a list or a record; 0 for other kinds. */
size_t smma_datum_size(const smma_datum *datum);

/* Returns an element by its number in a list or record, or by its key in a record, or NULL if it does not exist. */
const smma_datum *smma_datum_at(const smma_datum *datum, size_t index);
const smma_datum *smma_datum_get(const smma_datum *record, const char *key);

/* Returns the key of a record's element; NULL for a list. */
const char *smma_datum_key(const smma_datum *record, size_t index);

const char *smma_datum_text_of(const smma_datum *datum); /* returns NULL if it is not a text */
bool smma_datum_flag_of(const smma_datum *datum);        /* returns false if it is not a flag */
double smma_datum_real_of(const smma_datum *datum);      /* returns the value of a count or real; NaN for other kinds */
int64_t smma_datum_integer_of(const smma_datum *datum);  /* returns 0 if it is not a count */

/* Reads a count that is not negative. Otherwise returns false and leaves `*count` unchanged. */
bool smma_datum_count_of(const smma_datum *datum, uint64_t *count);

/* ---- JSON (RFC 8259) ---- */

/* Layouts of JSON: without blanks; one line with blanks; several lines, each level indented by SMMA_JSON_LINES
   blanks. */
enum { SMMA_JSON_COMPACT = -1, SMMA_JSON_ONE_LINE = 0, SMMA_JSON_LINES = 2 };

/* Writes the datum as JSON, without a newline at the end. Reals have 17 digits, which restore every bit. Returns false
   if the stream has failed. */
bool smma_datum_write(const smma_datum *datum, FILE *stream, int layout);

/* Writes the datum as smma_datum_write does, but with `digits` significant digits for reals. */
bool smma_datum_write_digits(const smma_datum *datum, FILE *stream, int layout, int digits);

/* Writes a list of records, or the first one in a record, as CSV (RFC 4180) with a row for each record. The columns are
   the keys of all records; a value of a record within a record has the keys of both, separated by a dot. Null is an
   empty cell, and lists within records are omitted. Returns false with an error if there is no list of records, or if
   memory runs out; then nothing is written. */
bool smma_datum_write_csv(const smma_datum *datum, FILE *stream, smma_error *error);

/* Reads JSON. Returns NULL with an error, "ORIGIN:LINE:COLUMN: what is wrong", if the text is not JSON, repeats a key
   of a record, or is nested more than 64 deep. Whole numbers of up to 63 bits become counts, other numbers reals. */
smma_datum *smma_datum_read(const char *origin, const char *text, size_t size, smma_error *error);

#endif
