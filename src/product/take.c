#include "product/take.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/range.h"
#include "host/load.h"
#include "host/thread.h"
#include "isa/catalogue.h"
#include "isa/key.h"
#include "matrix/stored.h"
#include "numerics/blocks.h"

bool smma_read_source(const smma_source *source, bool raw, smma_tensor *t, bool *owns, smma_error *error) {
  *t = source->tensor;
  *owns = false;
  if (t->data || !source->path) return true;
  if (!smma_tensor_read(source->path, t, error)) return false;
  t->encodings = raw;
  return *owns = true;
}

/* Reports whether NumPy has a type for the format. An array of another type then holds another format. */
static bool has_numpy_name(smma_format format) {
  return format == SMMA_F16 || format == SMMA_F32 || format == SMMA_F64 || smma_is_integer(format);
}

/* Reports whether unsigned integers are the usual way to save encodings of the format: they are as wide as it, and
   NumPy cannot name it. Excluded are formats of four bits, because a byte may hold two elements. */
static bool are_usual_encodings(const smma_tensor *t, smma_format target_format) {
  return t->integers == SMMA_UNSIGNED_INTEGERS && t->bytes == (int)smma_format_bytes(target_format) &&
         !has_numpy_name(target_format) && smma_format_bits(target_format) > 4;
}

bool smma_is_raw(const smma_tensor *t, smma_format target_format) {
  if (are_usual_encodings(t, target_format)) return true;
  if (t->integers) return t->encodings && !smma_is_integer(target_format);
  return t->format == SMMA_NO_FORMAT;
}

/* Returns the name of the file's format, of the form of a quantised matrix, or of an integer type in NumPy. */
static const char *type_text(const smma_tensor *t, char text[SMMA_STORED_TEXT]) {
  if (t->stored) return smma_stored_text(t->stored, text);
  if (t->format != SMMA_NO_FORMAT) return smma_format_text(t->format);
  snprintf(text, SMMA_STORED_TEXT, "%sint%d", t->integers == SMMA_UNSIGNED_INTEGERS ? "u" : "", 8 * t->bytes);
  return text;
}

bool smma_check_meaning(const smma_tensor *t, smma_format target_format, smma_label l, smma_error *error) {
  const bool as_wide = t->bytes == (int)smma_format_bytes(target_format), named = has_numpy_name(target_format);
  if (smma_is_raw(t, target_format) && (t->encodings || t->integers)) return true;
  if (t->integers == SMMA_UNSIGNED_INTEGERS && as_wide && !smma_is_integer(target_format))
    return smma_fail(
        error,
        "%s, %s: uint%d may be numbers or encodings of %s; give --raw for encodings%s, or save numbers as float32",
        l.what, l.path, 8 * t->bytes, smma_format_text(target_format),
        smma_format_bits(target_format) < 8 ? " (one a byte: unpack packed ones)" : "");
  if (t->format == SMMA_NO_FORMAT && !t->integers && as_wide && named)
    return smma_fail(
        error,
        "%s, %s: the file has no name for its %d-bit type, which is not %s then; give --in %s, or --raw if its "
        "elements are encodings of %s",
        l.what, l.path, 8 * t->bytes, smma_format_text(target_format), t->bytes == 1 ? "e4m3" : "bf16",
        smma_format_text(target_format));
  return true;
}

bool smma_check_shape(const smma_tensor *t, smma_label l, size_t rows, size_t columns, const char *needed_by,
                      smma_error *error) {
  if (t->rows == rows && t->columns == columns) return true;
  return smma_fail(error, "%s: %s is %zu x %zu, but %s %zu x %zu", l.what, l.path, t->rows, t->columns, needed_by, rows,
                   columns);
}

/* Converts integers of a type that is not a format to f64. */
static bool make_numbers(const smma_tensor *t, size_t row, size_t column, const char *path, smma_tensor *numbers,
                         smma_error *error) {
  double *to;
  if (!smma_tensor_new(SMMA_F64, t->rows, t->columns, numbers, error)) return false;
  to = numbers->data;
  for (size_t i = 0; i < t->rows * t->columns; i++) {
    const uint64_t x = smma_load((size_t)t->bytes, t->data, i), sign = UINT64_C(1) << (8 * t->bytes - 1);
    const bool negative = t->integers == SMMA_SIGNED_INTEGERS && x & sign;
    const uint64_t magnitude = negative ? (sign - 1 - (x ^ sign)) + 1 : x;
    to[i] = negative ? -(double)magnitude : (double)magnitude;
    if (!magnitude || !(magnitude >> __builtin_ctzll(magnitude) >> 53)) continue;
    smma_tensor_free(numbers);
    return smma_fail(error, "%s: [%zu, %zu] holds %s%llu, which float64 does not hold exactly; save it as float64",
                     path, row + i / t->columns, column + i % t->columns, negative ? "-" : "",
                     (unsigned long long)magnitude);
  }
  return true;
}

