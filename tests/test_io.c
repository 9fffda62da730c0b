/* Tensor files, vector files and names of formats. The tests build files byte by byte, in a directory of their own. */
#define _XOPEN_SOURCE 700
/* cmocka.h needs the three headers before it. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"
#include "isa/format_name.h"
#include "matrix/stored.h"
#include "matrix/tensor.h"
#include "rows/text.h"

static char directory[] = "/tmp/softmma-test-io-XXXXXX";

/* Returns a name in the test directory; valid until the fourth call after it. */
static const char *in_directory(const char *name) {
  static char paths[4][512];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

static const char *write_file(const char *name, const void *bytes, size_t size) {
  const char *path = in_directory(name);
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(bytes, 1, size, stream), size);
  assert_int_equal(fclose(stream), 0);
  return path;
}

static int files_in_directory(void) {
  int count = 0;
  DIR *listing = opendir(directory);
  assert_non_null(listing);
  for (const struct dirent *entry; (entry = readdir(listing));) count += entry->d_name[0] != '.';
  closedir(listing);
  return count;
}

static int make_directory(void **state) {
  (void)state;
  return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state) {
  (void)state;
  DIR *listing = opendir(directory);
  if (!listing) return -1;
  for (const struct dirent *entry; (entry = readdir(listing));)
    if (entry->d_name[0] != '.') unlink(in_directory(entry->d_name));
  closedir(listing);
  return rmdir(directory);
}

/* Checks that an error is one line that begins with the path. */
static void check_line(const smma_error *error, const char *path) {
  assert_true(strlen(error->text) > strlen(path) + 2);
  assert_memory_equal(error->text, path, strlen(path));
  assert_null(strpbrk(error->text, "\n\r\t"));
}

typedef struct {
  unsigned char bytes[4096];
  size_t size;
} image;

static void append(image *file, const void *bytes, size_t size) {
  assert_true(file->size + size <= sizeof file->bytes);
  if (size) memcpy(file->bytes + file->size, bytes, size);
  file->size += size;
}

static image npy_image(int version, const char *header, const void *data, size_t size) {
  image file = {.size = 0};
  size_t length = strlen(header);
  unsigned char prefix[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0};
  prefix[8] = (unsigned char)length;
  prefix[9] = (unsigned char)(length >> 8);
  append(&file, prefix, version == 1 ? 10 : 12);
  append(&file, header, length);
  append(&file, data, size);
  return file;
}

static image safetensors_image(const char *header, const void *data, size_t size) {
  image file = {.size = 0};
  size_t length = strlen(header);
  unsigned char prefix[8] = {(unsigned char)length, (unsigned char)(length >> 8)};
  append(&file, prefix, sizeof prefix);
  append(&file, header, length);
  append(&file, data, size);
  return file;
}

/* Reads from memory with a known size, as from a regular file, and again with an unknown size, as from a pipe; both
   must give the same tensor. */
static bool parse(const image *file, const char *path, const char *name, smma_tensor *tensor, smma_error *error) {
  const bool npy = path[2] == 'n';
  bool done[2];
  for (int piped = 0; piped < 2; piped++) {
    smma_input input;
    smma_tensor read = {.format = SMMA_NO_FORMAT};
    smma_error other;
    assert_true(smma_input_memory(file->bytes, file->size, path, &input, error));
    if (piped) input.size = SMMA_SIZE_UNKNOWN;
    done[piped] = npy ? smma_npy_read(&input, piped ? &read : tensor, piped ? &other : error)
                      : smma_safetensors_read(&input, name, piped ? &read : tensor, piped ? &other : error);
    smma_input_close(&input);
    if (!done[piped]) check_line(piped ? &other : error, path);
    if (!piped || !done[piped]) continue;
    assert_true(done[0]);
    assert_int_equal(read.rows, tensor->rows);
    assert_memory_equal(read.data, tensor->data, read.rows * read.columns * (size_t)read.bytes);
    smma_tensor_free(&read);
  }
  assert_int_equal(done[0], done[1]);
  return done[0];
}

static bool parse_npy(const image *file, smma_tensor *tensor, smma_error *error) {
  return parse(file, "x.npy", NULL, tensor, error);
}

static bool parse_safetensors(const image *file, const char *name, smma_tensor *tensor, smma_error *error) {
  return parse(file, "x.safetensors", name, tensor, error);
}

static void check_tensor(smma_tensor *tensor, smma_format format, int bytes, size_t rows, size_t columns,
                         const void *data) {
  assert_int_equal(tensor->format, format);
  assert_int_equal(tensor->bytes, bytes);
  assert_int_equal(tensor->rows, rows);
  assert_int_equal(tensor->columns, columns);
  assert_non_null(tensor->data);
  assert_memory_equal(tensor->data, data, rows * columns * (size_t)bytes);
  smma_tensor_free(tensor);
  assert_null(tensor->data);
}

static void expect_npy_error(const char *header, size_t data_size, const char *text) {
  unsigned char data[64] = {0};
  image file = npy_image(1, header, data, data_size);
  smma_tensor tensor = {.format = SMMA_NO_FORMAT};
  smma_error error;
  assert_false(parse_npy(&file, &tensor, &error));
  if (!strstr(error.text, text)) fail_msg("\"%s\" does not say \"%s\"", error.text, text);
}

static void expect_safetensors_error(const char *header, const char *name, size_t data_size, const char *text) {
  unsigned char data[64] = {0};
  image file = safetensors_image(header, data, data_size);
  smma_tensor tensor = {.format = SMMA_NO_FORMAT};
  smma_error error;
  assert_false(parse_safetensors(&file, name, &tensor, &error));
  if (!strstr(error.text, text)) fail_msg("\"%s\" does not say \"%s\"", error.text, text);
}

static void test_format_names(void **state) {
  (void)state;
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++) {
    const smma_format format = smma_format_at(row);
    if (format != SMMA_E8M13) assert_int_equal(smma_format_from_text(smma_format_text(format)), format);
  }
  assert_string_equal(smma_format_text(SMMA_E8M13), "e8m13");
  assert_string_equal(smma_format_text(SMMA_NO_FORMAT), "none");
  assert_int_equal(smma_format_from_text("half"), SMMA_F16);
  assert_int_equal(smma_format_from_text("BFloat16"), SMMA_BF16);
  assert_int_equal(smma_format_from_text("xf32"), SMMA_TF32);
  assert_int_equal(smma_format_from_text("float8_e4m3fn"), SMMA_E4M3);
  assert_int_equal(smma_format_from_text("F8_E8M0"), SMMA_UE8M0);
  static const char *const unknown[] = {"", "fp8", "bf8", "e8m13", "none", "int16", "f32 "};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    assert_int_equal(smma_format_from_text(unknown[i]), SMMA_NO_FORMAT);
}

