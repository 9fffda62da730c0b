/* HIP as far as src/unit/hip/mfma.hip needs it, on the CPU: a wavefront whose matrix instructions compute what their
   models do. EMULATED is the processor's name, "gfx942".

   Where an element is kept is computed from its row and column, as AMD's Matrix Instruction Calculator does; the unit
   goes the other way. */
#ifndef SOFTMMA_TESTS_HIP_RUNTIME_H
#define SOFTMMA_TESTS_HIP_RUNTIME_H

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "softmma/softmma.h"

#define __global__
#define __device__
#define __launch_bounds__(threads)
#define HIP_VERSION_MAJOR 0
#define HIP_VERSION_MINOR 0

/* ---- The host's side ---- */

enum hipError_t { hipSuccess, hipErrorOutOfMemory };
enum hipMemcpyKind { hipMemcpyHostToDevice, hipMemcpyDeviceToHost };

struct hipDeviceProp_t {
  char name[256], gcnArchName[256];
};

static inline hipError_t hipGetDeviceCount(int *count) {
  *count = 1;
  return hipSuccess;
}

static inline hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int) {
  strcpy(properties->name, "a wavefront on the CPU");
  strcpy(properties->gcnArchName, EMULATED ":sramecc+:xnack-");
  return hipSuccess;
}

static inline hipError_t hipRuntimeGetVersion(int *version) {
  *version = 0;
  return hipSuccess;
}

static inline hipError_t hipMalloc(void **at, size_t bytes) {
  *at = malloc(bytes);
  return *at ? hipSuccess : hipErrorOutOfMemory;
}

static inline hipError_t hipFree(void *at) {
  free(at);
  return hipSuccess;
}

static inline hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind) {
  memcpy(to, from, bytes);
  return hipSuccess;
}

static inline hipError_t hipSetDevice(int) { return hipSuccess; }
static inline hipError_t hipGetLastError() { return hipSuccess; }
static inline const char *hipGetErrorString(hipError_t) { return "out of memory"; }

/* ---- The wavefront ---- */

constexpr int LANES = 64;

/* A kernel runs twice in each lane: as far as its instruction, whose operands are collected, and then with results. */
struct wavefront {
  struct collected {};
  bool collecting;
  int lane;
  unsigned tile;
  const smma_instruction *instruction;
  int blocks;
  unsigned char a[LANES][8], b[LANES][8], c[LANES][128], d[LANES][128];
};

static wavefront wave;

static inline int __builtin_amdgcn_workitem_id_x() { return wave.lane; }
static inline unsigned __builtin_amdgcn_workgroup_id_x() { return wave.tile; }

struct location {
  int lane, item;
};

/* Of A with `i` a row, of B with `i` a column. */
static inline location locate_operand(int m, int k, int blocks, int block, int i, int at) {
  const int in_lane = k / (LANES / (m * blocks));
  return {block * m + at / in_lane * m * blocks + i, at % in_lane};
}

static inline location locate_result(int m, bool f64, int block, int i, int j) {
  const int height = f64 ? 1 : 4, segments = LANES / m, area = m * m / height;
  const int beside = area < LANES ? LANES / area : 1; /* blocks in one register */
  return {block % beside * m + i / height % segments * beside * m + j,
          block * (m * m / LANES) + i / (height * segments) * height + i % height};
}

static inline void compute_tile() {
  smma_instruction_info info;
  unsigned char a[8 * LANES], b[8 * LANES];
  smma_describe(wave.instruction, &info, sizeof info);
  const bool f64 = info.d == SMMA_F64;
  const size_t output = f64 ? 8 : 4;
  const size_t input = f64                                         ? 8
                       : info.a == SMMA_F32 || info.a == SMMA_TF32 ? 4
                       : info.a == SMMA_F16 || info.a == SMMA_BF16 ? 2
                                                                   : 1;
  for (int element = 0; element < wave.blocks * info.m * info.m; element++) {
    const int block = element / (info.m * info.m), i = element / info.m % info.m, j = element % info.m;
    const location at = locate_result(info.m, f64, block, i, j);
    for (int k = 0; k < info.k; k++) {
      const location of_a = locate_operand(info.m, info.k, wave.blocks, block, i, k);
      const location of_b = locate_operand(info.m, info.k, wave.blocks, block, j, k);
      memcpy(a + input * (size_t)k, wave.a[of_a.lane] + input * (size_t)of_a.item, input);
      memcpy(b + input * (size_t)k, wave.b[of_b.lane] + input * (size_t)of_b.item, input);
    }
    smma_dot(wave.instruction, a, b, wave.c[at.lane] + output * (size_t)at.item, NULL, NULL,
             wave.d[at.lane] + output * (size_t)at.item);
  }
}

template <class operand, class accumulators>
accumulators execute(const char *name, int blocks, operand a, operand b, accumulators x) {
  if (wave.collecting) {
    wave.instruction = smma_find(EMULATED, name);
    wave.blocks = blocks;
    memcpy(wave.a[wave.lane], &a, sizeof a);
    memcpy(wave.b[wave.lane], &b, sizeof b);
    memcpy(wave.c[wave.lane], &x, sizeof x);
    throw wavefront::collected();
  }
  memcpy(&x, wave.d[wave.lane], sizeof x);
  return x;
}

#define SMMA_MFMA(builtin, cdna3, targets, m, blocks, ...)                                                    \
  template <class operand, class accumulators>                                                                \
  accumulators __builtin_amdgcn_mfma_##builtin(operand a, operand b, accumulators x, int, int, int) {         \
    return execute(strcmp(EMULATED, "gfx942") == 0 ? "v_mfma_" #cdna3 : "v_mfma_" #builtin, blocks, a, b, x); \
  }
#include "unit/hip/mfma.def"
#undef SMMA_MFMA

template <class kernel>
void run_tiles(unsigned tiles, kernel run) {
  for (wave.tile = 0; wave.tile < tiles; wave.tile++) {
    wave.collecting = true;
    for (wave.lane = 0; wave.lane < LANES; wave.lane++) {
      try {
        run();
      } catch (wavefront::collected) {
      }
    }
    compute_tile();
    wave.collecting = false;
    for (wave.lane = 0; wave.lane < LANES; wave.lane++) run();
  }
}

struct dim3 {
  unsigned x;
  explicit dim3(unsigned count) : x(count) {}
};

#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) run_tiles((grid).x, [&] { kernel(__VA_ARGS__); })

#endif
