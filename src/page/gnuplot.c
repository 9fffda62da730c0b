#include "page/gnuplot.h"

/* The marks alternate between filled and open, so that two coinciding curves are visible as two. */
static const struct {
  const char *colour;
  int mark;
  const char *dashes;
} line_types[] = {{"#0072B2", 7, "solid"},      {"#D55E00", 4, "(12,4)"}, {"#009E73", 9, "(6,4)"},
                  {"#CC79A7", 12, "(3,3)"},     {"#000000", 2, "solid"},  {"#56B4E9", 5, "(12,4,3,4)"},
                  {"#E69F00", 8, "(6,4)"},      {"#7F7F7F", 6, "(3,3)"},  {"#332288", 11, "(12,4)"},
                  {"#882255", 10, "(12,4,3,4)"}};

void smma_gnuplot_head(FILE *script, const char *terminal, int width, int height) {
  const bool svg = terminal[0] == 's';
  fprintf(script, "set terminal %s size %d,%d enhanced %s font 'sans-serif,13' background '#ffffff'\n", terminal,
          svg ? width : 2 * width, svg ? height : 2 * height, svg ? "dynamic" : "fontscale 2 linewidth 2 pointscale 2");
  for (size_t i = 0; i < sizeof line_types / sizeof line_types[0]; i++)
    fprintf(script, "set linetype %zu linecolor '%s' linewidth 1.5 pointtype %d pointsize 0.7 dashtype %s\n", i + 1,
            line_types[i].colour, line_types[i].mark, line_types[i].dashes);
  fputs(
      "set border 3 linecolor '#404040'\nset tics nomirror out\nset grid linetype 1 linewidth 0.5 linecolor "
      "'#e0e0e0' dashtype solid\nset format '10^{%L}'\n",
      script);
}

void smma_gnuplot_text(FILE *script, const char *text) {
  putc('\'', script);
  for (; *text; text++) {
    if (*text == '\'') putc('\'', script); /* two stand for one */
    putc((unsigned char)*text < ' ' ? ' ' : *text, script);
  }
  putc('\'', script);
}
