/* The driver of NVIDIA GPUs, through CUDA's driver API. It looks for CUDA's library at run time, so that the module
   loads on machines without one. Kernels are compiled ahead, with the operation as an argument; some are compiled
   for an operation when first launched. */
#include "device/driver.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/choice.h"
#include "device/cuda/compile.h"

/* The kernels' machine code for every GPU architecture, a file of the build. */
__asm__(".section .rodata\n.balign 16\nkernels_begin:\n.incbin \"" SMMA_CUDA_KERNELS "\"\n.byte 0\n.previous\n");
extern const char kernels_begin[];

enum { MOST_ARGUMENTS = 16, FIRST_DRIVER = 12000 };

/* Functions of CUDA's library, by the versioned names of cuda.h: X(member of `cu`, symbol, parameters). */
#define FUNCTIONS(X)                                                                 \
  X(init, "cuInit", (unsigned))                                                      \
  X(version, "cuDriverGetVersion", (int *))                                          \
  X(error_name, "cuGetErrorName", (CUresult, const char **))                         \
  X(device_count, "cuDeviceGetCount", (int *))                                       \
  X(device_get, "cuDeviceGet", (CUdevice *, int))                                    \
  X(device_name, "cuDeviceGetName", (char *, int, CUdevice))                         \
  X(device_memory, "cuDeviceTotalMem_v2", (size_t *, CUdevice))                      \
  X(device_attribute, "cuDeviceGetAttribute", (int *, CUdevice_attribute, CUdevice)) \
  X(retain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                     \
  X(release, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                             \
  X(make_current, "cuCtxSetCurrent", (CUcontext))                                    \
  X(get_current, "cuCtxGetCurrent", (CUcontext *))                                   \
  X(memory_info, "cuMemGetInfo_v2", (size_t *, size_t *))                            \
  X(module_load, "cuModuleLoadData", (CUmodule *, const void *))                     \
  X(module_unload, "cuModuleUnload", (CUmodule))                                     \
  X(module_function, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))  \
  X(function_set, "cuFuncSetAttribute", (CUfunction, CUfunction_attribute, int))     \
  X(allocate, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                              \
  X(free_memory, "cuMemFree_v2", (CUdeviceptr))                                      \
  X(to_device, "cuMemcpyHtoD_v2", (CUdeviceptr, const void *, size_t))               \
  X(to_host, "cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t))                       \
  X(of_address, "cuPointerGetAttribute", (void *, CUpointer_attribute, CUdeviceptr)) \
  X(synchronize, "cuCtxSynchronize", (void))                                         \
  X(event_create, "cuEventCreate", (CUevent *, unsigned))                            \
  X(event_destroy, "cuEventDestroy_v2", (CUevent))                                   \
  X(event_record, "cuEventRecord", (CUevent, CUstream))                              \
  X(event_wait, "cuEventSynchronize", (CUevent))                                     \
  X(event_time, "cuEventElapsedTime", (float *, CUevent, CUevent))                   \
  X(launch, "cuLaunchKernel",                                                        \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **))

/* Functions of CUDA's library. */
static struct {
#define X(member, symbol, parameters) CUresult(*member) parameters;
  FUNCTIONS(X)
#undef X
} cu;

/* An operation's kernels, compiled when first launched. */
typedef struct program {
  smma_operation operation;
  bool is_attempted[SMMA_CUDA_PARTS];
  CUmodule part[SMMA_CUDA_PARTS]; /* kernels compiled for the operation; NULL: use those compiled ahead */
  struct program *next;
} program;

typedef struct {
  CUdevice id;
  CUcontext context;
  CUmodule kernels;
  int shared;       /* most bytes of shared memory per block */
  int major, minor; /* compute capability */
  program *programs;
  CUevent started, stopped; /* events recorded by start_clock and stop_clock */
  bool entered;             /* a thread is between enter and leave; `before` was its context */
  CUcontext before;
} device;

static bool fail(char message[SMMA_DEVICE_MESSAGE], const char *what, CUresult error) {
  const char *name = "unknown error";
  switch (error) {
    case CUDA_ERROR_OUT_OF_MEMORY: name = "too little memory"; break;
    case CUDA_ERROR_NO_BINARY_FOR_GPU: name = "this module was not built for such a GPU"; break;
    case CUDA_ERROR_DEVICE_UNAVAILABLE: name = "another process has the GPU for itself"; break;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ECC_UNCORRECTABLE: name = "the GPU has failed and is lost to this process"; break;
    default:
      if (cu.error_name) cu.error_name(error, &name);
      break;
  }
  snprintf(message, SMMA_DEVICE_MESSAGE, "CUDA: %s: %s (error %d)", what, name, (int)error);
  return false;
}

/* Opens CUDA's library, finds its functions and initialises the driver. The callers hold SoftMMA's lock. */
static bool load(char message[SMMA_DEVICE_MESSAGE]) {
  static void *library;
  void *found;
  CUresult error;
  int version = 0;
  if (!library) library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "CUDA: no driver of NVIDIA is installed (libcuda.so.1 is not there)");
    return false;
  }
#define X(member, symbol, parameters)                                                            \
  found = dlsym(library, symbol);                                                                \
  memcpy(&cu.member, &found, sizeof found);                                                      \
  if (!found) {                                                                                  \
    snprintf(message, SMMA_DEVICE_MESSAGE, "CUDA: the driver is too old: it has no %s", symbol); \
    return false;                                                                                \
  }
  FUNCTIONS(X)
#undef X
  error = cu.init(0);
  if (error == CUDA_ERROR_NO_DEVICE) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "CUDA: the driver has no device");
    return false;
  }
  if (error != CUDA_SUCCESS) return fail(message, "the driver does not start", error);
  cu.version(&version);
  if (version >= FIRST_DRIVER) return true;
  snprintf(message, SMMA_DEVICE_MESSAGE, "CUDA: the driver is of CUDA %d.%d, and 12.0 is needed", version / 1000,
           version % 1000 / 10);
  return false;
}

