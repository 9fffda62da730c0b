/* How an explanation is put together: its parts, and one function for each family of algorithms. */
#ifndef SMMA_EXPLAIN_BUILDER_H
#define SMMA_EXPLAIN_BUILDER_H

#include "explain/decimal.h"
#include "explain/explain.h"

/* The capacities of the explanation's arrays are set beforehand, from K and the block size. */
typedef struct {
  const smma_operation *operation;
  smma_operands x;
  uint64_t c; /* in the format of d */
  smma_explanation *explanation;
  int rows_used, steps_used;
} smma_explain_builder;

/* Appends an empty stage whose rows and steps begin behind those of the stages before. */
smma_stage *smma_explain_add_stage(smma_explain_builder *b, smma_stage_kind kind);

/* Appends to the last stage. */
smma_explain_row *smma_explain_add_row(smma_explain_builder *b, const char *label, smma_number exact);
smma_explain_step *smma_explain_add_step(smma_explain_builder *b, smma_format format, uint64_t result);

/* "1.5 * 2.25" */
void smma_explain_factors(char *text, size_t size, const smma_number *factor, int count);

/* "block 1 of 2, k = 0..7" */
void smma_explain_block_text(const smma_explain_builder *b, int block, char *text, size_t size);

/* The label and the factors of the i-th of `count` terms of a block. */
void smma_explain_describe_term(const smma_explain_builder *b, int block, int i, int count, smma_explain_row *row);

/* The power of two as text, "2^-2". */
typedef struct {
  char text[16];
} smma_power_text;
smma_power_text smma_text_of_power(int exponent);

/* What special values among the terms of a block lead to: the stage's note. */
void smma_explain_special(const smma_explain_builder *b, int block, const smma_number *term, int count, char *text,
                          size_t size);

/* One block of TR-FDPA or GTR-FDPA whose terms are finite; `result` is its rounded sum. */
void smma_explain_tr_block(smma_explain_builder *b, int block, const smma_number *term, int count, uint64_t result);

/* "RZ-FP32, toward zero". */
void smma_explain_rounding(smma_rounding direction, smma_format format, char *text, size_t size);

/* The families. Each returns d. */
uint64_t smma_explain_fused(smma_explain_builder *b);
uint64_t smma_explain_fma(smma_explain_builder *b);
uint64_t smma_explain_ftz_addmul(smma_explain_builder *b);
uint64_t smma_explain_ftz_fma(smma_explain_builder *b);
uint64_t smma_explain_composition(smma_explain_builder *b);

/* A last step d = x + y, rounded to nearest. */
uint64_t smma_explain_last_addition(smma_explain_builder *b, uint64_t x, uint64_t y);

#endif
