/* Tests sums that are held in two binary32 numbers (src/device/cuda). NVIDIA GPUs without fast binary64 use them. */
#include <stdlib.h>

#include "amount.h"
#include "device/cuda/two_level.h"
#include "panel_product.h"
#include "support.h"

/* The test runs one of every SOFTMMA_TWO_LEVEL_EVERY operations. */

enum { ROWS = 32, COLUMNS = 32, PANELS = 2, K = PANELS * TWO_DEPTH };

static bool takes(const smma_operation *o) {
  smma_panels panels;
  return !smma_fp4_fraction(o) && smma_panels_of(o, false, &panels);
}

static smma_two_panel *pack(const panel_product *p, bool of_a, uint8_t *special) {
  const smma_format format = of_a ? p->o.a : p->o.b;
  uint8_t *codes = panel_codes(p, of_a);
  smma_two_panel *panel = panel_memory(PANELS, sizeof *panel);
  const smma_two_operand operand = {codes, of_a ? ROWS : COLUMNS, K, format, panel_code_bytes(format), of_a};
  for (size_t line = 0; line < TILE_LINES; line++)
    for (size_t i = 0; i < PANELS; i++)
      if (smma_two_pack(&operand, line, i * TWO_DEPTH, panel + i)) special[line] = 1;
  free(codes);
  return panel;
}

static void compute(panel_product *p) {
  const int bases = smma_chain_base_of(p->o.a) + smma_chain_base_of(p->o.b);
  uint8_t special_a[TILE_LINES] = {0}, special_b[TILE_LINES] = {0};
  smma_two_panel *a = pack(p, true, special_a), *b = pack(p, false, special_b);
  smma_chain chain;
  assert_true(smma_chain_of(&p->o, &chain));
  for (int thread = 0; thread < 32; thread++) {
    const smma_tile_thread at = {thread / 8, thread % 8};
    float c[TILE_ROWS * TILE_COLUMNS];
    int index[TILE_ROWS * TILE_COLUMNS];
    for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) {
      const int i = smma_tile_row(at, e / TILE_COLUMNS), j = smma_tile_column(at, e % TILE_COLUMNS);
      const float before = smma_f32_of((uint32_t)p->x.c[i * COLUMNS + j]);
      const bool is_taken = smma_two_takes(&chain, bases, before);
      index[e] = i * COLUMNS + j;
      p->left[index[e]] = !is_taken || special_a[i] || special_b[j];
      c[e] = is_taken ? smma_two_cut(&chain, before) : 0;
    }
    for (int first = 0; first < K; first += chain.block)
      smma_two_block(&chain, a + first / TWO_DEPTH, b + first / TWO_DEPTH, at, first % TWO_DEPTH, bases, c);
    for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) p->got[index[e]] = smma_f32_bits(c[e]);
  }
  free(a);
  free(b);
}

static void test_against_core(void **state) {
  const panel_test test = {ROWS, COLUMNS, K, (int)amount_of("SOFTMMA_TWO_LEVEL_EVERY", 1), 1, takes, compute};
  (void)state;
  panel_test_against_core(&test);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_core)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
