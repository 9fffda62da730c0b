/* The reference engine: tiles of D, decoded once per tile and step range, every step computed by the core. */
#include <stdlib.h>

#include "gemm/gemm.h"
#include "host/load.h"
#include "host/thread.h"

/* Rows and columns of a tile, the most elements of K that are decoded at a time, and their scale factors, of which one
   belongs to at least 16 elements. */
enum { TILE = 32, DEPTH = 512, SCALES = DEPTH / 16 };

/* One element of D on its way along K, in encodings. */
typedef struct {
  uint64_t accumulator; /* D's format */
  uint64_t interval;    /* outer format: sum of promoted accumulators of this slice */
  uint64_t total;       /* outer format: sum of finished slices */
} element;

/* One thread's decoded operands. Row i of A and column j of B lie contiguous. */
typedef struct {
  smma_number a[TILE][DEPTH], b[TILE][DEPTH], scale_a[TILE][SCALES], scale_b[TILE][SCALES];
  element state[TILE][TILE];
} workspace;

static size_t index_of(smma_order order, size_t leading, size_t i, size_t j) {
  return order == SMMA_ROW_MAJOR ? i * leading + j : i + j * leading;
}

/* x in another format, NaN as the rule has it. */
static uint64_t convert(const smma_rule *rule, smma_format_id from, smma_format_id to, uint64_t x) {
  smma_number number = smma_decode(smma_encoding_of(from), x);
  if (number.kind == SMMA_NAN) return smma_nan_of(smma_encoding_of(to), rule->nan);
  return smma_encode_number(smma_encoding_of(to), number, SMMA_NEAREST_EVEN, SMMA_OVERFLOW_TO_INFINITY);
}

static uint64_t outer_add(const smma_plan *p, uint64_t x, uint64_t y) {
  return smma_ieee_add(smma_encoding_of(p->outer), p->operation.rule.nan, x, y);
}

static uint64_t widen(const smma_plan *p, uint64_t accumulator) {
  return convert(&p->operation.rule, p->operation.d, p->outer, accumulator);
}

static smma_number number_of(double value) {
  union {
    double value;
    uint64_t encoding;
  } u = {value};
  return smma_decode(smma_encoding_of(SMMA_FORMAT_f64), u.encoding);
}

/* factor * x, rounded once to x's format. */
static uint64_t scaled(smma_format_id format, uint64_t encoding, double factor) {
  smma_encoding f = smma_encoding_of(format);
  smma_number x = smma_decode(f, encoding), y = number_of(factor), product = smma_product(x, y);
  smma_overflow_policy policy = smma_default_overflow(f);
  if (product.kind > SMMA_FINITE) return smma_encode_number(f, product, SMMA_NEAREST_EVEN, policy);
  return smma_encode_exact(f, smma_exact_product(x, y), policy);
}

static uint64_t load_c(const smma_plan *p, size_t i, size_t j) {
  const smma_gemm_arguments *g = &p->with;
  if (!g->c || g->beta == 0) return 0;
  return smma_load(smma_container_bytes(smma_encoding_of(p->c_format)), g->c, index_of(g->order_c, g->ldc, i, j));
}

/* What the first accumulator starts from, in D's format. */
static uint64_t start_of(const smma_plan *p, size_t i, size_t j) {
  uint64_t c;
  if (p->with.scaling == SMMA_SCALING_EPILOGUE) return 0;
  c = load_c(p, i, j);
  if (p->with.beta != 1) c = scaled(p->c_format, c, p->with.beta);
  return p->c_format == p->operation.d ? c : convert(&p->operation.rule, p->c_format, p->operation.d, c);
}

static void begin_element(const smma_plan *p, element *e, uint64_t start) {
  e->accumulator = p->steps_per_interval ? 0 : start;
  e->interval = p->steps_per_interval ? widen(p, start) : 0;
}

