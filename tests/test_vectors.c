/* Every test vector of the vector files: always this project's own, and recorded and computed ones if SOFTMMA_VECTORS
   names their folder. */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/draws.h"
#include "rows/check.h"
#include "rows/generate.h"
#include "rows/text.h"
#include "softmma/rows.h"
#include "support.h"

#define MOST_REPORTS 5
#define OWN_ROWS 25000
#define RECORDED_ROWS 41858
#define HARDWARE_ROWS 70000
#define MODEL_ROWS 31968
#define RDNA_ROWS 18239

static unsigned long long refuted;

/* Reports whether a computed test vector has -0 where an H100 returned +0, as it does for every sum that rounds to
   zero. */
static bool has_refuted_zero(const smma_mismatch *m) {
  const smma_algorithm algorithm = find(m->header->arch, m->header->instruction)->rule->rule.algorithm;
  const bool truncates = algorithm == SMMA_T_FDPA || algorithm == SMMA_ST_FDPA || algorithm == SMMA_GST_FDPA ||
                         algorithm == SMMA_FP8_BY_FP16;
  return truncates && m->got == 0 && m->row->d == smma_sign_and_fields(smma_encoding_of(m->header->d), true, 0);
}

static void print_mismatch(const smma_mismatch *m, void *context) {
  int *reports = context;
  smma_row x = {.c = m->row->c};
  refuted += has_refuted_zero(m);
  if (has_refuted_zero(m) || (*reports)++ >= MOST_REPORTS) return;
  memcpy(x.a, m->row->a, sizeof x.a);
  memcpy(x.b, m->row->b, sizeof x.b);
  memcpy(x.scale_a, m->row->scale_a, sizeof x.scale_a);
  memcpy(x.scale_b, m->row->scale_b, sizeof x.scale_b);
  print_error("%s:%llu: ", m->path, m->line);
  print_dot(find(m->header->arch, m->header->instruction), &x, m->row->d, m->got);
}

/* ---- Folders ---- */

typedef bool file_visitor(FILE *stream, const char *path);

static file_visitor *visit_file;

/* Other text files, such as a README or licence, have no header. */
static int visit_entry(const char *path, const struct stat *status, int type, struct FTW *position) {
  size_t length = strlen(path);
  bool ok = true;
  FILE *stream;
  (void)status, (void)position;
  if (type != FTW_F || length < 4 || strcmp(path + length - 4, ".txt") != 0) return 0;
  stream = fopen(path, "r");
  if (!stream) return -1;
  if (smma_vector_is_text(stream)) ok = visit_file(stream, path);
  fclose(stream);
  return ok ? 0 : -1;
}

static void walk(const char *folder, file_visitor *visit) {
  visit_file = visit;
  if (nftw(folder, visit_entry, 16, FTW_PHYS) != 0) fail_msg("%s cannot be read to its end", folder);
}

static smma_check_totals totals;

static bool check_file(FILE *stream, const char *path) {
  static int reports;
  smma_error error;
  bool ok = smma_check_stream(stream, path, &totals,
                              &(smma_check_watcher){.mismatch = print_mismatch, .context = &reports}, &error);
  if (!ok) print_error("%s\n", error.text);
  return ok;
}

static void walk_rows(const char *folder, unsigned long long least_rows) {
  totals = (smma_check_totals){0};
  refuted = 0;
  walk(folder, check_file);
  print_message("%s: rows=%llu mismatches=%llu\n", folder, totals.rows, totals.mismatches);
  assert_true(totals.rows >= least_rows);
}

static void check_folder(const char *folder, unsigned long long least_rows) {
  walk_rows(folder, least_rows);
  assert_int_equal(totals.mismatches, 0);
}

static void check_shared(const char *folder, unsigned long long least_rows) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", getenv("SOFTMMA_VECTORS"), folder);
  check_folder(path, least_rows);
}

/* ---- Mismatches are detected ---- */

static void count_mismatch(const smma_mismatch *m, void *context) {
  (void)m;
  ++*(unsigned long long *)context;
}

