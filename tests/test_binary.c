/* Binary vector files: their contents byte by byte, the detection of every damage, and equality with text files. */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/crc32c.h"
#include "rows/check.h"
#include "rows/generate.h"
#include "rows/vectors.h"
#include "support.h"

/* ---- Files in memory ---- */

typedef struct {
  char *bytes;
  size_t size;
} bytes;

static bytes take_all(FILE *stream) {
  bytes b = {NULL, 0};
  assert_int_equal(fseek(stream, 0, SEEK_END), 0);
  b.size = (size_t)ftell(stream);
  rewind(stream);
  b.bytes = malloc(b.size + 1);
  assert_non_null(b.bytes);
  assert_int_equal(fread(b.bytes, 1, b.size, stream), b.size);
  return b;
}

static FILE *file_of(bytes b) {
  FILE *stream = tmpfile();
  assert_non_null(stream);
  assert_int_equal(fwrite(b.bytes, 1, b.size, stream), b.size);
  rewind(stream);
  return stream;
}

static bytes copy_of(bytes b) {
  bytes copy = {malloc(b.size + 16), b.size};
  assert_non_null(copy.bytes);
  memcpy(copy.bytes, b.bytes, b.size);
  return copy;
}

/* Rewrites all test vectors of a reader in another format. */
static bytes rewrite(smma_vector_reader *reader, const smma_vector_header *header, smma_vector_format format,
                     uint64_t announced, size_t at_once) {
  const smma_instruction shape = smma_vector_shape(header);
  smma_vector_status status = SMMA_VECTOR_ROW;
  smma_error error;
  smma_rows rows;
  bytes all;
  FILE *out = tmpfile();
  smma_vector_writer *writer = out ? smma_vector_create(out, format, header, announced, &error) : NULL;
  assert_non_null(writer);
  assert_true(smma_rows_allocate(&shape, at_once, &rows));
  while (status == SMMA_VECTOR_ROW) {
    size_t count;
    status = smma_vector_read_rows(reader, &rows, NULL, &count, &error);
    if (status == SMMA_VECTOR_ERROR) fail_msg("%s", error.text);
    assert_true(smma_vector_write_rows(writer, &rows, count, &error));
  }
  if (!smma_vector_finish(writer, &error)) fail_msg("%s", error.text);
  smma_vector_free(writer);
  smma_rows_free(&rows);
  all = take_all(out);
  fclose(out);
  return all;
}

static bytes convert(bytes from, smma_vector_format format, uint64_t announced) {
  smma_vector_header header;
  smma_error error;
  FILE *stream = file_of(from);
  smma_vector_reader *reader = smma_vector_open(stream, "from", &header, &error);
  if (!reader) fail_msg("%s", error.text);
  const bytes all = rewrite(reader, &header, format, announced, SMMA_VECTOR_PART);
  smma_vector_close(reader);
  fclose(stream);
  return all;
}

/* Counts the test vectors of a file, read one by one; returns -1 with the error on failure. */
static int64_t count_rows(FILE *stream, smma_error *error) {
  smma_vector_header header;
  smma_vector_status status = SMMA_VECTOR_ERROR;
  int64_t rows = 0;
  smma_row row;
  smma_vector_reader *reader = smma_vector_open(stream, "file", &header, error);
  if (reader)
    while ((status = smma_vector_next(reader, &row, error)) == SMMA_VECTOR_ROW) rows++;
  if (reader && status == SMMA_VECTOR_ERROR) /* the reader stays in the error state */
    assert_int_equal(smma_vector_next(reader, &row, error), SMMA_VECTOR_ERROR);
  smma_vector_close(reader);
  return status == SMMA_VECTOR_END ? rows : -1;
}

static int64_t count_in(bytes b, smma_error *error) {
  FILE *stream = file_of(b);
  const int64_t rows = count_rows(stream, error);
  fclose(stream);
  return rows;
}

static void expect_error(bytes b, const char *part) {
  smma_error error = {.text = ""};
  assert_int_equal(count_in(b, &error), -1);
  if (!strstr(error.text, part)) fail_msg("'%s' is not in: %s", part, error.text);
  assert_null(strchr(error.text, '\n'));
}

