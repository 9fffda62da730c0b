/* What `softmma trace` has traced: one element of a product on several targets; its text, JSON and picture. */
#ifndef SMMA_CLI_TRACE_H
#define SMMA_CLI_TRACE_H

#include "cli/cli.h"
#include "cli/plans.h"
#include "matrix/tensor.h"
#include "numerics/trace.h"

enum { SMMA_MOST_TRACED = 8 };

/* A target and its product. */
typedef struct {
  char label[512]; /* as given */
  char name[96];   /* to show: with its plan and rounding mode where targets have several */
  char inputs[SMMA_INPUTS_TEXT_SIZE];
  const smma_instruction *instruction;
  const smma_target_plan *plan;
  smma_target_rounding rounding;
  smma_tensor a, b, c, scale_a, scale_b, bias, d;
  void *neutral; /* what the plan takes that was not given */
  smma_gemm_arguments product;
  size_t at[2]; /* the traced element, in `product` */
  smma_trace trace;
} smma_traced;

/* A result of the user's own. */
typedef struct {
  const char *path;
  smma_tensor d;
  uint64_t element;                /* the traced one, in D's format */
  size_t differ[SMMA_MOST_TRACED]; /* its elements that are not the target's; only where all were computed */
} smma_own_result;

typedef struct {
  const char *path[2];
  size_t m, n, k, at[2];
  char why[1300]; /* this element */
  smma_traced unit[SMMA_MOST_TRACED];
  size_t units;
  smma_own_result own[2];
  size_t owns;
  bool whole;           /* all elements were computed */
  bool planned;         /* --plan was given */
  smma_format d_format; /* of all targets; SMMA_NO_FORMAT where they have several */
  smma_parting parting; /* of the two targets that part first */
  size_t parted[2];
} smma_traced_element;

/* Whether two results of a format are the same; any two NaN are. */
bool smma_same_element(smma_format format, uint64_t x, uint64_t y);

/* "one chain" or "plan NAME". */
void smma_traced_plan_text(const smma_traced *unit, char *text, size_t size);

/* The k of the products of an instruction: "64..79, 128..143"; "-" where it has none. */
void smma_k_text(const smma_trace *trace, size_t instruction, char *text, size_t size);

/* What an event is: "instruction 3", "added to a total", "alpha". */
void smma_event_text(const smma_trace *trace, const smma_trace_event *event, char *text, size_t size);

void smma_trace_print(const smma_traced_element *x);

/* Every `every`-th event, and the last. */
void smma_trace_print_json(const smma_traced_element *x, size_t every);

/* Where targets part, in words and drawn bit by bit; nothing where they do not. */
void smma_trace_print_parting(const smma_traced_element *x);

/* {"targets", "at", "after", "products", "first_difference", "explanations"}, or null. */
json_t *smma_trace_parting_json(const smma_traced_element *x);

/* The error over k as an SVG picture; ends the program with one line if it cannot be written. */
void smma_trace_draw(const smma_traced_element *x, const char *path);

#endif