/* Copies the file with the last bit of every d flipped. Returns the number of test vectors that must then differ. */
static unsigned long long corrupt(FILE *from, const char *path, FILE *to) {
  smma_vector_header header;
  smma_row row;
  smma_error error;
  unsigned long long rows = 0;
  smma_vector_reader *reader = smma_vector_open(from, path, &header, &error);
  assert_non_null(reader);
  const smma_row_layout layout = smma_vector_layout(&header);
  smma_text_write_header(to, &header);
  while (smma_vector_next(reader, &row, &error) == SMMA_VECTOR_ROW) {
    const bool was_nan = isnan(smma_format_decode(header.d, row.d));
    row.d ^= 1;
    rows += !was_nan || !isnan(smma_format_decode(header.d, row.d));
    smma_text_write_row(to, &layout, &row);
  }
  smma_vector_close(reader);
  rewind(to);
  return rows;
}

static bool notice_corruption(FILE *stream, const char *path) {
  FILE *copy = tmpfile();
  smma_check_totals seen = {0};
  smma_error error;
  unsigned long long reported = 0, wrong;
  assert_non_null(copy);
  wrong = corrupt(stream, path, copy);
  assert_true(smma_check_stream(copy, path, &seen,
                                &(smma_check_watcher){.mismatch = count_mismatch, .context = &reported}, &error));
  fclose(copy);
  if (seen.mismatches < wrong || reported != seen.mismatches || reported == 0)
    fail_msg("%s: of %llu wrong rows %llu were counted and %llu reported", path, wrong, seen.mismatches, reported);
  return true;
}

static bool check_text(const char *text) {
  FILE *stream = tmpfile();
  smma_check_totals seen = {0};
  smma_error error;
  bool ok;
  assert_non_null(stream);
  fputs(text, stream);
  rewind(stream);
  ok = smma_check_stream(stream, "text", &seen, &(smma_check_watcher){.mismatch = NULL}, &error);
  fclose(stream);
  return ok && seen.rows == 1 && seen.mismatches == 0;
}

#define X86_HEADER "# arch: x86\n# instruction: vdpbf16ps\n# a: bf16\n# b: bf16\n# c: f32\n# d: f32\n"

static void test_wrong_files(void **state) {
  (void)state;
  assert_true(check_text(X86_HEADER "# k: 2\n3f80 3f80 3f80 3f80 3f800000 40400000\n"));
  assert_false(check_text(X86_HEADER "# k: 2\n3f80 3f80 3f80 3f80 3f800000 40400001\n"));
  assert_false(check_text(X86_HEADER "# k: 2\n3f80 3f80 3f80 3f80 3f800000\n"));
  assert_false(check_text(X86_HEADER "# k: 4\n3f80 3f80 3f80 3f80 3f800000 40400000\n"));
  assert_false(check_text("# arch: x86\n# instruction: vdpbf16p\n"));
}

static void test_own_rows(void **state) { (void)state, check_folder(OWN_VECTORS, OWN_ROWS); }
static void test_recorded_rows(void **state) { (void)state, check_folder(OWN_VECTORS "/recorded", RECORDED_ROWS); }
static void test_corruption(void **state) { (void)state, walk(OWN_VECTORS, notice_corruption); }
static void test_hardware_rows(void **state) { (void)state, check_shared("hardware", HARDWARE_ROWS); }

/* Checks test vectors that another model computed before an H100 was recorded. Some have another NaN, or a zero that
   the H100 contradicts. */
static void test_model_rows(void **state) {
  char path[4096];
  (void)state;
  snprintf(path, sizeof path, "%s/model", getenv("SOFTMMA_VECTORS"));
  walk_rows(path, MODEL_ROWS);
  print_message("of these %llu in a NaN, %llu in the sign of a zero\n", totals.nan, refuted);
  assert_int_equal(totals.mismatches, totals.nan + refuted);
}
static void test_rdna_rows(void **state) { (void)state, check_shared("rdna", RDNA_ROWS); }

