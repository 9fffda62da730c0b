/* Texts and messages that callers give room for. */
#ifndef SMMA_API_TEXT_H
#define SMMA_API_TEXT_H

#include <stddef.h>

/* Makes it empty and returns its size: 0 bytes where there is none. */
static inline size_t smma_start_text(char *text, size_t size) {
  if (!text) return 0;
  if (size) text[0] = 0;
  return size;
}

#endif
