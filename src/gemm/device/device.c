#include "gemm/device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/kernels/arguments.h"
#include "gemm/device/choice.h"
#include "gemm/device/resident.h"
#include "gemm/element.h"
#include "gemm/gather.h"
#include "gemm/kernel.h"
#include "gemm/row.h"
#include "host/count.h"
#include "host/error.h"
#include "host/load.h"
#include "host/thread.h"

#define COUNT(x) (sizeof(x) / sizeof *(x))

enum {
  GRAIN = 64,        /* rows and columns of buffers are padded to multiples of this number */
  DEPTH = 1024,      /* the most indices k that are uploaded at a time to a GPU */
  CACHED_DEPTH = 128 /* the same for a CPU device, in whose caches they must fit */
};

/* The most rows and columns of a section of D, multiples of GRAIN: CUDA grids have at most 65535 blocks along the second
   axis. Columns are along this axis when B is packed, at least GRAIN of them in a block. */
enum { MOST_ROWS = 65472, MOST_COLUMNS = MOST_ROWS * GRAIN };

enum { OF_A, OF_B, OPERANDS };

/* A device's buffers for a section of D. */
typedef struct {
  void **sums;                                  /* the accumulators, then the registers of the schedule */
  void *from;                                   /* for each element the step from which the core's kernel continues */
  void *codes[OPERANDS];                        /* encodings of the operands */
  void *values[OPERANDS], *exponents[OPERANDS]; /* operands as the fast kernel reads them */
  void *scales[OPERANDS];                       /* scale factors of the instruction's blocks */
  void *factors[OPERANDS];                      /* scale factors of one of a plan's blocks of K */
} buffers;

/* A section of D and the memory that holds its sums. */
typedef struct {
  size_t row, column, rows, columns; /* position and size in D */
  size_t rows_apart, columns_apart;  /* padded size: see smma_extent */
  unsigned char *sums;               /* sums on the host; NULL if the device computes D from the sums directly */
} part;

/* A product on a device. */
typedef struct {
  const smma_multiplier *multiplier;
  const smma_device *device;
  smma_device_choice fast;                             /* the fast kernel, if there is one */
  void *program;                                       /* the operation's kernels */
  size_t rows, columns;                                /* size of the largest section */
  size_t steps;                                        /* steps uploaded at a time */
  size_t sum_bytes, code_bytes[OPERANDS], scale_bytes; /* bytes of an accumulator, an encoding, a scale factor */
  unsigned char *space;                                /* memory on the host for the codes of an operand */
  bool resident;                                       /* the matrices are in the device's memory */
  smma_resident matrices;                              /* used if `resident` */
  part *parts;
  size_t count; /* number of parts */
  int threads;  /* number of threads of the host; 1 if the device is this CPU, which waiting threads would slow down */
  char message[SMMA_DEVICE_MESSAGE];
  buffers b;
} job;

static size_t most(size_t x, size_t y) { return x > y ? x : y; }
static size_t padded(size_t x) { return (x + GRAIN - 1) / GRAIN * GRAIN; }
/* Returns the distance from an index k to the next: an odd number of GRAINs, because addresses that differ by a
   power of two compete for the same cache lines. */
static size_t apart_of(size_t lines) { return padded(lines) / GRAIN % 2 ? padded(lines) : padded(lines) + GRAIN; }

/* ---- Sizes ---- */

/* Returns how many sums each element of D has: its accumulator and its registers. */
static size_t places(const job *j) { return 1 + j->multiplier->schedule.registers; }

static size_t scales_at_once(const job *j) {
  const smma_operation *o = &j->multiplier->operation;
  return j->steps * (size_t)smma_scale_count(o->k, o->scale_block);
}

/* Returns the number of panels along K that hold `depth` products of a line. */
static int panels_of(const job *j, int depth) {
  const int stage = j->fast.panels.stage;
  return (depth + stage - 1) / stage * stage / j->fast.panels.depth;
}

/* Returns the number of panels side by side that hold `lines` lines. */
static size_t blocks_of(const job *j, size_t lines) {
  const size_t of_panel = (size_t)j->fast.panels.lines;
  return (lines + of_panel - 1) / of_panel;
}

/* value_bytes and exponent_bytes return the sizes of the buffers `values` and `exponents` for `lines` lines of an
   operand. They hold panels and flags of lines if the fast kernel reads panels, otherwise decoded numbers. */
