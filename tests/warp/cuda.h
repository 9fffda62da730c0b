/* An emulator of the parts of CUDA that mma.sync, wgmma and tcgen05 in src/unit/cuda use, on the CPU: warps whose
   instructions compute their models. It replaces definitions of CUDA's compiler, assembly.h and tensor_memory.h.
   EMULATED is the architecture in the catalogue; EMULATED_CAPABILITY is the compute capability, for example 80.
   EMULATED_TARGET is the target of the machine code, if it is not the compute capability.

   The register of an element is computed from its row and column, by the figures of the PTX ISA. The unit computes in
   the opposite direction. */
#ifndef SOFTMMA_TESTS_WARP_H
#define SOFTMMA_TESTS_WARP_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "softmma/softmma.h"
#include "softmma/sparse.h"

#define SMMA_UNIT_CUDA_ASSEMBLY_H
#define __CUDACC__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 1
#ifndef EMULATED_TARGET
#define EMULATED_TARGET EMULATED_CAPABILITY
#endif
#define __CUDA_ARCH__ (EMULATED_TARGET * 10)
#define __global__
#define __device__
#define __host__
#define __noinline__
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(threads)

/* ---- The host's side ---- */

enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation, cudaErrorNoKernelImageForDevice };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };

struct cudaDeviceProp {
  char name[128];
  int major, minor;
};

static inline cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}

static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  strcpy(properties->name, "a warp on the CPU");
  properties->major = EMULATED_CAPABILITY / 10, properties->minor = EMULATED_CAPABILITY % 10;
  return cudaSuccess;
}

struct cudaFuncAttributes {
  int binaryVersion;
};

template <class kernel>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, kernel *) {
  attributes->binaryVersion = EMULATED_TARGET;
  return cudaSuccess;
}

static inline cudaError_t cudaDriverGetVersion(int *version) {
  *version = 0;
  return cudaSuccess;
}

static inline cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }

static inline cudaError_t cudaMalloc(void **at, size_t bytes) {
  *at = malloc(bytes);
  return *at ? cudaSuccess : cudaErrorMemoryAllocation;
}

static inline cudaError_t cudaFree(void *at) {
  free(at);
  return cudaSuccess;
}

static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
  memcpy(to, from, bytes);
  return cudaSuccess;
}

static inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
static inline cudaError_t cudaGetLastError() { return cudaSuccess; }
static inline const char *cudaGetErrorString(cudaError_t) { return "out of memory"; }

/* ---- The device's ---- */

struct position {
  unsigned x;
};
inline position threadIdx, blockIdx, blockDim, gridDim;

template <class TO, class FROM>
TO same_bits(FROM from) {
  TO to;
  static_assert(sizeof to == sizeof from);
  memcpy(&to, &from, sizeof to);
  return to;
}
static inline float __uint_as_float(uint32_t bits) { return same_bits<float>(bits); }
static inline uint32_t __float_as_uint(float x) { return same_bits<uint32_t>(x); }
static inline double __longlong_as_double(long long bits) { return same_bits<double>(bits); }
static inline long long __double_as_longlong(double x) { return same_bits<long long>(x); }
static inline void atomicAdd(unsigned *at, unsigned more) { *at += more; }

struct uint4 {
  uint32_t x, y, z, w;
};
static inline void __syncthreads() {} /* threads run one after another */
static inline void __syncwarp() {}
static inline void __trap() { abort(); }

enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
static inline cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
static inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int) {
  *value = 1 << 30; /* a large number, so that each block gets one tile */
  return cudaSuccess;
}

/* ---- Warps ---- */

constexpr int LANES = 32, MOST_THREADS = 256, IN_GROUP = 128;

/* Registers of one thread that hold A, B, or accumulators. */
struct registers {
  unsigned char bytes[64];
  int count;
  size_t size; /* bytes of one register */
};

struct operands {
  registers a, b, x;
  uint32_t metadata, scale_a, scale_b;
  uint64_t descriptor; /* descriptor of B in shared memory */
  uint32_t unlike;     /* result of wgmma's comparison */
};

/* State of a block. A kernel runs twice in each thread: first up to its instruction, whose operands are collected, and
   then to its end with the results. */
