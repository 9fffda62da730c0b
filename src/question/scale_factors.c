/* Questions about scale factors. */
#include "question/operands.h"
#include "question/question.h"

static bool is_gst_fdpa(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_GST_FDPA; }

/* Reports whether the rule is ST-FDPA with input formats whose least exponent is at least 0. scaled_sums can sum
   products of such inputs exactly. */
static bool is_st_fdpa_of_e2(const smma_instruction *i) {
  return i->rule->rule.algorithm == SMMA_ST_FDPA && smma_minimum_exponent(smma_encoding_of(i->a)) >= 0 &&
         smma_minimum_exponent(smma_encoding_of(i->b)) >= 0;
}

/* Computes GST-FDPA with `group` products to a sum. */
static uint64_t scaled_sums(const smma_operation *model, smma_operands x, uint64_t c, int group) {
  smma_operation o = *model;
  o.rule.algorithm = SMMA_GST_FDPA;
  o.rule.with.gst_fdpa = (smma_gst_fdpa){group, model->rule.with.t_fdpa};
  return smma_dot_add(&o, x, c);
}

static const smma_candidate scales_of_sums[] = {
    {"groups of 32 summed, then scaled", scaled_sums, 32}, {"groups of 16 summed, then scaled", scaled_sums, 16}, {0}};

/* Computes ST-FDPA: scales every product, and sums all in one sum. */
static uint64_t scaled_products(const smma_operation *model, smma_operands x, uint64_t c, int bits) {
  smma_operation o = *model;
  o.rule.algorithm = SMMA_ST_FDPA;
  o.rule.with.t_fdpa = model->rule.with.gst_fdpa.fused;
  o.rule.with.t_fdpa.block = o.k;
  o.rule.with.t_fdpa.alignment_bits = bits;
  return smma_dot_add(&o, x, c);
}

static uint64_t with_group_alignment(const smma_operation *model, smma_operands x, uint64_t c, int bits) {
  smma_operation o = *model;
  o.rule.with.gst_fdpa.fused.alignment_bits = bits;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate scales_of_groups[] = {{"every product scaled, F = 35", scaled_products, 35},
                                                  {"every product scaled, F = 25", scaled_products, 25},
                                                  {"F = 25", with_group_alignment, 25},
                                                  {0}};

const smma_question smma_question_scaled_products = {
    "scaled-products",
    "MXFP8, MXFP6, MXFP4: whether products are scaled, or sums of them",
    is_st_fdpa_of_e2,
    NULL,
    false,
    scales_of_sums};

const smma_question smma_question_scaled_groups = {
    "scaled-groups", "MXFP4 and NVFP4 with K = 64: whether sums are scaled, or products", is_gst_fdpa, NULL, false,
    scales_of_groups};
