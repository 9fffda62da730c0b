/* Threads that call the library at once, beginning with the first call. Each computes the same results from
   instructions, spelled formats, custom units, plans, products and multipliers. They must equal the results of a single
   thread afterwards.
   Usage: together [THREADS] */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softmma/device.h"
#include "softmma/rows.h"
#include "softmma/softmma.h"

enum { MOST_THREADS = 16, ROUNDS = 3, SPELLED = 200, ROWS = 40, M = 19, N = 33, K = 96 };

static pthread_barrier_t start;
static smma_multiplier *shared; /* created by the first thread, and run by all */

/* Adds results of a thread to its FNV-1a digest. */
static void see(uint64_t *digest, const void *x, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) *digest = (*digest ^ ((const unsigned char *)x)[i]) * UINT64_C(0x100000001b3);
}

static void see_text(uint64_t *digest, const char *text) { see(digest, text ? text : "?", text ? strlen(text) : 1); }

static void see_status(uint64_t *digest, smma_status status) { see(digest, &status, sizeof status); }

/* ---- Calls to the library ---- */

static void find_instructions(uint64_t *digest) {
  static const char *const names[][2] = {{"H100", "HMMA.16816.F32"},
                                         {"MI300X", "__builtin_amdgcn_mfma_f32_16x16x16_f16"},
                                         {"B200", "tcgen05.m128n64k64.block16.f32.e2m1.e2m1.ue4m3"},
                                         {"x86", "_tile_dpbf16ps"},
                                         {"H100", "nothing"},
                                         {"nothing", "HMMA.16816.F32"}};
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    char text[1024];
    smma_error error;
    const smma_instruction *i = smma_find(names[n][0], names[n][1], &error);
    smma_instruction_info info;
    see_status(digest, error.status), see_text(digest, error.text);
    if (!i || smma_describe(i, &info, sizeof info) != SMMA_OK) continue;
    see_text(digest, info.name), see_text(digest, info.rule), see_text(digest, info.evidence[0]);
    smma_instruction_parameters(i, text, sizeof text), see_text(digest, text);
    smma_instruction_alias(i, 1, text, sizeof text), see_text(digest, text);
    see_text(digest, smma_kernel_for(i, NULL, NULL));
  }
}

/* Finds formats that were never used before, in a different order in each thread. */
static void spell_formats(uint64_t *digest, int number) {
  uint64_t sum = 0;
  for (int n = 0; n < SPELLED; n++) {
    const int bias = 1 + (n * (number % 2 ? 7 : 1)) % SPELLED;
    char spelled[64];
    smma_format format;
    const char *name;
    uint64_t each = 0;
    snprintf(spelled, sizeof spelled, "e5m4-bias%d", bias);
    format = smma_format_find(spelled), name = smma_format_name(format);
    if (name != smma_format_name(format)) see_text(digest, "the name does not stay");
    see_text(&each, name);
    each += smma_format_encode(format, 0.7, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT) << bias % 32;
    sum += each;
  }
  see(digest, &sum, sizeof sum);
}

static void compute_rows(uint64_t *digest) {
  static const char *const units[][2] = {{"V100", "mma.m8n8k4.f32.f16.f16.f32"},
                                         {"MI300X", "v_mfma_f32_16x16x32_fp8_fp8"},
                                         {"B200", "tcgen05.m128n64k64.block16.f32.e2m1.e2m1.ue4m3"},
                                         {"arm", "bfmmla"},
                                         {"RDNA 4", "v_wmma_f32_16x16x16_f16"}};
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    const smma_instruction *i = smma_find(units[u][0], units[u][1], NULL);
    uint64_t a[ROWS * 64], b[ROWS * 64], c[ROWS], scale_a[ROWS * 64], scale_b[ROWS * 64], d[ROWS] = {0};
    smma_instruction_info info;
    smma_row_request rows = {sizeof rows, NULL, 1, 0, ROWS, a, b, c, scale_a, scale_b};
    smma_batch batch = {sizeof batch, ROWS, a, b, c, scale_a, scale_b, d};
    smma_describe(i, &info, sizeof info);
    if (!info.scale_block) rows.scale_a = rows.scale_b = NULL, batch.scale_a = batch.scale_b = NULL;
    see_status(digest, smma_make_rows(i, &rows));
    see_status(digest, smma_dot_rows(i, &batch, 1));
    see(digest, d, ROWS * smma_format_bytes(info.d));
    see_status(digest, smma_dot(i, a, b, c, batch.scale_a, batch.scale_b, d));
    see(digest, d, smma_format_bytes(info.d));
  }
}

static void fill(uint16_t *x, size_t count) {
  for (size_t i = 0; i < count; i++)
    x[i] = (uint16_t)smma_format_encode(SMMA_F16, (double)(i * 37 % 101) / 16 - 3, SMMA_ROUND_NEAREST_EVEN,
                                        SMMA_OVERFLOW_DEFAULT);
}

/* Returns the arguments of a product, M x N x K, with one thread. */
static smma_gemm_arguments product_of(const uint16_t *a, const uint16_t *b, float *d) {
  smma_gemm_arguments g;
  smma_gemm_defaults(&g, sizeof g);
  g.m = M, g.n = N, g.k = K, g.a = a, g.b = b, g.d = d, g.threads = 1;
  return g;
}

