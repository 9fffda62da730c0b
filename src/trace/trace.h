/* Traces one element of a product on several targets: the sums of each target step by step, and the point at which two
   targets diverge (docs/trace.md). */
#ifndef SMMA_TRACE_TRACE_H
#define SMMA_TRACE_TRACE_H

#include "compare/own.h"
#include "explain/difference.h"
#include "host/watch.h"
#include "numerics/trace.h"

enum { SMMA_MOST_TRACED = 8, SMMA_MOST_OWN = 2, SMMA_MOST_EXPLAINED = 4 };

typedef struct {
  const smma_product_target *target; /* if `is_chosen`, matrices may consist of only the element's row and column */
  size_t targets;
  size_t m, n, k;   /* dimensions of the whole product */
  bool is_chosen;   /* true: trace the element `at`; false: find and trace the element with the largest difference */
  bool finds_error; /* if not chosen, and there is one target and no result of the user's own: find and trace the
                       element with the largest error against the exact product */
  size_t at[2];
  bool names_rounding; /* whether the targets' names in the result state how A was rounded */
  smma_own_result own[SMMA_MOST_OWN];
  size_t owns;
  /* Called if not `is_chosen`, with the rows done of each target's product and of its errors; may be NULL. */
  smma_watcher *watch;
  void *context;
} smma_trace_request;

/* The explanation of an instruction, or of several consecutive instructions as one. */
typedef struct {
  size_t event, count;      /* event of the first instruction, and number of instructions */
  smma_operation operation; /* the operation that is explained, and its operands */
  smma_row row;
  smma_explanation explanation;
  char name[200];
  smma_explained explained;
} smma_explained_step;

/* The point at which the first two targets diverge, with explanations of the last instructions before it. */
typedef struct {
  smma_divergence found;
  size_t target[2];
  bool together;                /* both add the same products to the same sum, so each side is explained as one step */
  smma_explained_step *step[2]; /* the explained steps of each side */
  size_t steps[2];              /* their numbers */
} smma_explained_divergence;

typedef struct {
  const smma_trace_request *request; /* must outlive the result */
  size_t at[2];
  char why[1300]; /* the reason for tracing this element; empty if the caller chose it */
  char name[SMMA_MOST_TRACED][96];
  smma_trace trace[SMMA_MOST_TRACED];
  smma_format d_format;        /* common format of D; SMMA_NO_FORMAT if the targets have several formats */
  uint64_t own[SMMA_MOST_OWN]; /* this element of each supplied result */
  size_t own_differ[SMMA_MOST_OWN][SMMA_MOST_TRACED]; /* number of elements of a supplied result that differ from a
                                                         target's; valid if `whole` */
  bool whole;                                         /* all elements were computed */
  bool differ;                                        /* the targets' elements differ */
  smma_explained_divergence divergence;
} smma_trace_result;

/* Runs a trace. On failure returns false with an error message. Call smma_trace_result_free in both cases. */
bool smma_trace_run(const smma_trace_request *request, smma_trace_result *result, smma_error *error);
void smma_trace_result_free(smma_trace_result *result);

/* Returns the result as the record that --json prints, with only every `every`-th event and the last event of a
   trace. */
smma_datum *smma_trace_datum(const smma_trace_result *result, size_t every);

/* Prints the result as text: a table of the sums, the results, and where targets diverge, drawn in lines of at most
   `width` characters. `matrix` names A and B. Returns false if memory runs out. */
bool smma_print_trace(FILE *stream, const smma_trace_result *result, const char *const matrix[2], int width);

/* Reports whether two results of a format are equal; any two NaN are equal. */
bool smma_same_element(smma_format format, uint64_t x, uint64_t y);

/* ---- Words ---- */

/* Writes the k that an instruction sums, for example "64..79, 128..143"; writes "-" for an instruction without
   products. */
void smma_k_text(const smma_trace *trace, size_t instruction, char *text, size_t size);

/* Writes an event's name: "instruction 3", "part added", "alpha". */
void smma_event_text(const smma_trace *trace, const smma_trace_event *event, char *text, size_t size);

/* Returns the number of instructions of a side (0 or 1) between the last equal sum and the divergence. At most the last
   SMMA_MOST_EXPLAINED of them are explained. */
size_t smma_divergence_instructions(const smma_trace_result *result, int side);

/* ---- Instructions before a divergence ---- */

/* Explains the instructions before result->divergence, which must have been found. Returns false if memory runs out. */
bool smma_explain_divergence(smma_trace_result *result);
void smma_explained_divergence_free(smma_explained_divergence *divergence);

#endif