static int skip_shared(void) {
  print_error(
      "**********************************************************************\n"
      "SKIPPED: SOFTMMA_VECTORS is not set. It names a folder with more recorded\n"
      "results of GPUs (hardware/) and computed ones (model/); without it the\n"
      "models were compared with the rows in tests/vectors only.\n"
      "**********************************************************************\n");
  return SKIPPED;
}

/* ---- Generated test vectors ---- */

/* Checks the method of devices: the numbers of a test vector are drawn one after another. */
static void check_drawn(const smma_instruction *i, const smma_rows *rows, smma_row_selection x) {
  const smma_operation o = smma_operation_of(i);
  const smma_row_recipe recipe = smma_row_recipe_of(&o);
  for (size_t n = 0; n < rows->capacity; n++) {
    smma_draws draws = smma_draws_of(x.seed, x.first + n);
    smma_row row, drawn;
    smma_rows_get(rows, n, &row);
    smma_fill_row(&draws, &recipe, smma_kind_of_row(&x, x.first + n), &drawn);
    if (!smma_same_operands_in(&rows->layout, &row, &drawn))
      fail_msg("%s: row %" PRIu64 " is another when drawn one number at a time", i->name, x.first + n);
  }
}

/* Checks the public function: in portions of any size, of all kinds in turn or of one kind. */
static void check_made(const smma_instruction *i, const smma_rows *rows, uint64_t seed, uint64_t first) {
  const size_t portions[] = {1, 300, rows->capacity - 301};
  smma_rows other;
  size_t done = 0;
  assert_true(smma_rows_allocate(i, rows->capacity, &other));
  for (int n = 0; n < 4; n++) {
    const smma_batch to = smma_rows_batch(&other, n < 3 ? done : 0, rows->capacity, NULL);
    smma_row_request request = {.size = sizeof request, .seed = seed, .first = first + done, .rows = portions[n % 3]};
    request.a = (void *)to.a, request.b = (void *)to.b, request.c = (void *)to.c;
    request.scale_a = (void *)to.scale_a, request.scale_b = (void *)to.scale_b;
    if (n == 3) request.kind = smma_row_kind_text((smma_row_kind)(first % SMMA_ROWS_IN_TURN)), request.first = first;
    assert_int_equal(smma_make_rows(i, &request), SMMA_OK);
    done += request.rows;
  }
  for (int p = 0; p < SMMA_PART_D; p++)
    if (rows->part[p])
      assert_memory_equal(rows->part[p], other.part[p], rows->capacity * smma_part_stride(&rows->layout.part[p]));
  smma_rows_free(&other);
}