static void multiply(uint64_t *digest) {
  static const char *const kernels[] = {NULL, "portable", "core", "opencl"};
  const smma_instruction *i = smma_find("H100", "wgmma.m64n256k16.f32.f16.f16", NULL);
  uint16_t a[M * K], b[K * N];
  float d[M * N] = {0};
  smma_gemm_arguments g = product_of(a, b, d);
  smma_multiplier *own = NULL;
  smma_device_info device;
  fill(a, M * K), fill(b, K * N);
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    g.kernel = kernels[k];
    see_status(digest, smma_gemm(i, &g));
    see(digest, d, sizeof d);
  }
  g.kernel = NULL;
  see_status(digest, smma_multiplier_create(i, &g, &own));
  see_status(digest, smma_multiplier_run(own, M, a, NULL, NULL, d)), see(digest, d, sizeof d);
  smma_multiplier_free(own);
  see_status(digest, smma_device_describe("opencl", 0, &device, sizeof device, NULL)), see_text(digest, device.name);
}

/* Runs one multiplier in all threads at once. */
static void share_multiplier(uint64_t *digest, int number) {
  uint16_t a[M * K], b[K * N];
  float d[M * N] = {0};
  const smma_gemm_arguments g = product_of(a, b, d);
  fill(a, M * K), fill(b, K * N);
  if (number == 0)
    see_status(digest, smma_multiplier_create(smma_find("A100", "mma.m16n8k16.f32.f16.f16.f32", NULL), &g, &shared));
  else
    see_status(digest, SMMA_OK);
  pthread_barrier_wait(&start);
  for (int round = 0; round < ROUNDS; round++)
    see_status(digest, smma_multiplier_run(shared, M, a, NULL, NULL, d)), see(digest, d, sizeof d);
  pthread_barrier_wait(&start);
  if (number == 0) smma_multiplier_free(shared);
}

static void follow_plans(uint64_t *digest) {
  static const char json[] =
      "{\"softmma-plan\": 1, \"name\": \"slices\", \"sum\": [{\"deal\": \"contiguous\", \"parts\": 2, \"grain\": 16}]}";
  const smma_instruction *i = smma_find("A100", "mma.m16n8k16.f32.f16.f16.f32", NULL);
  char text[1024];
  smma_error error;
  smma_plan *plan = smma_plan_parse(NULL, json, sizeof json - 1, &error);
  uint16_t a[M * K], b[K * N];
  float d[M * N] = {0};
  smma_gemm_arguments g = product_of(a, b, d);
  fill(a, M * K), fill(b, K * N);
  see_status(digest, smma_plan_check(plan, i, K, &error));
  g.plan = plan;
  see_status(digest, smma_gemm(i, &g)), see(digest, d, sizeof d);
  smma_plan_text(plan, text, sizeof text), see_text(digest, text);
  smma_plan_free(plan);
  see_text(digest, smma_plan_library(0));
}

static void parse_units(uint64_t *digest) {
  static const char json[] =
      "{\"softmma-unit\": 1, \"name\": \"mine\", \"algorithm\": \"T-FDPA\", \"k\": 8, \"a\": \"e3m4\", \"b\": \"e3m4\","
      " \"d\": \"f32\", \"block\": 8, \"alignment_bits\": 20, \"rounding\": \"toward-zero\"}";
  char text[2048];
  smma_error error;
  smma_custom *unit = smma_custom_parse("mine.json", json, sizeof json - 1, &error);
  const smma_instruction *i = smma_custom_instruction(unit);
  const unsigned char a[8] = {0x30, 0x41, 0x52, 1, 2, 3, 4, 5}, b[8] = {0x31, 0xb2, 0x20, 9, 8, 7, 6, 5};
  const float c = 0.375f;
  float d = 0;
  see_text(digest, error.text);
  if (!i) return;
  see_status(digest, smma_dot(i, a, b, &c, NULL, NULL, &d)), see(digest, &d, sizeof d);
  smma_custom_text(i, text, sizeof text), see_text(digest, text);
  smma_custom_free(unit);
}

/* ---- Threads ---- */

typedef struct {
  int number;
  uint64_t digest;
} worker;

static void *work(void *at) {
  worker *w = at;
  w->digest = UINT64_C(0xcbf29ce484222325);
  pthread_barrier_wait(&start);
  for (int round = 0; round < ROUNDS; round++) {
    spell_formats(&w->digest, w->number + round);
    find_instructions(&w->digest), parse_units(&w->digest);
    compute_rows(&w->digest), multiply(&w->digest), follow_plans(&w->digest);
  }
  share_multiplier(&w->digest, w->number);
  return NULL;
}

/* Runs this number of threads at once; returns false if the system refuses one. */
static bool run(int threads, worker *workers) {
  pthread_t thread[MOST_THREADS];
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (int t = 0; t < threads; t++) {
    workers[t].number = t;
    if (pthread_create(&thread[t], NULL, work, &workers[t]) != 0) return false;
  }
  for (int t = 0; t < threads; t++) pthread_join(thread[t], NULL);
  pthread_barrier_destroy(&start);
  return true;
}

int main(int argc, char **argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 2;
  worker workers[MOST_THREADS], alone;
  int different = 0;
  if (threads < 1 || threads > MOST_THREADS || !run(threads, workers) || !run(1, &alone)) return 2;
  for (int t = 0; t < threads; t++) different += workers[t].digest != alone.digest;
  printf("%d threads, %d of them with other results than one alone\n", threads, different);
  return different != 0;
}