static size_t value_bytes(const job *j, size_t lines) {
  const size_t depth = j->steps * (size_t)j->multiplier->operation.k;
  if (j->fast.in_panels) return blocks_of(j, lines) * (size_t)panels_of(j, (int)depth) * (size_t)j->fast.panels.bytes;
  return j->fast.kernel ? lines * depth * sizeof(float) : 0;
}
static size_t exponent_bytes(const job *j, size_t lines) {
  if (j->fast.in_panels) return lines + (size_t)j->fast.panels.lines;
  return value_bytes(j, lines) / sizeof(float) * sizeof(int);
}

/* Returns the bytes of all buffers of a section. Sets `*largest` to the bytes of the largest buffer. */
static double part_bytes(const job *j, size_t rows, size_t columns, double *largest) {
  const double sums = (double)apart_of(rows) * (double)apart_of(columns),
               depth = (double)(j->steps * (size_t)j->multiplier->operation.k);
  const double lines = (double)apart_of(rows) + (double)apart_of(columns);
  const double codes = lines * depth * (double)most(j->code_bytes[OF_A], j->code_bytes[OF_B]);
  const double values = (double)value_bytes(j, apart_of(rows)) + (double)value_bytes(j, apart_of(columns));
  const double exponents = (double)exponent_bytes(j, apart_of(rows)) + (double)exponent_bytes(j, apart_of(columns));
  *largest = sums * (double)j->sum_bytes;
  if (*largest < codes) *largest = codes;
  if (*largest < values) *largest = values;
  return sums * ((double)places(j) * (double)j->sum_bytes + 4) + codes + values + exponents +
         lines * ((double)scales_at_once(j) + 4);
}

/* Chooses the size of sections and the number of steps uploaded at a time: halves the longer side, then the number of
   steps, until the buffers fit in `memory` bytes. Returns false with a message if even the least sizes do not fit. */
static bool choose_sizes(job *j, double memory) {
  const smma_multiplier *p = j->multiplier;
  const smma_device_description *is = &j->device->is;
  const size_t k = (size_t)p->operation.k, depth = is->width > 1 ? CACHED_DEPTH : DEPTH;
  double largest;
  j->steps = smma_least(p->steps, depth / k ? depth / k : 1);
  j->rows = smma_least(p->with.m, MOST_ROWS), j->columns = smma_least(p->with.n, MOST_COLUMNS);
  while (part_bytes(j, j->rows, j->columns, &largest) > memory || largest > (double)is->largest) {
    size_t *longer = j->rows > j->columns ? &j->rows : &j->columns;
    if (*longer > GRAIN) {
      *longer = padded(*longer / 2);
    } else if (j->steps > 1) {
      j->steps /= 2;
    } else {
      snprintf(j->message, sizeof j->message, "%s has too little memory for %zu rows and columns", is->name,
               (size_t)GRAIN);
      return false;
    }
  }
  return true;
}

/* Divides D into sections and allocates their sums on the host. Returns false if there is no memory. */
static bool make_parts(job *j) {
  const smma_multiplier *p = j->multiplier;
  const size_t down = (p->with.m + j->rows - 1) / j->rows, across = (p->with.n + j->columns - 1) / j->columns;
  j->parts = calloc(down * across, sizeof *j->parts);
  if (!j->parts) return false;
  for (j->count = 0; j->count < down * across; j->count++) {
    part *t = &j->parts[j->count];
    t->row = j->count / across * j->rows, t->column = j->count % across * j->columns;
    t->rows = smma_least(j->rows, p->with.m - t->row), t->columns = smma_least(j->columns, p->with.n - t->column);
    t->rows_apart = apart_of(t->rows), t->columns_apart = apart_of(t->columns);
    if (j->resident && down * across == 1) continue;
    t->sums = calloc(t->rows_apart * t->columns_apart, j->sum_bytes);
    if (!t->sums) return j->count++, false;
  }
  return true;
}

/* ---- The device ---- */

static bool allocate(job *j, size_t bytes, void **buffer) {
  *buffer = j->device->driver->allocate(j->device->state, bytes, j->message);
  return *buffer;
}

