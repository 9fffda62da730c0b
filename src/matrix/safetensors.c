#define _POSIX_C_SOURCE 200809L
/* The .safetensors format (huggingface/safetensors, README and tensor.rs): 8 bytes of header length, little-endian; a
   JSON object {name: {"dtype", "shape", "data_offsets": [begin, end]}}; the data, little-endian and row-major. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "datum/datum.h"
#include "isa/nearest.h"
#include "matrix/shape.h"
#include "matrix/tensor.h"

enum { PREFIX = 8, HEADER_LIMIT = 100000000 /* the limit of the reference implementation */ };

typedef struct {
  const char *text;
  smma_format format;
  int bits;
  smma_integer_type integers;
} dtype;

/* The shape counts elements, even if several elements share a byte. safetensors itself does not define the order within
   bytes. F4: the first of two elements is the low half (PyTorch, Float4_e2m1fn_x2.h; OCP MX 1.0). F6: a stream of 6-bit
   codes filled from the lowest bit, four in three bytes (ONNX, float6, "Packing and Unpacking"). Both follow one rule:
   element i is bits [w i, w i + w) of the data as one little-endian number. */
static const dtype dtypes[] = {
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

/* A file with its parsed header. `tensors` is the header's JSON object; its member "__metadata__" is not a tensor. */
typedef struct {
  const char *path;
  smma_input *input;
  size_t data_start;  /* position in the file */
  uint64_t data_size; /* SMMA_SIZE_UNKNOWN for a pipe */
  size_t data_end;    /* end of the last tensor, counted from the start of the data */
  smma_datum *tensors;
  smma_error *error;
} archive;

/* Reads the length of the header. Returns false, with an error, if it is invalid. */
static bool read_length(archive *file, size_t *length) {
  unsigned char bytes[PREFIX];
  const uint64_t size = file->input->size;
  uint64_t said = 0;
  size_t got;
  if (!smma_input_read(file->input, bytes, PREFIX, &got, file->error)) return false;
  if (got < PREFIX)
    return smma_fail(file->error, "%s: byte 0: 8 bytes of header length expected, %zu present; the file was cut short",
                     file->path, got);
  for (int i = 0; i < PREFIX; i++) said |= (uint64_t)bytes[i] << (8 * i);
  *length = (size_t)said;
  file->data_start = PREFIX + *length;
  if (said > HEADER_LIMIT)
    return smma_fail(file->error,
                     "%s: byte 0: a header of %llu bytes is longer than the format allows (%d); this is no safetensors "
                     "file, or it is damaged",
                     file->path, (unsigned long long)said, HEADER_LIMIT);
  if (size != SMMA_SIZE_UNKNOWN && said > size - PREFIX)
    return smma_fail(file->error, "%s: byte 8: %llu bytes of header expected, %llu present; the file was cut short",
                     file->path, (unsigned long long)said, (unsigned long long)(size - PREFIX));
  file->data_size = size == SMMA_SIZE_UNKNOWN ? size : size - file->data_start;
  return true;
}

/* Returns the header's JSON; NULL after an error. */
static smma_datum *read_json(archive *file, size_t length) {
  smma_datum *json = NULL;
  smma_error cause;
  size_t got;
  char *text = smma_input_take(file->input, length, &got, file->error);
  if (text && got < length)
    smma_fail(file->error, "%s: byte 8: %zu bytes of header expected, %zu present; the file was cut short", file->path,
              length, got);
  else if (text && !(json = smma_datum_read("header (JSON from byte 8)", text, length, &cause)))
    smma_fail(file->error, "%s: %s; save the file again", file->path, cause.text);
  free(text);
  return json;
}

/* Parses the header. On failure archive->tensors is NULL. */
static bool read_header(archive *file) {
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

static size_t count_tensors(const archive *file) {
  return smma_datum_size(file->tensors) - (smma_datum_get(file->tensors, metadata) != NULL);
}

/* Finds the next tensor, beginning at member `*at` of the header, and moves `*at` past it. Returns NULL after the last.
 */
static const char *next_tensor(const archive *file, size_t *at) {
  const char *name;
  while ((name = smma_datum_key(file->tensors, (*at)++)) && strcmp(name, metadata) == 0) continue;
  return name;
}

static bool damaged(const archive *file, const char *name, const char *what) {
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

/* Reads data_offsets and checks that they lie within the data. */
static bool read_offsets(const archive *file, const char *name, size_t *begin, size_t *end) {
  const smma_datum *offsets = smma_datum_get(smma_datum_get(file->tensors, name), "data_offsets");
  if (smma_datum_kind_of(offsets) != SMMA_DATUM_LIST || smma_datum_size(offsets) != 2 ||
      !read_count(smma_datum_at(offsets, 0), begin) || !read_count(smma_datum_at(offsets, 1), end))
    return damaged(file, name, "data_offsets must be two counts of bytes");
  if (*begin > *end) return damaged(file, name, "data_offsets begin after their end");
  if (*end > file->data_size)
    return smma_fail(file->error,
                     "%s: byte %zu: %zu bytes of data expected for tensor '%s', %llu present; the file was cut short: "
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
static bool check_ranges(archive *file, range *ranges, size_t count) {
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

static bool check_offsets(archive *file) {
  const size_t all = count_tensors(file);
  range *ranges = calloc(all + 1, sizeof *ranges);
  size_t count = 0, at = 0;
  bool good = true;
  if (!ranges) return smma_fail(file->error, "%s: out of memory", file->path);
  for (const char *name; good && (name = next_tensor(file, &at)); count++)
    good = read_offsets(file, name, &ranges[count].begin, &ranges[count].end);
  good = good && check_ranges(file, ranges, count);
  free(ranges);
  return good;
}

/* Writes a list such as "a, b, c and 5 more": the names nearest to `wanted`, or the first names if it is NULL. */
static void list_names(const archive *file, const char *wanted, char *text, size_t size) {
  size_t total = count_tensors(file), length, at = 0;
  smma_nearest nearest;
  smma_nearest_start(&nearest, wanted ? wanted : "");
  for (const char *name; (name = next_tensor(file, &at));) smma_nearest_consider(&nearest, name, wanted ? name : "");
  smma_nearest_list(&nearest, text, size);
  length = strlen(text);
  if (total > (size_t)nearest.count)
    snprintf(text + length, size - length, " and %zu more", total - (size_t)nearest.count);
}

/* Finds the tensor `*name`. If `*name` is NULL, finds the only tensor and sets `*name`. */
static bool choose(const archive *file, const char **name) {
  char names[SMMA_NEAREST_COUNT * SMMA_NAME_SIZE + 32];
  const size_t count = count_tensors(file);
  size_t at = 0;
  if (*name && strcmp(*name, metadata) != 0 && smma_datum_get(file->tensors, *name)) return true;
  if (!*name && count == 1) return (*name = next_tensor(file, &at)) != NULL;
  list_names(file, *name, names, sizeof names);
  if (count == 0) return smma_fail(file->error, "%s: the file holds no tensor", file->path);
  if (*name) return smma_fail(file->error, "%s: no tensor is named '%.100s'; there are %s", file->path, *name, names);
  return smma_fail(file->error, "%s: the file holds %zu tensors; name one as FILE:NAME, from %s", file->path, count,
                   names);
}

static const dtype *read_dtype(const archive *file, const char *name) {
  const char *text = smma_datum_text_of(smma_datum_get(smma_datum_get(file->tensors, name), "dtype"));
  if (!text) {
    damaged(file, name, "dtype must be a string");
    return NULL;
  }
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    if (strcmp(text, dtypes[i].text) == 0) return &dtypes[i];
  smma_fail(file->error,
            "%s: header (JSON from byte 8): tensor '%s' is of dtype %.32s; accepted are F64, F32, F16, BF16, F8_*, "
            "F6_*, F4, BOOL and the integers I8 to I64 and U8 to U64; convert it, e.g. x.to(torch.float32)",
            file->path, name, text);
  return NULL;
}

static bool read_shape(const archive *file, const char *name, smma_shape *shape) {
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
static bool check_size(const archive *file, const char *name, const dtype *type, size_t elements, size_t present) {
  size_t bits;
  if (!smma_multiply(elements, (size_t)type->bits, &bits))
    return damaged(file, name, "the shape has more elements than memory can hold");
  if (bits % 8 != 0)
    return smma_fail(file->error,
                     "%s: header (JSON from byte 8): tensor '%s': %zu elements of %s do not fill whole bytes; pad it "
                     "to an even number of "
                     "elements (F6: to a multiple of 4)",
                     file->path, name, elements, type->text);
  if (bits / 8 != present)
    return smma_fail(file->error,
                     "%s: header (JSON from byte 8): tensor '%s': %zu elements of %s take %zu bytes, but data_offsets "
                     "hold %zu; save the file again",
                     file->path, name, elements, type->text, bits / 8, present);
  return true;
}

/* Unpacks elements of 4 or 6 bits to one byte each of `to`. */
static void unpack(unsigned char *to, const unsigned char *from, size_t elements, int bits) {
  unsigned pending = 0;
  int held = 0;
  for (size_t i = 0; i < elements; i++) {
    if (held < bits) {
      pending |= (unsigned)*from++ << held;
      held += 8;
    }
    to[i] = (unsigned char)(pending & ((1u << bits) - 1));
    pending >>= bits;
    held -= bits;
  }
}

/* Reads the bytes from `begin` to `end` of the data. Reads a pipe to the end of the data, to check that nothing is
   missing. */
static void *take_data(const archive *file, size_t begin, size_t end) {
  const bool piped = file->data_size == SMMA_SIZE_UNKNOWN;
  unsigned char *data, next;
  uint64_t before, behind = 0;
  size_t got, surplus = 0;
  if (!smma_input_skip(file->input, begin, &before, file->error)) return NULL;
  data = smma_input_take(file->input, end - begin, &got, file->error);
  if (!data) return NULL;
  bool good = !piped || (smma_input_skip(file->input, file->data_end - end, &behind, file->error) &&
                         smma_input_read(file->input, &next, 1, &surplus, file->error));
  if (good && (!piped || (before + got + behind == file->data_end && !surplus))) return data;
  if (good)
    smma_fail(file->error, "%s: byte %zu: %zu bytes of data expected for all tensors, %s present; save the file again",
              file->path, file->data_start, file->data_end, surplus ? "more" : "fewer");
  free(data);
  return NULL;
}

static bool read_tensor(archive *file, const char *name, smma_tensor *tensor) {
  smma_shape shape;
  smma_error where; /* its text is the beginning of messages */
  size_t begin, end, elements;
  unsigned char *data;
  const dtype *type;
  if (!check_offsets(file) || !choose(file, &name) || !(type = read_dtype(file, name))) return false;
  if (!read_offsets(file, name, &begin, &end) || !read_shape(file, name, &shape)) return false;
  smma_fail(&where, "%s: header (JSON from byte 8): tensor '%.100s'", file->path, name);
  if (!smma_shape_matrix(&shape, where.text, tensor, &elements, file->error)) return false;
  if (!check_size(file, name, type, elements, end - begin)) return false;
  tensor->format = type->format;
  tensor->bytes = type->bits < 8 ? 1 : type->bits / 8;
  tensor->integers = type->integers;
  tensor->data = data = take_data(file, begin, end);
  if (!data) return false;
  if (type->bits >= 8) {
    smma_swap_elements(data, elements, tensor->bytes, false);
    return true;
  }
  bool allocated = smma_tensor_allocate(tensor, elements, file->path, file->error);
  if (allocated) unpack(tensor->data, data, elements, type->bits);
  free(data);
  return allocated;
}

bool smma_safetensors_read(smma_input *input, const char *name, smma_tensor *tensor, smma_error *error) {
  archive file = {.path = input->path, .input = input, .error = error};
  smma_tensor result = {.format = SMMA_NO_FORMAT};
  if (!read_header(&file)) return false;
  bool done = read_tensor(&file, name, &result);
  smma_datum_free(file.tensors);
  if (done) *tensor = result;
  return done;
}
