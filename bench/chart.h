/* Horizontal bar charts as SVG, drawn by gnuplot. */
#ifndef SMMA_BENCH_CHART_H
#define SMMA_BENCH_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "host/error.h"

typedef struct {
  char label[160];
  const char *group; /* bars of a group share a colour; at most four groups */
  double value;
} smma_bar;

typedef struct {
  const char *title, *subtitle, *axis;
  const char *reference; /* name of the vertical line at 1; NULL: there is no such line */
  const smma_bar *bars;  /* the bars, from top to bottom */
  size_t count;
} smma_chart;

/* Reports whether gnuplot can be run; if not, the error gives the reason. */
bool smma_chart_possible(smma_error *error);

/* Draws the chart into a file, which appears only when it is complete. */
bool smma_chart_draw(const smma_chart *chart, const char *path, smma_error *error);

#endif