static bytes generated(const smma_instruction *i, uint64_t count, smma_vector_format format) {
  smma_vector_header header;
  smma_error error;
  smma_rows rows;
  bytes all;
  FILE *out = tmpfile();
  assert_true(out && smma_rows_allocate(i, (size_t)count + 1, &rows));
  smma_generate_rows(&rows, 5, 0, (size_t)count, SMMA_ROWS_KINDS, SMMA_ROWS_RANDOM);
  smma_batch batch = smma_rows_batch(&rows, 0, (size_t)count, NULL);
  smma_dot_rows(i, &batch, 1);
  smma_vector_header_of(i, &header);
  smma_vector_writer *writer = smma_vector_create(out, format, &header, count, &error);
  assert_non_null(writer);
  assert_true(smma_vector_write_rows(writer, &rows, (size_t)count, &error));
  assert_true(smma_vector_finish(writer, &error));
  smma_vector_free(writer);
  smma_rows_free(&rows);
  all = take_all(out);
  fclose(out);
  return all;
}

/* ---- Checksums, bit by bit ---- */

static uint32_t slow_crc32c(const void *of, size_t size) {
  const unsigned char *byte = of;
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size; i++) {
    crc ^= byte[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
  }
  return ~crc;
}

static void test_checksums(void **state) {
  unsigned char x[1000];
  uint32_t four[4];
  (void)state;
  assert_int_equal(smma_crc32c(0, "123456789", 9), 0xe3069283); /* the check value in catalogues of CRCs */
  memset(x, 0, sizeof x);
  assert_int_equal(smma_crc32c(0, x, 32), 0x8a9136aa); /* RFC 3720, B.4 */
  memset(x, 0xff, sizeof x);
  assert_int_equal(smma_crc32c(0, x, 32), 0x62a8ab43);
  for (size_t i = 0; i < sizeof x; i++) x[i] = (unsigned char)(i * i >> 3);
  for (size_t size = 0; size <= 250; size++) {
    assert_int_equal(smma_crc32c(0, x, size), slow_crc32c(x, size));
    assert_int_equal(smma_crc32c(smma_crc32c(0, x, size), x + size, 100), slow_crc32c(x, size + 100));
    smma_crc32c_of_four(x, size, four);
    for (size_t i = 0; i < 4; i++) assert_int_equal(four[i], slow_crc32c(x + i * size, size));
  }
}

/* ---- Contents of a file ---- */

static uint64_t number_at(bytes b, size_t at, size_t size) {
  uint64_t x = 0;
  assert_true(at + size <= b.size);
  for (size_t i = 0; i < size; i++) x |= (uint64_t)(unsigned char)b.bytes[at + i] << 8 * i;
  return x;
}

static void put_number(bytes b, size_t at, size_t size, uint64_t x) {
  for (size_t i = 0; i < size; i++) b.bytes[at + i] = (char)(x >> 8 * i);
}

/* Corrects the checksums of the header and the block, for a file of one block. */
static void sign(bytes b) {
  const size_t first = (size_t)number_at(b, 28, 4);
  put_number(b, 40, 4, 0);
  put_number(b, 40, 4, slow_crc32c(b.bytes, first));
  put_number(b, b.size - 4, 4, slow_crc32c(b.bytes + first, b.size - 4 - first));
}

#define SMALL_HEADER \
  "# arch: volta\n# instruction: mma.m8n8k4.f32.f16.f16.f32\n# k: 4\n# a: f16\n# b: f16\n# c: f32\n# d: f32\n"
#define SMALL_ROWS                                                                                               \
  "3c00 3c01 3c02 3c03 0001 0002 0003 0004 3f800000 3f800001\n8000 0000 0000 0000 0000 0000 0000 ffff 00000000 " \
  "7fffffff\n"

static bytes of_text(const char *text) {
  return convert((bytes){(char *)text, strlen(text)}, SMMA_VECTOR_BINARY, SMMA_ROWS_LATER);
}

