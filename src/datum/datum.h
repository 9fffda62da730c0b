/* A tree of data: what a study found, or a file of ours holds, as texts, numbers, flags, lists and records. From it
   come JSON, Python's objects and reports. */
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
  SMMA_DATUM_COUNT, /* an integer of 64 bits, with its sign */
  SMMA_DATUM_REAL,  /* finite */
  SMMA_DATUM_TEXT,  /* UTF-8 */
  SMMA_DATUM_LIST,
  SMMA_DATUM_RECORD /* keeps the order of its keys */
} smma_datum_kind;

typedef struct smma_datum smma_datum;

/* ---- Making: a function that makes a datum returns NULL without memory. Who puts NULL into a list or record makes it
   incomplete, and with it what that is put into: one question at the end is enough. ---- */

smma_datum *smma_datum_null(void);
smma_datum *smma_datum_flag(bool flag);
smma_datum *smma_datum_count(int64_t count);

/* A finite value is a number. Others are the texts "inf", "-inf" and "nan", because JSON has no numbers for them. */
smma_datum *smma_datum_real(double value);

/* A copy; in a text that is not UTF-8 each byte outside ASCII becomes '?'. Null for NULL. */
smma_datum *smma_datum_text(const char *text);

/* A text by printf's rules. */
smma_datum *smma_datum_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

smma_datum *smma_datum_list(void);
smma_datum *smma_datum_record(void);

/* A list of `count` texts, and of `count` elements, each a smma_datum *, which belong to the list. */
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

/* Reports whether everything in it found memory; false for NULL. */
bool smma_datum_is_complete(const smma_datum *datum);

/* Accepts NULL. */
void smma_datum_free(smma_datum *datum);

/* ---- Reading. These functions accept NULL and a datum of another kind. ---- */

smma_datum_kind smma_datum_kind_of(const smma_datum *datum); /* NULL's is SMMA_DATUM_NULL */

/* How many elements a list or a record has; 0 otherwise. */
size_t smma_datum_size(const smma_datum *datum);

/* Returns an element by its number in a list or record, or by its key in a record; NULL if it does not exist. */
const smma_datum *smma_datum_at(const smma_datum *datum, size_t index);
const smma_datum *smma_datum_get(const smma_datum *record, const char *key);

/* The key of a record's element; NULL in lists. */
const char *smma_datum_key(const smma_datum *record, size_t index);

const char *smma_datum_text_of(const smma_datum *datum); /* NULL if it is no text */
bool smma_datum_flag_of(const smma_datum *datum);        /* false if it is no flag */
double smma_datum_real_of(const smma_datum *datum);      /* of a count or real; NaN otherwise */
int64_t smma_datum_integer_of(const smma_datum *datum);  /* 0 if it is no count */

/* False if it is no count, or a negative one; `*count` is left as it is then. */
bool smma_datum_count_of(const smma_datum *datum, uint64_t *count);

/* ---- JSON (RFC 8259) ---- */

/* Layouts: compact; one line with blanks; lines, indented by this number of blanks a level. */
enum { SMMA_JSON_COMPACT = -1, SMMA_JSON_ONE_LINE = 0, SMMA_JSON_LINES = 2 };

/* Writes it, without a line's end behind it. Doubles have the 17 digits that give back every bit. Returns false where
   the stream has failed. */
bool smma_datum_write(const smma_datum *datum, FILE *stream, int layout);

/* Writes reals with this number of significant digits. */
bool smma_datum_write_digits(const smma_datum *datum, FILE *stream, int layout, int digits);

/* Reads a text. Returns NULL with an error, "ORIGIN:LINE:COLUMN: what is wrong", if the text is not JSON, repeats a key
   of a record, or is nested more than 64 deep. Whole numbers of up to 63 bits become counts, other numbers reals. */
smma_datum *smma_datum_read(const char *origin, const char *text, size_t size, smma_error *error);

#endif
