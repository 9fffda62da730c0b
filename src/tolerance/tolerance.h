/* How far targets' products are from the exact one, measured and proved; which rtol and atol accept all of them, and
   which wrong results these refuse (docs/tolerance.md). */
#ifndef SMMA_TOLERANCE_TOLERANCE_H
#define SMMA_TOLERANCE_TOLERANCE_H

#include "compare/target.h"
#include "numerics/envelope.h"
#include "rows/data.h"
#include "tolerance/mutants.h"

enum { SMMA_QUANTILES = 5 };

extern const double smma_quantiles[SMMA_QUANTILES];

/* Products have matrices, or none where operands are generated. They have the same M, N, K, alpha and beta. */
typedef struct {
  const smma_product_target *target;
  size_t targets;
  const char *a, *b; /* what A and B are called, where products have them */
  smma_data data;    /* else the kind of the operands of M x N x K: */
  size_t m, n, k;
  bool with_c;        /* generated operands have a C, of N(0, 1) */
  smma_format stored; /* the format that kernels store results in; SMMA_NO_FORMAT: that of D */
  double margin;      /* how many times the measured errors are accepted: 1 to 1000 */
  void (*progress)(size_t done, size_t all, void *context); /* behind each target; or NULL */
  void *context;
} smma_tolerance_request;

/* How far one target is off. */
typedef struct {
  smma_format d, stored; /* of its results, and of the results as kernels store them */
  double error[SMMA_QUANTILES], most_bound;
  size_t unbounded, special; /* elements without a proven bound; with NaN or infinity among their operands */
} smma_target_error;

/* How much of a mutant is refused: the least share of elements over all targets. */
typedef struct {
  bool applies, possible; /* possible: some rtol and atol refuse it on every target and accept all targets */
  double measured, proven, bound;
} smma_verdict;

typedef struct {
  const smma_tolerance_request *request; /* which must outlive this */
  size_t m, n, k, rows, columns;         /* of the product, and of its part that was measured */
  bool has_c;
  smma_target_error target[SMMA_MOST_TARGETS];
  double exact[SMMA_QUANTILES]; /* magnitudes of the first target's exact results */
  smma_tolerance measured, proven;
  bool is_proven; /* every element has a bound */
  smma_verdict verdict[SMMA_MUTANTS];
} smma_tolerance_result;

/* Returns false with one line, which begins with the name of the member at fault if one is. */
bool smma_tolerance_run(const smma_tolerance_request *request, smma_tolerance_result *result, smma_error *error);

/* Returns the result as a record: what --json prints. */
smma_datum *smma_tolerance_datum(const smma_tolerance_result *result);

/* Writes what the operands are: "A.npy times B.npy", "data normal". */
enum { SMMA_OPERANDS_TEXT = 512 };
const char *smma_tolerance_operands(const smma_tolerance_request *request, char text[SMMA_OPERANDS_TEXT]);

/* Returns the lines for a kernel's test, to be freed; NULL without memory. */
char *smma_tolerance_paste(const smma_tolerance_result *result);

#endif
