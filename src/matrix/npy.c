/* The .npy format: NEP 1 and numpy.lib.format, versions 1.0, 2.0 and 3.0. */
#include "matrix/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "io/input.h"
#include "isa/format_name.h"
#include "matrix/shape.h"
#include "matrix/tensor.h"

#define SAVE_AGAIN "the header is damaged: save the array again with numpy.save"

enum { MAGIC = 8 /* bytes of magic string and version */, HEADER_LIMIT = 1 << 20 };

/* A position in the header's text, which is a Python dictionary. `position` and `end` count bytes from the start of the
   file. */
typedef struct {
  const unsigned char *text;
  size_t start, position, end; /* start: position of the text's first byte */
  const char *path;
  smma_error *error;
} cursor;

static unsigned char here(const cursor *c) { return c->text[c->position - c->start]; }

typedef struct {
  smma_format format;
  int bytes;
  smma_integer_type integers;
  bool big_endian, fortran_order;
  smma_shape shape;
  bool has_descr, has_fortran_order, has_shape;
  size_t shape_position;
} npy_header;

/* The element type that a descr may name after its byte order. */
typedef struct {
  const char *type;
  smma_format format;
  int bytes;
  smma_integer_type integers;
} npy_type;

static const npy_type npy_types[] = {
    {"f2", SMMA_F16, 2, SMMA_NO_INTEGERS},
    {"f4", SMMA_F32, 4, SMMA_NO_INTEGERS},
    {"f8", SMMA_F64, 8, SMMA_NO_INTEGERS},
    {"f1", SMMA_E5M2, 1, SMMA_NO_INTEGERS}, /* ml_dtypes.float8_e5m2, the only one of its types with a name */
    {"V1", SMMA_NO_FORMAT, 1, SMMA_NO_INTEGERS},
    {"V2", SMMA_NO_FORMAT, 2, SMMA_NO_INTEGERS},
    {"b1", SMMA_B1, 1, SMMA_NO_INTEGERS},
    {"i1", SMMA_S8, 1, SMMA_SIGNED_INTEGERS},
    {"i2", SMMA_NO_FORMAT, 2, SMMA_SIGNED_INTEGERS},
    {"i4", SMMA_S32, 4, SMMA_SIGNED_INTEGERS},
    {"i8", SMMA_NO_FORMAT, 8, SMMA_SIGNED_INTEGERS},
    {"u1", SMMA_U8, 1, SMMA_UNSIGNED_INTEGERS},
    {"u2", SMMA_NO_FORMAT, 2, SMMA_UNSIGNED_INTEGERS},
    {"u4", SMMA_NO_FORMAT, 4, SMMA_UNSIGNED_INTEGERS},
    {"u8", SMMA_NO_FORMAT, 8, SMMA_UNSIGNED_INTEGERS},
};

static bool expected(cursor *c, const char *what) {
  if (c->position >= c->end)
    return smma_fail(c->error, "%s: byte %zu: expected %s, found the end of the header; " SAVE_AGAIN, c->path,
                     c->position, what);
  return smma_fail(c->error, "%s: byte %zu: expected %s, found byte 0x%02x; " SAVE_AGAIN, c->path, c->position, what,
                   here(c));
}

static void skip_blanks(cursor *c) {
  while (c->position < c->end && strchr(" \t\r\n", here(c)) && here(c)) c->position++;
}

/* Skips blanks. If `character` comes next, skips it and returns true. */
static bool accept(cursor *c, char character) {
  skip_blanks(c);
  if (c->position >= c->end || here(c) != (unsigned char)character) return false;
  c->position++;
  return true;
}

static bool accept_word(cursor *c, const char *word) {
  size_t length = strlen(word);
  skip_blanks(c);
  if (c->end - c->position < length || memcmp(c->text + (c->position - c->start), word, length) != 0) return false;
  c->position += length;
  return true;
}

