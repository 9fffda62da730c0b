/* The chain of src/device/cuda, which NVIDIA GPUs run, as host code: the same bits as the core, or left to it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/pack.h"
#include "isa/catalogue.h"
#include "kernel_check.h"
#include "kernel_operands.h"
#include "support.h"

/* Of so many operations one is tested. Sanitizers are slow. */
#ifndef CHAIN_EVERY
#define CHAIN_EVERY 1
#endif

enum { ROWS = 64, COLUMNS = 32, PANELS = 4 };

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* ---- Sums of 16^e ---- */

/* What a word of a panel holds for line `line` and product k. */
static uint32_t power_of(const smma_chain_panel *panel, bool of_a, int line, int k) {
  const int in_16 = line % 16, t = k % 8 / 2, half = k / 8;
  const int thread = of_a ? in_16 / 2 * 4 + t : in_16 % 8 * 4 + t;
  const smma_pair pair = panel->exponent[line / 16 * 32 + thread].of[half];
  return pair.of[of_a ? in_16 % 2 : in_16 / 8] >> k % 2 * 16 & 0xffff;
}

/* What the tensor core returns for at most eight of them: `by` computes it. */
static float sum_of_powers(const smma_operation *by, const smma_chain_panel *a, const smma_chain_panel *b, int row,
                           int column, int first, int count) {
  smma_number x[8], y[8];
  smma_operands operands = {x, y, NULL, NULL};
  smma_encoding bf16 = smma_encoding_of(SMMA_BF16);
  for (int i = 0; i < 8; i++) {
    x[i] = smma_decode(bf16, i < count ? power_of(a, true, row, first % CHAIN_DEPTH + i) : 0);
    y[i] = smma_decode(bf16, i < count ? power_of(b, false, column, first % CHAIN_DEPTH + i) : 0);
  }
  return float_of((uint32_t)smma_dot_add(by, operands, 0));
}

/* The greatest of a block's sums, as an integer. */
static int32_t sum_of_block(const smma_operation *by, const smma_chain *p, const smma_chain_panel *a,
                            const smma_chain_panel *b, int row, int column, int first) {
  int32_t most = INT32_MIN;
  for (int k = first; k < first + p->block; k += 8) {
    const int count = p->block < 8 ? p->block : 8;
    float sum = sum_of_powers(by, a + k / CHAIN_DEPTH, b + k / CHAIN_DEPTH, row, column, k, count);
    int32_t bits = (int32_t)bits_of(sum);
    if (bits > most) most = bits;
  }
  return most;
}

/* ---- Products ---- */

typedef struct {
  smma_operation o;
  smma_chain chain;
  kernel_operands x;
  smma_chain_panel *a, *b;
  uint8_t special_a[CHAIN_LINES], special_b[CHAIN_LINES];
  int bases;
} product;

static void *zeroed(size_t count, size_t size) {
  void *memory = NULL;
  assert_int_equal(posix_memalign(&memory, 16, count * size), 0);
  memset(memory, 0, count * size);
  return memory;
}

/* Codes of one operand as [k][line], packed. */
static smma_chain_panel *pack(product *p, bool of_a, uint8_t *special) {
  const uint64_t *code = of_a ? p->x.a : p->x.b, *scale = of_a ? p->x.scale_a : p->x.scale_b;
  const smma_format format = of_a ? p->o.a : p->o.b;
  const size_t lines = of_a ? ROWS : COLUMNS, k = p->x.k, bytes = (size_t)(smma_encoding_of(format).bits + 7) / 8;
  uint8_t *codes = zeroed(k * lines, bytes), *scales = zeroed(k * lines, 1);
  smma_chain_panel *panel = zeroed(PANELS, sizeof *panel);
  smma_chain_operand operand = {codes,      scale ? scales : NULL,      lines, k, format,
                                (int)bytes, smma_chain_base_of(format), of_a};
  for (size_t line = 0; line < lines; line++) {
    for (size_t i = 0; i < k; i++) memcpy(codes + (i * lines + line) * bytes, &code[line * k + i], bytes);
    for (size_t s = 0; s < p->x.scales; s++) scales[s * lines + line] = (uint8_t)scale[line * p->x.scales + s];
  }
  p->bases += operand.base * CHAIN_BINADE;
  for (size_t line = 0; line < CHAIN_LINES; line++)
    for (size_t i = 0; i < PANELS; i++)
      if (smma_chain_pack(&p->chain, &operand, line, i * CHAIN_DEPTH, panel + i)) special[line] = 1;
  free(codes);
  free(scales);
  return panel;
}

/* One thread's elements of the warp with the first 64 rows and 32 columns. */
static void advance(const product *p, const smma_operation *by, int thread, double *accumulator, uint64_t *out) {
  const smma_chain_place_of_thread at = {thread / 4 * 2, thread % 4 * 2};
  const smma_chain_words words = smma_chain_words_of(&p->chain, p->bases, 0);
  for (int e = 0; e < CHAIN_ROWS * CHAIN_COLUMNS; e++) {
    const int i = smma_chain_row(at, e / CHAIN_COLUMNS), j = smma_chain_column(at, e % CHAIN_COLUMNS);
    accumulator[e] = smma_chain_from(&p->chain, p->bases, float_of((uint32_t)p->x.c[i * COLUMNS + j]));
  }
  *out = 0;
  for (int first = 0; first < PANELS * CHAIN_DEPTH; first += p->chain.block) {
    const smma_chain_panel *a = p->a + first / CHAIN_DEPTH, *b = p->b + first / CHAIN_DEPTH;
    const int in_panel = first % CHAIN_DEPTH;
    for (int quadrant = 0; quadrant < 4; quadrant++) {
      int32_t sum[CHAIN_BEGUN * CHAIN_BEGUN];
      for (int e = 0; e < CHAIN_BEGUN * CHAIN_BEGUN; e++) {
        const int all = smma_chain_element(quadrant, e / CHAIN_BEGUN, e % CHAIN_BEGUN);
        sum[e] = sum_of_block(by, &p->chain, a, b, smma_chain_row(at, all / CHAIN_COLUMNS),
                              smma_chain_column(at, all % CHAIN_COLUMNS), in_panel);
      }
      smma_chain_begin(&p->chain, &words, a, b, at, in_panel, quadrant, p->bases, sum, accumulator, out);
    }
    smma_chain_products(&p->chain, a, b, at, in_panel, accumulator);
    smma_chain_end(&p->chain, &words, accumulator);
  }
}

