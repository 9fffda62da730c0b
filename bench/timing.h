/* Measures the speed of one instruction, for whole products or for test vectors, on several kinds of data or compared
   with OpenBLAS or cuBLAS. The compared calls run in turn. */
#ifndef SMMA_BENCH_TIMING_H
#define SMMA_BENCH_TIMING_H

#include "bench/blas.h"
#include "bench/cublas.h"
#include "cli/cli.h"
#include "rows/data.h"

typedef enum {
  SMMA_TIMING_GEMM,       /* smma_gemm */
  SMMA_TIMING_MULTIPLIER, /* smma_multiplier_run */
  SMMA_TIMING_ROWS        /* smma_dot_rows for m test vectors; n is 1, and k is the instruction's K */
} smma_timing_call;

typedef struct {
  smma_timing_call call;
  size_t m, n, k;
  int threads, repetitions;
  const char *kernel;    /* NULL: the fastest */
  const smma_data *data; /* kinds of data that the instruction's formats can represent */
  size_t data_count;
  const smma_blas *blas;     /* loaded for the same number of threads; NULL: nothing is compared */
  const smma_device *device; /* the device that `kernel` names; NULL: this CPU */
  smma_cublas *cublas;       /* loaded for the device; NULL: nothing is compared */
} smma_timing_setup;

/* Medians over the repetitions. A ratio is the median of the repetitions' ratios, so that a temporarily slow machine
   does not change it. */
typedef struct {
  double seconds;          /* of one call */
  double slowdown;         /* ratio of the time to the time on the first kind of data */
  double kernel_seconds;   /* the part of `seconds` in the device's kernels, by the device's clock; 0 on this CPU */
  double baseline_seconds; /* time of OpenBLAS, or of cuBLAS's kernel; only for the first kind of data, otherwise 0 */
  double ratio;            /* baseline_seconds / seconds (with cuBLAS: / kernel_seconds); 0 without a baseline */
  double own_seconds;      /* time of cuBLAS's kernel for the instruction's formats; 0 if cuBLAS has none */
  double own_ratio;
} smma_timing;

/* Fills one timing for each kind of data. First runs each kind once without measuring (products for at most a second).
   Then measures all kinds in turn, `repetitions` times; each measurement repeats the call for a fiftieth of a second.
   With one thread the time is the thread's CPU time, which other programs hardly change. OpenBLAS and cuBLAS multiply
   the values of the first data. Returns false with an error when memory runs out or a product fails. */
bool smma_time(const smma_instruction *instruction, const smma_timing_setup *setup, smma_timing *timings,
               smma_error *error);

#endif
