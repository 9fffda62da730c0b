/* Compares sparse products with dot products of the selected elements, one by one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softmma/sparse.h"
#include "support.h"

enum { M = 5, N = 7, MOST_BYTES = 4, MOST_K_OF_B = 300, PAD = 3 };

static const struct {
  const char *gpu, *instruction;
  int group;
} units[] = {
    {"A100", "mma.sp.m16n8k32.f32.f16.f16.f32", 4},     {"A100", "mma.sp.m16n8k16.f16.f16.f16.f16", 4},
    {"A100", "mma.sp.m16n8k16.f32.tf32.tf32.f32", 2},   {"A100", "mma.sp.m16n8k128.satfinite.s32.s4.u4.s32", 8},
    {"L40S", "mma.sp.m16n8k64.f32.e4m3.e5m2.f32", 4},   {"H100", "mma.sp.m16n8k64.f32.e5m2.e5m2.f32", 4},
    {"H100", "wgmma.sp.m64n16k64.s32.u8.s8", 4},        {"H100", "wgmma.sp.m64n8k32.f32.bf16.bf16", 4},
    {"B200", "tcgen05.sp.m128n32k64.f32.e2m1.e3m2", 4}, {"RTX 5090", "mma.sp.m16n8k64.f16.e2m3.e4m3.f16", 4},
};

/* Chooses any valid positions for a group. */
static void choose_positions(uint64_t *r, int group, unsigned char *positions) {
  const int pairs = group == 8, choices = pairs ? 4 : group, stored = pairs ? 2 : group / 2;
  int first = (int)random_below(r, (unsigned)choices), second = (int)random_below(r, (unsigned)choices);
  if (stored == 1) {
    positions[0] = (unsigned char)first;
    return;
  }
  while (second == first) second = (int)random_below(r, (unsigned)choices);
  if (second < first) first ^= second, second ^= first, first ^= second;
  for (int i = 0; i < (pairs ? 4 : 2); i++) {
    const int at = (pairs ? i / 2 : i) ? second : first;
    positions[i] = (unsigned char)(pairs ? 2 * at + i % 2 : at);
  }
}

typedef struct {
  const smma_instruction *instruction;
  smma_instruction_info info;
  smma_gemm_arguments g;
  unsigned char a[M * MOST_K_OF_B * MOST_BYTES], b[(N + PAD) * MOST_K_OF_B * MOST_BYTES], c[M * N * MOST_BYTES],
      d[(M + PAD) * N * MOST_BYTES], metadata[M * MOST_K_OF_B];
  smma_error error;
} product;

/* Fills an array with numbers of moderate size, so that sums are rounded and seldom overflow. */
static void fill(uint64_t *r, smma_format format, void *to, size_t count) {
  for (size_t i = 0; i < count; i++)
    store_element(format, to, i,
                  smma_format_encode(format, random_between(r, -2000, 2000) / 700.0, SMMA_ROUND_NEAREST_EVEN,
                                     SMMA_OVERFLOW_DEFAULT));
}

static void prepare(product *p, size_t unit, size_t k, uint64_t *r) {
  memset(p, 0, sizeof *p);
  p->instruction = find(units[unit].gpu, units[unit].instruction);
  p->info = describe(p->instruction);
  smma_gemm_defaults(&p->g, sizeof p->g);
  p->g.m = M, p->g.n = N, p->g.k = k, p->g.a = p->a, p->g.b = p->b, p->g.c = p->c, p->g.d = p->d;
  p->g.error = &p->error;
  fill(r, p->info.a, p->a, M * k / 2);
  fill(r, p->info.b, p->b, (N + PAD) * k);
  fill(r, p->info.c, p->c, (size_t)M * N);
  for (size_t i = 0; i < M * k / 2; i += (size_t)(units[unit].group / 2))
    choose_positions(r, units[unit].group, p->metadata + i);
}

static size_t at(smma_order order, size_t ld, size_t i, size_t j) {
  return order == SMMA_ROW_MAJOR ? i * ld + j : i + j * ld;
}

/* Computes element (m, n), one step of the instruction after another. */
static uint64_t element(const product *p, int group, size_t m, size_t n) {
  const size_t stored = p->g.k / 2, half = (size_t)group / 2;
  smma_row row;
  memset(&row, 0, sizeof row);
  row.c = load_element(p->info.c, p->c, m * N + n);
  for (size_t first = 0; first < stored; first += (size_t)p->info.k) {
    for (int i = 0; i < p->info.k; i++) {
      const size_t j = first + (size_t)i, k = j / half * (size_t)group + p->metadata[m * stored + j];
      row.a[i] = j < stored ? load_element(p->info.a, p->a, at(p->g.order_a, p->g.lda, m, j)) : 0;
      row.b[i] = j < stored ? load_element(p->info.b, p->b, at(p->g.order_b, p->g.ldb, k, n)) : 0;
    }
    row.c = dot(p->instruction, &row);
  }
  return row.c;
}

