#include <stdint.h>

#include "gemm/special.h"

/* What accumulators are held and added in. */
static smma_format outer_of(smma_format d) { return d == SMMA_F64 || d == SMMA_S32 ? d : SMMA_F32; }

static size_t divide_up(size_t x, size_t y) { return x / y + (x % y != 0); }

/* Fills in a dense leading dimension and checks that the last element's index fits. */
static smma_status check_layout(size_t rows, size_t columns, smma_order order, size_t *leading) {
  size_t inner = order == SMMA_ROW_MAJOR ? columns : rows, outer = order == SMMA_ROW_MAJOR ? rows : columns;
  if (order != SMMA_ROW_MAJOR && order != SMMA_COLUMN_MAJOR) return SMMA_INVALID_ARGUMENT;
  if (*leading == 0) *leading = inner ? inner : 1;
  if (*leading < inner) return SMMA_INVALID_DIMENSION;
  if (outer && *leading > SIZE_MAX / sizeof(uint64_t) / outer) return SMMA_INVALID_DIMENSION;
  return SMMA_OK;
}

/* Where the factors act; the kernels know no default. */
static smma_scaling scaling_of(const smma_gemm_arguments *g) {
  const bool plain = g->alpha == 1 && (g->beta == 1 || g->beta == 0);
  if (g->scaling != SMMA_SCALING_DEFAULT) return g->scaling;
  return plain ? SMMA_SCALING_OPERANDS : SMMA_SCALING_EPILOGUE;
}

static bool missing_pointer(const smma_gemm_arguments *g) {
  bool has_products = g->m && g->n && g->k;
  return (has_products && (!g->a || !g->b)) || (g->m && g->n && !g->d);
}

/* What D is written over while it is still to be read. */
static bool overwrites_operands(const smma_gemm_arguments *g) {
  bool has_products = g->m && g->n && g->k;
  return has_products && (g->d == g->a || g->d == g->b || (g->scale_a && (g->d == g->scale_a || g->d == g->scale_b)));
}

/* In place each element of C must be the one of D that is made from it. */
static bool overwrites_c(const smma_plan *plan) {
  const smma_gemm_arguments *g = &plan->with;
  if (g->d != g->c || g->beta == 0 || !g->m || !g->n) return false;
  return plan->c_format != plan->operation.d || g->order_c != g->order_d || g->ldc != g->ldd;
}

smma_status smma_check_matrices(smma_gemm_arguments *g) {
  smma_status status = missing_pointer(g) ? SMMA_INVALID_ARGUMENT : SMMA_OK;
  if (status == SMMA_OK) status = check_layout(g->m, g->k, g->order_a, &g->lda);
  if (status == SMMA_OK) status = check_layout(g->k, g->n, g->order_b, &g->ldb);
  if (status == SMMA_OK) status = check_layout(g->m, g->n, g->order_c, &g->ldc);
  if (status == SMMA_OK) status = check_layout(g->m, g->n, g->order_d, &g->ldd);
  return status;
}

static smma_view view_of_a(const smma_operation *o, const smma_gemm_arguments *g) {
  const bool along_k = g->order_a == SMMA_ROW_MAJOR;
  return (smma_view){.data = g->a,
                     .format = o->a,
                     .lines = g->m,
                     .count = g->k,
                     .line_step = along_k ? g->lda : 1,
                     .k_step = along_k ? 1 : g->lda,
                     .panel = SIZE_MAX,
                     .factor = g->scaling == SMMA_SCALING_OPERANDS ? g->alpha : 1,
                     .scale = g->scale_a};
}

static smma_view view_of_b(const smma_operation *o, const smma_gemm_arguments *g) {
  const bool along_k = g->order_b == SMMA_COLUMN_MAJOR;
  return (smma_view){.data = g->b,
                     .format = o->b,
                     .lines = g->n,
                     .count = g->k,
                     .line_step = along_k ? g->ldb : 1,
                     .k_step = along_k ? 1 : g->ldb,
                     .panel = SIZE_MAX,
                     .factor = 1,
                     .scale = g->scale_b};
}

void smma_plan_look(smma_plan *plan) {
  plan->a = view_of_a(&plan->operation, &plan->with);
  if (!plan->kept) plan->b = view_of_b(&plan->operation, &plan->with);
}

