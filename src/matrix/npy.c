/* The .npy format: NEP 1 and numpy.lib.format, versions 1.0, 2.0 and 3.0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "isa/format_name.h"
#include "matrix/shape.h"
#include "matrix/tensor.h"

#define SAVE_AGAIN "the header is damaged: save the array again with numpy.save"

/* The header's text, a Python dictionary; position and end count from the start of the file. */
typedef struct {
  const unsigned char *bytes;
  size_t position, end;
  const char *path;
  smma_error *error;
} cursor;

typedef struct {
  smma_format format;
  int bytes;
  bool big_endian, fortran_order;
  smma_shape shape;
  bool has_descr, has_fortran_order, has_shape;
  size_t shape_position;
} npy_header;

/* What a descr may say after its byte order. */
typedef struct {
  const char *type;
  smma_format format;
  int bytes;
} npy_type;

static const npy_type npy_types[] = {
    {"f2", SMMA_F16, 2},       {"f4", SMMA_F32, 4},       {"f8", SMMA_F64, 8},       {"f1", SMMA_NO_FORMAT, 1},
    {"u1", SMMA_U8, 1},        {"i1", SMMA_S8, 1},        {"i4", SMMA_S32, 4},       {"V1", SMMA_NO_FORMAT, 1},
    {"u2", SMMA_NO_FORMAT, 2}, {"i2", SMMA_NO_FORMAT, 2}, {"V2", SMMA_NO_FORMAT, 2},
};

static bool expected(cursor *c, const char *what) {
  if (c->position >= c->end)
    return smma_fail(c->error, "%s: byte %zu: expected %s, found the end of the header; " SAVE_AGAIN, c->path,
                     c->position, what);
  return smma_fail(c->error, "%s: byte %zu: expected %s, found byte 0x%02x; " SAVE_AGAIN, c->path, c->position, what,
                   c->bytes[c->position]);
}

static void skip_blanks(cursor *c) {
  while (c->position < c->end && strchr(" \t\r\n", c->bytes[c->position]) && c->bytes[c->position]) c->position++;
}

/* Skips blanks and, when it comes next, the character. */
static bool accept(cursor *c, char character) {
  skip_blanks(c);
  if (c->position >= c->end || c->bytes[c->position] != (unsigned char)character) return false;
  c->position++;
  return true;
}

static bool accept_word(cursor *c, const char *word) {
  size_t length = strlen(word);
  skip_blanks(c);
  if (c->end - c->position < length || memcmp(c->bytes + c->position, word, length) != 0) return false;
  c->position += length;
  return true;
}

