/* The driver of OpenCL devices: GPUs, and CPUs through PoCL. Kernels are compiled from source, which is embedded in
   this module, with the operation as a constant. */
#define CL_TARGET_OPENCL_VERSION 120
#include "device/driver.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/constant.h"

/* The kernels' source, embedded by the build: without binary64 (0), and for 1 and 16 lanes per work item. */
static const char source_0[] = {
#include "device_source_0.inc"
};
static const char source_1[] = {
#include "device_source_1.inc"
};
static const char source_16[] = {
#include "device_source_16.inc"
};

enum { MOST_DEVICES = 64, MOST_ARGUMENTS = 16 };

typedef struct program {
  smma_operation operation;
  cl_program built;
  struct program *next;
} program;

typedef struct {
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  int width;        /* lanes per work item; 0: the device has no binary64 */
  cl_event started; /* event recorded by start_clock */
  program *programs;
} device;

static bool fail(char message[SMMA_DEVICE_MESSAGE], const char *what, cl_int error) {
  const char *reason = "";
  switch (error) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_INVALID_BUFFER_SIZE: reason = ": too little memory"; break;
    case CL_OUT_OF_HOST_MEMORY: reason = ": too little memory on the host"; break;
    case CL_DEVICE_NOT_AVAILABLE: reason = ": the device is not available any more"; break;
    default: break;
  }
  snprintf(message, SMMA_DEVICE_MESSAGE, "OpenCL: %s%s (error %d)", what, reason, (int)error);
  return false;
}

/* Finds the devices of all platforms, GPUs first, and returns their number; 0 with a reason if there are none. */
static size_t find_devices(cl_device_id found[MOST_DEVICES], char message[SMMA_DEVICE_MESSAGE]) {
  static const cl_device_type order[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU};
  cl_platform_id platform[MOST_DEVICES];
  cl_uint platforms = 0;
  size_t count = 0;
  if (clGetPlatformIDs(MOST_DEVICES, platform, &platforms) != CL_SUCCESS || platforms == 0) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "OpenCL: no driver is installed (pocl-opencl-icd has one for CPUs)");
    return 0;
  }
  if (platforms > MOST_DEVICES) platforms = MOST_DEVICES;
  for (size_t t = 0; t < sizeof order / sizeof *order; t++)
    for (cl_uint i = 0; i < platforms && count < MOST_DEVICES; i++) {
      cl_uint more = 0;
      const cl_uint room = (cl_uint)(MOST_DEVICES - count);
      if (clGetDeviceIDs(platform[i], order[t], room, found + count, &more) == CL_SUCCESS)
        count += more < room ? more : room;
    }
  if (!count) snprintf(message, SMMA_DEVICE_MESSAGE, "OpenCL: its drivers have no device");
  return count;
}

static size_t count_devices(char message[SMMA_DEVICE_MESSAGE]) {
  cl_device_id found[MOST_DEVICES];
  return find_devices(found, message);
}

static void describe(cl_device_id id, smma_device_description *is) {
  cl_ulong memory = 0, largest = 0;
  cl_device_fp_config doubles = 0;
  char driver[128] = "", version[128] = "";
  memset(is, 0, sizeof *is);
  clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof is->name - 1, is->name, NULL);
  clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof version - 1, version, NULL);
  clGetDeviceInfo(id, CL_DRIVER_VERSION, sizeof driver - 1, driver, NULL);
  clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
  clGetDeviceInfo(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
  clGetDeviceInfo(id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL);
  snprintf(is->driver, sizeof is->driver, "%.80s, driver %.30s", version, driver);
  is->memory = memory, is->largest = largest;
  is->has_f64 = doubles != 0;
}

/* Reports whether the device has what kernels require: binary32 with subnormals, infinities, NaN, round to nearest and
   FMA, and little-endian memory. */
static bool computes_right(cl_device_id id, const char *name, char message[SMMA_DEVICE_MESSAGE]) {
  const cl_device_fp_config needed = CL_FP_DENORM | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA | CL_FP_INF_NAN;
  cl_device_fp_config has = 0;
  cl_bool little = CL_FALSE;
  clGetDeviceInfo(id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof has, &has, NULL);
  clGetDeviceInfo(id, CL_DEVICE_ENDIAN_LITTLE, sizeof little, &little, NULL);
  if ((has & needed) == needed && little) return true;
  snprintf(message, SMMA_DEVICE_MESSAGE, "OpenCL: %.100s has no binary32 with subnormals and FMA, or big-endian memory",
           name);
  return false;
}

