#include "device/cuda/compile.h"

#include <dlfcn.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/constant.h"

/* The kernels' source, embedded by the build. */
static const char core_source[] = {
#include "device_source_core.inc"
};
static const char rows_source[] = {
#include "device_source_rows.inc"
};

/* The functions of NVRTC: X(member of `nvrtc`, function, its parameters). */
#define FUNCTIONS(X)                                                                             \
  X(create, nvrtcCreateProgram,                                                                  \
    (nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *)) \
  X(compile, nvrtcCompileProgram, (nvrtcProgram, int, const char *const *))                      \
  X(destroy, nvrtcDestroyProgram, (nvrtcProgram *))                                              \
  X(log_size, nvrtcGetProgramLogSize, (nvrtcProgram, size_t *))                                  \
  X(log, nvrtcGetProgramLog, (nvrtcProgram, char *))                                             \
  X(code_size, nvrtcGetCUBINSize, (nvrtcProgram, size_t *))                                      \
  X(code, nvrtcGetCUBIN, (nvrtcProgram, char *))

static struct {
#define X(member, symbol, parameters) nvrtcResult(*member) parameters;
  FUNCTIONS(X)
#undef X
} nvrtc;

bool smma_cuda_has_compiler(void) {
  static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  static bool loaded;
  void *library = NULL, *found;
  if (loaded) return true;
  for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
#define X(member, symbol, parameters)          \
  found = dlsym(library, #symbol);             \
  memcpy(&nvrtc.member, &found, sizeof found); \
  if (!found) return dlclose(library), false;
  FUNCTIONS(X)
#undef X
  return loaded = true;
}

/* Reports whether the core's kernel must be compiled for an operation: no other kernel computes it, or its K is longer
   than the kernels compiled ahead support. */
static bool is_of_core(const smma_operation *o) {
  const smma_algorithm algorithm = o->rule.algorithm;
  return o->k > SMMA_MAXIMUM_ROUNDED_K || algorithm == SMMA_COMPOSITION || algorithm == SMMA_C_FDPA ||
         algorithm == SMMA_GD_FDPA;
}

smma_cuda_part smma_cuda_part_of(const char *kernel, const smma_operation *o) {
  static const char *const of_rows[] = {"smma_kernel_generate", "smma_kernel_rows", "smma_kernel_compare"};
  for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++)
    if (strcmp(kernel, of_rows[i]) == 0) return SMMA_CUDA_ROWS;
  return is_of_core(o) && strcmp(kernel, "smma_kernel_core") == 0 ? SMMA_CUDA_CORE : SMMA_CUDA_PARTS;
}

static char *text_of(nvrtcProgram program, nvrtcResult (*size_of)(nvrtcProgram, size_t *),
                     nvrtcResult (*get)(nvrtcProgram, char *)) {
  size_t size = 0;
  char *text = size_of(program, &size) == NVRTC_SUCCESS ? malloc(size + 1) : NULL;
  if (text && get(program, text) == NVRTC_SUCCESS) return text;
  free(text);
  return NULL;
}

void *smma_cuda_compile(smma_cuda_part part, const smma_operation *operation, int major, int minor, char **log) {
  char words[SMMA_OPERATION_TEXT], constant[SMMA_OPERATION_TEXT + 40], algorithm[60], is_g_fdpa[60], k[40], target[40];
  const char *options[] = {
      constant, algorithm, is_g_fdpa, k, target, "--std=c++17", "--disable-warnings", "--ptxas-options=-v"};
  nvrtcProgram program;
  void *code = NULL;
  if (!smma_cuda_has_compiler()) return NULL;
  smma_print_operation(operation, words);
  snprintf(constant, sizeof constant, "-DSMMA_OPERATION_WORDS=%s", words);
  snprintf(algorithm, sizeof algorithm, "-DSMMA_OPERATION_ALGORITHM=%d", (int)operation->rule.algorithm);
  snprintf(is_g_fdpa, sizeof is_g_fdpa, "-DSMMA_OPERATION_IS_G_FDPA=%d", smma_is_short_g_fdpa(operation));
  snprintf(k, sizeof k, "-DSMMA_OPERATION_K=%d", smma_most_nodes(operation));
  snprintf(target, sizeof target, "--gpu-architecture=sm_%d%d", major, minor);
  if (nvrtc.create(&program, part == SMMA_CUDA_ROWS ? rows_source : core_source, "kernels", 0, NULL, NULL) !=
      NVRTC_SUCCESS)
    return NULL;
  if (nvrtc.compile(program, log ? 8 : 7, options) == NVRTC_SUCCESS)
    code = text_of(program, nvrtc.code_size, nvrtc.code);
  if (log) *log = text_of(program, nvrtc.log_size, nvrtc.log);
  nvrtc.destroy(&program);
  return code;
}
