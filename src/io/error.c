#include "io/error.h"

#include <stdarg.h>
#include <stdio.h>

bool smma_fail(smma_error *error, const char *format, ...) {
  va_list arguments;
  if (!error) return false;
  va_start(arguments, format);
  if (vsnprintf(error->text, sizeof error->text, format, arguments) < 0) error->text[0] = '\0';
  va_end(arguments);
  for (char *c = error->text; *c; c++)
    if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
  return false;
}