static bool allocate_all(job *j) {
  const size_t sums = apart_of(j->rows) * apart_of(j->columns), depth = j->steps * (size_t)j->multiplier->operation.k;
  bool done = allocate(j, sums * sizeof(int), &j->b.from);
  for (size_t i = 0; i < places(j); i++) done = done && allocate(j, sums * j->sum_bytes, &j->b.sums[i]);
  for (int i = 0; i < OPERANDS; i++) {
    const size_t lines = apart_of(i == OF_A ? j->rows : j->columns);
    done = done && allocate(j, lines * depth * j->code_bytes[i], &j->b.codes[i]) &&
           allocate(j, lines * scales_at_once(j) * j->scale_bytes, &j->b.scales[i]) &&
           allocate(j, lines * sizeof(float), &j->b.factors[i]) &&
           allocate(j, value_bytes(j, lines), &j->b.values[i]) &&
           allocate(j, exponent_bytes(j, lines), &j->b.exponents[i]);
  }
  return done;
}

static void release_buffer(job *j, void **buffer) {
  j->device->driver->release(j->device->state, *buffer);
  *buffer = NULL;
}

static void release_all(job *j) {
  for (size_t i = 0; j->b.sums && i < places(j); i++) release_buffer(j, &j->b.sums[i]);
  release_buffer(j, &j->b.from);
  release_buffer(j, &j->matrices.order);
  for (int i = 0; i < OPERANDS; i++) {
    release_buffer(j, &j->b.codes[i]), release_buffer(j, &j->b.values[i]), release_buffer(j, &j->b.exponents[i]);
    release_buffer(j, &j->b.scales[i]), release_buffer(j, &j->b.factors[i]);
  }
}

/* Allocates buffers for sections as large as possible. If an allocation fails, tries half the memory, because other
   processes use the device's memory, too. */
static bool claim_memory(job *j) {
  double memory = 0.9 * (double)j->device->is.memory, largest;
  if (!choose_sizes(j, memory)) return false;
  while (!allocate_all(j)) {
    char reason[SMMA_DEVICE_MESSAGE];
    memcpy(reason, j->message, sizeof reason);
    release_all(j);
    memory = 0.5 * part_bytes(j, j->rows, j->columns, &largest);
    if (choose_sizes(j, memory)) continue;
    memcpy(j->message, reason, sizeof reason);
    return false;
  }
  return true;
}

static bool launch(job *j, const char *kernel, size_t x, size_t y, size_t group, const smma_kernel_argument *arguments,
                   size_t count) {
  const size_t items[2] = {x, y};
  return smma_device_launch(j->device, j->program, kernel, items, group, arguments, count, j->message);
}

#define VALUE(x) \
  { NULL, &(x), sizeof(x) }
#define BUFFER(x) \
  { x, NULL, 0 }

static smma_extent extent_of(const part *t, size_t steps) {
  return (smma_extent){(int)t->rows, (int)t->columns, (int)t->rows_apart, (int)t->columns_apart, (int)steps};
}

/* Runs the kernel of a plan's tasks on two buffers with one number for each element of the section. */
static bool fold(job *j, const part *t, smma_fold_task f, void *to, void *from) {
  const smma_extent e = extent_of(t, 0);
  const smma_kernel_argument arguments[] = {
      VALUE(j->multiplier->operation), VALUE(e), VALUE(f), BUFFER(to), BUFFER(from), BUFFER(j->b.factors[OF_A]),
      BUFFER(j->b.factors[OF_B])};
  return launch(j, "smma_kernel_fold", t->columns_apart, t->rows, GRAIN, arguments, COUNT(arguments));
}

/* Sets all numbers of a section's buffer to 0. */
static bool clear(job *j, const part *t, smma_format format, void *buffer) {
  return fold(j, t, (smma_fold_task){.outer = (int)format, .clears = 1}, buffer, buffer);
}

/* ---- Operands ---- */

/* Copies encodings of `lines` lines, `count` indices from k on, to j->space as the device reads them: those with the
   same k are contiguous, and those with the next k begin `apart` encodings later. Absent elements are +0. */