static void close_device(void *opened) {
  device *d = opened;
  for (program *p = d->programs, *next; p; p = next) {
    next = p->next;
    clReleaseProgram(p->built);
    free(p);
  }
  if (d->queue) clReleaseCommandQueue(d->queue);
  if (d->context) clReleaseContext(d->context);
  free(d);
}

static void *open_device(size_t index, smma_device_description *is, char message[SMMA_DEVICE_MESSAGE]) {
  cl_device_id found[MOST_DEVICES];
  const char *width = getenv("SOFTMMA_OPENCL_WIDTH"); /* for tests: imitates other devices */
  cl_device_type type = 0;
  cl_int error;
  const size_t count = find_devices(found, message);
  device *d;
  if (!count) return NULL;
  if (index >= count) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "OpenCL: there is no device %zu; there are %zu, from 0 on", index, count);
    return NULL;
  }
  describe(found[index], is);
  if (!computes_right(found[index], is->name, message)) return NULL;
  d = calloc(1, sizeof *d);
  if (!d) {
    fail(message, "a device cannot be opened", CL_OUT_OF_HOST_MEMORY);
    return NULL;
  }
  d->id = found[index];
  clGetDeviceInfo(d->id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
  d->width = !is->has_f64 ? 0 : type & CL_DEVICE_TYPE_CPU ? 16 : 1;
  if (width) d->width = strcmp(width, "16") == 0 ? 16 : strcmp(width, "1") == 0;
  is->width = d->width, is->has_f64 = d->width > 0;
  d->context = clCreateContext(NULL, 1, &d->id, NULL, NULL, &error);
  if (error == CL_SUCCESS) d->queue = clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &error);
  if (error == CL_SUCCESS) return d;
  fail(message, "the device cannot be opened", error);
  close_device(d);
  return NULL;
}

static void *allocate(void *opened, size_t bytes, char message[SMMA_DEVICE_MESSAGE]) {
  const device *d = opened;
  cl_int error;
  cl_mem buffer = clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &error);
  if (error == CL_SUCCESS) return buffer;
  fail(message, "out of memory", error);
  return NULL;
}

static void release(void *opened, void *buffer) {
  (void)opened;
  if (buffer) clReleaseMemObject(buffer);
}

static bool write_buffer(void *opened, void *buffer, const void *from, size_t bytes,
                         char message[SMMA_DEVICE_MESSAGE]) {
  const device *d = opened;
  const cl_int error = bytes ? clEnqueueWriteBuffer(d->queue, buffer, CL_TRUE, 0, bytes, from, 0, NULL, NULL) : 0;
  return error == CL_SUCCESS || fail(message, "operands cannot be copied", error);
}

static bool read_buffer(void *opened, void *to, void *buffer, size_t bytes, char message[SMMA_DEVICE_MESSAGE]) {
  const device *d = opened;
  const cl_int error = bytes ? clEnqueueReadBuffer(d->queue, buffer, CL_TRUE, 0, bytes, to, 0, NULL, NULL) : 0;
  return error == CL_SUCCESS || fail(message, "results cannot be copied", error);
}

/* ---- Programs ---- */

static cl_program make_program(const device *d, const smma_operation *operation, cl_int *error) {
  char words[SMMA_OPERATION_TEXT], constant[SMMA_OPERATION_TEXT + 160];
  const char *text[2] = {constant, d->width == 16 ? source_16 : d->width == 1 ? source_1 : source_0};
  smma_print_operation(operation, words);
  snprintf(constant, sizeof constant,
           "#define SMMA_OPERATION_WORDS %s\n#define SMMA_OPERATION_ALGORITHM %d\n"
           "#define SMMA_OPERATION_IS_G_FDPA %d\n#define SMMA_OPERATION_K %d\n",
           words, (int)operation->rule.algorithm, smma_is_short_g_fdpa(operation), smma_most_nodes(operation));
  return clCreateProgramWithSource(d->context, 2, text, NULL, error);
}

