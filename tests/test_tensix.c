/* Tests Tenstorrent's MVMUL with every row of its simulator, for each fidelity phase (tests/ttsim, and
   SOFTMMA_VECTORS/tensix), with HiFi1 to HiFi4 as chains of phases, and with results written down from the definition.
   */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/catalogue.h"
#include "softmma/softmma.h"
#include "support.h"

enum { K = 16, LEAST_ROWS = 1500, CHAINS = 4000 };

/* A row: SrcA is b and SrcB is a. */
typedef struct {
  char source[8], dst[8];
  int phase;
  uint32_t word[2 * K + 2];
} simulated_row;

static smma_format format_of(const char *name) {
  if (strcmp(name, "fp32") == 0) return SMMA_F32;
  return strcmp(name, "fp16") == 0 ? SMMA_F16 : strcmp(name, "bf16") == 0 ? SMMA_BF16 : SMMA_TF32;
}

/* Converts 19 bits of a source register to an encoding. */
static uint64_t source_code(smma_format format, uint32_t x) {
  if (format == SMMA_TF32) return (uint64_t)x << 13;
  if (format == SMMA_BF16) return x >> 3;
  return (x >> 18 & 1) << 15 | (x & 0x7fff);
}

/* Converts a word of Dst to an encoding. */
static uint64_t dst_code(smma_format format, uint32_t x) {
  if (format == SMMA_F32) return x;
  if (format == SMMA_BF16) return x >> 16;
  return (x >> 31) << 15 | (x >> 13 & 0x7fff);
}

static const smma_instruction *instruction_of(const char *arch, int fidelity, smma_format d, smma_format a) {
  char name[64];
  smma_error error;
  const smma_instruction *i;
  snprintf(name, sizeof name, "mvmul.hifi%d.%s.%s.%s", fidelity, smma_format_name(d), smma_format_name(a),
           smma_format_name(a));
  i = smma_find(arch, name, &error);
  if (!i) fail_msg("%s", error.text);
  return i;
}

/* Returns the operation of one fidelity phase. */
static smma_operation phase_of(const char *arch, smma_format d, smma_format a, int phase) {
  smma_operation o = smma_operation_of(instruction_of(arch, 1, d, a));
  o.rule.with.composition.first_phase = phase;
  return o;
}

static uint64_t compute(const smma_operation *o, const uint64_t *a, const uint64_t *b, uint64_t c) {
  smma_number x[K], y[K];
  const smma_operands operands = {x, y, NULL, NULL};
  for (int k = 0; k < K; k++) {
    x[k] = smma_decode(smma_encoding_of(o->a), a[k]);
    y[k] = smma_decode(smma_encoding_of(o->b), b[k]);
  }
  return smma_dot_add(o, operands, c);
}

static bool read_row(const char *line, simulated_row *row) {
  int length = 0, used;
  if (sscanf(line, "%7s %7s %d%n", row->source, row->dst, &row->phase, &length) != 3) return false;
  for (int n = 0; n < 2 * K + 2; n++, length += used)
    if (sscanf(line + length, "%" SCNx32 "%n", &row->word[n], &used) != 1) return false;
  return true;
}

static void check_row(const char *arch, const simulated_row *row, int number) {
  const smma_format a = format_of(row->source), d = format_of(row->dst);
  const smma_operation o = phase_of(arch, d, a, row->phase);
  const uint64_t expected = dst_code(d, row->word[2 * K + 1]);
  uint64_t x[K], y[K], got;
  for (int k = 0; k < K; k++) y[k] = source_code(a, row->word[k]), x[k] = source_code(a, row->word[K + k]);
  got = compute(&o, x, y, dst_code(d, row->word[2 * K]));
  if (got != expected)
    fail_msg("%s, line %d (%s to %s, phase %d): %" PRIx64 " instead of %" PRIx64, arch, number, row->source, row->dst,
             row->phase, got, expected);
}

static int check_file(const char *arch, const char *path) {
  FILE *file = fopen(path, "r");
  char line[1024];
  int rows = 0;
  if (!file) fail_msg("cannot read %s", path);
  for (int number = 1; fgets(line, sizeof line, file); number++) {
    simulated_row row;
    if (line[0] == '#') continue;
    if (!read_row(line, &row)) fail_msg("%s:%d: not a row", path, number);
    check_row(arch, &row, number);
    rows++;
  }
  fclose(file);
  return rows;
}

/* Checks all files of a folder whose names begin with the architecture's. Returns the number of rows. */
static int check_folder(const char *arch, const char *folder) {
  DIR *list = opendir(folder);
  char path[4096];
  int rows = 0;
  for (const struct dirent *entry = NULL; list && (entry = readdir(list));) {
    if (strncmp(entry->d_name, arch, strlen(arch)) != 0) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    rows += check_file(arch, path);
  }
  if (list) closedir(list);
  return rows;
}

static const char *const architectures[] = {"wormhole", "blackhole"};

