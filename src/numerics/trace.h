/* A trace of one element of a product: after each instruction, the sum so far and its distance from the exact sum
   (docs/trace.md). */
#ifndef SMMA_NUMERICS_TRACE_H
#define SMMA_NUMERICS_TRACE_H

#include <stdbool.h>

#include "gemm/gemm.h"

typedef enum {
  SMMA_TRACE_START,       /* C begins the sum */
  SMMA_TRACE_INSTRUCTION, /* an instruction has added its products */
  SMMA_TRACE_FOLD,        /* the plan has moved or added a part's sum */
  SMMA_TRACE_EPILOGUE,    /* an operation on the sum */
  SMMA_TRACE_STORE        /* the rounding to D's format */
} smma_trace_kind;

/* The state after one event. The sum of everything accumulated so far, in the instruction's accumulator and in a
   plan's partial sums, is value + rest. `exact` is the exact sum of the same products. Both are NaN if not finite,
   or if the result of an epilogue operation leaves the range in which it is held. */
typedef struct {
  uint64_t encoding;                /* of the changed accumulator or register, in the outer format; for STORE in D's */
  double value, rest, exact, error; /* error: (value + rest) - exact, rounded once */
  size_t products;                  /* number of products summed so far */
  size_t index; /* index of the instruction, of the schedule's task or of the epilogue's operation */
  smma_trace_kind kind;
  bool whole; /* the summed products are k */
} smma_trace_event;

typedef struct {
  smma_operation operation; /* c in D's format */
  smma_format outer, d_format;
  smma_schedule schedule; /* which k each instruction takes */
  smma_epilogue epilogue[SMMA_MOST_EPILOGUE];
  smma_trace_event *event;
  size_t events, folds;
  bool in_order; /* k is taken as 0, 1, 2, ... */
  uint64_t d;    /* element (i, j) of D, the bits of smma_gemm */
  uint64_t best; /* the exact result, rounded once to D's format */
  bool has_best; /* the exact result is finite */
} smma_trace;

/* Traces element (i, j), which must exist, of the product that smma_gemm would compute. The product's d, threads and
   kernel are ignored. Errors: as smma_gemm. Call smma_trace_free for any return value. */
smma_status smma_trace_element(const smma_instruction *instruction, const smma_gemm_arguments *product, size_t i,
                               size_t j, smma_trace *trace);
void smma_trace_free(smma_trace *trace);

/* Returns the accumulator that the instruction of an event started from, in the operation's D format. */
uint64_t smma_trace_addend(const smma_trace *trace, size_t event);

/* The point at which two traces diverge: the first event after which both have summed the same products and hold
   different values. */
typedef struct {
  bool diverges;
  smma_trace_kind kind; /* INSTRUCTION: in the chains; FOLD: after the plans' folds; EPILOGUE: after the sum */
  size_t before;        /* number of products after which both traces last held the same value */
  size_t products;
  size_t first[2], last[2]; /* for each trace, its events from `before` to `products` */
} smma_divergence;

smma_divergence smma_find_divergence(const smma_trace *first, const smma_trace *second);

#endif
