#include "io/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "host/locale.h"
#include "io/utf8.h"

/* Reports whether a terminal shows something for the code point, in its place. */
static bool is_shown(uint32_t point) {
  if (point < 0xa0) return point >= ' ' && point < 0x7f;
  return point != 0xad && !(point >= 0x200b && point <= 0x200f) && !(point >= 0x2028 && point <= 0x202e) &&
         !(point >= 0x2060 && point <= 0x206f) && !(point >= 0xd800 && point <= 0xf8ff) && point != 0xfeff &&
         !(point >= 0xfff0 && point <= 0xfffb) && (point & 0xfffe) != 0xfffe && point < 0xe0000;
}

void smma_make_printable(char *text) {
  while (*text) {
    uint32_t point;
    const int length = smma_utf8_decode(text, &point);
    const bool shown = length && is_shown(point);
    if (!shown) *text = '?';
    text += shown ? length : 1;
  }
}

bool smma_fail(smma_error *error, const char *format, ...) {
  smma_locale locale;
  va_list arguments;
  if (!error) return false;
  locale = smma_locale_enter();
  va_start(arguments, format);
  if (vsnprintf(error->text, sizeof error->text, format, arguments) < 0) error->text[0] = '\0';
  va_end(arguments);
  smma_locale_leave(locale);
  smma_make_printable(error->text);
  return false;
}