static void gather_codes(const job *j, bool of_a, size_t line, size_t lines, size_t apart, size_t k, size_t count) {
  const smma_multiplier *p = j->multiplier;
  const smma_view *view = smma_view_of(p, of_a);
  const size_t bytes = j->code_bytes[of_a ? OF_A : OF_B];
  memset(j->space, 0, apart * count * bytes);
#pragma omp parallel for num_threads(j->threads) schedule(static) if (j->threads > 1)
  for (size_t i = 0; i < lines; i += GRAIN) {
    const size_t here = smma_least(GRAIN, lines - i);
    unsigned char *out = j->space + i * bytes;
    if (view->factor == 1)
      smma_gather(view, line + i, here, apart, k, count, out);
    else
      for (size_t x = 0; x < here; x++)
        for (size_t y = 0; y < count; y++)
          smma_store(bytes, out, y * apart + x, smma_code_at(p, of_a, line + i + x, k + y));
  }
}

/* Copies `count` scale factors of each line, from factor `first` on, to j->space in the same order. */
static void gather_scales(const job *j, bool of_a, size_t line, size_t lines, size_t apart, size_t first,
                          size_t count) {
  for (size_t i = 0; i < count; i++)
    for (size_t x = 0; x < lines; x++)
      smma_store(j->scale_bytes, j->space, i * apart + x, smma_scale_code_at(j->multiplier, of_a, line + x, first + i));
}

/* Packs an operand's codes on the device into panels, as the fast kernel reads them. */
static bool pack_panels(job *j, bool of_a, int lines, int depth) {
  const int which = of_a ? OF_A : OF_B, of = of_a;
  const size_t flags = exponent_bytes(j, (size_t)lines), of_panel = (size_t)j->fast.panels.lines;
  const smma_kernel_argument arguments[] = {VALUE(j->multiplier->operation),
                                            VALUE(of),
                                            VALUE(lines),
                                            VALUE(depth),
                                            BUFFER(j->b.codes[which]),
                                            BUFFER(j->b.scales[which]),
                                            BUFFER(j->b.values[which]),
                                            BUFFER(j->b.exponents[which])};
  memset(j->space, 0, flags);
  return j->device->driver->write(j->device->state, j->b.exponents[which], j->space, flags, j->message) &&
         launch(j, j->fast.panels.pack, (size_t)panels_of(j, depth) * of_panel, blocks_of(j, (size_t)lines), of_panel,
                arguments, COUNT(arguments));
}

/* Copies `count` scale factors of each line, from factor `first` on, to the device's buffer. */
static bool fetch_scales(job *j, bool of_a, size_t line, size_t lines, size_t apart, size_t first, size_t count) {
  void *to = j->b.scales[of_a ? OF_A : OF_B];
  if (j->resident)
    return smma_resident_gather(&j->matrices, SMMA_RESIDENT_SCALES, of_a, line, lines, apart, first, count, to);
  gather_scales(j, of_a, line, lines, apart, first, count);
  return j->device->driver->write(j->device->state, to, j->space, apart * count * j->scale_bytes, j->message);
}

/* Copies `count` elements of each line, from index k on, to the device's buffer. */
static bool fetch_codes(job *j, bool of_a, size_t line, size_t lines, size_t apart, size_t k, size_t count) {
  const int which = of_a ? OF_A : OF_B;
  void *to = j->b.codes[which];
  if (j->resident)
    return smma_resident_gather(&j->matrices, SMMA_RESIDENT_CODES, of_a, line, lines, apart, k, count, to);
  gather_codes(j, of_a, line, lines, apart, k, count);
  return j->device->driver->write(j->device->state, to, j->space, apart * count * j->code_bytes[which], j->message);
}

/* Uploads an operand's codes and scale factors for `steps` steps. On the device, converts them to what the fast kernel
   reads. */
static bool upload(job *j, const part *t, bool of_a, size_t step, size_t steps) {
  const smma_operation *o = &j->multiplier->operation;
  const int which = of_a ? OF_A : OF_B, lines_apart = (int)(of_a ? t->rows_apart : t->columns_apart), of = of_a;
  const size_t k = (size_t)o->k, line = of_a ? t->row : t->column, lines = of_a ? t->rows : t->columns;
  const size_t apart = (size_t)lines_apart, scales = (size_t)smma_scale_count(o->k, o->scale_block);
  const smma_kernel_argument arguments[] = {VALUE(*o),
                                            VALUE(of),
                                            VALUE(lines_apart),
                                            BUFFER(j->b.codes[which]),
                                            BUFFER(j->b.scales[which]),
                                            BUFFER(j->b.values[which]),
                                            BUFFER(j->b.exponents[which])};
  if (scales && !fetch_scales(j, of_a, line, lines, apart, step * scales, steps * scales)) return false;
  if (!fetch_codes(j, of_a, line, lines, apart, step * k, steps * k)) return false;
  if (j->fast.in_panels) return pack_panels(j, of_a, lines_apart, (int)(steps * k));
  return !j->fast.kernel || launch(j, "smma_kernel_factors", apart, steps * k, GRAIN, arguments, COUNT(arguments));
}

