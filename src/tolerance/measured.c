#include "tolerance/measured.h"

#include <stdlib.h>
#include <string.h>

#include "isa/formats.h"

/* Elements that are measured: of generated data at least LEAST x LEAST, of any at most MOST x MOST. */
enum { LEAST = 64, MOST = 256 };

static size_t between(size_t x, size_t least, size_t most) { return x < least ? least : x > most ? most : x; }

void smma_measured_sizes(const smma_tolerance_request *request, smma_tolerance_result *r) {
  const smma_gemm_arguments *g = &request->target[0].product;
  const size_t least = g->a ? 1 : LEAST;
  r->m = g->a ? g->m : request->m, r->n = g->a ? g->n : request->n, r->k = g->a ? g->k : request->k;
  r->rows = between(r->m, least, MOST), r->columns = between(r->n, least, MOST);
  r->has_c = g->a ? g->c != NULL : request->with_c || smma_data_has_c(request->data);
}

/* Room for a matrix, zero; NULL, too, where its size overflows. */
static void *allocate(size_t bytes, size_t rows, size_t columns) {
  return rows && columns > SIZE_MAX / 16 / rows ? NULL : calloc(rows * columns + 1, bytes);
}

/* ---- From the caller's product ---- */

typedef struct {
  const void *data;
  smma_order order;
  size_t leading, bytes, rows, columns;
} matrix;

/* Rows and columns that lie evenly in a matrix, dense and row-major. NULL for none, and without memory. */
static void *take(matrix from, size_t rows, size_t columns) {
  const bool by_rows = from.order == SMMA_ROW_MAJOR;
  const size_t leading = from.leading ? from.leading : by_rows ? from.columns : from.rows, bytes = from.bytes;
  char *to = from.data ? allocate(bytes, rows, columns) : NULL;
  for (size_t i = 0; to && i < rows; i++)
    for (size_t j = 0; j < columns; j++) {
      const size_t row = i * from.rows / rows, column = j * from.columns / columns;
      memcpy(to + (i * columns + j) * bytes,
             (const char *)from.data + (by_rows ? row * leading + column : row + column * leading) * bytes, bytes);
    }
  return to;
}

/* Scale factors are of blocks along K, or of a plan's parts. */
static size_t factors_of(const smma_product_target *t, size_t *bytes) {
  const size_t part = smma_plan_scaled_k(t->product.plan), each = part ? part : (size_t)t->instruction->scale_block;
  *bytes = part ? sizeof(float) : smma_format_bytes(t->instruction->scale);
  return each ? (t->product.k + each - 1) / each : 0;
}

static bool take_product(const smma_tolerance_result *x, const smma_product_target *t,
                         void *m[SMMA_MEASURED_MATRICES]) {
  const smma_gemm_arguments *g = &t->product;
  const smma_instruction *i = t->instruction;
  size_t bytes = 1;
  const size_t factors = g->scale_a ? factors_of(t, &bytes) : 0;
  const smma_order rows = SMMA_ROW_MAJOR;
  m[SMMA_MEASURED_A] = take((matrix){g->a, g->order_a, g->lda, smma_format_bytes(i->a), g->m, g->k}, x->rows, g->k);
  m[SMMA_MEASURED_B] = take((matrix){g->b, g->order_b, g->ldb, smma_format_bytes(i->b), g->k, g->n}, g->k, x->columns);
  m[SMMA_MEASURED_C] =
      take((matrix){g->c, g->order_c, g->ldc, smma_format_bytes(i->c), g->m, g->n}, x->rows, x->columns);
  m[SMMA_MEASURED_SCALE_A] = take((matrix){g->scale_a, rows, 0, bytes, g->m, factors}, x->rows, factors);
  m[SMMA_MEASURED_SCALE_B] = take((matrix){g->scale_b, rows, 0, bytes, g->n, factors}, x->columns, factors);
  m[SMMA_MEASURED_BIAS] = take((matrix){g->bias, rows, 0, sizeof(float), 1, g->n}, 1, x->columns);
  return m[SMMA_MEASURED_A] && m[SMMA_MEASURED_B] && !m[SMMA_MEASURED_C] == !g->c &&
         !m[SMMA_MEASURED_SCALE_A] == !g->scale_a && !m[SMMA_MEASURED_SCALE_B] == !g->scale_b &&
         !m[SMMA_MEASURED_BIAS] == !g->bias;
}