bool smma_take_numbers(const smma_tensor *t, smma_format target_format, smma_label l, const smma_notes *notes,
                       smma_tensor *numbers, smma_error *error) {
  char type[SMMA_STORED_TEXT];
  *numbers = (smma_tensor){.format = SMMA_NO_FORMAT};
  if (!smma_check_meaning(t, target_format, l, error)) return false;
  if (smma_is_raw(t, target_format) || !t->integers || t->format != SMMA_NO_FORMAT) return true;
  smma_say(notes, "%s, %s: %s taken as numbers, in f64", l.what, l.path, type_text(t, type));
  return make_numbers(t, 0, 0, l.path, numbers, error);
}

/* Checks that raw encodings have the format's container and bits. */
static bool check_raw(const smma_tensor *t, size_t row, size_t column, smma_format target_format, const char *path,
                      smma_error *error) {
  const int bits = smma_format_bits(target_format);
  if (t->bytes != (int)smma_format_bytes(target_format))
    return smma_fail(
        error, "%s holds raw encodings of %d bits, but %s has %d; choose another format or instruction, or store %s",
        path, 8 * t->bytes, smma_format_text(target_format), bits, smma_format_text(target_format));
  for (size_t i = 0; i < t->rows * t->columns; i++) {
    const uint64_t x = smma_load((size_t)t->bytes, t->data, i);
    if (bits < 64 && x >> bits)
      return smma_fail(error, "%s: [%zu, %zu] holds 0x%llx, which does not fit the %d bits of %s", path,
                       row + i / t->columns, column + i % t->columns, (unsigned long long)x, bits,
                       smma_format_text(target_format));
  }
  return true;
}

/* Writes the losses of a conversion, for example ": 16 became infinite, 1 became zero". Writes nothing if values were
   only rounded. */
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

void smma_add_loss(smma_conversion *sum, const smma_conversion *lost) {
  sum->changed += lost->changed, sum->infinite += lost->infinite, sum->saturated += lost->saturated;
  sum->zero += lost->zero, sum->nan += lost->nan;
}

/* Rounds numbers of another format into `taken`. */
static bool round_part(const smma_tensor *part, size_t row, size_t column, smma_rounding rounding, const char *path,
                       smma_tensor *taken, smma_conversion *lost, smma_error *error) {
  const bool is_format = part->format != SMMA_NO_FORMAT;
  smma_tensor numbers = *part;
  smma_conversion own;
  if (!is_format && !make_numbers(part, row, column, path, &numbers, error)) return false;
  smma_convert(numbers.format, numbers.data, taken->format, taken->data, part->rows * part->columns, rounding,
               SMMA_OVERFLOW_DEFAULT, &own);
  if (!is_format) smma_tensor_free(&numbers);
  smma_add_loss(lost, &own);
  return true;
}

bool smma_take_part(const smma_tensor *part, size_t row, size_t column, smma_format target_format,
                    smma_rounding rounding, smma_label l, smma_tensor *taken, smma_conversion *lost,
                    smma_error *error) {
  const bool raw = smma_is_raw(part, target_format);
  if (!smma_tensor_new(target_format, part->rows, part->columns, taken, error)) return false;
  if (smma_check_meaning(part, target_format, l, error) &&
      ((!raw && part->format != SMMA_B1) ||
       check_raw(part, row, column, raw ? target_format : SMMA_B1, l.path, error))) {
    if (!raw && part->format != target_format) {
      if (round_part(part, row, column, rounding, l.path, taken, lost, error)) return true;
    } else {
      memcpy(taken->data, part->data, part->rows * part->columns * (size_t)taken->bytes);
      return true;
    }
  }
  smma_tensor_free(taken);
  return false;
}

void smma_note_taken(const smma_tensor *from, smma_format target_format, smma_rounding rounding, smma_label l,
                     size_t count, const smma_conversion *lost, const smma_notes *notes) {
  char text[160], type[SMMA_STORED_TEXT];
  const char *const hint = from->stored && from->stored->element == target_format
                               ? "; a plan such as deepgemm or torch:_scaled_mm:row takes its scale factors"
                               : "";
  if (smma_is_raw(from, target_format))
    smma_say(notes, "%s, %s: raw %d-bit elements read as encodings of %s", l.what, l.path, 8 * from->bytes,
             smma_format_text(target_format));
  else if (lost->changed)
    smma_say(notes, "%s, %s: %s rounded to %s (%s%s); %zu of %zu values changed%s%s", l.what, l.path,
             type_text(from, type), smma_format_text(target_format), smma_rounding_words(rounding),
             smma_format_bits(target_format) <= 8 || smma_is_integer(target_format) ? ", saturating" : "",
             lost->changed, count, loss_text(lost, text, sizeof text), hint);
  else if (from->format != target_format || from->stored)
    smma_say(notes, "%s, %s: %s stored as %s, all values exact", l.what, l.path, type_text(from, type),
             smma_format_text(target_format));
}