static size_t count_devices(char message[SMMA_DEVICE_MESSAGE]) {
  int count = 0;
  if (!load(message)) return 0;
  cu.device_count(&count);
  if (count <= 0) snprintf(message, SMMA_DEVICE_MESSAGE, "CUDA: the driver has no device");
  return count > 0 ? (size_t)count : 0;
}

static int attribute(const device *d, CUdevice_attribute which) {
  int value = 0;
  cu.device_attribute(&value, which, d->id);
  return value;
}

/* Reports whether a GPU has fast binary64; kernels.cu compiles the chain's kernels for these GPUs only. */
static bool has_fast_f64(int major, int minor) { return minor == 0 && major >= 8 && major <= 10; }

static void describe(const device *d, smma_device_description *is) {
  size_t free_bytes = 0, bytes = 0;
  int version = 0;
  memset(is, 0, sizeof *is);
  cu.device_name(is->name, sizeof is->name, d->id);
  cu.version(&version);
  snprintf(is->driver, sizeof is->driver, "CUDA %d.%d, compute capability %d.%d", version / 1000, version % 1000 / 10,
           d->major, d->minor);
  if (cu.memory_info(&free_bytes, &bytes) != CUDA_SUCCESS) cu.device_memory(&free_bytes, d->id);
  is->memory = is->largest = free_bytes;
  is->has_f64 = true;
  is->width = 1;
  is->shared = (size_t)d->shared;
  is->fast_f64 = has_fast_f64(d->major, d->minor);
}

/* Makes the device's context current in the calling thread. `leave` restores the previous context, because other
   libraries rely on it. */
static bool enter(device *d, char message[SMMA_DEVICE_MESSAGE]) {
  CUresult error;
  if (!d->entered) d->entered = cu.get_current(&d->before) == CUDA_SUCCESS;
  error = cu.make_current(d->context);
  return error == CUDA_SUCCESS || fail(message, "the device cannot be used", error);
}

static void leave(void *opened) {
  device *d = opened;
  if (d->entered) cu.make_current(d->before);
  d->entered = false;
}

static void close_device(void *opened) {
  device *d = opened;
  char ignored[SMMA_DEVICE_MESSAGE];
  if (d->context) enter(d, ignored);
  for (program *p = d->programs, *next; p; p = next) {
    next = p->next;
    for (int part = 0; part < SMMA_CUDA_PARTS; part++)
      if (p->part[part]) cu.module_unload(p->part[part]);
    free(p);
  }
  if (d->kernels) cu.module_unload(d->kernels);
  if (d->started) cu.event_destroy(d->started);
  if (d->stopped) cu.event_destroy(d->stopped);
  leave(d);
  if (d->context) cu.release(d->id);
  free(d);
}

