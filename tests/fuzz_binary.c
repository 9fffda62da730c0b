/* Reads any bytes as a binary vector file, once unchanged and once with corrected checksums. Expects an error line, or
   test vectors that are equal when they are read one by one and together, and again after they were written in either
   format and read. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "io/crc32c.h"
#include "rows/binary.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

typedef struct {
  char *bytes;
  size_t size;
} copy;

static void write_rows(smma_vector_writer *writer, const smma_rows *rows, size_t count) {
  smma_error error;
  if (!smma_vector_write_rows(writer, rows, count, &error)) abort();
}

/* Writes the test vectors of a file in a format; returns NULL if it is not a vector file or has an invalid test vector.
 */
static copy rewrite(const void *bytes, size_t size, smma_vector_format format, bool together) {
  smma_vector_header header;
  smma_vector_status status = SMMA_VECTOR_ERROR;
  smma_error error = {.text = ""}, none;
  copy c = {NULL, 0};
  FILE *in = fmemopen((void *)bytes, size, "rb");
  smma_vector_reader *reader = in ? smma_vector_open(in, "input", &header, &error) : NULL;
  FILE *out = reader ? tmpfile() : NULL;
  if (out) {
    const smma_instruction shape = smma_vector_shape(&header);
    smma_vector_writer *writer = smma_vector_create(out, format, &header, SMMA_ROWS_LATER, &none);
    smma_rows rows;
    size_t count = 0;
    if (!writer || !smma_rows_allocate(&shape, SMMA_VECTOR_PART, &rows)) abort();
    do {
      smma_row row;
      count = 0;
      if (together) {
        status = smma_vector_read_rows(reader, &rows, NULL, &count, &error);
      } else {
        while (count < rows.capacity && (status = smma_vector_next(reader, &row, &error)) == SMMA_VECTOR_ROW)
          smma_rows_put(&rows, count++, &row);
      }
      write_rows(writer, &rows, count);
    } while (status == SMMA_VECTOR_ROW);
    if (!smma_vector_finish(writer, &none)) abort();
    smma_vector_free(writer);
    smma_rows_free(&rows);
    c.size = (size_t)ftell(out);
    c.bytes = malloc(c.size + 1);
    rewind(out);
    if (!c.bytes || fread(c.bytes, 1, c.size, out) != c.size) abort();
    fclose(out);
  }
  smma_vector_close(reader);
  if (in) fclose(in);
  if (status == SMMA_VECTOR_ERROR && !error.text[0]) abort();
  if (status != SMMA_VECTOR_ERROR) return c;
  free(c.bytes);
  return (copy){NULL, 0};
}

static void check_same(copy x, copy y) {
  if (!x.bytes != !y.bytes || (x.bytes && (x.size != y.size || memcmp(x.bytes, y.bytes, x.size) != 0))) abort();
  free(y.bytes);
}

static void check(const void *bytes, size_t size) {
  const copy text = rewrite(bytes, size, SMMA_VECTOR_TEXT, false);
  check_same(text, rewrite(bytes, size, SMMA_VECTOR_TEXT, true));
  if (!text.bytes) return;
  const copy binary = rewrite(bytes, size, SMMA_VECTOR_BINARY, true);
  if (!binary.bytes) abort();
  check_same(text, rewrite(binary.bytes, binary.size, SMMA_VECTOR_TEXT, false));
  check_same(binary, rewrite(text.bytes, text.size, SMMA_VECTOR_BINARY, true));
  free(binary.bytes);
  free(text.bytes);
}

/* Corrects the checksum of the header, and that of the test vectors if they are one block. */
static void sign(unsigned char *bytes, size_t size) {
  enum { FIRST_ROW = 28, CHECKSUM = 40 };
  const uint32_t none = 0;
  uint32_t first, checksum;
  memcpy(bytes, smma_binary_magic, sizeof smma_binary_magic);
  memcpy(&first, bytes + FIRST_ROW, sizeof first);
  if (first > size || first < 48) return;
  memcpy(bytes + CHECKSUM, &none, sizeof none);
  checksum = smma_crc32c(0, bytes, first);
  memcpy(bytes + CHECKSUM, &checksum, sizeof checksum);
  if (size < first + sizeof checksum) return;
  checksum = smma_crc32c(0, bytes + first, size - sizeof checksum - first);
  memcpy(bytes + size - sizeof checksum, &checksum, sizeof checksum);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  unsigned char *signed_bytes;
  if (size == 0 || !(signed_bytes = malloc(size))) return 0;
  check(bytes, size);
  memcpy(signed_bytes, bytes, size);
  if (size >= 48) sign(signed_bytes, size), check(signed_bytes, size);
  free(signed_bytes);
  return 0;
}
