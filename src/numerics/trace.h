/* A trace of one element of a product: after each instruction, the sum so far and its distance from the exact sum
   (docs/trace.md). */
#ifndef SMMA_NUMERICS_TRACE_H
#define SMMA_NUMERICS_TRACE_H

#include <stdbool.h>

#include "gemm/gemm.h"
#include "numerics/exact_tile.h"

typedef enum {
  SMMA_TRACE_START,       /* the sum starts from C */
  SMMA_TRACE_INSTRUCTION, /* an instruction has added its products */
  SMMA_TRACE_FOLD,        /* the plan has moved or added a part's sum */
  SMMA_TRACE_EPILOGUE,    /* an epilogue operation has changed the sum */
  SMMA_TRACE_STORE        /* the result was rounded to D's format */
} smma_trace_kind;

/* The state after one event. The sum of everything accumulated so far, in the instruction's accumulator and in a plan's
   partial sums, is value + rest. `exact` is the exact sum of the same products. Both are infinite or NaN if terms are;
   a sum is NaN if an epilogue operation takes it out of the range of smma_wide. */
typedef struct {
  uint64_t encoding; /* content of the changed accumulator or register in the outer format; for SMMA_TRACE_STORE in D's
                        format */
  double value, rest, exact, error; /* error: (value + rest) - exact, rounded once */
  size_t products;                  /* number of products summed so far */
  size_t index;                     /* index of the instruction, of the schedule's task or of the epilogue operation */
  smma_trace_kind kind;
  bool whole; /* the summed products are exactly those of k = 0 to products - 1 */
} smma_trace_event;

typedef struct {
  smma_operation operation; /* the instruction's operation, with c in its D format */
  smma_format outer;        /* the format in which accumulators are held */
  smma_format d_format;     /* D's format */
  smma_schedule schedule;   /* which k each instruction takes */
  smma_epilogue epilogue[SMMA_MOST_EPILOGUE];
  smma_trace_event *event;
  size_t events, folds; /* number of events, and of those that are folds */
  bool in_order;        /* the products are summed in the order k = 0, 1, 2, ... */
  uint64_t d;           /* element (i, j) of D, bit for bit as smma_gemm returns it */
  uint64_t best;        /* the exact result, rounded once to D's format */
  bool has_best;        /* the exact result is finite */
} smma_trace;

/* Traces element (i, j), which must exist, of the product that smma_gemm would compute. The product's d, threads and
   kernel are ignored. Errors: as smma_gemm. Call smma_trace_free for any return value. */
smma_status smma_trace_element(const smma_instruction *instruction, const smma_gemm_arguments *product, size_t i,
                               size_t j, smma_trace *trace);
void smma_trace_free(smma_trace *trace);

/* An element's exact value, and the distance of a result from it, each rounded once. */
typedef struct {
  double exact, error; /* error: the result minus the exact value; not finite if one of them is not */
} smma_error_of_element;

/* Sets `*sums` to whether the exact element is the sum over all k of the products of the numbers that
   smma_target_numbers returns. It is not if the instruction counts bits, if alpha multiplies the operands, or if the
   product's plan omits some k. A plan whose parts have scale factors must multiply each product by the factors of the
   part that its k belongs to, and FP64 must have the products of all numbers and factors. Errors: as
   smma_trace_element. */
smma_status smma_sums_all_products(const smma_instruction *instruction, const smma_gemm_arguments *product, bool *sums);

/* Sets `*error` to the error of `result`, an encoding in D's format, against the exact element (i, j) of the product
   that smma_gemm would compute: that of smma_trace_element's last event. `sum` is the exact sum of the element's
   products if smma_sums_all_products; NULL: it is computed here. Errors: as smma_trace_element. */
smma_status smma_element_error(const smma_instruction *instruction, const smma_gemm_arguments *product, size_t i,
                               size_t j, uint64_t result, const smma_exact_element *sum, smma_error_of_element *error);

/* Returns the accumulator that an event's instruction started from, in the operation's D format. */
uint64_t smma_trace_addend(const smma_trace *trace, size_t event);

/* The point at which two traces diverge: the first event after which both have summed the same products and hold
   different values. */
typedef struct {
  bool diverges;
  /* Where they diverge: SMMA_TRACE_INSTRUCTION: in the chains; SMMA_TRACE_FOLD: after the plans' folds;
     SMMA_TRACE_EPILOGUE: after the sum. */
  smma_trace_kind kind;
  size_t before;            /* number of products after which both traces last held the same value */
  size_t products;          /* number of products after which they first hold different values */
  size_t first[2], last[2]; /* for each trace, the first and the last of its events from `before` to `products` */
} smma_divergence;

smma_divergence smma_find_divergence(const smma_trace *first, const smma_trace *second);

#endif
