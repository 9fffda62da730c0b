/* The content of each line of a picture, in order, without positions. */
#ifndef SMMA_EXPLAIN_LINES_H
#define SMMA_EXPLAIN_LINES_H

#include "explain/axis.h"
#include "explain/difference.h"

typedef enum {
  SMMA_LINE_UNIT,       /* the unit of the following computation */
  SMMA_LINE_HEADING,    /* the unit's model and formats */
  SMMA_LINE_DIFFERENCE, /* the first difference in words */
  SMMA_LINE_TITLE,      /* the title of a stage */
  SMMA_LINE_NOTE,
  SMMA_LINE_AXIS,
  SMMA_LINE_TERM,
  SMMA_LINE_RULE, /* the horizontal line below the terms */
  SMMA_LINE_SUM,
  SMMA_LINE_NORMALISED, /* the sum as it is rounded: significand, guard bit, rest */
  SMMA_LINE_RESULT,
  SMMA_LINE_ENCODING /* the encoding of a result, bit by bit */
} smma_line_kind;

/* One line. Where a comment begins with a kind (TERM: ...), the member is used only in lines of that kind. */
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
  smma_format format;       /* ENCODING: the format of the result */
  uint64_t encoding, other; /* ENCODING: the result, and the result that it is compared with */
} smma_line;

typedef struct {
  smma_line *line, lost; /* `lost`: receives lines for which there is no memory */
  int count, capacity;
  int digits; /* digits of values */
  bool brief; /* show fewer of the bits that are truncated */
  bool failed;
} smma_lines;

/* Makes all lines of one computation (`count` 1), or of two with their first difference. Returns false if memory runs
   out. */
bool smma_lines_make(smma_lines *lines, const smma_explained *explained, int count, bool brief);
void smma_lines_free(smma_lines *lines);

#endif
