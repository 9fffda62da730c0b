#include "gemm/overlap.h"

#include "host/error.h"
#include "host/load.h"

/* A region of memory: lines of `length` contiguous bytes, `stride` bytes from one line to the next. */
typedef struct {
  uintptr_t first;
  size_t lines, length, stride;
} region;

static region region_of(const void *data, size_t rows, size_t columns, smma_order order, size_t leading, size_t bytes) {
  const bool along_rows = order == SMMA_ROW_MAJOR;
  return (region){(uintptr_t)data, along_rows ? rows : columns, (along_rows ? columns : rows) * bytes, leading * bytes};
}

static region d_of(const smma_multiplier *p) {
  const smma_gemm_arguments *g = &p->with;
  return region_of(g->d, g->m, g->n, g->order_d, g->ldd, smma_bytes_of(p->d_format));
}

/* Returns the region of an array of `count` elements. */
static region dense(const void *data, size_t count, size_t bytes) {
  return (region){(uintptr_t)data, 1, count * bytes, 0};
}

static uintptr_t end_of(const region *x) { return x->first + (x->lines - 1) * x->stride + x->length; }

/* Reports whether a line of x overlaps [begin, end). It suffices to look at the first line that ends after `begin`. */
static bool meets(const region *x, uintptr_t begin, uintptr_t end) {
  size_t line = 0;
  if (begin >= x->first + x->length) line = x->stride ? (begin - x->first - x->length) / x->stride + 1 : 1;
  return line < x->lines && x->first + line * x->stride < end;
}

static bool overlap(const region *x, const region *y) {
  if (!x->first || !y->first || !x->lines || !y->lines || !x->length || !y->length) return false;
  if (x->first >= end_of(y) || y->first >= end_of(x)) return false;
  for (size_t i = 0; i < x->lines; i++)
    if (meets(y, x->first + i * x->stride, x->first + i * x->stride + x->length)) return true;
  return false;
}

/* Reports whether C may share D's memory: C is not read, or each of its elements has the address of the same element of
   D. */
static bool takes_c_in_place(const smma_multiplier *p) {
  const smma_gemm_arguments *g = &p->with;
  if (!g->c || g->beta == 0) return true;
  return g->d == g->c && p->c_format == p->d_format && g->order_c == g->order_d && g->ldc == g->ldd;
}

/* Returns the name of the first operand that D overlaps, or NULL. */
static const char *overlapped(const smma_multiplier *p) {
  const smma_gemm_arguments *g = &p->with;
  const smma_operation *o = &p->operation;
  const size_t each = p->part_k ? p->part_k : (size_t)o->scale_block;
  const size_t scales = each ? g->k / each + (g->k % each != 0) : 0;
  const size_t scale_bytes = p->part_k ? sizeof(float) : each ? smma_bytes_of(o->scale) : 0;
  const bool reads = g->m && g->n && g->k;
  const region d = d_of(p);
  const region a = region_of(g->a, g->m, g->k, g->order_a, g->lda, smma_bytes_of(o->a));
  const region b = region_of(g->b, g->k, g->n, g->order_b, g->ldb, smma_bytes_of(o->b));
  const region c = region_of(g->c, g->m, g->n, g->order_c, g->ldc, smma_bytes_of(p->c_format));
  const region scale_a = dense(g->scale_a, g->m * scales, scale_bytes);
  const region scale_b = dense(g->scale_b, g->n * scales, scale_bytes);
  const region bias = dense(g->bias, g->n, sizeof(float));
  if (!g->m || !g->n) return NULL;
  if (reads && overlap(&d, &a)) return "A";
  if (reads && !p->kept && overlap(&d, &b)) return "B";
  if (reads && overlap(&d, &scale_a)) return "scale_a";
  if (reads && !p->kept && overlap(&d, &scale_b)) return "scale_b";
  if (!takes_c_in_place(p) && overlap(&d, &c)) return "C";
  return g->plan && g->bias && overlap(&d, &bias) ? "bias" : NULL;
}

smma_status smma_check_overlap(const smma_multiplier *p) {
  const smma_gemm_arguments *g = &p->with;
  const char *operand = overlapped(p);
  if (!operand) return SMMA_OK;
  return smma_set_error(g->error, SMMA_INVALID_ARGUMENT, "D overlaps %s; give D memory of its own%s", operand,
                        *operand == 'C' ? ", or C's address with C's format, order and leading dimension" : "");
}

bool smma_overlaps_bytes(const smma_multiplier *p, const void *data, size_t bytes) {
  const region d = d_of(p), other = dense(data, bytes, 1);
  return overlap(&d, &other);
}
