#include "experiment/plot.h"

#include "page/gnuplot.h"

void smma_plot_script(const smma_experiment_run *run, const char *terminal, FILE *script) {
  smma_gnuplot_head(script, terminal, run->experiment->width, run->experiment->height);
  run->experiment->plot(run, script);
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
  for (size_t i = 0; i < count; i++) {
    fprintf(script, "NaN with linespoints linetype %zu title ", i + 1);
    smma_gnuplot_text(script, titles[i]);
    fputs(", ", script);
  }
  fputs("\nunset multiplot\n", script);
}
