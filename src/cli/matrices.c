#include "cli/matrices.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/load.h"

smma_tensor smma_load_matrix(const char *path) {
  smma_tensor tensor;
  smma_error error;
  if (!smma_tensor_read(path, &tensor, &error)) smma_die("%s", error.text);
  return tensor;
}

smma_tensor smma_new_matrix(smma_format format, size_t rows, size_t columns) {
  smma_tensor t = {format, (int)smma_format_bytes(format), rows, columns, NULL};
  if (rows && columns > SIZE_MAX / 16 / rows)
    smma_die("a %zu x %zu matrix of %s does not fit memory", rows, columns, smma_format_text(format));
  t.data = calloc(rows * columns + 1, (size_t)t.bytes);
  if (!t.data) smma_die("no memory for a %zu x %zu matrix of %s", rows, columns, smma_format_text(format));
  return t;
}

bool smma_is_raw(const smma_tensor *t, smma_format wanted) {
  return t->format == SMMA_NO_FORMAT || (t->bytes == 1 && smma_is_integer(t->format) && !smma_is_integer(wanted));
}

/* Raw encodings must have the format's container and bits. */
static void check_raw(const smma_tensor *t, smma_format wanted, const char *path) {
  int bits = smma_format_bits(wanted);
  if (t->bytes != (int)smma_format_bytes(wanted))
    smma_die("%s holds raw encodings of %d bits, but %s has %d; choose another format or instruction, or store %s",
             path, 8 * t->bytes, smma_format_text(wanted), bits, smma_format_text(wanted));
  for (size_t i = 0; i < t->rows * t->columns; i++)
    if (bits < 64 && smma_load((size_t)t->bytes, t->data, i) >> bits)
      smma_die("%s: row %zu, column %zu holds 0x%llx, which does not fit the %d bits of %s", path, i / t->columns,
               i % t->columns, (unsigned long long)smma_load((size_t)t->bytes, t->data, i), bits,
               smma_format_text(wanted));
}

smma_tensor smma_matrix_as(const smma_tensor *from, smma_format wanted, const char *what, const char *path,
                           bool quiet) {
  smma_tensor t = smma_new_matrix(wanted, from->rows, from->columns);
  size_t count = from->rows * from->columns, changed;
  bool raw = smma_is_raw(from, wanted);
  if (raw) check_raw(from, wanted, path);
  if (raw && !quiet)
    smma_note(
        "%s, %s: raw %d-bit elements read as encodings of %s, not as numbers (for numbers save x.astype('float32'))",
        what, path, 8 * from->bytes, smma_format_text(wanted));
  if (raw || from->format == wanted) {
    memcpy(t.data, from->data, count * (size_t)t.bytes);
    return t;
  }
  smma_convert(from->format, from->data, wanted, t.data, count, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT,
               &changed);
  if (!quiet && changed)
    smma_note("%s, %s: %s rounded to %s (to nearest even%s); %zu of %zu values changed", what, path,
              smma_format_text(from->format), smma_format_text(wanted),
              smma_format_bits(wanted) <= 8 || smma_is_integer(wanted) ? ", saturating" : "", changed, count);
  else if (!quiet)
    smma_note("%s, %s: %s stored as %s, all values exact", what, path, smma_format_text(from->format),
              smma_format_text(wanted));
  return t;
}
