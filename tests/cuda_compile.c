/* Compiles rows, and the core of custom units, with NVRTC for an operation. Only the kernel that generates rows may use
   local memory. Status 77 without NVRTC.
   Usage: cuda_compile TARGET... (75, 90) */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/compile.h"

#define FORMATS(x, c_and_d) .a = x, .b = x, .c = c_and_d, .d = c_and_d, .scale = SMMA_NO_FORMAT

#define LONG_CUT \
  { .offset = SMMA_NONE, .least = SMMA_NONE, .zero_exponent = SMMA_NONE, .bits = 112, .drop = SMMA_NONE }
#define LONG                                                                                                         \
  {                                                                                                                  \
    .take = 16, .turn = 16, .window = 16, .chains = -2147483647, .stride = -2147483647, .descending = INT_MIN,       \
    .reference = SMMA_NONE, .term = LONG_CUT, .accumulator = LONG_CUT, .width = SMMA_NONE, .narrow_bits = SMMA_NONE, \
    .narrow_subnormals = INT_MIN, .output = SMMA_F32, .early_underflow = INT_MIN, .reference_multiple = 1,           \
    .least_reference = SMMA_NONE                                                                                     \
  }

/* One chain of 16 products with c, and a sticky bit below 25 other bits. */
#define STICKY_CUT                                                                                    \
  {                                                                                                   \
    .least = SMMA_NONE, .zero_exponent = SMMA_NO_EXPONENT, .bits = 26, .rounding = SMMA_ROUND_TO_ODD, \
    .drop = SMMA_NONE                                                                                 \
  }
#define STICKY                                                                                                      \
  {                                                                                                                 \
    .take = 16, .turn = 16, .window = 16, .join = SMMA_JOIN_CHAIN, .start = SMMA_START_C, .chains = 1, .stride = 1, \
    .reference = SMMA_NONE, .term = STICKY_CUT, .accumulator = STICKY_CUT, .width = SMMA_NONE,                      \
    .narrow_bits = SMMA_NONE, .narrow_subnormals = 1, .output = SMMA_F32, .reference_multiple = 1,                  \
    .least_reference = SMMA_NONE                                                                                    \
  }

#define WHOLE_PRODUCTS                                                                                          \
  .widen = SMMA_NO_FORMAT, .product_limit = SMMA_NONE, .slices_b = 1, .block_rounding = SMMA_ROUND_TOWARD_ZERO, \
  .phases = 1, .zero_product = SMMA_OWN_EXPONENT

static const struct {
  const char *name;
  smma_operation operation;
} cases[] = {
    {"T-FDPA of Hopper, K = 16",
     {.rule = {SMMA_T_FDPA, SMMA_NAN_ALL_ONES, {.t_fdpa = {25, 16, -133, SMMA_F32, SMMA_ROUND_TOWARD_ZERO}}},
      FORMATS(SMMA_F16, SMMA_F32),
      .k = 16}},
    {"T-FDPA of Hopper, K = 32",
     {.rule = {SMMA_T_FDPA, SMMA_NAN_ALL_ONES, {.t_fdpa = {13, 32, -133, SMMA_E8M13, SMMA_ROUND_TOWARD_ZERO}}},
      FORMATS(SMMA_E4M3, SMMA_F32),
      .k = 32}},
    {"TR-FDPA, K = 16",
     {.rule = {SMMA_TR_FDPA, SMMA_NAN_QUIET, {.tr_fdpa = {24, 31, 8, 2}}}, FORMATS(SMMA_BF16, SMMA_F32), .k = 16}},
    {"G-FDPA, K = 16",
     {.rule = {SMMA_COMPOSITION, SMMA_NAN_QUIET, {.composition = {WHOLE_PRODUCTS, .steps = 1, .step = {STICKY}}}},
      FORMATS(SMMA_F16, SMMA_F32),
      .k = 16}},
    {"C-FDPA, K = 16",
     {.rule = {SMMA_C_FDPA,
               SMMA_NAN_QUIET,
               {.c_fdpa = {.alignment_bits = 24, .c_bits = 24, .block = 2, .stride = 1, .output = SMMA_F32}}},
      FORMATS(SMMA_F16, SMMA_F32),
      .k = 16}},
    {"a composition whose words are long, K = 16",
     {.rule = {SMMA_COMPOSITION,
               SMMA_NAN_QUIET,
               {.composition = {WHOLE_PRODUCTS, .steps = SMMA_MAXIMUM_STEPS,
                                .step = {LONG, LONG, LONG, LONG, LONG, LONG}}}},
      FORMATS(SMMA_F16, SMMA_F32),
      .k = 16}},
};

static bool is_sticky(size_t i) { return strncmp(cases[i].name, "G-FDPA", 6) == 0; }

/* Reports whether the core computes products of this operation. */
static bool is_of_core(const smma_operation *o) { return smma_cuda_part_of("smma_kernel_core", o) == SMMA_CUDA_CORE; }

/* Prints the compiler's message about a kernel. Returns whether the kernel uses no stack. */
static bool report(const char *target, const char *name, const char *log, const char *kernel) {
  char begin[80];
  const char *at, *stack, *used;
  snprintf(begin, sizeof begin, "entry function '%s'", kernel);
  at = strstr(log, begin);
  stack = at ? strstr(at, " bytes stack frame") : NULL;
  used = stack ? strstr(stack, "Used ") : NULL;
  if (!used) return printf("FAILED  sm_%s %s: nothing of %s in: %s\n", target, name, kernel, log), false;
  while (stack[-1] >= '0' && stack[-1] <= '9') stack--;
  printf("sm_%s %s: %s: %.*s; %.*s\n", target, name, kernel, (int)strcspn(stack, "\n,"), stack,
         (int)strcspn(used, "\n,"), used);
  return *stack == '0';
}

/* Returns the number of failures. */
static int check(const char *target, size_t i, smma_cuda_part part) {
  const int number = atoi(target);
  char *log = NULL;
  void *code = smma_cuda_compile(part, &cases[i].operation, number / 10, number % 10, &log);
  int wrong = 0;
  if (!code) {
    printf("FAILED  sm_%s %s: %s\n", target, cases[i].name, log ? log : "no NVRTC");
    wrong++;
  } else if (part == SMMA_CUDA_CORE) {
    report(target, cases[i].name, log, "smma_kernel_core");
  } else {
    report(target, cases[i].name, log, "smma_kernel_generate");
    const smma_algorithm algorithm = cases[i].operation.rule.algorithm;
    const bool must = cases[i].operation.k == 16 && (algorithm == SMMA_T_FDPA || is_sticky(i));
    wrong += !report(target, cases[i].name, log, "smma_kernel_rows") && must;
    wrong += !report(target, cases[i].name, log, "smma_kernel_compare") && must;
  }
  free(code);
  free(log);
  return wrong;
}

int main(int argc, char **argv) {
  const bool few = argc > 1 && strcmp(argv[1], "--few") == 0;
  int wrong = 0;
  if (!smma_cuda_has_compiler()) return puts("SKIPPED: there is no NVRTC"), 77;
  for (int t = 1 + few; t < argc; t++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      const bool of_core = is_of_core(&cases[i].operation);
      if (!few || is_sticky(i)) wrong += check(argv[t], i, SMMA_CUDA_ROWS);
      if (!few && of_core) wrong += check(argv[t], i, SMMA_CUDA_CORE);
    }
  return wrong > 0;
}
