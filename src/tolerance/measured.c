#include "tolerance/measured.h"

#include <stdlib.h>

#include "host/load.h"
#include "isa/formats.h"

/* The measured part of D has at most MOST rows and MOST columns, and for generated data at least LEAST of each. */
enum { LEAST = 64, MOST = 256 };

static size_t between(size_t x, size_t least, size_t most) { return x < least ? least : x > most ? most : x; }

void smma_measured_part(bool given, size_t m, size_t n, size_t *rows, size_t *columns) {
  const size_t least = given ? 1 : LEAST;
  *rows = between(m, least, MOST), *columns = between(n, least, MOST);
}

void smma_measured_sizes(const smma_tolerance_request *request, smma_tolerance_result *r) {
  const smma_gemm_arguments *g = &request->target[0].product;
  r->m = g->a ? g->m : request->m, r->n = g->a ? g->n : request->n, r->k = g->a ? g->k : request->k;
  smma_measured_part(g->a != NULL, r->m, r->n, &r->rows, &r->columns);
  r->has_c = g->a ? g->c != NULL : request->with_c || smma_data_has_c(request->data);
}

/* Allocates a matrix of zeros; returns NULL if memory runs out or the size overflows. */
static void *allocate(size_t bytes, size_t rows, size_t columns) {
  return rows && columns > SIZE_MAX / 16 / rows ? NULL : calloc(rows * columns + 1, bytes);
}

/* ---- From the caller's product ---- */

/* Copies evenly spaced rows and columns of a matrix, dense and row-major. Returns NULL for a missing matrix, or if
   memory runs out. */
static void *take(const smma_matrix_view *from, size_t rows, size_t columns) {
  const size_t bytes = from->data ? smma_format_bytes(from->format) : 0;
  char *to = from->data ? allocate(bytes, rows, columns) : NULL;
  for (size_t i = 0; to && i < rows; i++)
    for (size_t j = 0; j < columns; j++)
      smma_store(bytes, to, i * columns + j,
                 smma_view_element(from, i * from->rows / rows, j * from->columns / columns));
  return to;
}

static bool take_product(const smma_tolerance_result *x, const smma_product_target *t, void *to[SMMA_VIEWS]) {
  for (int kind = 0; kind < SMMA_VIEWS; kind++) {
    const smma_matrix_view view = smma_matrix_view_of(t, (smma_view_kind)kind);
    const bool of_b = kind == SMMA_VIEW_B || kind == SMMA_VIEW_BIAS, along_n = of_b || kind == SMMA_VIEW_C;
    const size_t rows = of_b ? view.rows : kind == SMMA_VIEW_SCALE_B ? x->columns : x->rows;
    to[kind] = take(&view, rows, along_n ? x->columns : view.columns);
    if (!to[kind] != !view.data) return false;
  }
  return true;
}

/* ---- Generated ---- */

/* Fills c with random numbers of N(0, 1). */
static void fill_c(const smma_instruction *instruction, uint64_t seed, void *c, size_t count) {
  smma_operation o = smma_operation_of(instruction);
  const smma_data_counts counts = {.a = count};
  const smma_data_arrays arrays = {.a = c};
  o.a = o.b = o.c, o.k = instruction->k;
  smma_data_fill((smma_data){.kind = SMMA_DATA_NORMAL, .seed = seed}, &o, 1, &counts, &arrays);
}

static bool generate(const smma_tolerance_result *x, const smma_product_target *t, void *to[SMMA_VIEWS]) {
  const smma_operation o = smma_operation_of(t->instruction);
  const smma_data data = x->request->data;
  const size_t m = x->rows, n = x->columns, k = x->k;
  const size_t block = (size_t)o.scale_block, blocks = block ? (k + block - 1) / block : 0;
  const bool own_c = smma_data_has_c(data);
  const smma_data_counts counts = {m * k, k * n, own_c ? m * n : 0, m * blocks, n * blocks};
  to[SMMA_VIEW_A] = allocate(smma_format_bytes(o.a), m, k), to[SMMA_VIEW_B] = allocate(smma_format_bytes(o.b), k, n);
  if (x->has_c) to[SMMA_VIEW_C] = allocate(smma_format_bytes(o.c), m, n);
  if (block) to[SMMA_VIEW_SCALE_A] = allocate(smma_format_bytes(o.scale), m, blocks);
  if (block) to[SMMA_VIEW_SCALE_B] = allocate(smma_format_bytes(o.scale), n, blocks);
  const smma_data_arrays arrays = {to[SMMA_VIEW_A], to[SMMA_VIEW_B], own_c ? to[SMMA_VIEW_C] : NULL,
                                   to[SMMA_VIEW_SCALE_A], to[SMMA_VIEW_SCALE_B]};
  if (!arrays.a || !arrays.b || (x->has_c && !to[SMMA_VIEW_C]) || (block && !(arrays.scale_a && arrays.scale_b)))
    return false;
  smma_data_fill(data, &o, k, &counts, &arrays);
  if (x->has_c && !own_c) fill_c(t->instruction, data.seed, to[SMMA_VIEW_C], m * n);
  return true;
}

/* ---- Both ---- */

/* Sets up the product of the copied matrices, with the caller's numbers and plan. */
static bool describe(const smma_tolerance_result *x, smma_measured *s) {
  smma_gemm_arguments *g = &s->product;
  *g = s->of->product;
  g->m = x->rows, g->n = x->columns, g->k = x->k;
  g->a = s->matrix[SMMA_VIEW_A], g->b = s->matrix[SMMA_VIEW_B], g->c = s->matrix[SMMA_VIEW_C], g->d = NULL;
  g->scale_a = s->matrix[SMMA_VIEW_SCALE_A], g->scale_b = s->matrix[SMMA_VIEW_SCALE_B];
  g->bias = s->matrix[SMMA_VIEW_BIAS];
  g->lda = g->ldb = g->ldc = g->ldd = 0;
  g->order_a = g->order_b = g->order_c = g->order_d = SMMA_ROW_MAJOR;
  return smma_complete_product(g, &s->neutral);
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
  for (int i = 0; i < SMMA_VIEWS; i++) free(s->matrix[i]);
  free(s->neutral), free(s->bound), free(s->values);
}