/* ---- Generated ---- */

/* N(0, 1). */
static void fill_c(const smma_instruction *instruction, void *c, size_t count) {
  smma_operation o = smma_operation_of(instruction);
  const smma_data_counts counts = {.a = count};
  const smma_data_arrays arrays = {.a = c};
  o.a = o.b = o.c, o.k = instruction->k;
  smma_data_fill((smma_data){SMMA_DATA_NORMAL, 0}, &o, 1, &counts, &arrays);
}

static bool generate(const smma_tolerance_result *x, const smma_product_target *t, void *to[SMMA_MEASURED_MATRICES]) {
  const smma_operation o = smma_operation_of(t->instruction);
  const smma_data data = x->request->data;
  const size_t m = x->rows, n = x->columns, k = x->k;
  const size_t block = (size_t)o.scale_block, blocks = block ? (k + block - 1) / block : 0;
  const bool own_c = smma_data_has_c(data);
  const smma_data_counts counts = {m * k, k * n, own_c ? m * n : 0, m * blocks, n * blocks};
  to[SMMA_MEASURED_A] = allocate(smma_format_bytes(o.a), m, k),
  to[SMMA_MEASURED_B] = allocate(smma_format_bytes(o.b), k, n);
  if (x->has_c) to[SMMA_MEASURED_C] = allocate(smma_format_bytes(o.c), m, n);
  if (block) to[SMMA_MEASURED_SCALE_A] = allocate(smma_format_bytes(o.scale), m, blocks);
  if (block) to[SMMA_MEASURED_SCALE_B] = allocate(smma_format_bytes(o.scale), n, blocks);
  const smma_data_arrays arrays = {to[SMMA_MEASURED_A], to[SMMA_MEASURED_B], own_c ? to[SMMA_MEASURED_C] : NULL,
                                   to[SMMA_MEASURED_SCALE_A], to[SMMA_MEASURED_SCALE_B]};
  if (!arrays.a || !arrays.b || (x->has_c && !to[SMMA_MEASURED_C]) || (block && !(arrays.scale_a && arrays.scale_b)))
    return false;
  smma_data_fill(data, &o, k, &counts, &arrays);
  if (x->has_c && !own_c) fill_c(t->instruction, to[SMMA_MEASURED_C], m * n);
  return true;
}

/* ---- Both ---- */

/* The product of the matrices, with the caller's numbers and plan. */
static bool describe(const smma_tolerance_result *x, smma_measured *s) {
  smma_gemm_arguments *g = &s->product;
  *g = s->of->product;
  g->m = x->rows, g->n = x->columns, g->k = x->k;
  g->a = s->matrix[SMMA_MEASURED_A], g->b = s->matrix[SMMA_MEASURED_B], g->c = s->matrix[SMMA_MEASURED_C], g->d = NULL;
  g->scale_a = s->matrix[SMMA_MEASURED_SCALE_A], g->scale_b = s->matrix[SMMA_MEASURED_SCALE_B];
  g->bias = s->matrix[SMMA_MEASURED_BIAS];
  g->lda = g->ldb = g->ldc = g->ldd = 0;
  g->order_a = g->order_b = g->order_c = g->order_d = SMMA_ROW_MAJOR;
  return smma_complete_product(g, &s->matrix[SMMA_MEASURED_NEUTRAL]);
}

bool smma_measured_make(const smma_tolerance_result *x, const smma_product_target *target, smma_measured *s,
                        smma_error *error) {
  const smma_operation o = smma_operation_of(target->instruction);
  char inputs[SMMA_INPUTS_TEXT_SIZE];
  *s = (smma_measured){.of = target};
  if (!target->product.a && !smma_data_fits(x->request->data, &o))
    return smma_fail(error, "data: %s has no such data", smma_inputs_text(target->instruction, inputs));
  return ((target->product.a ? take_product(x, target, s->matrix) : generate(x, target, s->matrix)) && describe(x, s) &&
          (s->bound = calloc(x->rows * x->columns, sizeof *s->bound)) &&
          (s->values = calloc(x->rows * x->columns, sizeof *s->values))) ||
         smma_fail(error, "no memory for %zu x %zu x %zu operands of %s", x->rows, x->columns, x->k, target->label);
}

void smma_measured_free(smma_measured *s) {
  for (int i = 0; i < SMMA_MEASURED_MATRICES; i++) free(s->matrix[i]);
  free(s->bound), free(s->values);
}