static void test_error_is_one_line(void **state) {
  (void)state;
  smma_error error;
  char long_text[3000];
  memset(long_text, 'a', sizeof long_text - 1);
  long_text[sizeof long_text - 1] = '\0';
  assert_false(smma_fail(&error, "a%sb", "\n\x1b"));
  assert_string_equal(error.text, "a??b");
  assert_false(smma_fail(&error, "%s", "gr\xc3\xb6\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"));
  assert_string_equal(error.text, "gr\xc3\xb6\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
  assert_false(smma_fail(&error, "%s", "\x80 \xc2\x9b \xc3 \xe2\x82 \xed\xa0\x80 \xc0\xaf \xf5\x80\x80\x80 \xff\x7f"));
  assert_string_equal(error.text, "? ?? ? ?? ??? ?? ???? ??");
  assert_false(smma_fail(&error, "%s", long_text));
  assert_int_equal(strlen(error.text), sizeof error.text - 1);
  assert_false(smma_fail(NULL, "nobody listens"));
}

static void test_npy_types(void **state) {
  (void)state;
  static const struct {
    const char *descr;
    smma_format format;
    int bytes;
    bool swapped;
  } types[] = {
      {"<f2", SMMA_F16, 2, false},       {"<f4", SMMA_F32, 4, false},       {"<f8", SMMA_F64, 8, false},
      {">f2", SMMA_F16, 2, true},        {">f4", SMMA_F32, 4, true},        {">f8", SMMA_F64, 8, true},
      {"|f1", SMMA_E5M2, 1, false},      {"<f1", SMMA_E5M2, 1, false},      {"|u1", SMMA_U8, 1, false},
      {"|i1", SMMA_S8, 1, false},        {"<i4", SMMA_S32, 4, false},       {">i4", SMMA_S32, 4, true},
      {"<u2", SMMA_NO_FORMAT, 2, false}, {">u2", SMMA_NO_FORMAT, 2, true},  {"<i2", SMMA_NO_FORMAT, 2, false},
      {"|V1", SMMA_NO_FORMAT, 1, false}, {"<V1", SMMA_NO_FORMAT, 1, false}, {"<V2", SMMA_NO_FORMAT, 2, false},
      {">V2", SMMA_NO_FORMAT, 2, true},  {"|V2", SMMA_NO_FORMAT, 2, false}, {"|b1", SMMA_B1, 1, false},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    unsigned char data[48];
    char header[128];
    uint64_t expected[6] = {0};
    size_t width = (size_t)types[i].bytes;
    for (size_t j = 0; j < 6; j++) { /* element j is the number 0x...0201 + j, so this test assumes no byte order */
      uint64_t value = UINT64_C(0x0807060504030201) + j;
      uint8_t one = (uint8_t)value;
      uint16_t two = (uint16_t)value;
      uint32_t four = (uint32_t)value;
      const void *native = width == 1 ? (void *)&one : width == 2 ? (void *)&two : width == 4 ? (void *)&four : &value;
      memcpy((char *)expected + j * width, native, width);
      for (size_t k = 0; k < width; k++)
        data[j * width + k] = (unsigned char)(value >> 8 * (types[i].swapped ? width - 1 - k : k));
    }
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (2, 3), }\n", types[i].descr);
    for (int version = 1; version <= 3; version++) {
      image file = npy_image(version, header, data, 6 * width);
      smma_tensor tensor;
      smma_error error;
      if (!parse_npy(&file, &tensor, &error)) fail_msg("%s: %s", types[i].descr, error.text);
      check_tensor(&tensor, types[i].format, types[i].bytes, 2, 3, expected);
    }
  }
}

static void test_npy_shapes(void **state) {
  (void)state;
  static const struct {
    const char *header;
    size_t rows, columns, size;
    const char *expected;
  } cases[] = {
      {"{'descr':'|u1','fortran_order':True,'shape':(2,3)}", 2, 3, 6, "acebdf"},
      {"{'descr':'|u1','fortran_order':True,'shape':(1,6)}", 1, 6, 6, "abcdef"},
      {"{'descr':'|u1','fortran_order':True,'shape':(6,)}", 1, 6, 6, "abcdef"},
      {"{\"shape\": (3L, 2L), 'fortran_order': False, 'descr': \"|u1\"}  \n", 3, 2, 6, "abcdef"},
      {"{'descr':'|u1','fortran_order':False,'shape':(6,)}", 1, 6, 6, "abcdef"},
      {"{'descr':'|u1','fortran_order':False,'shape':(0,)}", 1, 0, 0, ""},
      {"{'descr':'|u1','fortran_order':True,'shape':(0, 3)}", 0, 3, 0, ""},
      {"{'descr':'|u1','fortran_order':True,'shape':(18446744073709551615, 0)}", SIZE_MAX, 0, 0, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    image file = npy_image(1, cases[i].header, "abcdef", cases[i].size);
    smma_tensor tensor;
    smma_error error;
    if (!parse_npy(&file, &tensor, &error)) fail_msg("%s", error.text);
    check_tensor(&tensor, SMMA_U8, 1, cases[i].rows, cases[i].columns, cases[i].expected);
  }
}

#define U1 "{'descr':'|u1','fortran_order':False,'shape':"

static void test_npy_size_errors(void **state) {
  (void)state;
  expect_npy_error(U1 "(2,3)}", 5,
                   "x.npy: byte 61: 6 bytes of data expected for shape (2, 3), 5 present; the file is truncated");
  expect_npy_error(U1 "(2,3)}", 7, "6 bytes of data expected for shape (2, 3), 7 present; save one array per file");
  expect_npy_error(U1 "()}", 1, "byte 55: shape () has 0 dimensions; one or two are accepted");
  expect_npy_error(U1 "(2,1,3)}", 6, "shape (2, 1, 3) has 3 dimensions");
  expect_npy_error(U1 "(4294967296,4294967296)}", 0, "shape (4294967296, 4294967296) has more elements than memory");
  expect_npy_error("{'descr':'<f8','fortran_order':False,'shape':(2305843009213693952,)}", 0,
                   "more elements than memory");
  expect_npy_error(U1 "(18446744073709551616,)}", 0, "a dimension does not fit 64 bits");
  expect_npy_error(U1 "(99999999999999999999999,)}", 0, "a dimension does not fit 64 bits");
  expect_npy_error(U1 "(9223372036854775807,)}", 3, "9223372036854775807 bytes of data expected");
}

static void test_npy_type_errors(void **state) {
  (void)state;
  static const char *const refused[] = {"<i9", "<u3", "<c8", "|b2",  "|O",  "<U3", "|S1", "<M8[ns]",
                                        "|f4", "=f4", "f4",  "<f16", "|V3", "<V4", "",    "<"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    char header[128];
    snprintf(header, sizeof header, "{'descr':'%s','fortran_order':False,'shape':(1,)}", refused[i]);
    expect_npy_error(header, 8, "accepted are f1 (E5M2), f2, f4, f8, integers i1 to i8");
    expect_npy_error(header, 8, "x.astype(np.float32)");
  }
  expect_npy_error("{'descr':[('a','<f4')],'fortran_order':False,'shape':(1,)}", 4,
                   "byte 19: the array's type is structured");
}

static void test_npy_header_errors(void **state) {
  (void)state;
  expect_npy_error("", 0, "byte 10: expected '{', found the end of the header");
  expect_npy_error("[1]", 0, "byte 10: expected '{', found byte 0x5b");
  expect_npy_error("{}", 0, "the header has no 'descr'");
  expect_npy_error("{'descr':'<f4','shape':(1,)}", 4, "the header has no 'fortran_order'");
  expect_npy_error("{'descr':'<f4','fortran_order':False}", 4, "the header has no 'shape'");
  expect_npy_error("{'descr':'<f4','descr':'<f4'}", 4, "byte 25: 'descr' comes twice");
  expect_npy_error("{'order':'C'}", 4, "'order' is no key of a .npy header");
  expect_npy_error("{'fortran_order':false}", 4, "expected True or False");
  expect_npy_error("{'descr' '<f4'}", 4, "expected ':'");
  expect_npy_error("{'descr':'<f4' 'shape'}", 4, "expected ',' or '}'");
  expect_npy_error("{'descr':'<f4", 0, "expected the closing quote");
  expect_npy_error("{'de\\x73cr':'<f4'}", 0, "expected a plain character");
  expect_npy_error("{'a key longer than any that a header may have':1}", 0, "no name or type is this long");
  expect_npy_error("{descr:'<f4'}", 0, "expected a quoted string");
  expect_npy_error(U1 "(3)}", 3, "expected ','");
  expect_npy_error(U1 "3}", 3, "expected '('");
  expect_npy_error(U1 "(-3,)}", 3, "expected a dimension");
  expect_npy_error(U1 "(03,)}", 3, "a dimension begins with 0");
  expect_npy_error(U1 "(1 2)}", 3, "expected ','");
  expect_npy_error(U1 "(1,2 3)}", 3, "expected ',' or ')'");
  expect_npy_error(U1 "(1,)} x", 1, "only blanks after '}'");
  char many[512] = U1 "(";
  for (int i = 0; i < 65; i++) strcat(many, "1,");
  strcat(many, ")}");
  expect_npy_error(many, 1, "more than 64 dimensions");
}

static void test_npy_versions_and_magic(void **state) {
  (void)state;
  image file = npy_image(4, U1 "(1,)}", "a", 1);
  smma_tensor tensor;
  smma_error error;
  assert_false(parse_npy(&file, &tensor, &error));
  assert_non_null(strstr(error.text, "byte 6: version 4.0 of .npy is not known"));
  file = npy_image(2, U1 "(1,)}", "a", 1);
  file.bytes[11] = 0x80; /* header of 2 GiB */
  assert_false(parse_npy(&file, &tensor, &error));
  assert_non_null(strstr(error.text, "byte 8: a header of 2147483"));
  file.bytes[0] = 'x';
  assert_false(parse_npy(&file, &tensor, &error));
}

static void test_npy_cut_anywhere(void **state) {
  (void)state;
  for (int version = 1; version <= 3; version++) {
    image file = npy_image(version, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }    \n",
                           "0123456789abcdef01234567", 24);
    smma_tensor tensor = {.format = SMMA_NO_FORMAT};
    smma_error error;
    assert_true(parse_npy(&file, &tensor, &error));
    smma_tensor_free(&tensor);
    for (file.size--; file.size > 0; file.size--) assert_false(parse_npy(&file, &tensor, &error));
    assert_false(parse_npy(&file, &tensor, &error));
    assert_null(tensor.data);
  }
}

