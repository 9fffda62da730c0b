#include "compare/target.h"

#include <stdlib.h>

#include "isa/catalogue.h"
#include "plan/plan.h"

static const char *gpu_of(smma_arch_id arch) {
  for (size_t i = 0; i < smma_gpu_count; i++)
    if (smma_gpus[i].arch == arch) return smma_gpus[i].name;
  return smma_architectures[arch].name;
}

_Static_assert((int)SMMA_ARCH_COUNT <= (int)SMMA_MOST_TARGETS, "room for a target of each architecture");

size_t smma_find_targets(const smma_formats *formats, smma_product_target target[SMMA_MOST_TARGETS]) {
  size_t count = 0;
  for (int arch = 0; arch < SMMA_ARCH_COUNT; arch++) {
    const smma_instruction *i = smma_resolve_formats(smma_architectures[arch].name, formats, NULL);
    if (i && smma_architectures[arch].listed)
      target[count++] = (smma_product_target){.label = gpu_of((smma_arch_id)arch), .instruction = i};
  }
  return count;
}

smma_format smma_common_d(const smma_product_target *target, size_t targets) {
  const smma_format d = targets ? smma_plan_d_format(target->product.plan, target->instruction) : SMMA_NO_FORMAT;
  for (size_t i = 1; i < targets; i++)
    if (smma_plan_d_format(target[i].product.plan, target[i].instruction) != d) return SMMA_NO_FORMAT;
  return d;
}

bool smma_check_target(const smma_product_target *target, smma_error *error) {
  const smma_plan *plan = target->product.plan;
  smma_error why;
  return !plan || smma_plan_check(plan, target->instruction, target->product.k, &why) == SMMA_OK ||
         smma_fail_as(error, why.status, "plan: %s: %s", target->plan ? target->plan : plan->name, why.text);
}

const char *smma_find_misplaced(const smma_instruction *instruction, const smma_gemm_arguments *g) {
  const smma_plan *p = g->plan;
  const bool linear = p && smma_plan_has(p, SMMA_EPILOGUE_LINEAR), takes_c = !p || linear || p->starts_from_c;
  const bool takes_alpha = !p || linear || smma_plan_has(p, SMMA_EPILOGUE_ALPHA);
  if (p && g->split_k > 1) return "split_k";
  if (p && g->promote_every) return "promote_every";
  if (g->c && !takes_c) return "c";
  if (g->beta != 1 && !takes_c) return "beta";
  if (g->alpha != 1 && !takes_alpha) return "alpha";
  if (g->bias && !(p && smma_plan_has(p, SMMA_EPILOGUE_BIAS))) return "bias";
  if (g->scale_d != 1 && !(p && smma_plan_has(p, SMMA_EPILOGUE_SCALE_D))) return "scale_d";
  if (g->scale_a && !instruction->scale_block && !smma_plan_scaled_k(p)) return "scale_a";
  return NULL;
}

bool smma_complete_product(smma_gemm_arguments *g, void **neutral) {
  const bool bias = g->plan && !g->bias && smma_plan_has(g->plan, SMMA_EPILOGUE_BIAS);
  const size_t part = g->scale_a ? 0 : smma_plan_scaled_k(g->plan), parts = part ? g->k / part + 1 : 0;
  const size_t ones = (g->m > g->n ? g->m : g->n) * parts;
  float *numbers;
  *neutral = NULL;
  if (!part && !bias) return true;
  if (ones / (parts + 1) > SIZE_MAX / 8 / (parts + 1)) return false;
  *neutral = numbers = calloc(ones + g->n + 1, sizeof *numbers);
  if (!numbers) return false;
  for (size_t i = 0; i < ones; i++) numbers[i] = 1;
  if (part) g->scale_a = g->scale_b = numbers;
  if (bias) g->bias = numbers + ones;
  return true;
}

void smma_put_target(smma_datum *record, const smma_product_target *target) {
  char inputs[SMMA_INPUTS_TEXT_SIZE];
  smma_put_text(record, "on", target->label);
  smma_put_text(record, "arch", smma_arch_name(target->instruction));
  smma_put_text(record, "instruction", target->instruction->name);
  smma_put_text(record, "in", smma_inputs_text(target->instruction, inputs));
}
