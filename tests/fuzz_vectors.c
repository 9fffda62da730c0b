/* Reads any bytes as a vector file. Expects an error line, or test vectors that are written and read back unchanged,
   read both together and one by one. A file of text that is read must be recognised, too. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "rows/text.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

/* Reads the next test vectors that can be read together, and writes them to `copy`. */
static size_t take(smma_vector_reader *reader, smma_rows *rows, FILE *copy) {
  const size_t count = smma_vector_take_rows(reader, rows, 0, rows->capacity);
  if (!smma_text_write_rows(copy, rows, count)) abort();
  return count;
}

/* Returns the test vectors of a file, written again; NULL if it is not a vector file or has an invalid test vector. */
static char *rewrite(FILE *stream, bool together, size_t *size) {
  smma_vector_header header;
  smma_row row;
  smma_error error = {.text = ""};
  char *text = NULL;
  smma_vector_status status = SMMA_VECTOR_END;
  const bool recognized = smma_vector_is_text(stream);
  smma_vector_reader *reader = smma_vector_open(stream, "input", &header, &error);
  uint64_t rows_of_binary;
  if (reader && !recognized && !smma_vector_count(reader, &rows_of_binary)) abort();
  FILE *copy = reader ? open_memstream(&text, size) : NULL;
  if (copy) {
    const smma_row_layout layout = smma_vector_layout(&header);
    const smma_instruction i = {.a = header.a,
                                .b = header.b,
                                .c = header.c,
                                .d = header.d,
                                .k = header.k,
                                .scale = header.scale,
                                .scale_block = header.scale_block};
    smma_rows rows;
    if (!smma_rows_allocate(&i, 8, &rows)) abort();
    smma_text_write_header(copy, &header);
    do {
      while (together && take(reader, &rows, copy) > 0) continue;
      status = smma_vector_next(reader, &row, &error);
      if (status == SMMA_VECTOR_ROW) smma_text_write_row(copy, &layout, &row);
    } while (status == SMMA_VECTOR_ROW);
    smma_rows_free(&rows);
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

static void check_same(const char *x, size_t x_size, const char *y, size_t y_size) {
  if (!x != !y || (x && (x_size != y_size || memcmp(x, y, x_size) != 0))) abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  size_t first_size = 0, second_size = 0;
  FILE *stream = size > 0 ? fmemopen((void *)bytes, size, "rb") : NULL;
  if (!stream) return 0;
  char *first = rewrite(stream, false, &first_size), *second = rewrite(stream, true, &second_size);
  fclose(stream);
  check_same(first, first_size, second, second_size);
  free(second);
  if (!first) return 0;
  for (int together = 0; together < 2; together++) {
    stream = fmemopen(first, first_size, "rb");
    if (!stream) break;
    second = rewrite(stream, together, &second_size);
    fclose(stream);
    check_same(first, first_size, second, second_size);
    free(second);
  }
  free(first);
  return 0;
}
