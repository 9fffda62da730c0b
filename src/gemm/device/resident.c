#include "gemm/device/resident.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "gemm/element.h"
#include "gemm/row.h"
#include "host/load.h"

#define COUNT(x) (sizeof(x) / sizeof *(x))
#define VALUE(x) \
  { NULL, &(x), sizeof(x) }
#define BUFFER(x) \
  { (void *)(x), NULL, 0 }

/* Work items per group. */
enum { GROUP = 64 };

_Static_assert((int)SMMA_FINISH_ALPHA == SMMA_EPILOGUE_ALPHA && (int)SMMA_FINISH_LINEAR == SMMA_EPILOGUE_LINEAR &&
                   (int)SMMA_FINISH_BETA == SMMA_EPILOGUE_BETA && (int)SMMA_FINISH_BIAS == SMMA_EPILOGUE_BIAS &&
                   (int)SMMA_FINISH_SCALE_D == SMMA_EPILOGUE_SCALE_D && (int)SMMA_FINISH_RELU == SMMA_EPILOGUE_RELU &&
                   (int)SMMA_FINISH_ROUND == SMMA_EPILOGUE_ROUND && (int)SMMA_FINISH_CLAMP == SMMA_EPILOGUE_CLAMP &&
                   (int)SMMA_MOST_FINISHES == (int)SMMA_MOST_EPILOGUE,
               "kernels know the operations of an epilogue by the same numbers");

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Returns how many indices along K share a scale factor, or 0 without scale factors. */
static size_t scaled_k(const smma_multiplier *p) { return p->part_k ? p->part_k : (size_t)p->operation.scale_block; }

/* Returns the number of scale factors of a line. */
static size_t scales_of(const smma_multiplier *p) {
  const size_t block = scaled_k(p);
  return block ? (p->with.k + block - 1) / block : 0;
}

/* ---- Checks of the operands' memory ---- */

/* Reports whether an array, whose last element has the index `last`, is in the device's memory and aligned to its
   elements of `bytes` bytes. Also returns true if `data` is NULL. If it returns false, the message says why and calls
   the array `name`. */
static bool is_held(const smma_multiplier *p, const char *name, const void *data, size_t bytes, size_t last,
                    char message[SMMA_DEVICE_MESSAGE]) {
  const smma_driver *driver = p->device->driver;
  char where[SMMA_DEVICE_MESSAGE] = "";
  if (!data) return true;
  if ((uintptr_t)data % bytes) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "%s is not aligned to its elements of %zu bytes, as a device needs it", name,
             bytes);
    return false;
  }
  if (driver->holds(p->device->state, data, where) &&
      driver->holds(p->device->state, (const unsigned char *)data + last * bytes + bytes - 1, where))
    return true;
  snprintf(message, SMMA_DEVICE_MESSAGE, "%s is not in the memory of %.100s: it is %.100s", name, p->device->is.name,
           where);
  return false;
}

smma_status smma_resident_check(const smma_multiplier *p, char message[SMMA_DEVICE_MESSAGE]) {
  const smma_gemm_arguments *g = &p->with;
  const size_t m = g->m - 1, n = g->n - 1, k = g->k - 1, scales = scales_of(p);
  const size_t scale_bytes = smma_bytes_of(p->part_k ? SMMA_F32 : p->operation.scale);
  bool held = true;
  if (!p->device->driver->holds) {
    snprintf(message, SMMA_DEVICE_MESSAGE,
             "%s takes no operands in its device's memory, whose addresses mean nothing outside; cuda does",
             p->device->driver->name);
    return SMMA_INVALID_ARGUMENT;
  }
  if (g->k) {
    held = is_held(p, "A", g->a, smma_bytes_of(p->operation.a), smma_index_of(g->order_a, g->lda, m, k), message) &&
           is_held(p, "B", g->b, smma_bytes_of(p->operation.b), smma_index_of(g->order_b, g->ldb, k, n), message);
    if (scales)
      held = held && is_held(p, "A's scale factors", g->scale_a, scale_bytes, g->m * scales - 1, message) &&
             is_held(p, "B's scale factors", g->scale_b, scale_bytes, g->n * scales - 1, message);
  }
  if (g->beta != 0)
    held = held && is_held(p, "C", g->c, smma_bytes_of(p->c_format), smma_index_of(g->order_c, g->ldc, m, n), message);
  held = held && is_held(p, "the bias", g->bias, sizeof *g->bias, n, message) &&
         is_held(p, "D", g->d, smma_bytes_of(p->d_format), smma_index_of(g->order_d, g->ldd, m, n), message);
  if (!held) return SMMA_INVALID_ARGUMENT;
  return p->device->driver->wait(p->device->state, message) ? SMMA_OK : SMMA_DEVICE_FAILED;
}

/* ---- Kernels ---- */

static bool launch(const smma_resident *w, const char *kernel, size_t x, size_t y,
                   const smma_kernel_argument *arguments, size_t count) {
  const smma_device *device = w->multiplier->device;
  const size_t items[2] = {x, y};
  return smma_device_launch(device, w->program, kernel, items, GROUP, arguments, count, w->message);
}