/* ---- Steps ---- */

/* Runs a fast kernel that does not read panels. */
static bool run_fast(job *j, const part *t, smma_extent e) {
  const smma_kernel_argument arguments[] = {VALUE(j->multiplier->operation),
                                            VALUE(e),
                                            BUFFER(j->b.codes[OF_A]),
                                            BUFFER(j->b.codes[OF_B]),
                                            BUFFER(j->b.values[OF_A]),
                                            BUFFER(j->b.exponents[OF_A]),
                                            BUFFER(j->b.values[OF_B]),
                                            BUFFER(j->b.exponents[OF_B]),
                                            BUFFER(j->b.scales[OF_A]),
                                            BUFFER(j->b.scales[OF_B]),
                                            BUFFER(j->b.sums[0]),
                                            BUFFER(j->b.from)};
  const size_t width = (size_t)j->device->is.width;
  const size_t across = padded(t->columns) / width, down = padded(t->rows) / SMMA_ITEM_ROWS;
  if (width == 1) return launch(j, j->fast.kernel, across, down, GRAIN, arguments, COUNT(arguments));
  /* On a CPU, rows are along the first axis: see SMMA_ROW_AXIS. */
  return launch(j, j->fast.kernel, down, across, 1, arguments, COUNT(arguments));
}

static bool run_panels(job *j, const part *t, smma_extent e) {
  const int panels = panels_of(j, e.steps * j->multiplier->operation.k);
  const smma_kernel_argument arguments[] = {VALUE(e),
                                            VALUE(panels),
                                            VALUE(j->fast.panels.number),
                                            BUFFER(j->b.values[OF_A]),
                                            BUFFER(j->b.values[OF_B]),
                                            BUFFER(j->b.exponents[OF_A]),
                                            BUFFER(j->b.exponents[OF_B]),
                                            BUFFER(j->b.sums[0]),
                                            BUFFER(j->b.from)};
  const size_t threads = (size_t)j->fast.panels.threads;
  return launch(j, j->fast.kernel, blocks_of(j, t->columns_apart) * threads, blocks_of(j, t->rows_apart), threads,
                arguments, COUNT(arguments));
}

static bool run_core(job *j, const part *t, smma_extent e) {
  const int outer = (int)j->multiplier->outer;
  const smma_kernel_argument arguments[] = {VALUE(j->multiplier->operation),
                                            VALUE(e),
                                            VALUE(outer),
                                            BUFFER(j->b.codes[OF_A]),
                                            BUFFER(j->b.codes[OF_B]),
                                            BUFFER(j->b.scales[OF_A]),
                                            BUFFER(j->b.scales[OF_B]),
                                            BUFFER(j->b.sums[0]),
                                            BUFFER(j->b.from)};
  return launch(j, "smma_kernel_core", t->columns_apart, t->rows, GRAIN, arguments, COUNT(arguments));
}

/* Computes steps: first by the fast kernel, which stops at steps that it cannot compute, then from there by the core's
   kernel. Without a fast kernel, the core's kernel computes all steps. */
static bool run_steps(job *j, const part *t, size_t step, size_t steps) {
  const smma_extent e = extent_of(t, steps);
  if (!upload(j, t, true, step, steps) || !upload(j, t, false, step, steps)) return false;
  if (j->fast.in_panels ? !run_panels(j, t, e)
      : j->fast.kernel  ? !run_fast(j, t, e)
                        : !clear(j, t, SMMA_F32, j->b.from))
    return false;
  return run_core(j, t, e);
}

/* ---- Plans ---- */

static void *place_of(const job *j, int place) { return j->b.sums[1 + place]; }

