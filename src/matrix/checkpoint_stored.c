/* The elements and scale factors of a quantised matrix. */
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "matrix/checkpoint.h"
#include "matrix/stored.h"
#include "softmma/softmma.h"

bool smma_checkpoint_fail(const smma_checkpoint *c, smma_matrix_part p, const char *reason) {
  const char *path = c->is_index ? c->shard[p].path : c->archive.path;
  return smma_fail(c->archive.error, "%s: header (JSON from byte 8): tensor '%.100s': %s", path, c->name[p], reason);
}

/* ---- Elements ---- */

static bool is_power_of_two_scale(const smma_checkpoint *c) {
  const smma_archive_type *type = c->part[SMMA_MATRIX_SCALES].type;
  return type->format == SMMA_UE8M0 || type->format == SMMA_U8;
}

/* Reports whether the elements, stored as bytes, are FP6: each scale factor then has 24 bytes, which hold 32 elements.
   (In FP4 it has 16 bytes.) */
static bool is_fp6(const smma_checkpoint *c, size_t bytes) {
  const smma_shape *scales = &c->part[SMMA_MATRIX_SCALES].shape;
  return is_power_of_two_scale(c) && bytes && bytes % 24 == 0 && scales->count &&
         scales->extent[scales->count - 1] == bytes / 24;
}

/* Sets the format of packed integers, and the number of columns, from the tensor that stores their shape. */
static bool take_integers(smma_checkpoint *c, smma_stored *s) {
  const size_t words = s->columns;
  const uint64_t *shape = c->has[SMMA_MATRIX_SHAPE] ? (const uint64_t *)c->data[SMMA_MATRIX_SHAPE] : NULL;
  const size_t axes = c->has[SMMA_MATRIX_SHAPE] ? smma_shape_elements(&c->part[SMMA_MATRIX_SHAPE].shape) : 0;
  if (!shape || c->part[SMMA_MATRIX_SHAPE].type->bits != 64 || axes < 2 || shape[axes - 2] != s->rows)
    return smma_checkpoint_fail(c, SMMA_MATRIX_ELEMENTS,
                                "packed integers need a tensor of the same name with _shape: rows and columns");
  const uint64_t columns = shape[axes - 1];
  s->element = columns / 8 + (columns % 8 != 0) == words ? SMMA_S4 : SMMA_S8;
  s->columns = (size_t)columns;
  return s->element == SMMA_S4 || columns / 4 + (columns % 4 != 0) == words ||
         smma_checkpoint_fail(c, SMMA_MATRIX_ELEMENTS,
                              "its words do not hold the columns of the tensor _shape as integers of 4 or 8 bits");
}

/* Sets the format of the elements and the number of columns; the tensor has the columns of the stored bytes or words.
 */
static bool take_elements(smma_checkpoint *c, smma_stored *s) {
  const smma_format type = c->part[SMMA_MATRIX_ELEMENTS].type->format;
  if (type == SMMA_S32) return take_integers(c, s);
  if (type == SMMA_U8 && is_fp6(c, s->columns))
    s->element = SMMA_E2M3, s->columns = s->columns / 3 * 4;
  else if (type == SMMA_U8 || (type == SMMA_S8 && is_power_of_two_scale(c)))
    s->element = SMMA_E2M1, s->columns *= 2;
  else
    s->element = type;
  return true;
}

