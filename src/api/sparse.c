/* Products of sparse instructions: each row of A is multiplied with the rows of B that its metadata selects. */
#include "softmma/sparse.h"

#include <stdlib.h>
#include <string.h>

#include "api/multiplier.h"
#include "gemm/overlap.h"
#include "host/error.h"
#include "isa/instruction.h"
#include "plan/scales.h"
#include "softmma/softmma.h"

int smma_sparse_group(const smma_instruction *i) { return i ? i->sparse : 0; }

/* Reports whether two positions in a group of 4 are 2 and 1. This is the only descending order that PTX allows, and
   only for tcgen05. In a group of 8, reports it for the pairs that hold the positions. */
static bool is_two_one(const smma_instruction *i, unsigned char before, unsigned char position) {
  const int width = i->sparse / 4;
  return i->family == SMMA_FAMILY_TCGEN05 && width && before / width == 2 && position / width == 1;
}

/* Checks that the positions in each group are in range and ascend, and that they form pairs in groups of 8. */
static smma_status check_metadata(const smma_instruction *i, const smma_gemm_arguments *g,
                                  const unsigned char *metadata) {
  const int group = i->sparse;
  const size_t stored = g->k / 2, half = (size_t)group / 2;
  for (size_t m = 0; m < g->m; m++) {
    const unsigned char *row = metadata + m * stored;
    for (size_t j = 0; j < stored; j++) {
      const bool in_pair = group == 8 && j % 2;
      if (row[j] >= group)
        return smma_set_error(g->error, SMMA_INVALID_ARGUMENT,
                              "metadata: row %zu, element %zu is %d; positions are 0 to %d", m, j, row[j], group - 1);
      if (group == 8 && row[j] % 2 != j % 2)
        return smma_set_error(
            g->error, SMMA_INVALID_ARGUMENT,
            "metadata: row %zu, element %zu is %d; elements of 4 bits are stored in pairs, 2p and 2p + 1", m, j,
            row[j]);
      if (j % half == 0 || (in_pair ? row[j] == row[j - 1] + 1 : row[j] > row[j - 1])) continue;
      if (!in_pair && is_two_one(i, row[j - 1], row[j])) continue;
      return smma_set_error(g->error, SMMA_INVALID_ARGUMENT,
                            "metadata: row %zu, elements %zu and %zu are %d, %d; positions ascend in a group%s", m,
                            j - 1, j, row[j - 1], row[j], group == 8 ? ", by pairs" : "");
    }
  }
  return SMMA_OK;
}

/* Returns the address of the first element of row i of a matrix, or NULL if the matrix is NULL. */
static unsigned char *row_of(const void *matrix, smma_order order, size_t ld, size_t bytes, size_t i) {
  return matrix ? (unsigned char *)matrix + i * bytes * (order == SMMA_ROW_MAJOR ? ld : 1) : NULL;
}

/* Copies the rows of B that the positions of one row of A select; the copy is row-major and dense. */
static void select_rows(const smma_gemm_arguments *g, size_t bytes, size_t group, const unsigned char *positions,
                        unsigned char *selected) {
  for (size_t j = 0; j < g->k / 2; j++) {
    const size_t k = j / (group / 2) * group + positions[j];
    const unsigned char *row = row_of(g->b, g->order_b, g->ldb, bytes, k);
    unsigned char *to = selected + j * g->n * bytes;
    if (g->order_b == SMMA_ROW_MAJOR)
      memcpy(to, row, g->n * bytes);
    else
      for (size_t n = 0; n < g->n; n++) memcpy(to + n * bytes, row + n * g->ldb * bytes, bytes);
  }
}

/* Refuses a D that overlaps A, C, the bias, B or the metadata, because rows of D are written while later rows still
   read their operands. `stored` has A's K and all leading dimensions except B's, which `g` has. */
static smma_status check_overlaps(const smma_instruction *dense, const smma_gemm_arguments *g,
                                  const smma_gemm_arguments *stored, const unsigned char *metadata) {
  smma_multiplier p = {.with = *stored, .operation = smma_operation_of(dense), .c_format = dense->c};
  smma_status status;
  p.d_format = smma_plan_d_format(g->plan, dense), p.part_k = smma_plan_scaled_k(g->plan);
  status = smma_check_overlap(&p);
  if (status != SMMA_OK) return status;
  if (smma_overlaps_bytes(&p, metadata, g->m * stored->k))
    return smma_set_error(g->error, SMMA_INVALID_ARGUMENT, "D overlaps the metadata; give D memory of its own");
  p.with.k = g->k, p.with.a = p.with.scale_a = p.with.scale_b = NULL;
  p.with.b = g->b, p.with.order_b = g->order_b, p.with.ldb = g->ldb;
  return smma_check_overlap(&p);
}

