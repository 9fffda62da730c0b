/* Draws one dot-product-add, or two of the same operands, as an SVG picture. */
#ifndef SMMA_EXPLAIN_PICTURE_H
#define SMMA_EXPLAIN_PICTURE_H

#include "explain/difference.h"
#include "explain/svg.h"

/* Draws the computations below each other on a common axis of bits, with their first difference marked. `svg` is open.
   `width` is the greatest width in pixels; 0: no limit. To fit, a picture leaves out remarks, then factors, then
   values, exponents and results, and breaks long lines of words. Returns false if memory runs out. */
bool smma_picture_draw(smma_svg *svg, const smma_explained *unit, int count, double width);

/* Works like smma_picture_draw, and writes the picture to a stream. */
bool smma_picture_write(FILE *stream, const smma_explained *unit, int count, double width);

#endif
