/* Reads and writes rectangular parts of .npy files, for products whose matrices do not fit in memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "matrix/npy.h"
#include "matrix/shape.h"

bool smma_npy_open(const char *path, smma_npy_file *file, smma_error *error) {
  smma_input input;
  bool read;
  if (!smma_input_open(path, &input, error)) return false;
  read = smma_npy_layout_read(&input, &file->layout, error);
  smma_input_close(&input);
  if (!read) return false;
  file->path = path;
  file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
  return file->descriptor >= 0 || smma_fail(error, "%s: cannot open: %s", path, strerror(errno));
}

void smma_npy_close(smma_npy_file *file) { close(file->descriptor); }

/* Reads exactly `bytes` bytes from position `place` of the file. */
static bool read_at(const smma_npy_file *f, size_t place, void *to, size_t bytes, smma_error *error) {
  for (char *at = to; bytes;) {
    const ssize_t got = pread(f->descriptor, at, bytes, (off_t)place);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return smma_fail(error, "%s: byte %zu: cannot read: %s", f->path, place, strerror(errno));
    if (got == 0) return smma_fail(error, "%s: byte %zu: the file was shortened while it was read", f->path, place);
    at += got, place += (size_t)got, bytes -= (size_t)got;
  }
  return true;
}

static bool write_at(const smma_npy_file *f, size_t place, const void *from, size_t bytes, smma_error *error) {
  for (const char *at = from; bytes;) {
    const ssize_t put = pwrite(f->descriptor, at, bytes, (off_t)place);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return smma_fail(error, "%s: cannot write: %s", f->path, strerror(errno));
    at += put, place += (size_t)put, bytes -= (size_t)put;
  }
  return true;
}

/* Reads stored lines, from line `line` on: `length` elements, from element `first`, of each of `lines` lines. Lines
   have `across` elements; complete lines are read in a single call. */
static bool read_lines(const smma_npy_file *f, size_t line, size_t lines, size_t first, size_t length, size_t across,
                       char *to, smma_error *error) {
  const size_t width = (size_t)f->layout.bytes;
  if (length == across) return read_at(f, f->layout.start + line * across * width, to, lines * length * width, error);
  for (size_t n = 0; n < lines; n++)
    if (!read_at(f, f->layout.start + ((line + n) * across + first) * width, to + n * length * width, length * width,
                 error))
      return false;
  return true;
}

/* Transposes a part that was stored column by column. */
static void turn(const char *from, size_t rows, size_t columns, size_t width, char *to) {
  for (size_t row = 0; row < rows; row++)
    for (size_t column = 0; column < columns; column++, to += width)
      memcpy(to, from + (column * rows + row) * width, width);
}

bool smma_npy_read_part(const smma_npy_file *f, size_t row, size_t rows, size_t column, size_t columns,
                        smma_tensor *part, smma_error *error) {
  const smma_npy_layout *l = &f->layout;
  const size_t elements = rows * columns; /* no overflow: at most the number of the file's elements */
  char *stored;
  bool read;
  *part =
      (smma_tensor){.format = l->format, .bytes = l->bytes, .rows = rows, .columns = columns, .integers = l->integers};
  if (!smma_tensor_allocate(part, elements, f->path, error)) return false;
  stored = l->turned ? malloc(elements * (size_t)l->bytes + 1) : part->data;
  if (!stored)
    read = smma_fail(error, "%s: no memory for a part of %zu elements", f->path, elements);
  else if (l->turned)
    read = read_lines(f, column, columns, row, rows, l->rows, stored, error);
  else
    read = read_lines(f, row, rows, column, columns, l->columns, stored, error);
  if (read && l->turned) turn(stored, rows, columns, (size_t)l->bytes, part->data);
  if (l->turned) free(stored);
  if (read)
    smma_swap_elements(part->data, elements, l->bytes, l->big_endian);
  else
    smma_tensor_free(part);
  return read;
}

bool smma_npy_begin(FILE *stream, const char *path, const smma_tensor *matrix, smma_npy_layout *l, smma_error *error) {
  size_t elements, bytes;
  if (!smma_multiply(matrix->rows, matrix->columns, &elements) ||
      !smma_multiply(elements, (size_t)matrix->bytes, &bytes) || bytes > INT64_MAX / 2)
    return smma_fail(error, "%s: cannot write: %zu x %zu elements exceed a file", path, matrix->rows, matrix->columns);
  smma_npy_write_header(stream, matrix);
  if (fflush(stream) != 0) return smma_fail(error, "%s: cannot write: %s", path, strerror(errno));
  *l = (smma_npy_layout){.format = matrix->format,
                         .bytes = matrix->bytes,
                         .rows = matrix->rows,
                         .columns = matrix->columns,
                         .start = (size_t)ftell(stream)};
  if (ftruncate(fileno(stream), (off_t)(l->start + bytes)) == 0) return true;
  return smma_fail(error, "%s: cannot write: %s", path, strerror(errno));
}

bool smma_npy_write_part(const smma_npy_file *f, size_t row, size_t column, smma_tensor *part, smma_error *error) {
  const smma_npy_layout *l = &f->layout;
  const size_t width = (size_t)l->bytes, line = part->columns * width;
  const char *from = part->data;
  smma_swap_elements(part->data, part->rows * part->columns, part->bytes, false); /* its own inverse */
  if (part->columns == l->columns)
    return write_at(f, l->start + row * l->columns * width, from, part->rows * line, error);
  for (size_t n = 0; n < part->rows; n++)
    if (!write_at(f, l->start + ((row + n) * l->columns + column) * width, from + n * line, line, error)) return false;
  return true;
}
