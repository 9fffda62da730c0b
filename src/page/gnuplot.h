/* The first part of every gnuplot script, terminal, line types, borders and grid, and texts in scripts. */
#ifndef SMMA_PAGE_GNUPLOT_H
#define SMMA_PAGE_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

/* Writes the settings of a picture. `terminal` is its format, "svg" or "pngcairo"; width and height are in pixels (PNG
   has twice as many). Axes are labelled with powers of ten. Each of line types 1 to 10 has its own mark, dashes and
   colour. Colour-blind readers can distinguish the colours: Okabe and Ito's without the yellow, and grey, indigo and
   wine. */
void smma_gnuplot_head(FILE *script, const char *terminal, int width, int height);

/* Writes a text as a string of gnuplot: in single quotes, in which nothing is replaced or run as a command. */
void smma_gnuplot_text(FILE *script, const char *text);

#endif
