/* Writes vector files as text, and files for $readmemh. */
#include <stdlib.h>
#include <string.h>

#include "datum/datum.h"
#include "host/load.h"
#include "isa/ascii.h"
#include "isa/format_name.h"
#include "isa/key.h"
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

/* Writes one key of a header, with its value as text or, if `text` is NULL, the number. */
typedef void write_key(FILE *stream, const char *key, const char *text, int number);

/* Replaces every control character by '?'. A line end would begin a line of its own in the header. */
static void replace_controls(char *text) {
  for (; *text; text++)
    if (smma_is_control(*text)) *text = '?';
}

/* Writes the header's keys, in their order, by `write`. */
static void write_keys(FILE *stream, write_key *write, const smma_vector_header *header) {
  smma_vector_header copy = *header;
  const smma_vector_header *h = &copy;
  char scale[64];
  replace_controls(copy.recorded_on);
  replace_controls(copy.arch);
  replace_controls(copy.instruction);
  if (h->recorded_on[0]) write(stream, "recorded on", h->recorded_on, 0);
  write(stream, "arch", h->arch, 0);
  write(stream, "instruction", h->instruction, 0);
  write(stream, "k", NULL, h->k);
  write(stream, "a", smma_format_text(h->a), 0);
  write(stream, "b", smma_format_text(h->b), 0);
  write(stream, "c", smma_format_text(h->c), 0);
  write(stream, "d", smma_format_text(h->d), 0);
  snprintf(scale, sizeof scale, "%s per %d", smma_format_text(h->scale), h->scale_block);
  if (h->scale_block) write(stream, "scale", scale, 0);
  if (h->wave) write(stream, "wave", NULL, h->wave);
  if (h->fp16_ovfl) write(stream, "fp16_ovfl", NULL, 1);
  if (h->clamp) write(stream, "clamp", NULL, 1);
  if (h->tininess) write(stream, "flags", smma_tininess_lines[h->tininess], 0);
}

static void write_comment(FILE *stream, const char *mark, const char *key, const char *text, int number) {
  if (text)
    fprintf(stream, "%s %s: %s\n", mark, key, text);
  else
    fprintf(stream, "%s %s: %d\n", mark, key, number);
}

static void write_text_key(FILE *stream, const char *key, const char *text, int number) {
  write_comment(stream, "#", key, text, number);
}

static void write_readmemh_key(FILE *stream, const char *key, const char *text, int number) {
  write_comment(stream, "//", key, text, number);
}

void smma_text_write_header(FILE *stream, const smma_vector_header *header) {
  write_keys(stream, write_text_key, header);
  fprintf(stream, "# columns: a[0..k-1] b[0..k-1] c %sd%s, raw encodings in hex\n",
          header->scale_block ? "scale_a[..] scale_b[..] " : "", header->tininess ? " flags" : "");
}

