/* Chooses, for an operation, the fastest kernel that this CPU can run, and the kernel's family for the operation. */
#include <string.h>

#include "gemm/kernel.h"

#define SMMA_KERNEL(name) extern const smma_kernel smma_kernel_##name;
#include "gemm/kernels.def"
#undef SMMA_KERNEL

const smma_kernel *const smma_kernels[] = {
#define SMMA_KERNEL(name) &smma_kernel_##name,
#include "gemm/kernels.def"
#undef SMMA_KERNEL
    NULL};

const char *smma_kernel_name(size_t index) {
  const smma_kernel *const *k = smma_kernels;
  for (; *k; k++)
    if ((*k)->usable() && index-- == 0) return (*k)->name;
  return index == 0 ? "core" : NULL;
}

/* Returns the kernel of this name, or the fastest one if `name` is NULL, among those that this CPU can run. Returns
   NULL if there is none. */
static const smma_kernel *kernel_of(const char *name) {
  const smma_kernel *const *k = smma_kernels;
  while (*k && !((*k)->usable() && (!name || strcmp(name, (*k)->name) == 0))) k++;
  return *k;
}

/* Returns the first family of a NULL-terminated list that accepts the operation, or NULL. No family accepts formats of
   custom units that are not usual. */
static const smma_kernel_family *first_that_takes(const smma_operation *operation, const smma_kernel_family *const *f) {
  if (!smma_has_usual_formats(operation)) return NULL;
  while (*f && !(*f)->takes(operation)) f++;
  return *f;
}

bool smma_choose_kernel(const smma_operation *operation, const char *name, const smma_kernel_family **family,
                        const char **kernel) {
  const smma_kernel *k;
  *family = NULL;
  *kernel = "core";
  if (name && strcmp(name, "core") == 0) return true;
  k = kernel_of(name);
  if (!k) return !name;
  *family = first_that_takes(operation, k->families);
  if (*family) *kernel = k->name;
  return true;
}

const smma_kernel_family *smma_few_family(const smma_operation *operation, const char *name) {
  const smma_kernel *k = kernel_of(name);
  return k ? first_that_takes(operation, k->few) : NULL;
}

const smma_kernel_family *smma_small_family(const smma_operation *operation, const char *name) {
  const smma_kernel *k = kernel_of(name);
  return k ? first_that_takes(operation, k->small) : NULL;
}