/* Uploads the scale factors of the block of K that contains task->k. */
static bool upload_factors(job *j, const part *t, const smma_task *task) {
  const smma_multiplier *p = j->multiplier;
  const size_t this = task->k / p->part_k, parts = (p->with.k + p->part_k - 1) / p->part_k;
  float *factor = (float *)j->space;
  for (int which = 0; which < OPERANDS; which++) {
    const float *scale = which == OF_A ? p->with.scale_a : p->with.scale_b;
    const size_t line = which == OF_A ? t->row : t->column, lines = which == OF_A ? t->rows : t->columns;
    if (j->resident) {
      if (!smma_resident_gather(&j->matrices, SMMA_RESIDENT_FACTORS, which == OF_A, line, lines, padded(lines), this, 1,
                                j->b.factors[which]))
        return false;
      continue;
    }
    for (size_t i = 0; i < lines; i++) factor[i] = scale[(line + i) * parts + this];
    if (!j->device->driver->write(j->device->state, j->b.factors[which], factor, lines * sizeof *factor, j->message))
      return false;
  }
  return true;
}

static bool do_task(job *j, const part *t, const smma_task *task) {
  const smma_fold_task f = {.outer = (int)j->multiplier->outer,
                            .clears = task->kind == SMMA_TASK_CLEAR,
                            .folds = task->kind == SMMA_TASK_FOLD,
                            .scaled = task->kind == SMMA_TASK_FOLD && task->with != SMMA_WITH_ADD,
                            .fused = task->with == SMMA_WITH_FMA,
                            .column_first = task->with == SMMA_WITH_MULTIPLY_B_FMA,
                            .stored = task->stored,
                            .total = task->total};
  if (f.scaled && !upload_factors(j, t, task)) return false;
  if (!fold(j, t, f, place_of(j, task->to), place_of(j, task->from))) return false;
  if (task->from != SMMA_IN_ACCUMULATOR || f.clears) return true;
  return clear(j, t, j->multiplier->outer, place_of(j, SMMA_IN_ACCUMULATOR));
}

/* ---- Sections of D ---- */

/* Applies a function of row.h to every row of a section's sums on the host. */
static void for_rows(const job *j, const part *t,
                     void (*act)(const smma_multiplier *, size_t, size_t, size_t, void *)) {
#pragma omp parallel for num_threads(j->threads) schedule(static) if (j->threads > 1)
  for (size_t i = 0; i < t->rows; i++) {
    const smma_float_state state = smma_float_enter(SMMA_MODE_NEAREST_EVEN);
    act(j->multiplier, t->row + i, t->column, t->columns, t->sums + i * t->columns_apart * j->sum_bytes);
    smma_float_leave(state);
  }
}

static smma_resident_part resident_part(const part *t) {
  return (smma_resident_part){t->row, t->column, extent_of(t, 0)};
}

/* Sets the accumulators and registers on the device to 0, and the sums that start from C to C. */
static bool begin(job *j, const part *t) {
  const smma_multiplier *p = j->multiplier;
  const smma_resident_part place = resident_part(t);
  for (size_t i = 0; i < places(j); i++)
    if (!clear(j, t, p->outer, j->b.sums[i])) return false;
  if (!smma_starts_from_c(p)) return true;
  if (j->resident) return smma_resident_start(&j->matrices, &place, place_of(j, p->schedule.start));
  for_rows(j, t, smma_start_row);
  return j->device->driver->write(j->device->state, place_of(j, p->schedule.start), t->sums,
                                  t->rows_apart * t->columns_apart * j->sum_bytes, j->message);
}

/* Reports progress; returns false if the caller wants to stop. */
static bool tell(const job *j, size_t part_number, size_t step) {
  const smma_gemm_arguments *g = &j->multiplier->with;
  const double done = ((double)part_number + (double)step / (double)most(j->multiplier->steps, 1)) / (double)j->count;
  return !g->progress || g->progress((size_t)(done * (double)g->m), g->m, g->progress_context) == 0;
}

/* Computes the sums of a section. They stay on the device if D has only one section and the matrices are there, too. */
static smma_status run_part(job *j, size_t number) {
  const smma_multiplier *p = j->multiplier;
  const smma_schedule *s = &p->schedule;
  const part *t = &j->parts[number];
  size_t task = 0;
  if (!begin(j, t)) return SMMA_DEVICE_FAILED;
  for (size_t step = 0;;) {
    for (; task < s->tasks && s->task[task].step == step; task++)
      if (!do_task(j, t, &s->task[task])) return SMMA_DEVICE_FAILED;
    if (step == p->steps) break;
    const size_t boundary = task < s->tasks ? smma_least(s->task[task].step, p->steps) : p->steps;
    const size_t steps = smma_least(j->steps, boundary - step);
    if (!run_steps(j, t, step, steps)) return SMMA_DEVICE_FAILED;
    step += steps;
    if (!tell(j, number, step)) return SMMA_STOPPED;
  }
  if (!t->sums) return SMMA_OK;
  return j->device->driver->read(j->device->state, t->sums, place_of(j, s->result),
                                 t->rows_apart * t->columns_apart * j->sum_bytes, j->message)
             ? SMMA_OK
             : SMMA_DEVICE_FAILED;
}

