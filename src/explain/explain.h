/* Explains one dot-product-add by a drawing: the bits of the terms aligned on a common axis, the bits that alignment
   retains and truncates, the sum, and the rounding. smma_explain makes the content of the drawing as data;
   smma_explain_print prints it as text. */
#ifndef SMMA_EXPLAIN_EXPLAIN_H
#define SMMA_EXPLAIN_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "explain/decimal.h"
#include "rows/row.h"

/* One line of a drawing: an exact term and its aligned value. */
typedef struct {
  char label[32];           /* "a[3]*b[3]", "c", "group 0", "even k", ... */
  char factors[72];         /* "1.5 * 2.25"; empty for a term that is not a product */
  smma_number exact, low;   /* the exact term is the sum of both, finite or zero; `low` is zero unless the term has more
                               than 64 bits */
  int exponent;             /* exponent with which the term enters the alignment */
  bool has_exponent;        /* false for integers and ignored zeros, which do not take part in the greatest exponent */
  bool product;             /* the term is a product; products that are zero are drawn together */
  bool is_flushed;          /* the term is zero because it, or a factor of it, was flushed */
  bool rounds_down;         /* the term is rounded down instead of toward zero */
  bool is_dropped;          /* SMMA_STAGE_EXACT: the term is not added, because it is far below the others */
  int64_t aligned;          /* the aligned term: a multiple of 2^cut */
  int cut;                  /* exponent of the last retained bit */
  bool is_first_difference; /* the first difference between two compared computations is here */
} smma_explain_line;

/* One operation with one rounding. */
typedef struct {
  char text[40];                    /* "d = fma(a[1], b[1], d)" */
  char operands[88];                /* "1.5 * 2 + 0.25" */
  char note[64];                    /* the flushed operands, or empty */
  smma_number factor[2], addend[2]; /* values before flushing */
  int factors, addends;             /* number of factors, 0 or 2; number of addends, 0 to 2 */
  bool product_flushed, addend_flushed, result_flushed;
  bool is_first_difference; /* the first difference is here */
  smma_format format;       /* format of the result */
  uint64_t result;
  smma_quantity lost; /* the exact value minus the result; NaN if either is not finite */
} smma_explain_step;

typedef enum {
  SMMA_STAGE_ALIGN, /* terms truncated relative to the greatest exponent, and their sum */
  SMMA_STAGE_EXACT, /* terms summed exactly */
  SMMA_STAGE_STEPS, /* operations with one rounding each */
  SMMA_STAGE_NOTE   /* nothing to draw: special values, an empty sum */
} smma_stage_kind;

/* The reason why a stage has nothing to draw. */
typedef enum { SMMA_REASON_SPECIAL, SMMA_REASON_ZERO, SMMA_REASON_UNDRAWN } smma_stage_reason;

/* One stage of the drawing. */
typedef struct {
  smma_stage_kind kind;
  smma_stage_reason reason; /* SMMA_STAGE_NOTE */
  char title[224], note[352];
  int line_count, step_count;
  smma_explain_line *line;
  smma_explain_step *step;
  int emax;             /* SMMA_STAGE_ALIGN: the greatest exponent */
  const char *sum_name; /* "sum", "t" */
  int64_t sum;          /* SMMA_STAGE_ALIGN: a multiple of 2^sum_exponent */
  int sum_exponent;
  smma_number rounded_down; /* the sum after rounding down, if rounds_down */
  bool rounds_down;
  char rounding[96];         /* "RZ-FP32, toward zero to 23 fraction bits"; empty without a result */
  smma_format result_format; /* SMMA_NO_FORMAT if the sum itself is a term of stage `term_of` */
  uint64_t result;
  smma_nan_policy nan;      /* which encodings of the result are numbers */
  size_t term_of;           /* index of a later stage */
  int products;             /* number of products since the last rounding that the result sums */
  bool is_first_difference; /* the first difference is here */
} smma_stage;

typedef struct {
  size_t count;
  smma_stage *stage;
  smma_explain_line *lines; /* of all stages */
  smma_explain_step *steps; /* of all stages */
  smma_format result_format;
  uint64_t result;            /* equals smma_dot_add's, which the tests check */
  bool finite;                /* no operand is infinity or NaN; only then `correctly_rounded` and `lost` are valid */
  uint64_t correctly_rounded; /* the exact c + sum a_k b_k (with scale factors), rounded once to nearest even */
  smma_quantity lost;         /* the exact sum minus the result; NaN if the result is infinite */
} smma_explanation;

/* Builds the explanation. Returns false only if memory runs out. Free it with smma_explanation_free. */
bool smma_explain(const smma_operation *operation, const smma_row *row, smma_explanation *explanation);
void smma_explanation_free(smma_explanation *explanation);

/* Returns what the operation computes: "c + sum of a[k]*b[k]". */
const char *smma_explain_sum_text(const smma_operation *operation);

/* The headings of an explanation. */
typedef struct {
  char model[4096];  /* "T-FDPA, F = 25, ..." */
  char formats[256]; /* "d = c + sum of a[k]*b[k], K = 16, ..." */
} smma_explain_heading;
smma_explain_heading smma_explain_heading_of(const smma_operation *operation);

/* Prints the explanation as text, with less detail if lines would be longer than `width`. Every instruction of the
   catalogue fits in 120 columns. */
void smma_explain_print(FILE *stream, const smma_operation *operation, const smma_explanation *explanation, int width);

#endif