/* Multiplies one row of A after another. Invalid arguments fail at the first row, before D is written. */
static smma_status multiply_rows(const smma_instruction *dense, const smma_gemm_arguments *g, smma_gemm_arguments *row,
                                 const unsigned char *metadata, size_t group, unsigned char *selected) {
  const size_t a = smma_format_bytes(dense->a), b = smma_format_bytes(dense->b), c = smma_format_bytes(dense->c),
               d = smma_format_bytes(smma_plan_d_format(g->plan, dense));
  const smma_scales scales = smma_scales_of(g->plan, dense);
  const size_t of_row = smma_scales_along(scales, g->k / 2);
  smma_status status = SMMA_OK;
  row->m = 1, row->progress = NULL;
  for (size_t i = 0; i < g->m && status == SMMA_OK; i++) {
    select_rows(g, b, group, metadata + i * (g->k / 2), selected);
    row->a = row_of(g->a, g->order_a, row->lda, a, i);
    row->scale_a = of_row ? row_of(g->scale_a, SMMA_ROW_MAJOR, of_row, smma_format_bytes(scales.format), i) : NULL;
    row->c = row_of(g->c, g->order_c, row->ldc, c, i);
    row->d = row_of(g->d, g->order_d, row->ldd, d, i);
    status = smma_gemm(dense, row);
    if (status == SMMA_OK && g->progress && g->progress(i + 1, g->m, g->progress_context)) status = SMMA_STOPPED;
  }
  return status;
}

static smma_status multiply(const smma_instruction *i, smma_gemm_arguments g, const unsigned char *metadata) {
  smma_instruction dense;
  smma_gemm_arguments row, of_a = g, of_b = g; /* for checks: of_a with A's K, half of B's; of_b with B's K */
  smma_status status;
  unsigned char *selected;
  size_t bytes;
  if (!i->sparse) return SMMA_INVALID_SPARSITY;
  if (g.on_device)
    return smma_set_error(g.error, SMMA_INVALID_ARGUMENT, "sparse products take operands in the host's memory");
  if (g.k % (size_t)i->sparse)
    return smma_set_error(g.error, SMMA_INVALID_DIMENSION, "K is %zu; metadata is of groups of %d elements", g.k,
                          i->sparse);
  if (g.m && g.k && !metadata) return smma_set_error(g.error, SMMA_INVALID_ARGUMENT, "metadata is missing");
  dense = *i, dense.sparse = 0;
  row = g;
  row.k = g.k / 2, row.b = NULL, row.order_b = SMMA_ROW_MAJOR, row.ldb = g.n;
  of_a.k = row.k, of_a.order_b = SMMA_ROW_MAJOR, of_a.ldb = 0;
  of_b.m = 0, of_b.lda = of_b.ldc = of_b.ldd = 0;
  status = smma_check_matrices(&of_a);
  if (status == SMMA_OK) status = smma_check_matrices(&of_b);
  if (status != SMMA_OK) return status;
  row.lda = of_a.lda, row.ldc = of_a.ldc, row.ldd = of_a.ldd, g.ldb = of_b.ldb;
  if (!smma_scales_of(g.plan, &dense).each && (g.scale_a || g.scale_b)) return SMMA_MISSING_SCALE;
  if (g.m == 0 || g.n == 0) return smma_gemm(&dense, &row);
  status = check_metadata(i, &g, metadata);
  if (status == SMMA_OK) status = check_overlaps(&dense, &g, &row, metadata);
  if (status != SMMA_OK) return status;
  if (__builtin_mul_overflow(row.k, g.n, &bytes) || __builtin_mul_overflow(bytes, smma_format_bytes(i->b), &bytes))
    return SMMA_INVALID_DIMENSION;
  selected = malloc(bytes + 1);
  if (!selected) return SMMA_NO_MEMORY;
  row.b = selected;
  status = multiply_rows(&dense, &g, &row, metadata, (size_t)i->sparse, selected);
  free(selected);
  return status;
}

smma_status smma_gemm_sparse(const smma_instruction *i, const smma_gemm_arguments *arguments,
                             const unsigned char *metadata) {
  smma_gemm_arguments g;
  const smma_status status = smma_take_arguments(arguments, &g);
  if (status != SMMA_OK) return status;
  return smma_end_error(g.error, i ? multiply(i, g, metadata) : SMMA_INVALID_ARGUMENT);
}
