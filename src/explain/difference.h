/* Two computations of the same operands: the first step whose outcome differs, in words. */
#ifndef SMMA_EXPLAIN_DIFFERENCE_H
#define SMMA_EXPLAIN_DIFFERENCE_H

#include "explain/explain.h"

/* A computation and whose it is. */
typedef struct {
  const char *unit, *instruction; /* "H100", "mma.m16n8k16.f32.f16.f16.f32" */
  const smma_operation *operation;
  const smma_explanation *explanation;
} smma_explained;

/* Where the outcomes part, in each of the two: a stage, and in it a row or a step where it is one. */
typedef struct {
  char text[320]; /* "alignment of a[3]*b[3]: ..."; empty if all outcomes are the same */
  const smma_stage *stage[2];
  const smma_explain_row *row[2];
  const smma_explain_step *step[2];
} smma_difference;

smma_difference smma_find_difference(const smma_explained unit[2]);

/* False with one line if the operations do not take the same operands, or give results of different formats. */
bool smma_same_operands(const smma_operation *one, const smma_operation *other, char *why, size_t size);

/* "1 01111110 10000000000000000000000": sign, exponent, fraction, and what a container has besides. */
void smma_encoding_bits(char *text, size_t size, smma_format_id format, uint64_t encoding);

/* A line for each result, and one with "^" below the bits that differ from the first. */
void smma_print_results(FILE *stream, smma_format_id format, const char *const *name, const uint64_t *result,
                        int count);

#endif
