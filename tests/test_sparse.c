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
    {"A100", "mma.sp.m16n8k32.f32.f16.f16.f32", 4},
    {"A100", "mma.sp.m16n8k16.f16.f16.f16.f16", 4},
    {"A100", "mma.sp.m16n8k16.f32.tf32.tf32.f32", 2},
    {"A100", "mma.sp.m16n8k128.satfinite.s32.s4.u4.s32", 8},
    {"L40S", "mma.sp.m16n8k64.f32.e4m3.e5m2.f32", 4},
    {"H100", "mma.sp.m16n8k64.f32.e5m2.e5m2.f32", 4},
    {"H100", "wgmma.sp.m64n16k64.s32.u8.s8", 4},
    {"H100", "wgmma.sp.m64n8k32.f32.bf16.bf16", 4},
    {"B200", "tcgen05.sp.m128n32k64.f32.e2m1.e3m2", 4},
    {"RTX 5090", "mma.sp.m16n8k64.f16.e2m3.e4m3.f16", 4},
    {"B200", "tcgen05.sp.m128n8k64.block32.f32.e4m3.e2m3.ue8m0", 4},
    {"B200", "tcgen05.sp.m128n16k128.block32.f32.e2m1.e2m1.ue8m0", 8},
    {"B200", "tcgen05.sp.m128n8k128.block16.f32.e2m1.e2m1.ue8m0", 8},
    {"RTX 5090", "mma.sp.m16n8k128.block16.f32.e2m1.e2m1.f32.ue4m3", 8},
    {"RTX 5090", "mma.sp.m16n8k64.block32.f32.e3m2.e5m2.f32.ue8m0", 4},
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
      d[(M + PAD) * N * MOST_BYTES], metadata[M * MOST_K_OF_B], scale_a[M * MOST_K_OF_B], scale_b[N * MOST_K_OF_B];
  smma_error error;
} product;

/* Fills an array with numbers of moderate size, so that sums are rounded and seldom overflow. */
static void fill(uint64_t *r, smma_format format, void *to, size_t count) {
  for (size_t i = 0; i < count; i++)
    store_element(format, to, i,
                  smma_format_encode(format, random_between(r, -2000, 2000) / 700.0, SMMA_ROUND_NEAREST_EVEN,
                                     SMMA_OVERFLOW_DEFAULT));
}

/* Returns the number of scale factors along K, of blocks of stored elements. */
static size_t factors_along(const product *p) {
  const size_t block = (size_t)p->info.scale_block;
  return block ? (p->g.k / 2 + block - 1) / block : 0;
}

