#include "matrix/stored.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "isa/format_name.h"
#include "isa/formats.h"
#include "softmma/softmma.h"

static float decode(smma_format format, uint64_t code) { return (float)smma_format_decode(format, code); }

/* ---- Scale factors ---- */

/* Returns the position of the scale factor of an element. */
static size_t scale_at(const smma_stored *s, size_t row, size_t column) {
  return (s->first[0] + row) / s->block[0] * s->scale_columns + (s->first[1] + column) / s->block[1];
}

static float with_factor(const smma_stored *s, float scale) {
  return s->divides ? scale / s->factor : scale * s->factor;
}

/* Returns the multiplier of an element: its scale factor and the matrix's factor. */
static float multiplier_at(const smma_stored *s, size_t row, size_t column) {
  if (!s->scale_codes) return with_factor(s, 1);
  return with_factor(
      s, decode(s->scale, smma_load(smma_format_bytes(s->scale), s->scale_codes, scale_at(s, row, column))));
}

void smma_stored_numbers(const smma_stored *s, float *numbers) {
  float of_code[256];
  for (unsigned code = 0; code < 256; code++) of_code[code] = decode(s->element, code);
  for (size_t row = 0; row < s->rows; row++) {
    size_t next = 0;
    float multiplier = 0;
    for (size_t column = 0; column < s->columns; column++) {
      if (column == next) { /* the first column of a block */
        multiplier = multiplier_at(s, row, column);
        next = s->scale_codes ? column + s->block[1] - (s->first[1] + column) % s->block[1] : s->columns;
      }
      numbers[row * s->columns + column] = of_code[s->element_codes[row * s->columns + column]] * multiplier;
    }
  }
}

const char *smma_stored_text(const smma_stored *s, char text[SMMA_STORED_TEXT]) {
  const smma_formats formats = {s->element, s->element, s->element, s->scale, (int)s->block[1]};
  const char *element = smma_format_text(s->element);
  char name[SMMA_INPUT_TEXT_SIZE];
  if (!s->scale_codes)
    snprintf(text, SMMA_STORED_TEXT, "%s with a factor", element);
  else if (s->scale == SMMA_F32 && s->block[0] == 1 && s->block[1] >= s->columns)
    snprintf(text, SMMA_STORED_TEXT, "%s with %s per row", element, smma_format_text(s->scale));
  else if (s->block[0] == 1)
    snprintf(text, SMMA_STORED_TEXT, "%s", smma_input_text(&formats, s->element, name));
  else
    snprintf(text, SMMA_STORED_TEXT, "%s with %s per %zu x %zu", element, smma_format_text(s->scale), s->block[0],
             s->block[1]);
  return text;
}

/* ---- What a unit takes unchanged ---- */

bool smma_stored_fits(const smma_stored *s, bool along_rows, smma_format element, smma_format scale, size_t each) {
  const size_t k = along_rows ? s->columns : s->rows, block = s->block[along_rows], first = s->first[along_rows];
  if (s->element != element) return false;
  if (!each) return !s->scale_codes;
  if (!s->scale_codes) return scale == SMMA_F32;
  if (scale != SMMA_F32 && scale != s->scale) return false;
  return first + k <= block || (block % each == 0 && first % each == 0);
}

/* Copies a scale factor to the unit's format. */
static void copy_scale(const smma_stored *s, size_t row, size_t column, smma_format scale, void *to, size_t at) {
  if (scale == SMMA_F32)
    ((float *)to)[at] = multiplier_at(s, row, column);
  else
    ((unsigned char *)to)[at] = ((const unsigned char *)s->scale_codes)[scale_at(s, row, column)];
}

bool smma_stored_split(const smma_stored *s, bool along_rows, smma_format scale, size_t each, smma_tensor *values,
                       smma_tensor *scales, float *factor, smma_error *error) {
  const size_t lines = along_rows ? s->rows : s->columns, k = along_rows ? s->columns : s->rows;
  const size_t along = each ? k / each + (k % each != 0) : 0;
  *values = *scales = (smma_tensor){.format = SMMA_NO_FORMAT};
  *factor = each && scale == SMMA_F32 ? 1 : with_factor(s, 1);
  if (!smma_tensor_new(s->element, s->rows, s->columns, values, error)) return false;
  memcpy(values->data, s->element_codes, s->rows * s->columns);
  if (!each) return true;
  if (!smma_tensor_new(scale, lines, along, scales, error)) {
    smma_tensor_free(values);
    return false;
  }
  for (size_t line = 0; line < lines; line++)
    for (size_t n = 0; n < along; n++)
      copy_scale(s, along_rows ? line : n * each, along_rows ? n * each : line, scale, scales->data, line * along + n);
  return true;
}

/* ---- Copies ---- */

/* Makes a copy with room for the elements of rows x columns, and with the same scale factors. */
static smma_stored *make_like(const smma_stored *from, size_t rows, size_t columns, smma_error *error) {
  const size_t scales = from->scale_codes ? from->scale_count * smma_format_bytes(from->scale) : 0;
  smma_stored *s = malloc(sizeof *s);
  if (s) {
    *s = *from;
    s->rows = rows, s->columns = columns;
    s->element_codes = malloc(rows * columns + 1);
    s->scale_codes = from->scale_codes ? malloc(scales + 1) : NULL;
  }
  if (!s || !s->element_codes || (from->scale_codes && !s->scale_codes)) {
    smma_stored_free(s);
    smma_no_memory(error);
    return NULL;
  }
  if (scales) memcpy(s->scale_codes, from->scale_codes, scales);
  return s;
}

smma_stored *smma_stored_part(const smma_stored *from, size_t row, size_t rows, size_t column, size_t columns,
                              smma_error *error) {
  smma_stored *s = make_like(from, rows, columns, error);
  if (!s) return NULL;
  s->first[0] += row, s->first[1] += column;
  for (size_t r = 0; r < rows; r++)
    memcpy(s->element_codes + r * columns, from->element_codes + (row + r) * from->columns + column, columns);
  return s;
}

static void transpose(const void *from, size_t rows, size_t columns, size_t bytes, void *to) {
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < columns; c++) smma_store(bytes, to, c * rows + r, smma_load(bytes, from, r * columns + c));
}

smma_stored *smma_stored_transpose(const smma_stored *from, smma_error *error) {
  const size_t scale_rows = from->scale_columns ? from->scale_count / from->scale_columns : 0;
  smma_stored *s = make_like(from, from->columns, from->rows, error);
  if (!s) return NULL;
  for (int axis = 0; axis < 2; axis++) s->block[axis] = from->block[1 - axis], s->first[axis] = from->first[1 - axis];
  transpose(from->element_codes, from->rows, from->columns, 1, s->element_codes);
  if (!s->scale_codes) return s;
  s->scale_columns = scale_rows;
  transpose(from->scale_codes, scale_rows, from->scale_columns, smma_format_bytes(s->scale), s->scale_codes);
  return s;
}

void smma_stored_free(smma_stored *s) {
  if (!s) return;
  free(s->element_codes), free(s->scale_codes);
  free(s);
}
