#include "cli/targets.h"

#include <stdlib.h>
#include <string.h>

#include "isa/key.h"
#include "numerics/blocks.h"
#include "plan/plan.h"
#include "product/product.h"

void smma_add_target(smma_command_targets *x, const char *label, const smma_instruction *instruction) {
  x->target = realloc(x->target, (x->count + 1) * sizeof *x->target);
  if (!x->target) smma_die("out of memory");
  smma_command_target *t = &x->target[x->count++];
  memset(t, 0, sizeof *t);
  snprintf(t->label, sizeof t->label, "%s", label);
  t->instruction = instruction, t->rounded = SMMA_NO_FORMAT;
  smma_inputs_text(instruction, t->inputs);
}

void smma_require_targets(smma_command_targets *x, const char *list, size_t most, const smma_choice *choice) {
  char text[SMMA_TARGET_SIZE];
  smma_choice own = *choice;
  if (!*list) smma_die("--on: the list of targets is empty; for example --on V100,A100,H100");
  while (*list) {
    if (x->count == most) smma_die("--on: more than %zu targets", most);
    smma_format rounded = SMMA_NO_FORMAT;
    own.rounded = &rounded;
    list = smma_next_target(list, text);
    smma_add_target(x, text, smma_choose_target(text, &own));
    x->target[x->count - 1].rounded = rounded;
  }
}

void smma_label_by_gpu(smma_command_targets *x) {
  for (smma_command_target *t = x->target; t < x->target + x->count; t++) {
    if (t->instruction->origin) continue;
    const smma_target target = smma_require_target(t->label);
    snprintf(t->label, sizeof t->label, "%s", target.gpu);
  }
}

/* Gives a target whose D is rounded the plan that does so, unless its own plan does. */
static void round_results(smma_command_target *t) {
  const char *d = smma_format_text(t->rounded);
  if (t->rounded == SMMA_NO_FORMAT || (t->plan.plan && t->plan.plan->d == t->rounded)) return;
  if (t->plan.plan) smma_die("--out: the plan of %s has no D in %s; give it \"d\": \"%s\"", t->plan.text, d, d);
  t->plan.plan = smma_plan_of_rounding(t->rounded, 1, 0, (size_t)t->instruction->k);
  if (!t->plan.plan) smma_die("out of memory");
}

void smma_plan_targets(smma_command_targets *x, const char *plans, const char *roundings) {
  const smma_instruction *instruction[SMMA_MOST_TARGETS];
  smma_target_plan plan[SMMA_MOST_TARGETS];
  smma_target_rounding rounding[SMMA_MOST_TARGETS];
  for (size_t i = 0; i < x->count; i++) instruction[i] = x->target[i].instruction;
  smma_require_plans(plans, instruction, x->count, plan);
  smma_require_roundings(roundings, instruction, plan, x->count, rounding);
  x->has_plans = plans;
  for (size_t i = 0; i < x->count; i++) {
    smma_command_target *t = &x->target[i];
    t->plan = plan[i], t->rounding = rounding[i];
    round_results(t);
    snprintf(t->shown, sizeof t->shown, "%s%s%s", t->inputs, plans ? ", " : "", t->plan.text);
    if (roundings) smma_append_text(t->shown, sizeof t->shown, ", %s", smma_roundings[t->rounding.a]);
    x->product[i] = (smma_product_target){.label = t->label,
                                          .plan = plans ? t->plan.text : NULL,
                                          .instruction = t->instruction,
                                          .rounding = t->rounding.a,
                                          .product.plan = t->plan.plan};
    if (!plans && t->plan.plan) snprintf(t->plan.text, sizeof t->plan.text, "--out");
  }
}

void smma_refuse_same_targets(const smma_command_targets *x) {
  for (size_t i = 0; i < x->count; i++)
    for (size_t j = 0; j < i; j++) {
      const smma_command_target *t = &x->target[i], *other = &x->target[j];
      if (smma_same_rounding(t->rounding, other->rounding))
        smma_refuse_same_target(t->label, t->instruction, &t->plan, other->label, other->instruction, &other->plan);
    }
}

void smma_check_places(const smma_command_targets *x, const smma_gemm_arguments *given, const char *option_of_c) {
  smma_gemm_arguments g = *given;
  for (const smma_command_target *t = x->target; t < x->target + x->count; t++) {
    char option[64];
    g.plan = t->plan.plan;
    const char *member = smma_find_misplaced(t->instruction, &g);
    if (!member) continue;
    smma_option_of(member, option);
    if (g.plan) smma_die_no_place(strcmp(member, "c") == 0 ? option_of_c : option, t->plan.text);
    smma_die("%s: the product of %s has no place for it; leave it out, or give a plan", option, t->label);
  }
}

