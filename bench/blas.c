#include "bench/blas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values of CBLAS's enumerations. */
enum { ROW_MAJOR = 101, NOT_TRANSPOSED = 111 };

static const char *const usual_names[] = {"libopenblas.so.0", "libopenblasp.so.0", "libopenblas.so",
                                          "libopenblas.dylib"};

static void *open_library(const char *path, smma_error *error) {
  void *library = NULL;
  if (path) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) smma_fail(error, "%s", dlerror());
    return library;
  }
  for (size_t i = 0; i < sizeof usual_names / sizeof usual_names[0] && !library; i++)
    library = dlopen(usual_names[i], RTLD_NOW | RTLD_LOCAL);
  if (!library) smma_fail(error, "OpenBLAS is not installed (Debian and Ubuntu: apt install libopenblas0-pthread)");
  return library;
}

/* Writes the symbol's address to `function`, a pointer to a function. */
static bool find(void *library, const char *path, const char *name, void *function, smma_error *error) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol || smma_fail(error, "%s: no %s in it, so this is no OpenBLAS with its C interface", path, name);
}

bool smma_blas_load(const char *path, const char *core_type, int threads, smma_blas *blas, smma_error *error) {
  char *(*kernel)(void), *(*configuration)(void);
  void (*set_threads)(int);
  const char *name = path ? path : "the OpenBLAS of this system";
  void *library;
  if (core_type)
    setenv("OPENBLAS_CORETYPE", core_type, 0); /* OpenBLAS reads this variable only while it is being loaded */
  library = open_library(path, error);
  if (!library) return false;
  if (!find(library, name, "cblas_sgemm", &blas->sgemm, error) ||
      !find(library, name, "cblas_dgemm", &blas->dgemm, error) ||
      !find(library, name, "openblas_get_corename", &kernel, error) ||
      !find(library, name, "openblas_get_config", &configuration, error) ||
      !find(library, name, "openblas_set_num_threads", &set_threads, error))
    return false;
  if (strstr(configuration(), "USE64BITINT"))
    return smma_fail(error, "%s: this OpenBLAS takes 64-bit sizes, and one with 32-bit ones is needed", name);
  if (sscanf(configuration(), "OpenBLAS %31s", blas->version) != 1) strcpy(blas->version, "of unknown version");
  snprintf(blas->kernel, sizeof blas->kernel, "%s", kernel());
  set_threads(threads);
  return true;
}

void smma_blas_multiply(const smma_blas *blas, bool wide, size_t m, size_t n, size_t k, const void *a, const void *b,
                        void *c) {
  int rows = (int)m, columns = (int)n, depth = (int)k;
  if (wide)
    blas->dgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, rows, columns, depth, 1, a, depth, b, columns, 0, c,
                columns);
  else
    blas->sgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, rows, columns, depth, 1, a, depth, b, columns, 0, c,
                columns);
}
