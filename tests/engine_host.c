/* A driver of devices that runs kernels on the host, one work item after another. It tests the code that all devices
   share, also with sanitizers, on machines without a device. It replaces the module of the driver HOST_PLAYS. With
   HOST_ADDRESSES its memory has addresses that callers can pass, but that are not valid on the host.

   Variables of the environment:

       SOFTMMA_HOST_MEMORY=BYTES  the size of its memory
       SOFTMMA_HOST_BUFFER=BYTES  the largest block that it allocates
       SOFTMMA_HOST_LEFT=BYTES    the memory that can be allocated, less than the size that it reports
       SOFTMMA_HOST_LOST=N        loses the device at copy or kernel start number N after the variable was set
       SOFTMMA_HOST_PROGRAMS=N    the number of operations for which it has kernels
       SOFTMMA_HOST_NO_F64=1      a device without binary64
       SOFTMMA_HOST_WRONG=N       flips a bit of the N-th results that are read
       SOFTMMA_HOST_NONE=1        there is no device
       SOFTMMA_HOST_ABORTS=1      ends the process that asks for devices */
#define SMMA_EVALUATOR static inline /* this module contains nothing else of the library */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "device/driver.h"
#include "device/kernels/kernels.h"
#include "host_address.h"

#define VALUE(type, i) (*(const type *)x[i].value)
#define BUFFER(i) here(x[i].buffer)

typedef void caller(const smma_kernel_argument *x);

static void call_core(const smma_kernel_argument *x) {
  smma_kernel_core(VALUE(smma_operation, 0), VALUE(smma_extent, 1), VALUE(int, 2), BUFFER(3), BUFFER(4), BUFFER(5),
                   BUFFER(6), BUFFER(7), BUFFER(8));
}

static void call_fold(const smma_kernel_argument *x) {
  smma_kernel_fold(VALUE(smma_operation, 0), VALUE(smma_extent, 1), VALUE(smma_fold_task, 2), BUFFER(3), BUFFER(4),
                   BUFFER(5), BUFFER(6));
}

static void call_factors(const smma_kernel_argument *x) {
  smma_kernel_factors(VALUE(smma_operation, 0), VALUE(int, 1), VALUE(int, 2), BUFFER(3), BUFFER(4), BUFFER(5),
                      BUFFER(6));
}

static void call_generate(const smma_kernel_argument *x) {
  smma_kernel_generate(VALUE(smma_operation, 0), VALUE(int, 1), VALUE(smma_row_selection, 2), BUFFER(3), BUFFER(4),
                       BUFFER(5), BUFFER(6), BUFFER(7));
}

static void call_gather(const smma_kernel_argument *x) {
  smma_kernel_gather(VALUE(smma_gather_task, 0), BUFFER(1), BUFFER(2), BUFFER(3));
}

static void call_start(const smma_kernel_argument *x) {
  smma_kernel_start(VALUE(smma_operation, 0), VALUE(smma_extent, 1), VALUE(smma_part_place, 2), VALUE(int, 3),
                    VALUE(uint64_t, 4), BUFFER(5), BUFFER(6));
}

static void call_finish(const smma_kernel_argument *x) {
  smma_kernel_finish(VALUE(smma_operation, 0), VALUE(smma_extent, 1), VALUE(smma_finish_task, 2),
                     VALUE(smma_part_place, 3), VALUE(smma_part_place, 4), BUFFER(5), BUFFER(6), BUFFER(7), BUFFER(8));
}

static void call_rows(const smma_kernel_argument *x) {
  smma_kernel_rows(VALUE(smma_operation, 0), VALUE(int, 1), BUFFER(2), BUFFER(3), BUFFER(4), BUFFER(5), BUFFER(6),
                   BUFFER(7));
}

static void call_compare(const smma_kernel_argument *x) {
  smma_kernel_compare(VALUE(smma_operation, 0), VALUE(int, 1), VALUE(uint32_t, 2), VALUE(int, 3), BUFFER(4), BUFFER(5),
                      BUFFER(6), BUFFER(7), BUFFER(8), BUFFER(9), BUFFER(10));
}

#define FAST(name)                                                                                                  \
  static void call_##name(const smma_kernel_argument *x) {                                                          \
    smma_kernel_##name(VALUE(smma_operation, 0), VALUE(smma_extent, 1), BUFFER(2), BUFFER(3), BUFFER(4), BUFFER(5), \
                       BUFFER(6), BUFFER(7), BUFFER(8), BUFFER(9), BUFFER(10), BUFFER(11));                         \
  }
