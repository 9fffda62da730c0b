#include "cli/matrices.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "isa/catalogue.h"
#include "numerics/blocks.h"

smma_tensor smma_load_matrix(const char *path) {
  smma_tensor tensor;
  smma_error error;
  if (!smma_tensor_read(path, &tensor, &error)) smma_die("%s", error.text);
  return tensor;
}

smma_tensor smma_new_matrix(smma_format format, size_t rows, size_t columns) {
  smma_tensor t = {format, (int)smma_format_bytes(format), rows, columns, NULL, SMMA_NO_INTEGERS};
  if (rows && columns > SIZE_MAX / 16 / rows)
    smma_die("a %zu x %zu matrix of %s does not fit memory", rows, columns, smma_format_text(format));
  t.data = calloc(rows * columns + 1, (size_t)t.bytes);
  if (!t.data) smma_die("no memory for a %zu x %zu matrix of %s", rows, columns, smma_format_text(format));
  return t;
}

void smma_require_shape(const smma_tensor *file, const char *path, const char *option, size_t rows, size_t columns,
                        const char *needed_by) {
  if (file->rows != rows || file->columns != columns)
    smma_die("%s: %s is %zu x %zu, but %s %zu x %zu", option, path, file->rows, file->columns, needed_by, rows,
             columns);
}

smma_tensor smma_load_shaped(const char *path, const char *option, size_t rows, size_t columns, const char *needed_by) {
  const smma_tensor file = smma_load_matrix(path);
  smma_require_shape(&file, path, option, rows, columns, needed_by);
  return file;
}

smma_tensor smma_part_of_matrix(const smma_tensor *from, size_t row, size_t rows, size_t column, size_t columns) {
  const size_t bytes = (size_t)from->bytes;
  smma_tensor t = {from->format, from->bytes, rows, columns, malloc((rows * columns + 1) * bytes), from->integers};
  if (!t.data) smma_die("out of memory");
  for (size_t r = 0; r < rows; r++)
    memcpy((char *)t.data + r * columns * bytes,
           (const char *)from->data + ((row + r) * from->columns + column) * bytes, columns * bytes);
  return t;
}

void smma_turn_matrix(smma_tensor *t) {
  const size_t bytes = (size_t)t->bytes;
  smma_tensor turned = {t->format, t->bytes, t->columns, t->rows, malloc((t->rows * t->columns + 1) * bytes),
                        t->integers};
  if (!turned.data) smma_die("out of memory");
  for (size_t r = 0; r < t->rows; r++)
    for (size_t c = 0; c < t->columns; c++)
      smma_store(bytes, turned.data, c * t->rows + r, smma_load(bytes, t->data, r * t->columns + c));
  smma_tensor_free(t);
  *t = turned;
}

int smma_raw_encodings;

/* Formats of which NumPy has a type, so that an array without the name of its type holds another one. */
static bool has_numpy_name(smma_format format) {
  return format == SMMA_F16 || format == SMMA_F32 || format == SMMA_F64 || smma_is_integer(format);
}

/* Unsigned integers as wide as a format that NumPy cannot name are the usual way to save its encodings. Those of four
   bits are excepted, of which a byte may hold two. */
static bool are_usual_encodings(const smma_tensor *t, smma_format wanted) {
  return t->integers == SMMA_UNSIGNED_INTEGERS && t->bytes == (int)smma_format_bytes(wanted) &&
         !has_numpy_name(wanted) && smma_format_bits(wanted) > 4;
}

bool smma_is_raw(const smma_tensor *t, smma_format wanted) {
  if (are_usual_encodings(t, wanted)) return true;
  if (t->integers) return smma_raw_encodings && !smma_is_integer(wanted);
  return t->format == SMMA_NO_FORMAT;
}

/* The name of the file's format, or of its integers as NumPy names them. */
static const char *type_text(const smma_tensor *t, char text[16]) {
  if (t->format != SMMA_NO_FORMAT) return smma_format_text(t->format);
  snprintf(text, 16, "%sint%d", t->integers == SMMA_UNSIGNED_INTEGERS ? "u" : "", 8 * t->bytes);
  return text;
}

