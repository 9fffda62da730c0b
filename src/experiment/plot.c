#include "experiment/plot.h"

/* The marks alternate between filled and open, so that two coinciding curves are visible as two. */
static const struct {
  const char *colour;
  int mark;
  const char *dashes;
} line_types[] = {{"#0072B2", 7, "solid"},      {"#D55E00", 4, "(12,4)"}, {"#009E73", 9, "(6,4)"},
                  {"#CC79A7", 12, "(3,3)"},     {"#000000", 2, "solid"},  {"#56B4E9", 5, "(12,4,3,4)"},
                  {"#E69F00", 8, "(6,4)"},      {"#7F7F7F", 6, "(3,3)"},  {"#332288", 11, "(12,4)"},
                  {"#882255", 10, "(12,4,3,4)"}};

void smma_plot_script(const smma_experiment_run *run, const char *terminal, FILE *script) {
  const smma_experiment *e = run->experiment;
  bool svg = terminal[0] == 's';
  fprintf(script, "set terminal %s size %d,%d enhanced %s font 'sans-serif,13' background '#ffffff'\n", terminal,
          svg ? e->width : 2 * e->width, svg ? e->height : 2 * e->height,
          svg ? "dynamic" : "fontscale 2 linewidth 2 pointscale 2");
  for (size_t i = 0; i < sizeof line_types / sizeof line_types[0]; i++)
    fprintf(script, "set linetype %zu linecolor '%s' linewidth 1.5 pointtype %d pointsize 0.7 dashtype %s\n", i + 1,
            line_types[i].colour, line_types[i].mark, line_types[i].dashes);
  fputs(
      "set border 3 linecolor '#404040'\nset tics nomirror out\nset grid linetype 1 linewidth 0.5 linecolor "
      "'#e0e0e0' dashtype solid\nset format '10^{%L}'\n",
      script);
  e->plot(run, script);
}

bool smma_plot_block(const smma_experiment_run *run, FILE *script, const char *block, const char *const *where,
                     const char *const *columns) {
  bool any = false;
  fprintf(script, "%s << END\n", block);
  for (size_t row = 0; row < smma_table_rows(run); row++) {
    if (!smma_table_has(run, row, where)) continue;
    any = true;
    for (const char *const *c = columns; *c; c++) fprintf(script, "%s ", smma_table_text(run, row, *c));
    fputc('\n', script);
  }
  fputs("END\n", script);
  return any;
}

void smma_plot_legend(FILE *script, const char *const *titles, size_t count, int columns, double height) {
  fprintf(script,
          "unset logscale\nunset title\nunset xlabel\nunset ylabel\nunset tics\nunset border\nunset grid\n"
          "set lmargin at screen 0\nset rmargin at screen 1\nset bmargin at screen 0\nset tmargin at screen %g\n"
          "set xrange [0:1]\nset yrange [0:1]\n"
          "set key at screen 0.5, screen %g center center horizontal maxcols %d reverse Left samplen 4\nplot ",
          height, height / 2, columns);
  for (size_t i = 0; i < count; i++)
    fprintf(script, "NaN with linespoints linetype %zu title \"%s\", ", i + 1, titles[i]);
  fputs("\nunset multiplot\n", script);
}
