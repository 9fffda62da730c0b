/* Measures the cycles for the products of one row, 64 columns and 16 k in AVX-512 assembly, without any other work.
   These cycles bound the speed of families that truncate each product (docs/performance.md). The length of a cycle is
   measured by dependent additions, in turn with the products; the least of many rounds counts. Build: cc -O2 -mavx512f
   bench/product_cycles.c */
#include <stdio.h>
#include <time.h>

enum { LOOPS = 1000, ROUNDS = 500 };

static float a[16] __attribute__((aligned(64))), b[1024] __attribute__((aligned(64)));

/* k counts the row's elements, v the vectors of 16 columns. zmm0 to 3 hold products, zmm20 to 23 their sums, zmm8 the
   row's element, and zmm10 to 13 the numbers that are added to exponents. */
#define ADD_TO_EXPONENT "vpaddd %%zmm1\\v, %%zmm\\v, %%zmm\\v\n"

#define LOOP(name, bring, add_to_exponent)                                                                        \
  static void name(void) {                                                                                        \
    long loops = LOOPS;                                                                                           \
    __asm__ volatile(                                                                                             \
        ".irp x, 10, 11, 12, 13, 20, 21, 22, 23\n vpxord %%zmm\\x, %%zmm\\x, %%zmm\\x\n .endr\n 1:\n .set k, 0\n" \
        ".rept 16\n" bring                                                                                        \
        " 4*k(%1), %%zmm8\n .irp v, 0, 1, 2, 3\n vmulps 256*k+64*\\v(%2), %%zmm8, %%zmm\\v\n" add_to_exponent     \
        "vcvttps2dq %%zmm\\v, %%zmm\\v\n vpaddd %%zmm\\v, %%zmm2\\v, %%zmm2\\v\n"                                 \
        ".endr\n .set k, k + 1\n .endr\n dec %0\n jnz 1b"                                                         \
        : "+r"(loops)                                                                                             \
        : "r"(a), "r"(b)                                                                                          \
        : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm8", "xmm10", "xmm11", "xmm12", "xmm13", "xmm20", "xmm21", \
          "xmm22", "xmm23");                                                                                      \
  }

LOOP(four_operations, "vpbroadcastd", ADD_TO_EXPONENT)
LOOP(as_floats, "vbroadcastss", ADD_TO_EXPONENT)
LOOP(three_operations, "vpbroadcastd", "")

static void additions(void) {
  long loops = LOOPS;
  __asm__ volatile("1:\n .rept 100\n add $1, %%rax\n .endr\n dec %0\n jnz 1b" : "+r"(loops)::"rax");
}

static const struct {
  const char *what;
  void (*run)(void);
} loops[] = {
    {"100 dependent additions", additions},
    {"multiply, add to the exponent, truncate, add", four_operations},
    {"the same, the row's elements by vbroadcastss", as_floats},
    {"multiply, truncate, add", three_operations},
};

enum { COUNT = sizeof loops / sizeof loops[0] };

static double seconds_of(void (*run)(void)) {
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  run();
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

int main(void) {
  double least[COUNT];
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < COUNT; i++) {
      const double seconds = seconds_of(loops[i].run);
      if (round == 0 || seconds < least[i]) least[i] = seconds;
    }
  for (int i = 1; i < COUNT; i++) printf("%6.1f cycles: %s\n", 100 * least[i] / least[0], loops[i].what);
  return 0;
}
