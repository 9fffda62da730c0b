/* Finds the instruction and plan that give exactly the bits of D. Either searches all instructions and plans, or
   compares D with one instruction and plan. */
#ifndef SMMA_MATCH_MATCH_H
#define SMMA_MATCH_MATCH_H

#include "host/error.h"
#include "io/group.h"
#include "isa/instruction.h"
#include "plan/plan.h"
#include "softmma/softmma.h"

/* A product and its result. A, B, C and D are row-major and dense, in their formats; M, N and K are not 0. */
typedef struct {
  size_t m, n, k;
  smma_format a_format, b_format, c_format, d_format;
  const void *a, *b, *d;
  const void *c;                  /* NULL: no C */
  const float *scale_a, *scale_b; /* scale factors of parts of K: M x parts and N x parts; or NULL */
  size_t parts;
  const float *bias; /* NULL: no bias */
  double alpha, beta, scale_d;
  int threads;
  void (*progress)(size_t done, size_t all, void *context); /* called by rank 0's first thread; may be NULL */
  void *context;
} smma_match_data;

/* Instructions that are proved to compute the same function; the first represents the class. */
typedef struct {
  const smma_instruction **member;
  size_t members;
  void *c; /* C in the first instruction's format; NULL: no C */
} smma_match_class;

/* The elements in which a result differs from D. All NaNs count as equal. */
typedef struct {
  size_t different;
  size_t row, column;         /* position of the first mismatch, row by row */
  uint64_t expected, got;     /* encodings at the first mismatch */
  size_t first_row, last_row; /* range of rows and of columns that has all mismatches */
  size_t first_column, last_column;
  size_t zeros;          /* mismatches where both are zero */
  size_t special;        /* mismatches where one of the two is not finite */
  uint64_t largest_ulps; /* greatest distance, in units in the last place, of a mismatch of two finite numbers */
} smma_match_difference;

/* A library with one of its configurations that give the same sum, and the number of its other such configurations. */
typedef struct {
  const char *name;
  char text[160];
  size_t others;
} smma_match_library;

/* An instruction and a plan that may have computed D. */
typedef struct {
  size_t of; /* index of the class */
  smma_plan *plan;
  char text[200]; /* the plan in words */
  smma_match_library library[8];
  size_t libraries; /* number of entries in `library`: libraries whose plans give the same sum for this K */
  smma_match_difference difference;
  int differs_at_random; /* of SMMA_MATCH_SAMPLE elements of a random product with this K, how many differ from the
                            first fit's */
} smma_match_candidate;

enum { SMMA_MATCH_SAMPLE = 16, SMMA_MATCH_MOST = 64 };

typedef struct {
  smma_match_class *class;
  size_t classes;
  smma_match_candidate
      fit[SMMA_MATCH_MOST]; /* candidates that give every element of D; plans of libraries before simple plans */
  size_t fits;
  size_t untried;            /* candidates that match all samples but were not computed as a whole */
  smma_match_candidate near; /* if there is no fit: the candidate with the fewest mismatches */
  bool has_near;
  size_t plans, candidates; /* plans: number of plans tried; candidates: number of combinations of these with a class
                               that differ for this K */
  size_t products;          /* products of all chains computed, each for a sample of elements */
  bool exact; /* every partial sum of A B, in any order, is exact in FP32 (in FP64 or s32 if D has these formats) */
  double distance; /* ||D - Y|| / ||Y|| in the Frobenius norm over many elements, where Y is A B with everything that
                      was given */
  double factor;   /* D / Y if this ratio is the same for many elements; otherwise 0 */
} smma_match;

/* Searches for fits. Returns false with a message if memory runs out, or if no instruction has these formats. The
   caller frees the match, which is complete in rank 0 only. */
bool smma_match_search(const smma_match_data *data, const smma_instruction *const *instruction, size_t instructions,
                       const smma_group *group, smma_match *match, smma_error *error);
void smma_match_free(smma_match *match);

/* Compares D with the product by an instruction and a plan (NULL: a single chain). */
bool smma_match_compare(const smma_match_data *data, const smma_instruction *instruction, const smma_plan *plan,
                        smma_match_difference *difference, smma_error *error);

#endif