struct block_state {
  struct collected {};
  bool collecting;
  const smma_instruction *instruction;
  void (*compute)(operands *first);
  int width;              /* number of threads that compute one instruction */
  bool has[MOST_THREADS]; /* whether a thread reached the instruction */
  operands of[MOST_THREADS];
  const void *shared[4]; /* variables in shared memory */
};
inline block_state block;

static inline void demand(bool met, const char *what) {
  if (met) return;
  fprintf(stderr, "the emulator: %s\n", what);
  abort();
}

static inline uint64_t bits_at(const registers &r, int index, int bits) {
  uint64_t word = 0;
  const int in_register = (int)r.size * 8 / bits;
  demand(index / in_register < r.count, "there are fewer registers");
  memcpy(&word, r.bytes + r.size * (size_t)(index / in_register), r.size);
  return bits == 64 ? word : word >> index % in_register * bits & (((uint64_t)1 << bits) - 1);
}

/* Copies element `index` of a lane's registers to element k of `to`. In registers each element has `bits` bits. */
static inline void take(unsigned char *to, int k, const registers &r, int index, int bits, smma_format format) {
  const size_t bytes = smma_format_bytes(format);
  uint64_t element = bits_at(r, index, bits);
  if (format == SMMA_E2M1 && bits == 8) {
    demand((element & 0xc3) == 0, "FP4 stands in bits 2 to 5");
    element >>= 2;
  }
  memcpy(to + bytes * (size_t)k, &element, bytes);
}

struct place {
  int lane, index; /* index among the elements of the lane */
};

/* Returns the location of element k of row g of A or of column g of B. A register holds `e` elements. Four lanes hold
   consecutive elements of the row; the next elements are `step` registers further. */
static inline place locate_operand(int g, int k, int e, int step, int skipped) {
  return {4 * (g % 8) + k / e % 4, (k / (4 * e) * step + skipped) * e + k % e};
}

/* Returns the four metadata bits of a group of A. For elements of 8 or 4 bits and half of the largest K, the PTX ISA
   has only a figure. It does not show whether two threads have eight groups of one row each, or four groups of two rows
   each. So the metadata must be correct for both. */
static inline uint32_t metadata_of(const operands *warp, int row, int group, int groups, bool narrow) {
  const auto at = [=](int thread, int nibble) { return warp[4 * (row % 8) + thread].metadata >> 4 * nibble & 15; };
  const uint32_t by_halves = at(group / 4, 4 * (row / 8) + group % 4);
  if (groups == 16) return at(row / 8 + 2 * (group / 8), group % 8);
  demand(groups == 4 || groups == 8, "metadata of 4, 8 or 16 groups");
  if (groups == 8 && narrow) demand(at(row / 8, group) == by_halves, "metadata depends on who brings it");
  return by_halves;
}

/* Returns the row of B that is multiplied with stored element k of A, from the four bits of its group. */
static inline int selected_by(uint32_t code, int k, int group) {
  const int half = group / 2, in_group = k % half, begin = k / half * group;
  const int first = (int)(code & 3), second = (int)(code >> 2);
  demand(first < second, "positions ascend");
  if (group == 2) {
    demand(code == 0x4 || code == 0xe, "an index of TF32 is 0b0100 or 0b1110");
    return begin + first / 2;
  }
  if (group == 4) return begin + (in_group ? second : first);
  return begin + 2 * (in_group / 2 ? second : first) + in_group % 2;
}

static inline int selected(const operands *warp, int row, int k, int stored, int group, bool narrow) {
  return selected_by(metadata_of(warp, row, k / (group / 2), stored / (group / 2), narrow), k, group);
}