static void test_safetensors_types(void **state) {
  (void)state;
  static const struct {
    const char *dtype;
    smma_format format;
    int bytes;
  } types[] = {
      {"F64", SMMA_F64, 8},
      {"F32", SMMA_F32, 4},
      {"F16", SMMA_F16, 2},
      {"BF16", SMMA_BF16, 2},
      {"F8_E4M3", SMMA_E4M3, 1},
      {"F8_E5M2", SMMA_E5M2, 1},
      {"F8_E4M3FNUZ", SMMA_E4M3FNUZ, 1},
      {"F8_E5M2FNUZ", SMMA_E5M2FNUZ, 1},
      {"F8_E8M0", SMMA_UE8M0, 1},
      {"U8", SMMA_U8, 1},
      {"BOOL", SMMA_B1, 1},
      {"I8", SMMA_S8, 1},
      {"I32", SMMA_S32, 4},
      {"U16", SMMA_NO_FORMAT, 2},
      {"I16", SMMA_NO_FORMAT, 2},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    unsigned char data[48], native[48];
    char header[128];
    size_t width = (size_t)types[i].bytes, size = 6 * width;
    for (size_t j = 0; j < size; j++) data[j] = (unsigned char)(j * 37 + 1);
    for (size_t j = 0; j < 6; j++) {
      uint64_t value = 0;
      for (size_t k = 0; k < width; k++) value |= (uint64_t)data[j * width + k] << 8 * k;
      uint32_t four = (uint32_t)value;
      uint16_t two = (uint16_t)value;
      uint8_t one = (uint8_t)value;
      memcpy(native + j * width,
             width == 1   ? (void *)&one
             : width == 2 ? (void *)&two
             : width == 4 ? (void *)&four
                          : &value,
             width);
    }
    snprintf(header, sizeof header, "{\"x\":{\"dtype\":\"%s\",\"shape\":[3,2],\"data_offsets\":[0,%zu]}}",
             types[i].dtype, size);
    image file = safetensors_image(header, data, size);
    smma_tensor tensor;
    smma_error error;
    if (!parse_safetensors(&file, NULL, &tensor, &error)) fail_msg("%s", error.text);
    check_tensor(&tensor, types[i].format, types[i].bytes, 3, 2, native);
  }
}

static void test_safetensors_packed(void **state) {
  (void)state;
  smma_tensor tensor;
  smma_error error;
  image file =
      safetensors_image("{\"x\":{\"dtype\":\"F4\",\"shape\":[2,3],\"data_offsets\":[0,3]}}", "\x21\x43\xf5", 3);
  assert_true(parse_safetensors(&file, "x", &tensor, &error));
  check_tensor(&tensor, SMMA_E2M1, 1, 2, 3, "\1\2\3\4\5\xf");
  /* encodings 0x01, 0x02, 0x3f, 0x20 and 0x15, 0x2a, 0x00, 0x3e, lowest bits first */
  file = safetensors_image("{\"x\":{\"dtype\":\"F6_E2M3\",\"shape\":[8],\"data_offsets\":[0,6]}}",
                           "\x81\xf0\x83\x95\x0a\xf8", 6);
  assert_true(parse_safetensors(&file, NULL, &tensor, &error));
  check_tensor(&tensor, SMMA_E2M3, 1, 1, 8, "\x01\x02\x3f\x20\x15\x2a\x00\x3e");
  file = safetensors_image("{\"x\":{\"dtype\":\"F6_E3M2\",\"shape\":[2,2],\"data_offsets\":[0,3]}}", "\x81\xf0\x83", 3);
  assert_true(parse_safetensors(&file, NULL, &tensor, &error));
  check_tensor(&tensor, SMMA_E3M2, 1, 2, 2, "\x01\x02\x3f\x20");
  expect_safetensors_error("{\"x\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", NULL, 2,
                           "3 elements of F4 do not fill whole bytes");
  expect_safetensors_error("{\"x\":{\"dtype\":\"F6_E2M3\",\"shape\":[2],\"data_offsets\":[0,2]}}", NULL, 2,
                           "do not fill whole bytes");
}

#define TWO                                                                                                   \
  "{\"__metadata__\":{\"format\":\"pt\"},\"weight\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}," \
  "\"bias\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[2,10]}}"

static void test_safetensors_names(void **state) {
  (void)state;
  smma_tensor tensor;
  smma_error error;
  image file = safetensors_image(TWO, "ab        ", 10);
  assert_true(parse_safetensors(&file, "weight", &tensor, &error));
  check_tensor(&tensor, SMMA_U8, 1, 1, 2, "ab");
  expect_safetensors_error(TWO, NULL, 10, "the file holds 2 tensors; name one as FILE:NAME, from weight, bias");
  expect_safetensors_error(TWO, "weihgt", 10, "no tensor is named 'weihgt'; there are weight, bias");
  expect_safetensors_error(TWO, "biass", 10, "no tensor is named 'biass'; there are bias, weight");
  expect_safetensors_error(TWO, "__metadata__", 10, "no tensor is named '__metadata__'");
  expect_safetensors_error(TWO, "bias", 10, "tensor 'bias' is of dtype C64; accepted are F64, F32");
  expect_safetensors_error("{}", NULL, 0, "the file holds no tensor");
  expect_safetensors_error("{}", "x", 0, "the file holds no tensor");
  char many[2048] = "{\"t0\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
  for (int i = 1; i < 11; i++) {
    size_t length = strlen(many);
    snprintf(many + length, sizeof many - length, ",\"t%d\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}",
             i);
  }
  strcat(many, "}");
  expect_safetensors_error(many, NULL, 0, "from t0, t1, t2 and 8 more");
  expect_safetensors_error(many, "t10x", 0, "there are t10, t0, t1 and 8 more");
}

