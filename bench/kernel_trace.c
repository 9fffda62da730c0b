/* kernel_trace GPU INSTRUCTION KERNEL: computes a product of 32 rows, one panel of columns and one section of K, and
   records which machine instructions the `run` of the kernel's family executes for it. Prints "products N", the number
   of products that `run` computed. On x86 it then prints a line "ADDRESS COUNT" for each machine instruction, from
   single steps. On other machines an emulator records the instructions between the calls of kernel_trace_begin and
   kernel_trace_end. bench/kernel_bounds.py builds and runs this program, and counts operations.

   kernel_trace GPU INSTRUCTION KERNEL ROWS (x86 only): computes the same for ROWS rows, 8,000 times, and prints how
   many cycles `run` takes for 16 products: the time that 2 % of the runs, and the time that half of them do not exceed.
   A cycle is a third of the time of a 64-bit multiplication in a chain of them, which is measured before and after each
   run. Runs between which this time differs by 1 % or more do not count, because something else ran on the CPU. */
#define _GNU_SOURCE /* REG_RIP */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#endif

#include "gemm/kernel.h"
#include "gemm/pack.h"

enum { ROWS_OF_A = 32 };   /* as many as families compute at a time */
enum { SUM_OF_1024 = 32 }; /* the standard deviation of a sum of 1,024 products of numbers from N(0, 1) */

static void (*run_of_family)(const smma_run *run);
static uint64_t products;

#ifdef __x86_64__
enum { CAN_TIME = 1 };
extern char __executable_start, etext; /* the linker's: the program's code lies between them */
static uint32_t *executed;             /* executed[i]: steps that began at address __executable_start + i */

static void count_step(int signal, siginfo_t *info, void *context) {
  const uintptr_t at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  (void)signal, (void)info;
  if (at >= (uintptr_t)&__executable_start && at < (uintptr_t)&etext) executed[at - (uintptr_t)&__executable_start]++;
}

static void kernel_trace_begin(void) {
  __asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq" ::: "memory", "cc"); /* the trap flag */
}
static void kernel_trace_end(void) { __asm__ volatile("pushfq\n andq $~0x100, (%%rsp)\n popfq" ::: "memory", "cc"); }

static bool prepare(void) {
  struct sigaction action = {.sa_sigaction = count_step, .sa_flags = SA_SIGINFO};
  executed = calloc((size_t)(&etext - &__executable_start), sizeof *executed);
  return executed && sigaction(SIGTRAP, &action, NULL) == 0;
}

static void print(void) {
  for (size_t i = 0; i < (size_t)(&etext - &__executable_start); i++)
    if (executed[i]) printf("%" PRIxPTR " %" PRIu32 "\n", (uintptr_t)&__executable_start + i, executed[i]);
}

enum { RUNS = 8000, CHAIN = 1000 }; /* times that `run` is timed; eighths of the multiplications of a chain */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the seconds of one cycle. */
static double cycle(void) {
  const double start = now();
  uint64_t x = 3;
  for (int i = 0; i < CHAIN; i++)
    __asm__ volatile(
        "imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n"
        "imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0"
        : "+r"(x));
  return (now() - start) / (3.0 * 8 * CHAIN);
}

static int by_size(const void *x, const void *y) {
  return (*(const double *)x > *(const double *)y) - (*(const double *)x < *(const double *)y);
}

