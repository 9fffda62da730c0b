/* Makes multipliers: checks the arguments of a product, derives the schedule of its sums, and chooses the kernel. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "gemm/device/device.h"
#include "gemm/overlap.h"
#include "gemm/special.h"
#include "host/count.h"
#include "host/error.h"
#include "plan/element.h"

/* Fills in the leading dimension if it is 0 (dense). Checks the order, that the leading dimension is large enough, and
   that size_t holds every offset at 8 bytes per element. */
static smma_status check_layout(size_t rows, size_t columns, smma_order order, size_t *leading) {
  size_t inner = order == SMMA_ROW_MAJOR ? columns : rows, outer = order == SMMA_ROW_MAJOR ? rows : columns;
  if (order != SMMA_ROW_MAJOR && order != SMMA_COLUMN_MAJOR) return SMMA_INVALID_ARGUMENT;
  if (*leading == 0) *leading = inner ? inner : 1;
  if (*leading < inner) return SMMA_INVALID_DIMENSION;
  if (outer && *leading > SIZE_MAX / sizeof(uint64_t) / outer) return SMMA_INVALID_DIMENSION;
  return SMMA_OK;
}

/* Returns where alpha and beta apply. By default that is to the operands if neither factor changes a value (beta = 0
   leaves C out), and otherwise in the epilogue. */
static smma_scaling scaling_of(const smma_gemm_arguments *g) {
  const bool plain = g->alpha == 1 && (g->beta == 1 || g->beta == 0);
  if (g->scaling != SMMA_SCALING_DEFAULT) return g->scaling;
  return plain ? SMMA_SCALING_OPERANDS : SMMA_SCALING_EPILOGUE;
}

/* Makes beta +0 if beta C counts as +0: if there is no C, or if beta is -0. */
static void settle_beta(smma_gemm_arguments *g) {
  if (!g->c || g->beta == 0) g->beta = 0;
}

static bool missing_pointer(const smma_gemm_arguments *g) {
  bool has_products = g->m && g->n && g->k;
  return (has_products && (!g->a || !g->b)) || (g->m && g->n && !g->d);
}

/* Reports whether scale factors are missing, or are given although neither the instruction nor the plan has any. */
static bool has_wrong_scales(const smma_multiplier *multiplier) {
  const smma_gemm_arguments *g = &multiplier->with;
  const bool scaled = multiplier->operation.scale_block || multiplier->part_k;
  return scaled ? g->m && g->n && g->k && (!g->scale_a || !g->scale_b) : g->scale_a || g->scale_b;
}

smma_status smma_check_matrices(smma_gemm_arguments *g) {
  smma_status status = missing_pointer(g) ? SMMA_INVALID_ARGUMENT : SMMA_OK;
  if (status == SMMA_OK) status = check_layout(g->m, g->k, g->order_a, &g->lda);
  if (status == SMMA_OK) status = check_layout(g->k, g->n, g->order_b, &g->ldb);
  if (status == SMMA_OK) status = check_layout(g->m, g->n, g->order_c, &g->ldc);
  if (status == SMMA_OK) status = check_layout(g->m, g->n, g->order_d, &g->ldd);
  return status;
}

/* Fills a view. Sets members one at a time, because building and copying a struct would stall small products. */
static void set_view(smma_view *x, const void *data, smma_format format, size_t lines, size_t count, bool along_k,
                     size_t leading, const void *scale) {
  x->data = data, x->format = format;
  x->lines = lines, x->count = count;
  x->line_step = along_k ? leading : 1, x->k_step = along_k ? 1 : leading;
  x->panel = SIZE_MAX, x->panel_step = 0;
  x->line = x->k = 0;
  x->factor = 1;
  x->scale = scale;
}

void smma_multiplier_set_views(smma_multiplier *multiplier) {
  const smma_gemm_arguments *g = &multiplier->with;
  const smma_operation *o = &multiplier->operation;
  set_view(&multiplier->a, g->a, o->a, g->m, g->k, g->order_a == SMMA_ROW_MAJOR, g->lda, g->scale_a);
  if (g->scaling == SMMA_SCALING_OPERANDS && !g->plan) multiplier->a.factor = g->alpha;
  if (!multiplier->kept)
    set_view(&multiplier->b, g->b, o->b, g->n, g->k, g->order_b == SMMA_COLUMN_MAJOR, g->ldb, g->scale_b);
}

/* Checks the arguments that go with the caller's plan: what the plan itself decides must not be given, alpha, beta and
   C only if the plan uses them, and the bias must be there if the plan adds one. */
