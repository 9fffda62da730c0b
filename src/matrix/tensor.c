#define _POSIX_C_SOURCE 200809L
#include "matrix/tensor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/load.h"
#include "isa/format_name.h"
#include "matrix/stored.h"
#include "softmma/softmma.h"

/* Splits "FILE:NAME" at the first colon after the name of an existing file; a path that exists as a whole is not split.
   Returns the file's name, to be freed, and sets `*name` to a pointer into `path` or to NULL. Returns NULL after an
   error. */
static char *split_path(const char *path, const char **name, smma_error *error) {
  char *file = strdup(path);
  *name = NULL;
  if (!file) {
    smma_fail(error, "%s: no memory", path);
    return NULL;
  }
  if (access(path, F_OK) == 0) return file;
  const char *reason = strerror(errno);
  for (char *colon = strchr(file, ':'); colon; colon = strchr(colon + 1, ':')) {
    *colon = '\0';
    if (access(file, F_OK) == 0) {
      *name = path + (colon - file) + 1;
      return file;
    }
    *colon = ':';
  }
  smma_fail(error, "%s: cannot open: %s%s", path, reason,
            strchr(path, ':') ? "; nor is any part before a ':' the name of a file" : "");
  free(file);
  return NULL;
}

/* Reads a file of any kind. The first bytes decide the kind, so an endless file, or a file of another kind, is refused
   at once. */
static bool read_any(smma_input *input, const char *name, smma_tensor *tensor, smma_error *error) {
  static const char accepted[] = "write the matrix with numpy.save or safetensors";
  const char *path = input->path;
  size_t size;
  if (!smma_input_peek(input, 9, &size, error)) return false;
  if (size >= 6 && memcmp(input->head, "\x93NUMPY", 6) == 0) {
    if (name) return smma_fail(error, "%s: a .npy file holds one array without a name; leave out ':%s'", path, name);
    return smma_npy_read(input, tensor, error);
  }
  if (size >= 9 && input->head[8] == '{') return smma_safetensors_read(input, name, tensor, error);
  if (size >= 4 && (memcmp(input->head, "PK\3\4", 4) == 0 || memcmp(input->head, "GGUF", 4) == 0))
    return smma_fail(error,
                     "%s: byte 0: this is %s; convert it in Python: numpy.save('x.npy', softmma.load_weight('%s', "
                     "'NAME').numbers)",
                     path, input->head[0] == 'G' ? "a GGUF file" : "a zip archive (.npz, or PyTorch's .pt)", path);
  if (size > 0 && input->head[0] == '{') return smma_safetensors_read_index(input, name, tensor, error);
  if (size < 9) return smma_fail(error, "%s: only %zu bytes, too short for a tensor file; %s", path, size, accepted);
  return smma_fail(error, "%s: byte 0: neither a .npy nor a .safetensors file; %s", path, accepted);
}

bool smma_tensor_read_named(const char *path, const char *name, smma_tensor *tensor, smma_error *error) {
  smma_input input;
  if (!smma_input_open(path, &input, error)) return false;
  const bool done = read_any(&input, name, tensor, error);
  smma_input_close(&input);
  return done;
}

bool smma_tensor_read(const char *path, smma_tensor *tensor, smma_error *error) {
  const char *name;
  char *file = split_path(path, &name, error);
  const bool done = file && smma_tensor_read_named(file, name, tensor, error);
  free(file);
  return done;
}

/* Makes a matrix with elements like those of `from` and room for rows x columns, without a stored form. */
static bool make_like(const smma_tensor *from, size_t rows, size_t columns, smma_tensor *t, smma_error *error) {
  *t = *from;
  t->rows = rows, t->columns = columns, t->stored = NULL;
  t->data = malloc((rows * columns + 1) * (size_t)t->bytes);
  return t->data || smma_no_memory(error);
}

bool smma_tensor_new(smma_format format, size_t rows, size_t columns, smma_tensor *t, smma_error *error) {
  *t = (smma_tensor){.format = format, .bytes = (int)smma_format_bytes(format), .rows = rows, .columns = columns};
  if (rows && columns > SIZE_MAX / 16 / rows)
    return smma_fail(error, "a %zu x %zu matrix of %s does not fit memory", rows, columns, smma_format_text(format));
  t->data = calloc(rows * columns + 1, (size_t)t->bytes);
  return t->data || smma_fail(error, "no memory for a %zu x %zu matrix of %s", rows, columns, smma_format_text(format));
}

bool smma_tensor_part(const smma_tensor *from, size_t row, size_t rows, size_t column, size_t columns,
                      smma_tensor *part, smma_error *error) {
  const size_t bytes = (size_t)from->bytes;
  if (!make_like(from, rows, columns, part, error)) return false;
  for (size_t r = 0; r < rows; r++)
    memcpy((char *)part->data + r * columns * bytes,
           (const char *)from->data + ((row + r) * from->columns + column) * bytes, columns * bytes);
  if (!from->stored || (part->stored = smma_stored_part(from->stored, row, rows, column, columns, error))) return true;
  smma_tensor_free(part);
  return false;
}

bool smma_tensor_transpose(const smma_tensor *from, smma_tensor *t, smma_error *error) {
  const size_t bytes = (size_t)from->bytes;
  if (!make_like(from, from->columns, from->rows, t, error)) return false;
  for (size_t r = 0; r < from->rows; r++)
    for (size_t c = 0; c < from->columns; c++)
      smma_store(bytes, t->data, c * from->rows + r, smma_load(bytes, from->data, r * from->columns + c));
  if (!from->stored || (t->stored = smma_stored_transpose(from->stored, error))) return true;
  smma_tensor_free(t);
  return false;
}

void smma_tensor_free(smma_tensor *tensor) {
  free(tensor->data);
  smma_stored_free(tensor->stored);
  *tensor = (smma_tensor){.format = SMMA_NO_FORMAT};
}
