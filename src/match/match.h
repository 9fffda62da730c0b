/* Which instruction and plan give exactly these bits: the search over instructions and the space of plans, and the
   comparison of a result with one of them. */
#ifndef SMMA_MATCH_MATCH_H
#define SMMA_MATCH_MATCH_H

#include "io/error.h"
#include "io/group.h"
#include "isa/instruction.h"
#include "plan/plan.h"
#include "softmma/softmma.h"

/* A product and its result. A, B, C and D are row-major and dense, in their formats; M, N and K are not 0. */
typedef struct {
  size_t m, n, k;
  smma_format a_format, b_format, c_format, d_format;
  const void *a, *b, *d;
  const void *c;                  /* or NULL */
  const float *scale_a, *scale_b; /* of parts of K, M x parts and N x parts; or NULL */
  size_t parts;
  const float *bias; /* or NULL */
  double alpha, beta, scale_d;
  int threads;
} smma_match_data;

/* Instructions that compute the same function, proved; the first stands for all. */
typedef struct {
  const smma_instruction **member;
  size_t members;
  void *c; /* C in the first one's format; NULL without */
} smma_match_class;

/* Elements with other bits than D's; two NaNs are the same. */
typedef struct {
  size_t different;
  size_t row, column;         /* of the first of them, row by row */
  uint64_t wanted, got;       /* its encodings */
  size_t first_row, last_row; /* where they are */
  size_t first_column, last_column;
  size_t zeros;          /* of these: both are zero */
  size_t special;        /* one of both is not finite */
  uint64_t largest_ulps; /* among the others */
} smma_match_difference;

/* A library with a configuration that sums so, and how many others of it do. */
typedef struct {
  const char *name;
  char text[160];
  size_t others;
} smma_match_library;

/* What might have computed D. */
typedef struct {
  size_t of; /* number of its class */
  smma_plan *plan;
  char text[200]; /* the plan in words */
  smma_match_library library[8];
  size_t libraries; /* whose plans are the same sum here */
  smma_match_difference difference;
  int differs_at_random; /* of SMMA_MATCH_SAMPLE elements of a random product of this K: those unlike the first fit's */
} smma_match_candidate;

enum { SMMA_MATCH_SAMPLE = 16, SMMA_MATCH_MOST = 64 };

typedef struct {
  smma_match_class *class;
  size_t classes;
  smma_match_candidate fit[SMMA_MATCH_MOST]; /* all elements are D's; libraries' plans first, simple ones first */
  size_t fits;
  size_t untried;            /* others that have all samples of D's elements, but were not computed in whole */
  smma_match_candidate near; /* without a fit: the one with the fewest other elements */
  bool has_near;
  size_t plans, candidates; /* plans that were tried; those that differ for this K, with each class */
  size_t products;          /* K of the chains that were computed, each for a sample of elements */
  bool exact;      /* every partial sum of A B, in any order, is a number of FP32 (FP64 and s32 for D in those) */
  double distance; /* of D from A B and what is given, in the Frobenius norm, over its own; of many elements */
  double factor;   /* D over that, where it is one number for many elements; else 0 */
} smma_match;

/* False with one line where memory runs out, or no instruction fits the formats. The caller frees the match, which is
   whole in rank 0 alone. */
bool smma_match_search(const smma_match_data *data, const smma_instruction *const *instruction, size_t instructions,
                       const smma_group *group, smma_match *match, smma_error *error);
void smma_match_free(smma_match *match);

/* The product by an instruction with a plan (NULL: one chain) against D. */
bool smma_match_compare(const smma_match_data *data, const smma_instruction *instruction, const smma_plan *plan,
                        smma_match_difference *difference, smma_error *error);

#endif
