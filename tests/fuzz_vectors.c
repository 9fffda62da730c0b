/* Any bytes: an error line, or rows that are read back unchanged after they are written. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "rows/text.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

/* The rows of a file, written again; NULL when it is no vector file or holds a wrong row. */
static char *rewrite(FILE *stream, size_t *size) {
  smma_vector_header header;
  smma_row row;
  smma_error error = {.text = ""};
  char *text = NULL;
  smma_vector_status status = SMMA_VECTOR_END;
  smma_vector_recognize(stream);
  smma_vector_reader *reader = smma_vector_open(stream, "input", &header, &error);
  FILE *copy = reader ? open_memstream(&text, size) : NULL;
  if (copy) {
    const smma_row_layout layout = smma_vector_layout(&header);
    smma_vector_write_header(copy, &header);
    while ((status = smma_vector_next(reader, &row, &error)) == SMMA_VECTOR_ROW)
      smma_vector_write_row(copy, &layout, &row);
    fclose(copy);
  }
  smma_vector_close(reader);
  if (!reader || status == SMMA_VECTOR_ERROR) {
    if (!error.text[0]) abort();
    free(text);
    return NULL;
  }
  return text;
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  size_t first_size = 0, second_size = 0;
  FILE *stream = size > 0 ? fmemopen((void *)bytes, size, "rb") : NULL;
  if (!stream) return 0;
  char *first = rewrite(stream, &first_size), *second = NULL;
  fclose(stream);
  if (!first) return 0;
  stream = fmemopen(first, first_size, "rb");
  if (stream) {
    second = rewrite(stream, &second_size);
    fclose(stream);
    if (!second || first_size != second_size || memcmp(first, second, first_size) != 0) abort();
  }
  free(first);
  free(second);
  return 0;
}