static void test_layout(void **state) {
  (void)state;
  const bytes b = of_text(SMALL_HEADER SMALL_ROWS);
  static const char text[] = SMALL_HEADER "# columns: a[0..k-1] b[0..k-1] c d, raw encodings in hex\n";
  const size_t first = (48 + strlen(text) + 63) / 64 * 64;
  assert_memory_equal(b.bytes, "\x89softmma\r\n\x1a\n", 12);
  assert_int_equal(number_at(b, 12, 4), 1);
  assert_int_equal(number_at(b, 16, 8), 2);
  assert_int_equal(number_at(b, 24, 4), 24);
  assert_int_equal(number_at(b, 28, 4), first);
  assert_int_equal(number_at(b, 32, 4), 1024);
  assert_int_equal(number_at(b, 36, 4), strlen(text));
  assert_int_equal(number_at(b, 44, 4), 0);
  assert_memory_equal(b.bytes + 48, text, strlen(text));
  assert_int_equal(b.size, first + 2 * 24 + 4);
  assert_int_equal(number_at(b, first, 2), 0x3c00);
  assert_int_equal(number_at(b, first + 6, 2), 0x3c03);
  assert_int_equal(number_at(b, first + 8, 2), 1);
  assert_int_equal(number_at(b, first + 16, 4), 0x3f800000);
  assert_int_equal(number_at(b, first + 20, 4), 0x3f800001);
  assert_int_equal(number_at(b, first + 24 + 14, 2), 0xffff);
  const bytes copy = copy_of(b);
  sign(copy); /* the checksums were already correct */
  assert_memory_equal(copy.bytes, b.bytes, b.size);
  free(copy.bytes);
  free(b.bytes);
}

/* A test vector of K = 16 in f16 takes at most 80 bytes. */
static void test_size(void **state) {
  (void)state;
  const bytes b = generated(find("H100", "mma.m16n8k16.f32.f16.f16.f32"), 10000, SMMA_VECTOR_BINARY);
  assert_true(b.size <= 1024 + 10000 * 72 + 4 * 10);
  free(b.bytes);
}

/* Parts begin at multiples of their elements' size, with zeros before them, as in a C struct. */
static void test_alignment(void **state) {
  struct row {
    uint8_t a[4], b[4];
    float c;
    uint8_t scale_a[2], scale_b[2];
    double d;
  };
  static const char text[] =
      "# arch: blackwell\n# instruction: test\n# k: 4\n# a: e2m1\n# b: e2m1\n# c: f32\n# d: f64\n# scale: ue8m0 per 2\n"
      "1 2 3 4 5 6 7 8 11223344 7f 80 81 82 0123456789abcdef\n";
  (void)state;
  const bytes b = of_text(text);
  const size_t first = (size_t)number_at(b, 28, 4);
  assert_int_equal(number_at(b, 24, 4), sizeof(struct row));
  assert_int_equal(number_at(b, first + offsetof(struct row, b), 1), 5);
  assert_int_equal(number_at(b, first + offsetof(struct row, c), 4), 0x11223344);
  assert_int_equal(number_at(b, first + offsetof(struct row, scale_a), 1), 0x7f);
  assert_int_equal(number_at(b, first + offsetof(struct row, scale_b), 1), 0x81);
  assert_int_equal(number_at(b, first + offsetof(struct row, d), 8), UINT64_C(0x0123456789abcdef));
  for (size_t i = offsetof(struct row, scale_b) + 2; i < offsetof(struct row, d); i++)
    assert_int_equal(b.bytes[first + i], 0);
  const bytes again = convert(b, SMMA_VECTOR_TEXT, SMMA_ROWS_LATER);
  assert_int_equal(
      again.size,
      strlen(text) + strlen("# columns: a[0..k-1] b[0..k-1] c scale_a[..] scale_b[..] d, raw encodings in hex\n"));
  assert_memory_equal(again.bytes + again.size - 55, text + strlen(text) - 55, 55);
  free(again.bytes);
  free(b.bytes);
}

/* ---- Damage ---- */