void smma_require_meaning(const smma_tensor *t, smma_format wanted, const char *what, const char *path) {
  const bool as_wide = t->bytes == (int)smma_format_bytes(wanted), named = has_numpy_name(wanted);
  if (smma_is_raw(t, wanted) && (smma_raw_encodings || t->integers)) return;
  if (t->integers == SMMA_UNSIGNED_INTEGERS && as_wide && !smma_is_integer(wanted))
    smma_die("%s, %s: uint%d may be numbers or encodings of %s; give --raw for encodings%s, or save numbers as float32",
             what, path, 8 * t->bytes, smma_format_text(wanted),
             smma_format_bits(wanted) < 8 ? " (one a byte: unpack packed ones)" : "");
  if (t->format == SMMA_NO_FORMAT && !t->integers && as_wide && named)
    smma_die("%s, %s: the file has no name for its %d-bit type, which is not %s then; give --in %s, or --raw if its "
             "elements are encodings of %s",
             what, path, 8 * t->bytes, smma_format_text(wanted), t->bytes == 1 ? "e4m3" : "bf16",
             smma_format_text(wanted));
}

/* Integers of a type that is no format, as f64. */
static smma_tensor numbers_of(const smma_tensor *t, size_t row, size_t column, const char *path) {
  smma_tensor numbers = smma_new_matrix(SMMA_F64, t->rows, t->columns);
  double *to = numbers.data;
  for (size_t i = 0; i < t->rows * t->columns; i++) {
    const uint64_t x = smma_load((size_t)t->bytes, t->data, i), sign = UINT64_C(1) << (8 * t->bytes - 1);
    const bool negative = t->integers == SMMA_SIGNED_INTEGERS && x & sign;
    const uint64_t magnitude = negative ? (sign - 1 - (x ^ sign)) + 1 : x;
    to[i] = negative ? -(double)magnitude : (double)magnitude;
    if (magnitude && magnitude >> __builtin_ctzll(magnitude) >> 53)
      smma_die("%s: [%zu, %zu] holds %s%llu, which float64 does not hold exactly; save it as float64", path,
               row + i / t->columns, column + i % t->columns, negative ? "-" : "", (unsigned long long)magnitude);
  }
  return numbers;
}

void smma_settle_integers(smma_tensor *t, smma_format wanted, const char *what, const char *path) {
  smma_tensor numbers;
  char type[16];
  smma_require_meaning(t, wanted, what, path);
  if (smma_is_raw(t, wanted) || !t->integers || t->format != SMMA_NO_FORMAT) return;
  numbers = numbers_of(t, 0, 0, path);
  smma_note("%s, %s: %s taken as numbers, in f64", what, path, type_text(t, type));
  smma_tensor_free(t);
  *t = numbers;
}

/* Raw encodings must have the format's container and bits. */
static void check_raw(const smma_tensor *t, size_t row, size_t column, smma_format wanted, const char *path) {
  int bits = smma_format_bits(wanted);
  if (t->bytes != (int)smma_format_bytes(wanted))
    smma_die("%s holds raw encodings of %d bits, but %s has %d; choose another format or instruction, or store %s",
             path, 8 * t->bytes, smma_format_text(wanted), bits, smma_format_text(wanted));
  for (size_t i = 0; i < t->rows * t->columns; i++)
    if (bits < 64 && smma_load((size_t)t->bytes, t->data, i) >> bits)
      smma_die("%s: [%zu, %zu] holds 0x%llx, which does not fit the %d bits of %s", path, row + i / t->columns,
               column + i % t->columns, (unsigned long long)smma_load((size_t)t->bytes, t->data, i), bits,
               smma_format_text(wanted));
}