static smma_status check_plan(const smma_gemm_arguments *g) {
  const bool takes_alpha = smma_plan_has(g->plan, SMMA_EPILOGUE_LINEAR) || smma_plan_has(g->plan, SMMA_EPILOGUE_ALPHA);
  const bool takes_c = smma_plan_takes_c(g->plan);
  if (g->split_k > 1 || g->promote_every || g->scaling != SMMA_SCALING_DEFAULT) return SMMA_INVALID_ARGUMENT;
  if ((!takes_alpha && g->alpha != 1) || (!takes_c && (g->c || g->beta != 1))) return SMMA_INVALID_ARGUMENT;
  if (smma_plan_has(g->plan, SMMA_EPILOGUE_BIAS) && g->n && !g->bias) return SMMA_INVALID_ARGUMENT;
  return SMMA_OK;
}

/* Copies to the multiplier what the caller's plan decides: the blocks of K that have scale factors, D's format, whether
   accumulators start from C, and the epilogue. */
static void take_plan(smma_multiplier *multiplier) {
  const smma_plan *plan = multiplier->with.plan;
  const smma_plan_level *scaled = smma_plan_scaled_level(plan);
  multiplier->part_k = scaled ? scaled->grain : 0;
  if (plan->d != SMMA_NO_FORMAT) multiplier->d_format = plan->d;
  multiplier->starts_from_c = plan->starts_from_c, multiplier->takes_c = smma_plan_takes_c(plan);
  multiplier->epilogues = plan->epilogues;
  memcpy(multiplier->epilogue, plan->epilogue, sizeof multiplier->epilogue);
}

/* Makes the schedule. Without a plan, a single chain (and K = 0) needs only the number of steps: it has no list of
   indices k and no tasks. The same holds if there is nothing to compute. */
static smma_status make_schedule(smma_multiplier *multiplier, bool is_kept) {
  const smma_gemm_arguments *g = &multiplier->with;
  const size_t k = (size_t)multiplier->operation.k;
  const bool simple = g->split_k <= 1 && !g->promote_every;
  smma_plan of_arguments;
  multiplier->schedule = (smma_schedule){.k_per_step = k,
                                         .steps = smma_divide_up(g->k, k),
                                         .in_order = true,
                                         .start = SMMA_IN_ACCUMULATOR,
                                         .result = SMMA_IN_ACCUMULATOR};
  if (!g->plan && (g->k == 0 || simple)) return SMMA_OK;
  if (!g->n || (!g->m && !is_kept)) return SMMA_OK;
  if (!g->plan) of_arguments = smma_plan_of_sums(g->split_k < g->k ? g->split_k : g->k, g->promote_every, k);
  return smma_schedule_make(g->plan ? g->plan : &of_arguments, &multiplier->operation, g->k, &multiplier->schedule,
                            g->error);
}

/* Opens the device that the arguments name. If it cannot be used, the arguments' error says why. */
static smma_status open_device(smma_multiplier *multiplier) {
  const smma_gemm_arguments *g = &multiplier->with;
  char message[SMMA_DEVICE_MESSAGE];
  multiplier->device = smma_device_open(g->kernel, message);
  if (multiplier->device) return SMMA_OK;
  return smma_set_error(g->error, SMMA_NO_KERNEL, "%s", message);
}

static smma_status refuse_host_kernel(const smma_gemm_arguments *g) {
  return smma_set_error(g->error, SMMA_INVALID_ARGUMENT,
                        "operands are in a device's memory, and the kernel is %s, not a device",
                        g->kernel ? g->kernel : "this CPU's");
}

smma_status smma_multiplier_make(const smma_operation *operation, const smma_gemm_arguments *arguments, bool is_kept,
                                 smma_multiplier *multiplier) {
  smma_gemm_arguments *g = &multiplier->with;
  const size_t k = (size_t)operation->k;
  smma_status status;
  const char *kernel;
  multiplier->kept = NULL;
  multiplier->device = NULL, multiplier->family = NULL;
  multiplier->core_blocks = NULL, multiplier->turned = false;
  multiplier->operation = *operation;
  multiplier->operation.c = operation->d; /* C is converted to D's format before the first step */
  multiplier->c_format = operation->c;
  multiplier->d_format = operation->d;
  multiplier->part_k = 0, multiplier->takes_c = true;
  multiplier->outer = smma_outer_format(operation->d);
  *g = *arguments;
  multiplier->leading.a = g->lda, multiplier->leading.c = g->ldc, multiplier->leading.d = g->ldd;
  if (g->threads < 0) return SMMA_INVALID_ARGUMENT;
  if ((unsigned)g->scaling > SMMA_SCALING_EPILOGUE) return SMMA_INVALID_ARGUMENT;
  if (g->plan && (status = check_plan(g)) != SMMA_OK) return status;
  g->scaling = scaling_of(g);
  multiplier->starts_from_c = g->scaling == SMMA_SCALING_OPERANDS;
  multiplier->epilogues = g->scaling == SMMA_SCALING_EPILOGUE;
  multiplier->epilogue[0].kind = SMMA_EPILOGUE_LINEAR;
  if (g->plan) take_plan(multiplier);
  status = smma_check_matrices(g);
  if (status != SMMA_OK) return status;
  status = smma_check_overlap(multiplier);
  if (status != SMMA_OK) return status;
  if (g->on_device && !smma_is_device_name(g->kernel)) return refuse_host_kernel(g);
  if (smma_is_device_name(g->kernel)) {
    status = open_device(multiplier);
    if (status != SMMA_OK) return status;
  } else if (!smma_choose_kernel(operation, g->kernel, &multiplier->family, &kernel)) {
    return SMMA_NO_KERNEL;
  }
  multiplier->few = multiplier->family ? smma_few_family(operation, g->kernel) : NULL;
  multiplier->small = multiplier->family ? smma_small_family(operation, g->kernel) : NULL;
  multiplier->classes = multiplier->family ? smma_special_family(operation, g->kernel) : NULL;
  multiplier->lanes = multiplier->family && smma_lanes_take(operation) ? smma_lane_function_here() : NULL;
  if (has_wrong_scales(multiplier)) return SMMA_MISSING_SCALE;
  if (g->promote_every % k) return SMMA_INVALID_MULTIPLE;
  if (!is_kept) settle_beta(g); /* otherwise C comes with each product */
  smma_multiplier_set_views(multiplier);
  status = make_schedule(multiplier, is_kept);
  multiplier->steps = multiplier->schedule.steps;
  return status;
}