/* Computes a section of D from its sums and stores it. */
static bool finish(job *j, const part *t) {
  const smma_driver *driver = j->device->driver;
  const smma_resident_part place = resident_part(t);
  void *sums = place_of(j, j->multiplier->schedule.result);
  if (!j->resident) return for_rows(j, t, smma_finish_row), true;
  if (t->sums &&
      !driver->write(j->device->state, sums, t->sums, t->rows_apart * t->columns_apart * j->sum_bytes, j->message))
    return false;
  return smma_resident_finish(&j->matrices, &place, sums) && driver->wait(j->device->state, j->message);
}

static smma_status run_parts(job *j) {
  const smma_multiplier *p = j->multiplier;
  smma_status status = SMMA_OK;
  size_t depth, lines;
  j->b.sums = calloc(places(j), sizeof *j->b.sums);
  if (!j->b.sums) return SMMA_NO_MEMORY;
  j->program = smma_device_program(j->device, &p->operation, j->message);
  if (!j->program || !claim_memory(j)) return SMMA_DEVICE_FAILED;
  depth = j->steps * (size_t)p->operation.k, lines = most(apart_of(j->rows), apart_of(j->columns));
  j->space = malloc(lines * (depth * most(j->code_bytes[OF_A], j->code_bytes[OF_B]) + sizeof(float)) + 64);
  if (!j->space || !make_parts(j)) return SMMA_NO_MEMORY;
  j->matrices = (smma_resident){.multiplier = p, .program = j->program, .message = j->message};
  if (j->resident && !smma_resident_begin(&j->matrices)) return SMMA_DEVICE_FAILED;
  for (size_t i = 0; i < j->count && status == SMMA_OK; i++) status = run_part(j, i);
  for (size_t i = 0; i < j->count && status == SMMA_OK; i++)
    if (!finish(j, &j->parts[i])) status = SMMA_DEVICE_FAILED;
  return status;
}

smma_status smma_compute_unchecked(const smma_multiplier *p) {
  const smma_operation *o = &p->operation;
  const smma_gemm_arguments *g = &p->with;
  job j = {.multiplier = p,
           .device = p->device,
           .fast = smma_device_choose(&p->device->is, o),
           .sum_bytes = smma_bytes_of(p->outer),
           .code_bytes = {smma_bytes_of(o->a), smma_bytes_of(o->b)},
           .resident = g->on_device,
           .scale_bytes = o->scale_block ? smma_bytes_of(o->scale) : 0,
           .threads = p->device->is.width > 1 ? 1 : smma_threads(g->threads)};
  smma_status status;
  smma_device_lock(j.device);
  status = j.resident ? smma_resident_check(p, j.message) : SMMA_OK;
  if (status == SMMA_OK) status = run_parts(&j);
  release_all(&j);
  smma_device_unlock(j.device);
  for (size_t i = 0; j.parts && i < j.count; i++) free(j.parts[i].sums);
  free(j.parts);
  free(j.space);
  free(j.b.sums);
  if (status != SMMA_OK && j.message[0]) smma_set_error(g->error, status, "%s", j.message);
  return status;
}

smma_status smma_compute_on_device(const smma_multiplier *p) {
  char message[SMMA_DEVICE_MESSAGE] = "";
  smma_status status = SMMA_OK;
  if (!smma_device_is_checked(p->device, &p->operation)) {
    status = smma_check_device(p->device, &p->operation, message);
    if (status == SMMA_OK && !smma_device_set_checked(p->device, &p->operation)) status = SMMA_NO_MEMORY;
  }
  if (status == SMMA_OK) return smma_compute_unchecked(p);
  return status == SMMA_DEVICE_FAILED ? smma_set_error(p->with.error, status, "%s", message) : status;
}
