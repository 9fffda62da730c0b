/* The FP4 kernel of src/device/cuda, which NVIDIA GPUs run, as host code: the same bits as the core, or left to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/fp4.h"
#include "isa/catalogue.h"
#include "kernel_check.h"
#include "kernel_operands.h"
#include "support.h"

enum { ROWS = 32, COLUMNS = 32, STEPS = 6, K = STEPS * FP4_DEPTH };

typedef struct {
  smma_operation o;
  kernel_operands x;
  smma_fp4_panel *a, *b;
  uint8_t special_a[TILE_LINES], special_b[TILE_LINES];
} product;

typedef struct {
  size_t decided, left, steps, again, wrong;
} outcome;

/* Codes of one operand as [k][line], packed. */
static smma_fp4_panel *pack(product *p, bool of_a, uint8_t *special) {
  const uint64_t *code = of_a ? p->x.a : p->x.b, *scale = of_a ? p->x.scale_a : p->x.scale_b;
  const size_t lines = of_a ? ROWS : COLUMNS;
  uint8_t *codes = calloc(K, lines), *scales = calloc(p->x.scales, lines);
  smma_fp4_panel *panel = NULL;
  smma_fp4_operand operand = {codes, scales, lines, K, p->o.scale, p->o.scale_block, of_a};
  assert_int_equal(posix_memalign((void **)&panel, 16, STEPS * sizeof *panel), 0);
  assert_non_null(codes);
  assert_non_null(scales);
  for (size_t line = 0; line < lines; line++) {
    for (size_t i = 0; i < K; i++) codes[i * lines + line] = (uint8_t)code[line * K + i];
    for (size_t s = 0; s < p->x.scales; s++) scales[s * lines + line] = (uint8_t)scale[line * p->x.scales + s];
  }
  for (size_t line = 0; line < TILE_LINES; line++) {
    special[line] = 0;
    for (size_t i = 0; i < STEPS; i++)
      if (smma_fp4_pack(&operand, line, i * FP4_DEPTH, panel + i)) special[line] = 1;
  }
  free(codes);
  free(scales);
  return panel;
}

/* What the core computes of element (i, j). */
static uint32_t expected(const product *p, size_t i, size_t j) {
  const smma_operation *o = &p->o;
  const size_t of_step = (size_t)smma_scale_count(o->k, o->scale_block);
  uint64_t d = p->x.c[i * COLUMNS + j];
  smma_decoded x;
  for (size_t step = 0; step < STEPS; step++) {
    for (size_t e = 0; e < FP4_DEPTH; e++) {
      x.a[e] = smma_decode(smma_encoding_of(o->a), p->x.a[i * K + step * FP4_DEPTH + e]);
      x.b[e] = smma_decode(smma_encoding_of(o->b), p->x.b[j * K + step * FP4_DEPTH + e]);
    }
    for (size_t s = 0; s < of_step; s++) {
      x.scale_a[s] = smma_decode(smma_encoding_of(o->scale), p->x.scale_a[i * p->x.scales + step * of_step + s]);
      x.scale_b[s] = smma_decode(smma_encoding_of(o->scale), p->x.scale_b[j * p->x.scales + step * of_step + s]);
    }
    d = smma_dot_add(o, smma_operands_of(&x), d);
  }
  return (uint32_t)d;
}

/* One thread's elements. */
static void advance(const product *p, smma_tile_thread at, double *c, outcome *r) {
  for (int step = 0; step < STEPS; step++) {
    const smma_fp4_panel *a = p->a + step, *b = p->b + step;
    int64_t sum[TILE_ROWS * TILE_COLUMNS];
    for (int first = 0; first < TILE_ROWS; first += FP4_BEGUN)
      smma_fp4_sums(a, b, at, first, smma_fp4_start(0), sum + first * TILE_COLUMNS);
    for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) {
      const int row = smma_tile_row(at, e / TILE_COLUMNS), column = smma_tile_column(at, e % TILE_COLUMNS);
      r->steps++;
      if (!smma_fp4_add(smma_fp4_fraction(&p->o), a->word[row], b->word[column], a->power[row], b->power[column],
                        sum[e], &c[e]))
        continue;
      r->again++;
      c[e] = smma_fp4_step(smma_fp4_fraction(&p->o), a, b, row, column, c[e]);
    }
  }
}

static outcome compare(const smma_instruction *instruction, unsigned theme, uint64_t seed) {
  outcome r = {0, 0, 0, 0, 0};
  product p = {.o = smma_operation_of(instruction)};
  assert_true(kernel_operands_make(&p.o, ROWS, COLUMNS, K, theme, seed, &p.x));
  for (size_t e = 0; e < ROWS * COLUMNS; e++) p.x.c[e] = smma_widen_c(&p.o, p.x.c[e]);
  p.o.c = p.o.d;
  p.a = pack(&p, true, p.special_a);
  p.b = pack(&p, false, p.special_b);
  for (int thread = 0; thread < 32; thread++) {
    const smma_tile_thread at = {thread / 8, thread % 8};
    double c[TILE_ROWS * TILE_COLUMNS];
    for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) {
      const int i = smma_tile_row(at, e / TILE_COLUMNS), j = smma_tile_column(at, e % TILE_COLUMNS);
      const float before = smma_f32_of((uint32_t)p.x.c[i * COLUMNS + j]);
      c[e] = smma_fp4_takes(before) ? (double)before : 0;
    }
    advance(&p, at, c, &r);
    for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) {
      const size_t i = (size_t)smma_tile_row(at, e / TILE_COLUMNS), j = (size_t)smma_tile_column(at, e % TILE_COLUMNS);
      const uint32_t got = smma_f32_bits((float)c[e]), wanted = expected(&p, i, j);
      if (p.special_a[i] || p.special_b[j] || !smma_fp4_takes(smma_f32_of((uint32_t)p.x.c[i * COLUMNS + j]))) {
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

/* Every operation of the catalogue that it computes, on operands of every theme. */
static void test_against_core(void **state) {
  static const smma_instruction *list[MOST_OPERATIONS];
  const size_t count = kernel_operations(list);
  size_t operations = 0, wrong = 0;
  (void)state;
  for (unsigned theme = 0; theme < THEMES; theme++) {
    outcome all = {0, 0, 0, 0, 0};
    operations = 0;
    for (size_t i = 0; i < count && !wrong; i++) {
      const smma_operation o = smma_operation_of(list[i]);
      if (!smma_fp4_fraction(&o)) continue;
      operations++;
      for (uint64_t seed = 1; seed <= 2; seed++) {
        const outcome r = compare(list[i], theme, 10 * operations + seed);
        all.decided += r.decided, all.left += r.left, all.steps += r.steps, all.again += r.again, wrong += r.wrong;
      }
    }
    print_message("%-14s %7zu decided, %7zu left; %7zu of %zu steps term by term\n", kernel_theme_name(theme),
                  all.decided, all.left, all.again, all.steps);
    if (theme == THEME_ORDINARY) assert_true(all.left == 0 && all.again * 100 < all.steps);
  }
  print_message("%zu operations\n", operations);
  assert_int_equal(wrong, 0);
  assert_int_not_equal(operations, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_core)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
