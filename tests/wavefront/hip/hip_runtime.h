/* An emulator of the parts of HIP that src/unit/hip uses, on the CPU: a wavefront whose matrix instructions compute
   their models. EMULATED is the processor's name, "gfx942"; gfx950 has the models of CDNA 3 (gfx942).

   The register of an element is computed from its row and column, as by AMD's Matrix Instruction Calculator and, for A
   and B of WMMA, by AMD's emulator rocjitsu. The unit computes in the opposite direction. */
#ifndef SOFTMMA_TESTS_HIP_RUNTIME_H
#define SOFTMMA_TESTS_HIP_RUNTIME_H

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

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

constexpr bool IS_GFX950 = EMULATED[3] == '9' && EMULATED[4] == '5';

constexpr int MOST_LANES = 64;

/* State of a wavefront. A kernel runs twice in each lane: first up to its instruction, whose operands are collected,
   and then to its end with the results. */
struct wavefront {
  struct collected {};
  bool collecting, saturates; /* FP16_OVFL */
  int lanes, lane;
  unsigned tile;
  const smma_instruction *instruction; /* NULL if each lane computes separately */
  void (*compute)();
  int blocks;
  unsigned char a[MOST_LANES][32], b[MOST_LANES][32], c[MOST_LANES][128], d[MOST_LANES][128];
};

static wavefront wave;

static inline int __builtin_amdgcn_workitem_id_x() { return wave.lane; }
static inline unsigned __builtin_amdgcn_workgroup_id_x() { return wave.tile; }

struct location {
  int lane, item;
};

/* Returns the location of an element of A in row `i`, or of B in column `i`. */
static inline location locate_operand(int m, int k, int blocks, int block, int i, int at) {
  const int in_lane = k / (MOST_LANES / (m * blocks));
  return {block * m + at / in_lane * m * blocks + i, at % in_lane};
}

static inline location locate_result(int m, bool f64, int block, int i, int j) {
  const int height = f64 ? 1 : 4, segments = MOST_LANES / m, area = m * m / height;
  const int beside = area < MOST_LANES ? MOST_LANES / area : 1; /* number of blocks in one register */
  return {block % beside * m + i / height % segments * beside * m + j,
          block * (m * m / MOST_LANES) + i / (height * segments) * height + i % height};
}

static inline void compute_mfma() {
  smma_instruction_info info;
  unsigned char a[8 * MOST_LANES], b[8 * MOST_LANES];
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

/* Finds an instruction. Every lane must use the same one. */
static inline const smma_instruction *find(const std::string &name) {
  static std::string last;
  static const smma_instruction *found;
  if (name != last) last = name, found = smma_find(IS_GFX950 ? "gfx942" : EMULATED, name.c_str(), NULL);
  return found;
}

template <class operand, class accumulators>
accumulators execute(const char *name, void (*compute)(), operand a, operand b, accumulators x) {
  if (wave.collecting) {
    wave.instruction = find(name);
    wave.compute = compute;
    memcpy(wave.a[wave.lane], &a, sizeof a);
    memcpy(wave.b[wave.lane], &b, sizeof b);
    memcpy(wave.c[wave.lane], &x, sizeof x);
    throw wavefront::collected();
  }
  memcpy(&x, wave.d[wave.lane], sizeof x);
  return x;
}

#define SMMA_MFMA(builtin, cdna3, targets, m, of_blocks, ...)                                                          \
  template <class operand, class accumulators>                                                                         \
  accumulators __builtin_amdgcn_mfma_##builtin(operand a, operand b, accumulators x, int, int, int) {                  \
    wave.blocks = of_blocks;                                                                                           \
    return execute(strcmp(EMULATED, "gfx942") == 0 || IS_GFX950 ? "v_mfma_" #cdna3 : "v_mfma_" #builtin, compute_mfma, \
                   a, b, x);                                                                                           \
  }
#include "unit/hip/mfma.def"
#undef SMMA_MFMA

/* ---- WMMA and dot products ---- */

static inline void demand(bool met, const char *what) {
  if (met) return;
  fprintf(stderr, "the wavefront: %s\n", what);
  abort();
}

constexpr bool IS_GFX11 = EMULATED[4] == '1';

