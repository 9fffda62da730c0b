/* Decides whether two targets compute the same function for products of any K: proves it from their rules, or finds
   a vector that tells them apart, or neither. For a single target: whether the order of k matters, and what zeros
   after the last k do. */
#ifndef SMMA_EQUAL_EQUAL_H
#define SMMA_EQUAL_EQUAL_H

#include "equal/form.h"
#include "equal/witness.h"

typedef enum { SMMA_PROVED, SMMA_REFUTED, SMMA_CANNOT_TELL } smma_answer;

/* Answer to the question whether two functions are equal. */
typedef struct {
  smma_answer answer;
  char why[800];        /* the reason, in a sentence or two; may be empty if there is a witness */
  int multiple;         /* if proved: holds for K that are multiples of this; 1: for every K */
  smma_witness witness; /* if refuted: the vector that shows it; otherwise the number of vectors that agreed */
  smma_witness filled;  /* if proved for some K only: a vector with another K that tells them apart, if found */
} smma_equality;

/* Freedom in the order of one target's sum. */
typedef struct {
  smma_equality order;  /* whether another order of k gives the same function */
  int exchanged[2];     /* if refuted: the two exchanged k (with scale factors: groups with common factors) */
  char within[400];     /* which k may change places nevertheless, and why; may be empty */
  char tile[400];       /* the effect of the instruction's K and of BLOCK_K */
  smma_equality filled; /* whether another instruction with zeros after the last k changes nothing */
} smma_freedom;

/* Compares two instructions, or examines one. If formats of A or B differ, operands are the numbers that both hold, and
   all NaN are equal. Searches about `rows` vectors. Returns false with a message if C, D or scale factors have
   different formats, or if a unit fails. */
bool smma_find_equality(const smma_instruction *x, const smma_instruction *y, uint64_t rows, uint64_t seed,
                        smma_equality *equality, smma_error *error);
bool smma_find_freedom(const smma_instruction *x, uint64_t rows, uint64_t seed, smma_freedom *freedom,
                       smma_error *error);

/* Attempts only the proof: reports whether forms and NaN policies are equal; `multiple` is as above. The formats of C,
   D and scale factors must be the same. */
bool smma_prove_equal(const smma_instruction *x, const smma_instruction *y, int *multiple);

/* Appends, for example, "F (24 and 25), L (8 and 16), K of one instruction (8 and 16)" to a text. Returns false if
   there is no difference. */
bool smma_add_differences(const smma_instruction *x, const smma_instruction *y, char *text, size_t size);

#endif
