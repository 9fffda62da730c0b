/* The content of each line of a picture, in order, without positions. */
#ifndef SMMA_EXPLAIN_LINES_H
#define SMMA_EXPLAIN_LINES_H

#include "explain/axis.h"
#include "explain/difference.h"

typedef enum {
  SMMA_LINE_UNIT,       /* the unit of the following computation */
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
  char text[360]; /* text of lines without bits */
  char label[40], factors[88], value[40], exponent[8], remark[96];
  smma_drawn bits;
  bool has_limit;
  int top;      /* TERM with a limit: the greatest exponent; NORMALISED: exponent of the significand */
  int limit;    /* TERM: exponent of the last retained bit; NORMALISED: exponent of the last bit of the significand */
  int floor;    /* bits below this exponent are described, not drawn */
  int highest;  /* SUM: exponent of the highest bit of all terms; bits of the sum above it are carries */
  int marks[3]; /* AXIS: exponents to label first */
  int mark_count;
  smma_format format; /* ENCODING */
  uint64_t encoding, other;
} smma_line;

typedef struct {
  smma_line *line, lost; /* `lost`: receives lines for which there is no memory */
  int count, capacity;
  int digits; /* digits of values */
  bool brief; /* show fewer of the bits that are truncated */
  bool failed;
} smma_lines;

/* Makes all lines of one computation, or of two with their difference. Returns false if memory runs out. */
bool smma_lines_make(smma_lines *lines, const smma_explained *unit, int count, bool brief);
void smma_lines_free(smma_lines *lines);

#endif
