/* Products for which every kernel must give the core's bits. Does not use a test framework, so that it also runs
   in an emulator, and with kernels that were mutated on purpose. */
#ifndef SOFTMMA_TESTS_KERNEL_CHECK_H
#define SOFTMMA_TESTS_KERNEL_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softmma/softmma.h"

/* Upper bounds on the number of operations, families and kernels. */
enum { MOST_OPERATIONS = 1024, MOST_FAMILIES = 24, MOST_KERNELS = 8 };

/* Lists one instruction for each distinct operation, in the catalogue's order. Returns the number of operations. */
size_t kernel_operations(const smma_instruction *list[MOST_OPERATIONS]);

/* Returns the name of the family: the algorithm, and the parameters that determine which code of a kernel computes it,
   such as "T-FDPA F=13" or "FMA f64". */
const char *kernel_family_name(const smma_instruction *instruction);

/* Number of products that a run compared, for each family and kernel. Operations that a kernel leaves to the core do
   not count. */
typedef struct {
  size_t families, kernels;
  const char *family[MOST_FAMILIES], *kernel[MOST_KERNELS];
  size_t outputs[MOST_FAMILIES][MOST_KERNELS];
  size_t wrong_products;
} kernel_counts;

typedef struct {
  const char *family, *kernel; /* NULL: all; a kernel may be a device */
  size_t outputs;              /* minimum number of elements with random themes, for each family */
  size_t aimed;                /* number of additional aimed products (THEME_AIMED) */
  uint64_t first;              /* number of the round; each round has other products */
  bool few;                    /* only the first operation of each family */
  size_t part, parts;          /* if parts is not 0: only families part, part + parts, part + 2 parts ... */
} kernel_amount;

/* Lists the kernels of this CPU, the core last; or only the wanted kernel, which may be a device. Returns their number.
 */
size_t kernel_names(const char *wanted, const char *names[MOST_KERNELS]);

/* Compares products of every operation with the core: every theme of operands in each family, any layout and option,
   one thread and sometimes two. The first mismatch of a family is described on standard error and ends that family. */
void kernel_check(const kernel_amount *amount, kernel_counts *counts);

void kernel_print_counts(const kernel_counts *counts);

/* Compares the product of an instruction and a seed. Returns true if every kernel, or the named kernel, agrees with the
   core. Sets `*outputs` to the number of elements of D. */
bool kernel_check_product(const smma_instruction *instruction, uint64_t seed, const char *kernel, size_t *outputs);

/* The kernel and the number of threads of a product. */
typedef struct {
  const char *kernel;
  int threads;
} kernel_run;

/* Computes the FNV-1a digest of D for operands of every theme; digest[r] belongs to runs[r], and is 0 after an error.
   Digests are the same on every machine. */
void kernel_digests(const smma_instruction *instruction, const kernel_run *runs, size_t count, uint64_t *digest);

/* Compares the digests of a file (lines of architecture, instruction and digest, one for each of kernel_operations)
   with those of `runs`. Prints each difference on standard error. Compares the first operation of each family, and of
   the other operations every `every`-th. */
bool kernel_check_digests(const char *path, const kernel_run *runs, size_t count, size_t every);

/* Compares the products that a file lists, for every kernel or the named kernel. Its lines have architecture,
   instruction and seed, like the arguments of `kernel_program replay`. These products reveal mistakes that hardly any
   other product reveals. */
bool kernel_check_products(const char *path, const char *kernel);

#endif
