#include "gemm/fold.h"

#include <math.h>
#include <string.h>

#include "gemm/kernel.h"
#include "gemm/row.h"
#include "host/bits.h"
#include "host/load.h"

/* Rounds sums to a format of a task, unless that is SMMA_STORED_AS_IS. */
static void round_to(const smma_multiplier *p, int format, void *sums, size_t count) {
  if (format != SMMA_STORED_AS_IS) smma_round_sums(p, (smma_format)format, sums, count);
}

/* Returns a scale factor. The caller's array may have any alignment. */
static float factor_at(const void *factors, size_t index) {
  return smma_f32_of_bits((uint32_t)smma_load(sizeof(float), factors, index));
}

/* Adds the sums t->from to t->to, with the scale factors of the block of K that contains task->k. */
static void fold_scaled(const smma_multiplier *p, const smma_task *task, const smma_fold_tile *t) {
  const size_t part = task->k / p->part_k, parts = (p->with.k + p->part_k - 1) / p->part_k;
  for (size_t j = 0; j < t->columns; j++) {
    const float b = factor_at(p->with.scale_b, (t->column + j) * parts + part);
    for (size_t i = 0; i < t->rows; i++) {
      const size_t at = smma_accumulator_index(t->packed_rows, t->panel, i, j);
      const float a = factor_at(p->with.scale_a, (t->row + i) * parts + part), x = ((float *)t->from)[at];
      float *to = (float *)t->to + at;
      *to = smma_add_scaled(task->with, a, b, x, *to);
    }
  }
}

void smma_fold_sums(const smma_multiplier *p, const smma_task *task, const smma_fold_tile *t) {
  const size_t count = t->packed_rows * t->packed_columns;
  const size_t bytes = count * smma_bytes_of(p->outer);
  if (task->kind == SMMA_TASK_CLEAR) {
    memset(t->to, 0, bytes);
    return;
  }
  round_to(p, task->stored, t->from, count);
  if (task->kind == SMMA_TASK_FOLD) {
    if (task->with == SMMA_WITH_ADD)
      smma_outer_add(p, t->to, t->from, count);
    else
      fold_scaled(p, task, t);
  } else if (t->to != t->from) {
    memcpy(t->to, t->from, bytes);
  }
  /* NaN that the CPU's additions return become the rule's NaN. NaN that are only moved keep their bits. */
  if (task->kind == SMMA_TASK_FOLD) smma_unify_nan(p, t->to, count);
  round_to(p, task->total, t->to, count);
}
