/* Horizontal bar charts as SVG, drawn by gnuplot. */
#ifndef SMMA_BENCH_CHART_H
#define SMMA_BENCH_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "io/error.h"

typedef struct {
  char label[160];
  const char *group; /* bars of a group share a colour; at most four groups */
  double value;
} smma_bar;

typedef struct {
  const char *title, *subtitle, *axis;
  const char *reference; /* the name of a line at 1; NULL: none */
  const smma_bar *bars;  /* from top to bottom */
  size_t count;
} smma_chart;

/* Whether gnuplot can be run. */
bool smma_chart_possible(smma_error *error);

/* Writes the file when it is complete. */
bool smma_chart_draw(const smma_chart *chart, const char *path, smma_error *error);

#endif