#define X(dtype, shape, offsets) "{\"x\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void test_safetensors_errors(void **state) {
  (void)state;
  expect_safetensors_error("{\"x\":\n {]}", NULL, 0, "header (JSON from byte 8):2:3: ");
  expect_safetensors_error("{\"x\":1,\"x\":1}", NULL, 0, "(JSON from byte 8):1:8: this key stands here a second time");
  expect_safetensors_error("{} x", NULL, 0, "header (JSON from byte 8):1:4: text follows the end");
  expect_safetensors_error("[1]", NULL, 0, "an object of tensors expected");
  expect_safetensors_error("{\"x\":1}", NULL, 0, "tensor 'x': data_offsets must be two counts");
  expect_safetensors_error(X("\"F32\"", "[1]", "[0]"), NULL, 4, "data_offsets must be two counts");
  expect_safetensors_error(X("\"F32\"", "[1]", "[0,4.0]"), NULL, 4, "data_offsets must be two counts");
  expect_safetensors_error(X("\"F32\"", "[1]", "[-4,0]"), NULL, 4, "data_offsets must be two counts");
  expect_safetensors_error(X("\"F32\"", "[1]", "[0,99999999999999999999]"), NULL, 4, "data_offsets must be two counts");
  expect_safetensors_error(X("\"F32\"", "[1]", "[4,0]"), NULL, 4, "data_offsets begin after their end");
  expect_safetensors_error(X("\"F32\"", "[1]", "[4,8]"), NULL, 8, "overlap or leave a gap at byte 4");
  expect_safetensors_error(
      "{\"x\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
      "\"y\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}",
      "x", 6, "overlap or leave a gap at byte 2");
  expect_safetensors_error(X("\"F32\"", "[2]", "[0,8]"), NULL, 4, "8 bytes of data expected for tensor 'x', 4 present");
  expect_safetensors_error(X("\"F32\"", "[1]", "[0,4]"), NULL, 5,
                           "4 bytes of data expected for all tensors, 5 present");
  expect_safetensors_error(X("\"F32\"", "[2]", "[0,4]"), NULL, 4,
                           "2 elements of F32 take 8 bytes, but data_offsets hold 4");
  expect_safetensors_error(X("\"F32\"", "[4294967296,4294967296]", "[0,4]"), NULL, 4,
                           "more elements than memory can hold");
  expect_safetensors_error(X("\"F32\"", "[4611686018427387904]", "[0,4]"), NULL, 4,
                           "more elements than memory can hold");
  expect_safetensors_error(X("\"F32\"", "[]", "[0,4]"), NULL, 4, "tensor 'x': shape () has 0 dimensions");
  expect_safetensors_error(X("\"F32\"", "[2,1,1]", "[0,8]"), NULL, 8,
                           "shape (2, 1, 1) holds several matrices; name one as NAME[0]");
  expect_safetensors_error(X("\"F32\"", "[-1]", "[0,4]"), NULL, 4, "shape must be an array of counts");
  expect_safetensors_error(X("\"F32\"", "1", "[0,4]"), NULL, 4, "shape must be an array of counts");
  expect_safetensors_error(X("32", "[1]", "[0,4]"), NULL, 4, "dtype must be a string");
  expect_safetensors_error(X("\"C64\"", "[4]", "[0,32]"), NULL, 32, "is of dtype C64; accepted are");
  expect_safetensors_error("{\"a\\nb\":{\"dtype\":\"C64\",\"shape\":[4],\"data_offsets\":[0,32]}}", NULL, 32,
                           "tensor 'a?b'");
}

/* A quantised matrix, whose scale factor comes before its elements in the file; with its stored form, its transpose and
   a part. Factors of FP32 include the matrix's own factor. */
static void test_safetensors_stored(void **state) {
  (void)state;
  static const float numbers[] = {1, 2, 3, 4};
  image file = safetensors_image(
      "{\"w_scale\":{\"dtype\":\"U8\",\"shape\":[1,1],\"data_offsets\":[0,1]},"
      "\"w_packed\":{\"dtype\":\"U8\",\"shape\":[1,2],\"data_offsets\":[1,3]}}",
      "\x80\x21\x43", 3);
  smma_tensor tensor, turned, part, values, scales;
  smma_error error;
  char text[SMMA_STORED_TEXT];
  float factor;
  if (!parse_safetensors(&file, "w", &tensor, &error)) fail_msg("%s", error.text);
  assert_string_equal(smma_stored_text(tensor.stored, text), "mxfp4");
  assert_true(smma_stored_fits(tensor.stored, true, SMMA_E2M1, SMMA_UE8M0, 32));
  assert_false(smma_stored_fits(tensor.stored, true, SMMA_E2M1, SMMA_UE4M3, 16));
  assert_false(smma_stored_fits(tensor.stored, true, SMMA_E2M1, SMMA_NO_FORMAT, 0));
  assert_true(smma_tensor_transpose(&tensor, &turned, &error));
  assert_true(smma_tensor_part(&turned, 2, 2, 0, 1, &part, &error));
  assert_true(smma_stored_fits(part.stored, false, SMMA_E2M1, SMMA_F32, 1));
  assert_true(smma_stored_split(part.stored, false, SMMA_F32, 1, &values, &scales, &factor, &error));
  assert_true(factor == 1);
  check_tensor(&values, SMMA_E2M1, 1, 2, 1, "\3\4");
  check_tensor(&scales, SMMA_F32, 4, 1, 2, (const float[]){2, 2});
  check_tensor(&part, SMMA_F32, 4, 2, 1, numbers + 2);
  check_tensor(&turned, SMMA_F32, 4, 4, 1, numbers);
  check_tensor(&tensor, SMMA_F32, 4, 1, 4, numbers);
}

/* The name of a matrix, the header of a file in which an axis of its elements or of its scale factors has length 0, and
   the number of data bytes. */
static const struct {
  const char *name, *header;
  size_t size;
  const char *error;
} without_factors[] = {
    {"w",
     "{\"w\":{\"dtype\":\"F8_E4M3\",\"shape\":[4,8],\"data_offsets\":[0,32]},"
     "\"w_scale\":{\"dtype\":\"F32\",\"shape\":[4,0],\"data_offsets\":[32,32]}}",
     32, "shape (4, 0) does not fit the 4 x 8 elements of 'w'"},
    {"w",
     "{\"w\":{\"dtype\":\"F8_E4M3\",\"shape\":[4,8],\"data_offsets\":[0,32]},"
     "\"w_scale_inv\":{\"dtype\":\"F32\",\"shape\":[0,8],\"data_offsets\":[32,32]}}",
     32, "shape (0, 8) does not fit the 4 x 8 elements of 'w'"},
    {"w",
     "{\"w\":{\"dtype\":\"F8_E4M3\",\"shape\":[4,8],\"data_offsets\":[0,32]},"
     "\"w_scale\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[32,32]}}",
     32, "shape (0,) does not fit the 4 x 8 elements of 'w'"},
    {"w",
     "{\"w\":{\"dtype\":\"U8\",\"shape\":[4,0],\"data_offsets\":[0,0]},"
     "\"w_scale\":{\"dtype\":\"F8_E4M3\",\"shape\":[4,0],\"data_offsets\":[0,0]}}",
     0, "shape (4, 0) does not fit the 4 x 0 elements of 'w'"},
    {"w",
     "{\"w_packed\":{\"dtype\":\"U8\",\"shape\":[0,16],\"data_offsets\":[0,0]},"
     "\"w_scale\":{\"dtype\":\"U8\",\"shape\":[0,1],\"data_offsets\":[0,0]}}",
     0, "shape (0, 1) does not fit the 0 x 32 elements of 'w_packed'"},
    {"w",
     "{\"w_packed\":{\"dtype\":\"I32\",\"shape\":[2,4],\"data_offsets\":[0,32]},"
     "\"w_scale\":{\"dtype\":\"F32\",\"shape\":[2,0],\"data_offsets\":[32,32]},"
     "\"w_shape\":{\"dtype\":\"I64\",\"shape\":[0],\"data_offsets\":[32,32]}}",
     32, "packed integers need a tensor of the same name with _shape"},
    {"w",
     "{\"w_blocks\":{\"dtype\":\"U8\",\"shape\":[4,0,16],\"data_offsets\":[0,0]},"
     "\"w_scales\":{\"dtype\":\"U8\",\"shape\":[4,0],\"data_offsets\":[0,0]}}",
     0, "shape (4, 0) does not fit the 4 x 0 elements of 'w_blocks'"},
    {"w[0]",
     "{\"w_blocks\":{\"dtype\":\"U8\",\"shape\":[0,4,1,16],\"data_offsets\":[0,0]},"
     "\"w_scales\":{\"dtype\":\"U8\",\"shape\":[0,4,1],\"data_offsets\":[0,0]}}",
     0, "it has no matrix [0]: its leading axis has 0"},
};

static void test_safetensors_axis_of_length_0(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof without_factors / sizeof *without_factors; i++)
    expect_safetensors_error(without_factors[i].header, without_factors[i].name, without_factors[i].size,
                             without_factors[i].error);
}

static void test_safetensors_header_length(void **state) {
  (void)state;
  image file = safetensors_image("{}", "", 0);
  smma_tensor tensor;
  smma_error error;
  file.bytes[4] = 1;
  assert_false(parse_safetensors(&file, NULL, &tensor, &error));
  assert_non_null(strstr(error.text, "byte 0: a header of 4294967298 bytes is longer than the format allows"));
  file.bytes[4] = 0;
  file.bytes[0] = 200;
  assert_false(parse_safetensors(&file, NULL, &tensor, &error));
  assert_non_null(strstr(error.text, "byte 8: 200 bytes of header expected, 2 present; the file is truncated"));
}

