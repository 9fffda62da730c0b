/* A small writer of SVG 1.1 that tracks the positions of its labels. */
#ifndef SMMA_EXPLAIN_SVG_H
#define SMMA_EXPLAIN_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct {
  double x, y, width, height;
} smma_svg_box;

typedef struct {
  double size;
  const char *colour; /* NULL: black */
  bool monospace, bold;
  enum { SMMA_SVG_START, SMMA_SVG_MIDDLE, SMMA_SVG_END } anchor;
} smma_svg_font;

/* A picture in memory, where it stays until its size is known. */
typedef struct {
  FILE *body;
  char *text;
  size_t size;
  double width, height;    /* extent of everything drawn so far */
  smma_svg_box *label;     /* boxes that contain the texts drawn so far */
  size_t labels, capacity; /* number of boxes; room for them */
  bool failed;             /* out of memory */
} smma_svg;

bool smma_svg_open(smma_svg *svg);
void smma_svg_close(smma_svg *svg);

/* Writes the whole file, on a white background with a margin. */
void smma_svg_write(FILE *stream, smma_svg *svg, const char *title, double margin);

/* Returns the width that a text has at most. */
double smma_svg_text_width(const smma_svg_font *font, const char *text);

/* Draws text. y is the position of its base line. */
void smma_svg_text(smma_svg *svg, double x, double y, const smma_svg_font *font, const char *text);

/* smma_svg_power draws a power of two, 2 with its exponent, centred on x. smma_svg_power_box returns its box, so that
   the caller can check whether there is room for it. */
smma_svg_box smma_svg_power_box(double x, double y, double size, int exponent);
void smma_svg_power(smma_svg *svg, double x, double y, double size, int exponent);

void smma_svg_line(smma_svg *svg, double x1, double y1, double x2, double y2, const char *attributes);
void smma_svg_rectangle(smma_svg *svg, smma_svg_box box, const char *attributes);

/* Starts a path of rectangles with a common fill. */
void smma_svg_blocks_begin(smma_svg *svg, const char *fill);
void smma_svg_block(smma_svg *svg, smma_svg_box box);
void smma_svg_blocks_end(smma_svg *svg);

/* Starts a group with a title, which viewers show as a tooltip. */
void smma_svg_group_begin(smma_svg *svg, const char *kind, const char *title);
void smma_svg_group_end(smma_svg *svg);

bool smma_svg_boxes_meet(smma_svg_box one, smma_svg_box other);

#endif
