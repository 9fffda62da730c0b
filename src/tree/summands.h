/* Test vectors that show a summation order: each is a sum of +M, -M, ones and zeros. */
#ifndef SMMA_TREE_SUMMANDS_H
#define SMMA_TREE_SUMMANDS_H

#include "host/error.h"
#include "rows/rows.h"

/* Maximum number of summands: the products and c. */
enum { SMMA_MOST_SUMMANDS = SMMA_MAXIMUM_K + 1 };

/* The value of a summand in a test vector. */
typedef enum { SMMA_SUMMAND_ZERO, SMMA_SUMMAND_ONE, SMMA_SUMMAND_HUGE, SMMA_SUMMAND_MINUS_HUGE } smma_summand;

/* The sizes of M and ones: M = 2^huge, and a "one" is 2^one or -2^one. */
typedef struct {
  const smma_instruction *instruction;
  int count;    /* number of summands; c is the last */
  int products; /* products per summand: 1, or the size of a scale block, with one nonzero product */
  int huge, one;
  bool negative_ones; /* whether a one is -2^one */
  int left; /* if not 0, M and -M leave a remainder when they cancel: a multiple of 2^(huge - left), which does not
               count as ones */
} smma_summands;

/* Chooses M and ones from the ranges of the formats. M plus K ones rounds to M in FP32 (in FP64 if d has this format),
   and in any accumulator with at most log2(M / one) bits. If the range of the elements is too small, scale factors
   extend it, and the summands are scale blocks. Returns false with the reason if that is not sufficient either. */
bool smma_choose_summands(const smma_instruction *instruction, smma_summands *summands, smma_error *why);

/* Returns the least log2(M / one) with which M plus ones at all other summands rounds to M. */
int smma_necessary_bits(const smma_summands *summands);

/* One query: the summands of a test vector. */
typedef struct {
  smma_summand what[SMMA_MOST_SUMMANDS];
  int smaller[SMMA_MOST_SUMMANDS]; /* for each summand, by how many binades it is smaller than M or a one */
  int product[SMMA_MOST_SUMMANDS]; /* index of the product within a summand */
  int lean[SMMA_MOST_SUMMANDS];    /* by how much the second factor's exponent exceeds half of the product's exponent */
  bool odd_c;                      /* c is greater by one unit of d's last place */
} smma_tree_question;

/* Returns a query with M at summand `plus`, -M at summand `minus`, and the value `others` at all other summands. */
smma_tree_question smma_pair_question(const smma_summands *summands, int plus, int minus, smma_summand others);

/* Writes the query as test vector `index` of `rows`. */
void smma_put_summands(const smma_summands *summands, const smma_tree_question *question, smma_rows *rows,
                       size_t index);

/* Encodes two factors whose product is 2^exponent or -2^exponent. The second factor's exponent is half of that plus
   `lean`. */
void smma_split_product(const smma_instruction *instruction, int exponent, int lean, bool negative, uint64_t *a,
                        uint64_t *b);

/* Returns the exponent of the greatest ones that satisfy two conditions: they are lost when they are added to M, and
   their sum is less than the remainder of M and -M if there is one. */
int smma_greatest_one(const smma_summands *summands);

/* Returns how many ones d contains, without the remainder of M and -M, or -1 if d is not a sum of ones. */
int smma_count_ones(const smma_summands *summands, uint64_t d);

/* Reports whether d is M, or -M, up to one unit of its last place. Ones added to M can cause that difference by
   rounding. */
bool smma_is_huge(const smma_summands *summands, uint64_t d, bool negative);

/* Returns the name of a summand in `text`: "c", "k = 3", "k = 16..31". */
const char *smma_summand_name(const smma_summands *summands, int index, char text[32]);

/* Describes a query in `text`: "2^30 at c, -2^30 at k = 3, 2^-28 at 15 others". Returns `text`. */
const char *smma_question_text(const smma_summands *summands, const smma_tree_question *question, char text[256]);

#endif
