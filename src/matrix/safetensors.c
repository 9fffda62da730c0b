#define _POSIX_C_SOURCE 200809L
/* The .safetensors format (huggingface/safetensors, README and tensor.rs): 8 bytes of header length, little-endian; a
   JSON object {name: {"dtype", "shape", "data_offsets": [begin, end]}}; the data, little-endian and row-major. */
#include "matrix/safetensors.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { PREFIX = 8, HEADER_LIMIT = 100000000 /* the limit of the reference implementation */ };

/* The shape counts elements, even if several elements share a byte. safetensors itself does not define the order within
   bytes. F4: the first of two elements is the low half (PyTorch, Float4_e2m1fn_x2.h; OCP MX 1.0). F6: a stream of 6-bit
   codes filled from the lowest bit, four in three bytes (ONNX, float6, "Packing and Unpacking"). Both follow one rule:
   element i is bits [w i, w i + w) of the data as one little-endian number. */
static const smma_archive_type types[] = {
    {"F64", SMMA_F64, 64, SMMA_NO_INTEGERS},
    {"F32", SMMA_F32, 32, SMMA_NO_INTEGERS},
    {"F16", SMMA_F16, 16, SMMA_NO_INTEGERS},
    {"BF16", SMMA_BF16, 16, SMMA_NO_INTEGERS},
    {"F8_E4M3", SMMA_E4M3, 8, SMMA_NO_INTEGERS},
    {"F8_E5M2", SMMA_E5M2, 8, SMMA_NO_INTEGERS},
    {"F8_E4M3FNUZ", SMMA_E4M3FNUZ, 8, SMMA_NO_INTEGERS},
    {"F8_E5M2FNUZ", SMMA_E5M2FNUZ, 8, SMMA_NO_INTEGERS},
    {"F8_E8M0", SMMA_UE8M0, 8, SMMA_NO_INTEGERS},
    {"F6_E2M3", SMMA_E2M3, 6, SMMA_NO_INTEGERS},
    {"F6_E3M2", SMMA_E3M2, 6, SMMA_NO_INTEGERS},
    {"F4", SMMA_E2M1, 4, SMMA_NO_INTEGERS},
    {"U8", SMMA_U8, 8, SMMA_UNSIGNED_INTEGERS},
    {"I8", SMMA_S8, 8, SMMA_SIGNED_INTEGERS},
    {"BOOL", SMMA_B1, 8, SMMA_NO_INTEGERS},
    {"I32", SMMA_S32, 32, SMMA_SIGNED_INTEGERS},
    {"U16", SMMA_NO_FORMAT, 16, SMMA_UNSIGNED_INTEGERS},
    {"I16", SMMA_NO_FORMAT, 16, SMMA_SIGNED_INTEGERS},
    {"U32", SMMA_NO_FORMAT, 32, SMMA_UNSIGNED_INTEGERS},
    {"I64", SMMA_NO_FORMAT, 64, SMMA_SIGNED_INTEGERS},
    {"U64", SMMA_NO_FORMAT, 64, SMMA_UNSIGNED_INTEGERS},
};

/* Reads the length of the header. Returns false, with an error, if it is invalid. */
static bool read_length(smma_archive *file, size_t *length) {
  unsigned char bytes[PREFIX];
  const uint64_t size = file->input->size;
  uint64_t value = 0;
  size_t got;
  if (!smma_input_read(file->input, bytes, PREFIX, &got, file->error)) return false;
  if (got < PREFIX)
    return smma_fail(file->error, "%s: byte 0: 8 bytes of header length expected, %zu present; the file is truncated",
                     file->path, got);
  for (int i = 0; i < PREFIX; i++) value |= (uint64_t)bytes[i] << (8 * i);
  *length = (size_t)value;
  file->data_start = PREFIX + *length;
  if (value > HEADER_LIMIT)
    return smma_fail(file->error,
                     "%s: byte 0: a header of %llu bytes is longer than the format allows (%d); this is no safetensors "
                     "file, or it is damaged",
                     file->path, (unsigned long long)value, HEADER_LIMIT);
  if (size != SMMA_SIZE_UNKNOWN && value > size - PREFIX)
    return smma_fail(file->error, "%s: byte 8: %llu bytes of header expected, %llu present; the file is truncated",
                     file->path, (unsigned long long)value, (unsigned long long)(size - PREFIX));
  file->data_size = size == SMMA_SIZE_UNKNOWN ? size : size - file->data_start;
  return true;
}

