/* Measures and bounds the distance of targets' products from the exact product. Chooses the rtol and atol that accept
   all these distances, and determines which wrong results the chosen tolerances refuse (docs/tolerance.md). */
#ifndef SMMA_TOLERANCE_TOLERANCE_H
#define SMMA_TOLERANCE_TOLERANCE_H

#include <stdio.h>

#include "compare/target.h"
#include "host/watch.h"
#include "numerics/envelope.h"
#include "rows/data.h"
#include "tolerance/mutants.h"

enum { SMMA_QUANTILES = 5 };

extern const double smma_quantiles[SMMA_QUANTILES];

/* The request. Products either have matrices, or none if operands are generated. They have the same M, N, K, alpha and
   beta. */
typedef struct {
  const smma_product_target *target;
  size_t targets;
  const char *a, *b; /* names of A and B, if products have matrices */
  smma_data data;    /* otherwise the kind of operands, for M x N x K */
  size_t m, n, k;
  bool with_c;         /* generated operands include a C, N(0, 1) */
  smma_format stored;  /* format in which kernels store results; SMMA_NO_FORMAT: the format of D */
  double margin;       /* factor on the measured errors, 1 to 1000 */
  smma_watcher *watch; /* called after each target; may be NULL */
  void *context;
} smma_tolerance_request;

/* The error of one target. */
typedef struct {
  smma_format d, stored; /* formats of its results, and of the stored results */
  double error[SMMA_QUANTILES], most_bound;
  size_t unbounded, special; /* elements without a bound; elements with NaN or infinity */
  size_t overflowed;         /* results that differ from exact ones; at least one of the two is infinite or NaN */
} smma_target_error;

/* The share of a mutant's elements that is refused: the smallest over all targets. */
typedef struct {
  bool applies, possible; /* possible: some rtol and atol accept all targets, and refuse the mutant on every target */
  double measured, proven, bound;
} smma_verdict;

typedef struct {
  const smma_tolerance_request *request; /* must outlive the result */
  size_t m, n, k, rows, columns;         /* of the product, and of the measured part */
  bool has_c;
  smma_target_error target[SMMA_MOST_TARGETS];
  double exact[SMMA_QUANTILES]; /* magnitudes of the first target's exact results */
  smma_tolerance measured, proven;
  bool is_measured; /* no result overflowed; otherwise no rtol and atol accept all results */
  bool is_proven;   /* so, and every element has a bound */
  smma_verdict verdict[SMMA_MUTANTS];
} smma_tolerance_result;

/* Runs the study. Returns false with an error message. It begins with the name of a member if that member is invalid.
 */
bool smma_tolerance_run(const smma_tolerance_request *request, smma_tolerance_result *result, smma_error *error);

/* Like smma_tolerance_run, but only measures and bounds the errors. The result has no tolerances and no verdicts. */
bool smma_tolerance_measure(const smma_tolerance_request *request, smma_tolerance_result *result, smma_error *error);

/* Checks everything that can be wrong in a request before products are computed. */
bool smma_tolerance_check(const smma_tolerance_request *request, smma_error *error);

/* Returns the result as the record for --json. */
smma_datum *smma_tolerance_datum(const smma_tolerance_result *result);

/* Writes a description of the operands: "A.npy times B.npy", "data normal". */
enum { SMMA_OPERANDS_TEXT = 512 };
const char *smma_tolerance_operands(const smma_tolerance_request *request, char text[SMMA_OPERANDS_TEXT]);

/* Returns the lines for a kernel's test, to be freed, or NULL if memory runs out. If no rtol and atol accept all
   results, there are no lines. */
char *smma_tolerance_paste(const smma_tolerance_result *result);

/* Prints the result as text, which ends with the lines for a kernel's test. Returns false if memory runs
   out. */
bool smma_print_tolerance(FILE *stream, const smma_tolerance_result *result);

#endif
