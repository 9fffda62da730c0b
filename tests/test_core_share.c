/* The share of a product that each kernel leaves to the core, which is two orders of magnitude slower. The test counts
   blocks and measures no times. Every kernel of this CPU multiplies data of every kind with one instruction of every
   family that `softmma bench` knows.

   A share is the share of fused blocks that the core computed; of steps, for rules without fused blocks.
   `test_core_share print` prints all shares that are not 0. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/multiplier.h"
#include "host/load.h"
#include "isa/catalogue.h"
#include "rows/data.h"
#include "support.h"

/* The size of the product. K spans several parts that are packed one after another. */
#ifndef CORE_SHARE_ROWS
#define CORE_SHARE_ROWS 64
#endif
enum { ROWS = CORE_SHARE_ROWS, COLUMNS = 64, DEPTH = 256 };

static const struct {
  const char *title, *gpu, *instruction;
} families[] = {
#define SMMA_BENCH(title, gpu, instruction) {title, gpu, instruction},
#include "../bench/bench.def"
#undef SMMA_BENCH
};

enum { FAMILIES = sizeof families / sizeof families[0] };

/* The greatest share of outputs that the core may compute. The core takes about a hundred times as long as a kernel, so
   this share takes a fiftieth of the time. */
static const double most = 0.0002;

/* In addition to all kinds with their usual amounts. */
static const char *const other_amounts[] = {"mixed=100", "zeros=0.9", "nan=0.0001", "infinity=0.0001", "overflow=0.99"};

/* ---- Products ---- */

typedef struct {
  const smma_instruction *instruction;
  smma_operation operation;
  smma_data_arrays x;
  void *d;
} product;

static void *array_of(smma_format format, size_t count) {
  void *array = count ? calloc(count, smma_container_bytes(smma_encoding_of(format))) : NULL;
  assert_true(array || !count);
  return array;
}

static product make_product(const smma_instruction *instruction, smma_data data) {
  product p = {.instruction = instruction, .operation = smma_operation_of(instruction)};
  const smma_operation *o = &p.operation;
  const size_t blocks = o->scale_block ? DEPTH / (size_t)o->scale_block : 0;
  const smma_data_counts counts = {ROWS * DEPTH, DEPTH * COLUMNS, smma_data_has_c(data) ? ROWS * COLUMNS : 0,
                                   ROWS * blocks, COLUMNS * blocks};
  p.x = (smma_data_arrays){array_of(o->a, counts.a), array_of(o->b, counts.b), array_of(o->c, counts.c),
                           array_of(o->scale, counts.scale_a), array_of(o->scale, counts.scale_b)};
  p.d = array_of(o->d, ROWS * COLUMNS);
  smma_data_fill(data, o, DEPTH, &counts, &p.x);
  return p;
}

static void free_product(product *p) {
  free(p->x.a), free(p->x.b), free(p->x.c), free(p->x.scale_a), free(p->x.scale_b), free(p->d);
}

static double share_of_core(const product *p, const char *kernel) {
  const smma_operation *o = &p->operation;
  const size_t blocks = DEPTH / (size_t)o->k * (size_t)smma_blocks_per_step(o);
  size_t by_core = 0;
  smma_gemm_arguments g;
  smma_multiplier multiplier;
  smma_gemm_defaults(&g, sizeof g);
  g.m = ROWS, g.n = COLUMNS, g.k = DEPTH;
  g.a = p->x.a, g.b = p->x.b, g.c = p->x.c, g.scale_a = p->x.scale_a, g.scale_b = p->x.scale_b, g.d = p->d;
  g.kernel = kernel, g.threads = 1;
  assert_int_equal(smma_multiplier_for(p->instruction, &g, false, &multiplier), SMMA_OK);
  multiplier.core_blocks = &by_core;
  assert_int_equal(smma_multiplier_compute(&multiplier), SMMA_OK);
  return (double)by_core / (double)(ROWS * COLUMNS * blocks);
}

/* ---- Tests ---- */

static bool printing;

/* Returns the number of kernels in which the core computes more than its allowed share. Returns 0 if the formats cannot
   hold such data. */
static int check_data(smma_data data, size_t family) {
  const smma_instruction *i = find(families[family].gpu, families[family].instruction);
  const smma_operation o = smma_operation_of(i);
  char text[32];
  int wrong = 0;
  product p;
  if (!smma_data_fits(data, &o)) return 0;
  p = make_product(i, data);
  smma_data_text(data, text);
  for (size_t k = 0; strcmp(smma_kernel_name(k), "core") != 0; k++) {
    const double share = share_of_core(&p, smma_kernel_name(k));
    if (printing && share > 0)
      printf("%-14s  %-20s  %-8s  %.6f\n", text, families[family].title, smma_kernel_name(k), share);
    if (share <= most) continue;
    print_error("%s, data %s, kernel %s: the core computes %g of all blocks, more than %g\n", families[family].title,
                text, smma_kernel_name(k), share, most);
    wrong++;
  }
  free_product(&p);
  return wrong;
}

static int check_all(void) {
  int wrong = 0;
  for (size_t f = 0; f < FAMILIES; f++) {
    for (int kind = 0; kind < SMMA_DATA_KINDS; kind++)
      wrong += check_data((smma_data){.kind = (smma_data_kind)kind, .amount = smma_data_infos[kind].amount}, f);
    for (size_t i = 0; i < sizeof other_amounts / sizeof other_amounts[0]; i++) {
      smma_data data = {.seed = 0};
      assert_true(smma_data_from_text(other_amounts[i], &data, NULL));
      wrong += check_data(data, f);
    }
  }
  return wrong;
}

static void test_shares(void **state) {
  (void)state;
  assert_int_equal(check_all(), 0);
}

/* The core computes everything itself, so all blocks must be counted. */
static void test_core_computes_all(void **state) {
  (void)state;
  for (size_t f = 0; f < FAMILIES; f++) {
    product p = make_product(find(families[f].gpu, families[f].instruction), (smma_data){.kind = SMMA_DATA_NORMAL});
    assert_true(share_of_core(&p, "core") == 1);
    free_product(&p);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shares),
      cmocka_unit_test(test_core_computes_all),
  };
  printing = argc == 2 && strcmp(argv[1], "print") == 0;
  return cmocka_run_group_tests_name("core share", tests, NULL, NULL);
}
