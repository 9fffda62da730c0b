/* smma_dot and smma_dot_rows: dot-product-adds. Computes many test vectors at once in SIMD lanes if the operation
   allows it; otherwise the core computes them. */
#include "core/row.h"
#include "device/rows.h"
#include "gemm/lanes.h"
#include "host/error.h"
#include "host/float.h"
#include "host/load.h"
#include "host/sized.h"
#include "host/thread.h"
#include "isa/instruction.h"
#include "softmma/device.h"
#include "softmma/softmma.h"

/* Constants of a call that all rows share. */
typedef struct {
  smma_operation operation;
  const smma_batch *batch;
  size_t k, scales, a_bytes, b_bytes, scale_bytes, c_bytes, d_bytes;
  bool takes;               /* whether SIMD lanes can compute this operation */
  smma_row_function *alone; /* computes single rows when fewer rows remain than lanes; NULL: one lane computes them */
} row_plan;

static void make_plan(row_plan *p, const smma_instruction *i, const smma_batch *batch) {
  smma_set_operation(&p->operation, i);
  p->batch = batch;
  p->k = (size_t)i->k;
  p->scales = (size_t)smma_scale_count(i->k, i->scale_block);
  p->a_bytes = smma_bytes_of(i->a), p->b_bytes = smma_bytes_of(i->b);
  p->c_bytes = smma_bytes_of(i->c), p->d_bytes = smma_bytes_of(i->d);
  p->scale_bytes = p->scales ? smma_bytes_of(i->scale) : 0;
  p->takes = smma_lanes_take(&p->operation);
  p->alone = p->takes && p->operation.rule.algorithm == SMMA_T_FDPA ? smma_row_function_here() : NULL;
}

static uint64_t load_c(const row_plan *p, size_t row) {
  return p->batch->c ? smma_load(p->c_bytes, p->batch->c, row) : 0;
}

/* ---- Computation by the core ---- */

static void decode(smma_format format, const void *array, size_t row, size_t count, smma_number *out) {
  if (count) smma_decode_array(smma_encoding_of(format), array, row * count, 1, count, out);
}

static void compute_row(const row_plan *p, size_t row) {
  const smma_batch *x = p->batch;
  smma_decoded n;
  decode(p->operation.a, x->a, row, p->k, n.a);
  decode(p->operation.b, x->b, row, p->k, n.b);
  decode(p->operation.scale, x->scale_a, row, p->scales, n.scale_a);
  decode(p->operation.scale, x->scale_b, row, p->scales, n.scale_b);
  smma_store(p->d_bytes, x->d, row, smma_dot_add(&p->operation, smma_operands_of(&n), load_c(p, row)));
}

/* ---- Computation in SIMD lanes ---- */

static inline void load_lane(size_t bytes, const void *array, size_t first, size_t count, size_t lane,
                             smma_lane_codes *out) {
  for (size_t k = 0; k < count; k++) {
    const uint64_t code = smma_load(bytes, array, first + k);
    if (bytes == 8)
      memcpy(&out->f64[k][lane], &code, sizeof code);
    else
      out->code[k][lane] = (uint32_t)code;
  }
}

/* Loads the elements of SMMA_LANES rows as load_lane does, but in words of 8 bytes, which must divide a row. All lanes
   are computed at once only on little-endian machines. */
static inline void load_words(size_t bytes, const unsigned char *from, size_t count, smma_lane_codes *out) {
  const size_t each = 8 / bytes;
  for (size_t k = 0; k < count; k += each) {
    uint64_t word[SMMA_LANES];
    for (size_t i = 0; i < SMMA_LANES; i++) memcpy(&word[i], from + (i * count + k) * bytes, sizeof *word);
    for (size_t j = 0; j < each; j++)
      for (size_t i = 0; i < SMMA_LANES; i++)
        out->code[k + j][i] = (uint32_t)(word[i] >> 8 * bytes * j) & (uint32_t)(UINT64_MAX >> (64 - 8 * bytes));
  }
}