static void test_every_byte(void **state) {
  static const unsigned char changes[] = {0x01, 0x80, 0x20, 0xff};
  (void)state;
  const bytes b = of_text(SMALL_HEADER SMALL_ROWS);
  FILE *stream = file_of(b);
  smma_error error;
  assert_int_equal(count_rows(stream, &error), 2);
  for (size_t at = 0; at < b.size; at++)
    for (size_t c = 0; c < sizeof changes; c++) {
      const unsigned char changed = (unsigned char)b.bytes[at] ^ changes[c];
      error.text[0] = '\0';
      assert_int_equal(pwrite(fileno(stream), &changed, 1, (off_t)at), 1);
      rewind(stream);
      if (count_rows(stream, &error) >= 0) fail_msg("byte %zu with 0x%02x turned is not noticed", at, changes[c]);
      assert_true(error.text[0]);
      assert_int_equal(pwrite(fileno(stream), b.bytes + at, 1, (off_t)at), 1);
    }
  fclose(stream);
  free(b.bytes);
}

static void test_every_length(void **state) {
  (void)state;
  const bytes b = of_text(SMALL_HEADER SMALL_ROWS);
  smma_error error;
  for (size_t size = 0; size < b.size; size++)
    if (count_in((bytes){b.bytes, size}, &error) >= 0) fail_msg("%zu of %zu bytes are not noticed", size, b.size);
  expect_error((bytes){b.bytes, b.size - 1}, "it is truncated");
  const bytes longer = copy_of(b);
  longer.bytes[longer.size] = 0;
  expect_error((bytes){longer.bytes, longer.size + 1}, "data follows them");
  free(longer.bytes);
  free(b.bytes);
}

static void test_messages(void **state) {
  static const struct {
    size_t at, size;
    uint64_t number;
    const char *says;
  } changes[] = {{12, 4, 2, "file: version 2 of binary vector files; this program reads version 1"},
                 {0, 1, 0x89, NULL},
                 {5, 1, 'x', "begins nearly as a binary vector file does"},
                 {16, 8, 3, "bytes, but 3 rows are"},
                 {16, 8, 1, "data follows them"},
                 {16, 8, UINT64_MAX, "more than any file has"},
                 {16, 8, UINT64_MAX / 28, "more than any file has"},
                 {24, 4, 28, "the header says 28 bytes a row, but its formats and k take 24"},
                 {28, 4, 0, "the header is damaged"},
                 {32, 4, 2048, "the header is damaged"},
                 {36, 4, 0, "the header is damaged"},
                 {36, 4, UINT32_MAX, "the header is damaged"},
                 {48, 1, 'x', "file: header: line 1, column 1: no header"},
                 {57, 1, '\0', "a NUL byte"}};
  (void)state;
  const bytes b = of_text(SMALL_HEADER SMALL_ROWS);
  smma_error error;
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    const bytes copy = copy_of(b);
    put_number(copy, changes[i].at, changes[i].size, changes[i].number);
    if (changes[i].at != 28) sign(copy);
    if (changes[i].says)
      expect_error(copy, changes[i].says);
    else
      assert_int_equal(count_in(copy, &error), 2);
    free(copy.bytes);
  }
  b.bytes[b.size - 10] ^= 1;
  expect_error(b, "file: the checksum of rows 1 to 2 is wrong: they are damaged");
  free(b.bytes);
}

/* Damage after good blocks does not affect these blocks. */
static void test_late_damage(void **state) {
  (void)state;
  const bytes b = generated(find("V100", "mma.m8n8k4.f32.f16.f16.f32"), 20000, SMMA_VECTOR_BINARY);
  const size_t first = (size_t)number_at(b, 28, 4);
  b.bytes[first + 24 * 17500] ^= 1;
  FILE *stream = file_of(b);
  smma_vector_header header;
  smma_error error;
  smma_row row;
  smma_vector_reader *reader = smma_vector_open(stream, "file", &header, &error);
  assert_non_null(reader);
  for (int i = 0; i < 17408; i++) assert_int_equal(smma_vector_next(reader, &row, &error), SMMA_VECTOR_ROW);
  assert_int_equal(smma_vector_place(reader), 17408);
  assert_int_equal(smma_vector_next(reader, &row, &error), SMMA_VECTOR_ERROR);
  assert_string_equal(error.text, "file: the checksum of rows 17409 to 18432 is wrong: they are damaged");
  smma_vector_close(reader);
  fclose(stream);
  free(b.bytes);
}

