/* The matrix cores of an AMD GPU as a unit: v_mfma of CDNA 1 to 3.

   A wavefront of 64 lanes executes one instruction, which multiplies one or more blocks, pairs of matrices with M = N.
   M / 2 rows of the batch belong to a block. Its columns of B hold their operands twice, turned by a number of places;
   so do its rows of A, turned by another. Element (m, n) is of use where both are the same row's: at four places for
   each row, and all four results must be the same. From tile to tile the places change, so that every element serves.

   Registers are laid out as AMD's Matrix Instruction Calculator (github.com/ROCm/amd_matrix_instruction_calculator,
   class InstCalcGfx9) has it for all three architectures, with CBSZ, ABID and BLGP zero:

   A lane holds L = blocks M K / 64 consecutive elements of a row of A: those of row m of block b from k on are in lane
   m + M (b + blocks (k / L)). So are those of column n of B, with n for m.

   C and D consist of segments: H rows of M columns, H = 4 in 32 bits and 1 in FP64, with a lane for each column and an
   item (a register, in FP64 two) for each row. Segment s of a block has its rows from H s on. With M = 4, that of block
   b is in the lanes from 4 (b + blocks s) on. Else it is in the lanes from M (s % P) on, P = 64 / M, and in the items
   from H (s / P) on; the items of a block follow those of the one before.

   Nothing of ROCm's device library is used. */
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "softmma/unit.h"