static void check(product *p, size_t unit) {
  const smma_status status = smma_gemm_sparse(p->instruction, &p->g, p->metadata);
  if (status != SMMA_OK) fail_msg("%s: %s: %s", p->info.name, smma_status_text(status), p->error.text);
  for (size_t m = 0; m < M; m++)
    for (size_t n = 0; n < N; n++) {
      const uint64_t expected = element(p, units[unit].group, m, n);
      const uint64_t got = load_element(p->info.d, p->d, at(p->g.order_d, p->g.ldd, m, n));
      if (got != expected)
        fail_msg("%s, K = %zu, element %zu, %zu: %llx instead of %llx", p->info.name, p->g.k, m, n,
                 (unsigned long long)got, (unsigned long long)expected);
    }
}

static void equals_dot_products(void **state) {
  static product p;
  uint64_t r = 1;
  (void)state;
  for (size_t unit = 0; unit < sizeof units / sizeof *units; unit++) {
    assert_int_equal(smma_sparse_group(find(units[unit].gpu, units[unit].instruction)), units[unit].group);
    for (size_t k = 8; k <= MOST_K_OF_B; k = k * 2 + 24) {
      prepare(&p, unit, k, &r);
      p.g.lda = k / 2, p.g.ldb = N, p.g.ldd = N;
      check(&p, unit);
      prepare(&p, unit, k, &r);
      p.g.order_a = p.g.order_b = p.g.order_d = SMMA_COLUMN_MAJOR;
      p.g.lda = M, p.g.ldb = k, p.g.ldd = M + PAD;
      check(&p, unit);
      prepare(&p, unit, k, &r);
      p.g.lda = k / 2, p.g.ldb = N + PAD, p.g.ldd = N;
      check(&p, unit);
    }
  }
}

/* A block has as many selected products as a block of the dense instruction has products, however many elements lie
   between them. */
static void blocks_are_of_selected_products(void **state) {
  const smma_instruction *sparse = find("A100", "mma.sp.m16n8k16.f32.f16.f16.f32");
  const smma_instruction *dense = find("A100", "mma.m16n8k16.f32.f16.f16.f32");
  /* 1 + 2^-24 four times: all at once, or 1 + 2^-24 first, which leaves 1. */
  const uint16_t stored[8] = {0x3c00, 1, 0, 0, 1, 1, 1, 0};
  uint16_t whole[16] = {0}, ones[16];
  unsigned char metadata[8];
  smma_gemm_arguments g;
  float d = 0, other = 0;
  (void)state;
  for (int i = 0; i < 16; i++) ones[i] = 0x3c00;
  for (int i = 0; i < 8; i++) metadata[i] = (unsigned char)(i % 2 + 2), whole[i / 2 * 4 + i % 2 + 2] = stored[i];
  smma_gemm_defaults(&g, sizeof g);
  g.m = g.n = 1, g.k = 16, g.a = stored, g.b = ones, g.d = &d;
  assert_int_equal(smma_gemm_sparse(sparse, &g, metadata), SMMA_OK);
  g.a = whole, g.d = &other;
  assert_int_equal(smma_gemm(dense, &g), SMMA_OK);
  assert_true(d == 1 + 0x1p-22f && other == 1 + 0x1p-23f);
}

static void wrong_metadata_is_refused(void **state) {
  static const struct {
    size_t unit;
    size_t element;
    unsigned char positions[4];
    const char *says;
  } wrong[] = {{0, 2, {4, 1}, "row 1, element 2 is 4; positions are 0 to 3"},
               {0, 2, {2, 2}, "row 1, elements 2 and 3 are 2, 2; positions ascend in a group"},
               {0, 2, {3, 1}, "row 1, elements 2 and 3 are 3, 1; positions ascend in a group"},
               {2, 3, {2}, "row 1, element 3 is 2; positions are 0 to 1"},
               {3, 4, {1, 2, 4, 5}, "row 1, element 4 is 1; elements of 4 bits are stored in pairs"},
               {3, 4, {0, 3, 4, 5}, "row 1, elements 4 and 5 are 0, 3; positions ascend in a group, by pairs"},
               {3, 4, {4, 5, 2, 3}, "row 1, elements 5 and 6 are 5, 2; positions ascend in a group, by pairs"}};
  static product p;
  uint64_t r = 2;
  (void)state;
  for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
    prepare(&p, wrong[w].unit, 32, &r);
    memcpy(p.metadata + 16 + wrong[w].element, wrong[w].positions, (size_t)units[wrong[w].unit].group / 2);
    memset(p.d, 0x5a, sizeof p.d);
    assert_int_equal(smma_gemm_sparse(p.instruction, &p.g, p.metadata), SMMA_INVALID_ARGUMENT);
    if (!strstr(p.error.text, wrong[w].says)) fail_msg("'%s' does not say '%s'", p.error.text, wrong[w].says);
    for (size_t i = 0; i < sizeof p.d; i++) assert_int_equal(p.d[i], 0x5a);
  }
}

