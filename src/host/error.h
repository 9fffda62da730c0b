/* Error messages: one line with the mistake, its place and how to correct it, with a status. The type is smma_error of
   the public headers. */
#ifndef SMMA_HOST_ERROR_H
#define SMMA_HOST_ERROR_H

#include <stdbool.h>

#include "softmma/status.h"

/* In all functions `error` may be NULL. Messages are formatted as by printf. Text that is too long is truncated, and
   smma_make_printable replaces unprintable characters. Functions that are not public set an error only when they fail.
 */

/* Sets the error to SMMA_FAILED with the message and returns false, so that a reader can `return smma_fail(...)`. */
bool smma_fail(smma_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets the error to this status and message, and returns false. */
bool smma_fail_as(smma_error *error, smma_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Sets the error to SMMA_NO_MEMORY and returns false. */
bool smma_no_memory(smma_error *error);

/* Sets the error to this status and message, and returns the status. */
smma_status smma_set_error(smma_error *error, smma_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the error to SMMA_OK and an empty text. */
void smma_clear_error(smma_error *error);

/* Sets the error's status and returns it. If the error has no text and the status is not SMMA_OK, the text becomes the
   sentence of the status. */
smma_status smma_end_error(smma_error *error, smma_status status);

/* Replaces every character that a terminal cannot show by '?': control characters, invalid UTF-8, and characters that
   hide or reorder others. Names and texts read from files may hold such characters. */
void smma_make_printable(char *text);

#endif
