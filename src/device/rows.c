#include "device/rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/load.h"

enum { A, B, C, SCALE_A, SCALE_B, D, PARTS };

/* Rows that are computed at a time, if the device has room for as many; at least LEAST, and a multiple of GROUP. */
enum { AT_ONCE = 1 << 18, LEAST = 256, GROUP = 64 };

typedef struct {
  const smma_device *device;
  const smma_driver *driver;
  void *program;
  size_t bytes[PARTS];        /* of one row */
  unsigned char *host[PARTS]; /* NULL where there is none */
  void *buffer[PARTS];
  size_t capacity;
  char *message;
} work;

static void set_sizes(work *w, const smma_operation *o) {
  const size_t k = (size_t)o->k, scales = (size_t)smma_scale_count(o->k, o->scale_block);
  const size_t scale = scales * smma_container_bytes(smma_encoding_of(o->scale));
  w->bytes[A] = k * smma_container_bytes(smma_encoding_of(o->a));
  w->bytes[B] = k * smma_container_bytes(smma_encoding_of(o->b));
  w->bytes[C] = smma_container_bytes(smma_encoding_of(o->c));
  w->bytes[SCALE_A] = w->bytes[SCALE_B] = scale;
  w->bytes[D] = smma_container_bytes(smma_encoding_of(o->d));
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

/* Room for `count` rows, or for fewer. */
static bool open_work(const smma_device *device, const smma_operation *o, const smma_batch *x, char *message, work *w) {
  void *const host[PARTS] = {(void *)x->a, (void *)x->b, (void *)x->c, (void *)x->scale_a, (void *)x->scale_b, x->d};
  *w = (work){.device = device, .driver = device->driver, .message = message};
  memcpy(w->host, host, sizeof host);
  set_sizes(w, o);
  w->program = w->driver->program(w->device->state, o, w->message);
  if (!w->program) return false;
  w->capacity = x->rows < AT_ONCE ? x->rows : AT_ONCE;
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

/* Starts the kernel; without a selection, of the operands that it finds. */
static bool launch(const work *w, const smma_operation *o, const smma_row_selection *selection, size_t count) {
  enum { OTHERS = 4 };
  const size_t items[2] = {(count + GROUP - 1) / GROUP * GROUP, 1};
  const smma_row_selection none = {0, 0, 0, 0};
  const int32_t rows = (int32_t)count, generated = selection != NULL;
  smma_kernel_argument x[OTHERS + PARTS] = {{NULL, o, sizeof *o},
                                            {NULL, &rows, sizeof rows},
                                            {NULL, selection ? selection : &none, sizeof none},
                                            {NULL, &generated, sizeof generated}};
  /* Where rows have no such part nothing is read, but the kernel wants a buffer. */
  for (int p = 0; p < PARTS; p++) x[OTHERS + p].buffer = w->buffer[w->bytes[p] ? p : D];
  return smma_device_launch(w->device, w->program, "smma_kernel_rows", items, GROUP, x, OTHERS + PARTS, w->message);
}

static bool put_zeros(work *w) {
  unsigned char *zeros = calloc(w->capacity, w->bytes[C]);
  bool done;
  if (!zeros) return snprintf(w->message, SMMA_DEVICE_MESSAGE, "out of memory"), false;
  done = w->driver->write(w->device->state, w->buffer[C], zeros, w->capacity * w->bytes[C], w->message);
  free(zeros);
  return done;
}

/* `now` rows from `first` on. */
static bool compute_part(const work *w, const smma_operation *o, const smma_row_selection *selection, size_t first,
                         size_t now) {
  bool done = true;
  if (selection) {
    smma_row_selection part = *selection;
    part.first += first;
    done = launch(w, o, &part, now);
    for (int p = 0; p < D && done; p++) done = get(w, p, first, now);
  } else {
    for (int p = 0; p < D && done; p++) done = put(w, p, first, now);
    done = done && launch(w, o, NULL, now);
  }
  return done && get(w, D, first, now);
}

bool smma_device_rows(const smma_device *device, const smma_operation *o, const smma_row_selection *selection,
                      const smma_batch *batch, char message[SMMA_DEVICE_MESSAGE]) {
  const size_t count = batch->rows;
  work w;
  bool done;
  done = open_work(device, o, batch, message, &w) && (selection || batch->c || put_zeros(&w));
  for (size_t first = 0; first < count && done; first += w.capacity)
    done = compute_part(&w, o, selection, first, count - first < w.capacity ? count - first : w.capacity);
  release(&w);
  return done;
}
