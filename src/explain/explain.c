#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/builder.h"
#include "host/locale.h"
#include "isa/compose.h"

/* Sets the members of the explanation that compare the result with the exact sum: finite, correctly_rounded, lost. */
static void compare_with_exact(const smma_explain_builder *b, uint64_t c) {
  const smma_operation *o = b->operation;
  smma_explanation *e = b->explanation;
  smma_number term[SMMA_MAXIMUM_K + 1], d = smma_decode(smma_encoding_of(o->d), e->result);
  smma_wide sum, rounded;
  smma_wide_clear(&sum);
  for (int k = 0; k < o->k; k++) {
    term[k] = smma_product_of_kind(smma_products_of(&o->rule), b->x.a[k], b->x.b[k]);
    if (smma_products_of(&o->rule) != SMMA_PRODUCT_MULTIPLIED) {
      smma_wide_add_number(&sum, term[k], false);
    } else if (o->scale != SMMA_NO_FORMAT) {
      int s = k / o->scale_block;
      term[k] = smma_product(term[k], smma_product(b->x.scale_a[s], b->x.scale_b[s]));
      smma_wide_add_number(&sum, term[k], false);
    } else if (term[k].kind == SMMA_FINITE) {
      smma_wide_add_product(&sum, b->x.a[k], b->x.b[k]);
    }
  }
  term[o->k] = smma_decode(smma_encoding_of(o->c), c);
  smma_wide_add_number(&sum, term[o->k], false);
  e->finite = smma_special_sum(term, o->k + 1).kind == SMMA_FINITE;
  if (!e->finite) return;
  rounded = sum;
  e->correctly_rounded = smma_wide_encode(&rounded, smma_encoding_of(o->d), SMMA_ROUND_NEAREST_EVEN);
  smma_wide_add_number(&sum, d, true);
  e->lost = d.kind > SMMA_FINITE ? (smma_quantity){.significand = NAN} : smma_quantity_of(&sum);
}

/* Explains an algorithm that has no drawing of its own by explaining its composition. Returns d. */
static uint64_t explain_as_steps(smma_explain_builder *b) {
  smma_operation steps = *b->operation;
  smma_explain_builder of_steps = *b;
  uint64_t result;
  smma_compose(b->operation, &steps.rule.with.composition);
  steps.rule.algorithm = SMMA_COMPOSITION;
  of_steps.operation = &steps;
  result = smma_explain_composition(&of_steps);
  b->lines_used = of_steps.lines_used;
  b->steps_used = of_steps.steps_used;
  return result;
}

static uint64_t explain_algorithm(smma_explain_builder *b) {
  switch (b->operation->rule.algorithm) {
    case SMMA_FMA: return smma_explain_fma(b);
    case SMMA_FTZ_ADDMUL: return smma_explain_ftz_addmul(b);
    case SMMA_FTZ_FMA: return smma_explain_ftz_fma(b);
    case SMMA_FP8_BY_FP16: return smma_explain_last_addition(b, smma_explain_fused(b), b->c);
    case SMMA_COMPOSITION: return smma_explain_composition(b);
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_GST_FDPA:
    case SMMA_E_FDPA:
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
    case SMMA_INTEGER: return smma_explain_fused(b);
    default: return explain_as_steps(b);
  }
}

/* Allocates the arrays. A block of L products has at most four stages (GTR-FDPA: even products, odd products, their
   sum, c) and 2 L + 6 lines, or 2 L steps. A composition whose first step adds N nodes has at most N sums in each step,
   with N nodes and N accumulators in total. */
static bool allocate(const smma_operation *o, smma_explanation *e) {
  size_t block = (size_t)smma_block_of(o), blocks = (size_t)o->k / block;
  smma_composition composition;
  const bool composed = smma_compose(o, &composition);
  const size_t sums = composed ? (size_t)composition.steps * (size_t)smma_product_nodes(&composition, o->k) : 0;
  const size_t stages = 4 * blocks + 2 + sums, rows = blocks * (2 * block + 6) + 2 * sums;
  e->stage = calloc(stages, sizeof *e->stage);
  e->lines = calloc(rows, sizeof *e->lines);
  e->steps = calloc(2 * (size_t)o->k + 2, sizeof *e->steps);
  return e->stage && e->lines && e->steps;
}

bool smma_explain(const smma_operation *operation, const smma_row *row, smma_explanation *explanation) {
  smma_decoded x;
  smma_explain_builder builder = {operation, smma_operands_of(&x), smma_widen_c(operation, row->c), explanation, 0, 0};
  smma_locale locale;
  memset(explanation, 0, sizeof *explanation);
  if (!allocate(operation, explanation)) {
    smma_explanation_free(explanation);
    return false;
  }
  smma_row_decode(operation, row, &x);
  explanation->result_format = operation->d;
  locale = smma_locale_enter();
  explanation->result = smma_returned(operation, explain_algorithm(&builder));
  compare_with_exact(&builder, row->c);
  smma_locale_leave(locale);
  return true;
}

void smma_explanation_free(smma_explanation *explanation) {
  free(explanation->stage);
  free(explanation->lines);
  free(explanation->steps);
  memset(explanation, 0, sizeof *explanation);
}