static void test_safetensors_cut_anywhere(void **state) {
  (void)state;
  image file = safetensors_image(TWO, "ab        ", 10);
  smma_tensor tensor = {.format = SMMA_NO_FORMAT};
  smma_error error;
  for (file.size--; file.size > 0; file.size--) assert_false(parse_safetensors(&file, "weight", &tensor, &error));
  assert_false(parse_safetensors(&file, "weight", &tensor, &error));
  assert_null(tensor.data);
}

static void test_read_by_path(void **state) {
  (void)state;
  smma_tensor tensor;
  smma_error error;
  image npy = npy_image(1, U1 "(2,)}", "ab", 2), two = safetensors_image(TWO, "cd        ", 10);
  char path[300];
  write_file("misnamed.txt", npy.bytes, npy.size);
  write_file("two.safetensors", two.bytes, two.size);
  assert_true(smma_tensor_read(in_directory("misnamed.txt"), &tensor, &error));
  check_tensor(&tensor, SMMA_U8, 1, 1, 2, "ab");
  assert_true(smma_tensor_read(in_directory("two.safetensors:weight"), &tensor, &error));
  check_tensor(&tensor, SMMA_U8, 1, 1, 2, "cd");
  write_file("two.safetensors:bias", npy.bytes, npy.size); /* a file name with a colon */
  assert_true(smma_tensor_read(in_directory("two.safetensors:bias"), &tensor, &error));
  check_tensor(&tensor, SMMA_U8, 1, 1, 2, "ab");
  assert_false(smma_tensor_read(in_directory("misnamed.txt:x"), &tensor, &error));
  assert_non_null(strstr(error.text, "one array without a name; leave out ':x'"));
  assert_false(smma_tensor_read(in_directory("absent.npy"), &tensor, &error));
  snprintf(path, sizeof path, "%s: cannot open: No such file or directory", in_directory("absent.npy"));
  assert_string_equal(error.text, path);
  assert_false(smma_tensor_read(in_directory("absent.safetensors:x"), &tensor, &error));
  assert_non_null(strstr(error.text, "nor is any part before a ':'"));
  assert_false(smma_tensor_read(directory, &tensor, &error));
  assert_non_null(strstr(error.text, "this is a directory"));
  assert_true(smma_tensor_read(in_directory("two.safetensors:weight"), &tensor, NULL));
  smma_tensor_free(&tensor);
}

static void test_other_kinds_of_file(void **state) {
  (void)state;
  static const struct {
    const char *bytes, *text;
    size_t size;
  } kinds[] = {{"", "only 0 bytes, too short", 0},
               {"\x93NUMP", "only 5 bytes", 5},
               {"PK\3\4........", "this is a zip archive (.npz, or PyTorch's .pt)", 12},
               {"some text in a file", "neither a .npy nor a .safetensors file", 19}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    smma_tensor tensor;
    smma_error error;
    const char *path = write_file("kind", kinds[i].bytes, kinds[i].size);
    assert_false(smma_tensor_read(path, &tensor, &error));
    check_line(&error, path);
    if (!strstr(error.text, kinds[i].text)) fail_msg("\"%s\" does not say \"%s\"", error.text, kinds[i].text);
  }
}

/* Loads data that are larger than the first buffer from a pipe, whose size is unknown until it ends. */
static void test_load_from_pipe(void **state) {
  (void)state;
  enum { SIZE = 300000 };
  char command[300];
  unsigned char *bytes = malloc(SIZE);
  smma_file_bytes file;
  smma_error error;
  assert_non_null(bytes);
  for (int i = 0; i < SIZE; i++) bytes[i] = (unsigned char)(i * 7 >> 3);
  const char *path = write_file("big", bytes, SIZE);
  snprintf(command, sizeof command, "cat %s", path);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  snprintf(command, sizeof command, "/dev/fd/%d", fileno(pipe));
  assert_true(smma_file_load(command, SIZE, &file, &error));
  assert_int_equal(file.size, SIZE);
  assert_memory_equal(file.bytes, bytes, SIZE);
  smma_file_release(&file);
  assert_int_equal(pclose(pipe), 0);
  assert_false(smma_file_load(path, SIZE - 1, &file, &error));
  assert_non_null(strstr(error.text, "300000 bytes; such a file has at most 299999"));
  assert_false(smma_file_load("/dev/zero", SIZE, &file, &error));
  assert_string_equal(error.text, "/dev/zero: more than 300000 bytes, which is the most that such a file has");
  free(bytes);
}

/* A file may become shorter between opening and reading, for example because a program rewrites it. Reading must fail.
 */
static void test_shortened_while_read(void **state) {
  (void)state;
  unsigned char data[8192] = {0};
  image head = npy_image(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1024, 2), }", NULL, 0);
  const char *path = write_file("shrinks.npy", head.bytes, head.size);
  FILE *stream = fopen(path, "ab");
  assert_non_null(stream);
  assert_int_equal(fwrite(data, 1, sizeof data, stream), sizeof data);
  assert_int_equal(fclose(stream), 0);
  for (off_t left = 0; left < (off_t)(head.size + sizeof data); left += 1000) {
    smma_input input;
    smma_tensor tensor;
    smma_error error;
    assert_true(smma_input_open(path, &input, &error));
    assert_int_equal(truncate(path, left), 0);
    assert_false(smma_npy_read(&input, &tensor, &error));
    assert_non_null(strstr(error.text, "the file was shortened while it was read"));
    smma_input_close(&input);
    assert_int_equal(truncate(path, (off_t)(head.size + sizeof data)), 0);
    stream = fopen(path, "r+b");
    assert_non_null(stream);
    assert_int_equal(fwrite(head.bytes, 1, head.size, stream), head.size);
    assert_int_equal(fclose(stream), 0);
  }
}

static void test_npy_round_trip(void **state) {
  (void)state;
  uint64_t data[6];
  for (size_t i = 0; i < 6; i++) data[i] = UINT64_C(0x0123456789abcdef) * (i + 1);
  for (int row = 0; row <= SMMA_FORMAT_COUNT; row++) {
    const smma_format format = row < SMMA_FORMAT_COUNT ? smma_format_at(row) : SMMA_NO_FORMAT;
    int bits = smma_encoding_of(format).bits;
    smma_tensor tensor = {format, bits > 32 ? 8 : bits > 16 ? 4 : bits > 8 ? 2 : 1, 3, 2, data, SMMA_NO_INTEGERS, false,
                          NULL};
    smma_tensor back;
    smma_error error;
    smma_format known = SMMA_NO_FORMAT; /* the format that the file identifies */
    if (format == SMMA_F64 || format == SMMA_F16) known = (smma_format)format;
    if (tensor.bytes == 4) known = SMMA_F32;
    if (smma_is_integer((smma_format)format) && bits >= 8) known = (smma_format)format;
    const char *path = in_directory("round.npy");
    if (!smma_npy_write(path, &tensor, &error)) fail_msg("%s", error.text);
    if (!smma_tensor_read(path, &back, &error)) fail_msg("%s", error.text);
    check_tensor(&back, known, tensor.bytes, 3, 2, data);
  }
}

static void test_npy_written_bytes(void **state) {
  (void)state;
  uint16_t data[2] = {0x3c00, 0x4000};
  smma_tensor tensor = {SMMA_F16, 2, 1, 2, data, SMMA_NO_INTEGERS, false, NULL};
  smma_error error;
  smma_file_bytes file;
  static const char header[] = "\x93NUMPY\1\0\x76\0{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2), }";
  const char *path = in_directory("bytes.npy");
  assert_true(smma_npy_write(path, &tensor, &error));
  assert_true(smma_file_load(path, 4096, &file, &error));
  assert_int_equal(file.size, 128 + 4);
  assert_memory_equal(file.bytes, header, sizeof header - 1);
  assert_int_equal(file.bytes[126], ' ');
  assert_memory_equal(file.bytes + 127, "\n\0\x3c\0\x40", 5);
  smma_file_release(&file);
}