/* What happens behind instruction step `step`: promotion, and the end of a slice. */
static void after_step(const smma_plan *p, element *e, size_t step) {
  bool slice_ends = (step + 1) % p->steps_per_slice == 0 || step + 1 == p->steps;
  bool interval_ends = p->steps_per_interval && ((step + 1) % p->steps_per_interval == 0 || slice_ends);
  if (interval_ends) {
    e->interval = outer_add(p, e->interval, widen(p, e->accumulator));
    e->accumulator = 0;
  }
  if (slice_ends) {
    uint64_t result = p->steps_per_interval ? e->interval : widen(p, e->accumulator);
    e->total = step < p->steps_per_slice ? result : outer_add(p, e->total, result);
    begin_element(p, e, 0);
  }
}

/* The element of D from the sum over K. */
static uint64_t finish_element(const smma_plan *p, const element *e, size_t i, size_t j) {
  const smma_rule *rule = &p->operation.rule;
  smma_encoding f = smma_encoding_of(p->outer);
  uint64_t total = p->steps ? e->total : widen(p, start_of(p, i, j));
  if (p->with.scaling == SMMA_SCALING_EPILOGUE) {
    uint64_t alpha = smma_encode_number(f, number_of(p->with.alpha), SMMA_NEAREST_EVEN, SMMA_OVERFLOW_TO_INFINITY);
    uint64_t beta = smma_encode_number(f, number_of(p->with.beta), SMMA_NEAREST_EVEN, SMMA_OVERFLOW_TO_INFINITY);
    uint64_t c = convert(rule, p->c_format, p->outer, load_c(p, i, j));
    uint64_t scaled_c = smma_ieee_multiply(f, rule->nan, smma_decode(f, beta), smma_decode(f, c));
    total = scaled_c;
    if (p->steps)
      total = smma_ieee_fma(f, rule->nan, smma_decode(f, alpha), smma_decode(f, e->total), smma_decode(f, scaled_c));
  }
  return convert(rule, p->outer, p->operation.d, total);
}

/* A vector of `count` elements along K of row i (of A) or column i (of B), from k on, padded with +0. */
static void decode_vector(const smma_plan *p, bool of_a, size_t i, size_t k, size_t count, smma_number *out) {
  const smma_gemm_arguments *g = &p->with;
  smma_format_id format = of_a ? p->operation.a : p->operation.b;
  smma_encoding f = smma_encoding_of(format);
  size_t leading = of_a ? g->lda : g->ldb, present = k < g->k ? g->k - k : 0;
  bool contiguous = of_a ? g->order_a == SMMA_ROW_MAJOR : g->order_b == SMMA_COLUMN_MAJOR;
  if (present > count) present = count;
  if (of_a && g->alpha != 1 && g->scaling == SMMA_SCALING_OPERANDS) {
    size_t bytes = smma_container_bytes(f);
    for (size_t x = 0; x < present; x++) {
      uint64_t a = smma_load(bytes, g->a, index_of(g->order_a, leading, i, k + x));
      out[x] = smma_decode(f, scaled(format, a, g->alpha));
    }
  } else {
    size_t first = contiguous ? i * leading + k : i + k * leading;
    smma_decode_array(f, of_a ? g->a : g->b, first, contiguous ? 1 : leading, present, out);
  }
  for (size_t x = present; x < count; x++) out[x] = smma_decode(f, 0);
}

/* The scale factors of the same range; a padded block has a scale of one. */
static void decode_scales(const smma_plan *p, bool of_a, size_t i, size_t k, size_t count, smma_number *out) {
  smma_encoding f = smma_encoding_of(p->operation.scale);
  size_t block = (size_t)p->operation.scale_block, all = (p->with.k + block - 1) / block, first = k / block;
  const void *scale = of_a ? p->with.scale_a : p->with.scale_b;
  for (size_t x = 0; x < count / block; x++) {
    uint64_t one = smma_encode_number(f, number_of(1), SMMA_NEAREST_EVEN, SMMA_OVERFLOW_TO_INFINITY);
    uint64_t encoding = first + x < all ? smma_load(smma_container_bytes(f), scale, i * all + first + x) : one;
    out[x] = smma_decode(f, encoding);
  }
}

