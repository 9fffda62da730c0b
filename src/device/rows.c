#include "device/rows.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/kernels/arguments.h"
#include "host/load.h"

enum { A, B, C, SCALE_A, SCALE_B, D, PARTS };

/* BATCH_ROWS: test vectors ("rows") computed at a time, if the device has memory for them, otherwise fewer, down to
   LEAST. GROUP: work items per group. */
enum { BATCH_ROWS = 1 << 18, LEAST = SMMA_ROWS_TOGETHER, GROUP = 64 };

typedef struct {
  const smma_device *device;
  const smma_driver *driver;
  void *program;
  size_t bytes[PARTS];        /* bytes of each part of a row */
  unsigned char *host[PARTS]; /* NULL if the batch has no such array */
  void *buffer[PARTS];
  size_t capacity;
  smma_operation operation;
  char *message;
} work;

#define VALUE(x) \
  { NULL, &(x), sizeof(x) }
#define BUFFER(x) \
  { x, NULL, 0 }

static void set_sizes(work *w, const smma_operation *o) {
  const size_t k = (size_t)o->k, scales = (size_t)smma_scale_count(o->k, o->scale_block);
  const size_t scale = scales * smma_bytes_of(o->scale);
  w->bytes[A] = k * smma_bytes_of(o->a);
  w->bytes[B] = k * smma_bytes_of(o->b);
  w->bytes[C] = smma_bytes_of(o->c);
  w->bytes[SCALE_A] = w->bytes[SCALE_B] = scale;
  w->bytes[D] = smma_bytes_of(o->d);
}

static void release(work *w) {
  for (int p = 0; p < PARTS; p++) {
    if (w->buffer[p]) w->driver->release(w->device->state, w->buffer[p]);
    w->buffer[p] = NULL;
  }
}

static bool allocate(work *w) {
  for (int p = 0; p < PARTS; p++) {
    if (w->bytes[p] == 0) continue;
    w->buffer[p] = w->driver->allocate(w->device->state, w->capacity * w->bytes[p], w->message);
    if (!w->buffer[p]) return release(w), false;
  }
  return true;
}

/* Prepares the device for batches of up to `rows` rows, or fewer if memory is short: gets the kernels and allocates
   buffers. */
static bool open_work(const smma_device *device, const smma_operation *o, size_t rows, char *message, work *w) {
  *w = (work){.device = device, .driver = device->driver, .operation = *o, .message = message};
  set_sizes(w, o);
  w->program = smma_device_program(device, o, w->message);
  if (!w->program) return false;
  w->capacity = rows < BATCH_ROWS ? rows : BATCH_ROWS;
  while (!allocate(w)) {
    if (w->capacity <= LEAST) return false;
    w->capacity /= 2;
  }
  return true;
}

static bool put(const work *w, int p, size_t first, size_t count) {
  return !w->host[p] || !w->bytes[p] ||
         w->driver->write(w->device->state, w->buffer[p], w->host[p] + first * w->bytes[p], count * w->bytes[p],
                          w->message);
}

static bool get(const work *w, int p, size_t first, size_t count) {
  return !w->host[p] || !w->bytes[p] ||
         w->driver->read(w->device->state, w->host[p] + first * w->bytes[p], w->buffer[p], count * w->bytes[p],
                         w->message);
}

static bool launch(const work *w, void *program, const char *kernel, size_t count,
                   const smma_kernel_argument *arguments, size_t argument_count) {
  const size_t items[2] = {(count + SMMA_ROWS_TOGETHER - 1) / SMMA_ROWS_TOGETHER * SMMA_ROWS_TOGETHER, 1};
  return smma_device_launch(w->device, program, kernel, items, GROUP, arguments, argument_count, w->message);
}

/* An operand as a kernel's argument. For an operand that the operation does not have, D's buffer is passed, because
   kernels need a buffer; they do not read it. */
#define PART(w, p) BUFFER((w)->buffer[(w)->bytes[p] ? (p) : D])
#define OPERANDS(w) PART(w, A), PART(w, B), PART(w, C), PART(w, SCALE_A), PART(w, SCALE_B)
#define LAUNCH(w, program, kernel, count, arguments) \
  launch(w, program, kernel, count, arguments, sizeof(arguments) / sizeof *(arguments))

