/* The speed of one instruction: of whole products or of rows, on data of several kinds, or beside OpenBLAS or cuBLAS;
   timed in turn. */
#ifndef SMMA_BENCH_TIMING_H
#define SMMA_BENCH_TIMING_H

#include "bench/blas.h"
#include "bench/cublas.h"
#include "cli/cli.h"
#include "rows/data.h"

typedef enum {
  SMMA_TIMING_GEMM,       /* smma_gemm */
  SMMA_TIMING_MULTIPLIER, /* smma_multiplier_run */
  SMMA_TIMING_ROWS        /* smma_dot_rows of m rows; n is 1, k the instruction's */
} smma_timing_call;

typedef struct {
  smma_timing_call call;
  size_t m, n, k;
  int threads, repetitions;
  const char *kernel;    /* NULL: the fastest */
  const smma_data *data; /* that the instruction's formats have */
  size_t data_count;
  const smma_blas *blas;     /* NULL: none to compare with; else loaded for as many threads */
  const smma_device *device; /* that `kernel` names; NULL: this CPU */
  smma_cublas *cublas;       /* NULL: none to compare with; else loaded for the device */
} smma_timing_setup;

/* Medians over the repetitions. Ratios are medians of the repetitions' ratios, so that what slows the machine down for
   a while does not enter them. */
typedef struct {
  double seconds;          /* of one call */
  double slowdown;         /* times as long as on the first data */
  double kernel_seconds;   /* of these the device's kernels, by its clock; 0 on this CPU */
  double baseline_seconds; /* OpenBLAS's, or of cuBLAS's kernel; of the first data only, else 0 */
  double ratio;            /* those to these; of kernels with cuBLAS; 0 without */
  double own_seconds;      /* of cuBLAS's kernel for the same formats; 0 where it has none */
  double own_ratio;
} smma_timing;

/* Fills a timing for each of the data. Each runs once unmeasured (products for a second at most), then all in turn,
   `repetitions` times, each as often as takes a fiftieth of a second. With one thread the time is that thread's CPU
   time, which others on the machine hardly change. OpenBLAS and cuBLAS multiply the values of the first data. Returns
   false with an error when memory runs out or a product fails. */
bool smma_time(const smma_instruction *instruction, const smma_timing_setup *setup, smma_timing *timings,
               smma_error *error);

#endif