namespace {

/* ---- Targets ---- */

enum target : unsigned { GFX908 = 1, GFX90A = 2, GFX942 = 4 };

/* What is being compiled for. */
#if defined(__gfx908__)
constexpr unsigned TARGET = GFX908;
#elif defined(__gfx90a__)
constexpr unsigned TARGET = GFX90A;
#elif defined(__gfx942__)
constexpr unsigned TARGET = GFX942;
#else
constexpr unsigned TARGET = 0; /* the host */
#endif

/* ---- The instructions, one struct each ---- */

template <class T, int COUNT>
struct vector_of {
  typedef T type __attribute__((ext_vector_type(COUNT)));
};

template <class T>
struct vector_of<T, 1> {
  using type = T;
};

template <class T>
struct bits_of;

template <>
struct bits_of<float> {
  using type = uint32_t;
};

template <>
struct bits_of<int> {
  using type = uint32_t;
};

template <>
struct bits_of<double> {
  using type = uint64_t;
};

#define SMMA_MFMA(builtin, cdna3, targets, m, blocks, operand_type, operand_count, c)          \
  struct builtin {                                                                             \
    static constexpr unsigned TARGETS = targets;                                               \
    static constexpr int M = m, BLOCKS = blocks;                                               \
    static constexpr int PARTS = 64 / (m * blocks);        /* of a row of A, in a lane each */ \
    static constexpr int ITEMS = m * m * blocks / 64;      /* of C in a lane */                \
    static constexpr int SEGMENT = sizeof(c) == 4 ? 4 : 1; /* rows */                          \
    using operand = vector_of<operand_type, operand_count>::type;                              \
    using accumulators = vector_of<c, ITEMS>::type;                                            \
    using element = bits_of<c>::type;                                                          \
    static __device__ accumulators run(operand a, operand b, accumulators x) {                 \
      return __builtin_amdgcn_mfma_##builtin(a, b, x, 0, 0, 0);                                \
    }                                                                                          \
  };
#include "mfma.def"
#undef SMMA_MFMA

/* An element of C and D: its block, row and column. */
struct place {
  int block, m, n;
};

template <class I>
__device__ place place_of(int lane, int item) {
  const int n = lane % I::M, group = lane / I::M;
  if constexpr (I::M == 4) {
    return {group % I::BLOCKS, group / I::BLOCKS * I::SEGMENT + item, n};
  } else {
    constexpr int ITEMS = I::ITEMS / I::BLOCKS, P = 64 / I::M;
    const int segment = item % ITEMS / I::SEGMENT * P + group;
    return {item / ITEMS, segment * I::SEGMENT + item % I::SEGMENT, n};
  }
}

/* ---- One tile a wavefront ---- */

constexpr int PLACES = 4; /* of the same row in a tile */

/* Writes PLACES results a row. */
template <class I>
__global__ __launch_bounds__(64) void compute(size_t rows, const typename I::operand *a, const typename I::operand *b,
                                              const typename I::element *c, typename I::element *d) {
  if constexpr ((I::TARGETS & TARGET) != 0) {
    constexpr int ROWS = I::M / 2; /* of the batch, in a block */
    const int lane = (int)__builtin_amdgcn_workitem_id_x();
    const size_t tile = __builtin_amdgcn_workgroup_id_x();
    const int turn_a = (int)(tile % ROWS), turn_b = (int)(tile / ROWS % ROWS);
    auto row_at = [&](int block, int position) {
      return (tile * I::BLOCKS + (size_t)block) * ROWS + (size_t)(position % ROWS);
    };
    auto present = [&](size_t row) { return row < rows ? row : rows - 1; }; /* behind the batch, its last row again */
    const int block = lane / I::M % I::BLOCKS, part = lane / (I::M * I::BLOCKS);
    const size_t row_a = present(row_at(block, lane % I::M + turn_a));
    const size_t row_b = present(row_at(block, lane % I::M + turn_b));
    typename I::accumulators x;
    typename I::element elements[I::ITEMS];
    static_assert(sizeof x == sizeof elements);
    for (int i = 0; i < I::ITEMS; i++) {
      const place p = place_of<I>(lane, i);
      const size_t row = row_at(p.block, p.m + turn_a);
      elements[i] = row == row_at(p.block, p.n + turn_b) ? c[present(row)] : 0;
    }
    __builtin_memcpy(&x, elements, sizeof x);
    x = I::run(a[row_a * I::PARTS + part], b[row_b * I::PARTS + part], x);
    __builtin_memcpy(elements, &x, sizeof x);
    for (int i = 0; i < I::ITEMS; i++) {
      const place p = place_of<I>(lane, i);
      const size_t row = row_at(p.block, p.m + turn_a);
      if (row == row_at(p.block, p.n + turn_b) && row < rows)
        d[PLACES * row + 2 * (p.m / ROWS) + p.n / ROWS] = elements[i];
    }
  }
}

/* ---- The unit ---- */

struct device_unit {
  hipDeviceProp_t properties;
  int runtime;
};

using launcher = void(size_t rows, const void *a, const void *b, const void *c, void *d);

template <class I>
void launch(size_t rows, const void *a, const void *b, const void *c, void *d) {
  using operand = typename I::operand;
  using element = typename I::element;
  const size_t tile = I::BLOCKS * I::M / 2, tiles = (rows + tile - 1) / tile;
  hipLaunchKernelGGL(compute<I>, dim3((unsigned)tiles), dim3(64), 0, nullptr, rows, static_cast<const operand *>(a),
                     static_cast<const operand *>(b), static_cast<const element *>(c), static_cast<element *>(d));
}

struct wrapper {
  const char *name, *cdna3;
  unsigned targets;
  size_t row, element; /* bytes of a row of A, and of an element of C */
  launcher *run;
};

const wrapper wrappers[] = {
#define SMMA_MFMA(builtin, cdna3, targets, ...)                                                    \
  {"v_mfma_" #builtin,       "v_mfma_" #cdna3, targets, builtin::PARTS * sizeof(builtin::operand), \
   sizeof(builtin::element), launch<builtin>},
#include "mfma.def"
#undef SMMA_MFMA
};

struct architecture {
  target is;
  const char *processor, *name; /* the compiler's and the catalogue's */
};

const architecture architectures[] = {
    {GFX908, "gfx908", "cdna1"},
    {GFX90A, "gfx90a", "cdna2"},
    {GFX942, "gfx942", "cdna3"},
};

/* gcnArchName is a processor, and behind a colon what is switched on. */
const architecture *architecture_of(const device_unit *u) {
  const char *name = u->properties.gcnArchName;
  const size_t length = strcspn(name, ":");
  for (const architecture &a : architectures)
    if (strlen(a.processor) == length && strncmp(a.processor, name, length) == 0) return &a;
  return nullptr;
}

int fail(char *message, size_t size, const char *what, hipError_t error) {
  snprintf(message, size, "%s: %s", what, hipGetErrorString(error));
  return 1;
}

int hip_open(const char *arguments, void **unit, char *message, size_t size) {
  int device = 0, count = 0;
  char rest;
  hipError_t error = hipGetDeviceCount(&count);
  if (error != hipSuccess) return fail(message, size, "no usable AMD GPU", error);
  if (arguments && sscanf(arguments, "%d%c", &device, &rest) != 1) {
    snprintf(message, size, "'%.40s' is no number of a GPU; there are %d, from 0 on", arguments, count);
    return 1;
  }
  if (device < 0 || device >= count) {
    snprintf(message, size, "there is no GPU %d; there are %d, from 0 on", device, count);
    return 1;
  }
  device_unit *u = new device_unit{};
  error = hipSetDevice(device);
  if (error == hipSuccess) error = hipGetDeviceProperties(&u->properties, device);
  if (error == hipSuccess) error = hipRuntimeGetVersion(&u->runtime);
  if (error != hipSuccess) {
    delete u;
    return fail(message, size, "the GPU cannot be used", error);
  }
  *unit = u;
  return 0;
}

void hip_close(void *unit) { delete static_cast<device_unit *>(unit); }

void hip_describe(void *unit, smma_unit_description *description) {
  const device_unit *u = static_cast<device_unit *>(unit);
  snprintf(description->device, sizeof description->device, "%.80s (%.40s)", u->properties.name,
           u->properties.gcnArchName);
  snprintf(description->driver, sizeof description->driver, "HIP runtime %d.%d.%d", u->runtime / 10000000,
           u->runtime / 100000 % 100, u->runtime % 100000);
  snprintf(description->toolkit, sizeof description->toolkit, "HIP %d.%d, clang %d.%d.%d", HIP_VERSION_MAJOR,
           HIP_VERSION_MINOR, __clang_major__, __clang_minor__, __clang_patchlevel__);
}

const wrapper *find(const device_unit *u, const smma_instruction_info *i) {
  const architecture *a = architecture_of(u);
  if (!a || strcmp(a->name, i->arch) != 0) return nullptr;
  for (const wrapper &w : wrappers)
    if ((w.targets & a->is) && strcmp(a->is == GFX942 ? w.cdna3 : w.name, i->name) == 0) return &w;
  return nullptr;
}

int hip_computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  const device_unit *u = static_cast<device_unit *>(unit);
  const architecture *a = architecture_of(u);
  if (find(u, i)) return 0;
  if (!a)
    snprintf(message, size, "the device is of an architecture that is not modelled, %.40s", u->properties.gcnArchName);
  else if (strcmp(a->name, i->arch) != 0)
    snprintf(message, size, "the device is of the architecture %s", a->name);
  else
    snprintf(message, size, "this module does not have it");
  return 1;
}

