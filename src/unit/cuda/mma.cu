/* The tensor cores of an NVIDIA GPU as a unit: mma.sync from compute capability 7.5 on.

   A warp computes a tile of M x 8 elements for 8 rows of the batch. Columns of B hold these rows' operands, turned by a
   number of places; so do rows of A, turned by another, a second time below if M is 16. Element (m, n) is of use where
   both are the same row's. From tile to tile the places change, so that every element of a tile serves, and where M is
   16 every result is computed at two places and must be the same at both.

   Fragments are laid out as in the PTX ISA, "Matrix Fragments for mma.m16n8kK": with g = lane / 4, t = lane % 4 and E
   elements in a register, register r of A holds row g + 8 (r % 2) (M = 8: row g) and k from 4 E (r / 2) + E t on,
   register r of B column g and k from 4 E r + E t on; accumulator i is element (g + 8 (i / 2), 2 t + i % 2). */
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "softmma/unit.h"

namespace {

/* ---- Registers ---- */

/* A register of operands: 32 bits of elements, or one f64. */
template <int BYTES>
struct operand_register {
  using type = uint32_t;
  static __device__ type load(const unsigned char *row, int k) {
    type bits = 0;
    for (int byte = 0; byte < 4; byte++) bits |= (type)row[k * BYTES + byte] << 8 * byte;
    return bits;
  }
};

template <>
struct operand_register<8> {
  using type = double;
  static __device__ type load(const unsigned char *row, int k) { return reinterpret_cast<const double *>(row)[k]; }
};

/* The accumulators of one thread: `count` elements, of which FP16 has two in a register. */
struct f32_accumulators {
  using element = uint32_t;
  float d[4];
  __device__ void set(int i, element bits) { d[i] = __uint_as_float(bits); }
  __device__ element get(int i) const { return __float_as_uint(d[i]); }
};

struct f16_accumulators {
  using element = uint16_t;
  uint32_t d[2];
  __device__ void set(int i, element bits) {
    d[i / 2] = i % 2 ? (d[i / 2] & 0xffff) | (uint32_t)bits << 16 : (d[i / 2] & 0xffff0000) | bits;
  }
  __device__ element get(int i) const { return (element)(d[i / 2] >> (i % 2 ? 16 : 0)); }
};

struct f64_accumulators {
  using element = unsigned long long;
  double d[4];
  __device__ void set(int i, element bits) { d[i] = __longlong_as_double((long long)bits); }
  __device__ element get(int i) const { return (element)__double_as_longlong(d[i]); }
};

/* ---- The instructions, one struct each: struct f32_f16_16 { M, K, BYTES, A, B; run } ---- */

#define TEXT(x) #x
#define NAME(m, n, k, output, a, b) \
  "mma.m" TEXT(m) "n" TEXT(n) "k" TEXT(k) "." TEXT(output) "." TEXT(a) "." TEXT(b) "." TEXT(output)
#define PTX(m, n, k, output, a, b)                                                                                \
  "mma.sync.aligned.m" TEXT(m) "n" TEXT(n) "k" TEXT(k) ".row.col." TEXT(output) "." TEXT(a) "." TEXT(b) "." TEXT( \
      output) " "

/* Operands of the assembler's line: accumulators, then registers of A and of B. */
#define ASSEMBLE_f32_4_2(ptx, x, a, b)                                     \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+f"((x)[0]), "+f"((x)[1]), "+f"((x)[2]), "+f"((x)[3])    \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
#define ASSEMBLE_f32_2_1(ptx, x, a, b)                                  \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"       \
               : "+f"((x)[0]), "+f"((x)[1]), "+f"((x)[2]), "+f"((x)[3]) \
               : "r"((a)[0]), "r"((a)[1]), "r"((b)[0]))
#define ASSEMBLE_f16_4_2(ptx, x, a, b)                         \
  asm volatile(ptx "{%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" \
               : "+r"((x)[0]), "+r"((x)[1])                    \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
#define ASSEMBLE_f16_2_1(ptx, x, a, b)                \
  asm volatile(ptx "{%0,%1}, {%2,%3}, {%4}, {%0,%1};" \
               : "+r"((x)[0]), "+r"((x)[1])           \
               : "r"((a)[0]), "r"((a)[1]), "r"((b)[0]))
#define ASSEMBLE_f64_1_1(ptx, x, a, b) \
  asm volatile(ptx "{%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"((x)[0]), "+d"((x)[1]) : "d"((a)[0]), "d"((b)[0]))
#define ASSEMBLE_f64_2_1(ptx, x, a, b)                                  \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"       \
               : "+d"((x)[0]), "+d"((x)[1]), "+d"((x)[2]), "+d"((x)[3]) \
               : "d"((a)[0]), "d"((a)[1]), "d"((b)[0]))
#define ASSEMBLE_f64_4_2(ptx, x, a, b)                                     \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+d"((x)[0]), "+d"((x)[1]), "+d"((x)[2]), "+d"((x)[3])    \
               : "d"((a)[0]), "d"((a)[1]), "d"((a)[2]), "d"((a)[3]), "d"((b)[0]), "d"((b)[1]))
