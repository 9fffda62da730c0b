/* Products on which every kernel must give the core's bits. Without a test framework: it also runs where there is none,
   under an emulator, and against kernels that were broken on purpose. */
#ifndef SOFTMMA_TESTS_KERNEL_CHECK_H
#define SOFTMMA_TESTS_KERNEL_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softmma/softmma.h"

/* The most operations, families and kernels that there may be. */
enum { MOST_OPERATIONS = 1024, MOST_FAMILIES = 24, MOST_KERNELS = 8 };

/* An instruction of each distinct operation of the catalogue, in its order. Returns how many. */
size_t kernel_operations(const smma_instruction *list[MOST_OPERATIONS]);

/* The algorithm, with what decides how it is computed fast: "T-FDPA F=13", "FMA f64". */
const char *kernel_family_name(const smma_instruction *instruction);

/* What a run compared: products of each family by each kernel that is not the core there. */
typedef struct {
  size_t families, kernels;
  const char *family[MOST_FAMILIES], *kernel[MOST_KERNELS];
  size_t outputs[MOST_FAMILIES][MOST_KERNELS];
  size_t wrong_products;
} kernel_counts;

typedef struct {
  const char *family, *kernel; /* NULL: every one; a kernel may be a device, too */
  size_t outputs;              /* of random themes, at least, of each family */
  size_t aimed;                /* of aimed products besides (THEME_AIMED) */
  uint64_t first;              /* round: another one takes other products */
  bool few;                    /* the first operation of each family stands for all */
} kernel_amount;

/* The kernels of this CPU, the core last, or the one that is wanted, which may be a device. Returns how many. */
size_t kernel_names(const char *wanted, const char *names[MOST_KERNELS]);

/* Compares products of every operation with the core: every theme of operands in each family, any layout and option,
   one thread and now and then two. A family ends with its first wrong product, which is described on standard error. */
void kernel_check(const kernel_amount *amount, kernel_counts *counts);

void kernel_print_counts(const kernel_counts *counts);

/* One of these products: true if every kernel (or the one named) agrees. `*outputs` receives its elements. */
bool kernel_check_product(const smma_instruction *instruction, uint64_t seed, const char *kernel, size_t *outputs);

/* How a product is computed. */
typedef struct {
  const char *kernel;
  int threads;
} kernel_run;

/* FNV-1a of D for operands of every theme, the same on every machine: digest[r] for runs[r], 0 if something went wrong.
 */
void kernel_digests(const smma_instruction *instruction, const kernel_run *runs, size_t count, uint64_t *digest);

/* Compares the digests of a file (lines of architecture, instruction and digest, one for each of kernel_operations)
   with those of `runs`; each difference is a line on standard error. Only the first of each family if `few`. */
bool kernel_check_digests(const char *path, const kernel_run *runs, size_t count, bool few);

/* Compares the products of a file (lines of architecture, instruction and seed, as `kernel_program replay` takes them)
   by every kernel, or the one named. They show mistakes that hardly any other product shows. */
bool kernel_check_products(const char *path, const char *kernel);

#endif
