/* Compares the kernels with the core, without a test framework.

       kernel_program check [--kernel NAME] [--family NAME] [--outputs N] [--aimed N]
                            [--products FILE] [--digests FILE] [--few 1] [--part N/PARTS]
                            [--mutant N]
       kernel_program replay ARCHITECTURE INSTRUCTION SEED [KERNEL]
       kernel_program digests

   `check` compares every family, or one, then the products and digests of files. With --outputs 0 it compares only the
   files; with --few 1 only one operation of each family, and with SOFTMMA_DIGESTS_EVERY=N the digests of every N-th
   operation and of the first one of each family. The status is 1 if there is a mismatch. A device ("opencl") is
   also a kernel; the status is 77 if it cannot be used.
   `replay` compares one product of `check`. `digests` prints the contents of tests/kernel_digests.txt, computed by the
   core. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "kernel_check.h"
#include "softmma/device.h"

/* Number of the mistake of tests/kernel_mutations.txt that a mutated kernel makes; 0: none. */
extern int smma_mutant;
int smma_mutant;

static int usage(void) {
  fprintf(stderr,
          "usage: kernel_program check [--kernel NAME] [--family NAME] [--outputs N] [--aimed N]\n"
          "                            [--products FILE] [--digests FILE] [--few 1] [--part N/PARTS]\n"
          "                            [--mutant N]\n"
          "       kernel_program replay ARCHITECTURE INSTRUCTION SEED [KERNEL]\n"
          "       kernel_program digests\n");
  return 2;
}

/* Compares digests for one kernel, or for each. */
static bool check_digests(const char *path, const char *kernel, bool few) {
  kernel_run runs[MOST_KERNELS];
  const char *names[MOST_KERNELS];
  const size_t count = kernel_names(kernel, names);
  for (size_t k = 0; k < count; k++) runs[k] = (kernel_run){names[k], 1};
  return kernel_check_digests(path, runs, count, few ? MOST_OPERATIONS : amount_of("SOFTMMA_DIGESTS_EVERY", 1));
}

/* Reports whether a kernel or device exists; otherwise prints that it is not checked. */
static bool is_usable(const char *kernel) {
  smma_error error = {SMMA_OK, ""};
  smma_device_info info;
  if (smma_kernel_for(smma_instruction_at(0), kernel, NULL)) return true;
  smma_device_describe(kernel, 0, &info, sizeof info, &error);
  fprintf(stderr, "SKIPPED: %s: %s; it is NOT checked\n", kernel, error.text);
  return false;
}

static int check(int count, char **option) {
  kernel_amount amount = {.outputs = amount_of("SOFTMMA_DEVICE_OUTPUTS", 100000), .first = seed_of(0) >> 12};
  kernel_counts counts;
  const char *products = NULL, *digests = NULL;
  for (int i = 0; i < count; i += 2) {
    if (i + 1 == count) return usage();
    if (strcmp(option[i], "--kernel") == 0)
      amount.kernel = option[i + 1];
    else if (strcmp(option[i], "--family") == 0)
      amount.family = option[i + 1];
    else if (strcmp(option[i], "--outputs") == 0)
      amount.outputs = strtoul(option[i + 1], NULL, 10);
    else if (strcmp(option[i], "--aimed") == 0)
      amount.aimed = strtoul(option[i + 1], NULL, 10);
    else if (strcmp(option[i], "--products") == 0)
      products = option[i + 1];
    else if (strcmp(option[i], "--digests") == 0)
      digests = option[i + 1];
    else if (strcmp(option[i], "--few") == 0)
      amount.few = atoi(option[i + 1]);
    else if (strcmp(option[i], "--part") == 0 && strchr(option[i + 1], '/')) {
      amount.part = strtoul(option[i + 1], NULL, 10) - 1;
      amount.parts = strtoul(strchr(option[i + 1], '/') + 1, NULL, 10);
      if (amount.part >= amount.parts) return usage();
    } else if (strcmp(option[i], "--mutant") == 0)
      smma_mutant = atoi(option[i + 1]);
    else
      return usage();
  }
  if (amount.kernel && !is_usable(amount.kernel)) return 77;
  if (products && !kernel_check_products(products, amount.kernel)) return 1;
  if (digests && !check_digests(digests, amount.kernel, amount.few)) return 1;
  if ((products || digests) && amount.outputs == 0) return 0;
  kernel_check(&amount, &counts);
  kernel_print_counts(&counts);
  return counts.wrong_products || counts.families == 0 || counts.kernels == 0;
}

static int replay(int count, char **argument) {
  smma_error error;
  const smma_instruction *i;
  size_t outputs;
  bool same;
  if (count < 3) return usage();
  i = smma_find(argument[0], argument[1], &error);
  if (!i) return fprintf(stderr, "%s\n", error.text), 2;
  same = kernel_check_product(i, strtoull(argument[2], NULL, 10), count > 3 ? argument[3] : NULL, &outputs);
  printf("%zu outputs: %s\n", outputs, same ? "same" : "different");
  return !same;
}

static int digests(void) {
  static const smma_instruction *list[MOST_OPERATIONS];
  size_t count = kernel_operations(list);
  for (size_t i = 0; i < count; i++) {
    smma_instruction_info info;
    uint64_t digest;
    smma_describe(list[i], &info, sizeof info);
    kernel_digests(list[i], &(kernel_run){"core", 1}, 1, &digest);
    printf("%s %s %016" PRIx64 "\n", info.arch, info.name, digest);
  }
  return 0;
}

int main(int count, char **argument) {
  if (count >= 2 && strcmp(argument[1], "check") == 0) return check(count - 2, argument + 2);
  if (count >= 2 && strcmp(argument[1], "replay") == 0) return replay(count - 2, argument + 2);
  if (count >= 2 && strcmp(argument[1], "digests") == 0) return digests();
  return usage();
}
