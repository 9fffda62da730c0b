#include "compare/own.h"

#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "isa/format_name.h"

/* Converts numbers to the targets' format of D, which must have all of them. */
static bool convert_exactly(const smma_tensor *numbers, smma_label label, smma_format d, smma_tensor *taken,
                            smma_error *error) {
  smma_conversion lost = {0};
  if (!smma_tensor_new(d, numbers->rows, numbers->columns, taken, error)) return false;
  smma_convert(numbers->format, numbers->data, d, taken->data, numbers->rows * numbers->columns,
               SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY, &lost);
  if (!lost.changed) return true;
  smma_tensor_free(taken);
  return smma_fail(error,
                   "--d: %s is in %s, and %zu of its values are not numbers of %s, the format of the targets' results "
                   "(--out, or a plan's \"d\")",
                   label.path, smma_format_text(numbers->format), lost.changed, smma_format_text(d));
}

/* Sets `*taken` to the file's elements in the targets' format of D. */
static bool take_result(const smma_tensor *file, smma_label label, smma_format d, const smma_notes *notes,
                        smma_tensor *taken, smma_error *error) {
  smma_tensor numbers;
  bool done;
  if (!smma_take_numbers(file, d, label, notes, &numbers, error)) return false;
  if (smma_is_raw(file, d)) return smma_take_matrix(file, d, SMMA_ROUND_NEAREST_EVEN, label, NULL, taken, error);
  done = convert_exactly(numbers.data ? &numbers : file, label, d, taken, error);
  if (done && file->format != SMMA_NO_FORMAT && smma_format_bits(file->format) < smma_format_bits(d))
    smma_say(notes, "--d, %s: its elements are in %s, the targets' results in %s; --out %s compares them in %s",
             label.path, smma_format_text(file->format), smma_format_text(d), smma_format_text(file->format),
             smma_format_text(file->format));
  if (numbers.data) smma_tensor_free(&numbers);
  return done;
}

static bool read_result(smma_own_files *own, const char *path, smma_format d, size_t rows, size_t columns, bool raw,
                        const smma_notes *notes, smma_error *error) {
  const smma_label label = {"--d", path};
  smma_tensor file, *taken = &own->tensor[own->count];
  bool done;
  if (!smma_tensor_read(path, &file, error)) return false;
  file.encodings = raw;
  done = smma_check_shape(&file, label, rows, columns, "the product is", error) &&
         take_result(&file, label, d, notes, taken, error);
  smma_tensor_free(&file);
  if (done) own->result[own->count++] = (smma_own_result){path, taken->data};
  return done;
}

bool smma_own_files_read(smma_own_files *own, const char *list, size_t most, smma_format d, size_t rows, size_t columns,
                         bool raw, const smma_notes *notes, smma_error *error) {
  size_t files = 1;
  for (const char *item = list; *(item += smma_list_item(item)); item++) files++;
  if (files > most) return smma_fail(error, "--d: '%s' has %zu files; at most %zu are compared", list, files, most);
  char *next = own->names = strdup(list);
  if (!next) return smma_no_memory(error);
  while (next) {
    char *path = next, *end = path + smma_list_item(path);
    next = *end ? end + 1 : NULL;
    *end = 0;
    if (own->count == most) return smma_fail(error, "--d: '%s' has more than %zu files", list, most);
    if (!*path) return smma_fail(error, "--d: '%s': the name of a file is missing; type FILE or FILE,FILE", list);
    if (!read_result(own, path, d, rows, columns, raw, notes, error)) return false;
  }
  return true;
}

void smma_own_files_free(smma_own_files *own) {
  for (size_t i = 0; i < own->count; i++) smma_tensor_free(&own->tensor[i]);
  free(own->names);
}
