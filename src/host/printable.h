/* Text from files and names, made safe for a terminal. */
#ifndef SMMA_HOST_PRINTABLE_H
#define SMMA_HOST_PRINTABLE_H

#include <stddef.h>

/* Returns the bytes of the printable character of UTF-8 that the text begins with, 1 to 4; 0 if it begins with a
   control character (C0, DEL or C1) or with bytes that are no UTF-8. Source: the Unicode Standard, table 3-7. */
static inline size_t smma_printable_bytes(const char *text) {
  const unsigned char *b = (const unsigned char *)text;
  const size_t size = b[0] < 0x80 ? 1 : b[0] < 0xc2 ? 0 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : b[0] < 0xf5 ? 4 : 0;
  if (size == 1) return b[0] >= ' ' && b[0] != 0x7f;
  for (size_t i = 1; i < size; i++)
    if ((b[i] & 0xc0) != 0x80) return 0;
  if ((b[0] == 0xc2 && b[1] < 0xa0) || (b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] >= 0xa0) ||
      (b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] >= 0x90))
    return 0;
  return size;
}

/* Replaces every byte that is no part of a printable character by '?'. */
static inline void smma_make_printable(char *text) {
  while (*text) {
    const size_t size = smma_printable_bytes(text);
    if (!size) *text = '?';
    text += size ? size : 1;
  }
}

#endif
