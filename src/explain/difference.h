/* Two computations of the same operands: the first step whose outcome differs, in words. */
#ifndef SMMA_EXPLAIN_DIFFERENCE_H
#define SMMA_EXPLAIN_DIFFERENCE_H

#include "explain/explain.h"

/* A computation and whose it is. */
typedef struct {
  const char *unit, *instruction; /* "H100", "mma.m16n8k16.f32.f16.f16.f32" */
  const smma_operation *operation;
  smma_explanation *explanation;
} smma_explained;

typedef struct {
  char text[320]; /* "alignment of a[3]*b[3]: ..."; empty if all outcomes are the same */
} smma_difference;

/* Marks the row, step or stage of each of the two where their outcomes part. */
smma_difference smma_find_difference(const smma_explained unit[2]);

/* The text of both under one axis, with their first difference marked, and the results bit by bit. */
void smma_explain_print_two(FILE *stream, const smma_explained unit[2], int width);

/* False with one line if the operations do not take the same operands, or give results of different formats. */
bool smma_same_operands(const smma_operation *one, const smma_operation *other, char *why, size_t size);

/* "1 01111110 10000000000000000000000": sign, exponent, fraction, and what a container has besides. */
void smma_encoding_bits(char *text, size_t size, smma_format format, uint64_t encoding);

/* A line for each result, and one with "^" below the bits that differ from the first. */
void smma_print_results(FILE *stream, smma_format format, const char *const *name, const uint64_t *result, int count);

#endif
