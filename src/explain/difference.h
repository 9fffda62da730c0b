/* Finds and describes the first step at which two computations of the same operands differ. */
#ifndef SMMA_EXPLAIN_DIFFERENCE_H
#define SMMA_EXPLAIN_DIFFERENCE_H

#include "explain/explain.h"
#include "host/error.h"
#include "isa/instruction.h"

/* A computation and its unit. */
typedef struct {
  const char *unit, *instruction; /* "H100", "mma.m16n8k16.f32.f16.f16.f32" */
  const smma_operation *operation;
  smma_explanation *explanation;
} smma_explained;

/* Returns computation number `index` of two. If both units have the same name, such as "wormhole", the instruction
   replaces it. */
smma_explained smma_named_apart(const smma_explained both[2], int index);

/* An explanation of a test vector, together with the data that `explained` points at. */
typedef struct {
  smma_operation operation;
  smma_explanation explanation;
  smma_explained explained;
} smma_explained_row;

/* Explains a test vector. `unit` is the name to show. Returns false with a message if memory runs out. Free with
   smma_explanation_free(&x->explanation). */
bool smma_explain_row_of(smma_explained_row *x, const char *unit, const smma_instruction *instruction,
                         const smma_row *row, smma_error *error);

/* A description of the first difference. */
typedef struct {
  char text[320]; /* "alignment of a[3]*b[3]: ..."; empty if all outcomes are equal */
} smma_difference;

/* Finds the first difference, and marks the line, step or stage of each computation at which it occurs
   (is_first_difference). */
smma_difference smma_find_difference(const smma_explained both[2]);

/* Reports whether two results of a format are equal: bit for bit, or both NaN if the payload of a unit's NaN is not
   known. */
bool smma_same_results(const smma_explained both[2], smma_format format, uint64_t first, uint64_t second);

/* Reports whether two computations have the same result. */
bool smma_have_same_result(const smma_explained both[2]);

/* Prints both computations with the same bit positions in the same columns, marks their first difference, and prints
   the results bit by bit. */
void smma_explain_print_two(FILE *stream, const smma_explained both[2], int width);

/* Reports whether two operations take the same operands and have results in the same format. If not, writes the reason
   to `why`, as one line. */
bool smma_same_operands(const smma_operation *one, const smma_operation *other, char *why, size_t size);

/* Works like smma_same_operands, but K may differ if there are no scale factors: the operation with the greater K then
   gets zeros for its additional products. */
bool smma_share_operands(const smma_operation *one, const smma_operation *other, char *why, size_t size);

/* Writes the bits of an encoding, "1 01111110 10000000000000000000000": sign, exponent, fraction, and unused bits of
   the container. */
void smma_encoding_bits(char *text, size_t size, smma_format format, uint64_t encoding);

/* Prints a line for each of `count` results with its name; with `marked`, also a line with "^" under the bits that
   differ from the first result. */
void smma_print_results(FILE *stream, smma_format format, const char *const *name, const uint64_t *result, int count,
                        bool marked);

#endif
