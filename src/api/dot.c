/* smma_dot and smma_dot_rows: dot-product-adds by the core. */
#include "host/load.h"
#include "host/thread.h"
#include "isa/instruction.h"
#include "softmma/softmma.h"

/* One function for each format, so that a compiler decodes with constants. */
typedef void decoder(const void *array, size_t first, size_t count, smma_number *out);

#define SMMA_FORMAT(symbol, ...)                                                                 \
  static void decode_##symbol(const void *array, size_t first, size_t count, smma_number *out) { \
    smma_decode_array(smma_encoding_of(SMMA_##symbol), array, first, 1, count, out);             \
  }
#include "core/format.def"
#undef SMMA_FORMAT

static decoder *const decoders[] = {
#define SMMA_FORMAT(symbol, ...) [SMMA_##symbol] = decode_##symbol,
#include "core/format.def"
#undef SMMA_FORMAT
};

/* What all rows have in common. */
typedef struct {
  smma_operation operation;
  size_t k, scales, c_bytes, d_bytes;
  decoder *a, *b, *scale;
} row_plan;

static row_plan plan_of(const smma_instruction *i) {
  row_plan p = {.operation = smma_operation_of(i), .k = (size_t)i->k};
  p.scales = i->scale_block ? p.k / (size_t)i->scale_block : 0;
  p.c_bytes = smma_container_bytes(smma_encoding_of(i->c));
  p.d_bytes = smma_container_bytes(smma_encoding_of(i->d));
  p.a = decoders[i->a], p.b = decoders[i->b];
  p.scale = p.scales ? decoders[i->scale] : NULL;
  return p;
}

static void compute_row(const row_plan *p, const smma_batch *x, size_t row) {
  smma_number a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K], scale_a[SMMA_MAXIMUM_K], scale_b[SMMA_MAXIMUM_K];
  smma_operands operands = {a, b, scale_a, scale_b};
  uint64_t c = x->c ? smma_load(p->c_bytes, x->c, row) : 0;
  p->a(x->a, row * p->k, p->k, a);
  p->b(x->b, row * p->k, p->k, b);
  if (p->scales) {
    p->scale(x->scale_a, row * p->scales, p->scales, scale_a);
    p->scale(x->scale_b, row * p->scales, p->scales, scale_b);
  }
  smma_store(p->d_bytes, x->d, row, smma_dot_add(&p->operation, operands, c));
}

static smma_status check(const smma_instruction *i, const smma_batch *x) {
  if (!x->a || !x->b || !x->d) return SMMA_INVALID_ARGUMENT;
  if (i->scale_block ? !x->scale_a || !x->scale_b : x->scale_a || x->scale_b) return SMMA_MISSING_SCALE;
  return SMMA_OK;
}

/* So few rows take less time than starting threads. */
enum { FEW_ROWS = 256 };

smma_status smma_dot_rows(const smma_instruction *i, const smma_batch *batch, int threads) {
  smma_status status;
  row_plan p;
  if (!i || !batch || batch->size != sizeof *batch || threads < 0) return SMMA_INVALID_ARGUMENT;
  if (batch->rows == 0) return SMMA_OK;
  status = check(i, batch);
  if (status != SMMA_OK) return status;
  p = plan_of(i);
  if (threads == 0) threads = smma_default_threads();
  if (threads > smma_most_threads()) threads = smma_most_threads();
  if (threads == 1 || batch->rows <= FEW_ROWS) {
    for (size_t row = 0; row < batch->rows; row++) compute_row(&p, batch, row);
    return SMMA_OK;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t row = 0; row < batch->rows; row++) compute_row(&p, batch, row);
  return SMMA_OK;
}

smma_status smma_dot(const smma_instruction *i, const void *a, const void *b, const void *c, const void *scale_a,
                     const void *scale_b, void *d) {
  const smma_batch one = {sizeof one, 1, a, b, c, scale_a, scale_b, d};
  return c ? smma_dot_rows(i, &one, 1) : SMMA_INVALID_ARGUMENT;
}