bool smma_take_matrix(const smma_tensor *from, smma_format target_format, smma_rounding rounding, smma_label l,
                      const smma_notes *notes, smma_tensor *taken, smma_error *error) {
  smma_conversion lost = {0};
  if (!smma_take_part(from, 0, 0, target_format, rounding, l, taken, &lost, error)) return false;
  smma_note_taken(from, target_format, rounding, l, from->rows * from->columns, &lost, notes);
  return true;
}

/* ---- Blocks with scale factors ---- */

static double greatest_of(smma_format format) {
  return smma_format_decode(format, smma_greatest_of(smma_encoding_of(format)));
}

/* Returns the number of blocks in which numbers saturate or become zero, because no scale factor is large, or small,
   enough. With a factor of the tensor no block saturates. */
static size_t blocks_beyond(const smma_blocks *b, const double *exact, bool along_rows, const smma_block_format *f) {
  const size_t columns = b->values.columns, k = along_rows ? columns : b->values.rows;
  const double most = greatest_of(f->scale), of_elements = greatest_of(f->element);
  size_t count = 0;
  for (size_t i = 0; i < b->scales.rows * b->scales.columns; i++) {
    const size_t vector = i / b->scales.columns, first = i % b->scales.columns * (size_t)f->block;
    const double factor = smma_format_decode(f->scale, ((const uint8_t *)b->scales.data)[i]);
    double greatest = 0;
    if (factor != 0 && factor != most) continue;
    for (size_t n = first; n < k && n < first + (size_t)f->block; n++)
      greatest = fmax(greatest, fabs(exact[along_rows ? vector * columns + n : n * columns + vector]));
    count += (factor == 0 && greatest > 0) ||
             (!smma_has_tensor_factor(f) && factor == most && greatest / most > of_elements);
  }
  return count;
}

/* Matrices with more elements than this are compared by all threads. */
enum { PARALLEL = 1 << 16 };

/* Sets `number` to the value of each encoding. */
static void decode_all(smma_format format, double number[256]) {
  for (unsigned i = 0; i < 256; i++) number[i] = smma_format_decode(format, i);
}

/* Returns counts of the differences between the numbers that the blocks represent and the exact numbers. A tensor's
   factor multiplies in FP32. */
static smma_conversion loss_of_blocks(const smma_blocks *b, const double *exact, bool along_rows,
                                      const smma_block_format *format) {
  const uint8_t *values = b->values.data, *scales = b->scales.data;
  const size_t rows = b->values.rows, columns = b->values.columns, block = (size_t)format->block;
  const int threads = rows * columns > PARALLEL ? smma_default_threads() : 1;
  size_t changed = 0, zero = 0, nan = 0, saturated = 0;
  double element[256], factor[256];
  decode_all(format->element, element), decode_all(format->scale, factor);
#pragma omp parallel for num_threads(threads) reduction(+ : changed, zero, nan, saturated)
  for (size_t row = 0; row < rows; row++)
    for (size_t column = 0; column < columns; column++) {
      const size_t i = row * columns + column, vector = along_rows ? row : column;
      const double of_block =
          element[values[i]] * factor[scales[vector * b->scales.columns + (along_rows ? column : row) / block]];
      const double x = exact[i], y = b->factor == 1 ? of_block : (float)of_block * b->factor;
      if (x == y || (isnan(x) && isnan(y))) continue;
      changed++;
      zero += y == 0;
      nan += isnan(y) != 0;
      saturated += !isfinite(x) && isfinite(y);
    }
  return (smma_conversion){.changed = changed, .zero = zero, .nan = nan, .saturated = saturated};
}