/* Steps first_step .. last_step - 1 of a tile whose operands are decoded. */
static void run_steps(const smma_plan *p, workspace *w, size_t rows, size_t columns, size_t first_step,
                      size_t last_step) {
  const smma_operation *o = &p->operation;
  size_t k = (size_t)o->k, scales = o->scale_block ? k / (size_t)o->scale_block : 0;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++) {
      element *e = &w->state[i][j];
      for (size_t step = first_step; step < last_step; step++) {
        size_t at = (step - first_step) * k, scale_at = (step - first_step) * scales;
        smma_operands x = {w->a[i] + at, w->b[j] + at, w->scale_a[i] + scale_at, w->scale_b[j] + scale_at};
        e->accumulator = smma_dot_add(o, x, e->accumulator);
        after_step(p, e, step);
      }
    }
}

static void run_tile(const smma_plan *p, workspace *w, size_t row, size_t column) {
  const smma_gemm_arguments *g = &p->with;
  size_t rows = g->m - row < TILE ? g->m - row : TILE, columns = g->n - column < TILE ? g->n - column : TILE;
  size_t k = (size_t)p->operation.k, steps_at_once = DEPTH / k;
  size_t d_bytes = smma_container_bytes(smma_encoding_of(p->operation.d));
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++) begin_element(p, &w->state[i][j], start_of(p, row + i, column + j));
  for (size_t step = 0; step < p->steps; step += steps_at_once) {
    size_t last = p->steps - step < steps_at_once ? p->steps : step + steps_at_once, count = (last - step) * k;
    for (size_t i = 0; i < rows; i++) decode_vector(p, true, row + i, step * k, count, w->a[i]);
    for (size_t j = 0; j < columns; j++) decode_vector(p, false, column + j, step * k, count, w->b[j]);
    for (size_t i = 0; p->operation.scale_block && i < rows; i++)
      decode_scales(p, true, row + i, step * k, count, w->scale_a[i]);
    for (size_t j = 0; p->operation.scale_block && j < columns; j++)
      decode_scales(p, false, column + j, step * k, count, w->scale_b[j]);
    run_steps(p, w, rows, columns, step, last);
  }
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++)
      smma_store(d_bytes, g->d, index_of(g->order_d, g->ldd, row + i, column + j),
                 finish_element(p, &w->state[i][j], row + i, column + j));
}

/* No more than there are processors or tiles. */
static int thread_count(const smma_plan *p, size_t tiles) {
  int threads = p->with.threads ? p->with.threads : smma_default_threads();
  if (threads > smma_most_threads()) threads = smma_most_threads();
  return (size_t)threads < tiles ? threads : (int)tiles;
}

smma_status smma_plan_run(const smma_plan *p) {
  const smma_gemm_arguments *g = &p->with;
  size_t tile_rows = (g->m + TILE - 1) / TILE, tile_columns = (g->n + TILE - 1) / TILE;
  size_t tiles = tile_rows * tile_columns, done = 0;
  int threads = thread_count(p, tiles), stopped = 0;
  workspace *spaces;
  if (!tiles) return SMMA_OK;
  spaces = malloc((size_t)threads * sizeof *spaces);
  if (!spaces) return SMMA_NO_MEMORY;
#pragma omp parallel for num_threads(threads) schedule(dynamic) if (threads > 1)
  for (size_t tile = 0; tile < tiles; tile++) {
    size_t finished;
    int stop;
#pragma omp atomic read
    stop = stopped;
    if (stop) continue;
    run_tile(p, &spaces[smma_this_thread()], tile / tile_columns * TILE, tile % tile_columns * TILE);
#pragma omp atomic capture
    finished = ++done;
    if (!g->progress || smma_this_thread() != 0) continue;
    stop = g->progress(finished * g->m / tiles, g->m, g->progress_context);
#pragma omp atomic write
    stopped = stop;
  }
  free(spaces);
  return stopped ? SMMA_STOPPED : SMMA_OK;
}
