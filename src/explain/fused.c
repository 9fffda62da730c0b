/* Explains the fused algorithms block by block, with the terms aligned to their greatest exponent or summed exactly. */
#include "explain/builder.h"

static const smma_t_fdpa *fused_parameters(const smma_rule *rule) {
  return rule->algorithm == SMMA_GST_FDPA ? &rule->with.gst_fdpa.fused : &rule->with.t_fdpa;
}

/* Adds a block of T-FDPA, ST-FDPA or GST-FDPA, or of FP8 by FP16. */
static void add_truncated_block(smma_explain_builder *b, int block, const smma_number *term, int count,
                                uint64_t result) {
  const smma_t_fdpa *p = fused_parameters(&b->operation->rule);
  smma_stage *stage = smma_explain_add_stage(b, SMMA_STAGE_ALIGN);
  int emax = smma_t_fdpa_greatest_exponent(p, term, count), cut = emax - p->alignment_bits;
  const char *terms = b->operation->rule.algorithm == SMMA_GST_FDPA ? "groups and c" : "products and c";
  char where[64];
  smma_explain_block_text(b, block, where, sizeof where);
  snprintf(stage->title, sizeof stage->title, "%s: emax = %d; %s truncated toward zero at F = %d bits below it (%s)",
           where, emax, terms, p->alignment_bits, smma_text_of_power(cut).text);
  for (int i = 0; i < count; i++) {
    smma_explain_line *line = smma_explain_add_line(b, "", term[i]);
    smma_explain_describe_term(b, block, i, count, line);
    line->exponent = smma_t_fdpa_exponent(p, term[i]);
    line->aligned = smma_align(term[i], emax, p->alignment_bits);
    line->cut = cut;
    stage->sum += line->aligned;
  }
  stage->emax = emax;
  stage->sum_exponent = cut;
  smma_explain_rounding(p->rounding, p->output, stage->rounding, sizeof stage->rounding);
  stage->result_format = p->output;
  stage->result = result;
}

/* Writes a note on how the products of a block are formed, for algorithms with widened or scaled products. */
static void note_products(const smma_explain_builder *b, int block, char *note, size_t size) {
  const smma_operation *o = b->operation;
  if (o->rule.algorithm == SMMA_FP8_BY_FP16)
    snprintf(note, size, "FP8 widened to FP16, subnormals becoming normal; %s",
             block ? "the previous block's result comes in as c" : "the sum starts from zero, c comes last");
  if (o->rule.algorithm == SMMA_GST_FDPA)
    snprintf(note, size,
             "a group is the exact sum of %d products * scale_a * scale_b, and has the exponent of the scales",
             o->rule.with.gst_fdpa.group);
  if (o->rule.algorithm == SMMA_ST_FDPA) {
    int first = smma_product_index(o, block, 0) / o->scale_block;
    int last = smma_product_index(o, block, smma_block_of(o) - 1) / o->scale_block;
    size_t length = (size_t)snprintf(note, size, "every product is scaled by scale_a * scale_b =");
    for (int s = first; s <= last && length < size; s++)
      length += (size_t)snprintf(note + length, size - length, "%s %s * %s", s > first ? "," : "",
                                 smma_text_of_power(b->x.scale_a[s].exponent).text,
                                 smma_text_of_power(b->x.scale_b[s].exponent).text);
  }
}

/* Adds a block with an exact sum; `then` says what happens to the sum, for the title. */
static smma_stage *add_exact_block(smma_explain_builder *b, int block, const smma_number *term, int count,
                                   const char *then, uint64_t result) {
  smma_stage *stage = smma_explain_add_stage(b, SMMA_STAGE_EXACT);
  char where[64];
  smma_explain_block_text(b, block, where, sizeof where);
  snprintf(stage->title, sizeof stage->title, "%s: %s and c added exactly, the sum %s", where,
           smma_products_of(&b->operation->rule) == SMMA_PRODUCT_XOR ? "bits of a xor b" : "products", then);
  for (int i = 0; i < count; i++) {
    smma_explain_line *line = smma_explain_add_line(b, "", term[i]);
    smma_explain_describe_term(b, block, i, count, line);
  }
  stage->result_format = b->operation->d;
  stage->result = result;
  return stage;
}

static void add_e_fdpa_block(smma_explain_builder *b, int block, const smma_number *term, int count, uint64_t result) {
  smma_stage *stage = add_exact_block(b, block, term, count, "rounded once", result);
  snprintf(stage->rounding, sizeof stage->rounding, "RNE-FP32, to nearest even");
}

/* Adds a block of integers, which have no exponent. */
static void add_integer_block(smma_explain_builder *b, int block, const smma_number *term, int count, uint64_t result) {
  const bool wraps = b->operation->rule.with.integer.overflow == SMMA_INTEGER_WRAPS;
  smma_stage *stage = add_exact_block(b, block, term, count, wraps ? "modulo 2^32" : "clamped to 32 bits", result);
  snprintf(stage->rounding, sizeof stage->rounding, "%s", wraps ? "modulo 2^32" : "clamped");
  for (int i = 0; i < stage->line_count; i++) stage->line[i].has_exponent = false;
}

static void add_special_block(smma_explain_builder *b, int block, const smma_number *term, int count, uint64_t result) {
  smma_stage *stage = smma_explain_add_stage(b, SMMA_STAGE_NOTE);
  char where[64];
  smma_explain_block_text(b, block, where, sizeof where);
  snprintf(stage->title, sizeof stage->title, "%s: special values decide, without arithmetic", where);
  smma_explain_special(b, block, term, count, stage->note, sizeof stage->note);
  stage->reason = SMMA_REASON_SPECIAL;
  stage->result_format = b->operation->d;
  stage->result = result;
}

static void add_noted_block(smma_explain_builder *b, int block, const smma_number *term, int count, uint64_t result) {
  size_t first = b->explanation->count;
  add_truncated_block(b, block, term, count, result);
  note_products(b, block, b->explanation->stage[first].note, sizeof b->explanation->stage[first].note);
}

static void add_block(smma_explain_builder *b, int block, const smma_number *term, int count, uint64_t result) {
  if (smma_special_sum(term, count).kind != SMMA_FINITE) {
    add_special_block(b, block, term, count, result);
    return;
  }
  switch (b->operation->rule.algorithm) {
    case SMMA_E_FDPA: add_e_fdpa_block(b, block, term, count, result); break;
    case SMMA_INTEGER: add_integer_block(b, block, term, count, result); break;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: smma_explain_tr_block(b, block, term, count, result); break;
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_GST_FDPA:
    case SMMA_FP8_BY_FP16: add_noted_block(b, block, term, count, result); break;
    default: break; /* steps.c explains these step by step */
  }
}

uint64_t smma_explain_fused(smma_explain_builder *b) {
  const smma_operation *o = b->operation;
  smma_number term[SMMA_MAXIMUM_K + 1];
  uint64_t accumulator = o->rule.algorithm == SMMA_FP8_BY_FP16 ? 0 : b->c;
  int blocks = o->k / smma_block_of(o);
  for (int block = 0; block < blocks; block++) {
    int count = smma_fused_terms(o, b->x, block, accumulator, term);
    accumulator = smma_fused_sum(&o->rule, term, count);
    add_block(b, block, term, count, accumulator);
    b->explanation->stage[b->explanation->count - 1].products = smma_block_of(o);
  }
  return accumulator;
}
