/* Speed of the reference core on one thread: million products a second of smma_gemm, median of five runs. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "softmma/softmma.h"

enum { SIZE = 320, RUNS = 5 };

static const struct {
  const char *label, *gpu, *instruction;
} cases[] = {
    {"Hopper f16", "H100", "mma.m16n8k16.f32.f16.f16.f32"},
    {"Ada e4m3", "L40S", "mma.m16n8k32.f32.e4m3.e4m3.f32"},
    {"CDNA3 f16", "MI300X", "v_mfma_f32_32x32x8_f16"},
    {"NVFP4", "B200", "tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3"},
    {"Hopper e4m3 mma.sync", "H100", "mma.m16n8k32.f32.e4m3.e4m3.f32"},
    {"CDNA3 fp8", "MI300X", "v_mfma_f32_32x32x16_fp8_fp8"},
    {"CDNA2 f16", "MI250X", "v_mfma_f32_32x32x8f16"},
    {"CDNA1 f16", "MI100", "v_mfma_f32_32x32x8f16"},
    {"Ampere f64", "A100", "mma.m8n8k4.f64.f64.f64.f64"},
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* Returns the encodings of `count` values that are uniform in [least, 2]. */
static void *random_matrix(smma_format format, double least, size_t count) {
  double *value = malloc(count * sizeof *value);
  void *encoding = malloc(count * smma_format_bytes(format));
  for (size_t i = 0; i < count; i++) value[i] = least + (2 - least) * rand() / RAND_MAX;
  smma_convert(SMMA_F64, value, format, encoding, count, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT, NULL);
  free(value);
  return encoding;
}

static double median_seconds(const smma_instruction *instruction, const smma_gemm_arguments *arguments) {
  double seconds[RUNS];
  for (int run = 0; run < RUNS; run++) {
    double start = now();
    if (smma_gemm(instruction, arguments) != SMMA_OK) exit(2);
    seconds[run] = now() - start;
  }
  qsort(seconds, RUNS, sizeof seconds[0], ascending);
  return seconds[RUNS / 2];
}

int main(void) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const smma_instruction *instruction = smma_find(cases[i].gpu, cases[i].instruction, NULL);
    smma_instruction_info info;
    smma_gemm_arguments g;
    void *a, *b, *scale = NULL, *d;
    if (smma_describe(instruction, &info, sizeof info) != SMMA_OK) return 2;
    a = random_matrix(info.a, -2, SIZE * SIZE);
    b = random_matrix(info.b, -2, SIZE * SIZE);
    d = malloc(SIZE * SIZE * smma_format_bytes(info.d));
    if (info.scale_block) scale = random_matrix(info.scale, 0.5, SIZE * SIZE);
    smma_gemm_defaults(&g, sizeof g);
    g.kernel = "core";
    g.m = g.n = g.k = SIZE;
    g.a = a, g.b = b, g.scale_a = g.scale_b = scale, g.d = d;
    g.threads = 1;
    printf("%-22s %6.0f million products/s\n", cases[i].label,
           (double)SIZE * SIZE * SIZE / median_seconds(instruction, &g) / 1e6);
    free(a), free(b), free(scale), free(d);
  }
  return 0;
}
