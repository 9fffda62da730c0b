/* Multipliers that callers create once and use for several products. Each has its own copies of B, the scale factors
   and the bias. */
#include "api/multiplier.h"

#include <stdlib.h>
#include <string.h>

#include "gemm/element.h"
#include "host/error.h"
#include "host/load.h"
#include "isa/instruction.h"

smma_status smma_multiplier_for(const smma_instruction *i, const smma_gemm_arguments *arguments, bool is_kept,
                                smma_multiplier *multiplier) {
  smma_gemm_arguments g;
  smma_operation o;
  smma_status status = smma_take_arguments(arguments, &g);
  if (status != SMMA_OK) return status;
  if (!i) return smma_end_error(g.error, SMMA_INVALID_ARGUMENT);
  if (i->sparse) return smma_end_error(g.error, SMMA_INVALID_SPARSITY);
  if (i->origin && smma_kernel_for(i, g.kernel, NULL)) g.kernel = smma_kernel_for(i, g.kernel, NULL);
  smma_set_operation(&o, i);
  return smma_end_error(g.error, smma_multiplier_make(&o, &g, is_kept, multiplier));
}

static size_t scale_bytes(const smma_multiplier *p) {
  const size_t block = p->part_k ? p->part_k : (size_t)p->operation.scale_block;
  const smma_format format = p->part_k ? SMMA_F32 : p->operation.scale;
  return block ? (p->with.k + block - 1) / block * p->with.n * smma_bytes_of(format) : 0;
}

/* Returns a copy of `bytes` bytes, or NULL if memory runs out or `data` is NULL. */
static void *copy_of(const void *data, size_t bytes) {
  void *copy = data ? malloc(bytes + 1) : NULL;
  return copy ? memcpy(copy, data, bytes) : NULL;
}

/* Copies B, its scale factors and the bias, so that the multiplier no longer refers to the caller's memory. Returns
   false if memory runs out. */
static bool keep_b(smma_multiplier *p) {
  const void *scale = p->with.scale_b, *bias = p->with.bias;
  p->with.scale_b = p->b.scale = copy_of(scale, scale_bytes(p));
  p->with.bias = copy_of(bias, p->with.n * sizeof *p->with.bias);
  p->with.kernel = NULL, p->with.plan = NULL, p->with.error = NULL;
  if (!smma_multiplier_keep_columns(p)) return false;
  p->with.b = p->kept;
  return (p->with.scale_b || !scale) && (p->with.bias || !bias);
}

smma_status smma_multiplier_create(const smma_instruction *i, const smma_gemm_arguments *arguments,
                                   smma_multiplier **multiplier) {
  smma_gemm_arguments g;
  smma_status status = smma_take_arguments(arguments, &g);
  smma_multiplier *p;
  if (multiplier) *multiplier = NULL;
  if (status != SMMA_OK) return status;
  if (!i || !multiplier) return smma_end_error(g.error, SMMA_INVALID_ARGUMENT);
  if (g.on_device)
    return smma_set_error(g.error, SMMA_INVALID_ARGUMENT,
                          "a multiplier keeps B in the host's memory; smma_gemm takes operands on devices");
  g.m = 0, g.a = g.c = g.scale_a = NULL, g.d = NULL; /* each run has its own A, C and D */
  if (g.n && g.k && !g.b) return smma_end_error(g.error, SMMA_INVALID_ARGUMENT);
  if (i->scale_block || (g.plan && smma_plan_scaled_k(g.plan)) ? g.n && g.k && !g.scale_b : g.scale_b != NULL)
    return smma_end_error(g.error, SMMA_MISSING_SCALE);
  p = malloc(sizeof *p);
  if (!p) return smma_end_error(g.error, SMMA_NO_MEMORY);
  status = smma_multiplier_for(i, &g, true, p);
  if (status != SMMA_OK) return free(p), status;
  if (!keep_b(p)) return smma_multiplier_free(p), smma_end_error(g.error, SMMA_NO_MEMORY);
  *multiplier = p;
  return SMMA_OK;
}

smma_status smma_multiplier_run(const smma_multiplier *multiplier, size_t m, const void *a, const void *scale_a,
                                const void *c, void *d) {
  smma_multiplier run;
  smma_status status;
  if (!multiplier) return SMMA_INVALID_ARGUMENT;
  run = *multiplier;
  status = smma_multiplier_take(&run, m, a, scale_a, c, d);
  return status == SMMA_OK ? smma_multiplier_compute(&run) : status;
}

size_t smma_multiplier_bytes(const smma_multiplier *p) {
  const smma_schedule *s;
  if (!p) return 0;
  s = &p->schedule;
  return sizeof *p + smma_kept_bytes(p) + scale_bytes(p) + (p->with.bias ? p->with.n * sizeof *p->with.bias : 0) +
         (s->k ? s->steps * s->k_per_step * sizeof *s->k : 0) + s->tasks * sizeof *s->task;
}

void smma_multiplier_free(smma_multiplier *multiplier) {
  if (!multiplier) return;
  smma_multiplier_release_columns(multiplier);
  smma_multiplier_end(multiplier);
  free((void *)multiplier->with.scale_b);
  free((void *)multiplier->with.bias);
  free(multiplier);
}
