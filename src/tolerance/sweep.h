/* Measures and bounds errors over one quantity: K, the formats, a parameter of the targets' rules, the words or slices
   of an accurate product, ... (docs/tolerance.md). */
#ifndef SMMA_TOLERANCE_SWEEP_H
#define SMMA_TOLERANCE_SWEEP_H

#include "tolerance/tolerance.h"

enum { SMMA_MOST_SWEPT = 64, SMMA_SWEPT_SIZE = 40 };

typedef enum {
  SMMA_SWEEP_K,
  SMMA_SWEEP_SPLIT_K,
  SMMA_SWEEP_PROMOTE_EVERY,
  SMMA_SWEEP_DATA,
  SMMA_SWEEP_FORMAT,
  SMMA_SWEEP_WORDS,    /* smma_gemm_words, SMMA_WORDS_SCALED */
  SMMA_SWEEP_MARKIDIS, /* smma_gemm_words, SMMA_WORDS_RESIDUAL */
  SMMA_SWEEP_SLICES,   /* smma_gemm_slices */
  SMMA_SWEEP_PARAMETER /* of the targets' rules */
} smma_sweep_kind;

/* A quantity and its values, as text. */
typedef struct {
  smma_sweep_kind kind;
  char name[SMMA_SWEPT_SIZE];
  char value[SMMA_MOST_SWEPT][SMMA_SWEPT_SIZE];
  size_t values;
} smma_sweep;

/* Reads "NAME=VALUE,...": values are numbers, words, or ranges A..B. A range of k, split_k and promote_every doubles
   from A to B; other ranges are all whole numbers from A to B. Returns false with an error that begins with "sweep: ".
 */
bool smma_sweep_parse(const char *text, smma_sweep *sweep, smma_error *error);

/* Reports whether a value is a whole number, which `*number` receives. */
bool smma_sweep_number(const smma_sweep *sweep, size_t value, double *number);

/* Reports whether the sweep computes accurate products of FP64 matrices. */
bool smma_sweep_is_accurate(const smma_sweep *sweep);

/* The request. A sweep over formats has a target for every format of each GPU; other sweeps have one target for each
   curve. Matrices of an accurate product are in `a` and `b`, dense and row-major, and the targets have none. */
typedef struct {
  smma_tolerance_request of; /* `watch` counts measured products; the margin is not used */
  smma_sweep sweep;
  const double *a, *b; /* NULL: random data */
} smma_sweep_request;

/* The errors of one target at one value. */
typedef struct {
  size_t value, target; /* indices */
  size_t k;
  smma_target_error error;
  double exact[SMMA_QUANTILES]; /* magnitudes of the exact results */
} smma_sweep_row;

typedef struct {
  const smma_sweep_request *request; /* must outlive the result */
  size_t m, n, rows, columns;        /* of the product, and of the measured part */
  smma_sweep_row *row;               /* target by target */
  size_t count;
  int automatic[2]; /* in a sweep over slices: the numbers of slices of A and of B that `auto` chooses; otherwise 0 */
} smma_sweep_result;

/* Runs the sweep. Returns false with an error message, which begins with the name of an invalid member. Release the
   result with smma_sweep_free in either case. */
bool smma_sweep_run(const smma_sweep_request *request, smma_sweep_result *result, smma_error *error);
void smma_sweep_free(smma_sweep_result *result);

/* Reports whether the target has results for the value. In a sweep over formats, each target has results only for its
   own format. */
bool smma_sweep_has(const smma_sweep_request *request, size_t value, size_t target);

/* Writes a description of the operands, like smma_tolerance_operands. */
const char *smma_sweep_operands(const smma_sweep_request *request, char text[SMMA_OPERANDS_TEXT]);

/* Returns the result as the record for --json. */
smma_datum *smma_sweep_datum(const smma_sweep_result *result);

/* Prints the errors as a table for each target. */
void smma_print_sweep(FILE *stream, const smma_sweep_result *result);

/* Writes a gnuplot script that draws the errors and bounds; `terminal` is "svg" or "pngcairo". Returns false with an
   error if no error is above 0. */
bool smma_sweep_plot(const smma_sweep_result *result, const char *terminal, FILE *script, smma_error *error);

#endif