static void note_blocks(const smma_tensor *from, const smma_blocks *b, const double *exact, bool along_rows,
                        const smma_block_format *f, const char *name, smma_label l, const smma_notes *notes) {
  const smma_conversion lost = loss_of_blocks(b, exact, along_rows, f);
  const size_t beyond = blocks_beyond(b, exact, along_rows, f);
  char type[SMMA_STORED_TEXT], text[160], factor[64] = "";
  if (smma_has_tensor_factor(f)) snprintf(factor, sizeof factor, " with factor %.9g of the tensor", (double)b->factor);
  smma_say(notes, "%s, %s: %s quantised to %s%s; %zu of %zu values changed%s", l.what, l.path, type_text(from, type),
           name, factor, lost.changed, from->rows * from->columns, loss_text(&lost, text, sizeof text));
  if (beyond && *factor)
    smma_say(
        notes,
        "%s, %s: %zu of %zu blocks became zero: their numbers are too small compared with the largest of the matrix",
        l.what, l.path, beyond, b->scales.rows * b->scales.columns);
  else if (beyond)
    smma_say(notes,
             "%s, %s: %zu of %zu blocks saturated or became zero: %s has no factor for them; divide the matrix by a "
             "number before, and multiply the result by it (--alpha)",
             l.what, l.path, beyond, b->scales.rows * b->scales.columns, smma_format_text(f->scale));
}

bool smma_take_blocks(const smma_tensor *from, bool along_rows, const smma_block_format *f, smma_label l,
                      const smma_notes *notes, smma_blocks *b, smma_error *error) {
  const size_t vectors = along_rows ? from->rows : from->columns, k = along_rows ? from->columns : from->rows;
  const size_t blocks = k / (size_t)f->block + (k % (size_t)f->block != 0);
  const smma_formats formats = {f->element, f->element, f->element, f->scale, f->block};
  char text[SMMA_INPUT_TEXT_SIZE];
  const char *name = smma_input_text(&formats, f->element, text);
  smma_tensor exact;
  bool done;
  *b = (smma_blocks){{.format = SMMA_NO_FORMAT}, {.format = SMMA_NO_FORMAT}, b->factor};
  if (!smma_check_meaning(from, f->element, l, error)) return false;
  if (smma_is_raw(from, SMMA_F64))
    return smma_fail(error, "%s, %s: raw encodings have no scale factors; %s is made from numbers", l.what, l.path,
                     name);
  if (!smma_take_matrix(from, SMMA_F64, SMMA_ROUND_NEAREST_EVEN, l, NULL, &exact, error)) return false;
  done = smma_tensor_new(f->element, from->rows, from->columns, &b->values, error) &&
         smma_tensor_new(f->scale, vectors, blocks, &b->scales, error) &&
         (smma_quantize(f, exact.data, from->rows, from->columns, along_rows, &b->factor, b->values.data,
                        b->scales.data) == SMMA_OK ||
          smma_no_memory(error));
  if (done && notes) note_blocks(from, b, exact.data, along_rows, f, name, l, notes);
  if (!done) smma_tensor_free(&b->values), smma_tensor_free(&b->scales);
  smma_tensor_free(&exact);
  return done;
}

bool smma_takes_stored(const smma_tensor *from, bool along_rows, smma_format element, smma_scales scales) {
  return from->stored && smma_stored_fits(from->stored, along_rows, element, scales.format, scales.each);
}

bool smma_take_stored(const smma_tensor *from, bool along_rows, smma_scales scales, smma_label l,
                      const smma_notes *notes, smma_blocks *b, smma_error *error) {
  char type[SMMA_STORED_TEXT], multiplied[64] = "";
  if (!smma_stored_split(from->stored, along_rows, scales.format, scales.each, &b->values, &b->scales, &b->factor,
                         error))
    return false;
  if (b->factor != 1)
    snprintf(multiplied, sizeof multiplied, "; its factor %.9g multiplies the result", (double)b->factor);
  smma_say(notes, "%s, %s: %s taken as stored%s", l.what, l.path, type_text(from, type), multiplied);
  return true;
}

bool smma_rounding_of(const char *word, size_t length, smma_rounding otherwise, smma_rounding *mode,
                      smma_error *error) {
  static const char *const plain = "default", *const short_names[] = {"rne", "rz", "rd", "ru", "rna"};
  char allowed[128] = "";
  for (int i = 0; smma_roundings[i]; i++) {
    *mode = (smma_rounding)i;
    if (strlen(smma_roundings[i]) == length && strncmp(word, smma_roundings[i], length) == 0) return true;
    if (strlen(short_names[i]) == length && strncmp(word, short_names[i], length) == 0) return true;
    smma_append_text(allowed, sizeof allowed, "%s, ", smma_roundings[i]);
  }
  *mode = otherwise;
  if (length == strlen(plain) && strncmp(word, plain, length) == 0) return true;
  return smma_fail(error, "--round-in: '%.*s' is no rounding mode; give %s%s", length > 40 ? 40 : (int)length, word,
                   allowed, plain);
}