/* An encoding with more bits than its format is an error, even if the checksums are correct. */
static void test_wide_elements(void **state) {
  static const char text[] =
      "# arch: blackwell\n# instruction: test\n# k: 4\n# a: e2m1\n# b: e3m2\n# c: f32\n# d: f32\n"
      "1 2 3 4 15 16 17 18 00000001 00000002\n1 2 3 4 15 16 17 18 00000001 00000002\n";
  (void)state;
  const bytes b = of_text(text);
  const size_t first = (size_t)number_at(b, 28, 4), row = (size_t)number_at(b, 24, 4);
  put_number(b, first + row + 2, 1, 0x13);
  sign(b);
  expect_error(b, "file: row 2: 13 does not fit e2m1's 4 bits (a[2])");
  put_number(b, first + 4, 1, 0x55);
  sign(b);
  expect_error(b, "file: row 1: 55 does not fit e3m2's 6 bits (b[0])");
  free(b.bytes);
}

/* ---- Test vectors that are read back ---- */

/* Elements of every width from 3 to 16 bits, in every text that can be read, give the bytes of the binary file. */
static void test_widths(void **state) {
  static const smma_vector_format texts[] = {SMMA_VECTOR_TEXT, SMMA_VECTOR_CSV, SMMA_VECTOR_JSON, SMMA_VECTOR_JSONL};
  (void)state;
  for (int width = 3; width <= 16; width++) {
    char unit[300], name[16];
    smma_error error;
    snprintf(name, sizeof name, width > 3 ? "e2m%d" : "binary3p1se", width - 3);
    snprintf(unit, sizeof unit,
             "{\"softmma-unit\": 1, \"name\": \"width\", \"k\": 4, \"algorithm\": \"G-FDPA\", \"a\": \"%s\", "
             "\"b\": \"%s\", \"c\": \"%s\", \"d\": \"%s\", \"alignment_bits\": \"exact\"}",
             name, name, name, name);
    smma_custom *custom = smma_custom_parse("width", unit, strlen(unit), &error);
    if (!custom) fail_msg("%s", error.text);
    const smma_instruction *i = smma_custom_instruction(custom);
    const bytes wanted = generated(i, 50, SMMA_VECTOR_BINARY);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
      const bytes text = generated(i, 50, texts[t]), got = convert(text, SMMA_VECTOR_BINARY, 50);
      if (got.size != wanted.size || memcmp(got.bytes, wanted.bytes, got.size) != 0)
        fail_msg("%s: text %d is not the binary file", name, (int)texts[t]);
      free(text.bytes), free(got.bytes);
    }
    free(wanted.bytes);
    smma_custom_free(custom);
  }
}

/* ---- Vector files in folders, which are recognised by their first lines ---- */

/* Returns a file with `x` replaced by `y` wherever it stands. */
static bytes replaced(bytes from, const char *x, const char *y) {
  const char *at = from.bytes, *const end = at + from.size;
  const size_t length = strlen(x);
  bytes to = {NULL, 0};
  FILE *out = open_memstream(&to.bytes, &to.size);
  assert_non_null(out);
  while (at < end)
    if ((size_t)(end - at) >= length && memcmp(at, x, length) == 0)
      fputs(y, out), at += length;
    else
      putc(*at++, out);
  fclose(out);
  return to;
}

/* Returns a file after `count` copies of a text. */
static bytes preceded(bytes from, const char *text, size_t count) {
  bytes to = {NULL, 0};
  FILE *out = open_memstream(&to.bytes, &to.size);
  assert_non_null(out);
  while (count--) fputs(text, out);
  fwrite(from.bytes, 1, from.size, out);
  fclose(out);
  return to;
}

/* Checks that a file of ten rows is read and recognised, and frees it. */
static void expect_recognized(bytes b, const char *what, int format) {
  smma_error error = {.text = ""};
  FILE *stream = file_of(b);
  if (count_rows(stream, &error) != 10) fail_msg("format %d, %s: %s", format, what, error.text);
  if (smma_vector_is_binary(stream) == smma_vector_is_text(stream))
    fail_msg("format %d, %s: not recognised", format, what);
  assert_int_equal(ftell(stream), 0);
  fclose(stream);
  free(b.bytes);
}