FAST(e_fdpa)
FAST(fma_f32)
FAST(fma_f64)
FAST(ftz_addmul)
FAST(ftz_fma)
FAST(gst_fdpa)
FAST(integer)
FAST(t_fdpa)
FAST(tr_fdpa)

enum { OF_FAST = 12 }; /* arguments of the longest kernel */
static const struct {
  const char *name;
  caller *call;
  size_t arguments;
} kernels[] = {
    {"smma_kernel_gather", call_gather, 4},
    {"smma_kernel_start", call_start, 7},
    {"smma_kernel_finish", call_finish, 9},
    {"smma_kernel_core", call_core, 9},
    {"smma_kernel_fold", call_fold, 7},
    {"smma_kernel_factors", call_factors, 7},
    {"smma_kernel_generate", call_generate, 8},
    {"smma_kernel_rows", call_rows, 8},
    {"smma_kernel_compare", call_compare, 11},
    {"smma_kernel_e_fdpa", call_e_fdpa, OF_FAST},
    {"smma_kernel_fma_f32", call_fma_f32, OF_FAST},
    {"smma_kernel_fma_f64", call_fma_f64, OF_FAST},
    {"smma_kernel_ftz_addmul", call_ftz_addmul, OF_FAST},
    {"smma_kernel_ftz_fma", call_ftz_fma, OF_FAST},
    {"smma_kernel_gst_fdpa", call_gst_fdpa, OF_FAST},
    {"smma_kernel_integer", call_integer, OF_FAST},
    {"smma_kernel_t_fdpa", call_t_fdpa, OF_FAST},
    {"smma_kernel_tr_fdpa", call_tr_fdpa, OF_FAST},
};

static size_t number_of(const char *variable) {
  const char *text = getenv(variable);
  return text ? strtoul(text, NULL, 10) : 0;
}

static size_t count_devices(char message[SMMA_DEVICE_MESSAGE]) {
  if (number_of("SOFTMMA_HOST_ABORTS")) abort();
  if (!number_of("SOFTMMA_HOST_NONE")) return 1;
  snprintf(message, SMMA_DEVICE_MESSAGE, "the tests' driver has no device");
  return 0;
}

static int one_device; /* its address stands for the device */
static size_t copied;  /* number of copied results */

/* Reports whether the device is lost, from this call on. */
static bool is_lost(char message[SMMA_DEVICE_MESSAGE]) {
  static size_t lost_at, calls;
  const size_t n = number_of("SOFTMMA_HOST_LOST");
  if (n != lost_at) lost_at = n, calls = 0;
  if (n == 0 || ++calls < n) return false;
  snprintf(message, SMMA_DEVICE_MESSAGE, "the device is not available any more");
  return true;
}

static void *open_device(size_t index, smma_device_description *is, char message[SMMA_DEVICE_MESSAGE]) {
  const size_t memory = number_of("SOFTMMA_HOST_MEMORY"), most = number_of("SOFTMMA_HOST_BUFFER");
  if (count_devices(message) == 0) return NULL;
  if (index > 0) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "there is no device %zu; there is 1, from 0 on", index);
    return NULL;
  }
  *is = (smma_device_description){.name = "this CPU", .driver = "the tests' driver", .width = 1};
  is->has_f64 = !number_of("SOFTMMA_HOST_NO_F64");
  is->memory = is->largest = memory ? memory : (size_t)1 << 40;
  if (most) is->largest = most;
  return &one_device;
}

static void close_device(void *device) { (void)device; }

typedef struct buffer {
  unsigned char *memory;
  size_t bytes;
  struct buffer *next;
} buffer;
static buffer *buffers;

static void *allocate(void *device, size_t bytes, char message[SMMA_DEVICE_MESSAGE]) {
  const size_t most = number_of("SOFTMMA_HOST_BUFFER"), left = number_of("SOFTMMA_HOST_LEFT");
  size_t used = bytes;
  buffer *b;
  for (b = buffers; b; b = b->next) used += b->bytes;
  b = (most && bytes > most) || (left && used > left) ? NULL : malloc(sizeof *b);
  (void)device;
  if (b) *b = (buffer){malloc(bytes + (bytes == 0)), bytes, buffers};
  if (b && b->memory) {
    buffers = b;
#ifdef HOST_ADDRESSES
    return there(b->memory);
#else
    return b->memory;
#endif
  }
  free(b);
  snprintf(message, SMMA_DEVICE_MESSAGE, "too little memory");
  return NULL;
}

