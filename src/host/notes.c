#include "host/notes.h"

#include <stdarg.h>
#include <stdio.h>

void smma_say(const smma_notes *notes, const char *format, ...) {
  char text[4096];
  va_list arguments;
  if (!notes || !notes->say) return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  notes->say(text, notes->context);
}