/* Prints the cycles of a request, and ends the program. */
static void time_run(const smma_run *r, uint64_t products_of_run) {
  const size_t bytes = r->packed_rows * r->multiplier->family->columns * smma_bytes_of(r->multiplier->outer);
  static double cycles[RUNS];
  void *start = malloc(bytes);
  double before = cycle();
  size_t count = 0;
  if (!start) exit(2);
  memcpy(start, r->accumulator, bytes);
  for (int i = 0; i < RUNS; i++) {
    double seconds, after;
    memcpy(r->accumulator, start, bytes);
    seconds = now();
    run_of_family(r);
    seconds = now() - seconds, after = cycle();
    if (after < before * 1.01 && after > before * 0.99) cycles[count++] = seconds / after;
    before = after;
  }
  free(start);
  if (count < RUNS / 10) {
    fprintf(stderr, "kernel_trace: the CPU is busy with something else\n");
    exit(2);
  }
  qsort(cycles, count, sizeof *cycles, by_size);
  printf("cycles for 16 products: 2 %% of the runs up to %.3f, half of them up to %.3f\n",
         cycles[count / 50] / (double)products_of_run * 16, cycles[count / 2] / (double)products_of_run * 16);
  exit(0);
}
#else
__attribute__((noinline)) void kernel_trace_begin(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void kernel_trace_end(void) { __asm__ volatile("" ::: "memory"); }
static bool prepare(void) { return true; }
static void print(void) {}
enum { CAN_TIME = 0 };
static void time_run(const smma_run *r, uint64_t products_of_run) { (void)r, (void)products_of_run; }
#endif

static bool timed;

static void traced_run(const smma_run *r) {
  const smma_multiplier *m = r->multiplier;
  const uint64_t now_computed =
      (uint64_t)r->rows * m->family->columns * (r->last - r->first) * (uint64_t)m->operation.k;
  if (timed) time_run(r, now_computed);
  products += now_computed;
  kernel_trace_begin();
  run_of_family(r);
  kernel_trace_end();
}

/* Returns a random number below 2^16, in few machine instructions. */
static int random_half(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (int)(state >> 16);
}

/* Returns encodings of `count` numbers, nearly from N(0, deviation^2): sums of four uniform numbers, whose variance is
   1/3. */
static void *matrix(smma_format format, size_t count, float deviation) {
  float *x = malloc(count * sizeof *x);
  unsigned char *codes = calloc(count, 8);
  smma_conversion conversion;
  if (!x || !codes) exit(2);
  for (size_t i = 0; i < count; i++)
    x[i] = 1.732f * deviation * ((float)(random_half() + random_half() + random_half() + random_half()) * 0x1p-16f - 2);
  if (smma_convert(SMMA_F32, x, format, codes, count, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE, &conversion) !=
      SMMA_OK)
    exit(2);
  free(x);
  return codes;
}

/* Returns scale factors near 1. */
static unsigned char *scale_factors(smma_format format, size_t count) {
  unsigned char *x = malloc(count);
  if (!x) exit(2);
  for (size_t i = 0; i < count; i++)
    x[i] = (unsigned char)(format == SMMA_UE8M0 ? 125 + random_half() % 5 : 56 + random_half() % 8);
  return x;
}

/* Returns a multiplier by the same kernel for B of g->k x g->n numbers. */
static smma_multiplier *multiplier_of(const smma_instruction *instruction, const smma_gemm_arguments *g) {
  smma_multiplier *multiplier;
  if (smma_multiplier_create(instruction, g, &multiplier) == SMMA_OK && multiplier->family) return multiplier;
  fprintf(stderr, "kernel_trace: the kernel %s does not compute this instruction\n", g->kernel);
  exit(2);
}

int main(int argc, char **argv) {
  smma_error error;
  const size_t rows = argc == 5 ? strtoul(argv[4], NULL, 10) : ROWS_OF_A;
  const bool right = argc == 4 || (argc == 5 && rows > 0 && CAN_TIME);
  const smma_instruction *instruction = right ? smma_find(argv[1], argv[2], &error) : NULL;
  smma_gemm_arguments g;
  smma_instruction_info info;
  smma_multiplier *multiplier;
  smma_kernel_family family;
  if (!instruction) {
    fprintf(stderr, "kernel_trace: %s\n", right ? error.text : "usage: kernel_trace GPU INSTRUCTION KERNEL [ROWS]");
    return 2;
  }
  smma_describe(instruction, &info, sizeof info);
  smma_gemm_defaults(&g, sizeof g);
  g.threads = 1, g.kernel = argv[3];
  timed = argc == 5;
  g.m = rows, g.n = SMMA_MOST_VECTORS;
  g.k = info.k * SMMA_LEAST_STEPS > SMMA_DEPTH ? (size_t)info.k * SMMA_LEAST_STEPS : SMMA_DEPTH;
  g.a = matrix(info.a, g.m * g.k, 1), g.b = matrix(info.b, g.n * g.k, 1);
  g.c = matrix(info.c, g.m * g.n, SUM_OF_1024), g.d = calloc(g.m * g.n, sizeof(double));
  if (info.scale_block)
    g.scale_a = scale_factors(info.scale, g.m * g.k), g.scale_b = scale_factors(info.scale, g.n * g.k);
  multiplier = multiplier_of(instruction, &g);
  g.n = multiplier->family->columns;
  smma_multiplier_free(multiplier);
  multiplier = multiplier_of(instruction, &g);
  family = *multiplier->family;
  run_of_family = family.run;
  family.run = traced_run;
  multiplier->family = &family;
  multiplier->few = multiplier->small = NULL;
  if (!g.d || !prepare() || smma_multiplier_run(multiplier, g.m, g.a, g.scale_a, g.c, g.d) != SMMA_OK) {
    fprintf(stderr, "kernel_trace: the product could not be computed\n");
    return 2;
  }
  printf("products %" PRIu64 "\n", products);
  print();
  return 0;
}
