#include "io/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "host/printable.h"

bool smma_fail(smma_error *error, const char *format, ...) {
  va_list arguments;
  if (!error) return false;
  va_start(arguments, format);
  if (vsnprintf(error->text, sizeof error->text, format, arguments) < 0) error->text[0] = '\0';
  va_end(arguments);
  smma_make_printable(error->text);
  return false;
}