static void other_arguments(void **state) {
  static product p;
  uint64_t r = 3;
  progress_log log = {.rows = M, .stop_after = 100};
  smma_multiplier *multiplier;
  (void)state;
  prepare(&p, 0, 32, &r);
  assert_int_equal(smma_gemm_sparse(p.instruction, &p.g, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_gemm_sparse(find("A100", "mma.m16n8k16.f32.f16.f16.f32"), &p.g, p.metadata),
                   SMMA_INVALID_SPARSITY);
  assert_int_equal(smma_gemm(p.instruction, &p.g), SMMA_INVALID_SPARSITY);
  assert_int_equal(smma_multiplier_create(p.instruction, &p.g, &multiplier), SMMA_INVALID_SPARSITY);
  assert_int_equal(smma_gemm_sparse(NULL, &p.g, p.metadata), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_sparse_group(NULL), 0);
  p.g.k = 30;
  assert_int_equal(smma_gemm_sparse(p.instruction, &p.g, p.metadata), SMMA_INVALID_DIMENSION);
  assert_non_null(strstr(p.error.text, "K is 30; metadata is of groups of 4 elements"));
  p.g.k = 32, p.g.ldb = N - 1;
  assert_int_equal(smma_gemm_sparse(p.instruction, &p.g, p.metadata), SMMA_INVALID_DIMENSION);
  p.g.ldb = 0, p.g.order_c = SMMA_COLUMN_MAJOR, p.g.ldc = M - 1;
  assert_int_equal(smma_gemm_sparse(p.instruction, &p.g, p.metadata), SMMA_INVALID_DIMENSION);
  p.g.order_c = SMMA_ROW_MAJOR, p.g.ldc = 0;
  p.g.progress = log_progress, p.g.progress_context = &log;
  assert_int_equal(smma_gemm_sparse(p.instruction, &p.g, p.metadata), SMMA_OK);
  assert_int_equal(log.last, M);
  p.g.m = 0;
  assert_int_equal(smma_gemm_sparse(p.instruction, &p.g, NULL), SMMA_OK);
}

/* D, with 8 x 4 bytes a row, overlaps the last byte of an operand, or begins after it. */
static void overlaps(void **state) {
  static product p;
  static float c[M * N + 1];
  uint64_t r = 4;
  (void)state;
  prepare(&p, 0, 32, &r);
  const struct {
    void *end;
    const char *name;
  } operands[] = {{(unsigned char *)p.g.a + M * 16 * 2, "A"},
                  {(unsigned char *)p.g.b + 32 * N * 2, "B"},
                  {p.metadata + M * 16, "the metadata"},
                  {c + M * N, "C"}};
  for (size_t o = 0; o < sizeof operands / sizeof *operands; o++) {
    char words[40];
    prepare(&p, 0, 32, &r);
    p.g.c = c;
    p.g.d = (unsigned char *)operands[o].end - 4;
    snprintf(words, sizeof words, "D overlaps %s;", operands[o].name);
    assert_int_equal(smma_gemm_sparse(p.instruction, &p.g, p.metadata), SMMA_INVALID_ARGUMENT);
    if (!strstr(p.error.text, words)) fail_msg("'%s' does not say '%s'", p.error.text, words);
  }
  prepare(&p, 0, 32, &r);
  p.g.c = p.g.d = c;
  assert_int_equal(smma_gemm_sparse(p.instruction, &p.g, p.metadata), SMMA_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(equals_dot_products),
                                     cmocka_unit_test(blocks_are_of_selected_products), cmocka_unit_test(overlaps),
                                     cmocka_unit_test(wrong_metadata_is_refused), cmocka_unit_test(other_arguments)};
  return cmocka_run_group_tests_name("sparse", tests, NULL, NULL);
}
