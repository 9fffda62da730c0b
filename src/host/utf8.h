/* UTF-8 (RFC 3629). */
#ifndef SMMA_HOST_UTF8_H
#define SMMA_HOST_UTF8_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Decodes the first character of `text`, a string that ends with a zero byte, into `*point`. Returns the character's
   length in bytes, or 0 if it is not valid UTF-8. */
static inline int smma_utf8_decode(const char *text, uint32_t *point) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *byte = (const unsigned char *)text;
  const int length = byte[0] < 0x80   ? 1
                     : byte[0] < 0xc2 ? 0
                     : byte[0] < 0xe0 ? 2
                     : byte[0] < 0xf0 ? 3
                     : byte[0] < 0xf5 ? 4
                                      : 0;
  *point = length < 2 ? byte[0] : byte[0] & (0x7fu >> length);
  for (int i = 1; i < length; i++) {
    if ((byte[i] & 0xc0) != 0x80) return 0;
    *point = *point << 6 | (byte[i] & 0x3f);
  }
  return *point >= least[length] && *point <= 0x10ffff && (*point & ~0x7ffu) != 0xd800 ? length : 0;
}

/* Removes the last character of `text` if it was cut, so that its last bytes are missing. */
static inline void smma_utf8_trim(char *text) {
  const size_t length = strlen(text);
  size_t first = length;
  uint32_t point;
  while (first > 0 && length - first < 3 && ((unsigned char)text[first - 1] & 0xc0) == 0x80) first--;
  if (first > 0 && (unsigned char)text[first - 1] >= 0xc2 && !smma_utf8_decode(text + first - 1, &point))
    text[first - 1] = 0;
}

/* Reports whether all of the text is UTF-8. */
static inline bool smma_is_utf8(const char *text) {
  uint32_t point;
  while (*text) {
    const int length = smma_utf8_decode(text, &point);
    if (!length) return false;
    text += length;
  }
  return true;
}

#endif