/* Returns the header's JSON, or NULL after an error. */
static smma_datum *read_json(smma_archive *file, size_t length) {
  smma_datum *json = NULL;
  smma_error cause;
  size_t got;
  char *text = smma_input_take(file->input, length, &got, file->error);
  if (text && got < length)
    smma_fail(file->error, "%s: byte 8: %zu bytes of header expected, %zu present; the file is truncated", file->path,
              length, got);
  else if (text && !(json = smma_datum_read("header (JSON from byte 8)", text, length, &cause)))
    smma_fail(file->error, "%s: %s; save the file again", file->path, cause.text);
  free(text);
  return json;
}

/* Parses the header. On failure archive->tensors is NULL. */
static bool read_header(smma_archive *file) {
  size_t length = 0;
  file->tensors = read_length(file, &length) ? read_json(file, length) : NULL;
  if (!file->tensors || smma_datum_kind_of(file->tensors) == SMMA_DATUM_RECORD) return file->tensors;
  smma_datum_free(file->tensors);
  file->tensors = NULL;
  return smma_fail(file->error, "%s: header (JSON from byte 8): an object of tensors expected; save the file again",
                   file->path);
}

/* ---- The tensors of the header ---- */

static const char metadata[] = "__metadata__";

size_t smma_archive_count(const smma_archive *file) {
  return smma_datum_size(file->tensors) - (smma_datum_get(file->tensors, metadata) != NULL);
}

const char *smma_archive_next(const smma_archive *file, size_t *at) {
  const char *name;
  while ((name = smma_datum_key(file->tensors, (*at)++)) && strcmp(name, metadata) == 0) continue;
  return name;
}

static bool damaged(const smma_archive *file, const char *name, const char *what) {
  return smma_fail(file->error, "%s: header (JSON from byte 8): tensor '%s': %s; save the file again", file->path, name,
                   what);
}

/* Reads a count that fits size_t. */
static bool read_count(const smma_datum *value, size_t *count) {
  uint64_t number;
  if (!smma_datum_count_of(value, &number) || number > SIZE_MAX) return false;
  *count = (size_t)number;
  return true;
}

/* Reads data_offsets of a tensor and checks that they lie within the data. */
static bool read_offsets(const smma_archive *file, const char *name, const smma_datum *tensor, size_t *begin,
                         size_t *end) {
  const smma_datum *offsets = smma_datum_get(tensor, "data_offsets");
  if (smma_datum_kind_of(offsets) != SMMA_DATUM_LIST || smma_datum_size(offsets) != 2 ||
      !read_count(smma_datum_at(offsets, 0), begin) || !read_count(smma_datum_at(offsets, 1), end))
    return damaged(file, name, "data_offsets must be two counts of bytes");
  if (*begin > *end) return damaged(file, name, "data_offsets begin after their end");
  if (*end > file->data_size)
    return smma_fail(file->error,
                     "%s: byte %zu: %zu bytes of data expected for tensor '%s', %llu present; the file is truncated: "
                     "copy or save it again",
                     file->path, file->data_start, *end, name, (unsigned long long)file->data_size);
  return true;
}

typedef struct {
  size_t begin, end;
} range;

static int by_begin(const void *x, const void *y) {
  const range *a = x, *b = y;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  return (a->end > b->end) - (a->end < b->end);
}

/* Checks that the tensors fill the data one after another, without gaps or overlaps, as the format requires. */
static bool check_ranges(smma_archive *file, range *ranges, size_t count) {
  size_t last = 0;
  qsort(ranges, count, sizeof *ranges, by_begin);
  for (size_t i = 0; i < count; last = ranges[i++].end)
    if (ranges[i].begin != last)
      return smma_fail(
          file->error,
          "%s: byte %zu: tensors overlap or leave a gap at byte %zu of the data; the file is damaged: copy "
          "or save it again",
          file->path, file->data_start + ranges[i].begin, ranges[i].begin);
  file->data_end = last;
  if (file->data_size == last || file->data_size == SMMA_SIZE_UNKNOWN) return true;
  return smma_fail(file->error,
                   "%s: byte %zu: %zu bytes of data expected for all tensors, %llu present; the file is damaged: copy "
                   "or save it again",
                   file->path, file->data_start, last, (unsigned long long)file->data_size);
}

static bool check_offsets(smma_archive *file) {
  const size_t all = smma_archive_count(file);
  range *ranges = calloc(all + 1, sizeof *ranges);
  size_t count = 0, at = 0;
  bool good = true;
  if (!ranges) return smma_fail(file->error, "%s: out of memory", file->path);
  for (const char *name; good && (name = smma_archive_next(file, &at)); count++)
    good = read_offsets(file, name, smma_datum_at(file->tensors, at - 1), &ranges[count].begin, &ranges[count].end);
  good = good && check_ranges(file, ranges, count);
  free(ranges);
  return good;
}

