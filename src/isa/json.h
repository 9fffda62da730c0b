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

/* A value and its position in the text; the text of a string includes its quotes. Members of an object and elements of
   a list are linked by index. Index 0 ends a list, because the outermost value is never a member. */
typedef struct {
  smma_json_kind kind;
  smma_span key, text; /* key: of an object's member, without its quotes */
  size_t first, next;
} smma_json_value;

/* A text being read, and the error that receives its faults. */
typedef struct {
  const char *origin, *start, *end;
  smma_error *error;      /* may be NULL */
  smma_json_value *value; /* the first value is the outermost object */
  size_t count, room;
} smma_json;

/* Reads an object; `what` names it, for example "a custom unit". Returns false with SMMA_INVALID_TEXT and
   "ORIGIN:LINE:COLUMN: fault", or with SMMA_NO_MEMORY. Call smma_json_free in both cases. */
bool smma_json_read(smma_json *json, const char *what, const char *origin, const char *text, size_t size,
                    smma_error *error);
void smma_json_free(smma_json *json);

/* Sets the error to SMMA_INVALID_TEXT with a line about a position in the text; returns false. */
bool smma_json_fail(const smma_json *json, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the closing character of an object or list. */
const char *smma_json_end(const smma_json_value *value);

/* smma_json_first returns the first member or element of a value; smma_json_next returns the one after `behind`. Both
   return NULL if there is none. */
const smma_json_value *smma_json_first(const smma_json *json, const smma_json_value *of);
const smma_json_value *smma_json_next(const smma_json *json, const smma_json_value *behind);

/* Returns the member of that key, or NULL. */
const smma_json_value *smma_json_find(const smma_json *json, const smma_json_value *object, const char *key);

bool smma_span_is(smma_span span, const char *text);

/* Returns a string without its quotes, any other value unchanged. */
smma_span smma_json_span(const smma_json_value *value);

/* Returns a value as messages show it: as smma_json_span, but a number in quotes retains them. */
smma_span smma_json_shown(const smma_json_value *value);

/* Reports whether the value is the string `text`. */
bool smma_json_is(const smma_json_value *value, const char *text);

/* Returns a number. The reader has checked that it has at most 15 digits. */
int64_t smma_json_number(const smma_json_value *value);

/* Returns a number as an int, or false if it does not fit. */
bool smma_json_int(const smma_json_value *value, int *number);

/* Returns how much of a span a message shows: at most 60 characters of its first line. */
int smma_span_shown(smma_span span);

/* A span for "%.*s". */
#define SMMA_SHOWN(s) smma_span_shown(s), (s).at

/* A text being written; what exceeds `size` is counted and discarded. */
typedef struct {
  char *text;
  size_t size, length; /* length: of the whole text */
} smma_json_writer;

void smma_json_put(smma_json_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