static void test_made_rows(void **state) {
  const smma_instruction *f16 = smma_find("H100", "mma.m16n8k16.f32.f16.f16.f32", NULL);
  const smma_instruction *amd = smma_find("MI300X", "v_mfma_f32_32x32x8_f16", NULL);
  const smma_instruction *scaled = smma_find("B200", "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0", NULL);
  unsigned char room[SMMA_MAXIMUM_K * 8];
  const smma_row_request good = {sizeof good, NULL, 0, 0, 1, room, room, room, NULL, NULL};
  smma_row_request x = good;
  (void)state;
  assert_int_equal(smma_make_rows(NULL, &good), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_make_rows(f16, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_make_rows(f16, &good), SMMA_OK);
  assert_int_equal(smma_make_rows(scaled, &good), SMMA_MISSING_SCALE);
  x.scale_a = x.scale_b = room;
  assert_int_equal(smma_make_rows(f16, &x), SMMA_MISSING_SCALE);
  assert_int_equal(smma_make_rows(scaled, &x), SMMA_OK);
  x = good, x.kind = "diagonal";
  assert_int_equal(smma_make_rows(f16, &x), SMMA_INVALID_ARGUMENT);
  x = good, x.b = NULL;
  assert_int_equal(smma_make_rows(f16, &x), SMMA_INVALID_ARGUMENT);
  x.rows = 0;
  assert_int_equal(smma_make_rows(f16, &x), SMMA_OK);

  assert_true(smma_is_same_result(f16, 0x3f800000, 0x3f800000));
  assert_false(smma_is_same_result(f16, 0, 0x80000000));
  assert_false(smma_is_same_result(f16, 0x7fffffff, 0x7fc00000)); /* its payload is known */
  assert_true(smma_is_same_result(amd, 0x7fffffff, 0xffc00000));
  assert_false(smma_is_same_result(amd, 0x7f800000, 0x7fc00000));
  assert_false(smma_is_same_result(NULL, 0, 0));
}

/* Returns the FNV-1a digest of all operands of 800 generated test vectors: a hundred of each kind, or all of kind
   `one`. */
static uint64_t digest_of_generated(const smma_instruction *i, int kinds, smma_row_kind one) {
  const uint64_t seed = UINT64_C(0x123456789abcdef), first = UINT64_C(0xffffff00);
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  smma_rows rows;
  assert_true(smma_rows_allocate(i, 800, &rows));
  smma_generate_rows(&rows, seed, first, rows.capacity, kinds, one);
  check_drawn(i, &rows, (smma_row_selection){seed, first, kinds, (int)one});
  if (kinds) check_made(i, &rows, seed, first);
  for (size_t n = 0; n < rows.capacity; n++) {
    smma_row row;
    smma_rows_get(&rows, n, &row);
    for (int p = 0; p < SMMA_PART_D; p++)
      for (int e = 0; e < rows.layout.part[p].count; e++)
        hash = (hash ^ smma_part_in(&row, &rows.layout.part[p])[e]) * UINT64_C(0x100000001b3);
  }
  smma_rows_free(&rows);
  return hash;
}

/* Test vector n of a seed is the same on every machine and in every version. */
static void test_generated_rows(void **state) {
  static const struct {
    const char *gpu, *name;
    uint64_t in_turn, schryer, aimed;
  } known[] = {
      {"H100", "wgmma.m64n256k16.f32.f16.f16", UINT64_C(0x705ac296f2003878), UINT64_C(0xf61c8319af1484e9),
       UINT64_C(0xd5c7a0db27a2a34b)},
      {"H100", "wgmma.m64n256k16.f16.f16.f16", UINT64_C(0xc819bf09582ec35a), UINT64_C(0xe76e44f437b6838b),
       UINT64_C(0x4f283883adc4b778)},
      {"A100", "mma.m16n8k8.f32.bf16.bf16.f32", UINT64_C(0x52546feb87554e91), UINT64_C(0x4bd435f9bf38b8df),
       UINT64_C(0x5a114dc7e6b1a3a4)},
      {"A100", "mma.m16n8k4.f32.tf32.tf32.f32", UINT64_C(0x6e68880b30622453), UINT64_C(0x43a9da8d855f9d5a),
       UINT64_C(0xce5d5753f06fc5a2)},
      {"A100", "mma.m8n8k4.f64.f64.f64.f64", UINT64_C(0x118a66bb9144d665), UINT64_C(0x0f73397728a25880),
       UINT64_C(0x6fcd6303067be3e7)},
      {"A100", "mma.m16n8k32.s32.s8.u8.s32", UINT64_C(0xfe93d226525dbbbb), UINT64_C(0x64d8b3d6b0254ce8),
       UINT64_C(0xc509daa3201b02bb)},
      {"H100", "wgmma.m64n256k32.f32.e4m3.e5m2", UINT64_C(0xad1616814796fed8), UINT64_C(0xbc333f069cf649fc),
       UINT64_C(0x461ac34c9d01e65b)},
      {"MI300X", "v_mfma_f32_16x16x32_fp8_bf8", UINT64_C(0x9afcdfb9adaefc51), UINT64_C(0x4230b9e48c4e9934),
       UINT64_C(0x9143bcaef6c361bc)},
      {"B200", "tcgen05.m128n256k32.block32.f32.e3m2.e2m3.ue8m0", UINT64_C(0x74441fab1978e243),
       UINT64_C(0x355a3ae8daa63159), UINT64_C(0x68cfa0c4404a4a76)},
      {"B200", "tcgen05.m128n256k64.block16.f32.e2m1.e2m1.ue4m3", UINT64_C(0x0662a1c71620ae46),
       UINT64_C(0x09d9f99ee1eaf272), UINT64_C(0x02d5356b70a05c18)},
  };
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const smma_instruction *one = find(known[i].gpu, known[i].name);
    const uint64_t in_turn = digest_of_generated(one, SMMA_ROWS_IN_TURN, SMMA_ROWS_RANDOM);
    const uint64_t schryer = digest_of_generated(one, 0, SMMA_ROWS_SCHRYER);
    const uint64_t aimed = digest_of_generated(one, 0, SMMA_ROWS_AIMED);
    if (in_turn != known[i].in_turn || schryer != known[i].schryer || aimed != known[i].aimed)
      fail_msg("%s: rows of digests 0x%016" PRIx64 ", 0x%016" PRIx64 ", 0x%016" PRIx64, known[i].name, in_turn, schryer,
               aimed);
  }
}

