#define _POSIX_C_SOURCE 200809L
#include "matrix/tensor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Splits "FILE:NAME" at the first colon before which there is a file; a path that exists is taken whole. Returns the
   file's name, to be freed, with *name inside `path` or NULL; NULL after an error. */
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

/* By the first bytes, from which an endless file or one of another kind is known at once. */
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
  if (size >= 4 && memcmp(input->head, "PK\3\4", 4) == 0)
    return smma_fail(error, "%s: byte 0: this is a zip archive (.npz, or PyTorch's .pt); %s", path, accepted);
  if (size < 9) return smma_fail(error, "%s: only %zu bytes, too short for a tensor file; %s", path, size, accepted);
  return smma_fail(error, "%s: byte 0: neither a .npy nor a .safetensors file; %s", path, accepted);
}

bool smma_tensor_read(const char *path, smma_tensor *tensor, smma_error *error) {
  smma_input input;
  const char *name;
  char *file = split_path(path, &name, error);
  if (!file) return false;
  bool done = smma_input_open(file, &input, error);
  if (done) {
    done = read_any(&input, name, tensor, error);
    smma_input_close(&input);
  }
  free(file);
  return done;
}

void smma_tensor_free(smma_tensor *tensor) {
  free(tensor->data);
  *tensor = (smma_tensor){.format = SMMA_NO_FORMAT, .bytes = 0, .rows = 0, .columns = 0, .data = NULL};
}