/* A quoted string without escapes, of at most 31 characters. */
static bool parse_string(cursor *c, char text[32]) {
  skip_blanks(c);
  size_t start = c->position, length = 0;
  unsigned char quote = start < c->end ? c->bytes[start] : 0;
  if (quote != '\'' && quote != '"') return expected(c, "a quoted string");
  for (c->position++; c->position < c->end && c->bytes[c->position] != quote; c->position++) {
    unsigned char character = c->bytes[c->position];
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
      "accepted are f2, f4, f8, i1, u1, i4 and, as raw encodings, 8- and 16-bit integers and ml_dtypes' types; convert "
      "it, e.g. x.astype(np.float32)";
  char text[32];
  skip_blanks(c);
  size_t start = c->position;
  if (start < c->end && c->bytes[start] == '[')
    return smma_fail(c->error, "%s: byte %zu: the array's type is structured; %s", c->path, start, accepted);
  if (!parse_string(c, text)) return false;
  for (size_t i = 0; text[0] && i < sizeof npy_types / sizeof *npy_types; i++) {
    const npy_type *type = &npy_types[i];
    const char *orders = type->bytes == 1 ? "<>|=" : type->type[0] == 'V' ? "<>|" : "<>";
    if (strcmp(text + 1, type->type) != 0 || !strchr(orders, text[0])) continue;
    header->format = type->format;
    header->bytes = type->bytes;
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
  for (; c->position < c->end && c->bytes[c->position] >= '0' && c->bytes[c->position] <= '9'; c->position++) {
    size_t digit = (size_t)(c->bytes[c->position] - '0');
    if (!smma_multiply(value, 10, &value) || value > SIZE_MAX - digit)
      return smma_fail(c->error, "%s: byte %zu: a dimension does not fit %zu bits; " SAVE_AGAIN, c->path, start,
                       sizeof(size_t) * 8);
    value += digit;
  }
  if (c->position == start) return expected(c, "a dimension");
  if (c->bytes[start] == '0' && c->position > start + 1)
    return smma_fail(c->error, "%s: byte %zu: a dimension begins with 0; " SAVE_AGAIN, c->path, start);
  if (c->position < c->end && c->bytes[c->position] == 'L') c->position++; /* a long integer of Python 2 */
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
    if (shape->count == 1) return expected(c, "','"); /* (3) is a number, (3,) a tuple */
    if (!accept(c, ')')) return expected(c, "',' or ')'");
    break;
  }
  return true;
}

static bool parse_entry(cursor *c, npy_header *header) {
  static const struct {
    const char *key;
    bool (*parse)(cursor *, npy_header *);
    size_t seen; /* the npy_header's flag */
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

/* Finds the header's text behind the magic string, the version and the length. */
static bool find_header(cursor *c, size_t size) {
  const unsigned char *bytes = c->bytes;
  if (size < 8 || memcmp(bytes, "\x93NUMPY", 6) != 0)
    return smma_fail(c->error, "%s: byte 0: a .npy file begins with \\x93NUMPY and its version; this one does not",
                     c->path);
  if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
    return smma_fail(c->error, "%s: byte 6: version %d.%d of .npy is not known (1.0, 2.0 and 3.0 are); save it again",
                     c->path, bytes[6], bytes[7]);
  size_t length_bytes = bytes[6] == 1 ? 2 : 4, length = 0;
  c->position = 8 + length_bytes;
  if (size < c->position)
    return smma_fail(c->error, "%s: byte 8: %zu bytes of header length expected, %zu present; the file was cut short",
                     c->path, length_bytes, size - 8);
  for (size_t i = 0; i < length_bytes; i++) length |= (size_t)bytes[8 + i] << (8 * i);
  if (length > size - c->position)
    return smma_fail(c->error, "%s: byte %zu: %zu bytes of header expected, %zu present; the file was cut short",
                     c->path, c->position, length, size - c->position);
  c->end = c->position + length;
  return true;
}

/* Column-major to row-major, in place of a copy. */
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

/* The data's size must be what the shape says. */
static bool check_size(const cursor *c, size_t size, const npy_header *header, size_t elements) {
  char shape[SMMA_SHAPE_TEXT];
  size_t needed, present = size - c->end;
  smma_shape_text(&header->shape, shape);
  if (!smma_multiply(elements, (size_t)header->bytes, &needed))
    return smma_fail(c->error, "%s: byte %zu: shape %s has more elements than memory can hold; " SAVE_AGAIN, c->path,
                     header->shape_position, shape);
  if (present < needed)
    return smma_fail(c->error,
                     "%s: byte %zu: %zu bytes of data expected for shape %s, %zu present; the file was cut short: "
                     "copy or save it again",
                     c->path, c->end, needed, shape, present);
  if (present > needed)
    return smma_fail(c->error,
                     "%s: byte %zu: %zu bytes of data expected for shape %s, %zu present; save one array per file, "
                     "with numpy.save",
                     c->path, c->end, needed, shape, present);
  return true;
}

bool smma_npy_parse(const unsigned char *bytes, size_t size, const char *path, smma_tensor *tensor, smma_error *error) {
  cursor c = {.bytes = bytes, .position = 0, .end = 0, .path = path, .error = error};
  npy_header header = {.format = SMMA_NO_FORMAT};
  smma_tensor result = {.format = SMMA_NO_FORMAT};
  smma_error where; /* used as text: the place of the shape */
  size_t elements;
  if (!find_header(&c, size) || !parse_dictionary(&c, &header)) return false;
  smma_fail(&where, "%s: byte %zu", path, header.shape_position);
  if (!smma_shape_matrix(&header.shape, where.text, &result, &elements, error)) return false;
  if (!check_size(&c, size, &header, elements)) return false;
  result.format = header.format;
  result.bytes = header.bytes;
  if (!smma_tensor_allocate(&result, elements, path, error)) return false;
  smma_copy_elements(result.data, bytes + c.end, elements, result.bytes, header.big_endian);
  if (header.fortran_order && header.shape.count == 2 && !transpose(&result, elements, path, error)) return false;
  *tensor = result;
  return true;
}

/* The descr of what is written: NumPy's name of the format, or else raw bytes. */
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
    default: return tensor->bytes == 1 ? "<V1" : "<V2";
  }
}

/* Bytes of the smallest unsigned container; for raw elements, which have no format, 1 or 2 as the tensor says. */
static bool check_bytes(const smma_tensor *tensor, const char *path, smma_error *error) {
  int bits = smma_encoding_of(tensor->format).bits;
  int bytes = bits > 32 ? 8 : bits > 16 ? 4 : bits > 8 ? 2 : 1;
  if (tensor->format == SMMA_NO_FORMAT) bytes = tensor->bytes == 2 ? 2 : 1;
  if (tensor->bytes == bytes) return true;
  return smma_fail(error, "%s: cannot write: elements of format %s in %d bytes have no .npy type", path,
                   smma_format_text(tensor->format), tensor->bytes);
}

/* Version 1.0, padded with blanks so that the data begins at a multiple of 64. */
static void write_header(FILE *stream, const smma_tensor *tensor) {
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

/* The elements, little-endian, through a small buffer. */
static void write_elements(FILE *stream, const smma_tensor *tensor, size_t elements) {
  unsigned char buffer[8192];
  size_t width = (size_t)tensor->bytes, room = sizeof buffer / width;
  const unsigned char *from = tensor->data;
  while (elements > 0 && !ferror(stream)) {
    size_t count = elements < room ? elements : room;
    smma_copy_elements(buffer, from, count, tensor->bytes, false); /* its own inverse */
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
  write_header(output.stream, tensor);
  write_elements(output.stream, tensor, elements);
  return smma_output_commit(&output, error);
}