static void release(void *device, void *of_device) {
  (void)device;
  for (buffer **b = &buffers, *gone; of_device && *b; b = &(*b)->next) {
    if ((*b)->memory != here(of_device)) continue;
    gone = *b, *b = gone->next;
    free(gone->memory), free(gone);
    return;
  }
  if (of_device) abort();
}

static bool write_buffer(void *device, void *to, const void *from, size_t bytes, char message[SMMA_DEVICE_MESSAGE]) {
  (void)device;
  if (is_lost(message)) return false;
  memcpy(here(to), from, bytes);
  return true;
}

static bool read_buffer(void *device, void *to, void *from, size_t bytes, char message[SMMA_DEVICE_MESSAGE]) {
  (void)device;
  if (is_lost(message)) return false;
  memcpy(to, here(from), bytes);
  if (++copied == number_of("SOFTMMA_HOST_WRONG")) *(unsigned char *)to ^= 1;
  return true;
}

#ifdef HOST_ADDRESSES
static bool holds(void *device, const void *address, char message[SMMA_DEVICE_MESSAGE]) {
  const unsigned char *at = here(address);
  (void)device;
  for (const buffer *b = buffers; b && at != address; b = b->next)
    if (at >= b->memory && at < b->memory + b->bytes) return true;
  snprintf(message, SMMA_DEVICE_MESSAGE, at == address ? "in the host's memory" : "in nobody's memory");
  return false;
}

static bool wait_for_all(void *device, char message[SMMA_DEVICE_MESSAGE]) {
  (void)device, (void)message;
  return true;
}

static void leave(void *device) { (void)device; }
#endif

/* Takes two operations for the same if their bytes are, as drivers do. */
static void *program(void *device, const smma_operation *operation, char message[SMMA_DEVICE_MESSAGE]) {
  enum { MOST = 8 };
  static smma_operation known[MOST];
  static size_t count;
  const size_t most = number_of("SOFTMMA_HOST_PROGRAMS");
  size_t i = 0;
  while (i < count && memcmp(&known[i], operation, sizeof *operation) != 0) i++;
  if (i < count || !most) return device;
  if (count < most && count < MOST) return known[count++] = *operation, device;
  snprintf(message, SMMA_DEVICE_MESSAGE, "kernels for more than %zu operations", count);
  return NULL;
}

static bool launch(void *device, void *of, const char *name, const size_t items[2], size_t group,
                   const smma_kernel_argument *arguments, size_t count, char message[SMMA_DEVICE_MESSAGE]) {
  (void)device, (void)of;
  if (is_lost(message)) return false;
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    if (strcmp(kernels[k].name, name) != 0) continue;
    if (kernels[k].arguments != count || items[0] % group) break;
    if (kernels[k].arguments == OF_FAST && number_of("SOFTMMA_HOST_NO_F64")) break;
    for (size_t y = 0; y < items[1]; y++)
      for (size_t x = 0; x < items[0]; x++) {
        smma_items_here[0] = (int)x, smma_items_here[1] = (int)y;
        kernels[k].call(arguments);
      }
    return true;
  }
  snprintf(message, SMMA_DEVICE_MESSAGE, "%s is not called as it asks for", name);
  return false;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double clock_started;

static bool start_clock(void *device, char message[SMMA_DEVICE_MESSAGE]) {
  (void)device, (void)message;
  clock_started = seconds_now();
  return true;
}

static bool stop_clock(void *device, double *seconds, char message[SMMA_DEVICE_MESSAGE]) {
  (void)device, (void)message;
  *seconds = seconds_now() - clock_started;
  return true;
}

static const smma_driver driver = {.abi = SMMA_DRIVER_ABI,
                                   .name = HOST_PLAYS,
                                   .count = count_devices,
                                   .open = open_device,
                                   .close = close_device,
                                   .allocate = allocate,
                                   .release = release,
                                   .write = write_buffer,
                                   .read = read_buffer,
                                   .program = program,
                                   .launch = launch,
#ifdef HOST_ADDRESSES
                                   .holds = holds,
                                   .wait = wait_for_all,
                                   .leave = leave,
#endif
                                   .start_clock = start_clock,
                                   .stop_clock = stop_clock};

const smma_driver *smma_driver_of_module(void);
__attribute__((visibility("default"))) const smma_driver *smma_driver_of_module(void) { return &driver; }
