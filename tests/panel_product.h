/* Products by the arithmetic of src/device/cuda, which NVIDIA GPUs run, compiled as host code. For the operands that
   are designed to break kernels, each element must have the core's bits or be left to the core. */
#ifndef SOFTMMA_TESTS_PANEL_PRODUCT_H
#define SOFTMMA_TESTS_PANEL_PRODUCT_H

#include "kernel_operands.h"

/* A product whose c is in the format of d, and the results of its elements, [row * columns + column]. */
typedef struct {
  smma_operation o;
  int rows, columns, k;
  unsigned theme;
  uint64_t seed;
  kernel_operands x;
  uint32_t *got;
  bool *left; /* elements left to the core */
} panel_product;

/* A function that computes products, and the products to compute: one of every `every` operations that it takes, and
   each theme with `seeds` seeds. */
typedef struct {
  int rows, columns, k, every, seeds;
  bool (*takes)(const smma_operation *);
  void (*compute)(panel_product *); /* fills `got` and `left`, which are zero before the call */
} panel_test;

/* Compares the results with the core's; with ordinary operands no element may be left to the core. */
void panel_test_against_core(const panel_test *test);

/* Return the encodings of an operand as the device stores them, [k * lines + line], each of panel_code_bytes, and its
   scale factors (NULL if it has none). The caller frees them. */
uint8_t *panel_codes(const panel_product *p, bool of_a);
uint8_t *panel_scales(const panel_product *p, bool of_a);
int panel_code_bytes(smma_format format);

/* Allocates `count` panels of zeros, aligned as on the device. The caller frees them. */
void *panel_memory(size_t count, size_t size);

#endif