/* Parses a quoted string without escapes, of at most 31 characters. */
static bool parse_string(cursor *c, char text[32]) {
  skip_blanks(c);
  size_t start = c->position, length = 0;
  unsigned char quote = start < c->end ? here(c) : 0;
  if (quote != '\'' && quote != '"') return expected(c, "a quoted string");
  for (c->position++; c->position < c->end && here(c) != quote; c->position++) {
    unsigned char character = here(c);
    if (character < ' ' || character > '~' || character == '\\') return expected(c, "a plain character");
    if (length == 31)
      return smma_fail(c->error, "%s: byte %zu: no name or type is this long; " SAVE_AGAIN, c->path, start);
    text[length++] = (char)character;
  }
  if (c->position >= c->end) return expected(c, "the closing quote");
  c->position++;
  text[length] = '\0';
  return true;
}

static bool parse_descr(cursor *c, npy_header *header) {
  static const char accepted[] =
      "accepted are f1 (E5M2), f2, f4, f8, integers i1 to i8 and u1 to u8, b1 and, as raw encodings, ml_dtypes' types; "
      "convert it, e.g. x.astype(np.float32)";
  char text[32];
  skip_blanks(c);
  size_t start = c->position;
  if (start < c->end && here(c) == '[')
    return smma_fail(c->error, "%s: byte %zu: the array's type is structured; %s", c->path, start, accepted);
  if (!parse_string(c, text)) return false;
  for (size_t i = 0; text[0] && i < sizeof npy_types / sizeof *npy_types; i++) {
    const npy_type *type = &npy_types[i];
    const char *orders = type->bytes == 1 ? "<>|=" : type->type[0] == 'V' ? "<>|" : "<>";
    if (strcmp(text + 1, type->type) != 0 || !strchr(orders, text[0])) continue;
    header->format = type->format;
    header->bytes = type->bytes;
    header->integers = type->integers;
    header->big_endian = text[0] == '>';
    return true;
  }
  return smma_fail(c->error, "%s: byte %zu: the array's type is '%s'; %s", c->path, start, text, accepted);
}

static bool parse_fortran_order(cursor *c, npy_header *header) {
  header->fortran_order = accept_word(c, "True");
  return header->fortran_order || accept_word(c, "False") || expected(c, "True or False");
}

static bool parse_extent(cursor *c, size_t *extent) {
  skip_blanks(c);
  size_t start = c->position, value = 0;
  for (; c->position < c->end && here(c) >= '0' && here(c) <= '9'; c->position++) {
    size_t digit = (size_t)(here(c) - '0');
    if (!smma_multiply(value, 10, &value) || value > SIZE_MAX - digit)
      return smma_fail(c->error, "%s: byte %zu: a dimension does not fit %zu bits; " SAVE_AGAIN, c->path, start,
                       sizeof(size_t) * 8);
    value += digit;
  }
  if (c->position == start) return expected(c, "a dimension");
  if (c->text[start - c->start] == '0' && c->position > start + 1)
    return smma_fail(c->error, "%s: byte %zu: a dimension begins with 0; " SAVE_AGAIN, c->path, start);
  if (c->position < c->end && here(c) == 'L') c->position++; /* a long integer of Python 2 ends with L */
  *extent = value;
  return true;
}

static bool parse_shape(cursor *c, npy_header *header) {
  smma_shape *shape = &header->shape;
  skip_blanks(c);
  header->shape_position = c->position;
  if (!accept(c, '(')) return expected(c, "'('");
  while (!accept(c, ')')) {
    if (shape->count == SMMA_SHAPE_LIMIT)
      return smma_fail(c->error, "%s: byte %zu: the shape has more than %d dimensions; one or two are accepted",
                       c->path, header->shape_position, SMMA_SHAPE_LIMIT);
    if (!parse_extent(c, &shape->extent[shape->count])) return false;
    shape->count++;
    if (accept(c, ',')) continue;
    if (shape->count == 1) return expected(c, "','"); /* (3) is a number, (3,) is a tuple */
    if (!accept(c, ')')) return expected(c, "',' or ')'");
    break;
  }
  return true;
}

