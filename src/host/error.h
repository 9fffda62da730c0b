/* One line that says what is wrong, where, and how to mend it, with its status: smma_error of the public headers. */
#ifndef SMMA_HOST_ERROR_H
#define SMMA_HOST_ERROR_H

#include <stdbool.h>

#include "softmma/status.h"

/* In all functions `error` may be NULL. Lines are written printf style. Text too long for the line is cut, and
   smma_make_printable changes the rest. Functions that are not public set an error when they fail, and else leave it.
 */

/* Sets the error to SMMA_FAILED with that line and returns false, so that a reader can `return smma_fail(...)`. */
bool smma_fail(smma_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Like smma_fail, with a status. */
bool smma_fail_as(smma_error *error, smma_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Sets the error to SMMA_NO_MEMORY and returns false. */
bool smma_no_memory(smma_error *error);

/* Sets the error to that status and line and returns the status. */
smma_status smma_set_error(smma_error *error, smma_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the error to SMMA_OK and an empty text. */
void smma_clear_error(smma_error *error);

/* Sets the error's status and returns it. An error without text gets the status's own, if that is not SMMA_OK. */
smma_status smma_end_error(smma_error *error, smma_status status);

/* Replaces by '?' what a terminal cannot show as a character, which names and text taken from files may hold: control
   characters, bytes that are no UTF-8, and characters that hide or reorder others. */
void smma_make_printable(char *text);

#endif
