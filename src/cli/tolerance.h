/* `softmma tolerance`, in parts: targets and their operands, what is measured and proved, and what is printed. */
#ifndef SMMA_CLI_TOLERANCE_H
#define SMMA_CLI_TOLERANCE_H

#include "cli/cli.h"
#include "cli/matrices.h"
#include "cli/mutants.h"
#include "cli/plans.h"
#include "numerics/bound.h"
#include "numerics/envelope.h"
#include "rows/data.h"

enum { SMMA_MOST_TARGETS = 32, SMMA_QUANTILES = 5 };

extern const double smma_quantiles[SMMA_QUANTILES];

typedef struct {
  const char *gpus, *instructions, *in, *out, *shape, *data, *c, *store, *plans, *round_in;
  double alpha, beta, margin;
  long long split_k, promote_every;
  int with_c, threads, json, paste;
} smma_tolerance_options;

/* One unit, its product, and how far it is off. */
typedef struct {
  char label[512];
  const smma_instruction *instruction;
  char inputs[SMMA_INPUTS_TEXT_SIZE];
  smma_target_plan *plan;
  smma_target_rounding rounding;
  char shown[SMMA_INPUTS_TEXT_SIZE + 520]; /* inputs and plan */
  smma_format d, stored;                   /* of the results, and what these are rounded to at last */
  smma_tensor a, b, c, scale_a, scale_b;
  smma_gemm_arguments product;
  void *neutral; /* what the plan takes beside */
  smma_bounded *bound;
  double *values, error[SMMA_QUANTILES], most_bound;
  size_t unbounded, special; /* elements without a proven bound; with NaN or infinity among their operands */
} smma_tolerance_target;

/* How much of a mutant is refused: the least share of elements over all targets. */
typedef struct {
  bool applies, possible; /* possible: some rtol and atol refuse it on every target and accept all targets */
  double measured, proven, bound;
} smma_verdict;

typedef struct {
  const smma_tolerance_options *options;
  const char *path[2];
  smma_data data; /* without files */
  size_t m, n, k; /* what was asked for */
  size_t rows, columns;
  smma_tolerance_target target[SMMA_MOST_TARGETS];
  smma_target_plan plan[SMMA_MOST_TARGETS];
  int targets;
  double exact[SMMA_QUANTILES]; /* magnitudes of the first target's exact results */
  smma_tolerance measured, proven;
  bool is_proven; /* every element has a bound */
  smma_verdict verdict[SMMA_MUTANTS];
} smma_tolerance_study;

/* The targets of --on with their plans, and their operands, which are then released; each ends the program with one
   line. */
void smma_tolerance_targets(smma_tolerance_study *study);
void smma_tolerance_operands(smma_tolerance_study *study, const char **paths);
void smma_tolerance_release(smma_tolerance_study *study);

/* Errors and bounds of all targets; then tolerances, and what these refuse. */
void smma_tolerance_measure(smma_tolerance_study *study);
void smma_tolerance_judge(smma_tolerance_study *study);

static inline size_t smma_tolerance_count(const smma_tolerance_study *x) { return x->rows * x->columns; }

/* All as text, the lines for a test alone, or JSON. */
void smma_tolerance_print_text(const smma_tolerance_study *study);
void smma_tolerance_print_paste(const smma_tolerance_study *study);
void smma_tolerance_print_json(const smma_tolerance_study *study);

#endif
