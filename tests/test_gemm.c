/* Compares matrix products with a plain loop over smma_dot that follows softmma.h word by word. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gemm/gemm.h"
#include "host/load.h"
#include "isa/custom.h"
#include "random.h"
#include "support.h"

#define CASES 48 /* for each instruction */

/* One instruction of every algorithm. If there is a second name, that instruction takes C in D's format. */
static const struct {
  const char *gpu, *name, *chain;
} instructions[] = {
    {"A100", "mma.m8n8k4.f64.f64.f64.f64", NULL},
    {"MI100", "v_mfma_f32_16x16x4f32", NULL},
    {"MI300X", "v_mfma_f32_32x32x1_2b_f32", NULL},
    {"V100", "mma.m8n8k4.f32.f16.f16.f16", "mma.m8n8k4.f32.f16.f16.f32"},
    {"A100", "mma.m16n8k8.f32.tf32.tf32.f32", NULL},
    {"L40S", "mma.m16n8k32.f32.e4m3.e5m2.f32", NULL},
    {"H100", "mma.m16n8k16.f16.f16.f16.f16", NULL},
    {"H100", "wgmma.m64n8k16.f32.bf16.bf16", NULL},
    {"H100", "mma.m16n8k32.f32.e4m3.e4m3.f32", NULL},
    {"H100", "mma.m16n8k32.f16.e5m2.e4m3.f16", NULL},
    {"B200", "tcgen05.m64n8k32.f32.e3m2.e2m1", NULL},
    {"B200", "tcgen05.m128n8k32.block32.f32.e4m3.e2m3.ue8m0", NULL},
    {"B200", "tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3", NULL},
    {"RTX 5090", "mma.m16n8k64.block32.f32.e2m1.e2m1.f32.ue8m0", NULL},
    {"MI100", "v_mfma_f32_16x16x8bf16", NULL},
    {"MI250X", "v_mfma_f32_16x16x16bf16_1k", NULL},
    {"MI300X", "v_mfma_f32_16x16x8_xf32", NULL},
    {"MI300X", "v_mfma_f32_16x16x32_fp8_bf8", NULL},
    {"x86", "vdpbf16ps", NULL},
    {"A100", "mma.m16n8k32.s32.s8.u8.s32", NULL},
    {"A100", "mma.m16n8k16.satfinite.s32.s8.s8.s32", NULL},
    {"B200", "tcgen05.m64n8k32.satfinite.s32.u8.u8", NULL},
    {"MI100", "v_mfma_i32_4x4x4i8", NULL},
    {"rdna3", "v_wmma_f16_16x16x16_f16", NULL},
    {"rdna3", "v_wmma_bf16_16x16x16_bf16", NULL},
    {"rdna4", "v_wmma_f16_16x16x16_f16.ovfl", NULL},
    {"rdna4", "v_wmma_f32_16x16x16_fp8_bf8", NULL},
    {"rdna4", "v_wmma_i32_16x16x16_iu4.s4.u4.clamp", NULL},
};

/* ---- A product and its operands ---- */

/* Fills the bytes after the last element of D and between its rows. */
#define UNTOUCHED 0xa5

typedef struct {
  const smma_instruction *instruction, *chain;
  smma_instruction_info info;
  smma_gemm_arguments with;
  void *a, *b, *c, *d, *scale_a, *scale_b;
  size_t d_bytes;
} product;

static size_t index_of(smma_order order, size_t leading, size_t i, size_t j) {
  return order == SMMA_ROW_MAJOR ? i * leading + j : i + j * leading;
}

/* Returns the number of elements from the first to the last of a matrix. */
static size_t extent(size_t rows, size_t columns, smma_order order, size_t leading) {
  return rows && columns ? index_of(order, leading, rows - 1, columns - 1) + 1 : 0;
}

/* Returns a number near one; once in sixteen times a zero of either sign, a tiny number, or any bits. In s32 many
   numbers are near the ends of the range. */
