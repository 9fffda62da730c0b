/* call_speed M N K CALLS [multiplier]: prints the microseconds of one smma_gemm, or of one run of a multiplier, on one
   thread. The product has this size and is an H100's in FP16; the time includes the allocation of D. It is the least of
   five rounds of CALLS calls. bench/python.py compares the Python package with these times. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "softmma/softmma.h"

enum { ROUNDS = 5 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Returns an array of FP16 numbers of either sign with magnitudes from 1 to 2. */
static uint16_t *matrix(size_t count) {
  uint16_t *x = malloc(count * sizeof *x);
  for (size_t i = 0; x && i < count; i++) x[i] = (uint16_t)(0x3c00 | (rand() & 0x83ff));
  return x;
}

/* Measures one call of smma_gemm, or one run of the multiplier if there is one. */
static double microseconds(const smma_instruction *instruction, smma_gemm_arguments g,
                           const smma_multiplier *multiplier, long calls) {
  double start = now();
  for (long i = 0; i < calls; i++) {
    g.d = malloc(g.m * g.n * sizeof(float));
    if (!g.d || (multiplier ? smma_multiplier_run(multiplier, g.m, g.a, NULL, NULL, g.d)
                            : smma_gemm(instruction, &g)) != SMMA_OK)
      exit(2);
    free(g.d);
  }
  return (now() - start) / (double)calls;
}

int main(int argc, char **argv) {
  const smma_instruction *instruction = smma_find("H100", "mma.m16n8k16.f32.f16.f16.f32", NULL);
  long calls = argc >= 5 ? strtol(argv[4], NULL, 10) : 0;
  double best = 0;
  smma_gemm_arguments g;
  smma_multiplier *multiplier = NULL;
  smma_gemm_defaults(&g, sizeof g);
  if (calls < 1) {
    fprintf(stderr, "usage: call_speed M N K CALLS [multiplier]\n");
    return 2;
  }
  g.m = strtoul(argv[1], NULL, 10), g.n = strtoul(argv[2], NULL, 10), g.k = strtoul(argv[3], NULL, 10);
  g.a = matrix(g.m * g.k), g.b = matrix(g.k * g.n);
  g.threads = 1;
  if (argc == 6 && smma_multiplier_create(instruction, &g, &multiplier) != SMMA_OK) return 2;
  for (int i = 0; i < ROUNDS; i++) {
    double each = microseconds(instruction, g, multiplier, calls);
    if (i == 0 || each < best) best = each;
  }
  printf("%.3f\n", best);
  smma_multiplier_free(multiplier);
  return 0;
}
