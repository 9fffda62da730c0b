/* Writes vector files as text, and files for $readmemh. */
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "isa/format_name.h"
#include "rows/text.h"

const char *const smma_tininess_lines[] = {[SMMA_TININESS_BEFORE_ROUNDING] = "tininess before rounding",
                                           [SMMA_TININESS_AFTER_ROUNDING] = "tininess after rounding"};

size_t smma_text_line_length(const smma_row_layout *layout) {
  size_t length = 0;
  for (int p = 0; p < SMMA_PARTS; p++) {
    const smma_part *part = &layout->part[p];
    if (part->count) length += (size_t)part->count * (size_t)(smma_text_digits(part->format) + 1);
  }
  return length;
}

/* Writes the header's lines, each after the comment mark `mark`. */
static void write_keys(FILE *stream, const char *mark, const smma_vector_header *h) {
  if (h->recorded_on[0]) fprintf(stream, "%s recorded on: %s\n", mark, h->recorded_on);
  fprintf(stream, "%s arch: %s\n%s instruction: %s\n%s k: %d\n", mark, h->arch, mark, h->instruction, mark, h->k);
  fprintf(stream, "%s a: %s\n%s b: %s\n", mark, smma_format_text(h->a), mark, smma_format_text(h->b));
  fprintf(stream, "%s c: %s\n%s d: %s\n", mark, smma_format_text(h->c), mark, smma_format_text(h->d));
  if (h->scale_block) fprintf(stream, "%s scale: %s per %d\n", mark, smma_format_text(h->scale), h->scale_block);
  if (h->wave) fprintf(stream, "%s wave: %d\n", mark, h->wave);
  if (h->fp16_ovfl) fprintf(stream, "%s fp16_ovfl: 1\n", mark);
  if (h->clamp) fprintf(stream, "%s clamp: 1\n", mark);
  if (h->tininess) fprintf(stream, "%s flags: %s\n", mark, smma_tininess_lines[h->tininess]);
}

void smma_text_write_header(FILE *stream, const smma_vector_header *header) {
  write_keys(stream, "#", header);
  fprintf(stream, "# columns: a[0..k-1] b[0..k-1] c %sd%s, raw encodings in hex\n",
          header->scale_block ? "scale_a[..] scale_b[..] " : "", header->tininess ? " flags" : "");
}

void smma_readmemh_write_header(FILE *stream, const smma_vector_header *header) {
  const smma_row_layout layout = smma_vector_layout(header);
  write_keys(stream, "//", header);
  fprintf(stream, "// typedef struct packed {\n");
  for (int p = SMMA_PARTS - 1; p >= 0; p--) {
    const smma_part *part = &layout.part[p];
    const int top = part->count ? 4 * smma_text_digits(part->format) - 1 : 0;
    if (part->count > 1) fprintf(stream, "//   logic [%d:0][%d:0] %s;\n", part->count - 1, top, part->name);
    if (part->count == 1) fprintf(stream, "//   logic [%d:0] %s;\n", top, part->name);
  }
  fprintf(stream, "// } row_t;\n");
}

#define HEX_DIGITS(first)                                                                                             \
  first "0" first "1" first "2" first "3" first "4" first "5" first "6" first "7" first "8" first "9" first "a" first \
        "b" first "c" first "d" first "e" first "f"

/* The two hexadecimal digits of each byte value: "000102...ff". */
static const char hex_of_byte[] = HEX_DIGITS("0") HEX_DIGITS("1") HEX_DIGITS("2") HEX_DIGITS("3") HEX_DIGITS("4")
    HEX_DIGITS("5") HEX_DIGITS("6") HEX_DIGITS("7") HEX_DIGITS("8") HEX_DIGITS("9") HEX_DIGITS("a") HEX_DIGITS("b")
        HEX_DIGITS("c") HEX_DIGITS("d") HEX_DIGITS("e") HEX_DIGITS("f");

/* Writes numbers of `digits` digits, each followed by a blank, from containers of `bytes` bytes (both constants at each
   call); returns the end of the text. */
static inline char *put_numbers(char *c, size_t bytes, const void *numbers, int count, int digits) {
  for (int i = 0; i < count; i++, *c++ = ' ') {
    const uint64_t number = smma_load(bytes, numbers, (size_t)i);
    if (digits % 2) *c++ = hex_of_byte[2 * (number >> 4 * (digits - 1) & 15) + 1];
    for (int shift = 4 * (digits & ~1) - 8; shift >= 0; shift -= 8, c += 2)
      memcpy(c, hex_of_byte + 2 * (number >> shift & 255), 2);
  }
  return c;
}

/* Calls put_numbers for a part's format. `numbers` are in the format's own containers if `own`, otherwise in those of
   smma_row. */
static inline char *put_part(char *c, bool own, const smma_part *part, const void *numbers) {
  switch (smma_text_digits(part->format)) {
    case 1: return put_numbers(c, own ? 1 : 8, numbers, part->count, 1);
    case 2: return put_numbers(c, own ? 1 : 8, numbers, part->count, 2);
    case 4: return put_numbers(c, own ? 2 : 8, numbers, part->count, 4);
    case 8: return put_numbers(c, own ? 4 : 8, numbers, part->count, 8);
    default: return put_numbers(c, 8, numbers, part->count, SMMA_MOST_DIGITS);
  }
}

/* Writes the first `parts` parts of a row as a line. */
static void write_parts(FILE *stream, const smma_row_layout *layout, const smma_row *row, int parts) {
  char text[SMMA_LONGEST_LINE], *c = text;
  for (int p = 0; p < parts; p++)
    if (layout->part[p].count) c = put_part(c, false, &layout->part[p], smma_part_in(row, &layout->part[p]));
  c[-1] = '\n';
  fwrite(text, 1, (size_t)(c - text), stream);
}

void smma_text_put_rows(char *text, const smma_rows *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (int p = 0; p < SMMA_PARTS; p++) {
      const smma_part *part = &rows->layout.part[p];
      if (part->count) text = put_part(text, true, part, rows->part[p] + i * (size_t)part->count * part->bytes);
    }
    text[-1] = '\n';
  }
}

void smma_readmemh_put_rows(char *text, const smma_rows *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (int p = SMMA_PARTS - 1; p >= 0; p--) {
      const smma_part *part = &rows->layout.part[p];
      smma_part one = *part;
      one.count = 1;
      for (size_t e = (size_t)part->count; e-- > 0; text[-1] = '_')
        text = put_part(text, true, &one, rows->part[p] + (i * (size_t)part->count + e) * part->bytes);
    }
    text[-1] = '\n';
  }
}

bool smma_text_write_rows(FILE *stream, const smma_rows *rows, size_t count) {
  const size_t length = smma_text_line_length(&rows->layout);
  char *text = malloc(count * length);
  if (!text) return false;
  smma_text_put_rows(text, rows, count);
  fwrite(text, 1, count * length, stream);
  free(text);
  return true;
}

void smma_text_write_row(FILE *stream, const smma_row_layout *layout, const smma_row *row) {
  write_parts(stream, layout, row, SMMA_PARTS);
}

void smma_text_write_operands(FILE *stream, const smma_row_layout *layout, const smma_row *row) {
  write_parts(stream, layout, row, SMMA_PART_D);
}
