/* The first part of every gnuplot script: terminal, line types, borders and grid. */
#ifndef SMMA_PAGE_GNUPLOT_H
#define SMMA_PAGE_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

/* Writes the settings for one format, "svg" or "pngcairo", of a picture of this many pixels (PNG: twice as many). Axes
   are labelled with powers of ten. Line types 1 to 10 each have a mark, dashes, and a colour that is distinct for
   colour-blind readers (Okabe and Ito's without the yellow; grey, indigo, wine). */
void smma_gnuplot_head(FILE *script, const char *terminal, int width, int height);

#endif
