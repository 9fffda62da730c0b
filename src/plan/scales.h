/* The scale factors of a product: for the parts of its plan, or for the blocks of its instruction. */
#ifndef SMMA_PLAN_SCALES_H
#define SMMA_PLAN_SCALES_H

#include "isa/instruction.h"
#include "softmma/softmma.h"

typedef struct {
  smma_format format;
  size_t each; /* number of products of a sum that share one factor; 0: there are no scale factors */
} smma_scales;

/* Returns the kind of scale factors: FP32 factors of a plan's parts of `part_k` products each. If `part_k` is 0,
   returns factors in `format` of blocks of `block` products. */
static inline smma_scales smma_scales_from(size_t part_k, size_t block, smma_format format) {
  return part_k ? (smma_scales){SMMA_F32, part_k} : (smma_scales){format, block};
}

static inline smma_scales smma_scales_of(const smma_plan *plan, const smma_instruction *instruction) {
  return smma_scales_from(smma_plan_scaled_k(plan), (size_t)instruction->scale_block, instruction->scale);
}

/* Returns the number of factors of a row of A, or of a column of B. */
static inline size_t smma_scales_along(smma_scales scales, size_t k) {
  return scales.each ? k / scales.each + (k % scales.each != 0) : 0;
}

/* Returns the number of parts of K that have scale factors of a plan; 0 for a plan without scale factors. */
static inline size_t smma_scaled_parts(const smma_plan *plan, size_t k) {
  return smma_scales_along(smma_scales_from(smma_plan_scaled_k(plan), 0, SMMA_NO_FORMAT), k);
}

#endif