static inline void compute_mma(operands *warp) {
  smma_instruction_info info;
  unsigned char a[512], b[512], scale_a[4], scale_b[4];
  smma_describe(block.instruction, &info, sizeof info);
  const int m = info.m, k = info.k, group = smma_sparse_group(block.instruction), k_b = group ? 2 * k : k;
  const int bits_a = warp[0].a.count * (int)warp[0].a.size * 8 * LANES / (m * k);
  const int bits_b = warp[0].b.count * (int)warp[0].b.size * 8 * LANES / (8 * k_b);
  const int in_a = (int)warp[0].a.size * 8 / bits_a, in_b = (int)warp[0].b.size * 8 / bits_b;
  const size_t bytes = smma_format_bytes(info.d);
  for (int element = 0; element < m * 8; element++) {
    const int i = element / 8, j = element % 8, result = 4 * (i % 8) + j / 2;
    for (int s = 0; s < k; s++) {
      const place of_a = locate_operand(i, s, in_a, m / 8, i / 8);
      const place of_b = locate_operand(j, group ? selected(warp, i, s, k, group, bits_a <= 8) : s, in_b, 1, 0);
      take(a, s, warp[of_a.lane].a, of_a.index, bits_a, info.a);
      take(b, s, warp[of_b.lane].b, of_b.index, bits_b, info.b);
    }
    memcpy(scale_a, &warp[4 * (i % 8) + i / 8].scale_a, sizeof scale_a);
    memcpy(scale_b, &warp[4 * j].scale_b, sizeof scale_b);
    unsigned char *x = warp[result].x.bytes + bytes * (size_t)(2 * (i / 8) + j % 2);
    const bool scaled = info.scale_block;
    const smma_status status =
        smma_dot(block.instruction, a, b, x, scaled ? scale_a : NULL, scaled ? scale_b : NULL, x);
    demand(status == SMMA_OK, "the model refuses its operands");
  }
}

/* Returns the instruction that a line of PTX names by one of the catalogue's aliases. Every lane must use the same
   instruction. */
