/* One element of a product, instruction by instruction: what is summed so far, and how far that is from the exact sum
   (docs/trace.md). */
#ifndef SMMA_NUMERICS_TRACE_H
#define SMMA_NUMERICS_TRACE_H

#include <stdbool.h>

#include "gemm/gemm.h"

typedef enum {
  SMMA_TRACE_START,       /* C begins the sum */
  SMMA_TRACE_INSTRUCTION, /* one has added its products */
  SMMA_TRACE_FOLD,        /* the plan has moved or added a part's sum */
  SMMA_TRACE_EPILOGUE,    /* an operation on the sum */
  SMMA_TRACE_STORE        /* the rounding to D's format */
} smma_trace_kind;

/* What is there behind one of these. All that is summed so far, wherever it is (an instruction's accumulator, totals of
   a plan), is value + rest; `exact` is the exact sum of the same products. NaN where they are not finite, and where
   what an epilogue makes of it leaves the range in which it is held. */
typedef struct {
  uint64_t encoding;                /* of the place that has changed: in the outer format, behind STORE in D's */
  double value, rest, exact, error; /* error: (value + rest) - exact, rounded once */
  size_t products;                  /* that are summed */
  size_t index;                     /* of the instruction, of the schedule's task, of the epilogue's operation */
  smma_trace_kind kind;
  bool whole; /* these are the products k = 0 to products - 1 */
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

/* Traces element (i, j), which there must be, of the product that smma_gemm would compute; its d, threads and kernel do
   not count. Errors: as smma_gemm. Freed by smma_trace_free, whatever is returned. */
smma_status smma_trace_element(const smma_instruction *instruction, const smma_gemm_arguments *product, size_t i,
                               size_t j, smma_trace *trace);
void smma_trace_free(smma_trace *trace);

/* What the instruction of an event started from, in D's format of the operation. */
uint64_t smma_trace_addend(const smma_trace *trace, size_t event);

/* Where two traces part: the first time that they have summed the same products and hold something else. */
typedef struct {
  bool parted;
  smma_trace_kind kind; /* INSTRUCTION; FOLD: behind the plans' folds, EPILOGUE: in what follows the sum */
  size_t before;        /* the products after which they last held the same */
  size_t products;
  size_t first[2], last[2]; /* the events between, of each trace */
} smma_parting;

smma_parting smma_find_parting(const smma_trace *first, const smma_trace *second);

#endif
