/* G-FDPA: its blocks, aligned or exact, and c where it joins last. */
#include "explain/builder.h"
#include "isa/catalogue.h"

static const smma_g_fdpa *parameters(const smma_explain_builder *b) { return &b->operation->rule.with.g_fdpa; }

static void finish_stage(smma_stage *stage, smma_rounding direction, smma_format format, uint64_t result) {
  smma_explain_rounding(direction, format, stage->rounding, sizeof stage->rounding);
  stage->result_format = format;
  stage->result = result;
}

static void add_terms(smma_explain_builder *b, int block, const smma_number *term, int count) {
  for (int i = 0; i < count; i++) smma_explain_describe_term(b, block, i, count, smma_explain_add_row(b, "", term[i]));
}

static void add_exact(smma_explain_builder *b, int block, const smma_number *term, int count, uint64_t result) {
  smma_stage *stage = smma_explain_add_stage(b, SMMA_STAGE_EXACT);
  char where[64];
  smma_explain_block_text(b, block, where, sizeof where);
  snprintf(stage->title, sizeof stage->title, "%s: products and c added exactly, the sum rounded once", where);
  add_terms(b, block, term, count);
  finish_stage(stage, parameters(b)->rounding, parameters(b)->output, result);
}

static void add_aligned(smma_explain_builder *b, int block, int emax, const smma_number *term, int count,
                        uint64_t result) {
  const smma_g_fdpa *p = parameters(b);
  smma_stage *stage = smma_explain_add_stage(b, SMMA_STAGE_ALIGN);
  char where[64];
  smma_explain_block_text(b, block, where, sizeof where);
  snprintf(stage->title, sizeof stage->title, "%s: emax = %d; products and c rounded %s at F = %d bits below it (%s)%s",
           where, emax, smma_rounding_words(p->alignment_rounding), p->alignment_bits,
           smma_text_of_power(emax - p->alignment_bits).text, p->sticky_bit ? ", and one sticky bit" : "");
  add_terms(b, block, term, count);
  stage->sum_exponent = emax - p->alignment_bits - p->sticky_bit;
  for (int i = 0; i < count; i++) {
    smma_explain_row *row = &stage->row[i];
    row->counts = term[i].kind == SMMA_FINITE || p->zero_exponent != SMMA_NO_EXPONENT;
    row->exponent = smma_g_fdpa_exponent(p, term[i]);
    row->kept = smma_g_fdpa_align(p, term[i], emax);
    row->cut = stage->sum_exponent;
    stage->sum += row->kept;
  }
  stage->emax = emax;
  finish_stage(stage, p->rounding, p->output, result);
}

static void add_zeros(smma_explain_builder *b, int block, uint64_t result) {
  smma_stage *stage = smma_explain_add_stage(b, SMMA_STAGE_NOTE);
  char where[64];
  smma_explain_block_text(b, block, where, sizeof where);
  snprintf(stage->title, sizeof stage->title, "%s: every term is zero, and none brings an exponent", where);
  stage->result_format = parameters(b)->output;
  stage->result = result;
}

/* How the terms came about, where that is not plain. */
static void note_terms(const smma_explain_builder *b, int block, char *note, size_t size) {
  const smma_g_fdpa *p = parameters(b);
  snprintf(note, size, "%s%s%s%s", p->subnormal_inputs ? "subnormal operands are zero; " : "",
           p->product_exponent == SMMA_EXPONENT_NORMALIZED ? "products are normalised before they align; " : "",
           b->operation->scale_block ? "every product is scaled by its two scale factors; " : "",
           p->c_joins == SMMA_C_JOINS_LAST && block == 0 ? "the sum starts from zero, c comes last; " : "");
  for (size_t i = 0; note[i]; i++)
    if (note[i] == ';' && !note[i + 2]) note[i] = 0; /* behind the last */
}

void smma_explain_general_block(smma_explain_builder *b, int block, const smma_number *term, int count,
                                uint64_t result) {
  const smma_g_fdpa *p = parameters(b);
  size_t first = b->explanation->count;
  int emax = smma_g_fdpa_greatest_exponent(p, term, count);
  if (p->alignment_bits == SMMA_EXACT_ALIGNMENT)
    add_exact(b, block, term, count, result);
  else if (emax == SMMA_NO_EXPONENT)
    add_zeros(b, block, result);
  else
    add_aligned(b, block, emax, term, count, result);
  note_terms(b, block, b->explanation->stage[first].note, sizeof b->explanation->stage[first].note);
}

void smma_explain_flush_c(smma_explain_builder *b) {
  b->c = smma_flush_encoding(parameters(b)->subnormal_inputs, smma_encoding_of(b->operation->d), b->c);
}

/* Special values need no drawing. */
uint64_t smma_explain_join_c(smma_explain_builder *b, uint64_t x) {
  const smma_operation *o = b->operation;
  const smma_g_fdpa *p = parameters(b);
  smma_encoding f = smma_encoding_of(o->d);
  uint64_t d = smma_g_fdpa_add_c(p, f, o->rule.nan, x, b->c);
  smma_number term[2] = {smma_decode(f, x), smma_decode(f, b->c)};
  bool special = smma_special_sum(term, 2).kind != SMMA_FINITE;
  smma_stage *stage;
  if (p->c_joins == SMMA_C_JOINS_FIRST) return x;
  stage = smma_explain_add_stage(b, special ? SMMA_STAGE_NOTE : SMMA_STAGE_EXACT);
  snprintf(stage->title, sizeof stage->title, "last, c: %s",
           special ? "special values decide, without arithmetic" : "added exactly, the sum rounded once");
  for (int i = 0; i < 2 && !special; i++) smma_explain_add_row(b, i ? "c" : "products", term[i]);
  finish_stage(stage, p->c_rounding, o->d, d);
  return d;
}
