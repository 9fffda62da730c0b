/* A report as one HTML file, which a browser displays without a network or other files. The file is a template
   (page.html) that contains the report as JSON; the template's script draws the parts one below another. */
#ifndef SMMA_PAGE_PAGE_H
#define SMMA_PAGE_PAGE_H

#include "datum/datum.h"

/* Appends a part to a list of parts. The kinds of parts, with the content of each:
   "title", "heading", "subheading", "paragraph": a text
   "lines": a text whose line ends are preserved
   "table": a list of rows, each a list of texts or numbers; the first row is the header
   "drawing": a text, an SVG picture
   "squares": a list of rows, each a list of records with "event", "state", "hits" and perhaps "because"
   "legend": a list of the states of squares, which the page explains
   "data": anything, shown folded as JSON */
void smma_page_add(smma_datum *parts, const char *kind, smma_datum *content);

/* Writes the page. Returns false if memory runs out, or if the stream has failed. */
bool smma_page_write(FILE *stream, const smma_datum *parts);

#endif
