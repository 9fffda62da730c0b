/* Text buffers that callers pass. */
#ifndef SMMA_API_TEXT_H
#define SMMA_API_TEXT_H

#include <stddef.h>

/* Makes the buffer an empty text and returns its size, which is 0 for NULL. */
static inline size_t smma_start_text(char *text, size_t size) {
  if (!text) return 0;
  if (size) text[0] = 0;
  return size;
}

#endif
