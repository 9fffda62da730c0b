#include "rtl/writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Makes room for `more` bytes and a terminating zero. */
static bool grow(smma_rtl_writer *w, size_t more) {
  size_t size = w->size ? w->size : 4096;
  char *text;
  while (size < w->length + more + 1) size *= 2;
  if (size == w->size) return true;
  text = realloc(w->text, size);
  if (!text) return false;
  w->text = text;
  w->size = size;
  return true;
}

void smma_rtl_put(smma_rtl_writer *w, const char *format, ...) {
  va_list arguments;
  int length;
  va_start(arguments, format);
  length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (w->failed || length < 0 || !grow(w, (size_t)length)) {
    w->failed = true;
    return;
  }
  va_start(arguments, format);
  vsnprintf(w->text + w->length, (size_t)length + 1, format, arguments);
  va_end(arguments);
  w->length += (size_t)length;
}

const char *smma_rtl_text_of(const smma_rtl_writer *w) { return w->text ? w->text : ""; }

void smma_rtl_free(smma_rtl_writer *w) {
  free(w->text);
  *w = (smma_rtl_writer){.text = NULL};
}

smma_rtl_words smma_rtl_print(const char *format, ...) {
  smma_rtl_words words;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words.text, sizeof words.text, format, arguments);
  va_end(arguments);
  return words;
}

smma_rtl_words smma_rtl_signed(int bits, int value) {
  return smma_rtl_print("%s%d'sd%d", value < 0 ? "-" : "", bits, value < 0 ? -value : value);
}

smma_rtl_words smma_rtl_hex(int bits, uint64_t value) { return smma_rtl_print("%d'h%" PRIx64, bits, value); }

int smma_rtl_bits_for(int n) {
  int bits = 0;
  for (; n; n >>= 1) bits++;
  return bits;
}