/* ---- Test vectors that are read together ---- */

enum { TOGETHER_ROWS = 12, CHANGES = 400 };

/* Returns the test vectors of a text, written again as text after their line numbers, and the error that ended reading.
 */
static char *reread(const char *text, size_t size, const smma_instruction *i, bool together) {
  char *copy = NULL;
  size_t copy_size = 0;
  smma_vector_header header;
  smma_error error = {.text = ""};
  smma_rows rows;
  smma_row row;
  FILE *in = fmemopen((void *)text, size, "rb"), *out = open_memstream(&copy, &copy_size);
  smma_vector_status status = SMMA_VECTOR_ROW;
  assert_true(in && out && smma_rows_allocate(i, 5, &rows));
  smma_vector_reader *reader = smma_vector_open(in, "text", &header, &error);
  for (int errors = 0; reader && status != SMMA_VECTOR_END && errors < 3;) {
    const size_t count = together ? smma_vector_take_rows(reader, &rows, 1, 4) : 0;
    for (size_t n = 0; n < count; n++) {
      fprintf(out, "%llu: ", smma_vector_place(reader) - count + n + 1);
      smma_rows_get(&rows, n + 1, &row);
      smma_text_write_row(out, &rows.layout, &row);
    }
    if (count > 0) continue;
    status = smma_vector_next(reader, &row, &error);
    fprintf(out, "%llu: ", smma_vector_place(reader));
    if (status == SMMA_VECTOR_ROW) smma_text_write_row(out, &rows.layout, &row);
    if (status == SMMA_VECTOR_ERROR) errors++, fprintf(out, "%s\n", error.text);
  }
  smma_vector_close(reader);
  smma_rows_free(&rows);
  fclose(in);
  fclose(out);
  return copy;
}

/* Reads a text of `size` bytes with one byte changed. */
static void check_changed(char *text, size_t size, const smma_instruction *i, char *at, char byte) {
  const char before = *at;
  *at = byte;
  char *one_by_one = reread(text, size, i, false), *together = reread(text, size, i, true);
  assert_string_equal(together, one_by_one);
  free(one_by_one);
  free(together);
  *at = before;
}

/* Reads a text repeatedly: with another byte changed each time, and with each byte in place of a digit, a blank and the
   end of the second row, the first that is read together with others. */