void smma_multiplier_end(smma_multiplier *multiplier) { smma_schedule_free(&multiplier->schedule); }

smma_status smma_multiplier_take(smma_multiplier *multiplier, size_t m, const void *a, const void *scale_a,
                                 const void *c, void *d) {
  smma_gemm_arguments *g = &multiplier->with;
  smma_status status;
  if (c && !multiplier->takes_c) return SMMA_INVALID_ARGUMENT;
  g->m = m, g->a = a, g->scale_a = scale_a, g->c = c, g->d = d;
  g->lda = multiplier->leading.a, g->ldc = multiplier->leading.c, g->ldd = multiplier->leading.d;
  status = smma_check_matrices(g);
  if (status != SMMA_OK) return status;
  status = smma_check_overlap(multiplier);
  if (status != SMMA_OK) return status;
  if (has_wrong_scales(multiplier)) return SMMA_MISSING_SCALE;
  settle_beta(g);
  smma_multiplier_set_views(multiplier);
  return SMMA_OK;
}

/* Makes the operation that of B^T A^T. Products commute in every rule, but a composition may treat subnormals of A and
   of B differently. */
static void turn_operation(smma_operation *o) {
  const smma_format a = o->a;
  smma_composition *p = &o->rule.with.composition;
  o->a = o->b, o->b = a;
  if (o->rule.algorithm == SMMA_COMPOSITION) {
    const smma_subnormal_policy of_a = p->subnormal_a;
    p->subnormal_a = p->subnormal_b, p->subnormal_b = of_a;
  }
}

/* Reports whether the multiplier's family can compute B^T A^T. If A and B have the same format, the operation is not
   copied, because a copy would take a few percent of a small product's time. */
static bool takes_turned(const smma_multiplier *multiplier) {
  smma_operation turned;
  if (multiplier->operation.a == multiplier->operation.b && multiplier->operation.rule.algorithm != SMMA_COMPOSITION)
    return true;
  turned = multiplier->operation;
  turn_operation(&turned);
  return multiplier->family->takes(&turned);
}

/* A product cannot be turned if a plan scales blocks of K or adds a bias, if a NaN result depends on the order of two
   NaN operands, or if a composition aligns A and B in blocks or cuts them into slices. The policy SMMA_NAN_B_SUM_A
   depends on the order, too, but its family reads `turned`. */
bool smma_can_turn(const smma_multiplier *multiplier) {
  const smma_rule *rule = &multiplier->operation.rule;
  const bool has_sides = multiplier->part_k || multiplier->with.bias; /* belong to A or B, and to columns of D */
  const bool is_sliced = rule->algorithm == SMMA_COMPOSITION && !smma_has_whole_products(&rule->with.composition);
  return !has_sides && !is_sliced && rule->nan != SMMA_NAN_OPERAND && takes_turned(multiplier);
}

static smma_order turned_order(smma_order order) {
  return order == SMMA_ROW_MAJOR ? SMMA_COLUMN_MAJOR : SMMA_ROW_MAJOR;
}

void smma_turn_product(smma_multiplier *p) {
  const smma_view a = p->a;
  const size_t m = p->with.m;
  turn_operation(&p->operation);
  p->turned = !p->turned;
  p->a = p->b, p->b = a;
  p->with.m = p->with.n, p->with.n = m;
  p->with.order_c = turned_order(p->with.order_c), p->with.order_d = turned_order(p->with.order_d);
}