/* Loads `count` elements of each of `lanes` rows, beginning with row `row`. */
static void load(size_t bytes, const void *array, size_t row, size_t count, size_t lanes, smma_lane_codes *out) {
  if (lanes == SMMA_LANES && bytes < 8 && count * bytes % 8 == 0) {
    const unsigned char *from = (const unsigned char *)array + row * count * bytes;
    switch (bytes) {
      case 1: load_words(1, from, count, out); return;
      case 2: load_words(2, from, count, out); return;
      default: load_words(4, from, count, out); return;
    }
  }
  for (size_t i = 0; i < lanes; i++) switch (bytes) {
      case 1: load_lane(1, array, (row + i) * count, count, i, out); break;
      case 2: load_lane(2, array, (row + i) * count, count, i, out); break;
      case 4: load_lane(4, array, (row + i) * count, count, i, out); break;
      default: load_lane(8, array, (row + i) * count, count, i, out); break;
    }
}

/* Computes `lanes` rows, beginning with `row`; `function` must compute exactly this number of rows. */
static void compute_lanes(const row_plan *p, smma_lane_function *function, size_t row, size_t lanes) {
  const smma_lane_task task = {&p->operation, SMMA_ALL_BLOCKS, p->operation.c, p->operation.d};
  const smma_batch *x = p->batch;
  smma_lanes l;
  uint32_t left;
  load(p->a_bytes, x->a, row, p->k, lanes, &l.a);
  load(p->b_bytes, x->b, row, p->k, lanes, &l.b);
  if (p->scales) {
    load(p->scale_bytes, x->scale_a, row, p->scales, lanes, &l.scale_a);
    load(p->scale_bytes, x->scale_b, row, p->scales, lanes, &l.scale_b);
  }
  for (size_t i = 0; i < lanes; i++) l.c[i] = load_c(p, row + i);
  left = function(&task, &l);
  for (size_t i = 0; i < lanes; i++) {
    if (left >> i & 1)
      compute_row(p, row + i);
    else
      smma_store(p->d_bytes, x->d, row + i, l.d[i]);
  }
}

static void compute_alone(const row_plan *p, size_t row) {
  const smma_batch *x = p->batch;
  const void *a = (const unsigned char *)x->a + row * p->k * p->a_bytes;
  const void *b = (const unsigned char *)x->b + row * p->k * p->b_bytes;
  smma_store(p->d_bytes, x->d, row, p->alone(&p->operation, a, b, (uint32_t)load_c(p, row)));
}

/* Computes the next SMMA_LANES rows, or the remaining rows if there are fewer. */
static void compute_rows(const row_plan *p, smma_lane_function *function, size_t row) {
  const size_t left = p->batch->rows - row, end = row + (left < SMMA_LANES ? left : SMMA_LANES);
  const smma_float_state state = smma_float_enter(SMMA_MODE_NEAREST_EVEN);
  if (p->takes && function && left >= SMMA_LANES)
    compute_lanes(p, function, row, SMMA_LANES);
  else
    for (; row < end; row++) {
      if (p->alone)
        compute_alone(p, row);
      else if (p->takes)
        compute_lanes(p, smma_compute_one_lane, row, 1);
      else
        compute_row(p, row);
    }
  smma_float_leave(state);
}

static bool overlap(const void *x, size_t x_bytes, const void *y, size_t y_bytes) {
  const uintptr_t first = (uintptr_t)x, second = (uintptr_t)y;
  return x && y && first < second + y_bytes && second < first + x_bytes;
}

/* Reports whether the result of one row may overwrite operands that another row still reads. D in place of C is allowed
   if both have the same format. */
