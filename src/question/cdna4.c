/* Questions about CDNA 4, of which no results are published. They use instructions that CDNA 4 shares with CDNA 3. */
#include "isa/catalogue.h"
#include "question/operands.h"
#include "question/question.h"
#include "rows/generate.h"

/* Reports whether the instruction has several sums on CDNA 3, so that they can be distinguished from one sum of all
   products. */
static bool has_two_sums(const smma_instruction *i) {
  return i->rule == &smma_rule_cdna3_half && i->k > i->rule->rule.with.tr_fdpa.block;
}

static uint64_t in_one_sum(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  (void)parameter;
  o.rule.with.tr_fdpa.block = o.k;
  return smma_dot_add(&o, x, c);
}

/* The rules of older generations, for any formats. */
typedef enum { OF_CDNA1, OF_CDNA2 } generation;

static uint64_t as_older(const smma_operation *model, smma_operands x, uint64_t c, int of) {
  smma_operation o = *model;
  o.rule = of == OF_CDNA1 ? smma_rule_cdna1_f16.rule : smma_rule_cdna2_by_four.rule;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate sums[] = {{"one sum of all K products, else as CDNA 3", in_one_sum, 0},
                                      {"pairs of pairs, as CDNA 2", as_older, OF_CDNA2},
                                      {"exact sums of four, as CDNA 1", as_older, OF_CDNA1},
                                      {0}};

/* Uses all rows that a trial holds, so that a unit that follows no candidate does not appear to follow one. */
static const char *row_of_sums(const smma_operation *o, int index, smma_row *row) {
  static const smma_row_kind kinds[] = {SMMA_ROWS_NORMAL, SMMA_ROWS_CANCELLATION, SMMA_ROWS_ILL, SMMA_ROWS_NETWORK};
  if (index == SMMA_MOST_TRIAL_ROWS) return NULL;
  smma_generate_row(o, 0, (uint64_t)index, kinds[index % 4], row);
  return "a generated row";
}

const smma_question smma_question_cdna4_sums = {
    "cdna4-sums", "how CDNA 4 adds products of FP16 and BF16", has_two_sums, row_of_sums, false, sums};