static void *open_device(size_t index, smma_device_description *is, char message[SMMA_DEVICE_MESSAGE]) {
  const size_t count = count_devices(message);
  CUresult error;
  device *d;
  if (!count) return NULL;
  if (index >= count) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "CUDA: there is no device %zu; there are %zu, from 0 on", index, count);
    return NULL;
  }
  d = calloc(1, sizeof *d);
  if (!d) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "CUDA: a device cannot be opened: too little memory on the host");
    return NULL;
  }
  error = cu.device_get(&d->id, (int)index);
  if (error == CUDA_SUCCESS) error = cu.retain(&d->context, d->id);
  if (error == CUDA_SUCCESS && !enter(d, message)) return close_device(d), NULL;
  if (error == CUDA_SUCCESS) error = cu.module_load(&d->kernels, kernels_begin);
  if (error == CUDA_SUCCESS) error = cu.event_create(&d->started, CU_EVENT_DEFAULT);
  if (error == CUDA_SUCCESS) error = cu.event_create(&d->stopped, CU_EVENT_DEFAULT);
  if (error == CUDA_SUCCESS) {
    d->shared = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    d->major = attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    d->minor = attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    describe(d, is);
    leave(d);
    return d;
  }
  fail(message, "the device cannot be opened", error);
  close_device(d);
  return NULL;
}

/* Allocates a buffer, which is an address on the device. */
static void *allocate(void *opened, size_t bytes, char message[SMMA_DEVICE_MESSAGE]) {
  CUdeviceptr buffer = 0;
  CUresult error;
  if (!enter(opened, message)) return NULL;
  error = cu.allocate(&buffer, bytes ? bytes : 1);
  if (error == CUDA_SUCCESS) return (void *)(uintptr_t)buffer;
  fail(message, "out of memory", error);
  return NULL;
}

static void release(void *opened, void *buffer) {
  char ignored[SMMA_DEVICE_MESSAGE];
  if (buffer && enter(opened, ignored)) cu.free_memory((CUdeviceptr)(uintptr_t)buffer);
}

static bool write_buffer(void *opened, void *buffer, const void *from, size_t bytes,
                         char message[SMMA_DEVICE_MESSAGE]) {
  CUresult error;
  if (!enter(opened, message)) return false;
  error = bytes ? cu.to_device((CUdeviceptr)(uintptr_t)buffer, from, bytes) : CUDA_SUCCESS;
  return error == CUDA_SUCCESS || fail(message, "operands cannot be copied", error);
}

static bool read_buffer(void *opened, void *to, void *buffer, size_t bytes, char message[SMMA_DEVICE_MESSAGE]) {
  CUresult error;
  if (!enter(opened, message)) return false;
  error = bytes ? cu.to_host(to, (CUdeviceptr)(uintptr_t)buffer, bytes) : CUDA_SUCCESS;
  return error == CUDA_SUCCESS || fail(message, "results cannot be copied", error);
}

static void *find_program(void *opened, const smma_operation *operation, char message[SMMA_DEVICE_MESSAGE]) {
  device *d = opened;
  program *p;
  for (p = d->programs; p; p = p->next)
    if (memcmp(&p->operation, operation, sizeof *operation) == 0) return p;
  p = calloc(1, sizeof *p);
  if (!p) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "CUDA: too little memory on the host");
    return NULL;
  }
  p->operation = *operation;
  p->next = d->programs;
  return d->programs = p;
}

/* Returns the module that contains a kernel for an operation, and compiles it first if needed. If NVRTC is not found,
   or the driver is older and rejects NVRTC's code, the kernels compiled ahead are used. Returns NULL if the operation
   is too long for them. */
static CUmodule module_with(const device *d, program *p, const char *name) {
  const smma_cuda_part part = smma_cuda_part_of(name, &p->operation);
  if (part == SMMA_CUDA_PARTS) return d->kernels;
  if (!p->is_attempted[part]) {
    void *code = smma_cuda_compile(part, &p->operation, d->major, d->minor, NULL);
    if (code && cu.module_load(&p->part[part], code) != CUDA_SUCCESS) p->part[part] = NULL;
    free(code);
    p->is_attempted[part] = true;
  }
  if (p->part[part]) return p->part[part];
  return smma_most_nodes(&p->operation) <= SMMA_MAXIMUM_ROUNDED_K ? d->kernels : NULL;
}

/* Returns the bytes of shared memory with which a kernel is launched. A chain's kernel needs room for two stages, or
   for one if the device has no more; other kernels need none. */