bool smma_resident_begin(smma_resident *w) {
  const smma_schedule *s = &w->multiplier->schedule;
  const smma_device *device = w->multiplier->device;
  const size_t bytes = s->steps * s->k_per_step * sizeof *s->k;
  _Static_assert(sizeof *s->k == sizeof(uint64_t) && SMMA_NO_PRODUCT == UINT64_MAX, "the kernel reads the schedule's");
  if (s->in_order) return true;
  w->order = device->driver->allocate(device->state, bytes, w->message);
  return w->order && device->driver->write(device->state, w->order, s->k, bytes, w->message);
}

/* Describes how to gather elements of A or B, from line `line` on. */
static smma_gather_task codes_task(const smma_multiplier *p, bool of_a, size_t line) {
  const smma_view *v = smma_view_of(p, of_a);
  smma_gather_task t = {.format = (int)v->format, .count = v->count, .line_step = v->line_step, .k_step = v->k_step};
  t.first = line * v->line_step;
  t.scaled = v->factor != 1, t.factor = bits_of(v->factor);
  t.ordered = !p->schedule.in_order;
  if (t.ordered) t.count = p->schedule.steps * p->schedule.k_per_step;
  return t;
}

/* Describes how to gather scale factors, from line `line` on: those of a plan's blocks of K or of the instruction's
   blocks. After the last factor of a line come ones. */
static smma_gather_task scales_task(const smma_multiplier *p, size_t line) {
  smma_gather_task t = {.format = (int)(p->part_k ? SMMA_F32 : p->operation.scale), .k_step = 1};
  t.count = t.line_step = scales_of(p);
  t.first = line * t.line_step;
  t.behind =
      smma_encode_number(smma_encoding_of((smma_format)t.format), smma_decode(smma_encoding_of(SMMA_F64), bits_of(1)),
                         SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
  return t;
}

bool smma_resident_gather(const smma_resident *w, smma_resident_what what, bool of_a, size_t line, size_t lines,
                          size_t apart, size_t first, size_t count, void *to) {
  const smma_multiplier *p = w->multiplier;
  const bool codes = what == SMMA_RESIDENT_CODES;
  smma_gather_task t = codes ? codes_task(p, of_a, line) : scales_task(p, line);
  const void *scale = of_a ? p->with.scale_a : p->with.scale_b, *from = codes ? smma_view_of(p, of_a)->data : scale;
  const smma_kernel_argument arguments[] = {VALUE(t), BUFFER(from), BUFFER(w->order ? w->order : to), BUFFER(to)};
  t.lines = (int)lines, t.apart = (int)apart, t.k = first;
  return launch(w, "smma_kernel_gather", apart, count, arguments, COUNT(arguments));
}

/* Returns the position and layout of a section of C or D. */
static smma_part_place place_of(smma_format format, smma_order order, size_t leading, const smma_resident_part *part) {
  const bool rows = order == SMMA_ROW_MAJOR;
  return (smma_part_place){.format = (int)format,
                           .first = smma_index_of(order, leading, part->row, part->column),
                           .row_step = rows ? leading : 1,
                           .column_step = rows ? 1 : leading};
}

bool smma_resident_start(const smma_resident *w, const smma_resident_part *part, void *sums) {
  const smma_multiplier *p = w->multiplier;
  const smma_part_place c = place_of(p->c_format, p->with.order_c, p->with.ldc, part);
  const int outer = (int)p->outer;
  const uint64_t beta = bits_of(p->with.beta);
  const smma_kernel_argument arguments[] = {VALUE(p->operation), VALUE(part->extent), VALUE(c),    VALUE(outer),
                                            VALUE(beta),         BUFFER(p->with.c),   BUFFER(sums)};
  return launch(w, "smma_kernel_start", (size_t)part->extent.columns_apart, (size_t)part->extent.rows, arguments,
                COUNT(arguments));
}

bool smma_resident_finish(const smma_resident *w, const smma_resident_part *part, void *sums) {
  const smma_multiplier *p = w->multiplier;
  const smma_gemm_arguments *g = &p->with;
  const smma_part_place c = place_of(p->c_format, g->order_c, g->ldc, part),
                        d = place_of(p->d_format, g->order_d, g->ldd, part);
  smma_finish_task t = {.outer = (int)p->outer, .summed = p->with.k != 0, .count = (int)p->epilogues};
  /* Kernels need a buffer even if there is no matrix. */
  const smma_kernel_argument arguments[] = {VALUE(p->operation),
                                            VALUE(part->extent),
                                            VALUE(t),
                                            VALUE(c),
                                            VALUE(d),
                                            BUFFER(sums),
                                            BUFFER(g->c ? g->c : g->d),
                                            BUFFER(g->bias ? (const void *)g->bias : g->d),
                                            BUFFER(g->d)};
  t.reads_c = p->epilogues && g->c && g->beta != 0;
  t.alpha = bits_of(g->alpha), t.beta = bits_of(g->beta), t.scale_d = bits_of(g->scale_d);
  t.column = part->column;
  for (size_t i = 0; i < p->epilogues; i++)
    t.kind[i] = (int)p->epilogue[i].kind, t.format[i] = (int)p->epilogue[i].format;
  return launch(w, "smma_kernel_finish", (size_t)part->extent.columns_apart, (size_t)part->extent.rows, arguments,
                COUNT(arguments));
}
