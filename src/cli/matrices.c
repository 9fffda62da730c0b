#include "cli/matrices.h"

#include <string.h>

int smma_raw_encodings;

bool smma_load_matrix(const char *path, smma_tensor *tensor, smma_error *error) {
  if (!smma_tensor_read(path, tensor, error)) return false;
  tensor->encodings = smma_raw_encodings;
  return true;
}

bool smma_read_shape(const char *text, size_t *m, size_t *n, size_t *k, smma_error *error) {
  unsigned long long size[3];
  char end;
  if (sscanf(text, "%llux%llux%llu%c", &size[0], &size[1], &size[2], &end) != 3 || strchr(text, '-') || !size[0] ||
      !size[1] || !size[2] || size[0] > SIZE_MAX || size[2] > (size_t)1 << 30)
    return smma_fail(error, "--shape: '%s' is not MxNxK, each at least 1; for example 64x64x4096", text);
  *m = (size_t)size[0], *n = (size_t)size[1], *k = (size_t)size[2];
  return true;
}

/* Fails if a file cannot be read, or its elements are encodings of the format of the first target without a fault,
   which targets of other formats do not read. */
static bool check_file(const smma_prepared_targets *x, const smma_files *f, bool of_a, smma_error *error) {
  const char *path = f->path[of_a ? SMMA_OF_A : SMMA_OF_B];
  const smma_prepared_target *first = x->target;
  smma_tensor t;
  if (!smma_load_matrix(path, &t, error)) return false;
  const bool is_raw =
      !f->has_format && x->count && smma_is_raw(&t, of_a ? first->instruction->a : first->instruction->b);
  smma_tensor_free(&t);
  return !is_raw || smma_fail(error, "%s, %s: its elements are encodings, here of %s; for targets of other formats %s",
                              of_a ? "A" : "B", path, first->inputs, SMMA_FORMAT_OF_FILE);
}

void smma_add_targets_of_files(smma_prepared_targets *x, const char *list, size_t most, const smma_choice *choice,
                               smma_files *f) {
  smma_choice of_targets = *choice;
  smma_error error;
  f->has_format = choice->in && !choice->instr;
  if (f->has_format &&
      !smma_check(smma_formats_of_options(choice->in, "--in", choice->out, &f->format, &error), &error))
    return;
  if (f->has_format && !smma_check_choice(list, choice, &f->format_is_unused)) of_targets.in = NULL;
  if (smma_check(smma_add_targets(x, list, most, &of_targets, &error), &error)) return;
  if (f->random) return;
  smma_check(check_file(x, f, true, &error), &error);
  smma_check(check_file(x, f, false, &error), &error);
}