void smma_readmemh_write_header(FILE *stream, const smma_vector_header *header) {
  const smma_row_layout layout = smma_vector_layout(header);
  write_keys(stream, write_readmemh_key, header);
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

/* Writes numbers of `digits` digits, each followed by a blank, from containers of `bytes` bytes (fast if both are
   constants); returns the end of the text. */
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
  const int digits = smma_text_digits(part->format);
  switch (digits) {
    case 1: return put_numbers(c, own ? 1 : 8, numbers, part->count, 1);
    case 2: return put_numbers(c, own ? 1 : 8, numbers, part->count, 2);
    case 4: return put_numbers(c, own ? 2 : 8, numbers, part->count, 4);
    case 8: return put_numbers(c, own ? 4 : 8, numbers, part->count, 8);
    case 16: return put_numbers(c, 8, numbers, part->count, 16);
    default: return put_numbers(c, own ? part->bytes : 8, numbers, part->count, digits);
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

/* ---- CSV ---- */

void smma_csv_names(const smma_row_layout *layout, char *text, size_t size) {
  *text = 0;
  for (int p = 0; p < SMMA_PARTS; p++)
    for (int i = 0; i < layout->part[p].count; i++) {
      const char *before = *text ? "," : "";
      if (layout->part[p].count == 1)
        smma_append_text(text, size, "%s%s", before, layout->part[p].name);
      else
        smma_append_text(text, size, "%s%s[%d]", before, layout->part[p].name, i);
    }
}

void smma_csv_write_header(FILE *stream, const smma_vector_header *header) {
  const smma_row_layout layout = smma_vector_layout(header);
  char names[SMMA_LONGEST_LINE];
  write_keys(stream, write_text_key, header);
  smma_csv_names(&layout, names, sizeof names);
  fprintf(stream, "%s\n", names);
}

/* Writes a text without its NUL, which could be beyond the room for the rows; returns the end. */
static char *put(char *c, const char *text) {
  const size_t length = strlen(text);
  memcpy(c, text, length);
  return c + length;
}

/* Writes the numbers of a part of a row, each between `before` and `after`, with `separator` between them; returns the
   end. `after` is not empty. */
static char *put_between(char *c, const smma_rows *rows, size_t row, int p, const char *before, const char *after,
                         const char *separator) {
  const smma_part *part = &rows->layout.part[p];
  smma_part one = *part;
  one.count = 1;
  for (size_t e = 0, count = (size_t)part->count; e < count; e++) {
    c = put(put(c, e ? separator : ""), before);
    c = put_part(c, true, &one, rows->part[p] + (row * count + e) * part->bytes);
    c = put(c - 1, after); /* instead of the blank */
  }
  return c;
}

size_t smma_csv_line_length(const smma_row_layout *layout) {
  size_t numbers = 0;
  for (int p = 0; p < SMMA_PARTS; p++) numbers += (size_t)layout->part[p].count;
  return smma_text_line_length(layout) + strlen("0x") * numbers;
}

void smma_csv_put_rows(char *text, const smma_rows *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (int p = 0; p < SMMA_PARTS; p++) text = put_between(text, rows, i, p, "0x", ",", "");
    text[-1] = '\n';
  }
}

/* ---- JSON ---- */

static void write_json_key(FILE *stream, const char *key, const char *text, int number) {
  smma_datum *value = text ? smma_datum_text(text) : smma_datum_count(number);
  fprintf(stream, "\"%s\": ", key);
  smma_datum_write(value, stream, SMMA_JSON_ONE_LINE);
  fputs(", ", stream);
  smma_datum_free(value);
}

void smma_json_write_header(FILE *stream, const smma_vector_header *header) {
  putc('{', stream);
  write_keys(stream, write_json_key, header);
  fputs(SMMA_JSON_MARK_KEY ": " SMMA_JSON_MARK_VALUE ", \"rows\": [", stream);
}

void smma_jsonl_write_header(FILE *stream, const smma_vector_header *header) {
  putc('{', stream);
  write_keys(stream, write_json_key, header);
  fputs(SMMA_JSON_MARK_KEY ": " SMMA_JSON_MARK_VALUE "}\n", stream);
}

/* Writes `{"a": ["3c00", "4000"], ..., "d": "40400000"}`; returns the end. */
static char *put_record(char *c, const smma_rows *rows, size_t row) {
  const char *before = "{\"";
  for (int p = 0; p < SMMA_PARTS; p++) {
    const smma_part *part = &rows->layout.part[p];
    const bool is_list = smma_is_list_in_json(p);
    if (!part->count) continue;
    c = put(put(put(c, before), part->name), is_list ? "\": [" : "\": ");
    c = put_between(c, rows, row, p, "\"", "\"", ", ");
    c = put(c, is_list ? "]" : "");
    before = ", \"";
  }
  return put(c, "}");
}

static size_t record_length(const smma_row_layout *layout) {
  size_t length = strlen("{}") - strlen(", ");
  for (int p = 0; p < SMMA_PARTS; p++) {
    const smma_part *part = &layout->part[p];
    if (!part->count) continue;
    length += strlen(", \"\": ") + strlen(part->name) + (smma_is_list_in_json(p) ? strlen("[]") : 0);
    length += (size_t)part->count * (strlen("\"\", ") + (size_t)smma_text_digits(part->format)) - strlen(", ");
  }
  return length;
}

size_t smma_json_line_length(const smma_row_layout *layout) { return strlen(",\n") + record_length(layout); }

void smma_json_put_rows(char *text, const smma_rows *rows, size_t count) {
  for (size_t i = 0; i < count; i++) text = put_record(put(text, ",\n"), rows, i);
}

size_t smma_jsonl_line_length(const smma_row_layout *layout) { return record_length(layout) + strlen("\n"); }

void smma_jsonl_put_rows(char *text, const smma_rows *rows, size_t count) {
  for (size_t i = 0; i < count; i++) text = put(put_record(text, rows, i), "\n");
}
