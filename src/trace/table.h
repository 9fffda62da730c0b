/* What a person is shown of a trace: the lines of a table, extremes, and the error as a picture. */
#ifndef SMMA_TRACE_TABLE_H
#define SMMA_TRACE_TABLE_H

#include <stdio.h>

#include "trace/trace.h"

/* Stands for the index of an event where there is no event. */
#define SMMA_NO_EVENT SIZE_MAX

/* The events with the largest error and with the largest change of the error; SMMA_NO_EVENT if there is no error. */
typedef struct {
  size_t error, loss;
} smma_trace_extremes;

smma_trace_extremes smma_trace_extremes_of(const smma_trace *trace);

/* Returns the change of the error at an event. */
double smma_trace_loss(const smma_trace *trace, size_t event);

/* Sets `*ulps` to the distance, in encodings, between D and the exact result rounded once. Returns false if one of them
   is not finite. */
bool smma_trace_ulps(const smma_trace *trace, uint64_t *ulps);

/* Returns the event after which a target has summed this many products, or SMMA_NO_EVENT. With `folded`, returns the
   last fold that follows it, if any. */
size_t smma_trace_event_at(const smma_trace *trace, size_t products, bool folded);

/* Reports whether a fold after this many products changes a target's sum. */
bool smma_trace_folds_change(const smma_trace_result *result, size_t products);

/* A line of the table: the sums of all targets after this many products. */
typedef struct {
  size_t products;
  bool follows_gap; /* lines before it are left out */
} smma_trace_line;

/* The lines in ascending order. If there are many, only some are shown: the first and the last, those at powers of two,
   those near the point at which the targets diverge, and those with each target's extremes. */
typedef struct {
  smma_trace_line *line;
  size_t count;
  bool one_exact; /* all targets have the same exact sum at each line and at the end */
} smma_trace_table;

/* Chooses the lines. Fails if memory runs out. The caller frees `table->line`. */
bool smma_trace_table_of(const smma_trace_result *result, smma_trace_table *table, smma_error *error);

/* Draws the error over k as SVG. Returns false if memory runs out. */
bool smma_trace_draw(FILE *stream, const smma_trace_result *result, const char *subtitle);

#endif