/* The location of an element. `slot` is its index among the elements of the operand in a lane. gfx11 has copies in all
   groups of 16 lanes; this is the first. */
struct wmma_location {
  int lane, slot;
};

static inline wmma_location locate_wmma_operand(int i, int k) {
  if (IS_GFX11) return {i, k};
  if (wave.lanes == 32) return {i + 16 * (k >> 3 & 1), (k >> 4) * 8 + k % 8};
  return {i + 16 * (k >> 2 & 1) + 32 * (k >> 3 & 1), k % 4};
}

static inline wmma_location locate_wmma_result(int i, int j, bool half) {
  if (IS_GFX11) return {16 * (i % (wave.lanes / 16)) + j, i / (wave.lanes / 16) * (half ? 2 : 1)};
  if (wave.lanes == 32) return {16 * (i / 8) + j, i % 8};
  return {32 * (i / 4 % 2) + 16 * (i / 8) + j, i % 4};
}

static inline void take_element(unsigned char *to, int index, const unsigned char *from, int slot, int bits) {
  if (bits == 16) memcpy(to + 2 * index, from + 2 * slot, 2);
  if (bits == 8) to[index] = from[slot];
  if (bits == 4) to[index] = from[slot / 2] >> slot % 2 * 4 & 15;
}

static inline void compute_wmma() {
  smma_instruction_info info;
  unsigned char a[64], b[64];
  smma_describe(wave.instruction, &info, sizeof info);
  const int bits_a = smma_format_bits(info.a), bits_b = smma_format_bits(info.b);
  const size_t output = smma_format_bytes(info.d);
  for (int lane = 16; lane < wave.lanes && IS_GFX11; lane++)
    demand(memcmp(wave.a[lane], wave.a[lane % 16], sizeof wave.a[lane]) == 0 &&
               memcmp(wave.b[lane], wave.b[lane % 16], sizeof wave.b[lane]) == 0,
           "gfx11 wants A and B in every 16 lanes");
  for (int element = 0; element < 256; element++) {
    const int i = element / 16, j = element % 16;
    const wmma_location at = locate_wmma_result(i, j, output == 2);
    for (int k = 0; k < info.k; k++) {
      const wmma_location of_a = locate_wmma_operand(i, k), of_b = locate_wmma_operand(j, k);
      take_element(a, k, wave.a[of_a.lane], of_a.slot, bits_a);
      take_element(b, k, wave.b[of_b.lane], of_b.slot, bits_b);
    }
    smma_dot(wave.instruction, a, b, wave.c[at.lane] + output * (size_t)at.slot, NULL, NULL,
             wave.d[at.lane] + output * (size_t)at.slot);
  }
}

static inline void __builtin_amdgcn_s_setreg(int where, unsigned value) {
  demand(where == (1 | 23 << 6) && value == 1, "of the mode's bits only FP16_OVFL is to be set");
  wave.saturates = true;
}

/* Returns the builtin's name without the parts that do not belong to the instruction's name. */
static inline std::string name_of(const char *builtin, bool half) {
  const std::string name = builtin;
  const size_t wave_size = name.find("_w" + std::to_string(wave.lanes));
  demand(wave_size != std::string::npos, "the builtin is for another wavefront");
  demand((name.find("_gfx12") == std::string::npos) == IS_GFX11, "the builtin is another target's");
  return "v_" + name.substr(0, wave_size) + (wave.lanes == 64 && !IS_GFX11 ? ".w64" : "") +
         (half && wave.saturates ? ".ovfl" : "");
}