#define ASSEMBLE_f64_8_4(ptx, x, a, b)                                                                      \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"          \
               : "+d"((x)[0]), "+d"((x)[1]), "+d"((x)[2]), "+d"((x)[3])                                     \
               : "d"((a)[0]), "d"((a)[1]), "d"((a)[2]), "d"((a)[3]), "d"((a)[4]), "d"((a)[5]), "d"((a)[6]), \
                 "d"((a)[7]), "d"((b)[0]), "d"((b)[1]), "d"((b)[2]), "d"((b)[3]))

#define SMMA_MMA(id, m, n, k, output, a, b, capability, bytes, registers_a, registers_b)          \
  struct id {                                                                                     \
    static constexpr int M = m, K = k, BYTES = bytes, A = registers_a, B = registers_b;           \
    using accumulators = output##_accumulators;                                                   \
    using registers = typename operand_register<bytes>::type;                                     \
    static __device__ void run(accumulators &x, const registers *ra, const registers *rb) {       \
      ASSEMBLE_##output##_##registers_a##_##registers_b(PTX(m, n, k, output, a, b), x.d, ra, rb); \
    }                                                                                             \
  };
#include "mma.def"
#undef SMMA_MMA

/* ---- One tile a warp ---- */

/* `unlike` counts results that were not the same at both places of a tile. */
template <class I, int CAPABILITY>
__global__ void compute(size_t rows, const unsigned char *a, const unsigned char *b,
                        const typename I::accumulators::element *c, typename I::accumulators::element *d,
                        unsigned *unlike) {
#if defined(__CUDA_ARCH__)
  if constexpr (__CUDA_ARCH__ >= CAPABILITY * 10) {
    using operands = operand_register<I::BYTES>;
    constexpr int E = I::BYTES == 8 ? 1 : 4 / I::BYTES, COUNT = I::M / 4;
    const int lane = (int)(threadIdx.x % 32), g = lane / 4, t = lane % 4;
    const size_t tile = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32, first = tile * 8;
    const int turn_a = (int)(tile % 8), turn_b = (int)(tile / 8 % 8);
    typename operands::type ra[I::A], rb[I::B];
    typename I::accumulators x = {};
    if (first >= rows) return;     /* a whole warp */
    auto row_at = [&](int place) { /* behind the batch, its last row again */
                                   const size_t row = first + (size_t)(place % 8);
                                   return row < rows ? row : rows - 1;
    };
    for (int r = 0; r < I::A; r++) {
      const int block = I::M == 16 ? r / 2 : r; /* rows g and g + 8 hold the same row of the batch */
      ra[r] = operands::load(a + row_at(g + turn_a) * I::K * I::BYTES, 4 * E * block + E * t);
    }
    for (int r = 0; r < I::B; r++) rb[r] = operands::load(b + row_at(g + turn_b) * I::K * I::BYTES, 4 * E * r + E * t);
    for (int i = 0; i < COUNT; i++) {
      const int n = 2 * t + i % 2;
      x.set(i, (g + turn_a) % 8 == (n + turn_b) % 8 ? c[row_at(g + turn_a)] : 0);
    }
    I::run(x, ra, rb);
    for (int i = 0; i < 2; i++) {
      const int n = 2 * t + i, place = (g + turn_a) % 8;
      if (place != (n + turn_b) % 8 || first + (size_t)place >= rows) continue;
      d[first + (size_t)place] = x.get(i);
      if (COUNT == 4 && x.get(i) != x.get(i + 2)) atomicAdd(unlike, 1);
    }
  }
#endif
}

/* ---- The unit ---- */

struct device_unit {
  cudaDeviceProp properties;
  int driver, runtime;
};

using launcher = void(size_t rows, const void *a, const void *b, const void *c, void *d, unsigned *unlike);

template <class I, int CAPABILITY>
void launch(size_t rows, const void *a, const void *b, const void *c, void *d, unsigned *unlike) {
  using element = typename I::accumulators::element;
  const unsigned warps = 8;
  const size_t tiles = (rows + 7) / 8;
  compute<I, CAPABILITY><<<(unsigned)((tiles + warps - 1) / warps), warps * 32>>>(
      rows, static_cast<const unsigned char *>(a), static_cast<const unsigned char *>(b),
      static_cast<const element *>(c), static_cast<element *>(d), unlike);
}

struct wrapper {
  const char *name;
  int capability;
  launcher *run;
};

const wrapper wrappers[] = {
#define SMMA_MMA(id, m, n, k, output, a, b, capability, ...) \
  {NAME(m, n, k, output, a, b), capability, launch<id, capability>},
#include "mma.def"
#undef SMMA_MMA
};

/* The catalogue's name of a device's architecture. */
const char *architecture_of(int major, int minor) {
  switch (major * 10 + minor) {
    case 75: return "turing";
    case 80:
    case 86:
    case 87: return "ampere";
    case 89: return "ada";
    case 90: return "hopper";
    case 100:
    case 103: return "blackwell";
    case 120:
    case 121: return "rtx-blackwell";
    default: return nullptr;
  }
}

