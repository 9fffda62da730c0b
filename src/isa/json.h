/* The JSON of our own forms, custom units and plans: read here, not by a library, because every complaint names a line
   and a column, and libsoftmma depends on none. A small part of JSON: strings are of printable ASCII without escapes,
   numbers are whole. */
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

/* A value where it stands in the text, a word with its quotes. Members of an object and elements of a list follow each
   other: 0 ends, as the whole is nobody's. */
typedef struct {
  smma_json_kind kind;
  smma_span key, text; /* key: of an object's member, without its quotes */
  size_t first, next;
} smma_json_value;

/* A text that is read, and where a complaint about it goes. */
typedef struct {
  const char *origin, *start, *end;
  smma_error *error;      /* may be NULL */
  smma_json_value *value; /* the whole, an object, first */
  size_t count, room;
} smma_json;

/* Reads an object, "a custom unit" say. False with SMMA_INVALID_TEXT, "ORIGIN:LINE:COLUMN: what is wrong", or with
   SMMA_NO_MEMORY. Either way smma_json_free. */
bool smma_json_read(smma_json *json, const char *what, const char *origin, const char *text, size_t size,
                    smma_error *error);
void smma_json_free(smma_json *json);

/* Sets the error to SMMA_INVALID_TEXT with a line about what stands at a place of the text; false. */
bool smma_json_fail(const smma_json *json, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Where an object or list ends: its closing character. */
const char *smma_json_end(const smma_json_value *value);

/* The first member or element and the one behind; NULL where there is none. */
const smma_json_value *smma_json_first(const smma_json *json, const smma_json_value *of);
const smma_json_value *smma_json_next(const smma_json *json, const smma_json_value *behind);

/* The member of that key; NULL. */
const smma_json_value *smma_json_find(const smma_json *json, const smma_json_value *object, const char *key);

bool smma_span_is(smma_span span, const char *text);

/* A word without its quotes, anything else as it is. */
smma_span smma_json_span(const smma_json_value *value);

/* Whether it is the word `text`. */
bool smma_json_is(const smma_json_value *value, const char *text);

/* A number, which reading has seen to: at most 15 digits. */
int64_t smma_json_number(const smma_json_value *value);

/* The same as an int; false where it is none. */
bool smma_json_int(const smma_json_value *value, int *number);

/* How much of a span messages show: of its first line 60 characters at most. */
int smma_span_shown(smma_span span);

/* A span for "%.*s". */
#define SMMA_SHOWN(s) smma_span_shown(s), (s).at

/* A text that is written, of which as much as fits is kept. */
typedef struct {
  char *text;
  size_t size, length; /* length: of the whole */
} smma_json_writer;

void smma_json_put(smma_json_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
