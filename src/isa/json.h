/* Reads and writes the JSON of custom units and plans. It is implemented here because every error names a line and a
   column, and because libsoftmma depends on no library. Only a small part of JSON is supported: strings of printable
   ASCII without escapes, and whole numbers. */
#ifndef SMMA_ISA_JSON_H
#define SMMA_ISA_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softmma/status.h"

typedef struct {
  const char *at;
  size_t length;
} smma_span;

typedef enum { SMMA_JSON_OBJECT, SMMA_JSON_LIST, SMMA_JSON_WORD, SMMA_JSON_NUMBER, SMMA_JSON_FLAG } smma_json_kind;

/* A value. Members of an object and elements of a list are linked by their indices in smma_json.value. Index 0 ends
   such a list, because the outermost value is never a member. */
typedef struct {
  smma_json_kind kind;
  smma_span key;      /* of an object's member: its key, without quotes */
  smma_span text;     /* the value in the text; a string includes its quotes */
  size_t first, next; /* indices of its first member or element, and of the next member or element after this value */
} smma_json_value;

/* A text being read, and the error that receives its faults. */
typedef struct {
  const char *origin; /* names the text in errors */
  const char *start, *end;
  smma_error *error;      /* may be NULL */
  smma_json_value *value; /* the first value is the outermost object */
  size_t count, room;
} smma_json;

/* Reads a text, which must be an object. `what` says for messages what the object is, for example "a custom unit". On
   failure returns false and sets the error: SMMA_INVALID_TEXT with "ORIGIN:LINE:COLUMN: fault", or SMMA_NO_MEMORY. Call
   smma_json_free in all cases. */
bool smma_json_read(smma_json *json, const char *what, const char *origin, const char *text, size_t size,
                    smma_error *error);
void smma_json_free(smma_json *json);

/* Sets the error to SMMA_INVALID_TEXT with a line about position `at` in the text. Returns false. */
bool smma_json_fail(const smma_json *json, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the position of the closing bracket of an object or list. */
const char *smma_json_end(const smma_json_value *value);

/* smma_json_first returns the first member or element of `of`; smma_json_next returns the member or element after
   `behind`. Both return NULL if there is none. */
const smma_json_value *smma_json_first(const smma_json *json, const smma_json_value *of);
const smma_json_value *smma_json_next(const smma_json *json, const smma_json_value *behind);

/* Returns the object's member with this key, or NULL. */
const smma_json_value *smma_json_find(const smma_json *json, const smma_json_value *object, const char *key);

bool smma_span_is(smma_span span, const char *text);

/* Returns the text of a value; a string without its quotes. */
smma_span smma_json_span(const smma_json_value *value);

/* Returns a value as messages show it: a string without its quotes, unless its text is a number. */
smma_span smma_json_shown(const smma_json_value *value);

/* Reports whether the value is the string `text`. */
bool smma_json_is(const smma_json_value *value, const char *text);

/* Returns the number of a SMMA_JSON_NUMBER. It fits, because the reader allows at most 15 digits. */
int64_t smma_json_number(const smma_json_value *value);

/* Sets `*number` to the number of a SMMA_JSON_NUMBER. Returns false if an int cannot hold it. */
bool smma_json_int(const smma_json_value *value, int *number);

/* Returns how many characters of a span a message shows: at most 60 of its first line. */
int smma_span_shown(smma_span span);

/* The two arguments that print a span by "%.*s". */
#define SMMA_SHOWN(s) smma_span_shown(s), (s).at

/* A text being written. */
typedef struct {
  char *text;
  size_t size;   /* bytes of `text`; what does not fit is discarded */
  size_t length; /* length of the whole text, with what did not fit */
} smma_json_writer;

void smma_json_put(smma_json_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