static uint64_t random_element(uint64_t *state, smma_format format, bool any_bits, bool specials) {
  double value = (double)(int64_t)random_bits(state) * 0x1p-62;
  unsigned choice = random_below(state, 64);
  uint64_t bits = random_bits(state) >> (64 - smma_format_bits(format)), x;
  x = smma_format_encode(format, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
  if (any_bits || choice == 0) x = bits;
  if (choice == 1) x = smma_format_encode(format, 0.0, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
  if (choice == 2) x = smma_format_encode(format, -0.0, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
  if (choice == 3) x = bits & 3;
  if (choice > 32 && format == SMMA_S32) x = (bits & 0xfff) ^ (bits >> 31 ? 0x80000000 : 0x7ffff000);
  if (!specials && !isfinite(smma_format_decode(format, x))) x = 0;
  return x;
}

/* Returns an array of exactly this length, so that a sanitizer notices a read past its end. */
static void *random_array(uint64_t *state, smma_format format, size_t count, bool any_bits, bool specials) {
  char *array = test_malloc(count * smma_format_bytes(format) + !count);
  for (size_t i = 0; i < count; i++) store_element(format, array, i, random_element(state, format, any_bits, specials));
  return array;
}

/* Returns an array of scale factors. If `specials`, one in 32 is NaN. */
static void *random_scales(uint64_t *state, smma_format format, size_t count, bool specials) {
  void *array = random_array(state, format, count, false, specials);
  for (size_t i = 0; specials && i < count; i++)
    if (random_below(state, 32) == 0) store_element(format, array, i, 0xff); /* NaN in ue8m0 and ue4m3 */
  return array;
}

static size_t scale_count(const product *p) {
  size_t block = (size_t)p->info.scale_block;
  return block ? (p->with.k + block - 1) / block : 0;
}

/* Fills operands for the sizes and layouts in p->with; ld = 0 stays 0, which means dense. */
static void make_operands(product *p, uint64_t *state, bool any_bits, bool specials) {
  smma_gemm_arguments *g = &p->with;
  size_t lda = g->lda ? g->lda : g->order_a == SMMA_ROW_MAJOR ? g->k : g->m;
  size_t ldb = g->ldb ? g->ldb : g->order_b == SMMA_ROW_MAJOR ? g->n : g->k;
  size_t ldc = g->ldc ? g->ldc : g->order_c == SMMA_ROW_MAJOR ? g->n : g->m;
  size_t ldd = g->ldd ? g->ldd : g->order_d == SMMA_ROW_MAJOR ? g->n : g->m;
  g->a = p->a = random_array(state, p->info.a, extent(g->m, g->k, g->order_a, lda), any_bits, specials);
  g->b = p->b = random_array(state, p->info.b, extent(g->k, g->n, g->order_b, ldb), any_bits, specials);
  g->c = p->c = random_array(state, p->info.c, extent(g->m, g->n, g->order_c, ldc), any_bits, specials);
  p->d_bytes = (extent(g->m, g->n, g->order_d, ldd) + 3) * smma_format_bytes(p->info.d);
  g->d = p->d = test_malloc(p->d_bytes);
  memset(p->d, UNTOUCHED, p->d_bytes);
  if (!p->info.scale_block) return;
  g->scale_a = p->scale_a = random_scales(state, p->info.scale, g->m * scale_count(p), specials);
  g->scale_b = p->scale_b = random_scales(state, p->info.scale, g->n * scale_count(p), specials);
}

static void free_operands(product *p) {
  test_free(p->a);
  test_free(p->b);
  test_free(p->c);
  test_free(p->d);
  if (p->scale_a) test_free(p->scale_a);
  if (p->scale_b) test_free(p->scale_b);
}

/* ---- The plain loop ---- */

static uint64_t element_at(smma_format format, const void *array, size_t rows, size_t columns, smma_order order,
                           size_t leading, size_t i, size_t j) {
  if (leading == 0) leading = order == SMMA_ROW_MAJOR ? columns : rows;
  return load_element(format, array, index_of(order, leading, i, j));
}

/* Returns factor * x in x's format. The product is exact before it is rounded, or C rounds it once. */
static uint64_t scaled(smma_format format, uint64_t x, double factor) {
  double value = factor * smma_format_decode(format, x);
  return factor == 1 ? x : smma_format_encode(format, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

static uint64_t c_at(const product *p, size_t i, size_t j) {
  const smma_gemm_arguments *g = &p->with;
  if (!g->c || g->beta == 0) return 0;
  return element_at(p->info.c, g->c, g->m, g->n, g->order_c, g->ldc, i, j);
}

/* Computes one instruction step of element (i, j) from k on; beyond K, products are +0 and scale factors are one. */
static uint64_t run_step(const product *p, const smma_instruction *instruction, size_t i, size_t j, size_t k,
                         uint64_t accumulator) {
  const smma_gemm_arguments *g = &p->with;
  size_t block = (size_t)p->info.scale_block, blocks = scale_count(p);
  bool scales_a = g->scaling == SMMA_SCALING_OPERANDS;
  smma_row x = {.c = accumulator};
  for (size_t e = 0; e < (size_t)p->info.k && k + e < g->k; e++) {
    x.a[e] = element_at(p->info.a, g->a, g->m, g->k, g->order_a, g->lda, i, k + e);
    x.a[e] = scaled(p->info.a, x.a[e], scales_a ? g->alpha : 1);
    x.b[e] = element_at(p->info.b, g->b, g->k, g->n, g->order_b, g->ldb, k + e, j);
  }
  for (size_t s = 0; block && s < (size_t)p->info.k / block; s++) {
    uint64_t one = smma_format_encode(p->info.scale, 1, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
    bool present = k / block + s < blocks;
    x.scale_a[s] = present ? load_element(p->info.scale, g->scale_a, i * blocks + k / block + s) : one;
    x.scale_b[s] = present ? load_element(p->info.scale, g->scale_b, j * blocks + k / block + s) : one;
  }
  return dot(instruction, &x);
}

/* Limits an integer to the range of s32, as the instruction does. */
static double in_range(const product *p, double x) {
  if (strstr(p->info.name, "satfinite") || strstr(p->info.name, "clamp")) return fmin(fmax(x, INT32_MIN), INT32_MAX);
  return x - 0x1p32 * floor((x + 0x1p31) / 0x1p32);
}

/* Adds in the outer format: FP64 for f64, s32 for s32, otherwise FP32. */
static double add_outside(const product *p, double x, double y) {
  if (p->info.d == SMMA_S32) return in_range(p, x + y);
  return p->info.d == SMMA_F64 ? x + y : (double)((float)x + (float)y);
}

/* Returns the sum of steps first .. last - 1 in the outer format; *plain receives their last accumulator. */
static double run_slice(const product *p, size_t i, size_t j, size_t first, size_t last, size_t interval,
                        uint64_t start, uint64_t *plain) {
  const smma_instruction *instruction = interval || first ? p->chain : p->instruction;
  double outer = interval && first == 0 ? smma_format_decode(p->info.c, start) : 0;
  uint64_t accumulator = interval || first ? 0 : start;
  for (size_t step = first; step < last; step++) {
    accumulator = run_step(p, instruction, i, j, step * (size_t)p->info.k, accumulator);
    instruction = p->chain;
    if (!interval || ((step + 1) % interval && step + 1 < last)) continue;
    outer = add_outside(p, outer, smma_format_decode(p->info.d, accumulator));
    if (step + 1 < last) accumulator = 0;
  }
  *plain = accumulator;
  return interval ? outer : smma_format_decode(p->info.d, accumulator);
}

/* Returns the sum over K in the outer format. */
static double run_all(const product *p, size_t i, size_t j, uint64_t start, uint64_t *plain) {
  const smma_gemm_arguments *g = &p->with;
  size_t k = (size_t)p->info.k, steps = (g->k + k - 1) / k, interval = g->promote_every / k;
  size_t slices = g->split_k ? g->split_k : 1, slice = (steps + slices - 1) / slices;
  double total = smma_format_decode(p->info.c, start);
  if (interval) slice = (slice + interval - 1) / interval * interval;
  for (size_t first = 0; first < steps; first += slice) {
    size_t last = first + slice < steps ? first + slice : steps;
    double part = run_slice(p, i, j, first, last, interval, start, plain);
    total = first ? add_outside(p, total, part) : part;
  }
  return total;
}

static double epilogue(const product *p, double total, double c) {
  const smma_gemm_arguments *g = &p->with;
  const double beta = g->c && g->beta != 0 ? g->beta : 0; /* beta C counts as +0 without C, and if beta is -0 */
  if (p->info.d == SMMA_S32) return in_range(p, rint(fma(g->alpha, total, beta * c)));
  if (p->info.d == SMMA_F64) return fma(g->alpha, total, beta * c);
  return fmaf((float)g->alpha, (float)total, (float)beta * (float)c);
}

static bool is_plain(const smma_gemm_arguments *g) {
  return g->k && g->split_k < 2 && !g->promote_every && g->scaling == SMMA_SCALING_OPERANDS;
}

static uint64_t reference(const product *p, size_t i, size_t j) {
  const smma_gemm_arguments *g = &p->with;
  bool in_operands = g->scaling == SMMA_SCALING_OPERANDS;
  uint64_t c = c_at(p, i, j), plain = 0;
  double total = run_all(p, i, j, in_operands ? scaled(p->info.c, c, g->beta) : 0, &plain);
  if (is_plain(g)) return plain;
  if (!in_operands) total = epilogue(p, total, smma_format_decode(p->info.c, c));
  return smma_format_encode(p->info.d, total, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

/* ---- Comparing ---- */

static void print_product(const product *p) {
  const smma_gemm_arguments *g = &p->with;
  print_error(
      "%s %s: m=%zu n=%zu k=%zu ld=%zu,%zu,%zu,%zu order=%d,%d,%d,%d alpha=%a beta=%a %s split_k=%zu "
      "promote_every=%zu c=%s\n",
      p->info.arch, p->info.name, g->m, g->n, g->k, g->lda, g->ldb, g->ldc, g->ldd, g->order_a, g->order_b, g->order_c,
      g->order_d, g->alpha, g->beta, g->scaling == SMMA_SCALING_OPERANDS ? "operands" : "epilogue", g->split_k,
      g->promote_every,
      !g->c          ? "NULL"
      : g->c == g->d ? "d"
                     : "given");
}

/* Replaces the elements of D in `expected`; the bytes between them stay unchanged. */
static void fill_expected(const product *p, void *expected) {
  const smma_gemm_arguments *g = &p->with;
  size_t leading = g->ldd ? g->ldd : g->order_d == SMMA_ROW_MAJOR ? g->n : g->m;
  for (size_t i = 0; i < g->m; i++)
    for (size_t j = 0; j < g->n; j++)
      store_element(p->info.d, expected, index_of(g->order_d, leading, i, j), reference(p, i, j));
}

/* If accumulators are added outside the instruction, any two NaNs are equal. */
static void assert_same(const product *p, const void *expected) {
  for (size_t e = 0; e < p->d_bytes / smma_format_bytes(p->info.d); e++) {
    uint64_t x = load_element(p->info.d, expected, e), y = load_element(p->info.d, p->d, e);
    if (x == y || (!is_plain(&p->with) && same_or_nan(p->info.d, x, y))) continue;
    print_product(p);
    fail_msg("element %zu of D's memory: expected %" PRIx64 " (%a), got %" PRIx64 " (%a)", e, x,
             smma_format_decode(p->info.d, x), y, smma_format_decode(p->info.d, y));
  }
}

/* Returns a multiplier of the product; B is overwritten as soon as the multiplier exists. */
static smma_multiplier *multiplier_of(product *p) {
  smma_gemm_arguments g = p->with;
  size_t leading = g.ldb ? g.ldb : g.order_b == SMMA_ROW_MAJOR ? g.n : g.k;
  size_t bytes = extent(g.k, g.n, g.order_b, leading) * smma_format_bytes(p->info.b), scales = g.n * scale_count(p);
  void *b = test_malloc(bytes + 1), *scale_b = g.scale_b ? test_malloc(scales + 1) : NULL;
  smma_multiplier *multiplier;
  if (bytes) memcpy(b, g.b, bytes);
  if (scales && scale_b) memcpy(scale_b, g.scale_b, scales);
  g.b = b, g.scale_b = scale_b;
  g.m = SIZE_MAX, g.a = g.c = g.scale_a = NULL, g.d = NULL; /* ignored by multipliers */
  assert_int_equal(smma_multiplier_create(p->instruction, &g, &multiplier), SMMA_OK);
  memset(b, UNTOUCHED, bytes);
  test_free(b);
  if (scale_b) memset(scale_b, UNTOUCHED, scales), test_free(scale_b);
  assert_true(smma_multiplier_bytes(multiplier) >= g.k * g.n * smma_format_bytes(p->info.b));
  return multiplier;
}

/* Checks several runs of one multiplier. */
static void check_plan(product *p, const void *before, const void *expected) {
  smma_multiplier *multiplier = multiplier_of(p);
  smma_gemm_arguments *g = &p->with;
  for (int run = 0; run < 2; run++) {
    memcpy(p->d, before, p->d_bytes);
    assert_int_equal(smma_multiplier_run(multiplier, g->m, g->a, g->scale_a, g->c, g->d), SMMA_OK);
    if (memcmp(p->d, expected, p->d_bytes) == 0) continue;
    print_product(p);
    fail_msg("run %d of the multiplier gives other bits", run);
  }
  smma_multiplier_free(multiplier);
}

/* Computes with 1, 2 and 5 threads, each with another kernel, on the same operands; then with multipliers. */
static void check_product(product *p) {
  void *before = test_malloc(p->d_bytes), *expected = test_malloc(p->d_bytes), *first = test_malloc(p->d_bytes);
  static const int threads[] = {1, 2, 5};
  static const char *const kernels[] = {NULL, "core", "portable"};
  memcpy(before, p->d, p->d_bytes);
  memcpy(expected, p->d, p->d_bytes);
  fill_expected(p, expected);
  for (int t = 0; t < 3; t++) {
    memcpy(p->d, before, p->d_bytes);
    p->with.threads = threads[t];
    p->with.kernel = kernels[t];
    assert_int_equal(smma_gemm(p->instruction, &p->with), SMMA_OK);
    if (t == 0) memcpy(first, p->d, p->d_bytes);
    if (memcmp(first, p->d, p->d_bytes) == 0) continue;
    print_product(p);
    fail_msg("%d threads of kernel %s give other bits", threads[t], kernels[t]);
  }
  assert_same(p, expected);
  for (int t = 0; t < 3; t++) {
    p->with.threads = threads[t];
    p->with.kernel = kernels[t];
    check_plan(p, before, first);
  }
  test_free(before);
  test_free(expected);
  test_free(first);
}

static product product_of(const char *gpu, const char *name, const char *chain) {
  product p = {.instruction = find(gpu, name)};
  p.chain = chain ? find(gpu, chain) : p.instruction;
  p.info = describe(p.instruction);
  smma_gemm_defaults(&p.with, sizeof p.with);
  p.with.scaling = SMMA_SCALING_OPERANDS; /* unless a test sets another one */
  return p;
}

/* ---- Random products ---- */

static size_t random_size(uint64_t *state) {
  switch (random_below(state, 8)) {
    case 0: return 1;
    case 1: return 31 + random_below(state, 4);
    case 2: return 63 + random_below(state, 3);
    case 3: return 15 + random_below(state, 3);
    default: return 1 + random_below(state, 9);
  }
}

/* Returns a K around multiples of the instruction's K, or above the depth at which a tile is decoded. */
static size_t random_depth(uint64_t *state, size_t k) {
  switch (random_below(state, 8)) {
    case 0: return 1;
    case 1: return k;
    case 2: return k + 1;
    case 3: return 3 * k - 1;
    case 4: return 512 + random_below(state, 3 * (unsigned)k);
    case 5: return 1040 + random_below(state, 64);
    default: return 1 + random_below(state, 5 * (unsigned)k);
  }
}

static void random_layout(uint64_t *state, size_t rows, size_t columns, smma_order *order, size_t *leading) {
  *order = random_below(state, 2) ? SMMA_COLUMN_MAJOR : SMMA_ROW_MAJOR;
  *leading = 0;
  if (random_below(state, 2)) *leading = (*order == SMMA_ROW_MAJOR ? columns : rows) + random_below(state, 4);
}

static void random_options(uint64_t *state, smma_gemm_arguments *g, size_t k) {
  static const double factors[] = {1, 1, 0.5, -1, 0, 0x1.8p-1, -0x1.c8p-3};
  g->alpha = factors[random_below(state, 7)];
  g->beta = factors[random_below(state, 7)];
  if (random_below(state, 2)) g->scaling = SMMA_SCALING_EPILOGUE;
  if (g->scaling == SMMA_SCALING_EPILOGUE && random_below(state, 2)) g->alpha = 0.1, g->beta = -3.7;
  if (random_below(state, 3) == 0) g->split_k = random_below(state, 6);
  if (random_below(state, 3) == 0) g->promote_every = k * (1 + random_below(state, 4));
}

/* Makes C NULL, equal to D, or separate. */
static void random_c(uint64_t *state, product *p) {
  smma_gemm_arguments *g = &p->with;
  unsigned choice = random_below(state, 4);
  if (choice == 0) g->c = NULL;
  if (choice > 1 || p->info.c != p->info.d) return;
  if (choice == 1) {
    size_t count = p->d_bytes / smma_format_bytes(p->info.d);
    for (size_t e = 0; e + 3 < count; e++)
      store_element(p->info.d, p->d, e, random_element(state, p->info.d, false, false));
    g->c = g->d, g->ldc = g->ldd, g->order_c = g->order_d;
  }
}

static void random_product(product *p, uint64_t seed) {
  smma_gemm_arguments *g = &p->with;
  uint64_t state = seed * 1000003;
  g->m = random_size(&state);
  g->n = random_size(&state);
  g->k = random_depth(&state, (size_t)p->info.k);
  if (g->k > 128) g->m = 1 + g->m % 12, g->n = 1 + g->n % 5;
  random_layout(&state, g->m, g->k, &g->order_a, &g->lda);
  random_layout(&state, g->k, g->n, &g->order_b, &g->ldb);
  random_layout(&state, g->m, g->n, &g->order_c, &g->ldc);
  random_layout(&state, g->m, g->n, &g->order_d, &g->ldd);
  random_options(&state, g, (size_t)p->info.k);
  make_operands(p, &state, random_below(&state, 6) == 0, random_below(&state, 3) == 0);
  random_c(&state, p);
}

static void test_random_products(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof instructions / sizeof instructions[0]; i++)
    for (uint64_t c = 0; c < CASES; c++) {
      product p = product_of(instructions[i].gpu, instructions[i].name, instructions[i].chain);
      random_product(&p, i * CASES + c);
      check_product(&p);
      free_operands(&p);
    }
}

/* ---- Particular products ---- */

static product small_product(const char *gpu, const char *name, size_t m, size_t n, size_t k) {
  product p = product_of(gpu, name, NULL);
  uint64_t state = m + n + k;
  p.with.m = m, p.with.n = n, p.with.k = k;
  make_operands(&p, &state, false, false);
  return p;
}

static void test_empty_sizes(void **state) {
  (void)state;
  for (int scaling = SMMA_SCALING_OPERANDS; scaling <= SMMA_SCALING_EPILOGUE; scaling++) {
    product p = small_product("H100", "wgmma.m64n8k16.f32.bf16.bf16", 5, 7, 0);
    p.with.a = p.with.b = NULL;
    p.with.alpha = 2, p.with.beta = 0.75, p.with.scaling = (smma_scaling)scaling;
    p.with.split_k = 3, p.with.promote_every = 32;
    check_product(&p);
    free_operands(&p);
    p = small_product("H100", "wgmma.m64n8k16.f32.bf16.bf16", 0, 7, 20);
    check_product(&p);
    free_operands(&p);
    p = small_product("H100", "wgmma.m64n8k16.f32.bf16.bf16", 7, 0, 20);
    p.with.d = NULL;
    assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
    free_operands(&p);
  }
}

/* With factors of 1, or with beta = 0, C is the instruction's operand; all other factors act after the sum. */
static void test_default_scaling(void **state) {
  static const double factors[] = {1, 0, 0.5, -1};
  (void)state;
  for (int n = 0; n < 16; n++) {
    const double alpha = factors[n / 4], beta = factors[n % 4];
    const bool plain = alpha == 1 && (beta == 1 || beta == 0);
    uint32_t results[3][35];
    for (int scaling = SMMA_SCALING_DEFAULT; scaling <= SMMA_SCALING_EPILOGUE; scaling++) {
      product p = small_product("H100", "wgmma.m64n8k16.f32.bf16.bf16", 5, 7, 33);
      p.with.alpha = alpha, p.with.beta = beta, p.with.scaling = (smma_scaling)scaling;
      if (scaling) check_product(&p);
      assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
      memcpy(results[scaling], p.d, sizeof results[scaling]);
      free_operands(&p);
    }
    assert_memory_equal(results[SMMA_SCALING_DEFAULT], results[plain ? SMMA_SCALING_OPERANDS : SMMA_SCALING_EPILOGUE],
                        sizeof results[0]);
    if (alpha == 1 && beta == 1) /* the two differ */
      assert_memory_not_equal(results[SMMA_SCALING_OPERANDS], results[SMMA_SCALING_EPILOGUE], sizeof results[0]);
  }
}

/* With beta = 0, C is ignored: NaN and infinities in C give the results of no C. */
static void test_zero_beta(void **state) {
  (void)state;
  for (int scaling = SMMA_SCALING_OPERANDS; scaling <= SMMA_SCALING_EPILOGUE; scaling++) {
    product p = small_product("H100", "wgmma.m64n8k16.f32.bf16.bf16", 5, 7, 33);
    uint32_t without[35];
    for (size_t e = 0; e < 35; e++) store_element(SMMA_F32, p.c, e, e % 2 ? 0x7fc00000 : 0x7f800000);
    p.with.beta = 0, p.with.scaling = (smma_scaling)scaling;
    check_product(&p);
    memcpy(without, p.d, sizeof without);
    p.with.c = NULL, p.with.beta = 1;
    check_product(&p);
    assert_memory_equal(without, p.d, sizeof without);
    p.with.beta = INFINITY; /* of no C */
    assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
    assert_memory_equal(without, p.d, sizeof without);
    p.with.c = p.c, p.with.beta = -0.0, p.with.k = 0;
    assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
    for (size_t e = 0; e < 35; e++) assert_int_equal(load_element(SMMA_F32, p.d, e), 0); /* not -0 */
    p.with.k = 33;
    free_operands(&p);
  }
}

/* Scale factors beyond K are not read. In this test the next factor in memory is that of the next row, and is NaN. */
static void test_scales_behind_k(void **state) {
  product p = small_product("B200", "tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3", 2, 2, 20);
  uint8_t scales[] = {0x38, 0x38, 0x7f, 0x7f}; /* 1, 1; NaN, NaN */
  (void)state;
  p.with.scale_a = p.with.scale_b = scales;
  check_product(&p);
  assert_true(isfinite(smma_format_decode(SMMA_F32, load_element(SMMA_F32, p.d, 0))));
  assert_true(isnan(smma_format_decode(SMMA_F32, load_element(SMMA_F32, p.d, 3))));
  free_operands(&p);
}

/* There may be more slices than steps, and the promotion interval may be longer than K. */
static void test_more_slices_than_steps(void **state) {
  product p = small_product("H100", "wgmma.m64n8k16.f32.bf16.bf16", 3, 4, 40);
  (void)state;
  p.with.split_k = 1000;
  check_product(&p);
  p.with.split_k = SIZE_MAX;
  p.with.promote_every = 16 * (SIZE_MAX / 64);
  assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
  p.with.split_k = 0;
  check_product(&p);
  free_operands(&p);
}

/* An example of Hopper's FP8, derived by hand: partial sums lose bits that promotion retains. */
static void test_promotion_keeps_more(void **state) {
  product p = product_of("H100", "wgmma.m64n8k32.f32.e4m3.e4m3", NULL);
  uint8_t a[64] = {0}, b[64] = {0};
  float d;
  (void)state;
  memset(b, 0x38, sizeof b);                 /* 1 */
  a[0] = 0x78;                               /* 256 */
  for (int k = 32; k < 64; k++) a[k] = 0x01; /* 2^-9: the sum of 32 of them is 2^-4 */
  p.with.m = p.with.n = 1, p.with.k = 64;
  p.with.a = a, p.with.b = b, p.with.d = &d;
  assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
  assert_true(d == 256);
  p.with.promote_every = 32;
  assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
  assert_true(d == 256.0625f);
}

/* Adds 32 products of 1 and 32 products of -1 to c = 2^31 - 1. Products of 1 and of -1 are in different steps, or in
   different slices. */
static int32_t sum_of_steps(const char *name, size_t split_k, size_t promote_every) {
  product p = product_of("A100", name, NULL);
  int8_t a[64], b[64];
  int32_t c = INT32_MAX, d;
  for (int k = 0; k < 64; k++) a[k] = k < 32 ? 1 : -1, b[k] = 1;
  p.with.m = p.with.n = 1, p.with.k = 64;
  p.with.a = a, p.with.b = b, p.with.c = &c, p.with.d = &d;
  p.with.split_k = split_k, p.with.promote_every = promote_every;
  assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
  return d;
}

/* A sum that wraps returns to its exact value, but a clamped sum does not. If one promotion interval contains both
   steps, its sum is 0, and nothing overflows. */
static void test_overflow_of_integers(void **state) {
  (void)state;
  for (size_t slices = 1; slices <= 2; slices++)
    for (size_t every = 0; every <= 64; every += 32) {
      assert_int_equal(sum_of_steps("mma.m16n8k32.s32.s8.s8.s32", slices, every), INT32_MAX);
      assert_int_equal(sum_of_steps("mma.m16n8k32.satfinite.s32.s8.s8.s32", slices, every),
                       every == 64 ? INT32_MAX : INT32_MAX - 32);
    }
}

/* With alpha and beta in FP64, half of an odd number is rounded to an even number, and NaN becomes 0. */
static void test_epilogue_of_integers(void **state) {
  static const struct {
    const char *name;
    double alpha, beta;
    int32_t c, d;
  } cases[] = {
      {"mma.m16n8k32.s32.s8.s8.s32", 0.5, 0, 0, 2},
      {"mma.m16n8k32.s32.s8.s8.s32", 1, 1, INT32_MAX, INT32_MIN + 4},
      {"mma.m16n8k32.satfinite.s32.s8.s8.s32", 1, 1, INT32_MAX, INT32_MAX},
      {"mma.m16n8k32.s32.s8.s8.s32", 1, -3, INT32_MIN, INT32_MIN + 5},
      {"mma.m16n8k32.s32.s8.s8.s32", 0x1p40, 1, 7, 7},
      {"mma.m16n8k32.s32.s8.s8.s32", NAN, 1, 7, 0},
      {"mma.m16n8k32.s32.s8.s8.s32", -INFINITY, 1, 7, INT32_MIN},
      {"mma.m16n8k32.satfinite.s32.s8.s8.s32", 0, 1e300, -1, INT32_MIN},
  };
  int8_t a = 5, b = 1;
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    product p = product_of("A100", cases[i].name, NULL);
    int32_t d;
    p.with.m = p.with.n = p.with.k = 1;
    p.with.a = &a, p.with.b = &b, p.with.c = &cases[i].c, p.with.d = &d;
    p.with.alpha = cases[i].alpha, p.with.beta = cases[i].beta, p.with.scaling = SMMA_SCALING_EPILOGUE;
    assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
    assert_int_equal(d, cases[i].d);
  }
}

/* Returns a composition of S8 that adds one product at a time to C, with this treatment of overflow in its steps. */
static const smma_instruction *unit_of_integers(const char *overflow) {
  char text[512];
  smma_error error;
  const smma_instruction *unit;
  snprintf(text, sizeof text,
           "{\"softmma-unit\": 1, \"name\": \"chain\", \"algorithm\": \"composition\", \"k\": 4, \"a\": \"s8\", "
           "\"b\": \"s8\", \"c\": \"s32\", \"d\": \"s32\", \"steps\": [{\"take\": 1, \"join\": \"chain\", "
           "\"start\": \"c\", \"reference\": 0, \"alignment_bits\": 0, %s\"output\": \"s32\"}]}",
           overflow);
  unit = smma_custom_read("custom", text, strlen(text), &error);
  if (!unit) fail_msg("%s", error.text);
  return unit;
}

static int32_t sum_in_parts(const smma_instruction *unit, size_t split_k, double beta, int32_t c) {
  const int8_t a[8] = {127, 127, 127, 127, 127, 127, 127, 127};
  smma_gemm_arguments g;
  int32_t d;
  smma_gemm_defaults(&g, sizeof g);
  g.m = g.n = 1, g.k = 8, g.a = g.b = a, g.c = &c, g.d = &d, g.split_k = split_k, g.beta = beta;
  assert_int_equal(smma_gemm(unit, &g), SMMA_OK);
  return d;
}

/* Sums of parts and the epilogue treat overflow as the steps of a composition do. */
static void test_overflow_of_compositions(void **state) {
  static const char *const overflows[] = {"\"width\": 32, \"width_overflow\": \"wrap\", ",
                                          "\"width\": 32, \"width_overflow\": \"saturate\", ", "",
                                          "\"width\": 40, \"width_overflow\": \"wrap\", "};
  const int32_t c = INT32_MAX - 20000, products = 8 * 127 * 127;
  (void)state;
  for (int n = 0; n < 4; n++) {
    const smma_instruction *unit = unit_of_integers(overflows[n]);
    assert_int_equal(sum_in_parts(unit, 1, 1, c), n ? INT32_MAX : (int64_t)c + products - (INT64_C(1) << 32));
    assert_int_equal(sum_in_parts(unit, 2, 1, c), n ? INT32_MAX : (int64_t)c + products - (INT64_C(1) << 32));
    assert_int_equal(sum_in_parts(unit, 1, 2, c), n ? INT32_MAX : 2 * (int64_t)c + products - (INT64_C(1) << 32));
    smma_custom_release(unit);
  }
}

/* ---- Progress ---- */

typedef struct {
  size_t calls, last, rows;
  bool forward;
} progress_record;

static bool record_progress(size_t done, size_t rows, void *context) {
  progress_record *r = context;
  r->forward = r->forward && done >= r->last;
  r->last = done;
  r->rows = rows;
  r->calls++;
  return 0;
}

/* Every FP16 number as C is multiplied by beta in FP32 and rounded to FP16, in rows and in columns. */
static void test_every_half(void **state) {
  (void)state;
  const float betas[] = {1, 0.3f, 3, 0x1.004p-9f, 0x1p-12f, 0x1.ffep4f, -1e-30f};
  static uint16_t c[65536], d[65536];
  const smma_instruction *instruction = smma_find("H100", "mma.m16n8k16.f16.f16.f16.f16", NULL);
  for (int i = 0; i < 65536; i++) c[i] = (uint16_t)i;
  for (size_t i = 0; i < sizeof betas / sizeof betas[0]; i++)
    for (int orders = 0; orders < 4; orders++) {
      smma_gemm_arguments g;
      smma_gemm_defaults(&g, sizeof g);
      g.m = 512, g.n = 128, g.beta = betas[i], g.scaling = SMMA_SCALING_EPILOGUE, g.c = c, g.d = d;
      g.order_c = orders & 1 ? SMMA_COLUMN_MAJOR : SMMA_ROW_MAJOR;
      g.order_d = orders & 2 ? SMMA_COLUMN_MAJOR : SMMA_ROW_MAJOR;
      assert_int_equal(smma_gemm(instruction, &g), SMMA_OK);
      for (size_t row = 0; row < g.m; row++)
        for (size_t column = 0; column < g.n; column++) {
          const uint16_t from = c[orders & 1 ? row + column * g.m : row * g.n + column];
          const float scaled = betas[i] * (float)smma_format_decode(SMMA_F16, from);
          const uint64_t rounded =
              smma_format_encode(SMMA_F16, scaled, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
          assert_int_equal(d[orders & 2 ? row + column * g.m : row * g.n + column], isnan(scaled) ? 0x7fff : rounded);
        }
    }
}

static void test_progress(void **state) {
  product p = small_product("H100", "wgmma.m64n8k16.f32.bf16.bf16", 100, 70, 16);
  progress_record r = {.forward = true};
  (void)state;
  p.with.progress = record_progress;
  p.with.progress_context = &r;
  p.with.threads = 1;
  assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
  assert_true(r.calls > 0 && r.forward);
  assert_int_equal(r.rows, 100);
  assert_int_equal(r.last, 100);
  free_operands(&p);
}

static bool stop_at_once(size_t done, size_t rows, void *context) {
  (void)done, (void)rows;
  ++*(int *)context;
  return 1;
}

static void test_stopping(void **state) {
  product p = small_product("H100", "wgmma.m64n8k16.f32.bf16.bf16", 100, 70, 16);
  int calls = 0;
  (void)state;
  p.with.progress = stop_at_once;
  p.with.progress_context = &calls;
  p.with.threads = 1;
  assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_STOPPED);
  assert_int_equal(calls, 1);
  free_operands(&p);
}

/* A small product reports its progress also if the caller is not the first thread of its team. */
static void test_progress_in_a_team(void **state) {
  product p[4];
  int calls[4] = {0}, stopped = 0;
  (void)state;
  for (int thread = 0; thread < 4; thread++) {
    p[thread] = small_product("H100", "wgmma.m64n8k16.f32.bf16.bf16", 1, 1, 16);
    p[thread].with.progress = stop_at_once, p[thread].with.progress_context = &calls[thread];
  }
#pragma omp parallel for num_threads(4) reduction(+ : stopped)
  for (int thread = 0; thread < 4; thread++)
    stopped += smma_gemm(p[thread].instruction, &p[thread].with) == SMMA_STOPPED;
  assert_int_equal(stopped, 4);
  for (int thread = 0; thread < 4; thread++) {
    assert_int_equal(calls[thread], 1);
    free_operands(&p[thread]);
  }
}

/* A forked child has no OpenMP threads, so a product on one thread must work without OpenMP. */
static void test_fork(void **state) {
  product p = small_product("H100", "wgmma.m64n8k16.f32.bf16.bf16", 100, 70, 16);
  int status;
  pid_t child;
  (void)state;
  p.with.threads = 2;
  assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
  p.with.threads = 1;
  child = fork();
  if (child == 0) {
    alarm(600);
    _exit(smma_gemm(p.instruction, &p.with) == SMMA_OK ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  free_operands(&p);
}

/* Operands and result may be at odd addresses. */
static void test_alignment(void **state) {
  const smma_instruction *i = smma_find("A100", "mma.m8n8k4.f64.f64.f64.f64", NULL);
  double a[4] = {1, 2, 3, 4}, c = 0.5, d;
  unsigned char odd[5][40];
  (void)state;
  memcpy(odd[0] + 1, a, sizeof a);
  memcpy(odd[1] + 3, a, sizeof a);
  memcpy(odd[2] + 5, &c, sizeof c);
  assert_int_equal(smma_dot(i, odd[0] + 1, odd[1] + 3, odd[2] + 5, NULL, NULL, odd[3] + 7), SMMA_OK);
  memcpy(&d, odd[3] + 7, sizeof d);
  assert_true(d == 30.5);
}

/* ---- NaN of FP64, as an H100 returns it ---- */

static bool is_nan(uint64_t x) { return (x & INT64_MAX) > UINT64_C(0x7ff) << 52; }

static double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Returns b's NaN, else the sum's, else a's, made quiet; else the sum, or the NaN that the step makes. */
static uint64_t step_of_h100(uint64_t a, uint64_t b, uint64_t sum) {
  const uint64_t of[] = {b, sum, a};
  uint64_t bits;
  for (int i = 0; i < 3; i++)
    if (is_nan(of[i])) return of[i] | UINT64_C(1) << 51;
  const double d = fma(double_of(a), double_of(b), double_of(sum));
  memcpy(&bits, &d, sizeof bits);
  return is_nan(bits) ? UINT64_C(0xfff8000000000000) : bits;
}

/* Returns a NaN, quiet or signalling, of any sign and payload, in one of `rate` calls; else 1, sometimes an infinity,
   a zero, or a number whose products overflow. */
static uint64_t seldom_nan(uint64_t *state, unsigned rate) {
  const uint64_t others[] = {UINT64_C(0x7ff) << 52, UINT64_C(0xfff) << 52, 0, UINT64_C(0x7fe) << 52,
                             UINT64_C(0xe03) << 52};
  const uint64_t bits = random_bits(state);
  if (random_below(state, rate) == 0) return bits | UINT64_C(0x7ff) << 52 | 1;
  return random_below(state, 8) ? UINT64_C(0x3ff) << 52 : others[random_below(state, 5)];
}

enum { MOST_LINES = 40, LONGEST_K = 200 };

typedef struct {
  size_t m, n, k;
  /* A and C are row-major, B is column-major. */
  uint64_t a[MOST_LINES * LONGEST_K], b[MOST_LINES * LONGEST_K], c[MOST_LINES * MOST_LINES];
} fp64_product;

static void check_fp64(const smma_instruction *i, const fp64_product *p, const char *kernel) {
  static uint64_t d[MOST_LINES * MOST_LINES];
  smma_gemm_arguments g;
  smma_gemm_defaults(&g, sizeof g);
  g.m = p->m, g.n = p->n, g.k = p->k;
  g.a = p->a, g.b = p->b, g.c = p->c, g.d = d;
  g.order_b = SMMA_COLUMN_MAJOR;
  g.beta = 1;
  g.kernel = kernel;
  assert_int_equal(smma_gemm(i, &g), SMMA_OK);
  for (size_t row = 0; row < p->m; row++)
    for (size_t column = 0; column < p->n; column++) {
      uint64_t expected = p->c[row * p->n + column];
      for (size_t k = 0; k < p->k; k++)
        expected = step_of_h100(p->a[row * p->k + k], p->b[column * p->k + k], expected);
      assert_int_equal(d[row * p->n + column], expected);
    }
}

/* Products with many NaN and with few have the NaN that the H100's steps give. If there are few columns, B^T A^T is
   computed, in which the two factors of each product are exchanged. */
static void test_nan_of_fp64(void **state) {
  static const size_t sizes[][3] = {{1, 1, 4}, {40, 1, 200}, {1, 40, 200}, {40, 3, 16}, {33, 40, 132}};
  const smma_instruction *i = smma_find("H100", "mma.m8n8k4.f64.f64.f64.f64", NULL);
  static fp64_product p;
  uint64_t draws = 1;
  const char *kernel;
  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
    for (unsigned rate = 2; rate <= 512; rate *= 4) {
      p.m = sizes[s][0], p.n = sizes[s][1], p.k = sizes[s][2];
      for (size_t e = 0; e < p.m * p.k; e++) p.a[e] = seldom_nan(&draws, rate);
      for (size_t e = 0; e < p.n * p.k; e++) p.b[e] = seldom_nan(&draws, rate);
      for (size_t e = 0; e < p.m * p.n; e++) p.c[e] = seldom_nan(&draws, rate);
      for (size_t n = 0; (kernel = smma_kernel_name(n)); n++) check_fp64(i, &p, kernel);
    }
}

/* Returns a random encoding of f: a special value in one of `rate` calls; else zero, a subnormal, 1, or any finite
   number. */
static uint64_t seldom_special(uint64_t *state, smma_encoding f, unsigned rate) {
  const uint64_t bits = random_bits(state), sign = smma_sign_and_fields(f, bits & 1, 0);
  const uint64_t most = smma_largest_fields(f), one = (uint64_t)f.bias << f.fraction_bits;
  if (random_below(state, rate) == 0) {
    const bool infinite = smma_has_infinity(f) && random_below(state, 2);
    return sign | (most + 1 + (infinite ? 0 : (unsigned)smma_has_infinity(f) + random_below(state, 3) / 2));
  }
  switch (random_below(state, 16)) {
    case 0: return sign;
    case 1: return sign | 1;
    case 2: return sign | (bits >> 1) % most;
    default: return sign | one;
  }
}

/* Factors and C have infinities and NaN among zeros and subnormals. RDNA's NaN result shows whether a factor, the
   products or C caused it. */
static void test_nan_of_rdna(void **state) {
  static const char *names[][2] = {{"RDNA3", "v_wmma_f32_16x16x16_f16"}, {"RDNA3", "v_wmma_f32_16x16x16_bf16"},
                                   {"RDNA3", "v_wmma_f16_16x16x16_f16"}, {"RDNA3", "v_wmma_bf16_16x16x16_bf16"},
                                   {"RDNA4", "v_wmma_f32_16x16x16_f16"}, {"RDNA4", "v_wmma_bf16_16x16x16_bf16"},
                                   {"RDNA4", "v_wmma_f16_16x16x16_f16"}, {"RDNA4", "v_wmma_f32_16x16x16_bf8_fp8"}};
  enum { M = 20, N = 70, K = 290 };
  static unsigned char a[M * K * 2], b[K * N * 2], c[M * N * 4], d[M * N * 4], expected[M * N * 4];
  uint64_t draws = 3;
  const char *kernel;
  (void)state;
  for (size_t x = 0; x < sizeof names / sizeof names[0]; x++)
    for (unsigned rate = 1; rate <= 1000; rate *= 10) {
      const smma_instruction *i = smma_find(names[x][0], names[x][1], NULL);
      const smma_encoding of_a = smma_encoding_of(i->a), of_b = smma_encoding_of(i->b), of_c = smma_encoding_of(i->c);
      smma_gemm_arguments g;
      smma_gemm_defaults(&g, sizeof g);
      for (size_t e = 0; e < M * K; e++) smma_store(smma_bytes_of(i->a), a, e, seldom_special(&draws, of_a, rate));
      for (size_t e = 0; e < K * N; e++) smma_store(smma_bytes_of(i->b), b, e, seldom_special(&draws, of_b, rate));
      for (size_t e = 0; e < M * N; e++) smma_store(smma_bytes_of(i->c), c, e, seldom_special(&draws, of_c, rate));
      g.m = M, g.n = N, g.k = K, g.a = a, g.b = b, g.c = rate == 10 ? NULL : c, g.d = expected;
      g.beta = g.c ? 1 : 0;
      g.kernel = "core";
      assert_int_equal(smma_gemm(i, &g), SMMA_OK);
      g.d = d;
      for (size_t n = 0; (kernel = smma_kernel_name(n)); n++) {
        g.kernel = kernel;
        assert_int_equal(smma_gemm(i, &g), SMMA_OK);
        assert_memory_equal(d, expected, M * N * smma_bytes_of(i->d));
      }
    }
}

/* Each row is computed alone and together with other rows, with the NaN at every k in turn. */
static void test_nan_of_fp64_rows(void **state) {
  enum { MANY = 3000, K = 4 };
  static uint64_t a[MANY][K], b[MANY][K], c[MANY], d[MANY];
  const smma_instruction *i = smma_find("H100", "mma.m8n8k4.f64.f64.f64.f64", NULL);
  smma_batch batch = {sizeof batch, MANY, a, b, c, NULL, NULL, d};
  uint64_t draws = 2, alone;
  (void)state;
  for (size_t row = 0; row < MANY; row++) {
    const unsigned rate = 1 + (unsigned)row % 8;
    for (int k = 0; k < K; k++) a[row][k] = seldom_nan(&draws, rate), b[row][k] = seldom_nan(&draws, rate);
    c[row] = seldom_nan(&draws, rate);
  }
  assert_int_equal(smma_dot_rows(i, &batch, 1), SMMA_OK);
  for (size_t row = 0; row < MANY; row++) {
    uint64_t expected = c[row];
    for (int k = 0; k < K; k++) expected = step_of_h100(a[row][k], b[row][k], expected);
    assert_int_equal(smma_dot(i, a[row], b[row], &c[row], NULL, NULL, &alone), SMMA_OK);
    assert_int_equal(alone, expected);
    assert_int_equal(d[row], expected);
  }
}

/* Without products, the epilogue gives beta C, whatever alpha is. */
static void test_no_products_in_epilogue(void **state) {
  const smma_instruction *i = smma_find("H100", "mma.m16n8k16.f32.f16.f16.f32", NULL);
  float c = -0.0f, d = 1;
  smma_gemm_arguments g;
  (void)state;
  smma_gemm_defaults(&g, sizeof g);
  g.m = g.n = 1;
  g.c = &c, g.d = &d;
  g.scaling = SMMA_SCALING_EPILOGUE;
  g.alpha = INFINITY;
  assert_int_equal(smma_gemm(i, &g), SMMA_OK);
  assert_true(d == 0 && signbit(d));
}

/* ---- Multipliers ---- */

/* The rows of a product are independent. So if a multiplier runs with fewer rows, it returns the first rows of the
   whole product. */
static void test_plan_with_other_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof instructions / sizeof instructions[0]; i++) {
    product p = product_of(instructions[i].gpu, instructions[i].name, NULL);
    uint64_t seed = i + 1;
    size_t bytes = smma_format_bytes(p.info.d);
    char *all;
    smma_multiplier *multiplier;
    p.with.m = 40, p.with.n = 70, p.with.k = 300; /* three parts of K, several panels */
    make_operands(&p, &seed, false, true);
    assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
    multiplier = multiplier_of(&p);
    all = test_malloc(40 * 70 * bytes);
    for (size_t m = 0; m <= 40; m += m < 8 ? 1 : 16) {
      memset(all, UNTOUCHED, 40 * 70 * bytes);
      assert_int_equal(smma_multiplier_run(multiplier, m, p.a, p.scale_a, p.c, all), SMMA_OK);
      assert_memory_equal(all, p.d, m * 70 * bytes);
      if (m < 40) assert_int_equal((unsigned char)all[m * 70 * bytes], UNTOUCHED);
    }
    smma_multiplier_free(multiplier);
    test_free(all);
    free_operands(&p);
  }
}

/* Threads can share a multiplier. */
static void test_shared_plan(void **state) {
  product p = small_product("H100", "wgmma.m64n8k16.f32.bf16.bf16", 33, 65, 150);
  float d[8][33 * 65];
  smma_multiplier *multiplier;
  (void)state;
  p.with.threads = 1;
  assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
  multiplier = multiplier_of(&p);
#pragma omp parallel for num_threads(8)
  for (int t = 0; t < 8; t++)
    for (int run = 0; run < 20; run++) smma_multiplier_run(multiplier, 33, p.a, NULL, p.c, d[t]);
  for (int t = 0; t < 8; t++) assert_memory_equal(d[t], p.d, sizeof d[t]);
  smma_multiplier_free(multiplier);
  free_operands(&p);
}

/* A multiplier remains valid after its custom unit is freed. */
static void test_plan_of_a_custom_unit(void **state) {
  static const char text[] =
      "{\"softmma-unit\": 1, \"name\": \"exact\", \"algorithm\": \"G-FDPA\", \"k\": 16, \"a\": \"f16\", \"b\": "
      "\"f16\", "
      "\"d\": \"f32\", \"alignment_bits\": \"exact\", \"rounding\": \"nearest-even\"}";
  smma_error error;
  const smma_instruction *unit = smma_custom_read("custom", text, strlen(text), &error);
  uint16_t a[16], b[16];
  float d = 0;
  smma_gemm_arguments g;
  smma_multiplier *multiplier;
  (void)state;
  if (!unit) fail_msg("%s", error.text);
  for (int k = 0; k < 16; k++) a[k] = b[k] = 0x3c00;
  smma_gemm_defaults(&g, sizeof g);
  g.n = 1, g.k = 16, g.b = b;
  assert_int_equal(smma_multiplier_create(unit, &g, &multiplier), SMMA_OK);
  smma_custom_release(unit);
  assert_int_equal(smma_multiplier_run(multiplier, 1, a, NULL, NULL, &d), SMMA_OK);
  assert_true(d == 16);
  smma_multiplier_free(multiplier);
}

static void test_errors_of_plans(void **state) {
  product p = small_product("H100", "wgmma.m64n8k16.f32.bf16.bf16", 3, 5, 40);
  product scaled = small_product("RTX 5090", "mma.m16n8k32.block32.f32.e4m3.e4m3.f32.ue8m0", 3, 5, 40);
  smma_gemm_arguments g = p.with;
  static const char text[] = "{\"softmma-plan\": 1, \"name\": \"plain\"}";
  smma_plan *plain = smma_plan_parse("plain", text, strlen(text), NULL);
  smma_multiplier *multiplier = (smma_multiplier *)&g;
  (void)state;
  assert_int_equal(smma_multiplier_create(NULL, &g, &multiplier), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_multiplier_create(p.instruction, NULL, &multiplier), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_multiplier_create(p.instruction, &g, NULL), SMMA_INVALID_ARGUMENT);
  g.size = 0;
  assert_int_equal(smma_multiplier_create(p.instruction, &g, &multiplier), SMMA_INVALID_ARGUMENT);
  assert_null(multiplier);
  g = p.with, g.b = NULL;
  assert_int_equal(smma_multiplier_create(p.instruction, &g, &multiplier), SMMA_INVALID_ARGUMENT);
  g = p.with, g.scale_b = p.b;
  assert_int_equal(smma_multiplier_create(p.instruction, &g, &multiplier), SMMA_MISSING_SCALE);
  g = scaled.with, g.scale_b = NULL;
  assert_int_equal(smma_multiplier_create(scaled.instruction, &g, &multiplier), SMMA_MISSING_SCALE);
  g = p.with, g.ldb = 4;
  assert_int_equal(smma_multiplier_create(p.instruction, &g, &multiplier), SMMA_INVALID_DIMENSION);
  g = p.with, g.n = SIZE_MAX / 4;
  assert_int_equal(smma_multiplier_create(p.instruction, &g, &multiplier), SMMA_INVALID_DIMENSION);
  g = p.with, g.kernel = "sse9";
  assert_int_equal(smma_multiplier_create(p.instruction, &g, &multiplier), SMMA_NO_KERNEL);
  assert_null(multiplier);

  assert_int_equal(smma_multiplier_create(p.instruction, &p.with, &multiplier), SMMA_OK);
  assert_int_equal(smma_multiplier_run(NULL, 3, p.a, NULL, p.c, p.d), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_multiplier_run(multiplier, 3, NULL, NULL, p.c, p.d), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_multiplier_run(multiplier, 3, p.a, NULL, p.c, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_multiplier_run(multiplier, 3, p.a, p.a, p.c, p.d), SMMA_MISSING_SCALE);
  assert_int_equal(smma_multiplier_run(multiplier, SIZE_MAX / 4, p.a, NULL, p.c, p.d), SMMA_INVALID_DIMENSION);
  assert_int_equal(smma_multiplier_run(multiplier, 0, NULL, NULL, NULL, NULL), SMMA_OK);
  for (size_t byte = 0; byte < p.d_bytes; byte++) assert_int_equal(((unsigned char *)p.d)[byte], UNTOUCHED);
  smma_multiplier_free(multiplier);
  assert_int_equal(smma_multiplier_create(scaled.instruction, &scaled.with, &multiplier), SMMA_OK);
  assert_int_equal(smma_multiplier_run(multiplier, 3, scaled.a, NULL, NULL, scaled.d), SMMA_MISSING_SCALE);
  smma_multiplier_free(multiplier);
  smma_multiplier_free(NULL);
  assert_int_equal(smma_multiplier_bytes(NULL), 0);
  g = p.with, g.scaling = SMMA_SCALING_DEFAULT, g.c = NULL, g.plan = plain; /* a plan without C */
  assert_int_equal(smma_multiplier_create(p.instruction, &g, &multiplier), SMMA_OK);
  assert_int_equal(smma_multiplier_run(multiplier, 3, p.a, NULL, p.c, p.d), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_multiplier_run(multiplier, 3, p.a, NULL, NULL, p.d), SMMA_OK);
  smma_multiplier_free(multiplier);
  smma_plan_free(plain);
  free_operands(&p);
  free_operands(&scaled);
}

/* ---- Rows ---- */

enum { ROWS = 700, FEW_ROWS = 96 }; /* ROWS: enough for threads */

/* Each row equals smma_dot, for any number of threads, also if matrices begin at odd addresses. */
static void test_rows(void **state) {
  static const int threads[] = {0, 1, 2, 5};
  (void)state;
  for (size_t i = 0; i < sizeof instructions / sizeof instructions[0]; i++) {
    const smma_instruction *x = find(instructions[i].gpu, instructions[i].name);
    smma_instruction_info info = describe(x);
    size_t k = (size_t)info.k, scales = info.scale_block ? k / (size_t)info.scale_block : 0, bytes[6], count[6];
    const smma_format format[6] = {info.a, info.b, info.c, info.scale, info.scale, info.d};
    const size_t each[6] = {k, k, 1, scales, scales, 1};
    char *memory[6], *at[6], *expected;
    uint64_t seed = i + 1;
    for (int part = 0; part < 6; part++) {
      bytes[part] = each[part] ? smma_format_bytes(format[part]) : 1, count[part] = ROWS * each[part];
      memory[part] = test_malloc(count[part] * bytes[part] + 1), at[part] = memory[part] + 1;
      for (size_t e = 0; e < count[part]; e++)
        store_element(format[part], at[part], e, random_element(&seed, format[part], false, true));
    }
    expected = test_malloc(ROWS * bytes[5]);
    for (size_t row = 0; row < ROWS; row++)
      assert_int_equal(smma_dot(x, at[0] + row * k * bytes[0], at[1] + row * k * bytes[1], at[2] + row * bytes[2],
                                scales ? at[3] + row * scales * bytes[3] : NULL,
                                scales ? at[4] + row * scales * bytes[4] : NULL, expected + row * bytes[5]),
                       SMMA_OK);
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
      smma_batch batch = {sizeof batch, ROWS, at[0], at[1], at[2], scales ? at[3] : NULL, scales ? at[4] : NULL, at[5]};
      memset(at[5], UNTOUCHED, ROWS * bytes[5]);
      assert_int_equal(smma_dot_rows(x, &batch, threads[t]), SMMA_OK);
      assert_memory_equal(at[5], expected, ROWS * bytes[5]);
    }
    for (int part = 0; part < 6; part++) test_free(memory[part]);
    test_free(expected);
  }
}

/* Returns the unit of an instruction with other formats of A and B, or NULL if a custom unit cannot have them. */
static const smma_instruction *unit_with(const smma_instruction *i, smma_format a, smma_format b) {
  char text[8192], *at_a, *at_b, other[8192];
  smma_error error;
  assert_true(smma_custom_text(i, text, sizeof text) < sizeof text);
  at_a = strstr(text, "\"a\": \""), at_b = strstr(text, "\"b\": \"");
  assert_true(at_a && at_b && at_a < at_b);
  at_a += strlen("\"a\": \""), at_b += strlen("\"b\": \"");
  snprintf(other, sizeof other, "%.*s%s%.*s%s%s", (int)(at_a - text), text, smma_format_text(a),
           (int)(at_b - strchr(at_a, '"')), strchr(at_a, '"'), smma_format_text(b), strchr(at_b, '"'));
  return smma_custom_read("custom", other, strlen(other), &error);
}

/* Compares rows of a unit with products by the core. */
static void check_rows_by_core(const smma_instruction *x, uint64_t seed) {
  const smma_instruction_info info = describe(x);
  const size_t k = (size_t)info.k, scales = info.scale_block ? k / (size_t)info.scale_block : 0;
  const size_t each[3] = {k * smma_format_bytes(info.a), k * smma_format_bytes(info.b),
                          scales ? scales * smma_format_bytes(info.scale) : 1};
  char *a = random_array(&seed, info.a, FEW_ROWS * k, false, true),
       *b = random_array(&seed, info.b, FEW_ROWS * k, false, true);
  char *c = random_array(&seed, info.c, FEW_ROWS, false, true), *d = test_malloc(FEW_ROWS * smma_format_bytes(info.d));
  char *scale_a = scales ? random_array(&seed, info.scale, FEW_ROWS * scales, false, true) : NULL;
  char *scale_b = scales ? random_array(&seed, info.scale, FEW_ROWS * scales, false, true) : NULL;
  const smma_batch batch = {sizeof batch, FEW_ROWS, a, b, c, scale_a, scale_b, d};
  assert_int_equal(smma_dot_rows(x, &batch, 1), SMMA_OK);
  for (size_t row = 0; row < FEW_ROWS; row++) {
    smma_gemm_arguments g;
    uint64_t expected = 0;
    smma_gemm_defaults(&g, sizeof g);
    g.m = g.n = 1, g.k = k, g.kernel = "core", g.d = &expected;
    g.a = a + row * each[0], g.b = b + row * each[1], g.c = c + row * smma_format_bytes(info.c);
    if (scales) g.scale_a = scale_a + row * each[2], g.scale_b = scale_b + row * each[2];
    assert_int_equal(smma_gemm(x, &g), SMMA_OK);
    if (load_element(info.d, d, row) != load_element(info.d, &expected, 0))
      fail_msg("%s, %s by %s, row %zu: %" PRIx64 ", not %" PRIx64, info.name, smma_format_text(info.a),
               smma_format_text(info.b), row, load_element(info.d, d, row), load_element(info.d, &expected, 0));
  }
  test_free(a), test_free(b), test_free(c), test_free(d);
  if (scales) test_free(scale_a), test_free(scale_b);
}

/* Rows of custom units that multiply two formats, which no instruction of their algorithm multiplies. */
static void test_rows_of_mixed_formats(void **state) {
  static const smma_format formats[] = {SMMA_F16,  SMMA_BF16, SMMA_TF32, SMMA_E4M3, SMMA_E5M2,
                                        SMMA_E3M2, SMMA_E2M1, SMMA_S8,   SMMA_U4};
  const size_t count = sizeof formats / sizeof formats[0];
  size_t units = 0;
  (void)state;
  for (size_t i = 0; i < sizeof instructions / sizeof instructions[0]; i++)
    for (size_t pair = 0; pair < count * count; pair++) {
      const smma_instruction *x =
          unit_with(find(instructions[i].gpu, instructions[i].name), formats[pair / count], formats[pair % count]);
      if (!x) continue;
      check_rows_by_core(x, pair + 1);
      smma_custom_release(x);
      units++;
    }
  assert_true(units > 500);
}

static void test_rows_without_c_and_in_place(void **state) {
  const smma_instruction *i = find("V100", "mma.m8n8k4.f32.f16.f16.f32");
  uint16_t a[2][4] = {{0x3c00, 0, 0, 0}, {0x4000, 0x4000, 0, 0}};
  float d[2] = {5, 7};
  smma_batch batch = {.size = sizeof batch, .rows = 2, .a = a, .b = a, .c = d, .d = d};
  (void)state;
  assert_int_equal(smma_dot_rows(i, &batch, 1), SMMA_OK);
  assert_true(d[0] == 6 && d[1] == 15);
  batch.c = NULL;
  assert_int_equal(smma_dot_rows(i, &batch, 1), SMMA_OK);
  assert_true(d[0] == 1 && d[1] == 8);
}

static void test_errors_of_rows(void **state) {
  const smma_instruction *i = find("V100", "mma.m8n8k4.f32.f16.f16.f32"),
                         *scaled = find("RTX 5090", "mma.m16n8k32.block32.f32.e4m3.e4m3.f32.ue8m0");
  uint16_t a[32] = {0};
  float d = 3;
  const smma_batch good = {.size = sizeof good, .rows = 1, .a = a, .b = a, .d = &d}, zero = {0};
  smma_batch batch = good;
  (void)state;
  assert_int_equal(smma_dot_rows(NULL, &batch, 1), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_dot_rows(i, NULL, 1), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_dot_rows(i, &zero, 1), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_dot_rows(i, &batch, -1), SMMA_INVALID_ARGUMENT);
  batch = good, batch.a = NULL;
  assert_int_equal(smma_dot_rows(i, &batch, 1), SMMA_INVALID_ARGUMENT);
  batch = good, batch.b = NULL;
  assert_int_equal(smma_dot_rows(i, &batch, 1), SMMA_INVALID_ARGUMENT);
  batch = good, batch.d = NULL;
  assert_int_equal(smma_dot_rows(i, &batch, 1), SMMA_INVALID_ARGUMENT);
  batch = good, batch.scale_a = a;
  assert_int_equal(smma_dot_rows(i, &batch, 1), SMMA_MISSING_SCALE);
  assert_int_equal(smma_dot_rows(scaled, &batch, 1), SMMA_MISSING_SCALE);
  batch = (smma_batch){.size = sizeof batch};
  assert_int_equal(smma_dot_rows(i, &batch, 1), SMMA_OK); /* no rows */
  assert_true(d == 3);
}

/* ---- Errors ---- */

static void no_size(smma_gemm_arguments *g) { g->size = 0; }
static void all_zero(smma_gemm_arguments *g) { memset(g, 0, sizeof *g); }
static void turned_in_place(smma_gemm_arguments *g) { g->c = g->d, g->order_c = SMMA_COLUMN_MAJOR; }
static void shifted_in_place(smma_gemm_arguments *g) { g->c = g->d, g->ldc = g->n + 1; }
static void over_a(smma_gemm_arguments *g) { g->a = g->d; }
static void over_b(smma_gemm_arguments *g) { g->b = g->d; }
static void over_scales(smma_gemm_arguments *g) { g->scale_b = g->d; }

typedef void spoiler(smma_gemm_arguments *g);

static void no_a(smma_gemm_arguments *g) { g->a = NULL; }
static void no_b(smma_gemm_arguments *g) { g->b = NULL; }
static void no_d(smma_gemm_arguments *g) { g->d = NULL; }
static void negative_threads(smma_gemm_arguments *g) { g->threads = -1; }
static void unknown_scaling(smma_gemm_arguments *g) { g->scaling = (smma_scaling)3; }
static void unknown_order_a(smma_gemm_arguments *g) { g->order_a = (smma_order)2; }
static void unknown_order_b(smma_gemm_arguments *g) { g->order_b = (smma_order)7; }
static void unknown_order_c(smma_gemm_arguments *g) { g->order_c = (smma_order)2; }
static void unknown_order_d(smma_gemm_arguments *g) { g->order_d = (smma_order)2; }
static void short_lda(smma_gemm_arguments *g) { g->lda = g->k - 1; }
static void short_ldb(smma_gemm_arguments *g) { g->ldb = g->n - 1; }
static void short_ldc(smma_gemm_arguments *g) { g->ldc = g->n - 1; }
static void short_ldd(smma_gemm_arguments *g) { g->ldd = g->n - 1; }
static void short_columns(smma_gemm_arguments *g) { g->order_d = SMMA_COLUMN_MAJOR, g->ldd = g->m - 1; }
static void huge_ld(smma_gemm_arguments *g) { g->lda = SIZE_MAX / 2; }
static void huge_m(smma_gemm_arguments *g) { g->m = SIZE_MAX / 4; }
static void huge_k(smma_gemm_arguments *g) { g->k = SIZE_MAX; }
static void half_step(smma_gemm_arguments *g) { g->promote_every = 24; }
static void with_scale_a(smma_gemm_arguments *g) { g->scale_a = g->a; }
static void with_scale_b(smma_gemm_arguments *g) { g->scale_b = g->a; }
static void no_scale_a(smma_gemm_arguments *g) { g->scale_a = NULL; }
static void no_scale_b(smma_gemm_arguments *g) { g->scale_b = NULL; }
static void unknown_kernel(smma_gemm_arguments *g) { g->kernel = "sse9"; }

#define PLAIN "mma.m16n8k16.f32.bf16.bf16.f32"
#define SCALED "mma.m16n8k32.block32.f32.e4m3.e4m3.f32.ue8m0"

static const struct {
  const char *name;
  spoiler *spoil;
  smma_status status;
} errors[] = {
    {PLAIN, no_a, SMMA_INVALID_ARGUMENT},
    {PLAIN, no_b, SMMA_INVALID_ARGUMENT},
    {PLAIN, no_d, SMMA_INVALID_ARGUMENT},
    {PLAIN, no_size, SMMA_INVALID_ARGUMENT},
    {PLAIN, all_zero, SMMA_INVALID_ARGUMENT},
    {PLAIN, turned_in_place, SMMA_INVALID_ARGUMENT},
    {PLAIN, shifted_in_place, SMMA_INVALID_ARGUMENT},
    {PLAIN, over_a, SMMA_INVALID_ARGUMENT},
    {PLAIN, over_b, SMMA_INVALID_ARGUMENT},
    {SCALED, over_scales, SMMA_INVALID_ARGUMENT},
    {PLAIN, negative_threads, SMMA_INVALID_ARGUMENT},
    {PLAIN, unknown_scaling, SMMA_INVALID_ARGUMENT},
    {PLAIN, unknown_order_a, SMMA_INVALID_ARGUMENT},
    {PLAIN, unknown_order_b, SMMA_INVALID_ARGUMENT},
    {PLAIN, unknown_order_c, SMMA_INVALID_ARGUMENT},
    {PLAIN, unknown_order_d, SMMA_INVALID_ARGUMENT},
    {PLAIN, short_lda, SMMA_INVALID_DIMENSION},
    {PLAIN, short_ldb, SMMA_INVALID_DIMENSION},
    {PLAIN, short_ldc, SMMA_INVALID_DIMENSION},
    {PLAIN, short_ldd, SMMA_INVALID_DIMENSION},
    {PLAIN, short_columns, SMMA_INVALID_DIMENSION},
    {PLAIN, huge_ld, SMMA_INVALID_DIMENSION},
    {PLAIN, huge_m, SMMA_INVALID_DIMENSION},
    {PLAIN, huge_k, SMMA_INVALID_DIMENSION},
    {PLAIN, half_step, SMMA_INVALID_MULTIPLE},
    {PLAIN, unknown_kernel, SMMA_NO_KERNEL},
    {PLAIN, with_scale_a, SMMA_MISSING_SCALE},
    {PLAIN, with_scale_b, SMMA_MISSING_SCALE},
    {SCALED, no_scale_a, SMMA_MISSING_SCALE},
    {SCALED, no_scale_b, SMMA_MISSING_SCALE},
    {SCALED, half_step, SMMA_INVALID_MULTIPLE},
};

static void test_errors(void **state) {
  (void)state;
  for (size_t e = 0; e < sizeof errors / sizeof errors[0]; e++) {
    product p = small_product("RTX 5090", errors[e].name, 3, 5, 40);
    smma_status status;
    errors[e].spoil(&p.with);
    status = smma_gemm(p.instruction, &p.with);
    if (status != errors[e].status) fail_msg("error %zu: expected %d, got %d", e, errors[e].status, status);
    for (size_t byte = 0; byte < p.d_bytes; byte++) assert_int_equal(((unsigned char *)p.d)[byte], UNTOUCHED);
    free_operands(&p);
  }
}

/* D may be C only if the formats are the same, or if C is not read. */
static void test_c_of_another_format_in_place(void **state) {
  product p = small_product("V100", "mma.m8n8k4.f32.f16.f16.f16", 3, 5, 8);
  (void)state;
  p.with.c = p.d;
  assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_INVALID_ARGUMENT);
  assert_int_equal(*(unsigned char *)p.d, UNTOUCHED);
  p.with.beta = 0, p.with.order_c = SMMA_COLUMN_MAJOR;
  assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
  free_operands(&p);
}

static void test_missing_arguments(void **state) {
  smma_gemm_arguments g;
  (void)state;
  smma_gemm_defaults(NULL, sizeof g);
  smma_gemm_defaults(&g, sizeof g);
  assert_int_equal(smma_gemm(NULL, &g), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_gemm(find("H100", PLAIN), NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_gemm(find("H100", PLAIN), &g), SMMA_OK); /* nothing to do */
}

static void test_status_texts(void **state) {
  (void)state;
  for (int s = SMMA_OK; s <= SMMA_NEWER_STRUCT; s++) {
    assert_true(strlen(smma_status_text((smma_status)s)) > 3);
    for (int other = SMMA_OK; other < s; other++)
      assert_string_not_equal(smma_status_text((smma_status)s), smma_status_text((smma_status)other));
  }
  assert_non_null(smma_status_text((smma_status)99));
}

/* ---- One instruction ---- */

/* Returns element (i, j), computed by smma_dot. */
static uint64_t mma_element(const product *p, size_t i, size_t j) {
  size_t k = (size_t)p->info.k, scales = p->info.scale_block ? k / (size_t)p->info.scale_block : 0;
  smma_row x = {.c = load_element(p->info.c, p->c, i * p->with.n + j)};
  for (size_t e = 0; e < k; e++) {
    x.a[e] = load_element(p->info.a, p->a, i * k + e);
    x.b[e] = load_element(p->info.b, p->b, j * k + e);
  }
  for (size_t s = 0; s < scales; s++) {
    x.scale_a[s] = load_element(p->info.scale, p->scale_a, i * scales + s);
    x.scale_b[s] = load_element(p->info.scale, p->scale_b, j * scales + s);
  }
  return dot(p->instruction, &x);
}

static void check_mma(product *p) {
  size_t m = p->with.m, n = p->with.n;
  assert_int_equal(smma_mma(p->instruction, p->a, p->b, p->c, p->scale_a, p->scale_b, p->d), SMMA_OK);
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) {
      uint64_t expected = mma_element(p, i, j), got = load_element(p->info.d, p->d, i * n + j);
      if (expected != got)
        fail_msg("%s element %zu, %zu: expected %" PRIx64 ", got %" PRIx64, p->info.name, i, j, expected, got);
    }
  for (int e = 0; e < 3; e++) /* bytes after D stay unchanged */
    assert_int_equal(((unsigned char *)p->d)[p->d_bytes - 1 - (size_t)e], UNTOUCHED);
}

static void test_mma(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof instructions / sizeof instructions[0]; i++) {
    product p = product_of(instructions[i].gpu, instructions[i].name, NULL);
    uint64_t seed = i;
    p.with.m = (size_t)p.info.m, p.with.n = (size_t)p.info.n, p.with.k = (size_t)p.info.k;
    make_operands(&p, &seed, false, true);
    check_mma(&p);
    if (p.info.c == p.info.d) { /* D may be C */
      void *apart = test_malloc(p.d_bytes);
      memcpy(apart, p.d, p.d_bytes);
      memcpy(p.d, p.c, p.with.m * p.with.n * smma_format_bytes(p.info.c));
      assert_int_equal(smma_mma(p.instruction, p.a, p.b, p.d, p.scale_a, p.scale_b, p.d), SMMA_OK);
      assert_memory_equal(apart, p.d, p.d_bytes);
      test_free(apart);
    }
    free_operands(&p);
  }
}

typedef smma_status one_instruction(const smma_instruction *instruction, const void *a, const void *b, const void *c,
                                    const void *scale_a, const void *scale_b, void *d);

/* D, here x, is unchanged after an error. */
static void check_one_instruction_errors(one_instruction *run) {
  static uint64_t memory[16 * 32], x[16 * 8];
  const smma_instruction *plain = find("RTX 5090", PLAIN),
                         *with_scales = find("RTX 5090", "mma.m16n8k32.block32.f32.e4m3.e4m3.f32.ue8m0");
  memset(x, UNTOUCHED, sizeof x);
  assert_int_equal(run(NULL, memory, memory, memory, NULL, NULL, x), SMMA_INVALID_ARGUMENT);
  assert_int_equal(run(plain, NULL, memory, memory, NULL, NULL, x), SMMA_INVALID_ARGUMENT);
  assert_int_equal(run(plain, memory, NULL, memory, NULL, NULL, x), SMMA_INVALID_ARGUMENT);
  assert_int_equal(run(plain, memory, memory, NULL, NULL, NULL, x), SMMA_INVALID_ARGUMENT);
  assert_int_equal(run(plain, memory, memory, memory, NULL, NULL, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(run(plain, memory, memory, memory, memory, NULL, x), SMMA_MISSING_SCALE);
  assert_int_equal(run(plain, memory, memory, memory, NULL, memory, x), SMMA_MISSING_SCALE);
  assert_int_equal(run(with_scales, memory, memory, memory, NULL, memory, x), SMMA_MISSING_SCALE);
  assert_int_equal(run(with_scales, memory, memory, memory, memory, NULL, x), SMMA_MISSING_SCALE);
  assert_int_equal(run(with_scales, memory, memory, memory, NULL, NULL, x), SMMA_MISSING_SCALE);
  for (size_t i = 0; i < sizeof x; i++) assert_int_equal(((unsigned char *)x)[i], UNTOUCHED);
  assert_int_equal(run(plain, memory, memory, memory, NULL, NULL, x), SMMA_OK);
  assert_int_equal(run(with_scales, memory, memory, memory, memory, memory, x), SMMA_OK);
}

static void test_errors_of_mma(void **state) { (void)state, check_one_instruction_errors(smma_mma); }
static void test_errors_of_dot(void **state) { (void)state, check_one_instruction_errors(smma_dot); }

/* ---- Overlaps ---- */

enum { ROOM = 1 << 14, PLACE = 1 << 12 };

/* Checks a D of 8 x 6, with rows `leading` elements apart, at an offset from an operand: A of 8 x 16, B of 16 x 6 or C
   of 8 x 6. */
static void check_overlap(char operand, ptrdiff_t offset, size_t leading, size_t leading_d, smma_status expected) {
  static _Alignas(64) unsigned char memory[ROOM], others[ROOM];
  const smma_instruction *i = find("H100", "wgmma.m64n8k16.f32.f16.f16");
  smma_multiplier *kept;
  smma_gemm_arguments g;
  char words[] = "D overlaps A";
  smma_error error = {SMMA_OK, ""};
  smma_gemm_defaults(&g, sizeof g);
  g.m = 8, g.n = 6, g.k = 16, g.a = others, g.b = others, g.ldd = leading_d;
  g.d = memory + PLACE + offset, g.error = &error;
  if (operand == 'A') g.a = memory + PLACE, g.lda = leading;
  if (operand == 'B') g.b = memory + PLACE, g.ldb = leading;
  if (operand == 'C') g.c = memory + PLACE, g.ldc = leading;
  assert_int_equal(smma_gemm(i, &g), expected);
  words[strlen(words) - 1] = operand;
  assert_true(expected == SMMA_OK ? !*error.text : strstr(error.text, words) != NULL);
  if (operand == 'C') g.beta = 0, assert_int_equal(smma_gemm(i, &g), SMMA_OK);
  assert_int_equal(smma_multiplier_create(i, &g, &kept), SMMA_OK);
  if (operand != 'C') /* a multiplier, which holds its own B */
    assert_int_equal(smma_multiplier_run(kept, g.m, g.a, NULL, g.c, g.d), operand == 'B' ? SMMA_OK : expected);
  smma_multiplier_free(kept);
}

/* Elements may not overlap; the gaps between them may. */
static void test_overlaps(void **state) {
  const ptrdiff_t a_bytes = 8 * 16 * 2, d_bytes = 8 * 6 * 4;
  (void)state;
  check_overlap('A', 0, 0, 0, SMMA_INVALID_ARGUMENT);
  check_overlap('A', a_bytes - 4, 0, 0, SMMA_INVALID_ARGUMENT);
  check_overlap('A', a_bytes, 0, 0, SMMA_OK);
  check_overlap('A', 4 - d_bytes, 0, 0, SMMA_INVALID_ARGUMENT);
  check_overlap('A', -d_bytes, 0, 0, SMMA_OK);
  check_overlap('A', 32, 32, 16, SMMA_OK); /* adjacent in rows of 64 bytes */
  check_overlap('A', 28, 32, 16, SMMA_INVALID_ARGUMENT);
  check_overlap('A', 40, 32, 16, SMMA_OK);
  check_overlap('A', 44, 32, 16, SMMA_INVALID_ARGUMENT); /* its last element is the first of the next row */
  check_overlap('A', 32, 32, 24, SMMA_INVALID_ARGUMENT); /* of other distances */
  check_overlap('B', 188, 0, 0, SMMA_INVALID_ARGUMENT);
  check_overlap('B', 192, 0, 0, SMMA_OK);
  check_overlap('C', 0, 0, 0, SMMA_OK);
  check_overlap('C', 4, 0, 0, SMMA_INVALID_ARGUMENT);
  check_overlap('C', 2, 0, 0, SMMA_INVALID_ARGUMENT);
  check_overlap('C', -4, 0, 0, SMMA_INVALID_ARGUMENT);
  check_overlap('C', 0, 6, 7, SMMA_INVALID_ARGUMENT);
  check_overlap('C', 24, 12, 12, SMMA_OK); /* the two halves of a matrix */
  check_overlap('C', 20, 12, 12, SMMA_INVALID_ARGUMENT);
  check_overlap('C', d_bytes, 0, 0, SMMA_OK);
}

/* ---- Stacks ---- */

enum { STACK = 256 << 10 }; /* the limit in softmma.h */

static void *multiply_everything(void *unused) {
  static unsigned char a[1 << 16], b[1 << 16], scale[1 << 12], d[1 << 16];
  static const size_t sizes[][2] = {{1, 3}, {4, 70}, {70, 70}};
  (void)unused;
  for (size_t x = 0; x < sizeof instructions / sizeof instructions[0]; x++) {
    const smma_instruction *i = find(instructions[x].gpu, instructions[x].name);
    const smma_instruction_info info = describe(i);
    for (size_t kernel = 0; smma_kernel_name(kernel); kernel++)
      for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++) {
        smma_gemm_arguments g;
        smma_gemm_defaults(&g, sizeof g);
        g.m = sizes[size][0], g.n = sizes[size][1], g.k = 2 * (size_t)info.k, g.threads = 1;
        g.a = a, g.b = b, g.d = d, g.kernel = smma_kernel_name(kernel);
        if (info.scale_block) g.scale_a = g.scale_b = scale;
        if (smma_gemm(i, &g) != SMMA_OK) return unused;
      }
  }
  return a;
}

/* A product needs no more stack than the header states. */
static void test_stack(void **state) {
  pthread_attr_t attributes;
  pthread_t thread;
  void *result = NULL;
  (void)state;
  assert_int_equal(pthread_attr_init(&attributes), 0);
  assert_int_equal(pthread_attr_setstacksize(&attributes, STACK), 0);
  assert_int_equal(pthread_create(&thread, &attributes, multiply_everything, NULL), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_non_null(result);
  pthread_attr_destroy(&attributes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_overlaps),
      cmocka_unit_test(test_stack),
      cmocka_unit_test(test_random_products),
      cmocka_unit_test(test_empty_sizes),
      cmocka_unit_test(test_default_scaling),
      cmocka_unit_test(test_zero_beta),
      cmocka_unit_test(test_scales_behind_k),
      cmocka_unit_test(test_more_slices_than_steps),
      cmocka_unit_test(test_promotion_keeps_more),
      cmocka_unit_test(test_overflow_of_integers),
      cmocka_unit_test(test_epilogue_of_integers),
      cmocka_unit_test(test_overflow_of_compositions),
      cmocka_unit_test(test_every_half),
      cmocka_unit_test(test_progress),
      cmocka_unit_test(test_stopping),
      cmocka_unit_test(test_progress_in_a_team),
      cmocka_unit_test(test_fork),
      cmocka_unit_test(test_alignment),
      cmocka_unit_test(test_nan_of_fp64),
      cmocka_unit_test(test_nan_of_rdna),
      cmocka_unit_test(test_nan_of_fp64_rows),
      cmocka_unit_test(test_no_products_in_epilogue),
      cmocka_unit_test(test_plan_with_other_rows),
      cmocka_unit_test(test_shared_plan),
      cmocka_unit_test(test_plan_of_a_custom_unit),
      cmocka_unit_test(test_errors_of_plans),
      cmocka_unit_test(test_c_of_another_format_in_place),
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_rows_of_mixed_formats),
      cmocka_unit_test(test_rows_without_c_and_in_place),
      cmocka_unit_test(test_errors_of_rows),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_missing_arguments),
      cmocka_unit_test(test_status_texts),
      cmocka_unit_test(test_mma),
      cmocka_unit_test(test_errors_of_mma),
      cmocka_unit_test(test_errors_of_dot),
  };
  return cmocka_run_group_tests_name("gemm", tests, NULL, NULL);
}
