#include "compare/prepare.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "isa/format_name.h"
#include "isa/key.h"
#include "numerics/blocks.h"
#include "plan/plan.h"
#include "product/product.h"

bool smma_add_target(smma_prepared_targets *x, const char *label, const smma_instruction *instruction,
                     smma_error *error) {
  smma_prepared_target *more = realloc(x->target, (x->count + 1) * sizeof *more), *t;
  if (!more) return smma_no_memory(error);
  x->target = more;
  t = &x->target[x->count++];
  memset(t, 0, sizeof *t);
  snprintf(t->label, sizeof t->label, "%s", label);
  t->instruction = instruction, t->rounded = SMMA_NO_FORMAT;
  smma_inputs_text(instruction, t->inputs);
  return true;
}

/* If D of the target must be rounded, gives a target without a plan the plan that rounds D. Fails if the target's own
   plan does not round D to this format. */
static bool round_results(smma_prepared_target *t, smma_error *error) {
  const char *d = smma_format_text(t->rounded);
  if (t->rounded == SMMA_NO_FORMAT || (t->plan.plan && t->plan.plan->d == t->rounded)) return true;
  if (t->plan.plan)
    return smma_fail(error, "--out: the plan of %s has no D in %s; give it \"d\": \"%s\"", t->plan.text, d, d);
  t->plan.plan = smma_plan_of_rounding(t->rounded, 1, 0, (size_t)t->instruction->k);
  return t->plan.plan || smma_no_memory(error);
}

bool smma_plan_targets(smma_prepared_targets *x, const char *plans, const char *roundings, smma_error *error) {
  const smma_instruction *instruction[SMMA_MOST_TARGETS];
  smma_target_plan plan[SMMA_MOST_TARGETS];
  smma_target_rounding rounding[SMMA_MOST_TARGETS];
  for (size_t i = 0; i < x->count; i++) instruction[i] = x->target[i].instruction;
  if (!smma_target_plans(plans, instruction, x->count, plan, error)) return false;
  for (size_t i = 0; i < x->count; i++) x->target[i].plan = plan[i];
  if (!smma_target_roundings(roundings, instruction, plan, x->count, rounding, error)) return false;
  x->has_plans = plans;
  for (size_t i = 0; i < x->count; i++) {
    smma_prepared_target *t = &x->target[i];
    t->rounding = rounding[i];
    if (!round_results(t, error)) return false;
    x->product[i] = (smma_product_target){.label = t->label,
                                          .plan = plans ? t->plan.text : NULL,
                                          .instruction = t->instruction,
                                          .rounding = t->rounding.a,
                                          .shows_rounding = roundings,
                                          .product.plan = t->plan.plan};
    if (!plans && t->plan.plan) snprintf(t->plan.text, sizeof t->plan.text, "--out");
  }
  return true;
}

static bool same_rounding(smma_target_rounding x, smma_target_rounding y) { return x.a == y.a && x.b == y.b; }

/* Compares labels without their formats, which stand after a colon. */
static bool same_target(const smma_prepared_target *x, const smma_prepared_target *y) {
  const size_t length = strcspn(x->label, ":");
  return x->instruction == y->instruction && length == strcspn(y->label, ":") &&
         strncasecmp(x->label, y->label, length) == 0 && strcmp(x->plan.text, y->plan.text) == 0 &&
         same_rounding(x->rounding, y->rounding);
}

bool smma_refuse_same_targets(const smma_prepared_targets *x, smma_error *error) {
  for (size_t i = 0; i < x->count; i++)
    for (size_t j = 0; j < i; j++)
      if (same_target(&x->target[i], &x->target[j]))
        return smma_fail(error, "--on: %s is given twice with the same instruction and plan; name each target once",
                         x->target[i].label);
  return true;
}

bool smma_check_plans(const smma_prepared_targets *x, size_t k, smma_error *error) {
  for (size_t i = 0; i < x->count; i++)
    if (!smma_check_target_plan(&x->target[i].plan, x->target[i].instruction, k, error)) return false;
  return true;
}

const smma_notes *smma_notes_of_target(const smma_prepared_targets *x, const smma_prepared_target *t) {
  for (const smma_prepared_target *earlier = x->target; earlier < t; earlier++)
    if (strcmp(earlier->inputs, t->inputs) == 0 && same_rounding(earlier->rounding, t->rounding)) return NULL;
  return x->notes;
}

static bool same_inputs(smma_block_format x, smma_block_format y) {
  return x.element == y.element && x.block == y.block;
}

/* Reports whether elements are read as encodings of the format. A format with scale factors is made from numbers. */
static bool reads_encodings(const smma_tensor *t, smma_block_format input) {
  return !input.block && smma_is_raw(t, input.element);
}

