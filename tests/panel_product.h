/* Products by the arithmetic of src/device/cuda, which NVIDIA GPUs run, as host code: on the operands that are made to
   break kernels each element has the core's bits, or is left to the core. */
#ifndef SOFTMMA_TESTS_PANEL_PRODUCT_H
#define SOFTMMA_TESTS_PANEL_PRODUCT_H

#include "kernel_operands.h"

/* A product whose c is in the format of d, and what becomes of its elements, [row * columns + column]. */
typedef struct {
  smma_operation o;
  int rows, columns, k;
  unsigned theme;
  uint64_t seed;
  kernel_operands x;
  uint32_t *got;
  bool *left; /* to the core */
} panel_product;

/* What computes products: of the operations that it takes, of so many one; each theme with seeds from one on. */
typedef struct {
  int rows, columns, k, every, seeds;
  bool (*takes)(const smma_operation *);
  void (*compute)(panel_product *); /* fills `got` and `left`, which are zero before */
} panel_test;

/* Compares with the core; of ordinary operands no element may be left to it. */
void panel_test_against_core(const panel_test *test);

/* Codes of an operand as the device has them, [k * lines + line], each of panel_code_bytes, and its scale factors, NULL
   without; to be freed. */
uint8_t *panel_codes(const panel_product *p, bool of_a);
uint8_t *panel_scales(const panel_product *p, bool of_a);
int panel_code_bytes(smma_format format);

/* So many panels of zeros, aligned as on the device; to be freed. */
void *panel_memory(size_t count, size_t size);

#endif
