/* Summands of chosen size, for probes of order: every row is a sum of +M, -M, ones and zeros. */
#ifndef SMMA_TREE_SUMMANDS_H
#define SMMA_TREE_SUMMANDS_H

#include "io/error.h"
#include "rows/rows.h"

/* The products, and c. */
enum { SMMA_MOST_SUMMANDS = SMMA_MAXIMUM_K + 1 };

/* What a summand is in a row. */
typedef enum { SMMA_SUMMAND_ZERO, SMMA_SUMMAND_ONE, SMMA_SUMMAND_HUGE, SMMA_SUMMAND_MINUS_HUGE } smma_summand;

/* M = 2^huge, and a "one" is 2^one or -2^one. */
typedef struct {
  const smma_instruction *instruction;
  int count;    /* of summands; c is the last */
  int products; /* that stand behind one summand: 1, or a scale block, of which one product is not zero */
  int huge, one;
  bool negative_ones;
  int left; /* M and -M may leave whole 2^(huge - left), which are no ones; 0 if they leave nothing */
} smma_summands;

/* Chooses M and ones from the formats' ranges: M + K ones rounds to M in FP32 (FP64), and so it does in anything up to
   log2 M/one bits wide. Where the elements' own range is too small, scale factors help, and scale blocks become the
   summands. False with the reason where that is not enough either. */
bool smma_choose_summands(const smma_instruction *instruction, smma_summands *summands, smma_error *why);

/* The least log2 M/one that will do. */
int smma_necessary_bits(const smma_summands *summands);

/* One row. */
typedef struct {
  smma_summand what[SMMA_MOST_SUMMANDS];
  int smaller[SMMA_MOST_SUMMANDS]; /* binades by which the summand is smaller than M or a one */
  int product[SMMA_MOST_SUMMANDS]; /* which of those behind a summand it is */
  int lean[SMMA_MOST_SUMMANDS];    /* how much of an exponent its second factor takes, beside half of it */
  bool odd_c;                      /* c has one unit of d's last place more */
} smma_tree_question;

/* M at one, -M at another, and all others alike. */
smma_tree_question smma_pair_question(const smma_summands *summands, int plus, int minus, smma_summand others);

void smma_put_summands(const smma_summands *summands, const smma_tree_question *question, smma_rows *rows,
                       size_t index);

/* Encodings of two factors whose product is 2^exponent, or -2^exponent; `lean`: see smma_tree_question. */
void smma_split_product(const smma_instruction *instruction, int exponent, int lean, bool negative, uint64_t *a,
                        uint64_t *b);

/* The greatest ones that are less, all together, than what M and -M may leave, and lost beside M. */
int smma_greatest_one(const smma_summands *summands);

/* How many ones d is, beside what M and -M may leave; -1 if it is no such number. */
int smma_count_ones(const smma_summands *summands, uint64_t d);

/* Whether d is M, or -M, up to one unit of its last place: what ones beside M do where they are rounded. */
bool smma_is_huge(const smma_summands *summands, uint64_t d, bool negative);

/* "c", "k = 3", "k = 16..31". */
const char *smma_summand_name(const smma_summands *summands, int index, char text[32]);

/* "2^30 at c, -2^30 at k = 3, 2^-28 at 15 others". */
const char *smma_question_text(const smma_summands *summands, const smma_tree_question *question, char text[256]);

#endif
