/* Tests the chains of src/device/cuda that NVIDIA GPUs run. They are compiled as host code here. */
#include <stdlib.h>

#include "amount.h"
#include "device/cuda/down.h"
#include "device/cuda/pack.h"
#include "device/kernels/words.h"
#include "panel_product.h"
#include "support.h"

enum { ROWS = 64, COLUMNS = 32, PANELS = 4, K = PANELS * CHAIN_DEPTH };

/* ---- Sums of 16^e ---- */

/* Returns the contents of a panel's word for line `line` and product k. */
static uint32_t power_of(const smma_chain_panel *panel, bool of_a, int line, int k) {
  const int in_16 = line % 16, t = k % 8 / 2, half = k / 8;
  const int thread = of_a ? in_16 / 2 * 4 + t : in_16 % 8 * 4 + t;
  const smma_pair pair = panel->exponent[line / 16 * 32 + thread].of[half];
  return pair.of[of_a ? in_16 % 2 : in_16 / 8] >> k % 2 * 16 & 0xffff;
}

/* Returns the tensor core's sum of at most eight powers 16^e, computed by operation `by`. */
static uint32_t sum_of_powers(const smma_operation *by, const smma_chain_panel *a, const smma_chain_panel *b, int row,
                              int column, int first, int count) {
  smma_number x[8], y[8];
  smma_operands operands = {x, y, NULL, NULL};
  smma_encoding bf16 = smma_encoding_of(SMMA_BF16);
  for (int i = 0; i < 8; i++) {
    x[i] = smma_decode(bf16, i < count ? power_of(a, true, row, first % CHAIN_DEPTH + i) : 0);
    y[i] = smma_decode(bf16, i < count ? power_of(b, false, column, first % CHAIN_DEPTH + i) : 0);
  }
  return (uint32_t)smma_dot_add(by, operands, 0);
}

/* Returns the largest of a block's sums, as an integer. */
static int32_t sum_of_block(const smma_operation *by, const smma_chain *p, const smma_chain_panel *a,
                            const smma_chain_panel *b, int row, int column, int first) {
  const int length = smma_chain_length(p), count = smma_minimum(length, 8);
  int32_t most = INT32_MIN;
  for (int k = first; k < first + length; k += 8)
    most =
        smma_maximum(most, (int32_t)sum_of_powers(by, a + k / CHAIN_DEPTH, b + k / CHAIN_DEPTH, row, column, k, count));
  return most;
}

/* ---- Products ---- */

typedef struct {
  smma_operation by; /* the tensor core's operation for exponents */
  smma_chain chain;
  smma_chain_words words;
  smma_chain_panel *a, *b;
  int bases;
} chained;

static smma_chain_panel *pack(const panel_product *p, const smma_chain *chain, bool of_a, uint8_t *special) {
  const smma_format format = of_a ? p->o.a : p->o.b;
  uint8_t *codes = panel_codes(p, of_a), *scales = panel_scales(p, of_a);
  smma_chain_panel *panel = panel_memory(PANELS, sizeof *panel);
  const smma_chain_operand operand = {
      codes, scales, of_a ? ROWS : COLUMNS, K, format, panel_code_bytes(format), smma_chain_base_of(format), of_a};
  for (size_t line = 0; line < CHAIN_LINES; line++)
    for (size_t i = 0; i < PANELS; i++)
      if (smma_chain_pack(chain, &operand, line, i * CHAIN_DEPTH, panel + i)) special[line] = 1;
  free(codes);
  free(scales);
  return panel;
}

/* Adds the products of a block, or of one of its sums, from `first` on, for the columns of a thread that are summed
   together. */
static void sum_up(const chained *p, smma_chain_place_of_thread at, int first, int part, double *accumulator,
                   uint64_t *out) {
  const smma_chain *chain = &p->chain;
  const smma_chain_panel *a = p->a + first / CHAIN_DEPTH, *b = p->b + first / CHAIN_DEPTH;
  const smma_chain_place_of_thread here = {at.row, at.column + part * 16};
  for (int quadrant = part; quadrant < 4; quadrant += CHAIN_COLUMNS / smma_chain_columns(chain)) {
    int32_t sum[CHAIN_QUADRANT_LINES * CHAIN_QUADRANT_LINES];
    for (int e = 0; e < CHAIN_QUADRANT_LINES * CHAIN_QUADRANT_LINES; e++) {
      const int all = smma_chain_element(quadrant, e / CHAIN_QUADRANT_LINES, e % CHAIN_QUADRANT_LINES);
      sum[e] = sum_of_block(&p->by, chain, a, b, smma_chain_row(at, all / CHAIN_COLUMNS),
                            smma_chain_column(at, all % CHAIN_COLUMNS), first % CHAIN_DEPTH);
    }
    smma_chain_begin(chain, &p->words, a, b, at, first % CHAIN_DEPTH, quadrant, p->bases, sum, accumulator, out);
  }
  smma_chain_products(chain, a, b, here, first % CHAIN_DEPTH, accumulator);
}