int fail(char *message, size_t size, const char *what, cudaError_t error) {
  snprintf(message, size, "%s: %s", what, cudaGetErrorString(error));
  return 1;
}

int cuda_open(const char *arguments, void **unit, char *message, size_t size) {
  int device = 0, count = 0;
  char rest;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return fail(message, size, "no usable NVIDIA GPU", error);
  if (arguments && sscanf(arguments, "%d%c", &device, &rest) != 1) {
    snprintf(message, size, "'%.40s' is no number of a GPU; there are %d, from 0 on", arguments, count);
    return 1;
  }
  if (device < 0 || device >= count) {
    snprintf(message, size, "there is no GPU %d; there are %d, from 0 on", device, count);
    return 1;
  }
  device_unit *u = new device_unit{};
  error = cudaSetDevice(device);
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&u->properties, device);
  if (error == cudaSuccess) error = cudaDriverGetVersion(&u->driver);
  if (error == cudaSuccess) error = cudaRuntimeGetVersion(&u->runtime);
  if (error != cudaSuccess) {
    delete u;
    return fail(message, size, "the GPU cannot be used", error);
  }
  *unit = u;
  return 0;
}

void cuda_close(void *unit) { delete static_cast<device_unit *>(unit); }

void cuda_describe(void *unit, smma_unit_description *description) {
  const device_unit *u = static_cast<device_unit *>(unit);
  snprintf(description->device, sizeof description->device, "%s", u->properties.name);
  snprintf(description->driver, sizeof description->driver, "driver for CUDA %d.%d", u->driver / 1000,
           u->driver % 1000 / 10);
  snprintf(description->toolkit, sizeof description->toolkit, "CUDA %d.%d", u->runtime / 1000, u->runtime % 1000 / 10);
}

const wrapper *find(const device_unit *u, const smma_instruction_info *i) {
  const char *architecture = architecture_of(u->properties.major, u->properties.minor);
  if (!architecture || strcmp(architecture, i->arch) != 0) return nullptr;
  for (const wrapper &w : wrappers)
    if (strcmp(w.name, i->name) == 0 && u->properties.major * 10 + u->properties.minor >= w.capability) return &w;
  return nullptr;
}

int cuda_computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  const device_unit *u = static_cast<device_unit *>(unit);
  const char *architecture = architecture_of(u->properties.major, u->properties.minor);
  if (find(u, i)) return 0;
  if (!architecture || strcmp(architecture, i->arch) != 0)
    snprintf(message, size, "the device is %s %s",
             architecture ? "of the architecture" : "of one that is not modelled,",
             architecture ? architecture : u->properties.name);
  else
    snprintf(message, size, "this module has mma.sync with dense operands only");
  return 1;
}

/* Device memory that is freed with the scope. */
struct memory {
  void *at = nullptr;
  ~memory() { cudaFree(at); }
  cudaError_t take(const void *from, size_t bytes) {
    cudaError_t error = cudaMalloc(&at, bytes);
    return error == cudaSuccess && from ? cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice) : error;
  }
};

int cuda_run(void *unit, const smma_instruction_info *i, const smma_unit_batch *batch, char *message, size_t size) {
  const wrapper *w = find(static_cast<device_unit *>(unit), i);
  const auto bytes = [](smma_format f) -> size_t {
    return f == SMMA_F64 ? 8 : f == SMMA_F32 || f == SMMA_TF32 ? 4 : f == SMMA_F16 || f == SMMA_BF16 ? 2 : 1;
  };
  const size_t k = (size_t)i->k, rows = batch->rows;
  unsigned unlike = 0;
  memory a, b, c, d, count;
  cudaError_t error = a.take(batch->a, rows * k * bytes(i->a));
  if (error == cudaSuccess) error = b.take(batch->b, rows * k * bytes(i->b));
  if (error == cudaSuccess) error = c.take(batch->c, rows * bytes(i->c));
  if (error == cudaSuccess) error = d.take(nullptr, rows * bytes(i->d));
  if (error == cudaSuccess) error = count.take(&unlike, sizeof unlike);
  if (error != cudaSuccess) return fail(message, size, "memory of the GPU", error);
  w->run(rows, a.at, b.at, c.at, d.at, static_cast<unsigned *>(count.at));
  error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaMemcpy(batch->d, d.at, rows * bytes(i->d), cudaMemcpyDeviceToHost);
  if (error == cudaSuccess) error = cudaMemcpy(&unlike, count.at, sizeof unlike, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) return fail(message, size, "the GPU failed", error);
  if (unlike == 0) return 0;
  snprintf(message, size, "%u results were not the same at two places of one tile", unlike);
  return 1;
}

const smma_unit_methods methods = {SMMA_UNIT_ABI, cuda_open, cuda_close, cuda_describe, cuda_computes, cuda_run};

}  // namespace

extern "C" const smma_unit_methods *softmma_unit(void);
extern "C" const smma_unit_methods *softmma_unit(void) { return &methods; }
