/* One element of a product on several targets: what each sums step by step, and where two of them part
   (docs/trace.md). */
#ifndef SMMA_TRACE_TRACE_H
#define SMMA_TRACE_TRACE_H

#include "compare/target.h"
#include "explain/difference.h"
#include "numerics/trace.h"

enum { SMMA_MOST_TRACED = 8, SMMA_MOST_OWN = 2, SMMA_MOST_EXPLAINED = 4 };

/* A result of the user's own: M x N, in the targets' format of D, dense and row-major. */
typedef struct {
  const char *name;
  const void *d;
} smma_own_result;

typedef struct {
  const smma_product_target *target; /* with the whole product, or if `is_chosen` the element's row and column alone */
  size_t targets;
  size_t m, n, k; /* of the whole product */
  bool is_chosen; /* the element is `at`; otherwise the study finds the element that differs most */
  size_t at[2];
  bool shows_rounding; /* names of targets say how A is rounded */
  smma_own_result own[SMMA_MOST_OWN];
  size_t owns;
} smma_trace_request;

/* An instruction, or some in a row, explained. */
typedef struct {
  size_t event, count; /* the first instruction's event, and how many they are */
  smma_operation operation;
  smma_row row;
  smma_explanation explanation;
  char name[200];
  smma_explained explained;
} smma_explained_step;

/* The place where two targets part, of those that part first, and the last instructions before it, explained. */
typedef struct {
  smma_parting found;
  size_t target[2];
  bool together; /* they take the same operands: each is explained as one */
  smma_explained_step *step[2];
  size_t steps[2];
} smma_parting_explained;

typedef struct {
  const smma_trace_request *request; /* which must outlive this */
  size_t at[2];
  char why[1300]; /* this element; empty where it was chosen */
  char name[SMMA_MOST_TRACED][96];
  smma_trace trace[SMMA_MOST_TRACED];
  smma_format d_format;                               /* of all targets; SMMA_NO_FORMAT where they have several */
  uint64_t own[SMMA_MOST_OWN];                        /* the element of each own result */
  size_t own_differ[SMMA_MOST_OWN][SMMA_MOST_TRACED]; /* its elements that are not a target's; only if `whole` */
  bool whole;                                         /* all elements were computed */
  bool differ;                                        /* the targets' elements differ */
  smma_parting_explained parting;
} smma_trace_result;

/* Returns false with one line. Either way smma_trace_result_free. */
bool smma_trace_run(const smma_trace_request *request, smma_trace_result *result, smma_error *error);
void smma_trace_result_free(smma_trace_result *result);

/* Returns the result as a record, with every `every`-th step and the last: what --json prints. */
smma_datum *smma_trace_datum(const smma_trace_result *result, size_t every);

/* Whether two results of a format are the same; any two NaN are. */
bool smma_same_element(smma_format format, uint64_t x, uint64_t y);

/* ---- Words ---- */

/* Writes which k an instruction takes: "64..79, 128..143"; "-" for an instruction without products. */
void smma_k_text(const smma_trace *trace, size_t instruction, char *text, size_t size);

/* Writes an event's name: "instruction 3", "part added", "alpha". */
void smma_event_text(const smma_trace *trace, const smma_trace_event *event, char *text, size_t size);

/* Returns how many instructions a side has before the parting. Only the last few are explained. */
size_t smma_parting_instructions(const smma_trace_result *result, int side);

/* ---- Within ---- */

/* Explains the instructions before a parting that has been found. False without memory. */
bool smma_explain_parting(smma_trace_result *result);
void smma_parting_free(smma_parting_explained *parting);

#endif