/* Generates the operands of `count` rows of a selection, from its row `first` on. */
static bool generate(const work *w, const smma_row_selection *selection, size_t first, size_t count) {
  const int32_t rows = (int32_t)count;
  const smma_row_selection part = {selection->seed, selection->first + first, selection->kinds, selection->one};
  const smma_kernel_argument arguments[] = {VALUE(w->operation), VALUE(rows), VALUE(part), OPERANDS(w)};
  return LAUNCH(w, w->program, "smma_kernel_generate", count, arguments);
}

/* Computes the results of `count` rows. */
static bool compute(const work *w, size_t count) {
  const int32_t rows = (int32_t)count;
  const smma_kernel_argument arguments[] = {VALUE(w->operation), VALUE(rows), OPERANDS(w), BUFFER(w->buffer[D])};
  return LAUNCH(w, w->program, "smma_kernel_rows", count, arguments);
}

static bool put_zeros(work *w) {
  unsigned char *zeros = calloc(w->capacity, w->bytes[C]);
  bool done;
  if (!zeros) return snprintf(w->message, SMMA_DEVICE_MESSAGE, "out of memory"), false;
  done = w->driver->write(w->device->state, w->buffer[C], zeros, w->capacity * w->bytes[C], w->message);
  free(zeros);
  return done;
}

/* Computes `now` rows of the batch from `first` on, with generated operands if there is a selection. */
static bool compute_part(const work *w, const smma_row_selection *selection, size_t first, size_t now) {
  bool done = !selection || generate(w, selection, first, now);
  for (int p = 0; p < D && done; p++) done = selection ? get(w, p, first, now) : put(w, p, first, now);
  return done && compute(w, now) && get(w, D, first, now);
}

bool smma_device_rows(const smma_device *device, const smma_operation *o, const smma_row_selection *selection,
                      const smma_batch *batch, char message[SMMA_DEVICE_MESSAGE]) {
  void *const host[PARTS] = {(void *)batch->a,       (void *)batch->b,       (void *)batch->c,
                             (void *)batch->scale_a, (void *)batch->scale_b, batch->d};
  const size_t count = batch->rows;
  work w;
  bool done = open_work(device, o, count, message, &w);
  memcpy(w.host, host, sizeof host);
  done = done && (selection || batch->c || put_zeros(&w));
  for (size_t first = 0; first < count && done; first += w.capacity)
    done = compute_part(&w, selection, first, count - first < w.capacity ? count - first : w.capacity);
  release(&w);
  return done;
}

/* The result of a comparison, as smma_device_difference, and its buffer on the device. */
typedef struct {
  uint32_t rows, first;
  void *buffer;
} difference;

/* Compares the results of the `count` rows in the buffers with those of another operation; `number` is the number of
   the first of these rows. */
static bool compare(const work *w, void *other, const smma_operation *o, bool any_nan, size_t number, size_t count,
                    const difference *d) {
  const int32_t rows = (int32_t)count, either = any_nan;
  const uint32_t first = (uint32_t)number;
  const smma_kernel_argument arguments[] = {VALUE(*o),   VALUE(rows),          VALUE(first),     VALUE(either),
                                            OPERANDS(w), BUFFER(w->buffer[D]), BUFFER(d->buffer)};
  return LAUNCH(w, other, "smma_kernel_compare", count, arguments);
}

static bool compare_all(const work *w, const smma_operation *o, bool any_nan, const smma_row_selection *selection,
                        size_t count, difference *d) {
  enum { BYTES = offsetof(difference, buffer) };
  void *state = w->device->state, *other = smma_device_program(w->device, o, w->message);
  bool done = other && (d->buffer = w->driver->allocate(state, BYTES, w->message)) &&
              w->driver->write(state, d->buffer, d, BYTES, w->message);
  for (size_t first = 0; first < count && done; first += w->capacity) {
    const size_t now = count - first < w->capacity ? count - first : w->capacity;
    done = generate(w, selection, first, now) && compute(w, now) && compare(w, other, o, any_nan, first, now, d);
  }
  done = done && w->driver->read(state, d, d->buffer, BYTES, w->message);
  w->driver->release(state, d->buffer);
  return done;
}

bool smma_device_compare(const smma_device *device, const smma_operation operation[2], bool any_nan,
                         const smma_row_selection *selection, size_t count, smma_device_difference *found,
                         char message[SMMA_DEVICE_MESSAGE]) {
  difference d = {0, UINT32_MAX, NULL};
  work w;
  const bool done = open_work(device, &operation[0], count, message, &w) &&
                    compare_all(&w, &operation[1], any_nan, selection, count, &d);
  release(&w);
  *found = (smma_device_difference){d.rows, d.first};
  return done;
}
