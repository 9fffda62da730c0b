#include "bench/chart.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/program.h"
#include "page/gnuplot.h"

enum { MOST_GROUPS = 4, ROW_PIXELS = 22, MARGIN_PIXELS = 190 };

/* Colours of Okabe and Ito's palette, which colour-blind readers can also distinguish. */
static const char *const colours[MOST_GROUPS] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7"};

/* ---- The script ---- */

static size_t list_groups(const smma_chart *chart, const char *groups[MOST_GROUPS]) {
  size_t count = 0;
  for (size_t b = 0; b < chart->count; b++) {
    size_t g = 0;
    while (g < count && strcmp(groups[g], chart->bars[b].group) != 0) g++;
    if (g == count && count < MOST_GROUPS) groups[count++] = chart->bars[b].group;
  }
  return count;
}

/* Returns the length of the axis. It has room for the longest bar with its number, and for the line at 1. */
static double axis_end(const smma_chart *chart) {
  double longest = chart->reference ? 1 : 1e-9;
  for (size_t b = 0; b < chart->count; b++)
    if (chart->bars[b].value > longest) longest = chart->bars[b].value;
  return 1.12 * longest;
}

/* Returns the position at which the number of a bar begins: the end of the bar, or 1 if the number would cross the line
   at 1. */
static double number_place(const smma_chart *chart, double value) {
  double width = 0.08 * axis_end(chart);
  return chart->reference && value < 1 && value + width > 1 ? 1 : value;
}

/* Writes one line for each bar of a group: row, value, position of the number, number. */
static void write_block(FILE *script, const smma_chart *chart, size_t g, const char *group) {
  fprintf(script, "$group%zu << END\n", g);
  for (size_t b = 0; b < chart->count; b++) {
    double value = chart->bars[b].value;
    if (strcmp(chart->bars[b].group, group) == 0)
      fprintf(script, value < 0.1 ? "%zu %.9g %.9g %.2g\n" : "%zu %.9g %.9g %.2f\n", b + 1, value,
              number_place(chart, value), value);
  }
  fputs("END\n", script);
}

static const char fixed_part[] =
    "set border 3 linecolor '#404040'\n"
    "set xtics nomirror out\n"
    "set grid xtics linetype 1 linecolor '#e0e0e0'\n"
    "set bmargin 5.5\n"
    "set key at screen 0.5, screen 0.01 center bottom horizontal reverse Left samplen 1.5\n"
    "set style fill solid noborder\n";

/* Writes everything except the bars. */
static void write_frame(FILE *script, const smma_chart *chart) {
  fprintf(script, "set terminal svg size 960,%zu dynamic noenhanced font 'sans-serif,13' background '#ffffff'\n",
          chart->count * ROW_PIXELS + MARGIN_PIXELS);
  fputs("set title ", script);
  smma_gnuplot_text(script, chart->title);
  fputs(".\"\\n\".", script);
  smma_gnuplot_text(script, chart->subtitle);
  fputs("\nset xlabel ", script);
  smma_gnuplot_text(script, chart->axis);
  fprintf(script, "\nset xrange [0:%.9g]\nset yrange [%zu.6:0.4]\n$line << END\n1 0.4\n1 %zu.6\nEND\n", axis_end(chart),
          chart->count, chart->count);
  fputs("set ytics scale 0 (", script);
  for (size_t b = 0; b < chart->count; b++) {
    fputs(b ? ", " : "", script);
    smma_gnuplot_text(script, chart->bars[b].label);
    fprintf(script, " %zu", b + 1);
  }
  fputs(")\n", script);
  fputs(fixed_part, script);
}

static bool write_script(FILE *script, const void *content, smma_error *error) {
  const smma_chart *chart = content;
  const char *groups[MOST_GROUPS];
  size_t count = list_groups(chart, groups);
  (void)error;
  write_frame(script, chart);
  for (size_t g = 0; g < count; g++) write_block(script, chart, g, groups[g]);
  fputs("plot ", script);
  for (size_t g = 0; g < count; g++) {
    fprintf(script, "$group%zu using (0):1:(0):2:($1-0.36):($1+0.36) with boxxyerror linecolor '%s' title ", g,
            colours[g]);
    smma_gnuplot_text(script, groups[g]);
    fputs(", ", script);
  }
  if (chart->reference) {
    fprintf(script, "$line with lines dashtype 2 linewidth 2 linecolor '#000000' title ");
    smma_gnuplot_text(script, chart->reference);
    fputs(", ", script);
  }
  for (size_t g = 0; g < count; g++)
    fprintf(script, "$group%zu using 3:1:(stringcolumn(4)) with labels left offset 0.6,0 notitle, ", g);
  putc('\n', script);
  return true;
}

/* ---- Running gnuplot ---- */

bool smma_chart_possible(smma_error *error) { return smma_program_is_there(&smma_gnuplot, error); }

bool smma_chart_draw(const smma_chart *chart, const char *path, smma_error *error) {
  return smma_draw_file(&smma_gnuplot, write_script, chart, path, error);
}