static void test_npy_write_refused(void **state) {
  (void)state;
  uint32_t data[1] = {0};
  smma_error error;
  smma_tensor wide = {SMMA_NO_FORMAT, 4, 1, 1, data, SMMA_NO_INTEGERS, false, NULL},
              wrong = {SMMA_E4M3, 4, 1, 1, data, SMMA_NO_INTEGERS, false, NULL};
  smma_tensor endless = {SMMA_F32, 4, SIZE_MAX, 2, data, SMMA_NO_INTEGERS, false, NULL};
  const char *path = in_directory("refused.npy");
  assert_false(smma_npy_write(path, &wide, &error));
  assert_false(smma_npy_write(path, &wrong, &error));
  assert_non_null(strstr(error.text, "elements of format e4m3 in 4 bytes"));
  assert_false(smma_npy_write(path, &endless, &error));
  assert_int_not_equal(access(path, F_OK), 0);
}

/* A file that cannot be written leaves the old content and nothing else. */
static void test_write_failures(void **state) {
  (void)state;
  uint32_t data[4096] = {0};
  smma_tensor tensor = {SMMA_F32, 4, 64, 64, data, SMMA_NO_INTEGERS, false, NULL};
  smma_error error;
  struct rlimit limit, small;
  const char *path = write_file("kept.npy", "old", 3);
  int before = files_in_directory();
  assert_false(smma_npy_write(in_directory("kept.npy/x.npy"), &tensor, &error));
  assert_non_null(strstr(error.text, "cannot write: Not a directory"));
  assert_false(smma_npy_write(in_directory("absent/x.npy"), &tensor, &error));
  assert_false(smma_npy_write("", &tensor, &error));
  assert_string_equal(error.text, "cannot write: the name of the file is empty");
  assert_false(smma_npy_write(directory, &tensor, &error));
  assert_false(smma_npy_write("/dev/full", &tensor, &error));
  assert_string_equal(error.text, "/dev/full: cannot write: No space left on device");
  assert_true(smma_npy_write("/dev/null", &tensor, &error));
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  small = limit;
  small.rlim_cur = 8192;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  smma_error absent;
  bool written = smma_npy_write(in_directory("new.npy"), &tensor, &absent) || smma_npy_write(path, &tensor, &error);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  signal(SIGXFSZ, SIG_DFL);
  assert_false(written);
  check_line(&error, path);
  assert_non_null(strstr(error.text, "cannot write: File too large; the file that was there before is unchanged"));
  assert_non_null(strstr(absent.text, "cannot write: File too large; no file is left there"));
  assert_int_equal(files_in_directory(), before);
  smma_file_bytes file;
  assert_true(smma_file_load(path, 4096, &file, &error));
  assert_int_equal(file.size, 3);
  smma_file_release(&file);
}

static void test_unwritable_directory(void **state) {
  (void)state;
  uint8_t data[1] = {0};
  smma_tensor tensor = {SMMA_E4M3, 1, 1, 1, data, SMMA_NO_INTEGERS, false, NULL};
  smma_error error;
  int before = files_in_directory();
  if (geteuid() == 0) skip(); /* root may write anywhere */
  assert_int_equal(chmod(directory, 0500), 0);
  bool written = smma_npy_write(in_directory("x.npy"), &tensor, &error);
  assert_int_equal(chmod(directory, 0700), 0);
  assert_false(written);
  assert_non_null(strstr(error.text, "cannot write: Permission denied"));
  assert_int_equal(files_in_directory(), before);
}

static void test_output_replaces_and_abandons(void **state) {
  (void)state;
  smma_output output;
  smma_error error;
  struct stat status;
  char link[256];
  const char *path = write_file("target.txt", "old", 3);
  snprintf(link, sizeof link, "%s/link.txt", directory);
  assert_int_equal(symlink("target.txt", link), 0);
  int before = files_in_directory();
  assert_true(smma_output_open(link, &output, &error));
  fputs("new text", output.stream);
  assert_int_equal(files_in_directory(), before + 1);
  smma_output_abandon(&output);
  assert_int_equal(files_in_directory(), before);
  assert_true(smma_output_open(link, &output, &error));
  fputs("new text", output.stream);
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_size, 3);
  assert_true(smma_output_commit(&output, &error));
  assert_int_equal(stat(path, &status), 0); /* the link still points to it */
  assert_int_equal(status.st_size, 8);
  assert_int_equal(files_in_directory(), before);
}

static void put(const char *path, const char *text) {
  smma_output output;
  smma_error error;
  if (!smma_output_open(path, &output, &error)) fail_msg("%s", error.text);
  fputs(text, output.stream);
  if (!smma_output_commit(&output, &error)) fail_msg("%s", error.text);
}

static mode_t mode_of(const char *path) {
  struct stat status;
  assert_int_equal(lstat(path, &status), 0);
  return status.st_mode;
}

static void test_output_keeps_permissions(void **state) {
  (void)state;
  static const mode_t modes[] = {0600, 0640, 0666, 0755, 04755};
  const char *path = write_file("private", "old", 3);
  mode_t mask = umask(022);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    assert_int_equal(chmod(path, modes[i]), 0);
    put(path, "new");
    assert_int_equal(mode_of(path) & 07777, modes[i]);
  }
  unlink(path);
  put(path, "new");
  assert_int_equal(mode_of(path) & 07777, 0644);
  umask(mask);
  if (geteuid() == 0) return; /* root may write anywhere */
  smma_output output;
  smma_error error;
  assert_int_equal(chmod(path, 0400), 0);
  assert_false(smma_output_open(path, &output, &error));
  assert_non_null(strstr(error.text, "cannot write: Permission denied"));
}

static void test_output_follows_links(void **state) {
  (void)state;
  char first[256], second[256], loop[256];
  smma_output output;
  smma_error error;
  snprintf(first, sizeof first, "%s/first", directory);
  snprintf(second, sizeof second, "%s/second", directory);
  snprintf(loop, sizeof loop, "%s/loop", directory);
  assert_int_equal(symlink(second, first), 0);
  assert_int_equal(symlink("nowhere", second), 0); /* dangles */
  put(first, "new");
  assert_true(S_ISLNK(mode_of(first)) && S_ISLNK(mode_of(second)) && S_ISREG(mode_of(in_directory("nowhere"))));
  put(first, "newer");
  assert_true(S_ISLNK(mode_of(first)) && S_ISLNK(mode_of(second)) && S_ISREG(mode_of(in_directory("nowhere"))));
  assert_int_equal(symlink("loop", loop), 0);
  assert_false(smma_output_open(loop, &output, &error));
  assert_non_null(strstr(error.text, "cannot write: Too many levels of symbolic links"));
}

static void test_output_long_names(void **state) {
  (void)state;
  char name[257];
  smma_output output;
  smma_error error;
  for (size_t length = 190; length <= 255; length++) {
    memset(name, 'n', length);
    name[length] = '\0';
    put(in_directory(name), "new");
    assert_true(S_ISREG(mode_of(in_directory(name))));
    unlink(in_directory(name));
  }
  memset(name, 'n', 256);
  name[256] = '\0';
  assert_false(smma_output_open(in_directory(name), &output, &error));
  assert_non_null(strstr(error.text, "cannot write: File name too long"));
}

#define HEADER "# arch: ampere\n# instruction: test\n# k: 2\n# a: e4m3\n# b: f16\n# c: f32\n# d: f32\n"
#define SCALED \
  "# arch: blackwell\n# instruction: test\n# k: 4\n# a: e2m1\n# b: e2m1\n# c: f32\n# d: f64\n# scale: ue8m0 per 2\n"
#define ROW "12 34 3c00 4000 3f800000 40000000\n"