static bool parse_entry(cursor *c, npy_header *header) {
  static const struct {
    const char *key;
    bool (*parse)(cursor *, npy_header *);
    size_t seen; /* offset of the flag in npy_header that the key was seen */
  } entries[] = {
      {"descr", parse_descr, offsetof(npy_header, has_descr)},
      {"fortran_order", parse_fortran_order, offsetof(npy_header, has_fortran_order)},
      {"shape", parse_shape, offsetof(npy_header, has_shape)},
  };
  char key[32];
  skip_blanks(c);
  size_t start = c->position;
  if (!parse_string(c, key)) return false;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    bool *seen = (bool *)((char *)header + entries[i].seen);
    if (strcmp(key, entries[i].key) != 0) continue;
    if (*seen) return smma_fail(c->error, "%s: byte %zu: '%s' comes twice; " SAVE_AGAIN, c->path, start, key);
    *seen = true;
    return accept(c, ':') ? entries[i].parse(c, header) : expected(c, "':'");
  }
  return smma_fail(c->error, "%s: byte %zu: '%s' is no key of a .npy header; " SAVE_AGAIN, c->path, start, key);
}

static bool parse_dictionary(cursor *c, npy_header *header) {
  if (!accept(c, '{')) return expected(c, "'{'");
  while (!accept(c, '}')) {
    if (!parse_entry(c, header)) return false;
    if (accept(c, ',')) continue;
    if (!accept(c, '}')) return expected(c, "',' or '}'");
    break;
  }
  size_t close = c->position - 1;
  skip_blanks(c);
  if (c->position < c->end) return expected(c, "only blanks after '}'");
  if (header->has_descr && header->has_fortran_order && header->has_shape) return true;
  return smma_fail(c->error, "%s: byte %zu: the header has no '%s'; " SAVE_AGAIN, c->path, close,
                   !header->has_descr           ? "descr"
                   : !header->has_fortran_order ? "fortran_order"
                                                : "shape");
}

/* Reads the magic string, the version and the length. c->position and c->end become the range of the header's text. */
static bool find_header(cursor *c, smma_input *input) {
  unsigned char bytes[MAGIC + 4];
  size_t got, length = 0;
  if (!smma_input_read(input, bytes, MAGIC, &got, c->error)) return false;
  if (got < MAGIC || memcmp(bytes, "\x93NUMPY", 6) != 0)
    return smma_fail(c->error, "%s: byte 0: a .npy file begins with \\x93NUMPY and its version; this one does not",
                     c->path);
  if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
    return smma_fail(c->error, "%s: byte 6: version %d.%d of .npy is not known (1.0, 2.0 and 3.0 are); save it again",
                     c->path, bytes[6], bytes[7]);
  const size_t length_bytes = bytes[6] == 1 ? 2 : 4;
  if (!smma_input_read(input, bytes + MAGIC, length_bytes, &got, c->error)) return false;
  if (got < length_bytes)
    return smma_fail(c->error, "%s: byte 8: %zu bytes of header length expected, %zu present; the file is truncated",
                     c->path, length_bytes, got);
  for (size_t i = 0; i < length_bytes; i++) length |= (size_t)bytes[MAGIC + i] << (8 * i);
  c->position = MAGIC + length_bytes;
  c->end = c->position + length;
  if (length <= HEADER_LIMIT) return true;
  return smma_fail(c->error, "%s: byte 8: a header of %zu bytes; those of matrices have at most %d: " SAVE_AGAIN,
                   c->path, length, HEADER_LIMIT);
}

/* Reads the header of the file into `header`. */
static bool read_header(smma_input *input, npy_header *header, size_t *data_start, smma_error *error) {
  cursor c = {.path = input->path, .error = error};
  size_t got, length, start;
  if (!find_header(&c, input)) return false;
  start = c.position, length = c.end - start;
  unsigned char *text = smma_input_take(input, length, &got, error);
  bool read = text != NULL;
  if (read && got < length)
    read = smma_fail(error, "%s: byte %zu: %zu bytes of header expected, %zu present; the file is truncated", c.path,
                     start, length, got);
  c.text = text, c.start = start;
  read = read && parse_dictionary(&c, header);
  free(text);
  *data_start = start + length;
  return read;
}

