/* Whether two targets compute the same function, over products of any K: proved from the rules, or a row that tells
   them apart, or neither. And of one target: whether the order of k matters, and what zeros behind the last k do. */
#ifndef SMMA_EQUAL_EQUAL_H
#define SMMA_EQUAL_EQUAL_H

#include "equal/form.h"
#include "equal/witness.h"

typedef enum { SMMA_PROVED, SMMA_REFUTED, SMMA_CANNOT_TELL } smma_answer;

/* That two functions are one. */
typedef struct {
  smma_answer answer;
  char why[800];        /* the reason, a sentence or two; empty where the witness is reason enough */
  int multiple;         /* proved for K that are multiples of it; 1: for every K */
  smma_witness witness; /* refuted: what tells them apart; else rows that agreed */
  smma_witness filled;  /* proved for some K: another K, of which results differ, if found */
} smma_equality;

/* What is known of one target. */
typedef struct {
  smma_equality order;  /* with its k in another order it computes the same function */
  int exchanged[2];     /* refuted: these two k (with scale factors: groups that share one) have changed places */
  char within[400];     /* which k may change places all the same, and why; empty if it is not known of any */
  char tile[400];       /* what K of the instruction and BLOCK_K do */
  smma_equality filled; /* with one more instruction of zeros behind the last k it computes the same function */
} smma_freedom;

/* Targets are instructions. False with one line where the products are not of the same formats, or a unit fails. At
   most `rows` rows are searched. */
bool smma_find_equality(const smma_instruction *x, const smma_instruction *y, uint64_t rows, uint64_t seed,
                        smma_equality *equality, smma_error *error);
bool smma_find_freedom(const smma_instruction *x, uint64_t rows, uint64_t seed, smma_freedom *freedom,
                       smma_error *error);

/* The proof alone: whether forms and NaN are the same; `multiple` as above. */
bool smma_prove_equal(const smma_instruction *x, const smma_instruction *y, int *multiple);

/* Adds "F (24 and 25), L (8 and 16), K of one instruction (8 and 16)" to a text; false if there is nothing. */
bool smma_add_differences(const smma_instruction *x, const smma_instruction *y, char *text, size_t size);

#endif