static int shared_bytes(const device *d, const char *name) {
#define SMMA_CHAIN(RULE, F, L, KEPT, WIDE, NAME)       \
  if (strcmp(name, "smma_chain_" #NAME) == 0) {        \
    const smma_chain chain = {RULE, F, L, KEPT, WIDE}; \
    const int bytes = smma_chain_stage_bytes(&chain);  \
    return 2 * bytes <= d->shared ? 2 * bytes : bytes; \
  }
#include "device/cuda/kernels.def"
  return 0;
}

static bool launch(void *opened, void *of, const char *name, const size_t items[2], size_t group,
                   const smma_kernel_argument *argument, size_t count, char message[SMMA_DEVICE_MESSAGE]) {
  device *d = opened;
  const int shared = shared_bytes(d, name);
  void *value[MOST_ARGUMENTS];
  CUmodule module;
  CUfunction kernel;
  CUresult error;
  if (!enter(d, message)) return false;
  module = module_with(d, of, name);
  if (!module) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "CUDA: K = %d needs libnvrtc.so, of a version that the driver supports",
             ((const program *)of)->operation.k);
    return false;
  }
  /* The value of a buffer argument is its address. */
  for (size_t i = 0; i < count; i++)
    value[i] = argument[i].value ? (void *)argument[i].value : (void *)&argument[i].buffer;
  error = cu.module_function(&kernel, module, name);
  if (error == CUDA_SUCCESS && shared)
    error = cu.function_set(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared);
  if (error == CUDA_SUCCESS)
    error = cu.launch(kernel, (unsigned)(items[0] / group), (unsigned)items[1], 1, (unsigned)group, 1, 1,
                      (unsigned)shared, NULL, value, NULL);
  return error == CUDA_SUCCESS || fail(message, name, error);
}

/* Measures on the default stream, in which `launch` and cuBLAS run kernels. */
static bool start_clock(void *opened, char message[SMMA_DEVICE_MESSAGE]) {
  device *d = opened;
  CUresult error;
  if (!enter(d, message)) return false;
  error = cu.event_record(d->started, NULL);
  return error == CUDA_SUCCESS || fail(message, "kernels cannot be timed", error);
}

static bool stop_clock(void *opened, double *seconds, char message[SMMA_DEVICE_MESSAGE]) {
  device *d = opened;
  float milliseconds = 0;
  CUresult error;
  if (!enter(d, message)) return false;
  error = cu.event_record(d->stopped, NULL);
  if (error == CUDA_SUCCESS) error = cu.event_wait(d->stopped);
  if (error == CUDA_SUCCESS) error = cu.event_time(&milliseconds, d->started, d->stopped);
  *seconds = 1e-3 * (double)milliseconds;
  return error == CUDA_SUCCESS || fail(message, "kernels cannot be timed", error);
}

/* Reports whether kernels can use the memory at an address; otherwise `message` says where it is. Managed memory counts
   as this device's. */
static bool holds(void *opened, const void *address, char message[SMMA_DEVICE_MESSAGE]) {
  device *d = opened;
  const CUdeviceptr at = (CUdeviceptr)(uintptr_t)address;
  CUmemorytype type = CU_MEMORYTYPE_HOST;
  CUcontext context = NULL;
  unsigned managed = 0;
  int number = -1;
  if (!enter(d, message)) return false;
  if (cu.of_address(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) != CUDA_SUCCESS || type != CU_MEMORYTYPE_DEVICE) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "in the host's memory");
    return false;
  }
  if (cu.of_address(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at) == CUDA_SUCCESS && managed) return true;
  if (cu.of_address(&number, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at) != CUDA_SUCCESS || number != (int)d->id) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "in the memory of cuda:%d", number);
    return false;
  }
  /* Memory from a pool, or mapped memory, belongs to no context. */
  if (cu.of_address(&context, CU_POINTER_ATTRIBUTE_CONTEXT, at) != CUDA_SUCCESS || !context || context == d->context)
    return true;
  snprintf(message, SMMA_DEVICE_MESSAGE, "of another context than the device's primary one, which CUDA's runtime has");
  return false;
}

static bool wait_for_all(void *opened, char message[SMMA_DEVICE_MESSAGE]) {
  CUresult error;
  if (!enter(opened, message)) return false;
  error = cu.synchronize();
  return error == CUDA_SUCCESS || fail(message, "what was started on the device", error);
}

static const smma_driver driver = {
    SMMA_DRIVER_ABI, "cuda",       count_devices, open_device, close_device, allocate, release,      write_buffer,
    read_buffer,     find_program, launch,        start_clock, stop_clock,   holds,    wait_for_all, leave};

__attribute__((visibility("default"))) const smma_driver *smma_driver_of_module(void);
const smma_driver *smma_driver_of_module(void) { return &driver; }