void smma_check_plans(const smma_command_targets *x, size_t k) {
  for (size_t i = 0; i < x->count; i++) smma_check_plan(&x->target[i].plan, x->target[i].instruction, k);
}

bool smma_is_rounding_noted(const smma_command_targets *x, const smma_command_target *t) {
  for (const smma_command_target *earlier = x->target; earlier < t; earlier++)
    if (strcmp(earlier->inputs, t->inputs) == 0 && smma_same_rounding(earlier->rounding, t->rounding)) return true;
  return false;
}

/* Converts A, or B. Ends the program if a factor of the matrix has no place in the product. */
static smma_blocks convert_operand(const smma_command_target *t, const smma_tensor *from, bool of_a, const char *path,
                                   bool noted) {
  const smma_instruction *i = t->instruction;
  const smma_plan *plan = t->plan.plan;
  const smma_block_format format = smma_input_of(i, of_a);
  const smma_scales scales = smma_scales_of(NULL, i);
  const char *what = of_a ? "A" : "B";
  smma_blocks b = {.factor = 1};
  smma_error error;
  if (smma_takes_stored(from, of_a, format.element, scales))
    b = smma_matrix_as_stored(from, of_a, scales, what, path, noted);
  else if (!i->scale_block)
    b.values = smma_matrix_rounded(from, format.element, of_a ? t->rounding.a : t->rounding.b, what, path, noted);
  else if (smma_check_quantised(i, plan, t->plan.text, SMMA_SCALING_DEFAULT, &error))
    b = smma_matrix_in_blocks(from, of_a, &format, t->factor[!of_a], what, path, noted);
  else
    smma_die("%s", error.text);
  if (b.factor != 1 && !smma_takes_factor(plan)) smma_die_no_place("--alpha", t->plan.text);
  return b;
}

void smma_convert_operands(const smma_command_targets *x, smma_command_target *t, const smma_tensor *a,
                           const smma_tensor *b, const char *const path[2]) {
  const bool noted = smma_is_rounding_noted(x, t);
  const smma_blocks of_a = convert_operand(t, a, true, path[0], noted),
                    of_b = convert_operand(t, b, false, path[1], noted);
  t->a = of_a.values, t->b = of_b.values, t->scale_a = of_a.scales, t->scale_b = of_b.scales;
  t->factor[0] = of_a.factor, t->factor[1] = of_b.factor;
}

void smma_find_factors(smma_command_target *t, const smma_tensor *a, const smma_tensor *b, const char *const path[2]) {
  for (int n = 0; n < 2; n++) {
    const smma_block_format format = smma_input_of(t->instruction, n == 0);
    smma_blocks whole;
    if (!smma_has_tensor_factor(&format) ||
        smma_takes_stored(n ? b : a, n == 0, format.element, smma_scales_of(NULL, t->instruction)))
      continue;
    whole = smma_matrix_in_blocks(n ? b : a, n == 0, &format, 0, n ? "B" : "A", path[n], true);
    t->factor[n] = whole.factor;
    smma_tensor_free(&whole.values), smma_tensor_free(&whole.scales);
  }
}

void smma_describe_target(smma_command_targets *x, size_t index, const smma_gemm_arguments *numbers) {
  const smma_command_target *t = &x->target[index];
  smma_gemm_arguments *g = &x->product[index].product;
  *g = *numbers;
  g->plan = t->plan.plan;
  if (t->factor[0] != 0) g->alpha *= (double)t->factor[0] * (double)t->factor[1];
  g->m = t->a.rows, g->k = t->a.columns, g->n = t->b.columns;
  g->a = t->a.data, g->b = t->b.data, g->c = t->c.data, g->d = t->d.data;
  g->scale_a = t->scale_a.data, g->scale_b = t->scale_b.data, g->bias = t->bias.data;
}

void smma_free_targets(smma_command_targets *x) {
  for (size_t i = 0; i < x->count; i++) {
    smma_command_target *t = &x->target[i];
    smma_tensor *const all[] = {&t->a, &t->b, &t->c, &t->scale_a, &t->scale_b, &t->bias, &t->d};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) smma_tensor_free(all[n]);
    smma_plan_free(t->plan.plan);
  }
  free(x->target);
}
