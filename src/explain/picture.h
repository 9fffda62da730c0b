/* One dot-product-add, or two of the same operands, as an SVG picture. */
#ifndef SMMA_EXPLAIN_PICTURE_H
#define SMMA_EXPLAIN_PICTURE_H

#include "explain/difference.h"
#include "explain/svg.h"

/* Draws the computations one below the other on a common axis of bits, with their first difference marked; `svg` is
   open. False when memory runs out. */
bool smma_picture_draw(smma_svg *svg, const smma_explained *unit, int count);

/* The same as a file. */
bool smma_picture_write(FILE *stream, const smma_explained *unit, int count);

#endif