/* Returns the number of test vectors in a text, or -1 with the error. */
static int read_text(const char *text, size_t size, smma_vector_header *header, smma_row *last, smma_error *error) {
  FILE *stream = size > 0 ? fmemopen((void *)text, size, "rb") : fopen("/dev/null", "rb");
  smma_vector_status status = SMMA_VECTOR_ERROR;
  int rows = 0;
  assert_non_null(stream);
  smma_vector_reader *reader = smma_vector_open(stream, "v.txt", header, error);
  if (reader)
    while ((status = smma_vector_next(reader, last, error)) == SMMA_VECTOR_ROW) rows++;
  smma_vector_close(reader);
  fclose(stream);
  if (status == SMMA_VECTOR_ERROR) check_line(error, "v.txt");
  return status == SMMA_VECTOR_END ? rows : -1;
}

static void expect_rows(const char *text, int rows) {
  smma_vector_header header;
  smma_row row;
  smma_error error;
  int found = read_text(text, strlen(text), &header, &row, &error);
  if (found < 0) fail_msg("%s", error.text);
  assert_int_equal(found, rows);
}

static void expect_vector_error(const char *text, const char *expected) {
  smma_vector_header header;
  smma_row row;
  smma_error error;
  assert_int_equal(read_text(text, strlen(text), &header, &row, &error), -1);
  assert_string_equal(error.text, expected);
}

static void test_vectors_read(void **state) {
  (void)state;
  static const char text[] = "# recorded on: X1\r\n" HEADER "# columns: as usual\n#\n# a remark\n\n" ROW
                             "# arch: ampere\n\n  \t0FE fF 0003C00 0 ffffffff\t0 \r\n";
  smma_vector_header header;
  smma_row row;
  smma_error error;
  int rows = read_text(text, strlen(text), &header, &row, &error);
  if (rows < 0) fail_msg("%s", error.text);
  assert_int_equal(rows, 2);
  assert_string_equal(header.arch, "ampere");
  assert_string_equal(header.instruction, "test");
  assert_string_equal(header.recorded_on, "X1");
  assert_int_equal(header.k, 2);
  assert_int_equal(header.a, SMMA_E4M3);
  assert_int_equal(header.d, SMMA_F32);
  assert_int_equal(header.scale, SMMA_NO_FORMAT);
  assert_int_equal(header.scale_block, 0);
  assert_true(row.a[0] == 0xfe && row.a[1] == 0xff && row.b[0] == 0x3c00 && row.b[1] == 0);
  assert_true(row.c == 0xffffffff && row.d == 0);
}

static void test_vectors_accepted(void **state) {
  (void)state;
  expect_rows(HEADER, 0);
  expect_rows(HEADER ROW, 1);
  expect_rows(HEADER "1 2 3 4 5 40000000", 1); /* the last line has no newline, but is complete */
  expect_rows(HEADER "1 2 3 4 5 6\n", 1);
  expect_rows(SCALED "1 2 3 4 5 6 7 8 9 7f 80 81 82 0123456789abcdef\n", 1);
  expect_rows(HEADER ROW HEADER ROW, 2); /* joined files */
}

static void test_vectors_header_errors(void **state) {
  (void)state;
#define NO_HEADER "no header; a vector file begins with lines '# key: value' for arch, instruction, k, a, b, c and d"
  expect_vector_error("", "v.txt: line 1, column 1: " NO_HEADER);
  expect_vector_error("# text\n" ROW, "v.txt: line 2, column 1: " NO_HEADER);
  expect_vector_error("# arch: x\n# instruction: y\n# k: 1\n# a: f16\n# c: f32\n# d: f32\n1 2 3 4\n",
                      "v.txt: line 7, column 1: header key 'b' is missing; add a line '# b: ...' before the rows");
  expect_vector_error("# a: fp8\n",
                      "v.txt: line 1, column 6: 'fp8' is no number format; formats are f16, bf16, e4m3 and so on");
  expect_vector_error("# k: 257\n", "v.txt: line 1, column 6: k must be a count from 1 to 256");
  expect_vector_error("# k: 0\n", "v.txt: line 1, column 6: k must be a count from 1 to 256");
  expect_vector_error("# k: 99999999999999999999\n", "v.txt: line 1, column 6: k must be a count from 1 to 256");
  expect_vector_error("# k: 8x\n", "v.txt: line 1, column 6: k must be a count from 1 to 256");
  expect_vector_error("# k:\n", "v.txt: line 1, column 5: header key 'k' has no value");
  expect_vector_error("# scale: ue8m0\n", "v.txt: line 1, column 10: expected a scale like 'ue8m0 per 32'");
  expect_vector_error("# scale: ue8m0 per 257\n", "v.txt: line 1, column 20: one scale per 1 to 256 elements expected");
  expect_vector_error(
      "# arch: x\n# instruction: y\n# k: 256\n# a: f16\n# b: f16\n# c: f32\n# d: f32\n# scale: ue8m0 per 2\n"
      "1\n",
      "v.txt: line 9, column 1: k = 256 with a scale per 2 elements has more than 64; mend the header");
  expect_vector_error("# scale: x per 32\n",
                      "v.txt: line 1, column 10: 'x' is no number format; formats are f16, bf16, e4m3 and so on");
  expect_vector_error(HEADER "# scale: ue8m0 per 32\n" ROW,
                      "v.txt: line 9, column 1: a scale per 32 elements does not divide k = 2; mend the header");
  expect_vector_error(
      "# instruction: 0123456789012345678901234567890123456789012345678901234567890123"
      "0123456789012345678901234567890123456789012345678901234567890123\n",
      "v.txt: line 1, column 16: longer than 127 characters");
  expect_vector_error(HEADER "# k: 4\n",
                      "v.txt: line 8, column 6: header key 'k' was '2' before; keep rows of different headers in files "
                      "of their own");
  expect_vector_error(HEADER ROW "# d: f16\n",
                      "v.txt: line 9, column 6: header key 'd' was 'f32' before; keep rows of different headers in "
                      "files of their own");
  expect_vector_error(HEADER ROW "# scale: ue8m0 per 2\n",
                      "v.txt: line 9, column 10: header key 'scale' after rows that had none; move it before the rows");
}

static void test_vectors_row_errors(void **state) {
  (void)state;
  expect_vector_error(HEADER "12 34 3c00 4000 3f800000\n",
                      "v.txt: line 8, column 25: expected 6 numbers (a[2] b[2] c d), found 5");
  expect_vector_error(HEADER "12 34 3c00 4000 3f800000 40000000 1\n",
                      "v.txt: line 8, column 35: expected 6 numbers (a[2] b[2] c d), found 7");
  expect_vector_error(HEADER "12 3c00 4000 3f800000 40000000\n", /* a wrong count is the likelier cause */
                      "v.txt: line 8, column 31: expected 6 numbers (a[2] b[2] c d), found 5");
  expect_vector_error(HEADER ROW "12 1ff 3c00 4000 3f800000 40000000\n",
                      "v.txt: line 9, column 4: 1ff does not fit e4m3's 8 bits (a[1])");
  expect_vector_error(HEADER "12 34 3c00 4000 3f800000 100000000\n",
                      "v.txt: line 8, column 26: 100000000 does not fit f32's 32 bits (d)");
  expect_vector_error(SCALED "1 2 3 4 5 6 7 10 9 7f 80 81 82 0\n",
                      "v.txt: line 9, column 15: 10 does not fit e2m1's 4 bits (b[3])");
  expect_vector_error(SCALED "1 2 3 4 5 6 7 8 9 7f 80 81 82 10000000000000000\n",
                      "v.txt: line 9, column 31: 10000000000000000 does not fit f64's 64 bits (d)");
  expect_vector_error(SCALED "1 2 3 4\n",
                      "v.txt: line 9, column 8: expected 14 numbers (a[4] b[4] c scale_a[2] scale_b[2] d), found 4");
  expect_vector_error(
      HEADER "0x12 34 3c00 4000 3f800000 40000000\n",
      "v.txt: line 8, column 2: 'x' is no hexadecimal digit; rows are raw encodings in hex, without 0x");
  expect_vector_error(HEADER "12 \xc3\xa9 3c00 4000 3f800000 40000000\n",
                      "v.txt: line 8, column 4: byte 0xc3 is no hexadecimal digit; rows are raw encodings in hex");
  expect_vector_error(HEADER "12 34 3c00 4000 3f800000 4000000",
                      "v.txt: line 8, column 26: the file ends in this line, and 4000000 has fewer than 8 digits: it "
                      "may be truncated; end the line");
}