static bool overwrites(const smma_instruction *i, const smma_batch *x) {
  const size_t k = (size_t)i->k, d_bytes = x->rows * smma_format_bytes(i->d);
  const size_t scales = x->rows * (size_t)smma_scale_count(i->k, i->scale_block) * smma_format_bytes(i->scale);
  const bool in_place = x->d == x->c && i->c == i->d;
  if (x->rows < 2) return false;
  return overlap(x->d, d_bytes, x->a, x->rows * k * smma_format_bytes(i->a)) ||
         overlap(x->d, d_bytes, x->b, x->rows * k * smma_format_bytes(i->b)) ||
         overlap(x->d, d_bytes, x->scale_a, scales) || overlap(x->d, d_bytes, x->scale_b, scales) ||
         (!in_place && overlap(x->d, d_bytes, x->c, x->rows * smma_format_bytes(i->c)));
}

static smma_status check(const smma_instruction *i, const smma_batch *x) {
  if (!x->a || !x->b || !x->d || overwrites(i, x)) return SMMA_INVALID_ARGUMENT;
  if (i->scale_block ? !x->scale_a || !x->scale_b : x->scale_a || x->scale_b) return SMMA_MISSING_SCALE;
  return SMMA_OK;
}

/* Up to this number of rows, starting threads costs more time than it saves. */
enum { FEW_ROWS = 1024 };

void smma_batch_defaults(smma_batch *batch, size_t size) {
  const smma_batch defaults = {.rows = 0};
  smma_give_defaults(batch, size, &defaults, sizeof defaults);
}

static smma_status dot_rows(const smma_instruction *i, const smma_batch *batch, int threads) {
  smma_status status;
  smma_lane_function *function = NULL;
  row_plan p;
  if (!i || threads < 0) return SMMA_INVALID_ARGUMENT;
  if (batch->rows == 0) return SMMA_OK;
  status = check(i, batch);
  if (status != SMMA_OK) return status;
  make_plan(&p, i, batch);
  if (batch->rows >= SMMA_LANES) function = smma_lane_function_here();
  if (batch->rows <= FEW_ROWS) threads = 1;
  if (threads != 1) threads = smma_threads(threads);
  if (threads == 1) { /* without OpenMP, whose calls cost more than a row */
    for (size_t row = 0; row < batch->rows; row += SMMA_LANES) compute_rows(&p, function, row);
    return SMMA_OK;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t row = 0; row < batch->rows; row += SMMA_LANES) compute_rows(&p, function, row);
  return SMMA_OK;
}

smma_status smma_dot_rows(const smma_instruction *i, const smma_batch *batch, int threads) {
  smma_batch own = {.rows = 0};
  const smma_status status = smma_take_struct(batch, &own, sizeof own);
  return status == SMMA_OK ? dot_rows(i, &own, threads) : status;
}

smma_status smma_dot_rows_on(const char *device, const smma_instruction *i, const smma_batch *batch,
                             smma_error *error) {
  char why[SMMA_DEVICE_MESSAGE];
  const smma_device *opened;
  smma_batch own = {.rows = 0};
  smma_operation o;
  smma_status status;
  smma_clear_error(error);
  if (!device || !i) return smma_end_error(error, SMMA_INVALID_ARGUMENT);
  status = smma_take_struct(batch, &own, sizeof own);
  if (status == SMMA_OK && own.rows) status = check(i, &own);
  if (status != SMMA_OK) return smma_end_error(error, status);
  o = smma_operation_of(i);
  opened = smma_device_open(device, why);
  if (!opened) return smma_set_error(error, SMMA_NO_KERNEL, "%s", why);
  smma_device_lock(opened);
  if (!smma_device_rows(opened, &o, NULL, &own, why)) status = smma_set_error(error, SMMA_DEVICE_FAILED, "%s", why);
  smma_device_unlock(opened);
  return status;
}

smma_status smma_dot(const smma_instruction *i, const void *a, const void *b, const void *c, const void *scale_a,
                     const void *scale_b, void *d) {
  const smma_batch one = {sizeof one, 1, a, b, c, scale_a, scale_b, d};
  return c ? dot_rows(i, &one, 1) : SMMA_INVALID_ARGUMENT;
}

bool smma_is_same_result(const smma_instruction *i, uint64_t d, uint64_t other) {
  smma_operation o;
  if (!i) return false;
  o = smma_operation_of(i);
  return smma_same_result(&o, d, other);
}