#define WMMA_FLOATS(builtin)                                                                                 \
  template <class operand, class accumulators, class... select>                                              \
  accumulators __builtin_amdgcn_##builtin(operand a, operand b, accumulators x, select... upper) {           \
    demand((true && ... && !upper), "the lower halves are meant");                                           \
    return execute(name_of(#builtin, strncmp(#builtin, "wmma_f16", 8) == 0).c_str(), compute_wmma, a, b, x); \
  }
#define WMMA_INTEGERS(builtin, bits)                                                                                   \
  template <class operand, class accumulators>                                                                         \
  accumulators __builtin_amdgcn_##builtin(bool sign_a, operand a, bool sign_b, operand b, accumulators x,              \
                                          bool clamp) {                                                                \
    const std::string name = name_of(#builtin, false) + (sign_a ? ".s" : ".u") + bits + (sign_b ? ".s" : ".u") + bits; \
    return execute((name + (clamp ? ".clamp" : "")).c_str(), compute_wmma, a, b, x);                                   \
  }
WMMA_FLOATS(wmma_f32_16x16x16_f16_w32)
WMMA_FLOATS(wmma_f32_16x16x16_bf16_w32)
WMMA_FLOATS(wmma_f16_16x16x16_f16_w32)
WMMA_FLOATS(wmma_bf16_16x16x16_bf16_w32)
WMMA_INTEGERS(wmma_i32_16x16x16_iu8_w32, "8")
WMMA_INTEGERS(wmma_i32_16x16x16_iu4_w32, "4")
#define GFX12_FLOATS(builtin) WMMA_FLOATS(builtin##_w32_gfx12) WMMA_FLOATS(builtin##_w64_gfx12)
GFX12_FLOATS(wmma_f32_16x16x16_f16)
GFX12_FLOATS(wmma_f32_16x16x16_bf16)
GFX12_FLOATS(wmma_f16_16x16x16_f16)
GFX12_FLOATS(wmma_bf16_16x16x16_bf16)
GFX12_FLOATS(wmma_f32_16x16x16_fp8_fp8)
GFX12_FLOATS(wmma_f32_16x16x16_fp8_bf8)
GFX12_FLOATS(wmma_f32_16x16x16_bf8_fp8)
GFX12_FLOATS(wmma_f32_16x16x16_bf8_bf8)
WMMA_INTEGERS(wmma_i32_16x16x16_iu8_w32_gfx12, "8")
WMMA_INTEGERS(wmma_i32_16x16x16_iu4_w32_gfx12, "4")
WMMA_INTEGERS(wmma_i32_16x16x32_iu4_w32_gfx12, "4")

template <class operand, class accumulator>
accumulator compute_dot(const char *name, operand a, operand b, accumulator x, bool clamp) {
  accumulator d;
  demand(!clamp, "no clamp is meant");
  smma_dot(find(name), &a, &b, &x, NULL, NULL, &d);
  return d;
}

#define RDNA_DOT(builtin, name)                                                                     \
  template <class operand, class accumulator>                                                       \
  accumulator __builtin_amdgcn_##builtin(operand a, operand b, accumulator x, bool clamp = false) { \
    return compute_dot(name, a, b, x, clamp);                                                       \
  }
RDNA_DOT(fdot2, "v_dot2_f32_f16")
RDNA_DOT(fdot2_f32_bf16, "v_dot2_f32_bf16")
RDNA_DOT(fdot2_f16_f16, wave.saturates ? "v_dot2_f16_f16.ovfl" : "v_dot2_f16_f16")
RDNA_DOT(fdot2_bf16_bf16, "v_dot2_bf16_bf16")
RDNA_DOT(dot4_f32_fp8_fp8, "v_dot4_f32_fp8_fp8")
RDNA_DOT(dot4_f32_fp8_bf8, "v_dot4_f32_fp8_bf8")
RDNA_DOT(dot4_f32_bf8_fp8, "v_dot4_f32_bf8_fp8")
RDNA_DOT(dot4_f32_bf8_bf8, "v_dot4_f32_bf8_bf8")

/* ---- Kernels ---- */

template <class kernel>
void run_lanes(bool collecting, kernel run) {
  wave.collecting = collecting;
  for (wave.lane = 0; wave.lane < wave.lanes; wave.lane++) {
    wave.saturates = false;
    try {
      run();
    } catch (wavefront::collected) {
    }
  }
}

template <class kernel>
void run_tiles(unsigned tiles, unsigned lanes, kernel run) {
  wave.lanes = (int)lanes;
  for (wave.tile = 0; wave.tile < tiles; wave.tile++) {
    wave.instruction = NULL;
    run_lanes(true, run);
    if (!wave.instruction) continue;
    wave.compute();
    run_lanes(false, run);
  }
}

struct dim3 {
  unsigned x;
  explicit dim3(unsigned count) : x(count) {}
};

#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \
  run_tiles((grid).x, (block).x, [&] { kernel(__VA_ARGS__); })

#endif