/* Computes the elements of one thread in the warp with the first 64 rows and 32 columns, for T-FDPA; accumulators
   replace c. */
static uint64_t advance(const chained *p, smma_chain_place_of_thread at, float *c) {
  double accumulator[CHAIN_ROWS * CHAIN_COLUMNS];
  uint64_t out = 0;
  for (int e = 0; e < CHAIN_ROWS * CHAIN_COLUMNS; e++) accumulator[e] = smma_chain_from(&p->chain, p->bases, c[e]);
  for (int first = 0; first < K; first += p->chain.block) {
    sum_up(p, at, first, 0, accumulator, &out);
    smma_chain_end(&p->chain, &p->words, accumulator);
  }
  for (int e = 0; e < CHAIN_ROWS * CHAIN_COLUMNS; e++) c[e] = (float)smma_chain_cut(&p->chain, accumulator[e]);
  return out;
}

/* Computes the same elements for rules that round down. */
static uint64_t advance_down(const chained *p, smma_chain_place_of_thread at, float *c) {
  const int sums = smma_chain_sums(&p->chain), parts = CHAIN_COLUMNS / smma_chain_columns(&p->chain);
  uint64_t out = 0;
  for (int e = 0; e < CHAIN_ROWS * CHAIN_COLUMNS; e++) c[e] = (float)smma_chain_from(&p->chain, p->bases, c[e]);
  for (int first = 0; first < K; first += p->chain.block)
    for (int part = 0; part < parts; part++) {
      double sum[2][CHAIN_ROWS * CHAIN_COLUMNS];
      for (int s = 0; s < sums; s++) sum_up(p, at, first + s * smma_chain_length(&p->chain), part, sum[s], &out);
      smma_down_end(&p->chain, &p->words, part, sum[0], sum[sums - 1], c);
    }
  return out;
}

static bool takes(const smma_operation *o) {
  smma_chain chain;
  return smma_chain_of(o, &chain);
}

static void compute(panel_product *p) {
  static const char *const units[] = {"A100", "H100"};
  const char *unit = units[(p->seed + p->theme) % 2];
  uint8_t special_a[CHAIN_LINES] = {0}, special_b[CHAIN_LINES] = {0};
  chained x = {.by = smma_operation_of(find(unit, "mma.m16n8k8.f32.bf16.bf16.f32"))};
  assert_true(smma_chain_of(&p->o, &x.chain));
  x.bases = (smma_chain_base_of(p->o.a) + smma_chain_base_of(p->o.b)) * CHAIN_BINADE;
  x.words = smma_chain_words_of(&x.chain, x.bases, 0);
  x.a = pack(p, &x.chain, true, special_a);
  x.b = pack(p, &x.chain, false, special_b);
  for (int thread = 0; thread < 32; thread++) {
    const smma_chain_place_of_thread at = {thread / 4 * 2, thread % 4 * 2};
    float c[CHAIN_ROWS * CHAIN_COLUMNS];
    int index[CHAIN_ROWS * CHAIN_COLUMNS];
    uint64_t out;
    for (int e = 0; e < CHAIN_ROWS * CHAIN_COLUMNS; e++) {
      const int i = smma_chain_row(at, e / CHAIN_COLUMNS), j = smma_chain_column(at, e % CHAIN_COLUMNS);
      index[e] = i * COLUMNS + j;
      c[e] = smma_f32_of((uint32_t)p->x.c[index[e]]);
      p->left[index[e]] = special_a[i] || special_b[j] || !smma_chain_takes(&x.chain, x.bases, c[e]);
    }
    out = x.chain.rule == SMMA_T_FDPA ? advance(&x, at, c) : advance_down(&x, at, c);
    for (int e = 0; e < CHAIN_ROWS * CHAIN_COLUMNS; e++) {
      p->left[index[e]] |= out >> e & 1;
      p->got[index[e]] = smma_f32_bits(c[e]);
    }
  }
  free(x.a);
  free(x.b);
}

/* An e_zero among the exponents of normal c can decide where a block is cut, which chains do not compute. */
static void test_exponents_of_zero(void **state) {
  smma_operation o = smma_operation_of(find("A100", "mma.m16n8k8.f32.bf16.bf16.f32"));
  (void)state;
  for (int exponent = -200; exponent <= -20; exponent++) {
    o.rule.with.t_fdpa.zero_exponent = exponent;
    assert_int_equal(takes(&o), exponent < -126);
  }
}

static void test_against_core(void **state) {
  const panel_test test = {ROWS, COLUMNS, K, (int)amount_of("SOFTMMA_CHAIN_EVERY", 1), 1, takes, compute};
  (void)state;
  panel_test_against_core(&test);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exponents_of_zero), cmocka_unit_test(test_against_core)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