void smma_checkpoint_unpack(unsigned char *to, const unsigned char *from, size_t elements, int bits) {
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

/* Unpacks rows of integers with an offset, which become two's complements. */
static void unpack_integers(const smma_checkpoint *c, smma_stored *s) {
  const size_t bytes = c->part[SMMA_MATRIX_ELEMENTS].shape.extent[c->part[SMMA_MATRIX_ELEMENTS].shape.count - 1] * 4;
  const int bits = smma_format_bits(s->element);
  for (size_t row = 0; row < s->rows; row++) {
    unsigned char *to = s->element_codes + row * s->columns;
    smma_checkpoint_unpack(to, c->data[SMMA_MATRIX_ELEMENTS] + row * bytes, s->columns, bits);
    for (size_t i = 0; i < s->columns; i++) to[i] ^= (unsigned char)(1 << (bits - 1));
  }
}

static bool read_elements(smma_checkpoint *c, smma_stored *s) {
  const smma_archive_type *type = c->part[SMMA_MATRIX_ELEMENTS].type;
  size_t elements;
  if (!smma_multiply(s->rows, s->columns, &elements) || !(s->element_codes = malloc(elements + 1)))
    return smma_no_memory(c->archive.error);
  if (type->format == SMMA_S32)
    unpack_integers(c, s);
  else
    smma_checkpoint_unpack(s->element_codes, c->data[SMMA_MATRIX_ELEMENTS], elements, smma_format_bits(s->element));
  return true;
}

/* ---- Scale factors ---- */

/* Returns the number of elements along an axis that share a factor. It is the whole axis, or in groups along rows or
   columns an equal part of it, or a power of two; 0 if the number of factors fits none of these. */
static size_t share(size_t extent, size_t factors, bool groups) {
  if (factors == 0) return 0;
  if (factors == 1) return extent ? extent : 1;
  if (groups && extent % factors == 0) return extent / factors;
  for (size_t n = 1; n && n <= extent; n *= 2)
    if (extent / n + (extent % n != 0) == factors) return n;
  return 0;
}

/* Reports whether blocks of a size that is no power of two fit an axis as well. Square blocks, and those of 128 along
   the only axis that is divided, are taken for what they seem: libraries write these. */
static bool is_ambiguous(const smma_stored *s, int axis, size_t factors, size_t other_factors) {
  const size_t extent = axis ? s->columns : s->rows, block = s->block[axis];
  if (factors == 1 || extent % factors || extent / factors == block) return false;
  return other_factors == 1 ? block != 128 : block != s->block[1 - axis];
}

/* Determines the blocks from the shape of the scale factors. They have two axes, or there is one factor for each row,
   or one for the whole matrix. */
static bool take_blocks(smma_checkpoint *c, smma_stored *s) {
  const smma_shape *shape = &c->part[SMMA_MATRIX_SCALES].shape;
  char of_scales[SMMA_SHAPE_TEXT], reason[4 * SMMA_SHAPE_TEXT];
  smma_shape_drop_ones(&c->part[SMMA_MATRIX_SCALES].shape, 2);
  const size_t rows = shape->count ? shape->extent[0] : 1, columns = shape->count == 2 ? shape->extent[1] : 1;
  const bool fits = shape->count <= 2 && (shape->count != 1 || rows == 1 || rows == s->rows);
  const size_t block = s->scale == SMMA_UE4M3 ? 16 : 32;
  const bool by_row = rows == s->rows, by_column = columns == s->columns;
  s->block[0] = share(s->rows, rows, by_column), s->block[1] = share(s->columns, columns, by_row);
  s->scale_columns = columns, s->scale_count = rows * columns;
  smma_shape_text(shape, of_scales);
  snprintf(reason, sizeof reason, "shape %s does not fit the %zu x %zu elements of '%.100s'", of_scales, s->rows,
           s->columns, c->name[SMMA_MATRIX_ELEMENTS]);
  if (!fits || !s->block[0] || !s->block[1]) return smma_checkpoint_fail(c, SMMA_MATRIX_SCALES, reason);
  if (!by_row && !by_column && (is_ambiguous(s, 0, rows, columns) || is_ambiguous(s, 1, columns, rows)))
    return smma_checkpoint_fail(c, SMMA_MATRIX_SCALES,
                                "blocks of several sizes fit its shape; dequantise it, and save the numbers");
  if (s->scale == SMMA_F32 || s->block[0] > 1) return true;
  s->block[1] = block; /* also if a row is shorter */
  return columns == s->columns / block + (s->columns % block != 0) ||
         smma_checkpoint_fail(c, SMMA_MATRIX_SCALES, reason);
}

static float number_at(const smma_checkpoint *c, smma_matrix_part p, size_t at) {
  const smma_archive_type *type = c->part[p].type;
  return (float)smma_format_decode(type->format, smma_load((size_t)type->bits / 8, c->data[p], at));
}

static bool is_real(const smma_archive_type *type) {
  return type->bits >= 16 && !type->integers && type->format != SMMA_NO_FORMAT;
}

/* Reads scale factors that are encodings of 8 bits. */
static bool read_codes(const smma_checkpoint *c, smma_stored *s) {
  const unsigned char *codes = c->data[SMMA_MATRIX_SCALES];
  memcpy(s->scale_codes, codes, s->scale_count);
  for (size_t i = 0; s->scale == SMMA_UE4M3 && i < s->scale_count; i++)
    if (codes[i] >> 7) return smma_checkpoint_fail(c, SMMA_MATRIX_SCALES, "a factor is negative");
  return true;
}

static bool read_scales(smma_checkpoint *c, smma_stored *s) {
  const smma_archive_type *type = c->part[SMMA_MATRIX_SCALES].type;
  s->scale = is_real(type) ? SMMA_F32 : is_power_of_two_scale(c) ? SMMA_UE8M0 : SMMA_UE4M3;
  if (s->scale == SMMA_UE4M3 && type->format != SMMA_E4M3)
    return smma_checkpoint_fail(c, SMMA_MATRIX_SCALES,
                                "scale factors are of dtype F32, F16, BF16, F8_E4M3, F8_E8M0 or U8 (E8M0)");
  if (s->element == SMMA_E2M1 && c->part[SMMA_MATRIX_ELEMENTS].type->format == SMMA_U8 && s->scale == SMMA_F32)
    return smma_checkpoint_fail(c, SMMA_MATRIX_ELEMENTS,
                                "U8 with scale factors in floating point is no form that is read; dequantise it with "
                                "the package that wrote it, and save the numbers");
  if (s->scale == SMMA_F32 && smma_shape_elements(&c->part[SMMA_MATRIX_SCALES].shape) == 1 &&
      !c->has[SMMA_MATRIX_FACTOR]) {
    s->scale = SMMA_NO_FORMAT, s->block[0] = s->block[1] = 1;
    return true;
  }
  if (!take_blocks(c, s)) return false;
  s->scale_codes = malloc(s->scale_count * smma_format_bytes(s->scale) + 1);
  return s->scale_codes || smma_no_memory(c->archive.error);
}

static bool decode_scales(smma_checkpoint *c, smma_stored *s) {
  s->factor = 1, s->divides = c->names->divides && c->has[SMMA_MATRIX_FACTOR];
  if (c->has[SMMA_MATRIX_FACTOR]) s->factor = number_at(c, SMMA_MATRIX_FACTOR, 0);
  if (s->divides && s->factor == 0)
    return smma_checkpoint_fail(c, SMMA_MATRIX_FACTOR, "it is 0, and factors are divided by it");
  if (!s->scale_codes) s->factor = number_at(c, SMMA_MATRIX_SCALES, 0);
  if (s->scale != SMMA_F32) return !s->scale_codes || read_codes(c, s);
  for (size_t i = 0; i < s->scale_count; i++) ((float *)s->scale_codes)[i] = number_at(c, SMMA_MATRIX_SCALES, i);
  return true;
}

bool smma_checkpoint_make_stored(smma_checkpoint *c, smma_tensor *tensor) {
  smma_stored *s = tensor->stored = calloc(1, sizeof *s);
  if (!s) return smma_no_memory(c->archive.error);
  if (c->has[SMMA_MATRIX_FACTOR] &&
      (smma_shape_elements(&c->part[SMMA_MATRIX_FACTOR].shape) != 1 || !is_real(c->part[SMMA_MATRIX_FACTOR].type)))
    return smma_checkpoint_fail(c, SMMA_MATRIX_FACTOR, "one number in floating point is needed");
  s->rows = tensor->rows, s->columns = tensor->columns;
  if (!take_elements(c, s) || !read_elements(c, s) || !read_scales(c, s) || !decode_scales(c, s)) return false;
  tensor->format = SMMA_F32, tensor->bytes = 4, tensor->columns = s->columns;
  if (!smma_tensor_allocate(tensor, s->rows * s->columns, c->archive.path, c->archive.error)) return false;
  smma_stored_numbers(s, tensor->data);
  return true;
}
