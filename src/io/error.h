/* One line that says what is wrong, where, and how to mend it. */
#ifndef SMMA_IO_ERROR_H
#define SMMA_IO_ERROR_H

#include <stdbool.h>

typedef struct {
  char text[1024];
} smma_error;

/* Writes the line (printf style) and returns false, so that a reader can `return smma_fail(...)`. Text too long for
   the line is cut, and smma_make_printable changes the rest. `error` may be NULL. */
bool smma_fail(smma_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says that there is no memory; false. */
static inline bool smma_fail_memory(smma_error *error) { return smma_fail(error, "out of memory"); }

/* Replaces by '?' what a terminal cannot show as a character, which names and text taken from files may hold: control
   characters, bytes that are no UTF-8, and characters that hide or reorder others. */
void smma_make_printable(char *text);

#endif