/* Transposes a column-major tensor to row-major; allocates the result and frees the original. */
static bool transpose(smma_tensor *tensor, size_t elements, const char *path, smma_error *error) {
  size_t rows = tensor->rows, columns = tensor->columns, width = (size_t)tensor->bytes;
  unsigned char *from = tensor->data;
  if (!smma_tensor_allocate(tensor, elements, path, error)) {
    free(from);
    return false;
  }
  unsigned char *to = tensor->data;
  for (size_t row = 0; elements > 0 && row < rows; row++)
    for (size_t column = 0; column < columns; column++, to += width)
      memcpy(to, from + (column * rows + row) * width, width);
  free(from);
  return true;
}

/* Sets an error about the size of the data; `present` is a number of bytes or "more". Returns false. */
static bool wrong_size(const smma_input *input, size_t start, const npy_header *header, size_t needed,
                       const char *present, bool too_few, smma_error *error) {
  char shape[SMMA_SHAPE_TEXT];
  smma_shape_text(&header->shape, shape);
  return smma_fail(
      error, "%s: byte %zu: %zu bytes of data expected for shape %s, %s present; %s", input->path, start, needed, shape,
      present, too_few ? "the file is truncated: copy or save it again" : "save one array per file, with numpy.save");
}

/* Reads the data, which must have exactly the size that the shape needs. Returns NULL on an error. */
static void *take_data(smma_input *input, size_t start, const npy_header *header, size_t needed, smma_error *error) {
  const bool known = input->size != SMMA_SIZE_UNKNOWN;
  unsigned char *data, next;
  char present[32] = "more";
  size_t got, surplus = 0;
  if (known && input->size - start != needed) {
    snprintf(present, sizeof present, "%llu", (unsigned long long)(input->size - start));
    wrong_size(input, start, header, needed, present, input->size - start < needed, error);
    return NULL;
  }
  data = smma_input_take(input, needed, &got, error);
  if (!data) return NULL;
  bool good = known || smma_input_read(input, &next, 1, &surplus, error);
  if (good && got == needed && !surplus) return data;
  if (got < needed) snprintf(present, sizeof present, "%zu", got);
  if (good) wrong_size(input, start, header, needed, present, got < needed, error);
  free(data);
  return NULL;
}

/* Reads the header and the shape. The data has `*size` bytes, from byte `*start`. */
static bool read_description(smma_input *input, npy_header *header, smma_tensor *tensor, size_t *elements,
                             size_t *start, size_t *size, smma_error *error) {
  smma_error where; /* its text is the beginning of messages: file and position of the shape */
  *header = (npy_header){.format = SMMA_NO_FORMAT};
  if (!read_header(input, header, start, error)) return false;
  smma_fail(&where, "%s: byte %zu", input->path, header->shape_position);
  tensor->format = header->format;
  tensor->bytes = header->bytes;
  tensor->integers = header->integers;
  if (!smma_shape_matrix(&header->shape, where.text, tensor, elements, error)) return false;
  return smma_multiply(*elements, (size_t)header->bytes, size) ||
         smma_fail(error, "%s: the shape has more elements than memory can hold; " SAVE_AGAIN, where.text);
}

bool smma_npy_read(smma_input *input, smma_tensor *tensor, smma_error *error) {
  npy_header header;
  smma_tensor result = {.format = SMMA_NO_FORMAT};
  size_t elements, start, size;
  if (!read_description(input, &header, &result, &elements, &start, &size, error)) return false;
  result.data = take_data(input, start, &header, size, error);
  if (!result.data) return false;
  smma_swap_elements(result.data, elements, result.bytes, header.big_endian);
  if (header.fortran_order && header.shape.count >= 2 && !transpose(&result, elements, input->path, error))
    return false;
  *tensor = result;
  return true;
}

