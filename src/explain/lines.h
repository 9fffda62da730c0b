/* The lines of a picture, one below the other: what stands in each, not yet where. */
#ifndef SMMA_EXPLAIN_LINES_H
#define SMMA_EXPLAIN_LINES_H

#include "explain/axis.h"
#include "explain/difference.h"

typedef enum {
  SMMA_LINE_UNIT,       /* whose computation follows */
  SMMA_LINE_HEADING,    /* its model and formats */
  SMMA_LINE_DIFFERENCE, /* the first difference in words */
  SMMA_LINE_TITLE,      /* of a stage */
  SMMA_LINE_NOTE,
  SMMA_LINE_AXIS,
  SMMA_LINE_TERM,
  SMMA_LINE_RULE, /* below the terms */
  SMMA_LINE_SUM,
  SMMA_LINE_NORMALISED, /* the sum as rounding sees it: significand, guard bit, rest */
  SMMA_LINE_RESULT,
  SMMA_LINE_ENCODING /* a result's encoding, bit by bit */
} smma_line_kind;

typedef struct {
  smma_line_kind kind;
  bool marked;    /* the first difference is here */
  char text[360]; /* of lines that are text only */
  char label[40], factors[88], value[40], exponent[8], remark[96];
  smma_drawn bits;
  bool has_limit;
  int top;      /* TERM with a limit: the greatest exponent; NORMALISED: exponent of the significand */
  int limit;    /* TERM: exponent of the last bit kept; NORMALISED: of the last bit of the significand */
  int floor;    /* bits below are told, not drawn */
  int highest;  /* SUM: the highest bit of a term; what is above is carry */
  int marks[3]; /* AXIS: exponents to be labelled before others */
  int mark_count;
  smma_format format; /* ENCODING */
  uint64_t encoding, other;
} smma_line;

typedef struct {
  smma_line *line, lost; /* `lost` takes what memory does not hold */
  int count, capacity;
  int digits; /* of values */
  bool brief; /* show fewer of the bits that are cut */
  bool failed;
} smma_lines;

/* All lines of one computation, or of two with their difference. False when memory runs out. */
bool smma_lines_make(smma_lines *lines, const smma_explained *unit, int count, bool brief);
void smma_lines_free(smma_lines *lines);

#endif