static void expect_nul_error(const char *text, size_t size, const char *expected) {
  smma_vector_header header;
  smma_row row;
  smma_error error;
  assert_int_equal(read_text(text, size, &header, &row, &error), -1);
  assert_string_equal(error.text, expected);
}

static void test_vectors_binary(void **state) {
  (void)state;
  static const char in_row[] = HEADER "12 3\0 3c00 4000 3f800000 40000000\n";
  static const char in_header[] = "# arch: a\0b\n";
  expect_nul_error(in_row, sizeof in_row - 1, "v.txt: line 8, column 5: a NUL byte; this is no text file");
  expect_nul_error(in_header, sizeof in_header - 1, "v.txt: line 1, column 10: a NUL byte; this is no text file");
  char *endless = malloc(70000);
  assert_non_null(endless);
  memset(endless, '1', 70000);
  expect_nul_error(endless, 70000, "v.txt: line 1, column 1: longer than 65536 characters; this is no vector file");
  free(endless);
}

/* A file truncated at any byte gives an error, or the test vectors that are still complete. */
static void test_vectors_cut_anywhere(void **state) {
  (void)state;
  static const char text[] =
      SCALED "1 2 3 4 5 6 7 8 9 7f 80 81 82 0123456789abcdef\n1 2 3 4 5 6 7 8 9 7f 80 81 82 0123456789abcdef\n";
  size_t header_size = strlen(SCALED), row_size = (strlen(text) - header_size) / 2;
  for (size_t size = 0; size < strlen(text); size++) {
    smma_vector_header header;
    smma_row row;
    smma_error error;
    int rows = read_text(text, size, &header, &row, &error);
    if (rows <= 0) continue;
    assert_int_equal(rows, (size + 1 - header_size) / row_size);
    assert_true(row.d == UINT64_C(0x0123456789abcdef));
  }
}

static void test_vectors_go_on_after_error(void **state) {
  (void)state;
  static const char text[] = HEADER "oops\n" ROW;
  FILE *stream = fmemopen((void *)text, strlen(text), "rb");
  smma_vector_header header;
  smma_row row;
  smma_error error;
  assert_non_null(stream);
  smma_vector_reader *reader = smma_vector_open(stream, "v.txt", &header, &error);
  assert_non_null(reader);
  assert_int_equal(smma_vector_next(reader, &row, &error), SMMA_VECTOR_ERROR);
  assert_int_equal(smma_vector_next(reader, &row, &error), SMMA_VECTOR_ROW);
  assert_int_equal(smma_vector_place(reader), 9);
  assert_int_equal(smma_vector_next(reader, &row, &error), SMMA_VECTOR_END);
  smma_vector_close(reader);
  fclose(stream);
}

/* Checks that a file is written exactly as it was read. */
static void check_rewritten(const char *text) {
  char *copy = NULL;
  size_t size = 0;
  smma_vector_header header;
  smma_row row;
  smma_error error;
  FILE *in = fmemopen((void *)text, strlen(text), "rb"), *out = open_memstream(&copy, &size);
  assert_non_null(in);
  assert_non_null(out);
  smma_vector_reader *reader = smma_vector_open(in, "v.txt", &header, &error);
  assert_non_null(reader);
  const smma_row_layout layout = smma_vector_layout(&header);
  smma_text_write_header(out, &header);
  while (smma_vector_next(reader, &row, &error) == SMMA_VECTOR_ROW) smma_text_write_row(out, &layout, &row);
  smma_vector_close(reader);
  fclose(in);
  fclose(out);
  assert_string_equal(copy, text);
  free(copy);
}

static void test_vectors_round_trip(void **state) {
  (void)state;
  check_rewritten("# recorded on: A100\n" HEADER "# columns: a[0..k-1] b[0..k-1] c d, raw encodings in hex\n" ROW
                  "00 01 0000 0001 00000000 00000001\n");
  check_rewritten(SCALED
                  "# columns: a[0..k-1] b[0..k-1] c scale_a[..] scale_b[..] d, raw encodings in hex\n"
                  "0 1 2 f 4 5 6 7 00000009 7f 80 01 82 0123456789abcdef\n");
}

static void test_vectors_widest_row(void **state) {
  (void)state;
  smma_vector_header header = {.arch = "x",
                               .instruction = "y",
                               .a = SMMA_F64,
                               .b = SMMA_F64,
                               .c = SMMA_F64,
                               .d = SMMA_F64,
                               .scale = SMMA_F64,
                               .k = SMMA_MAXIMUM_K,
                               .scale_block = 4};
  const smma_row_layout layout = smma_vector_layout(&header);
  smma_row row, back;
  smma_error error;
  char *text = NULL;
  size_t size = 0;
  memset(&row, 0xa5, sizeof row);
  FILE *stream = open_memstream(&text, &size);
  assert_non_null(stream);
  smma_text_write_header(stream, &header);
  smma_text_write_row(stream, &layout, &row);
  fclose(stream);
  assert_int_equal(read_text(text, size, &header, &back, &error), 1);
  assert_memory_equal(row.scale_b, back.scale_b, sizeof row.scale_b);
  assert_memory_equal(row.a, back.a, sizeof row.a);
  free(text);
}

static void test_vectors_recognized(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool recognized;
  } texts[] = {{HEADER ROW, true},
               {"\n# a remark\n# instruction: x\n", true},
               {"# a remark\n1 2 3\n# instruction: x\n", false},
               {"instruction: x\n", false},
               {"# instruction:\n", false},
               {"A licence\n", false},
               {"\x93NUMPY", false}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    FILE *stream = fmemopen((void *)texts[i].text, strlen(texts[i].text), "rb");
    assert_non_null(stream);
    assert_int_equal(smma_vector_is_text(stream), texts[i].recognized);
    assert_int_equal(ftell(stream), 0);
    fclose(stream);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_format_names),
      cmocka_unit_test(test_error_is_one_line),
      cmocka_unit_test(test_npy_types),
      cmocka_unit_test(test_npy_shapes),
      cmocka_unit_test(test_npy_size_errors),
      cmocka_unit_test(test_npy_type_errors),
      cmocka_unit_test(test_npy_header_errors),
      cmocka_unit_test(test_npy_versions_and_magic),
      cmocka_unit_test(test_npy_cut_anywhere),
      cmocka_unit_test(test_safetensors_types),
      cmocka_unit_test(test_safetensors_packed),
      cmocka_unit_test(test_safetensors_names),
      cmocka_unit_test(test_safetensors_errors),
      cmocka_unit_test(test_safetensors_stored),
      cmocka_unit_test(test_safetensors_axis_of_length_0),
      cmocka_unit_test(test_safetensors_header_length),
      cmocka_unit_test(test_safetensors_cut_anywhere),
      cmocka_unit_test(test_read_by_path),
      cmocka_unit_test(test_other_kinds_of_file),
      cmocka_unit_test(test_load_from_pipe),
      cmocka_unit_test(test_shortened_while_read),
      cmocka_unit_test(test_npy_round_trip),
      cmocka_unit_test(test_npy_written_bytes),
      cmocka_unit_test(test_npy_write_refused),
      cmocka_unit_test(test_write_failures),
      cmocka_unit_test(test_unwritable_directory),
      cmocka_unit_test(test_output_replaces_and_abandons),
      cmocka_unit_test(test_output_keeps_permissions),
      cmocka_unit_test(test_output_follows_links),
      cmocka_unit_test(test_output_long_names),
      cmocka_unit_test(test_vectors_read),
      cmocka_unit_test(test_vectors_accepted),
      cmocka_unit_test(test_vectors_header_errors),
      cmocka_unit_test(test_vectors_row_errors),
      cmocka_unit_test(test_vectors_binary),
      cmocka_unit_test(test_vectors_cut_anywhere),
      cmocka_unit_test(test_vectors_go_on_after_error),
      cmocka_unit_test(test_vectors_round_trip),
      cmocka_unit_test(test_vectors_widest_row),
      cmocka_unit_test(test_vectors_recognized),
  };
  return cmocka_run_group_tests_name("io", tests, make_directory, remove_directory);
}
