/* Builds an explanation from its parts, with one function for each family of algorithms. */
#ifndef SMMA_EXPLAIN_BUILDER_H
#define SMMA_EXPLAIN_BUILDER_H

#include "explain/decimal.h"
#include "explain/explain.h"

/* The state of building an explanation. The arrays of the explanation have been allocated before, with sizes that
   follow from K and the block. */
typedef struct {
  const smma_operation *operation;
  smma_operands x; /* the operands, decoded */
  uint64_t c;      /* in the format of d */
  smma_explanation *explanation;
  int lines_used, steps_used; /* numbers of lines and steps of all stages so far */
} smma_explain_builder;

/* Appends an empty stage. Its lines and steps start after those of the previous stages. Without a result, its sum is a
   term of the next stage. */
smma_stage *smma_explain_add_stage(smma_explain_builder *b, smma_stage_kind kind);

/* Append a line, or a step, to the last stage. */
smma_explain_line *smma_explain_add_line(smma_explain_builder *b, const char *label, smma_number exact);
smma_explain_step *smma_explain_add_step(smma_explain_builder *b, smma_format format, uint64_t result);

/* Writes factors as a product: "1.5 * 2.25". */
void smma_explain_factors(char *text, size_t size, const smma_number *factor, int count);

/* Writes two bits as operands of an exclusive or: "1 xor 0". */
void smma_explain_xor(char *text, size_t size, const smma_number factor[2]);

/* Writes the name of a block: "block 1 of 2, k = 0..7". */
void smma_explain_block_text(const smma_explain_builder *b, int block, char *text, size_t size);

/* Fills in the label and the factors of the i-th of `count` terms of a block. */
void smma_explain_describe_term(const smma_explain_builder *b, int block, int i, int count, smma_explain_line *line);

/* A power of two as text, "2^-2". */
typedef struct {
  char text[16];
} smma_power_text;
smma_power_text smma_text_of_power(int exponent);

/* Writes a note on the special values among the terms of a block, and on their effect. */
void smma_explain_special(const smma_explain_builder *b, int block, const smma_number *term, int count, char *text,
                          size_t size);

/* Explains one block of TR-FDPA or GTR-FDPA with finite terms; `result` is its rounded sum. */
void smma_explain_tr_block(smma_explain_builder *b, int block, const smma_number *term, int count, uint64_t result);

/* Writes a rounding mode and format, in short and in words: "RZ-FP32, toward zero". */
void smma_explain_rounding(smma_rounding direction, smma_format format, char *text, size_t size);

/* Each of these functions explains one family of algorithms, and returns d. */
uint64_t smma_explain_fused(smma_explain_builder *b);
uint64_t smma_explain_fma(smma_explain_builder *b);
uint64_t smma_explain_ftz_addmul(smma_explain_builder *b);
uint64_t smma_explain_ftz_fma(smma_explain_builder *b);
uint64_t smma_explain_composition(smma_explain_builder *b);

/* Explains a last step d = x + y, rounded to nearest. */
uint64_t smma_explain_last_addition(smma_explain_builder *b, uint64_t x, uint64_t y);

#endif
