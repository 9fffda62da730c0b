/* Sums in two numbers of binary32 (src/device/cuda), which NVIDIA GPUs without fast binary64 run, as host code: the
   same bits as the core, or left to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/two_level.h"
#include "isa/catalogue.h"
#include "kernel_check.h"
#include "kernel_operands.h"
#include "support.h"

/* Of so many operations one is tested. */
#ifndef TWO_LEVEL_EVERY
#define TWO_LEVEL_EVERY 1
#endif

enum { ROWS = 32, COLUMNS = 32, PANELS = 2, K = PANELS * TWO_DEPTH };

typedef struct {
  smma_operation o;
  smma_chain chain;
  kernel_operands x;
  smma_two_panel *a, *b;
  uint8_t special_a[TILE_LINES], special_b[TILE_LINES];
  int bases;
} product;

typedef struct {
  size_t decided, left, wrong;
} outcome;

/* Codes of one operand as [k][line], packed. */
static smma_two_panel *pack(product *p, bool of_a, uint8_t *special) {
  const uint64_t *code = of_a ? p->x.a : p->x.b;
  const smma_format format = of_a ? p->o.a : p->o.b;
  const size_t lines = of_a ? ROWS : COLUMNS, bytes = (size_t)(smma_encoding_of(format).bits + 7) / 8;
  uint8_t *codes = calloc(K * lines, bytes);
  smma_two_panel *panel = NULL;
  smma_two_operand operand = {codes, lines, K, format, (int)bytes, of_a};
  assert_int_equal(posix_memalign((void **)&panel, 16, PANELS * sizeof *panel), 0);
  assert_non_null(codes);
  for (size_t line = 0; line < lines; line++)
    for (size_t i = 0; i < K; i++) memcpy(codes + (i * lines + line) * bytes, &code[line * K + i], bytes);
  for (size_t line = 0; line < TILE_LINES; line++)
    for (size_t i = 0; i < PANELS; i++)
      if (smma_two_pack(&operand, line, i * TWO_DEPTH, panel + i)) special[line] = 1;
  p->bases += smma_chain_base_of(format);
  free(codes);
  return panel;
}

/* What the core computes of element (i, j). */
static uint32_t expected(const product *p, size_t i, size_t j) {
  const smma_operation *o = &p->o;
  const size_t k = (size_t)o->k;
  uint64_t d = p->x.c[i * COLUMNS + j];
  smma_decoded x;
  for (size_t step = 0; step < K / k; step++) {
    for (size_t e = 0; e < k; e++) {
      x.a[e] = smma_decode(smma_encoding_of(o->a), p->x.a[i * K + step * k + e]);
      x.b[e] = smma_decode(smma_encoding_of(o->b), p->x.b[j * K + step * k + e]);
    }
    d = smma_dot_add(o, smma_operands_of(&x), d);
  }
  return (uint32_t)d;
}

static outcome compare(const smma_instruction *instruction, unsigned theme, uint64_t seed) {
  outcome r = {0, 0, 0};
  product p = {.o = smma_operation_of(instruction)};
  assert_true(smma_chain_of(&p.o, &p.chain));
  assert_true(kernel_operands_make(&p.o, ROWS, COLUMNS, K, theme, seed, &p.x));
  for (size_t e = 0; e < ROWS * COLUMNS; e++) p.x.c[e] = smma_widen_c(&p.o, p.x.c[e]);
  p.o.c = p.o.d;
  p.a = pack(&p, true, p.special_a);
  p.b = pack(&p, false, p.special_b);
  for (int thread = 0; thread < 32; thread++) {
    const smma_tile_thread at = {thread / 8, thread % 8};
    float c[TILE_ROWS * TILE_COLUMNS];
    for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) {
      const int i = smma_tile_row(at, e / TILE_COLUMNS), j = smma_tile_column(at, e % TILE_COLUMNS);
      const float before = smma_f32_of((uint32_t)p.x.c[i * COLUMNS + j]);
      c[e] = smma_two_takes(&p.chain, p.bases, before) ? smma_two_cut(&p.chain, before) : 0;
    }
    for (int first = 0; first < K; first += p.chain.block)
      smma_two_block(&p.chain, p.a + first / TWO_DEPTH, p.b + first / TWO_DEPTH, at, first % TWO_DEPTH, p.bases, c);
    for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) {
      const size_t i = (size_t)smma_tile_row(at, e / TILE_COLUMNS), j = (size_t)smma_tile_column(at, e % TILE_COLUMNS);
      const uint32_t got = smma_f32_bits(c[e]), wanted = expected(&p, i, j);
      if (p.special_a[i] || p.special_b[j] ||
          !smma_two_takes(&p.chain, p.bases, smma_f32_of((uint32_t)p.x.c[i * COLUMNS + j]))) {
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

/* Every operation of the catalogue that they compute, on operands of every theme. */
static void test_against_core(void **state) {
  static const smma_instruction *list[MOST_OPERATIONS];
  const size_t count = kernel_operations(list);
  outcome of_theme[THEMES] = {0};
  size_t operations = 0, wrong = 0;
  (void)state;
  for (size_t i = 0; i < count; i++) {
    const smma_operation o = smma_operation_of(list[i]);
    smma_panels panels;
    if (smma_fp4_fraction(&o) || !smma_panels_of(&o, false, &panels)) continue;
    if (operations++ % TWO_LEVEL_EVERY) continue;
    for (unsigned theme = 0; theme < THEMES; theme++) {
      const outcome r = compare(list[i], theme, operations);
      of_theme[theme].decided += r.decided, of_theme[theme].left += r.left;
      wrong += r.wrong;
    }
  }
  for (unsigned theme = 0; theme < THEMES; theme++)
    print_message("%-14s %9zu decided, %9zu left\n", kernel_theme_name(theme), of_theme[theme].decided,
                  of_theme[theme].left);
  print_message("%zu operations\n", operations);
  assert_int_equal(wrong, 0);
  assert_int_equal(of_theme[THEME_ORDINARY].left, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_core)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