/* Every file that is read by its name is recognised in a folder, too, also with a byte order mark, with long or many
   comments, and with other blanks or without the mark in JSON. */
static void test_recognized(void **state) {
  static const char mark[] = "\"file\": \"softmma vectors\"";
  (void)state;
  char comment[2000] = "# ";
  memset(comment + 2, 'x', sizeof comment - 4);
  comment[sizeof comment - 2] = '\n';
  for (int format = 0; format < SMMA_VECTOR_FORMATS; format++) {
    const bytes b = generated(find("V100", "mma.m8n8k4.f32.f16.f16.f32"), 10, (smma_vector_format)format);
    if (format == SMMA_VECTOR_READMEMH) {
      expect_error(b, "cannot be read back");
      free(b.bytes);
      continue;
    }
    expect_recognized(copy_of(b), "as written", format);
    if (format != SMMA_VECTOR_BINARY) {
      expect_recognized(preceded(b, "\xef\xbb\xbf", 1), "byte order mark", format);
      expect_recognized(preceded(b, "\n", 100), "blank lines", format);
      expect_recognized(preceded(b, "# a remark\n", 9000), "many comments", format);
      expect_recognized(preceded(b, comment, 1), "a long comment", format);
      expect_recognized(replaced(b, "\n", " \r\n"), "blanks at the ends of lines", format);
    }
    if (format == SMMA_VECTOR_JSON || format == SMMA_VECTOR_JSONL) {
      char first[sizeof comment + 32];
      snprintf(first, sizeof first, "{\"by\": \"%.*s\", \"arch\"", (int)strlen(comment) - 3, comment + 2);
      expect_recognized(replaced(b, ": ", ":"), "no blanks after colons", format);
      expect_recognized(replaced(b, ": ", "\t: "), "blanks before colons", format);
      expect_recognized(replaced(b, ": [", ":  ["), "more blanks before lists", format);
      expect_recognized(replaced(b, mark, "\"by\": \"a script\""), "no mark", format);
      expect_recognized(replaced(b, "{\"arch\"", first), "a long first line", format);
    }
    free(b.bytes);
  }
}

static void test_numbers_of_rows(void **state) {
  static const uint64_t numbers[] = {0, 1, 2, 1023, 1024, 1025, 4096, 4097, 8191, 8192, 8193, 20000};
  (void)state;
  const smma_instruction *i = find("V100", "mma.m8n8k4.f32.f16.f16.f32");
  for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
    const bytes text = generated(i, numbers[n], SMMA_VECTOR_TEXT),
                binary = generated(i, numbers[n], SMMA_VECTOR_BINARY);
    const bytes announced = convert(text, SMMA_VECTOR_BINARY, numbers[n]);
    const bytes later = convert(text, SMMA_VECTOR_BINARY, SMMA_ROWS_LATER);
    const bytes back = convert(binary, SMMA_VECTOR_TEXT, numbers[n]);
    smma_check_totals totals = {0};
    smma_error error;
    FILE *stream = file_of(binary);
    assert_true(announced.size == binary.size && memcmp(announced.bytes, binary.bytes, binary.size) == 0);
    assert_true(later.size == binary.size && memcmp(later.bytes, binary.bytes, binary.size) == 0);
    assert_true(back.size == text.size && memcmp(back.bytes, text.bytes, text.size) == 0);
    assert_int_equal(count_in(binary, &error), numbers[n]);
    assert_true(smma_check_stream(stream, "file", &totals, &(smma_check_watcher){.mismatch = NULL}, &error));
    assert_true(totals.rows == numbers[n] && totals.mismatches == 0);
    fclose(stream);
    free(text.bytes), free(binary.bytes), free(announced.bytes), free(later.bytes), free(back.bytes);
  }
}

/* One test vector differs, and the comparison must report that one. */
typedef struct {
  unsigned long long line, count;
} seen;

static void see(const smma_mismatch *m, void *context) {
  seen *s = context;
  s->line = m->line;
  s->count++;
}

