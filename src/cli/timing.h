/* The speed of one product: an instruction's and OpenBLAS's, timed in turn. */
#ifndef SMMA_CLI_TIMING_H
#define SMMA_CLI_TIMING_H

#include "cli/blas.h"
#include "cli/cli.h"

typedef struct {
  size_t m, n, k;
  int threads, repetitions;
  const char *kernel;    /* NULL: the fastest */
  const smma_blas *blas; /* NULL: none to compare with; else loaded for as many threads */
} smma_timing_setup;

/* Products per second: medians over the repetitions. The ratio is the median of the repetitions' ratios, so that what
   slows the machine down for a while does not enter it. */
typedef struct {
  double rate, baseline_rate, ratio; /* the last two are 0 without a baseline */
} smma_timing;

/* Operands are N(0, 1) rounded to the instruction's formats, scale factors are near 1, C is 0. Each side runs once
   unmeasured (the instruction for a second at most), then both in turn, `repetitions` times. Ends the program with one
   line when memory runs out. */
smma_timing smma_time_product(const smma_instruction *instruction, const smma_timing_setup *setup);

#endif
