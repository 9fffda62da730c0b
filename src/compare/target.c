#include "compare/target.h"

#include <stdlib.h>

#include "gemm/element.h"
#include "host/bits.h"
#include "host/load.h"
#include "isa/catalogue.h"
#include "numerics/bound.h"
#include "plan/plan.h"
#include "product/product.h"

smma_matrix_view smma_matrix_view_of(const smma_product_target *t, smma_view_kind kind) {
  const smma_gemm_arguments *g = &t->product;
  const smma_instruction *i = t->instruction;
  const smma_scales scales = smma_scales_of(g->plan, i);
  const size_t whole_k = t->whole_k ? t->whole_k : g->k, factors = smma_scales_along(scales, whole_k);
  const smma_matrix_view views[] = {
      [SMMA_VIEW_A] = {g->a, i->a, g->order_a, g->lda, g->m, whole_k},
      [SMMA_VIEW_B] = {g->b, i->b, g->order_b, g->ldb, whole_k, g->n},
      [SMMA_VIEW_C] = {g->c, i->c, g->order_c, g->ldc, g->m, g->n},
      [SMMA_VIEW_SCALE_A] = {g->scale_a, scales.format, SMMA_ROW_MAJOR, 0, g->m, factors},
      [SMMA_VIEW_SCALE_B] = {g->scale_b, scales.format, SMMA_ROW_MAJOR, 0, g->n, factors},
      [SMMA_VIEW_BIAS] = {g->bias, SMMA_F32, SMMA_ROW_MAJOR, 0, 1, g->n},
  };
  smma_matrix_view view = views[kind];
  if (!view.leading) view.leading = view.order == SMMA_ROW_MAJOR ? view.columns : view.rows;
  if (kind == SMMA_VIEW_A) view.columns = g->k;
  if (kind == SMMA_VIEW_B) view.rows = g->k;
  if (kind == SMMA_VIEW_SCALE_A || kind == SMMA_VIEW_SCALE_B) view.columns = smma_scales_along(scales, g->k);
  return view;
}

uint64_t smma_view_element(const smma_matrix_view *v, size_t row, size_t column) {
  return smma_load(smma_format_bytes(v->format), v->data, smma_index_of(v->order, v->leading, row, column));
}

bool smma_target_numbers(const smma_product_target *t, bool of_a, double factor, smma_encoded_matrix *matrix,
                         void **memory) {
  const smma_matrix_view x = smma_matrix_view_of(t, of_a ? SMMA_VIEW_A : SMMA_VIEW_B);
  const smma_matrix_view scale = smma_matrix_view_of(t, of_a ? SMMA_VIEW_SCALE_A : SMMA_VIEW_SCALE_B);
  /* The number of products that share a scale factor, or 0. A product may lack the factors of a plan: they are 1. */
  const size_t each = scale.data ? smma_scales_of(t->product.plan, t->instruction).each : 0;
  const bool multiplies = each || factor != 1;
  const smma_format format = multiplies ? SMMA_F64 : x.format;
  *memory = NULL;
  *matrix = (smma_encoded_matrix){x.format, x.rows, x.columns, x.data};
  if (!multiplies && x.order == SMMA_ROW_MAJOR && x.leading == x.columns) return true;
  *memory = calloc(x.rows * x.columns + 1, smma_format_bytes(format));
  *matrix = (smma_encoded_matrix){format, x.rows, x.columns, *memory};
  for (size_t row = 0; *memory && row < x.rows; row++)
    for (size_t column = 0; column < x.columns; column++) {
      const size_t k = of_a ? column : row, line = of_a ? row : column;
      const uint64_t element = smma_view_element(&x, row, column);
      double number = multiplies ? factor * smma_format_decode(x.format, element) : 0;
      if (each) number *= smma_format_decode(scale.format, smma_view_element(&scale, line, k / each));
      smma_store(smma_format_bytes(format), *memory, row * x.columns + column,
                 multiplies ? smma_bits_of_f64(number) : element);
    }
  return *memory;
}

/* Returns the first GPU that has the instruction. An extension of a CPU has only some of its architecture. */
static const char *gpu_of(const smma_instruction *i) {
  for (size_t g = 0; g < smma_gpu_count; g++)
    if (smma_gpus[g].arch == i->arch && smma_gpu_has(smma_gpus[g].name, i->name)) return smma_gpus[g].name;
  return smma_arch_name(i);
}

_Static_assert((int)SMMA_ARCH_COUNT <= (int)SMMA_MOST_TARGETS, "room for a target of each architecture");

size_t smma_find_targets(const smma_formats *formats, smma_product_target target[SMMA_MOST_TARGETS]) {
  size_t count = 0;
  for (int arch = 0; arch < SMMA_ARCH_COUNT; arch++) {
    const smma_instruction *i = smma_resolve_formats(smma_architectures[arch].name, formats, NULL);
    if (i && smma_architectures[arch].listed && smma_has_bound(i))
      target[count++] = (smma_product_target){.label = gpu_of(i), .instruction = i};
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
  const smma_instruction *i = target->instruction;
  const size_t every = target->product.promote_every;
  smma_error why;
  if (i->sparse)
    return smma_fail(error,
                     "%s is sparse: A needs metadata, which only single products take (gemm, matmul); name a dense "
                     "instruction",
                     i->name);
  if (every % (size_t)i->k)
    return smma_fail(error, "promote_every: %zu is not a multiple of %d, the K of %s", every, i->k, i->name);
  return !plan || smma_plan_check(plan, target->instruction, target->product.k, &why) == SMMA_OK ||
         smma_fail_as(error, why.status, "plan: %s: %s", target->plan ? target->plan : plan->name, why.text);
}

const char *smma_find_misplaced(const smma_instruction *instruction, const smma_gemm_arguments *g) {
  const char *refused = g->plan           ? smma_plan_refuses(g->plan, g, g->c, g->bias)
                        : g->bias         ? "bias"
                        : g->scale_d != 1 ? "scale_d"
                                          : NULL;
  return refused ? refused : g->scale_a && !smma_scales_of(g->plan, instruction).each ? "scale_a" : NULL;
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

void smma_put_alpha(smma_datum *record, const smma_product_target *target) {
  if (target->instruction->scale_block && target->product.alpha != 1)
    smma_put_real(record, "alpha", target->product.alpha);
}
