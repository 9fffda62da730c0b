#include "io/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/* Reports whether a terminal shows something for the code point, in its place. */
static bool is_shown(uint32_t point) {
  if (point < 0xa0) return point >= ' ' && point < 0x7f;
  return point != 0xad && !(point >= 0x200b && point <= 0x200f) && !(point >= 0x2028 && point <= 0x202e) &&
         !(point >= 0x2060 && point <= 0x206f) && !(point >= 0xd800 && point <= 0xf8ff) && point != 0xfeff &&
         !(point >= 0xfff0 && point <= 0xfffb) && (point & 0xfffe) != 0xfffe && point < 0xe0000;
}

/* Returns the length of the UTF-8 character at `text` if it is shown; 0 if not, or if it is no UTF-8. */
static int shown_length(const unsigned char *text) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const int length =
      text[0] < 0x80 ? 1 : text[0] < 0xc2 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : text[0] < 0xf5 ? 4 : 0;
  uint32_t point = length < 2 ? text[0] : text[0] & (0x7f >> length);
  for (int i = 1; i < length; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
    point = point << 6 | (text[i] & 0x3f);
  }
  return length && point >= least[length] && is_shown(point) ? length : 0;
}

void smma_make_printable(char *text) {
  while (*text) {
    const int length = shown_length((const unsigned char *)text);
    if (!length) *text = '?';
    text += length ? length : 1;
  }
}

bool smma_fail(smma_error *error, const char *format, ...) {
  va_list arguments;
  if (!error) return false;
  va_start(arguments, format);
  if (vsnprintf(error->text, sizeof error->text, format, arguments) < 0) error->text[0] = '\0';
  va_end(arguments);
  smma_make_printable(error->text);
  return false;
}
