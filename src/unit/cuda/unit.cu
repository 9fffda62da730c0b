/* The tensor cores of an NVIDIA GPU as a unit. */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "family.h"

namespace {

using namespace cuda_unit;

struct device_unit {
  cudaDeviceProp properties;
  int driver, runtime;
  int compiled; /* target of the machine code that runs on the device, for example 80; at most capability() */
  int capability() const { return properties.major * 10 + properties.minor; }
};

/* Returns the catalogue's name of a device's architecture. */
const char *architecture_of(int capability) {
  switch (capability) {
    case 70:
    case 72: return "volta";
    case 75: return "turing";
    case 80:
    case 86:
    case 87: return "ampere";
    case 89: return "ada";
    case 90: return "hopper";
    case 100: return "blackwell";
    case 103: return "blackwell-ultra";
    case 101: /* 110 since CUDA 13 */
    case 110: return "thor";
    case 120:
    case 121: return "rtx-blackwell";
    default: return nullptr;
  }
}

int fail(char *message, size_t size, const char *what, cudaError_t error) {
  snprintf(message, size, "%s: %s", what, cudaGetErrorString(error));
  return 1;
}

/* Finds the number of a GPU, which is 0 if `text` is NULL. Reports whether there is a GPU with this number. */
bool choose_device(const char *text, int count, int *device, char *message, size_t size) {
  char *end;
  const long number = text ? strtol(text, &end, 10) : 0; /* numbers beyond its range become LONG_MIN or LONG_MAX */
  if (text && (end == text || *end))
    snprintf(message, size, "'%.40s' is no number of a GPU; there are %d, from 0 on", text, count);
  else if (number < 0 || number >= count)
    snprintf(message, size, "there is no GPU %.40s; there are %d, from 0 on", text ? text : "0", count);
  else
    return *device = (int)number, true;
  return false;
}

/* A kernel whose machine code has the same target as that of the families. */
__global__ void probe() {}

/* Finds the target of the machine code that the device runs. */
cudaError_t find_code(device_unit *u) {
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, probe);
  if (error == cudaSuccess) u->compiled = attributes.binaryVersion;
  return error;
}

int cuda_open(const char *arguments, void **unit, char *message, size_t size) {
  int device = 0, count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return fail(message, size, "no usable NVIDIA GPU", error);
  if (!choose_device(arguments, count, &device, message, size)) return 1;
  device_unit *u = new device_unit{};
  error = cudaSetDevice(device);
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&u->properties, device);
  if (error == cudaSuccess) error = cudaDriverGetVersion(&u->driver);
  if (error == cudaSuccess) error = cudaRuntimeGetVersion(&u->runtime);
  if (error == cudaSuccess) error = find_code(u);
  if (error != cudaSuccess) {
    if (error == cudaErrorNoKernelImageForDevice)
      snprintf(message, size, "no code for this GPU; build the module with -DSOFTMMA_CUDA_ARCHITECTURES=%d%s",
               u->capability(), u->capability() >= 90 ? "a" : "");
    else
      fail(message, size, "the GPU cannot be used", error);
    delete u;
    return 1;
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

using finder = launcher *(const smma_instruction_info &, int capability);

/* The families that the module was built with. Every family except dense mma.sync needs a target of its own. */
finder *const families[] = {
    find_mma,
#ifdef SMMA_CUDA_MMA_SP
    find_mma_sp,
#endif
#ifdef SMMA_CUDA_MMA_VOLTA
    find_mma_volta,
#endif
#ifdef SMMA_CUDA_MMA_NARROW
    find_mma_narrow,
#endif
#ifdef SMMA_CUDA_WGMMA
    find_wgmma,
#endif
#ifdef SMMA_CUDA_TCGEN05
    find_tcgen05,
#endif
};

launcher *find(const device_unit *u, const smma_instruction_info &i) {
  const char *architecture = architecture_of(u->capability());
  if (!architecture || strcmp(architecture, i.arch) != 0) return nullptr;
  for (auto family : families)
    if (launcher *run = family(i, u->compiled)) return run;
  return nullptr;
}

int cuda_computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  const device_unit *u = static_cast<device_unit *>(unit);
  const char *architecture = architecture_of(u->capability());
  if (find(u, *i)) return 0;
  if (!architecture)
    snprintf(message, size, "%s is of an architecture that is not modelled", u->properties.name);
  else if (strcmp(architecture, i->arch) != 0)
    snprintf(message, size, "the device is of the architecture %s", architecture);
  else if (u->compiled != u->capability())
    snprintf(message, size, "the module was built without it (for sm_%d, not sm_%d)", u->compiled, u->capability());
  else
    snprintf(message, size, "the module was built without it");
  return 1;
}

/* Device memory that the destructor frees. */
struct memory {
  unsigned char *at = nullptr;
  ~memory() { cudaFree(at); }
  cudaError_t take(const void *from, size_t bytes) {
    cudaError_t error = cudaMalloc(reinterpret_cast<void **>(&at), bytes);
    return error == cudaSuccess && from ? cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice) : error;
  }
};

int cuda_run(void *unit, const smma_instruction_info *i, const smma_batch *batch, char *message, size_t size) {
  const auto bytes = [](smma_format f) -> size_t {
    if (f == SMMA_F64) return 8;
    return f == SMMA_F32 || f == SMMA_TF32 || f == SMMA_S32 ? 4 : f == SMMA_F16 || f == SMMA_BF16 ? 2 : 1;
  };
  const size_t k = (size_t)i->k, rows = batch->rows, scales = i->scale_block ? k / (size_t)i->scale_block : 0;
  unsigned unlike = 0;
  memory a, b, c, d, scale_a, scale_b, count;
  cudaError_t error = a.take(batch->a, rows * k * bytes(i->a));
  if (error == cudaSuccess) error = b.take(batch->b, rows * k * bytes(i->b));
  if (error == cudaSuccess) error = c.take(batch->c, rows * bytes(i->c));
  if (error == cudaSuccess) error = d.take(nullptr, rows * bytes(i->d));
  if (error == cudaSuccess && scales) error = scale_a.take(batch->scale_a, rows * scales);
  if (error == cudaSuccess && scales) error = scale_b.take(batch->scale_b, rows * scales);
  if (error == cudaSuccess) error = count.take(&unlike, sizeof unlike);
  if (error != cudaSuccess) return fail(message, size, "memory of the GPU", error);
  find(static_cast<device_unit *>(unit), *i)(
      *i, {rows, a.at, b.at, c.at, scale_a.at, scale_b.at, d.at, reinterpret_cast<unsigned *>(count.at)});
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