/* Reports a failed build: the error number, and the first line of the compiler's log. */
static bool fail_build(const device *d, cl_program p, cl_int error, char message[SMMA_DEVICE_MESSAGE]) {
  size_t size = 0;
  char *log;
  clGetProgramBuildInfo(p, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  log = calloc(size + 1, 1);
  if (log) clGetProgramBuildInfo(p, d->id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
  if (log) log[strcspn(log, "\n")] = 0;
  snprintf(message, SMMA_DEVICE_MESSAGE, "OpenCL: the driver cannot compile the kernels (error %d): %.150s", (int)error,
           log ? log : "");
  free(log);
  return false;
}

static bool same_operation(const smma_operation *x, const smma_operation *y) { return memcmp(x, y, sizeof *x) == 0; }

static void *find_program(void *opened, const smma_operation *operation, char message[SMMA_DEVICE_MESSAGE]) {
  device *d = opened;
  program *p;
  cl_int error;
  for (p = d->programs; p; p = p->next)
    if (same_operation(&p->operation, operation)) return p;
  p = calloc(1, sizeof *p);
  if (!p) {
    fail(message, "kernels cannot be compiled", CL_OUT_OF_HOST_MEMORY);
    return NULL;
  }
  p->operation = *operation;
  p->built = make_program(d, operation, &error);
  if (error != CL_SUCCESS) {
    fail(message, "kernels cannot be compiled", error);
    free(p);
    return NULL;
  }
  error = clBuildProgram(p->built, 1, &d->id, "", NULL, NULL);
  if (error != CL_SUCCESS) {
    fail_build(d, p->built, error, message);
    clReleaseProgram(p->built);
    free(p);
    return NULL;
  }
  p->next = d->programs;
  return d->programs = p;
}

static bool launch(void *opened, void *of, const char *name, const size_t items[2], size_t group,
                   const smma_kernel_argument *argument, size_t count, char message[SMMA_DEVICE_MESSAGE]) {
  const device *d = opened;
  const program *p = of;
  const size_t local[2] = {group, 1};
  cl_int error;
  cl_kernel kernel = clCreateKernel(p->built, name, &error);
  if (error != CL_SUCCESS) return fail(message, name, error);
  for (size_t i = 0; i < count && error == CL_SUCCESS; i++)
    error = argument[i].value ? clSetKernelArg(kernel, (cl_uint)i, argument[i].bytes, argument[i].value)
                              : clSetKernelArg(kernel, (cl_uint)i, sizeof(cl_mem), &argument[i].buffer);
  if (error == CL_SUCCESS) error = clEnqueueNDRangeKernel(d->queue, kernel, 2, NULL, items, local, 0, NULL, NULL);
  clReleaseKernel(kernel);
  return error == CL_SUCCESS || fail(message, name, error);
}

/* ---- The clock ---- */

static bool start_clock(void *opened, char message[SMMA_DEVICE_MESSAGE]) {
  device *d = opened;
  const cl_int error = clEnqueueMarkerWithWaitList(d->queue, 0, NULL, &d->started);
  return error == CL_SUCCESS || fail(message, "kernels cannot be timed", error);
}

static cl_int time_of(cl_event event, cl_ulong *nanoseconds) {
  return clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof *nanoseconds, nanoseconds, NULL);
}

static bool stop_clock(void *opened, double *seconds, char message[SMMA_DEVICE_MESSAGE]) {
  device *d = opened;
  cl_ulong started = 0, stopped = 0;
  cl_event event;
  cl_int error = clEnqueueMarkerWithWaitList(d->queue, 0, NULL, &event);
  if (error == CL_SUCCESS) {
    error = clWaitForEvents(1, &event);
    if (error == CL_SUCCESS) error = time_of(d->started, &started);
    if (error == CL_SUCCESS) error = time_of(event, &stopped);
    clReleaseEvent(event);
  }
  clReleaseEvent(d->started);
  *seconds = 1e-9 * (double)(stopped - started);
  return error == CL_SUCCESS || fail(message, "kernels cannot be timed", error);
}

static const smma_driver driver = {
    SMMA_DRIVER_ABI, "opencl",     count_devices, open_device, close_device, allocate, release, write_buffer,
    read_buffer,     find_program, launch,        start_clock, stop_clock,   NULL,     NULL,    NULL};

__attribute__((visibility("default"))) const smma_driver *smma_driver_of_module(void);
const smma_driver *smma_driver_of_module(void) { return &driver; }