static inline const smma_instruction *find(std::string line) {
  static std::string last;
  static const smma_instruction *found;
  if (line == last) return found;
  last = line;
  const std::string mma = line.substr(0, line.find(".sync")), kind = ".kind::f8f6f4";
  const size_t at = line.find(kind + ".m16");
  if (at != std::string::npos) line.replace(at, kind.size(), ""), line.insert(line.find(".col") + 4, kind);
  const size_t scaled = line.find(".kind::mx");
  if (scaled != std::string::npos) {
    const size_t shape = line.find(".m16");
    const std::string qualifiers = line.substr(scaled, shape - scaled);
    line.erase(scaled, shape - scaled).insert(line.find(".col") + 4, qualifiers);
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  found = smma_find(EMULATED, line.c_str(), NULL);
  if (!found) fprintf(stderr, "the emulator: no instruction %s\n", line.c_str()), abort();
  return found;
}

/* Returns the operands of this thread to fill in; NULL if its results are available. */
static inline operands *collect(const std::string &ptx, void (*compute)(operands *), int width) {
  if (!block.collecting) return NULL;
  block.instruction = find(ptx), block.compute = compute, block.width = width;
  block.has[threadIdx.x] = true;
  return &block.of[threadIdx.x];
}

static inline void put(registers &r, const void *from, size_t size, int count) {
  r.count = count, r.size = size;
  memcpy(r.bytes, from, size * (size_t)count);
}

template <class X, size_t X_COUNT, class OPERAND>
void execute(const std::string &ptx, X (&x)[X_COUNT], const OPERAND *a, int a_count, const OPERAND *b, int b_count,
             uint32_t metadata = 0, uint32_t scale_a = 0, uint32_t scale_b = 0) {
  operands *o = collect(ptx, compute_mma, LANES);
  if (!o) {
    memcpy(x, block.of[threadIdx.x].x.bytes, sizeof x);
    return;
  }
  put(o->a, a, sizeof *a, a_count);
  put(o->b, b, sizeof *b, b_count);
  put(o->x, x, sizeof *x, (int)X_COUNT);
  o->metadata = metadata, o->scale_a = scale_a, o->scale_b = scale_b;
  throw block_state::collected();
}

#define ASSEMBLE_f32_4_2(ptx, x, a, b) execute(ptx, x, a, 4, b, 2)
#define ASSEMBLE_f32_2_1(ptx, x, a, b) execute(ptx, x, a, 2, b, 1)
#define ASSEMBLE_f16_4_2(ptx, x, a, b) execute(ptx, x, a, 4, b, 2)
#define ASSEMBLE_f16_2_1(ptx, x, a, b) execute(ptx, x, a, 2, b, 1)
#define ASSEMBLE_s32_4_2(ptx, x, a, b) execute(ptx, x, a, 4, b, 2)
#define ASSEMBLE_s32_2_1(ptx, x, a, b) execute(ptx, x, a, 2, b, 1)
#define ASSEMBLE_s32_1_1(ptx, x, a, b) execute(ptx, x, a, 1, b, 1)
#define ASSEMBLE_f64_1_1(ptx, x, a, b) execute(ptx, x, a, 1, b, 1)
#define ASSEMBLE_f64_2_1(ptx, x, a, b) execute(ptx, x, a, 2, b, 1)
#define ASSEMBLE_f64_4_2(ptx, x, a, b) execute(ptx, x, a, 4, b, 2)
#define ASSEMBLE_f64_8_4(ptx, x, a, b) execute(ptx, x, a, 8, b, 4)
#define ASSEMBLE_SP_f32_4_4(ptx, x, a, b, metadata) execute(ptx, x, a, 4, b, 4, metadata)
#define ASSEMBLE_SP_f32_2_2(ptx, x, a, b, metadata) execute(ptx, x, a, 2, b, 2, metadata)
#define ASSEMBLE_SP_f16_4_4(ptx, x, a, b, metadata) execute(ptx, x, a, 4, b, 4, metadata)
#define ASSEMBLE_SP_f16_2_2(ptx, x, a, b, metadata) execute(ptx, x, a, 2, b, 2, metadata)
#define ASSEMBLE_SP_s32_4_4(ptx, x, a, b, metadata) execute(ptx, x, a, 4, b, 4, metadata)
#define ASSEMBLE_SP_s32_2_2(ptx, x, a, b, metadata) execute(ptx, x, a, 2, b, 2, metadata)
#define PAIR(ptx, output, a, b) (std::string(ptx) + output "." + (a) + "." + (b) + "." output)
#define ASSEMBLE_PAIR_f32(ptx, x, a, b, name_a, name_b) execute(PAIR(ptx, "f32", name_a, name_b), x, a, 4, b, 2)
#define ASSEMBLE_PAIR_f16(ptx, x, a, b, name_a, name_b) execute(PAIR(ptx, "f16", name_a, name_b), x, a, 4, b, 2)
#define ASSEMBLE_PAIR_SP_f32(ptx, x, a, b, metadata, name_a, name_b) \
  execute(PAIR(ptx, "f32", name_a, name_b), x, a, 4, b, 4, metadata)
#define ASSEMBLE_PAIR_SP_f16(ptx, x, a, b, metadata, name_a, name_b) \
  execute(PAIR(ptx, "f16", name_a, name_b), x, a, 4, b, 4, metadata)
#define ASSEMBLE_SCALED(ptx, x, a, b, scale_a, scale_b) execute(ptx, x, a, 4, b, 2, 0, scale_a, scale_b)
#define ASSEMBLE_SCALED_PAIR(ptx, x, a, b, scale_a, scale_b, name_a, name_b) \
  execute(PAIR(ptx, "f32", name_a, name_b) + ".ue8m0", x, a, 4, b, 2, 0, scale_a, scale_b)

/* ---- wgmma ---- */

/* Distance between the addresses of two variables, as a power of two. */
constexpr int SLOT = 16;

static inline uint64_t __cvta_generic_to_shared(const void *at) {
  uint64_t slot = 0;
  while (slot < 4 && block.shared[slot] && block.shared[slot] != at) slot++;
  demand(slot < 4, "there are four variables in shared memory");
  block.shared[slot] = at;
  return slot << SLOT;
}

/* Returns byte number `byte` of row `row` of A, or of column `row` of B, in a matrix without swizzling. */
static inline const unsigned char *byte_of(uint64_t descriptor, int row, int byte) {
  const auto field = [descriptor](int bit) { return (size_t)(descriptor >> bit & 0x3fff) << 4; };
  const size_t inside = field(0) % ((size_t)1 << SLOT) + (size_t)(row / 8) * field(32) +
                        (size_t)(byte / 16) * field(16) + (size_t)(row % 8 * 16 + byte % 16);
  return (const unsigned char *)block.shared[field(0) >> SLOT] + inside;
}

#define SHOW_SHARED_MEMORY()

/* Computes wgmma. A thread's accumulators begin with `even` and `odd`; for FP16, with two accumulators in a register,
   all begin with `even`. `unlike` receives the bits in which a result differs from the first result of its parity. */
static inline void compute_wgmma(operands *threads) {
  smma_instruction_info info;
  unsigned char a[256], b[256];
  smma_describe(block.instruction, &info, sizeof info);
  const int k = info.k, group = smma_sparse_group(block.instruction), bits = 256 / k;
  const size_t bytes = smma_format_bytes(info.d);
  const uint64_t descriptor = threads[0].descriptor;
  for (int thread = 0; thread < IN_GROUP; thread++) {
    operands &o = threads[thread];
    const operands *warp = threads + thread / LANES * LANES;
    const int g = thread % LANES / 4, t = thread % 4;
    uint32_t first[2] = {0, 0}, unlike = 0;
    demand(o.descriptor == descriptor, "threads describe B alike");
    for (int i = 0; i < info.n / 2; i++) {
      const int row = g + i / 2 % 2 * 8, column = i / 4 * 8 + 2 * t + i % 2;
      uint32_t c = 0, d = 0;
      for (int s = 0; s < k; s++) {
        const place of_a = locate_operand(row, s, 32 / bits, 2, row / 8);
        const int byte = (group ? selected(warp, row, s, k, group, bits == 8) : s) * bits / 8;
        take(a, s, warp[of_a.lane].a, of_a.index, bits, info.a);
        memcpy(b + bits / 8 * s, byte_of(descriptor, column, byte), (size_t)bits / 8);
      }
      memcpy(&c, o.x.bytes + (bytes == 2 ? 2 : 4) * (i % 2), bytes);
      demand(smma_dot(block.instruction, a, b, &c, NULL, NULL, &d) == SMMA_OK, "the model refuses its operands");
      if (i < 2) first[i] = d;
      unlike |= d ^ first[i % 2];
    }
    if (bytes == 2) first[0] |= first[1] << 16;
    memcpy(o.b.bytes, first, sizeof first);
    o.unlike = unlike;
  }
}

static inline void execute_wgmma(const std::string &ptx, const std::string &others, const uint32_t *a, uint64_t b,
                                 uint32_t metadata, uint32_t &even, uint32_t &odd, uint32_t &unlike) {
  const uint32_t c[2] = {even, odd};
  const bool sparse = ptx.find(".sp.") != std::string::npos, integer = ptx.find(".s32.") != std::string::npos;
  const bool of_16_bits = ptx.find("f16.f16") != std::string::npos || ptx.find("bf16") != std::string::npos;
  demand(others == (std::string(sparse ? ", metadata, 0|" : "|") + (of_16_bits ? ", 1, 1, 0"
                                                                    : integer  ? ""
                                                                               : ", 1, 1")),
         "what stands behind the operands is the instruction's");
  operands *o = collect(ptx, compute_wgmma, IN_GROUP);
  if (!o) {
    const operands &of = block.of[threadIdx.x];
    memcpy(&even, of.b.bytes, sizeof even), memcpy(&odd, of.b.bytes + 4, sizeof odd), unlike = of.unlike;
    return;
  }
  put(o->a, a, sizeof *a, 4);
  put(o->x, c, sizeof *c, 2);
  o->metadata = metadata, o->descriptor = b;
  throw block_state::collected();
}

#define ASSEMBLE_WGMMA(ptx, d, a, b, metadata, with_metadata, with_others, even, odd, unlike)                \
  do {                                                                                                       \
    static_assert(sizeof d::initial > 1 && sizeof d::names > 1 && sizeof d::comparison > 1);                 \
    execute_wgmma(ptx, std::string(with_metadata) + "|" + (with_others), a, b, metadata, even, odd, unlike); \
  } while (0)

#include "tensor.h"

/* ---- Kernels ---- */

template <class kernel>
void run_threads(bool collecting, unsigned threads, kernel run) {
  block.collecting = collecting;
  for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++) {
    try {
      run();
    } catch (block_state::collected) {
    }
  }
}

template <class kernel>
void run_blocks(unsigned blocks, unsigned threads, kernel run) {
  blockDim.x = threads, gridDim.x = blocks;
  for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
    memset(block.has, 0, sizeof block.has);
    memset(block.shared, 0, sizeof block.shared);
    block.instruction = NULL;
    run_threads(true, threads, run);
    for (unsigned first = 0; first < threads && block.instruction; first += (unsigned)block.width) {
      bool all = true, any = false;
      for (int i = 0; i < block.width; i++)
        all &= block.has[first + (unsigned)i], any |= block.has[first + (unsigned)i];
      demand(all == any, "all threads come to the instruction");
      if (all) block.compute(&block.of[first]);
    }
    run_threads(false, threads, run);
  }
}

#define LAUNCH(kernel, blocks, threads, ...) run_blocks(blocks, threads, [&] { kernel(__VA_ARGS__); })

#endif