static const smma_archive_type *read_type(const smma_archive *file, const char *name) {
  const char *text = smma_datum_text_of(smma_datum_get(smma_datum_get(file->tensors, name), "dtype"));
  if (!text) {
    damaged(file, name, "dtype must be a string");
    return NULL;
  }
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(text, types[i].text) == 0) return &types[i];
  smma_fail(file->error,
            "%s: header (JSON from byte 8): tensor '%s' is of dtype %.32s; accepted are F64, F32, F16, BF16, F8_*, "
            "F6_*, F4, BOOL and the integers I8 to I64 and U8 to U64; convert it, e.g. x.to(torch.float32)",
            file->path, name, text);
  return NULL;
}

static bool read_shape(const smma_archive *file, const char *name, smma_shape *shape) {
  const smma_datum *extents = smma_datum_get(smma_datum_get(file->tensors, name), "shape");
  const size_t count = smma_datum_size(extents);
  if (smma_datum_kind_of(extents) != SMMA_DATUM_LIST) return damaged(file, name, "shape must be an array of counts");
  if (count > SMMA_SHAPE_LIMIT) return damaged(file, name, "the shape has more than 64 dimensions");
  shape->count = (int)count;
  for (size_t i = 0; i < count; i++)
    if (!read_count(smma_datum_at(extents, i), &shape->extent[i]))
      return damaged(file, name, "shape must be an array of counts");
  return true;
}

/* Checks that the offsets hold exactly the shape's elements, in whole bytes. */
static bool check_size(const smma_archive *file, const smma_archive_tensor *t) {
  const size_t present = t->end - t->begin;
  size_t elements = 1, bits;
  bool countable = true;
  for (int i = 0; i < t->shape.count; i++) countable &= smma_multiply(elements, t->shape.extent[i], &elements);
  if (!countable || !smma_multiply(elements, (size_t)t->type->bits, &bits))
    return damaged(file, t->name, "the shape has more elements than memory can hold");
  if (bits % 8 != 0)
    return smma_fail(file->error,
                     "%s: header (JSON from byte 8): tensor '%s': %zu elements of %s do not fill whole bytes; pad it "
                     "to an even number of "
                     "elements (F6: to a multiple of 4)",
                     file->path, t->name, elements, t->type->text);
  if (bits / 8 != present)
    return smma_fail(file->error,
                     "%s: header (JSON from byte 8): tensor '%s': %zu elements of %s take %zu bytes, but data_offsets "
                     "hold %zu; save the file again",
                     file->path, t->name, elements, t->type->text, bits / 8, present);
  return true;
}

bool smma_archive_describe(const smma_archive *file, const char *name, smma_archive_tensor *t) {
  t->name = name;
  return (t->type = read_type(file, name)) &&
         read_offsets(file, name, smma_datum_get(file->tensors, name), &t->begin, &t->end) &&
         read_shape(file, name, &t->shape) && check_size(file, t);
}

bool smma_archive_has(const smma_archive *file, const char *name) {
  return strcmp(name, metadata) != 0 && smma_datum_get(file->tensors, name);
}

/* ---- The data ---- */

static bool wrong_end(const smma_archive *file, const char *present) {
  return smma_fail(file->error,
                   "%s: byte %zu: %zu bytes of data expected for all tensors, %s present; save the file again",
                   file->path, file->data_start, file->data_end, present);
}

void *smma_archive_take(smma_archive *file, size_t begin, size_t end) {
  uint64_t skipped;
  size_t got = 0;
  void *data = NULL;
  if (smma_input_skip(file->input, begin - file->position, &skipped, file->error))
    data = smma_input_take(file->input, end - begin, &got, file->error);
  if (data && skipped + got == end - file->position) {
    file->position = end;
    return data;
  }
  if (data) wrong_end(file, "fewer");
  free(data);
  return NULL;
}

bool smma_archive_finish(smma_archive *file) {
  unsigned char next;
  uint64_t behind;
  size_t surplus;
  if (file->data_size != SMMA_SIZE_UNKNOWN) return true;
  if (!smma_input_skip(file->input, file->data_end - file->position, &behind, file->error) ||
      !smma_input_read(file->input, &next, 1, &surplus, file->error))
    return false;
  return (!surplus && file->position + behind == file->data_end) || wrong_end(file, surplus ? "more" : "fewer");
}

bool smma_archive_open(smma_input *input, smma_archive *file, smma_error *error) {
  *file = (smma_archive){.path = input->path, .input = input, .error = error};
  if (!read_header(file)) return false;
  if (check_offsets(file)) return true;
  smma_archive_close(file);
  return false;
}

void smma_archive_close(smma_archive *file) {
  smma_datum_free(file->tensors);
  file->tensors = NULL;
}