/* ": 16 became infinite, 1 became zero", or nothing where values were rounded only. */
static const char *loss_text(const smma_conversion *lost, char *text, size_t size) {
  const struct {
    size_t count;
    const char *what;
  } kinds[] = {{lost->infinite, "became infinite"},
               {lost->saturated, "saturated"},
               {lost->zero, "became zero"},
               {lost->nan, "became NaN"}};
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (kinds[i].count)
      used += (size_t)snprintf(text + used, size - used, "%s %zu %s", used ? "," : ":", kinds[i].count, kinds[i].what);
  return text;
}

smma_tensor smma_part_as(const smma_tensor *part, size_t row, size_t column, smma_format wanted, smma_rounding rounding,
                         const char *what, const char *path, smma_conversion *lost) {
  smma_tensor numbers, t = smma_new_matrix(wanted, part->rows, part->columns);
  const size_t count = part->rows * part->columns;
  const bool raw = smma_is_raw(part, wanted);
  smma_conversion own;
  smma_require_meaning(part, wanted, what, path);
  if (raw || part->format == SMMA_B1) check_raw(part, row, column, raw ? wanted : SMMA_B1, path);
  if (raw || part->format == wanted) {
    memcpy(t.data, part->data, count * (size_t)t.bytes);
    return t;
  }
  numbers = part->format == SMMA_NO_FORMAT ? numbers_of(part, row, column, path) : *part;
  smma_convert(numbers.format, numbers.data, wanted, t.data, count, rounding, SMMA_OVERFLOW_DEFAULT, &own);
  if (part->format == SMMA_NO_FORMAT) smma_tensor_free(&numbers);
  lost->changed += own.changed, lost->infinite += own.infinite, lost->saturated += own.saturated;
  lost->zero += own.zero, lost->nan += own.nan;
  return t;
}

void smma_note_conversion(const smma_tensor *from, smma_format wanted, smma_rounding rounding, const char *what,
                          const char *path, size_t count, const smma_conversion *lost) {
  char text[160], type[16];
  if (smma_is_raw(from, wanted))
    smma_note("%s, %s: raw %d-bit elements read as encodings of %s", what, path, 8 * from->bytes,
              smma_format_text(wanted));
  else if (lost->changed)
    smma_note("%s, %s: %s rounded to %s (%s%s); %zu of %zu values changed%s", what, path, type_text(from, type),
              smma_format_text(wanted), smma_rounding_words(rounding),
              smma_format_bits(wanted) <= 8 || smma_is_integer(wanted) ? ", saturating" : "", lost->changed, count,
              loss_text(lost, text, sizeof text));
  else if (from->format != wanted)
    smma_note("%s, %s: %s stored as %s, all values exact", what, path, type_text(from, type),
              smma_format_text(wanted));
}

smma_tensor smma_matrix_rounded(const smma_tensor *from, smma_format wanted, smma_rounding rounding, const char *what,
                                const char *path, bool quiet) {
  smma_conversion lost = {0};
  const smma_tensor t = smma_part_as(from, 0, 0, wanted, rounding, what, path, &lost);
  if (!quiet) smma_note_conversion(from, wanted, rounding, what, path, from->rows * from->columns, &lost);
  return t;
}

smma_tensor smma_matrix_as(const smma_tensor *from, smma_format wanted, const char *what, const char *path,
                           bool quiet) {
  return smma_matrix_rounded(from, wanted, SMMA_ROUND_NEAREST_EVEN, what, path, quiet);
}

static smma_tensor products_of(const smma_blocks *b, bool along_rows, const smma_block_format *format) {
  smma_tensor t = smma_new_matrix(SMMA_F64, b->values.rows, b->values.columns);
  const uint8_t *values = b->values.data, *scales = b->scales.data;
  for (size_t i = 0; i < t.rows * t.columns; i++) {
    size_t row = i / t.columns, column = i % t.columns, vector = along_rows ? row : column,
           k = along_rows ? column : row;
    ((double *)t.data)[i] =
        smma_format_decode(format->element, values[i]) *
        smma_format_decode(format->scale, scales[vector * b->scales.columns + k / (size_t)format->block]);
  }
  return t;
}

