/* What a report shows of a trace: the lines of a table, the largest errors, and the error as a picture. */
#ifndef SMMA_TRACE_TABLE_H
#define SMMA_TRACE_TABLE_H

#include <stdio.h>

#include "trace/trace.h"

/* Stands for the index of an event where there is no event. */
#define SMMA_NO_EVENT SIZE_MAX

/* Indices of two events of a trace, or SMMA_NO_EVENT if the trace has no error. */
typedef struct {
  size_t error; /* the event with the largest error */
  size_t loss;  /* the event with the largest change of the error */
} smma_trace_extremes;

smma_trace_extremes smma_trace_extremes_of(const smma_trace *trace);

/* Returns the change of the error at an event: the error after it minus the error before it. */
double smma_trace_loss(const smma_trace *trace, size_t event);

/* Sets `*ulps` to the distance, in encodings, between D and the exact result rounded once. Returns false if one of them
   is not finite. */
bool smma_trace_ulps(const smma_trace *trace, uint64_t *ulps);

/* Returns the first event after which the trace has summed this many products, or SMMA_NO_EVENT. With `folded`, returns
   the last of the folds that directly follow that event; if none follows, the event itself. */
size_t smma_trace_event_at(const smma_trace *trace, size_t products, bool folded);

/* Reports whether a fold after this many products changes the sum of any target. */
bool smma_trace_folds_change(const smma_trace_result *result, size_t products);

/* A line of the table: the sums of all targets after the same number of products. */
typedef struct {
  size_t products;
  bool follows_gap; /* whether lines directly before this line are left out */
} smma_trace_line;

/* The lines in ascending order of products. Of many lines only some are shown: the first and the last, those at powers
   of two, those near the point at which two targets diverge, and those with each target's smma_trace_extremes. */
typedef struct {
  smma_trace_line *line;
  size_t count;
  bool one_exact; /* all targets have the same exact sum at each line and at the end */
} smma_trace_table;

/* Chooses the lines. Returns false with a message if memory runs out. The caller frees table->line. */
bool smma_trace_table_of(const smma_trace_result *result, smma_trace_table *table, smma_error *error);

/* Writes a picture of each target's error over the number of products, as SVG. Returns false if memory runs out. */
bool smma_trace_draw(FILE *stream, const smma_trace_result *result, const char *subtitle);

#endif