static uint64_t one_of(smma_format format) {
  return smma_format_encode(format, 1, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

/* Fills in scale factors near one; one in 24 is NaN. */
static void fill_scales(uint64_t *r, smma_format format, unsigned char *to, size_t count) {
  for (size_t i = 0; i < count; i++) {
    to[i] = (unsigned char)(random_below(r, 24)    ? one_of(format) + random_below(r, 9) - 4
                            : format == SMMA_UE8M0 ? 0xff
                                                   : 0x7f);
  }
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
  if (p->info.scale_block) {
    p->g.scale_a = p->scale_a, p->g.scale_b = p->scale_b;
    fill_scales(r, p->info.scale, p->scale_a, M * factors_along(p));
    fill_scales(r, p->info.scale, p->scale_b, N * factors_along(p));
  }
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
    for (int i = 0; p->info.scale_block && i < p->info.k / p->info.scale_block; i++) {
      const size_t factor = first / (size_t)p->info.scale_block + (size_t)i, along = factors_along(p);
      row.scale_a[i] = factor < along ? p->scale_a[m * along + factor] : one_of(p->info.scale);
      row.scale_b[i] = factor < along ? p->scale_b[n * along + factor] : one_of(p->info.scale);
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

/* The five results of block-scaled tcgen05.mma.sp that others recorded on B200s (tests/vectors/recorded/b200), as whole
   products: PTX's metadata 0x44444444 is spelled out here, by the PTX ISA's fields of two bits. */
static void recorded_on_a_b200(void **state) {
  static const struct {
    const char *instruction;
    size_t k;
    unsigned char one, scale, next_scale;
    bool in_pairs;
  } recorded[] = {
      {"tcgen05.sp.m128n8k64.block32.f32.e4m3.e4m3.ue8m0", 64, 0x38, 0x7f, 0x80, false},
      {"tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale.scale_vec::2X.m128n8k128.f32.e2m1.e2m1.ue8m0", 128, 2, 0x7f,
       0x7f, true},
      {"tcgen05.mma.sp.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::2X.m128n8k128.f32.e2m1.e2m1.ue8m0", 128, 2,
       0x7f, 0x7f, true},
      {"tcgen05.sp.m128n8k128.block16.f32.e2m1.e2m1.ue8m0", 128, 2, 0x7f, 0x7f, true},
      {"tcgen05.sp.m128n8k128.block16.f32.e2m1.e2m1.ue4m3", 128, 2, 0x38, 0x38, true}};
  const uint32_t words = 0x44444444;
  (void)state;
  for (size_t r = 0; r < sizeof recorded / sizeof *recorded; r++) {
    const size_t width = recorded[r].in_pairs ? 2 : 1, k = recorded[r].k;
    unsigned char a[64], metadata[64], b[128], scale_a[4], scale_b[4];
    uint32_t d = 0;
    smma_gemm_arguments g;
    for (size_t j = 0; j < k / 2; j++) {
      const size_t group = j / (2 * width), field = j / width % 2;
      const uint32_t position = words >> (4 * (group % 8) + 2 * field) & 3;
      metadata[j] = (unsigned char)(position * width + j % width);
      a[j] = !recorded[r].in_pairs || metadata[j] == 2 || metadata[j] == 3 ? recorded[r].one : 0;
    }
    memset(b, recorded[r].one, k);
    memset(scale_a, recorded[r].scale, sizeof scale_a), memset(scale_b, recorded[r].scale, sizeof scale_b);
    scale_a[1] = recorded[r].next_scale;
    smma_gemm_defaults(&g, sizeof g);
    g.m = g.n = 1, g.k = k, g.a = a, g.b = b, g.scale_a = scale_a, g.scale_b = scale_b, g.d = &d;
    assert_int_equal(smma_gemm_sparse(find("B200", recorded[r].instruction), &g, metadata), SMMA_OK);
    assert_int_equal(d, 0x42000000);
  }
}

/* PTX has one selector in descending order, for tcgen05: positions 2, 1. */
static void two_before_one(void **state) {
  static const struct {
    const char *gpu, *instruction;
    unsigned char positions[4];
    smma_status status;
  } cases[] = {{"B200", "tcgen05.sp.m64n8k32.f32.f16.f16", {2, 1, 0, 1}, SMMA_OK},
               {"B200", "tcgen05.sp.m128n8k128.block16.f32.e2m1.e2m1.ue4m3", {4, 5, 2, 3}, SMMA_OK},
               {"B200", "tcgen05.sp.m64n8k32.f32.f16.f16", {0, 1, 3, 1}, SMMA_INVALID_ARGUMENT},
               {"B200", "tcgen05.sp.m128n8k128.block16.f32.e2m1.e2m1.ue4m3", {6, 7, 2, 3}, SMMA_INVALID_ARGUMENT},
               {"H100", "wgmma.sp.m64n8k32.f32.f16.f16", {2, 1, 0, 1}, SMMA_INVALID_ARGUMENT}};
  (void)state;
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    const smma_instruction *i = find(cases[n].gpu, cases[n].instruction);
    const smma_format in = describe(i).a;
    unsigned char a[8] = {0}, b[16] = {0}, scale = 0x38;
    float d = 0, expected = 0;
    smma_gemm_arguments g;
    for (size_t k = 0; k < 8; k++)
      store_element(in, b, k, smma_format_encode(in, (double)(k % 5), SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT));
    for (size_t j = 0; j < 4; j++) {
      const int group = smma_sparse_group(i);
      const size_t k = j / (size_t)(group / 2) * (size_t)group + cases[n].positions[j];
      store_element(in, a, j, smma_format_encode(in, (double)j, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT));
      expected += (float)(j * (k % 5));
    }
    smma_gemm_defaults(&g, sizeof g);
    g.m = g.n = 1, g.k = 8, g.a = a, g.b = b, g.d = &d;
    if (describe(i).scale_block) g.scale_a = g.scale_b = &scale;
    assert_int_equal(smma_gemm_sparse(i, &g, cases[n].positions), cases[n].status);
    assert_true(d == (cases[n].status == SMMA_OK ? expected : 0));
  }
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
  for (int matrix = 0; matrix < 4; matrix++) { /* offsets beyond size_t, and no order */
    smma_gemm_arguments g = p.g;
    *(size_t *[]){&g.lda, &g.ldb, &g.ldc, &g.ldd}[matrix] = (size_t)1 << 60;
    assert_int_equal(smma_gemm_sparse(p.instruction, &g, p.metadata), SMMA_INVALID_DIMENSION);
    g = p.g;
    *(smma_order *[]){&g.order_a, &g.order_b, &g.order_c, &g.order_d}[matrix] = (smma_order)7;
    assert_int_equal(smma_gemm_sparse(p.instruction, &g, p.metadata), SMMA_INVALID_ARGUMENT);
  }
  p.g.scale_a = p.scale_a;
  assert_int_equal(smma_gemm_sparse(p.instruction, &p.g, p.metadata), SMMA_MISSING_SCALE);
  p.g.scale_a = NULL, p.g.scale_b = p.scale_b;
  assert_int_equal(smma_gemm_sparse(p.instruction, &p.g, p.metadata), SMMA_MISSING_SCALE);
  p.g.scale_b = NULL;
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

/* D overlaps the last scale factor of a plan's parts, or begins after it. */
static void overlaps_scales_of_a_plan(void **state) {
  static const char text[] =
      "{\"softmma-plan\": 1, \"name\": \"x\", \"sum\": "
      "[{\"deal\": \"every\", \"k\": 16, \"with\": \"fma\", \"from\": \"zero\"}]}";
  static product p;
  static float scales[M + M * N];
  smma_plan *plan = smma_plan_parse("x", text, strlen(text), NULL);
  uint64_t r = 9;
  (void)state;
  assert_non_null(plan);
  for (int after = 0; after < 2; after++) {
    prepare(&p, 0, 32, &r);
    p.g.plan = plan, p.g.c = NULL, p.g.scale_a = scales, p.g.scale_b = p.scale_b;
    p.g.d = scales + M - 1 + after;
    assert_int_equal(smma_gemm_sparse(p.instruction, &p.g, p.metadata), after ? SMMA_OK : SMMA_INVALID_ARGUMENT);
    if (!after) assert_non_null(strstr(p.error.text, "D overlaps scale_a;"));
  }
  smma_plan_free(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(equals_dot_products),
                                     cmocka_unit_test(blocks_are_of_selected_products),
                                     cmocka_unit_test(overlaps),
                                     cmocka_unit_test(overlaps_scales_of_a_plan),
                                     cmocka_unit_test(recorded_on_a_b200),
                                     cmocka_unit_test(two_before_one),
                                     cmocka_unit_test(wrong_metadata_is_refused),
                                     cmocka_unit_test(other_arguments)};
  return cmocka_run_group_tests_name("sparse", tests, NULL, NULL);
}