static void test_mismatch_is_told(void **state) {
  (void)state;
  const smma_instruction *i = find("V100", "mma.m8n8k4.f32.f16.f16.f32");
  for (size_t row = 0; row < 1024; row += 41) {
    const bytes b = generated(i, 1024, SMMA_VECTOR_BINARY);
    const size_t at = (size_t)number_at(b, 28, 4) + 24 * row + 20;
    smma_check_totals totals = {0};
    seen s = {0, 0};
    smma_error error;
    put_number(b, at, 4, number_at(b, at, 4) ^ 0x80000000);
    if ((number_at(b, at, 4) & 0x7fffffff) > 0x7f800000) put_number(b, at, 4, 0x12345678);
    sign(b);
    FILE *stream = file_of(b);
    assert_true(
        smma_check_stream(stream, "file", &totals, &(smma_check_watcher){.mismatch = see, .context = &s}, &error));
    assert_int_equal(totals.mismatches, 1);
    assert_true(s.count == 1 && s.line == row + 1);
    fclose(stream);
    free(b.bytes);
  }
}

/* Converts text to binary, to text, and to binary again. */
static void check_round_trip(bytes text, const char *name) {
  const bytes binary = convert(text, SMMA_VECTOR_BINARY, SMMA_ROWS_LATER);
  const bytes plain = convert(binary, SMMA_VECTOR_TEXT, SMMA_ROWS_LATER);
  const bytes again = convert(plain, SMMA_VECTOR_BINARY, SMMA_ROWS_LATER);
  const bytes direct = convert(text, SMMA_VECTOR_TEXT, SMMA_ROWS_LATER);
  if (binary.size != again.size || memcmp(binary.bytes, again.bytes, again.size) != 0)
    fail_msg("%s: another file when it is converted to and fro", name);
  if (plain.size != direct.size || memcmp(plain.bytes, direct.bytes, direct.size) != 0)
    fail_msg("%s: other rows or another header through a binary file", name);
  free(binary.bytes), free(plain.bytes), free(again.bytes), free(direct.bytes);
}

static int files;

static int visit(const char *path, const struct stat *status, int type, struct FTW *position) {
  FILE *stream = type == FTW_F ? fopen(path, "r") : NULL;
  (void)status, (void)position;
  if (!stream) return 0;
  assert_false(smma_vector_is_binary(stream));
  if (smma_vector_is_text(stream)) {
    const bytes text = take_all(stream);
    check_round_trip(text, path);
    free(text.bytes);
    files++;
  }
  fclose(stream);
  return 0;
}

static void test_own_files(void **state) {
  (void)state;
  assert_int_equal(nftw(OWN_VECTORS, visit, 16, FTW_PHYS), 0);
  assert_true(files > 40);
}