static void test_rows(void **state) {
  const char *shared = getenv("SOFTMMA_VECTORS");
  (void)state;
  for (int n = 0; n < 2; n++) {
    char folder[4096];
    int rows = check_folder(architectures[n], TTSIM_ROWS);
    assert_true(rows >= LEAST_ROWS);
    snprintf(folder, sizeof folder, "%s/tensix", shared ? shared : ".");
    if (shared) rows += check_folder(architectures[n], folder);
    print_message("%s: %d rows\n", architectures[n], rows);
  }
}

/* ---- HiFi1 to HiFi4 are phases, one after another ---- */

static void check_chains(const char *arch, smma_format d, smma_format a, uint64_t *seed) {
  const uint64_t most_a = UINT64_MAX >> (64 - smma_encoding_of(a).bits),
                 most_d = UINT64_MAX >> (64 - smma_encoding_of(d).bits);
  for (int fidelity = 1; fidelity <= 4; fidelity++) {
    const smma_operation whole = smma_operation_of(instruction_of(arch, fidelity, d, a));
    for (int n = 0; n < CHAINS / 4; n++) {
      uint64_t x[K], y[K], c = random_bits(seed) & most_d, sum = c;
      for (int k = 0; k < K; k++) x[k] = random_bits(seed) & most_a, y[k] = random_bits(seed) & most_a;
      for (int phase = 0; phase < fidelity; phase++) {
        const smma_operation o = phase_of(arch, d, a, phase);
        sum = compute(&o, x, y, sum);
      }
      assert_int_equal(compute(&whole, x, y, c), sum);
    }
  }
}

static void test_chains(void **state) {
  static const smma_format formats[][2] = {{SMMA_F32, SMMA_BF16},  {SMMA_F32, SMMA_TF32},  {SMMA_F32, SMMA_F16},
                                           {SMMA_BF16, SMMA_BF16}, {SMMA_BF16, SMMA_TF32}, {SMMA_F16, SMMA_F16}};
  uint64_t seed = 38;
  (void)state;
  for (int n = 0; n < 2; n++)
    for (int f = 0; f < 6; f++) check_chains(architectures[n], formats[f][0], formats[f][1], &seed);
}

/* ---- Results by hand ---- */

/* Computes c + a b, with one product, in HiFi`fidelity` of BF16. */
static uint64_t of_one(const char *arch, int fidelity, smma_format d, uint16_t a, uint16_t b, uint64_t c) {
  const smma_operation o = smma_operation_of(instruction_of(arch, fidelity, d, SMMA_BF16));
  uint64_t x[K] = {a}, y[K] = {b};
  return compute(&o, x, y, c);
}

static void test_by_hand(void **state) {
  enum { ONE = 0x3f80, INFINITE = 0x7f80 };
  (void)state;
  /* 7.96875 = 1.1111111b * 4 and 1.3125 = 1.0101b: seven bits of a, five of b. HiFi1 loses the last bit of a. */
  assert_int_equal(of_one("wormhole", 1, SMMA_F32, 0x40ff, 0x3fa8, 0), 0x4126b000); /* 7.9375 * 1.3125 */
  assert_int_equal(of_one("wormhole", 3, SMMA_F32, 0x40ff, 0x3fa8, 0), 0x41275800); /* the whole product */
  /* Products that users saw on silicon: tt-metal, issues 12923 and 16448. */
  assert_int_equal(of_one("wormhole", 2, SMMA_BF16, 0x40ff, 0x3fa8, 0), 0x4127); /* 10.4375 */
  assert_int_equal(of_one("wormhole", 4, SMMA_BF16, 0x40ff, 0x3fa8, 0), 0x4128); /* 10.5 */
  assert_int_equal(of_one("wormhole", 4, SMMA_BF16, 0xc069, 0x3e99, 0), 0xbf8c); /* -1.09375 */
  assert_int_equal(of_one("wormhole", 4, SMMA_BF16, 0xc069, 0x3e9a, 0), 0xbf8d); /* -1.1015625 */
  /* 1 - (1 + 2^-23): Wormhole shifts -1 unit by 27. */
  assert_int_equal(of_one("wormhole", 1, SMMA_F32, ONE, ONE, 0xbf800001), 0xc1800000);
  assert_int_equal(of_one("blackhole", 1, SMMA_F32, ONE, ONE, 0xbf800001), 0xb4000000);
  assert_int_equal(of_one("wormhole", 1, SMMA_F32, ONE, 0xbf80, 0x3f800001), 0x34000000);
  /* The encoding of infinity is 2^128; subnormal numbers and results are zero. */
  assert_int_equal(of_one("blackhole", 1, SMMA_F32, INFINITE, 0x0080, 0), 0x40800000); /* 2^128 * 2^-126 */
  assert_int_equal(of_one("blackhole", 1, SMMA_F32, INFINITE, 0x4000, 0), 0x7f800000);
  assert_int_equal(of_one("blackhole", 1, SMMA_F32, 0x007f, ONE, 0x80000001), 0);
  assert_int_equal(of_one("blackhole", 1, SMMA_F32, 0x0080, 0x3f00, 0), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_chains),
                                     cmocka_unit_test(test_by_hand)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