smma_status smma_plan_make(const smma_operation *operation, const smma_gemm_arguments *arguments, smma_plan *plan) {
  smma_gemm_arguments *g = &plan->with;
  size_t k = (size_t)operation->k, slices;
  smma_status status;
  const char *kernel;
  plan->kept = NULL;
  plan->core_blocks = NULL;
  plan->operation = *operation;
  plan->operation.c = operation->d;
  plan->c_format = operation->c;
  plan->outer = outer_of(operation->d);
  *g = *arguments;
  plan->leading.a = g->lda, plan->leading.c = g->ldc, plan->leading.d = g->ldd;
  if (g->threads < 0) return SMMA_INVALID_ARGUMENT;
  if ((unsigned)g->scaling > SMMA_SCALING_EPILOGUE) return SMMA_INVALID_ARGUMENT;
  g->scaling = scaling_of(g);
  status = smma_check_matrices(g);
  if (status != SMMA_OK) return status;
  if (overwrites_operands(g) || overwrites_c(plan)) return SMMA_INVALID_ARGUMENT;
  if (!smma_choose_kernel(operation, g->kernel, &plan->family, &kernel)) return SMMA_NO_KERNEL;
  plan->few = smma_few_family(operation, g->kernel);
  plan->classes = plan->family ? smma_special_family(operation, g->kernel) : NULL;
  plan->lanes = plan->family && smma_lanes_take(operation) ? smma_lane_function_here() : NULL;
  if (operation->scale_block ? g->m && g->n && g->k && (!g->scale_a || !g->scale_b) : g->scale_a || g->scale_b)
    return SMMA_MISSING_SCALE;
  if (g->promote_every % k) return SMMA_INVALID_MULTIPLE;
  smma_plan_look(plan);
  plan->steps = divide_up(g->k, k);
  plan->steps_per_interval = g->promote_every / k;
  slices = g->split_k ? g->split_k : 1;
  plan->steps_per_slice = divide_up(plan->steps, slices);
  if (plan->steps_per_interval)
    plan->steps_per_slice = divide_up(plan->steps_per_slice, plan->steps_per_interval) * plan->steps_per_interval;
  return SMMA_OK;
}

smma_status smma_plan_take(smma_plan *plan, size_t m, const void *a, const void *scale_a, const void *c, void *d) {
  smma_gemm_arguments *g = &plan->with;
  smma_status status;
  g->m = m, g->a = a, g->scale_a = scale_a, g->c = c, g->d = d;
  g->lda = plan->leading.a, g->ldc = plan->leading.c, g->ldd = plan->leading.d;
  status = smma_check_matrices(g);
  if (status != SMMA_OK) return status;
  if (overwrites_operands(g) || overwrites_c(plan)) return SMMA_INVALID_ARGUMENT;
  if (plan->operation.scale_block ? m && g->n && g->k && !scale_a : scale_a != NULL) return SMMA_MISSING_SCALE;
  smma_plan_look(plan);
  return SMMA_OK;
}

/* The operation of B^T A^T: every rule's products commute. */
static smma_operation turned_operation(const smma_operation *o) {
  smma_operation turned = *o;
  turned.a = o->b, turned.b = o->a;
  return turned;
}

/* Which of two operands' NaN is returned depends on their order. */
bool smma_can_turn(const smma_plan *plan) {
  const smma_operation turned = turned_operation(&plan->operation);
  return plan->operation.rule.nan != SMMA_NAN_OPERAND && plan->family->takes(&turned);
}

static smma_order turned_order(smma_order order) {
  return order == SMMA_ROW_MAJOR ? SMMA_COLUMN_MAJOR : SMMA_ROW_MAJOR;
}

smma_plan smma_turned(const smma_plan *plan) {
  smma_plan turned = *plan;
  smma_gemm_arguments *g = &turned.with;
  turned.operation = turned_operation(&plan->operation);
  turned.a = plan->b, turned.b = plan->a;
  g->m = plan->with.n, g->n = plan->with.m;
  g->order_c = turned_order(g->order_c), g->order_d = turned_order(g->order_d);
  return turned;
}