/* What the core computes of element (i, j). */
static uint32_t expected(const product *p, size_t i, size_t j) {
  const smma_operation *o = &p->o;
  const size_t k = p->x.k, scales = p->x.scales, of_step = (size_t)smma_scale_count(o->k, o->scale_block);
  uint64_t d = p->x.c[i * COLUMNS + j];
  smma_decoded x;
  for (size_t step = 0; step < k / (size_t)o->k; step++) {
    for (size_t e = 0; e < (size_t)o->k; e++) {
      x.a[e] = smma_decode(smma_encoding_of(o->a), p->x.a[i * k + step * (size_t)o->k + e]);
      x.b[e] = smma_decode(smma_encoding_of(o->b), p->x.b[j * k + step * (size_t)o->k + e]);
    }
    for (size_t s = 0; s < of_step; s++) {
      x.scale_a[s] = smma_decode(smma_encoding_of(o->scale), p->x.scale_a[i * scales + step * of_step + s]);
      x.scale_b[s] = smma_decode(smma_encoding_of(o->scale), p->x.scale_b[j * scales + step * of_step + s]);
    }
    d = smma_dot_add(o, smma_operands_of(&x), d);
  }
  return (uint32_t)d;
}

typedef struct {
  size_t decided, left, wrong;
} outcome;

static outcome compare(const smma_instruction *instruction, const smma_operation *by, unsigned theme, uint64_t seed) {
  outcome r = {0, 0, 0};
  product p = {.o = smma_operation_of(instruction)};
  assert_true(smma_chain_of(&p.o, &p.chain));
  assert_true(kernel_operands_make(&p.o, ROWS, COLUMNS, PANELS * CHAIN_DEPTH, theme, seed, &p.x));
  for (size_t e = 0; e < ROWS * COLUMNS; e++) p.x.c[e] = smma_widen_c(&p.o, p.x.c[e]);
  p.o.c = p.o.d;
  p.a = pack(&p, true, p.special_a);
  p.b = pack(&p, false, p.special_b);
  for (int thread = 0; thread < 32; thread++) {
    const smma_chain_place_of_thread at = {thread / 4 * 2, thread % 4 * 2};
    double accumulator[CHAIN_ROWS * CHAIN_COLUMNS];
    uint64_t out;
    advance(&p, by, thread, accumulator, &out);
    for (int e = 0; e < CHAIN_ROWS * CHAIN_COLUMNS; e++) {
      const size_t i = (size_t)smma_chain_row(at, e / CHAIN_COLUMNS);
      const size_t j = (size_t)smma_chain_column(at, e % CHAIN_COLUMNS);
      const uint32_t got = bits_of((float)smma_chain_cut(&p.chain, accumulator[e])), wanted = expected(&p, i, j);
      if (out >> e & 1 || p.special_a[i] || p.special_b[j] ||
          !smma_chain_takes(&p.chain, p.bases, float_of((uint32_t)p.x.c[i * COLUMNS + j]))) {
        r.left++;
      } else if (r.decided++, got != wanted && r.wrong++ == 0) {
        const smma_instruction_info info = describe(instruction);
        print_error("%s %s, %s, seed %d: element %zu %zu is %08x, not %08x\n", info.arch, info.name,
                    kernel_theme_name(theme), (int)seed, i, j, got, wanted);
      }
    }
  }
  free(p.a);
  free(p.b);
  kernel_operands_free(&p.x);
  return r;
}

/* Every operation of the catalogue that a chain computes, on operands of every theme. */
static void test_against_core(void **state) {
  static const smma_instruction *list[MOST_OPERATIONS];
  const size_t count = kernel_operations(list);
  static const char *const units[] = {"A100", "H100"};
  smma_operation by[2];
  outcome of_theme[THEMES] = {0};
  size_t chains = 0, wrong = 0;
  (void)state;
  for (int u = 0; u < 2; u++) by[u] = smma_operation_of(find(units[u], "mma.m16n8k8.f32.bf16.bf16.f32"));
  for (size_t i = 0; i < count && !wrong; i++) {
    const smma_operation o = smma_operation_of(list[i]);
    smma_chain chain;
    if (!smma_chain_of(&o, &chain)) continue;
    if (chains++ % CHAIN_EVERY) continue;
    for (unsigned theme = 0; theme < THEMES; theme++) {
      const outcome r = compare(list[i], &by[(chains + theme) % 2], theme, chains);
      of_theme[theme].decided += r.decided, of_theme[theme].left += r.left;
      wrong += r.wrong;
    }
  }
  for (unsigned theme = 0; theme < THEMES; theme++)
    print_message("%-14s %9zu decided, %9zu left\n", kernel_theme_name(theme), of_theme[theme].decided,
                  of_theme[theme].left);
  print_message("%zu operations\n", chains);
  assert_int_equal(wrong, 0);
  assert_int_equal(of_theme[THEME_ORDINARY].left, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_core)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
