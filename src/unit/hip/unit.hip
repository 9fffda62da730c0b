/* The matrix cores of an AMD GPU as a unit: v_mfma of CDNA 1 to 4, WMMA and dot products of RDNA 3 and 4. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "softmma/unit.h"

/* The default wavefronts: 64 lanes on CDNA, 32 on RDNA. */
#define SMMA_WAVEFRONT usual
#define SMMA_LANES 32
#define SMMA_WMMA_ROWS "wmma.def"
#include "tile.h"

#include "mfma.h"
#include "wmma.h"
#undef SMMA_WAVEFRONT
#undef SMMA_LANES
#undef SMMA_WMMA_ROWS

/* The same functions, compiled for 64 lanes on RDNA, because code for 64 lanes can neither call nor inline functions
   for 32 lanes. */
#define SMMA_WAVEFRONT wave64
#define SMMA_LANES 64
#define SMMA_WMMA_ROWS "wmma_wave64.def"
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__GFX9__)
#pragma clang attribute push(__attribute__((target("wavefrontsize64"))), apply_to = function)
#endif
#include "tile.h"

#include "wmma.h"
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__GFX9__)
#pragma clang attribute pop
#endif

namespace {

/* ---- The unit ---- */

struct device_unit {
  hipDeviceProp_t properties;
  int runtime;
};

struct architecture {
  target is;
  const char *processor, *name; /* the compiler's name, and the catalogue's */
};

/* CDNA 4, gfx950, has no model; its instructions have CDNA 3's names. */
const architecture architectures[] = {
    {GFX908, "gfx908", "cdna1"}, {GFX90A, "gfx90a", "cdna2"}, {GFX942, "gfx942", "cdna3"}, {GFX950, "gfx950", "cdna3"},
    {GFX11, "gfx1100", "rdna3"}, {GFX11, "gfx1101", "rdna3"}, {GFX11, "gfx1102", "rdna3"}, {GFX11, "gfx1103", "rdna3"},
    {GFX11, "gfx1150", "rdna3"}, {GFX11, "gfx1151", "rdna3"}, {GFX11, "gfx1152", "rdna3"}, {GFX11, "gfx1153", "rdna3"},
    {GFX12, "gfx1200", "rdna4"}, {GFX12, "gfx1201", "rdna4"},
};

/* Returns the architecture of a device. gcnArchName is a processor name, followed by a colon and the enabled
   features. */
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

int hip_open(const char *arguments, void **unit, char *message, size_t size) {
  int device = 0, count = 0;
  hipError_t error = hipGetDeviceCount(&count);
  if (error != hipSuccess) return fail(message, size, "no usable AMD GPU", error);
  if (!choose_device(arguments, count, &device, message, size)) return 1;
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

template <size_t COUNT>
const wrapper *find_in(const wrapper (&wrappers)[COUNT], target is, const char *name) {
  for (const wrapper &w : wrappers)
    if ((w.targets & is) && strcmp(w.name, name) == 0) return &w;
  return nullptr;
}

const wrapper *find(const device_unit *u, const smma_instruction_info *i) {
  const architecture *a = architecture_of(u);
  if (!a || strcmp(a->name, i->arch) != 0) return nullptr;
  if (const wrapper *w = find_in(usual::mfma_wrappers, a->is, i->name)) return w;
  if (const wrapper *w = find_in(usual::wmma_wrappers, a->is, i->name)) return w;
  return find_in(wave64::wmma_wrappers, a->is, i->name);
}

int hip_computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  const device_unit *u = static_cast<device_unit *>(unit);
  const architecture *a = architecture_of(u);
  if (find(u, i)) return 0;
  if (!a)
    snprintf(message, size, "the device is of an architecture that is not modelled, %.40s", u->properties.gcnArchName);
  else if (a->is == GFX950)
    snprintf(message, size, "gfx950 has no model; it computes what it has in common with %s", a->name);
  else if (strcmp(a->name, i->arch) != 0)
    snprintf(message, size, "the device is of the architecture %s", a->name);
  else
    snprintf(message, size, "this module does not have it");
  return 1;
}

/* Device memory that the destructor frees. */
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
  const size_t places = (size_t)w->places;
  std::vector<unsigned char> results(rows * places * w->element);
  size_t unlike = 0;
  memory a, b, c, d;
  hipError_t error = a.take(batch->a, rows * w->row);
  if (error == hipSuccess) error = b.take(batch->b, rows * w->row);
  if (error == hipSuccess) error = c.take(batch->c, rows * w->element);
  if (error == hipSuccess) error = d.take(nullptr, results.size());
  if (error != hipSuccess) return fail(message, size, "memory of the GPU", error);
  w->run(rows, static_cast<const unsigned char *>(a.at), static_cast<const unsigned char *>(b.at), c.at, d.at);
  error = hipGetLastError();
  if (error == hipSuccess) error = hipMemcpy(results.data(), d.at, results.size(), hipMemcpyDeviceToHost);
  if (error != hipSuccess) return fail(message, size, "the GPU failed", error);
  for (size_t row = 0; row < rows; row++) {
    const unsigned char *first = &results[row * places * w->element];
    memcpy(static_cast<unsigned char *>(batch->d) + row * w->element, first, w->element);
    /* All results are equal if each equals the previous one. */
    if (memcmp(first, first + w->element, (places - 1) * w->element) != 0) unlike++;
  }
  if (unlike == 0) return 0;
  snprintf(message, size, "%zu results were not the same at all places of one tile", unlike);
  return 1;
}

const smma_unit_methods methods = {SMMA_UNIT_ABI, hip_open, hip_close, hip_describe, hip_computes, hip_run};

}  // namespace

extern "C" const smma_unit_methods *softmma_unit(void);
extern "C" const smma_unit_methods *softmma_unit(void) { return &methods; }