static bool check_meanings_of(const smma_prepared_targets *x, const smma_tensor *t, bool of_a, const char *path,
                              const char *remedy, smma_error *error) {
  const smma_prepared_target *first = &x->target[0];
  const smma_block_format format = smma_input_of(first->instruction, of_a);
  const smma_label label = {of_a ? "A" : "B", path};
  for (const smma_prepared_target *other = first; other < first + x->count; other++) {
    const smma_block_format own = smma_input_of(other->instruction, of_a);
    if (!smma_check_meaning(t, own.element, label, error)) return false;
    if (!same_inputs(own, format) && (reads_encodings(t, format) || reads_encodings(t, own)))
      return smma_fail(error,
                       "%s, %s: its elements are encodings, but the targets have several formats (%s on %s, %s on %s); "
                       "%s",
                       label.what, label.path, first->inputs, first->label, other->inputs, other->label, remedy);
  }
  return true;
}

bool smma_check_meanings(const smma_prepared_targets *x, const smma_tensor *a, const smma_tensor *b,
                         const char *const path[2], const char *remedy, smma_error *error) {
  return check_meanings_of(x, a, true, path[0], remedy, error) &&
         check_meanings_of(x, b, false, path[1], remedy, error);
}

bool smma_check_inner(const smma_tensor *a, const smma_tensor *b, const char *const path[2], const char *of_a,
                      const char *of_b, const char *hint, smma_error *error) {
  return b->rows == a->columns ||
         smma_fail(error,
                   "%s%s is %zu x %zu and %s%s is %zu x %zu: the columns of the first must be the rows of the "
                   "second%s",
                   path[0], of_a, a->rows, a->columns, path[1], of_b, b->rows, b->columns, hint);
}

static bool take_operand(const smma_prepared_targets *x, const smma_prepared_target *t, const smma_tensor *from,
                         bool of_a, const char *path, smma_blocks *b, smma_error *error) {
  const smma_instruction *i = t->instruction;
  const smma_block_format format = smma_input_of(i, of_a);
  const smma_scales scales = smma_scales_of(NULL, i);
  const smma_label label = {of_a ? "A" : "B", path};
  const smma_notes *notes = smma_notes_of_target(x, t);
  if (smma_takes_stored(from, of_a, format.element, scales))
    return smma_take_stored(from, of_a, scales, label, notes, b, error);
  if (!i->scale_block)
    return smma_take_matrix(from, format.element, of_a ? t->rounding.a : t->rounding.b, label, notes, &b->values,
                            error);
  b->factor = t->factor[!of_a];
  return smma_check_quantised(i, t->plan.plan, t->plan.text, SMMA_SCALING_DEFAULT, error) &&
         smma_take_blocks(from, of_a, &format, label, notes, b, error);
}

bool smma_convert_operands(const smma_prepared_targets *x, smma_prepared_target *t, const smma_tensor *a,
                           const smma_tensor *b, const char *const path[2], smma_error *error) {
  for (int n = 0; n < 2; n++) {
    smma_blocks taken = {.factor = 1};
    if (!take_operand(x, t, n ? b : a, n == 0, path[n], &taken, error)) return false;
    *(n ? &t->b : &t->a) = taken.values;
    *(n ? &t->scale_b : &t->scale_a) = taken.scales;
    t->factor[n] = taken.factor;
    if (taken.factor != 1 && !smma_takes_factor(t->plan.plan))
      return smma_fail_no_place("--alpha", t->plan.text, error);
  }
  return true;
}

bool smma_find_factors(smma_prepared_target *t, const smma_tensor *a, const smma_tensor *b, const char *const path[2],
                       smma_error *error) {
  for (int n = 0; n < 2; n++) {
    const smma_block_format format = smma_input_of(t->instruction, n == 0);
    smma_blocks whole = {.factor = 0};
    if (!smma_has_tensor_factor(&format) ||
        smma_takes_stored(n ? b : a, n == 0, format.element, smma_scales_of(NULL, t->instruction)))
      continue;
    if (!smma_take_blocks(n ? b : a, n == 0, &format, (smma_label){n ? "B" : "A", path[n]}, NULL, &whole, error))
      return false;
    t->factor[n] = whole.factor;
    smma_tensor_free(&whole.values), smma_tensor_free(&whole.scales);
  }
  return true;
}

void smma_describe_target(smma_prepared_targets *x, size_t index, const smma_gemm_arguments *numbers) {
  const smma_prepared_target *t = &x->target[index];
  smma_gemm_arguments *g = &x->product[index].product;
  *g = *numbers;
  g->plan = t->plan.plan;
  if (t->factor[0] != 0) g->alpha *= (double)t->factor[0] * (double)t->factor[1];
  g->m = t->a.rows, g->k = t->a.columns, g->n = t->b.columns;
  g->a = t->a.data, g->b = t->b.data, g->c = t->c.data, g->d = t->d.data;
  g->scale_a = t->scale_a.data, g->scale_b = t->scale_b.data, g->bias = t->bias.data;
}

void smma_free_targets(smma_prepared_targets *x) {
  for (size_t i = 0; i < x->count; i++) {
    smma_prepared_target *t = &x->target[i];
    smma_tensor *const all[] = {&t->a, &t->b, &t->c, &t->scale_a, &t->scale_b, &t->bias, &t->d};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) smma_tensor_free(all[n]);
    smma_plan_free(t->plan.plan);
  }
  free(x->target);
}
