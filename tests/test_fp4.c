/* Tests the FP4 kernel of src/device/cuda that NVIDIA GPUs run. It is compiled as host code here. */
#include <stdlib.h>

#include "device/cuda/fp4.h"
#include "panel_product.h"
#include "support.h"

enum { ROWS = 32, COLUMNS = 32, STEPS = 6, K = STEPS * FP4_DEPTH };

/* For ordinary operands: the number of steps of elements, and of steps that were computed again term by term. */
static size_t steps, again;

static bool takes(const smma_operation *o) { return smma_fp4_fraction(o) != 0; }

static smma_fp4_panel *pack(const panel_product *p, bool of_a, uint8_t *special) {
  uint8_t *codes = panel_codes(p, of_a), *scales = panel_scales(p, of_a);
  smma_fp4_panel *panel = panel_memory(STEPS, sizeof *panel);
  const smma_fp4_operand operand = {codes, scales, of_a ? ROWS : COLUMNS, K, p->o.scale, p->o.scale_block, of_a};
  for (size_t line = 0; line < TILE_LINES; line++)
    for (size_t i = 0; i < STEPS; i++)
      if (smma_fp4_pack(&operand, line, i * FP4_DEPTH, panel + i)) special[line] = 1;
  free(codes);
  free(scales);
  return panel;
}

/* Computes the elements of one thread. */
static void advance(const panel_product *p, const smma_fp4_panel *a, const smma_fp4_panel *b, smma_tile_thread at,
                    double *c) {
  const int fraction = smma_fp4_fraction(&p->o);
  for (int step = 0; step < STEPS; step++, a++, b++) {
    int64_t sum[TILE_ROWS * TILE_COLUMNS];
    for (int first = 0; first < TILE_ROWS; first += FP4_BEGUN)
      smma_fp4_sums(a, b, at, first, smma_fp4_start(0), sum + first * TILE_COLUMNS);
    for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) {
      const int row = smma_tile_row(at, e / TILE_COLUMNS), column = smma_tile_column(at, e % TILE_COLUMNS);
      steps += p->theme == THEME_ORDINARY;
      if (!smma_fp4_add(fraction, a->word[row], b->word[column], a->power[row], b->power[column], sum[e], &c[e]))
        continue;
      again += p->theme == THEME_ORDINARY;
      c[e] = smma_fp4_step(fraction, a, b, row, column, c[e]);
    }
  }
}

static void compute(panel_product *p) {
  uint8_t special_a[TILE_LINES] = {0}, special_b[TILE_LINES] = {0};
  smma_fp4_panel *a = pack(p, true, special_a), *b = pack(p, false, special_b);
  for (int thread = 0; thread < 32; thread++) {
    const smma_tile_thread at = {thread / 8, thread % 8};
    double c[TILE_ROWS * TILE_COLUMNS];
    int index[TILE_ROWS * TILE_COLUMNS];
    for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) {
      const int i = smma_tile_row(at, e / TILE_COLUMNS), j = smma_tile_column(at, e % TILE_COLUMNS);
      const float before = smma_f32_of((uint32_t)p->x.c[i * COLUMNS + j]);
      index[e] = i * COLUMNS + j;
      p->left[index[e]] = !smma_fp4_takes(before) || special_a[i] || special_b[j];
      c[e] = smma_fp4_takes(before) ? (double)before : 0;
    }
    advance(p, a, b, at, c);
    for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) p->got[index[e]] = smma_f32_bits((float)c[e]);
  }
  free(a);
  free(b);
}

static void test_against_core(void **state) {
  const panel_test test = {ROWS, COLUMNS, K, 1, 2, takes, compute};
  (void)state;
  panel_test_against_core(&test);
  print_message("%zu of %zu ordinary steps term by term\n", again, steps);
  assert_true(again * 100 < steps);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_core)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