/* Device memory that is freed with the scope. */
struct memory {
  void *at = nullptr;
  ~memory() { (void)hipFree(at); }
  hipError_t take(const void *from, size_t bytes) {
    hipError_t error = hipMalloc(&at, bytes);
    return error == hipSuccess && from ? hipMemcpy(at, from, bytes, hipMemcpyHostToDevice) : error;
  }
};

int hip_run(void *unit, const smma_instruction_info *i, const smma_batch *batch, char *message, size_t size) {
  const wrapper *w = find(static_cast<device_unit *>(unit), i);
  const size_t rows = batch->rows;
  std::vector<unsigned char> results(rows * PLACES * w->element);
  size_t unlike = 0;
  memory a, b, c, d;
  hipError_t error = a.take(batch->a, rows * w->row);
  if (error == hipSuccess) error = b.take(batch->b, rows * w->row);
  if (error == hipSuccess) error = c.take(batch->c, rows * w->element);
  if (error == hipSuccess) error = d.take(nullptr, results.size());
  if (error != hipSuccess) return fail(message, size, "memory of the GPU", error);
  w->run(rows, a.at, b.at, c.at, d.at);
  error = hipGetLastError();
  if (error == hipSuccess) error = hipMemcpy(results.data(), d.at, results.size(), hipMemcpyDeviceToHost);
  if (error != hipSuccess) return fail(message, size, "the GPU failed", error);
  for (size_t row = 0; row < rows; row++) {
    const unsigned char *first = &results[row * PLACES * w->element];
    memcpy(static_cast<unsigned char *>(batch->d) + row * w->element, first, w->element);
    /* All are the same if each is as the one before. */
    if (memcmp(first, first + w->element, (PLACES - 1) * w->element) != 0) unlike++;
  }
  if (unlike == 0) return 0;
  snprintf(message, size, "%zu results were not the same at all places of one tile", unlike);
  return 1;
}

const smma_unit_methods methods = {SMMA_UNIT_ABI, hip_open, hip_close, hip_describe, hip_computes, hip_run};

}  // namespace

extern "C" const smma_unit_methods *softmma_unit(void);
extern "C" const smma_unit_methods *softmma_unit(void) { return &methods; }
