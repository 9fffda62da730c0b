/* Plans that keep B: what smma_gemm makes for one product, with copies of B of its own. */
#include "api/plan.h"

#include <stdlib.h>
#include <string.h>

#include "gemm/element.h"
#include "host/load.h"
#include "isa/instruction.h"

smma_status smma_plan_for(const smma_instruction *i, const smma_gemm_arguments *arguments, smma_plan *plan) {
  smma_gemm_arguments g;
  smma_operation o;
  if (!i || !arguments || arguments->size != sizeof *arguments) return SMMA_INVALID_ARGUMENT;
  g = *arguments;
  if (i->origin && smma_kernel_for(i, g.kernel)) g.kernel = smma_kernel_for(i, g.kernel);
  o = smma_operation_of(i);
  return smma_plan_make(&o, &g, plan);
}

/* Column by column, each dense. */
static void *copy_b(const smma_plan *p) {
  const smma_gemm_arguments *g = &p->with;
  size_t bytes = smma_container_bytes(smma_encoding_of(p->operation.b));
  unsigned char *copy = malloc(g->n * g->k * bytes + 1);
  for (size_t j = 0; copy && j < g->n; j++)
    for (size_t k = 0; k < g->k; k++)
      smma_store(bytes, copy, j * g->k + k, smma_load(bytes, g->b, smma_index_of(g->order_b, g->ldb, k, j)));
  return copy;
}

static size_t scale_bytes(const smma_plan *p) {
  size_t block = (size_t)p->operation.scale_block;
  return block
             ? (p->with.k + block - 1) / block * p->with.n * smma_container_bytes(smma_encoding_of(p->operation.scale))
             : 0;
}

static void *copy_scales(const smma_plan *p) {
  void *copy = malloc(scale_bytes(p) + 1);
  return copy ? memcpy(copy, p->with.scale_b, scale_bytes(p)) : NULL;
}

/* From now on the plan needs nothing of the caller's. */
static bool keep_b(smma_plan *p) {
  p->with.b = copy_b(p);
  p->with.order_b = SMMA_COLUMN_MAJOR, p->with.ldb = p->with.k ? p->with.k : 1;
  p->with.scale_b = p->operation.scale_block ? copy_scales(p) : NULL;
  smma_plan_look(p);
  return p->with.b && (p->with.scale_b || !p->operation.scale_block) && smma_plan_keep_columns(p);
}

smma_status smma_plan_create(const smma_instruction *i, const smma_gemm_arguments *arguments, smma_plan **plan) {
  smma_gemm_arguments g;
  smma_status status;
  smma_plan *p;
  if (!i || !arguments || !plan) return SMMA_INVALID_ARGUMENT;
  *plan = NULL;
  g = *arguments;
  g.m = 0, g.a = g.c = g.scale_a = NULL, g.d = NULL; /* these come with each run */
  if (g.n && g.k && !g.b) return SMMA_INVALID_ARGUMENT;
  if (i->scale_block ? g.n && g.k && !g.scale_b : g.scale_b != NULL) return SMMA_MISSING_SCALE;
  p = malloc(sizeof *p);
  if (!p) return SMMA_NO_MEMORY;
  status = smma_plan_for(i, &g, p);
  if (status != SMMA_OK) return free(p), status;
  p->with.kernel = NULL; /* a text of the caller's, which has been followed */
  if (!keep_b(p)) return smma_plan_free(p), SMMA_NO_MEMORY;
  *plan = p;
  return SMMA_OK;
}

smma_status smma_plan_run(const smma_plan *plan, size_t m, const void *a, const void *scale_a, const void *c, void *d) {
  smma_plan run;
  smma_status status;
  if (!plan) return SMMA_INVALID_ARGUMENT;
  run = *plan;
  status = smma_plan_take(&run, m, a, scale_a, c, d);
  return status == SMMA_OK ? smma_plan_compute(&run) : status;
}

size_t smma_plan_bytes(const smma_plan *p) {
  if (!p) return 0;
  return sizeof *p + p->with.n * p->with.k * smma_container_bytes(smma_encoding_of(p->operation.b)) + scale_bytes(p) +
         smma_kept_bytes(p);
}

void smma_plan_free(smma_plan *plan) {
  if (!plan) return;
  smma_plan_release_columns(plan);
  free((void *)plan->with.b);
  free((void *)plan->with.scale_b);
  free(plan);
}