bool smma_npy_layout_read(smma_input *input, smma_npy_layout *layout, smma_error *error) {
  npy_header header;
  smma_tensor matrix = {.format = SMMA_NO_FORMAT};
  size_t elements, size, start;
  char present[32];
  if (!read_description(input, &header, &matrix, &elements, &start, &size, error)) return false;
  if (input->size == SMMA_SIZE_UNKNOWN)
    return smma_fail(error, "%s: a pipe or device cannot be read in pieces; name a file", input->path);
  snprintf(present, sizeof present, "%llu", (unsigned long long)(input->size - start));
  if (input->size - start != size)
    return wrong_size(input, start, &header, size, present, input->size - start < size, error);
  *layout = (smma_npy_layout){header.format,
                              header.bytes,
                              matrix.rows,
                              matrix.columns,
                              start,
                              header.big_endian,
                              header.fortran_order && header.shape.count >= 2,
                              header.integers};
  return true;
}

/* Returns the descr of the file to write: NumPy's name of the format, otherwise that of raw bytes; NULL for raw
   elements of more than 2 bytes, which cannot be read back. */
static const char *descr_of(const smma_tensor *tensor) {
  switch (tensor->format) {
    case SMMA_F16: return "<f2";
    case SMMA_F32:
    case SMMA_TF32:
    case SMMA_E8M13: return "<f4";
    case SMMA_F64: return "<f8";
    case SMMA_S8: return "|i1";
    case SMMA_U8: return "|u1";
    case SMMA_S32: return "<i4";
    default: return tensor->bytes == 1 ? "<V1" : tensor->bytes == 2 ? "<V2" : NULL;
  }
}

/* Checks that elements have the size of the smallest unsigned container. Raw elements, which have no format, may have 1
   or 2 bytes. */
static bool check_bytes(const smma_tensor *tensor, const char *path, smma_error *error) {
  int bits = smma_encoding_of(tensor->format).bits;
  int bytes = bits > 32 ? 8 : bits > 16 ? 4 : bits > 8 ? 2 : 1;
  if (tensor->format == SMMA_NO_FORMAT) bytes = tensor->bytes == 2 ? 2 : 1;
  if (tensor->bytes == bytes && descr_of(tensor)) return true;
  return smma_fail(error, "%s: cannot write: elements of format %s in %d bytes have no .npy type", path,
                   smma_format_text(tensor->format), tensor->bytes);
}

void smma_npy_write_header(FILE *stream, const smma_tensor *tensor) {
  enum { PREFIX = 10 };
  char text[192];
  int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%zu, %zu), }",
                        descr_of(tensor), tensor->rows, tensor->columns);
  int padded = (PREFIX + length + 1 + 63) / 64 * 64 - PREFIX;
  fwrite("\x93NUMPY\1", 1, 7, stream);
  fputc(0, stream);
  fputc(padded & 0xff, stream);
  fputc(padded >> 8, stream);
  fprintf(stream, "%-*s\n", padded - 1, text);
}

/* Writes the elements in little-endian order, through a small buffer. */
static void write_elements(FILE *stream, const smma_tensor *tensor, size_t elements) {
  unsigned char buffer[8192];
  size_t width = (size_t)tensor->bytes, room = sizeof buffer / width;
  const unsigned char *from = tensor->data;
  while (elements > 0 && !ferror(stream)) {
    size_t count = elements < room ? elements : room;
    memcpy(buffer, from, count * width);
    smma_swap_elements(buffer, count, tensor->bytes, false); /* its own inverse */
    fwrite(buffer, width, count, stream);
    from += count * width;
    elements -= count;
  }
}

bool smma_npy_write(const char *path, const smma_tensor *tensor, smma_error *error) {
  smma_output output;
  size_t elements;
  if (!check_bytes(tensor, path, error)) return false;
  if (!smma_multiply(tensor->rows, tensor->columns, &elements))
    return smma_fail(error, "%s: cannot write: %zu x %zu elements exceed memory", path, tensor->rows, tensor->columns);
  if (!smma_output_open(path, &output, error)) return false;
  smma_npy_write_header(output.stream, tensor);
  write_elements(output.stream, tensor, elements);
  return smma_output_commit(&output, error);
}