static double greatest_of(smma_format format) {
  return smma_format_decode(format,
                            smma_format_encode(format, INFINITY, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE));
}

/* Blocks whose numbers saturate or become zero, since no factor is as large, or as small, as they need. */
static size_t blocks_beyond(const smma_blocks *b, const double *exact, bool along_rows, const smma_block_format *f) {
  const size_t columns = b->values.columns, k = along_rows ? columns : b->values.rows;
  const double most = greatest_of(f->scale), of_elements = greatest_of(f->element);
  size_t count = 0;
  for (size_t i = 0; i < b->scales.rows * b->scales.columns; i++) {
    const size_t vector = i / b->scales.columns, first = i % b->scales.columns * (size_t)f->block;
    const double factor = smma_format_decode(f->scale, ((const uint8_t *)b->scales.data)[i]);
    double greatest = 0;
    for (size_t n = first; n < k && n < first + (size_t)f->block; n++)
      greatest = fmax(greatest, fabs(exact[along_rows ? vector * columns + n : n * columns + vector]));
    count += (factor == 0 && greatest > 0) || (factor == most && greatest / most > of_elements);
  }
  return count;
}

smma_blocks smma_matrix_in_blocks(const smma_tensor *from, bool along_rows, const smma_block_format *f,
                                  const char *what, const char *path, bool quiet) {
  size_t vectors = along_rows ? from->rows : from->columns, k = along_rows ? from->columns : from->rows, beyond;
  smma_conversion lost = {0};
  size_t blocks = k / (size_t)f->block + (k % (size_t)f->block != 0);
  smma_blocks b = {
      smma_new_matrix(f->element, from->rows, from->columns), smma_new_matrix(f->scale, vectors, blocks), {0}};
  smma_formats formats = {f->element, f->element, f->element, f->scale, f->block};
  char name[SMMA_INPUT_TEXT_SIZE], type[16], text[160];
  smma_tensor exact;
  smma_require_meaning(from, f->element, what, path);
  if (smma_is_raw(from, SMMA_F64))
    smma_die("%s, %s: raw encodings have no scale factors; %s is made from numbers", what, path,
             smma_input_text(&formats, f->element, name));
  exact = smma_matrix_as(from, SMMA_F64, what, path, true);
  for (size_t v = 0; v < vectors; v++) {
    size_t first = along_rows ? v * from->columns : v;
    smma_quantize(f, (const double *)exact.data + first, along_rows ? 1 : from->columns, k,
                  (unsigned char *)b.values.data + first, (unsigned char *)b.scales.data + v * blocks);
  }
  b.products = products_of(&b, along_rows, f);
  for (size_t i = 0; i < from->rows * from->columns; i++) {
    double x = ((double *)exact.data)[i], y = ((double *)b.products.data)[i];
    if (x == y || (isnan(x) && isnan(y))) continue;
    lost.changed++;
    lost.zero += y == 0;
    lost.nan += isnan(y);
    lost.saturated += !isfinite(x) && isfinite(y);
  }
  if (!quiet)
    smma_note("%s, %s: %s quantised to %s; %zu of %zu values changed%s", what, path, type_text(from, type),
              smma_input_text(&formats, f->element, name), lost.changed, from->rows * from->columns,
              loss_text(&lost, text, sizeof text));
  beyond = quiet ? 0 : blocks_beyond(&b, exact.data, along_rows, f);
  if (beyond)
    smma_note(
        "%s, %s: %zu of %zu blocks saturated or became zero: %s has no factor for them; divide the matrix by a "
        "number before, and multiply the result by it (--alpha)",
        what, path, beyond, vectors * blocks, smma_format_text(f->scale));
  smma_tensor_free(&exact);
  return b;
}

void smma_blocks_free(smma_blocks *b) {
  smma_tensor_free(&b->values);
  smma_tensor_free(&b->scales);
  smma_tensor_free(&b->products);
}