static void check_rows_together(const smma_instruction *i) {
  static const char bytes[] = "0aAfFgG9:/@`{ \t\r\n\0#x-\x80\xff";
  char *text = NULL;
  size_t size = 0, header_size;
  uint64_t state = 1;
  smma_vector_header header;
  smma_rows rows;
  FILE *out = open_memstream(&text, &size);
  assert_true(out && smma_rows_allocate(i, TOGETHER_ROWS, &rows));
  smma_generate_rows(&rows, 7, 0, TOGETHER_ROWS, SMMA_ROWS_KINDS, SMMA_ROWS_RANDOM);
  smma_vector_header_of(i, &header);
  smma_text_write_header(out, &header);
  fflush(out);
  header_size = size;
  smma_text_write_rows(out, &rows, TOGETHER_ROWS);
  fclose(out);
  char *const first = text + header_size, *const second = strchr(first, '\n') + 1;
  char *const places[] = {second, strchr(second, ' '), strchr(second, '\n')};
  for (int n = 0; n < CHANGES; n++) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    char *at = first + (state >> 33) % (size - header_size);
    check_changed(text, n % 8 == 7 ? (size_t)(at - text) : size, i, at,
                  n ? bytes[(size_t)n % (sizeof bytes - 1)] : *at);
  }
  for (size_t n = 0; n < sizeof places / sizeof *places; n++)
    for (int byte = 0; byte < 256; byte++) check_changed(text, size, i, places[n], (char)byte);
  smma_rows_free(&rows);
  free(text);
}

static void test_rows_together(void **state) {
  (void)state;
  check_rows_together(find("H100", "wgmma.m64n256k16.f32.f16.f16"));
  check_rows_together(find("A100", "mma.m16n8k4.f32.tf32.tf32.f32"));
  check_rows_together(find("A100", "mma.m8n8k4.f64.f64.f64.f64"));
  check_rows_together(find("B200", "tcgen05.m128n256k32.block32.f32.e3m2.e2m3.ue8m0"));
  check_rows_together(find("B200", "tcgen05.m128n256k64.block16.f32.e2m1.e2m1.ue4m3"));
}

/* Reads a text file of several chunks, which threads read piece by piece, from its first row on. */
static void test_long_text(void **state) {
  enum { ROWS = 60000 };
  static unsigned long long line[ROWS];
  const smma_instruction *i = find("H100", "wgmma.m64n256k16.f32.f16.f16");
  smma_vector_header header;
  smma_rows rows, copy;
  smma_error error;
  size_t count = 0;
  FILE *file = tmpfile();
  (void)state;
  assert_true(file && smma_rows_allocate(i, ROWS, &rows) && smma_rows_allocate(i, ROWS, &copy));
  smma_generate_rows(&rows, 7, 0, ROWS, SMMA_ROWS_KINDS, SMMA_ROWS_RANDOM);
  smma_vector_header_of(i, &header);
  smma_text_write_header(file, &header);
  smma_text_write_rows(file, &rows, ROWS);
  rewind(file);
  smma_vector_reader *reader = smma_vector_open(file, "text", &header, &error);
  assert_int_equal(smma_vector_read_rows(reader, &copy, line, &count, &error), SMMA_VECTOR_ROW);
  assert_int_equal(count, ROWS);
  for (int p = 0; p < SMMA_PARTS; p++)
    if (rows.part[p]) assert_memory_equal(rows.part[p], copy.part[p], ROWS * smma_part_stride(&rows.layout.part[p]));
  assert_true(line[0] == line[ROWS - 1] - (ROWS - 1));
  smma_vector_close(reader);
  smma_rows_free(&rows);
  smma_rows_free(&copy);
  fclose(file);
}

int main(void) {
  const struct CMUnitTest own[] = {
      cmocka_unit_test(test_own_rows),      cmocka_unit_test(test_recorded_rows),  cmocka_unit_test(test_corruption),
      cmocka_unit_test(test_wrong_files),   cmocka_unit_test(test_generated_rows), cmocka_unit_test(test_made_rows),
      cmocka_unit_test(test_rows_together), cmocka_unit_test(test_long_text),
  };
  const struct CMUnitTest shared[] = {
      cmocka_unit_test(test_hardware_rows),
      cmocka_unit_test(test_model_rows),
      cmocka_unit_test(test_rdna_rows),
  };
  int failed = cmocka_run_group_tests_name("own vectors", own, NULL, NULL);
  if (failed) return failed;
  if (!getenv("SOFTMMA_VECTORS")) return skip_shared();
  return cmocka_run_group_tests_name("shared vectors", shared, NULL, NULL);
}