/* Files can hold test vectors of all kinds: with scale factors, in FP64, of integers, and with AMD's headers. */
static void test_other_headers(void **state) {
  static const char *const texts[] = {
      "# recorded on: a GPU; 2026\n# arch: rdna4\n# instruction: v_wmma_i32_16x16x16_iu4\n# k: 2\n# a: s4\n# b: u4\n# "
      "c: s32\n"
      "# d: s32\n# wave: 64\n# fp16_ovfl: 1\n# clamp: 1\nf 1 2 3 ffffffff 00000001\n",
      "# arch: x\n# instruction: y\n# k: 1\n# a: f64\n# b: f64\n# c: f64\n# d: f64\n"
      "3ff0000000000000 0000000000000001 8000000000000000 ffffffffffffffff\n",
      "# arch: x\n# instruction: y\n# k: 2\n# a: tf32\n# b: tf32\n# c: f32\n# d: f16\n3f802000 00000000 1 2 00000003 "
      "7c00\n",
      "# arch: x\n# instruction: y\n# k: 2\n# a: e3m4\n# b: e2m3\n# c: bf16\n# d: bf16\n# scale: ue4m3 per 1\n"
      "ff 00 3f 01 8000 01 02 03 04 7f80\n"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    check_round_trip((bytes){(char *)texts[i], strlen(texts[i])}, texts[i]);
  const bytes b = of_text(texts[0]);
  smma_vector_header header;
  smma_error error;
  FILE *stream = file_of(b);
  smma_vector_reader *reader = smma_vector_open(stream, "file", &header, &error);
  assert_non_null(reader);
  assert_true(header.wave == 64 && header.fp16_ovfl == 1 && header.clamp == 1 && header.a == SMMA_S4);
  assert_string_equal(header.recorded_on, "a GPU; 2026");
  smma_vector_close(reader);
  fclose(stream);
  free(b.bytes);
}

/* Files can be read through a pipe, and after other data in a stream. */
static void test_streams(void **state) {
  (void)state;
  const bytes b = generated(find("V100", "mma.m8n8k4.f32.f16.f16.f32"), 2000, SMMA_VECTOR_BINARY);
  smma_error error;
  FILE *memory = fmemopen(b.bytes, b.size, "r"), *file = tmpfile();
  assert_true(memory && file);
  assert_int_equal(count_rows(memory, &error), 2000);
  fclose(memory);
  fputs("before\n", file);
  fwrite(b.bytes, 1, b.size, file);
  assert_int_equal(fseek(file, 7, SEEK_SET), 0);
  assert_int_equal(count_rows(file, &error), 2000);
  rewind(file);
  assert_false(smma_vector_is_binary(file));
  fclose(file);
  free(b.bytes);
}

/* A file that becomes shorter while it is read gives an error. */
static void test_shortened(void **state) {
  (void)state;
  const bytes b = generated(find("V100", "mma.m8n8k4.f32.f16.f16.f32"), 20000, SMMA_VECTOR_BINARY);
  FILE *stream = file_of(b);
  smma_vector_header header;
  smma_vector_status status;
  smma_error error;
  smma_row row;
  smma_vector_reader *reader = smma_vector_open(stream, "file", &header, &error);
  assert_non_null(reader);
  assert_int_equal(smma_vector_next(reader, &row, &error), SMMA_VECTOR_ROW);
  assert_int_equal(ftruncate(fileno(stream), (off_t)b.size / 2), 0);
  while ((status = smma_vector_next(reader, &row, &error)) == SMMA_VECTOR_ROW) continue;
  assert_int_equal(status, SMMA_VECTOR_ERROR);
  assert_non_null(strstr(error.text, "shortened while it was read"));
  smma_vector_close(reader);
  fclose(stream);
  free(b.bytes);
}

/* The number of test vectors is inserted afterwards only if the output allows it; a number announced in advance must be
   met. */
static void test_writer_refuses(void **state) {
  (void)state;
  smma_vector_header header;
  smma_error error;
  int ends[2];
  smma_vector_header_of(find("V100", "mma.m8n8k4.f32.f16.f16.f32"), &header);
  assert_int_equal(pipe(ends), 0);
  FILE *in = fdopen(ends[1], "w"), *file = tmpfile();
  assert_true(in && file);
  assert_null(smma_vector_create(in, SMMA_VECTOR_BINARY, &header, SMMA_ROWS_LATER, &error));
  assert_non_null(strstr(error.text, "write it to a file of its own"));
  smma_vector_writer *writer = smma_vector_create(file, SMMA_VECTOR_BINARY, &header, 3, &error);
  assert_non_null(writer);
  assert_false(smma_vector_finish(writer, &error));
  assert_string_equal(error.text, "3 rows were announced, and 0 came");
  smma_vector_free(writer);
  fclose(in);
  fclose(file);
  close(ends[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checksums), cmocka_unit_test(test_layout),          cmocka_unit_test(test_size),
      cmocka_unit_test(test_alignment), cmocka_unit_test(test_every_byte),      cmocka_unit_test(test_every_length),
      cmocka_unit_test(test_messages),  cmocka_unit_test(test_late_damage),     cmocka_unit_test(test_wide_elements),
      cmocka_unit_test(test_widths),    cmocka_unit_test(test_numbers_of_rows), cmocka_unit_test(test_mismatch_is_told),
      cmocka_unit_test(test_own_files), cmocka_unit_test(test_other_headers),   cmocka_unit_test(test_streams),
      cmocka_unit_test(test_shortened), cmocka_unit_test(test_writer_refuses),  cmocka_unit_test(test_recognized)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
