/* Text that grows, and the constants of SystemVerilog. */
#ifndef SMMA_RTL_WRITER_H
#define SMMA_RTL_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text in memory. If memory runs out, `failed` is set and later text is dropped. */
typedef struct {
  char *text;
  size_t size, length;
  bool failed;
} smma_rtl_writer;

/* Appends text, formatted as by printf. */
void smma_rtl_put(smma_rtl_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the text, which is empty if nothing was written. */
const char *smma_rtl_text_of(const smma_rtl_writer *w);

void smma_rtl_free(smma_rtl_writer *w);

/* A constant or an expression of SystemVerilog. */
typedef struct {
  char text[400];
} smma_rtl_words;

/* Returns printf's text. */
smma_rtl_words smma_rtl_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns a signed constant of `bits` bits: 10'sd25, -10'sd133. */
smma_rtl_words smma_rtl_signed(int bits, int value);

/* Returns an encoding: 32'h7fffffff. */
smma_rtl_words smma_rtl_hex(int bits, uint64_t value);

/* Returns the number of bits of n > 0 in binary: 3 for 4. */
int smma_rtl_bits_for(int n);

#endif
