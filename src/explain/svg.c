#include "explain/svg.h"

#include <stdlib.h>
#include <string.h>

#include "host/utf8.h"

/* Widths of characters in units of the font's size. They are wider than those of common fonts, so that texts fit. */
#define MONOSPACE_WIDTH 0.61
#define SANS_WIDTH 0.6
#define BOLD_WIDTH 0.68

/* The font families; monospace is the default of the whole picture. */
#define SANS "Helvetica, Arial, sans-serif"
#define MONOSPACE "DejaVu Sans Mono, Consolas, Menlo, monospace"

/* Size and rise of exponents, in units of the font's size. */
#define EXPONENT_SIZE 0.75
#define EXPONENT_RISE 0.4

bool smma_svg_open(smma_svg *svg) {
  memset(svg, 0, sizeof *svg);
  svg->body = open_memstream(&svg->text, &svg->size);
  return svg->body;
}

void smma_svg_close(smma_svg *svg) {
  if (svg->body) fclose(svg->body);
  free(svg->text);
  free(svg->label);
  memset(svg, 0, sizeof *svg);
}

/* Writes a text as XML. Bytes that are not UTF-8, and characters that XML forbids, become U+FFFD. */
static void put_escaped(FILE *stream, const char *text) {
  for (int length; *text; text += length ? length : 1) {
    uint32_t point;
    length = smma_utf8_decode(text, &point);
    if (length == 0 || point == 0xfffe || point == 0xffff) {
      fputs("\xef\xbf\xbd", stream);
      continue;
    }
    if (length > 1) {
      fwrite(text, 1, (size_t)length, stream);
      continue;
    }
    switch (*text) {
      case '&': fputs("&amp;", stream); break;
      case '<': fputs("&lt;", stream); break;
      case '>': fputs("&gt;", stream); break;
      case '"': fputs("&quot;", stream); break;
      default: putc((unsigned char)*text < ' ' || *text == 127 ? ' ' : *text, stream);
    }
  }
}

/* Definitions of the hatch patterns of truncated bits: dark for ones, pale for zeros. */
static const char patterns[] =
    "<defs>\n"
    "<pattern id=\"cut-one\" width=\"3\" height=\"3\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\">"
    "<rect width=\"3\" height=\"3\" fill=\"#f6d5bf\"/><rect width=\"1.6\" height=\"3\" fill=\"#d55e00\"/></pattern>\n"
    "<pattern id=\"cut-zero\" width=\"3\" height=\"3\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\">"
    "<rect width=\"3\" height=\"3\" fill=\"#fdf3ec\"/><rect width=\"0.6\" height=\"3\" fill=\"#e9a87f\"/></pattern>\n"
    "</defs>\n";

void smma_svg_write(FILE *stream, smma_svg *svg, const char *title, double margin) {
  double width = svg->width + margin, height = svg->height + margin;
  fflush(svg->body);
  fprintf(stream,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%.0f\" height=\"%.0f\" "
          "viewBox=\"0 0 %.0f %.0f\" font-family=\"" MONOSPACE "\">\n<title>",
          width, height, width, height);
  put_escaped(stream, title);
  fprintf(stream, "</title>\n%s<rect width=\"%.0f\" height=\"%.0f\" fill=\"#ffffff\"/>\n", patterns, width, height);
  fwrite(svg->text, 1, svg->size, stream);
  fputs("</svg>\n", stream);
}

static void reach(smma_svg *svg, smma_svg_box box) {
  if (box.x + box.width > svg->width) svg->width = box.x + box.width;
  if (box.y + box.height > svg->height) svg->height = box.y + box.height;
}

static void add_label(smma_svg *svg, smma_svg_box box) {
  reach(svg, box);
  if (svg->labels == svg->capacity) {
    size_t capacity = svg->capacity ? 2 * svg->capacity : 64;
    smma_svg_box *more = realloc(svg->label, capacity * sizeof *more);
    if (!more) {
      svg->failed = true;
      return;
    }
    svg->label = more;
    svg->capacity = capacity;
  }
  svg->label[svg->labels++] = box;
}

double smma_svg_text_width(const smma_svg_font *font, const char *text) {
  return (double)strlen(text) * font->size * (font->monospace ? MONOSPACE_WIDTH : font->bold ? BOLD_WIDTH : SANS_WIDTH);
}

void smma_svg_text(smma_svg *svg, double x, double y, const smma_svg_font *font, const char *text) {
  static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  double width = smma_svg_text_width(font, text);
  if (!*text) return;
  add_label(svg, (smma_svg_box){x - width * font->anchor / 2, y - 0.75 * font->size, width, 0.95 * font->size});
  fprintf(svg->body, "<text x=\"%.6g\" y=\"%.6g\" font-size=\"%g\"%s%s", x, y, font->size,
          font->monospace ? "" : " font-family=\"" SANS "\"", anchors[font->anchor]);
  if (font->colour) fprintf(svg->body, " fill=\"%s\"", font->colour);
  fputs(font->bold ? " font-weight=\"bold\">" : ">", svg->body);
  put_escaped(svg->body, text);
  fputs("</text>\n", svg->body);
}

smma_svg_box smma_svg_power_box(double x, double y, double size, int exponent) {
  char text[16];
  double width = size * (SANS_WIDTH + EXPONENT_SIZE * SANS_WIDTH * snprintf(text, sizeof text, "%d", exponent));
  return (smma_svg_box){x - width / 2, y - size * 1.1, width, size * 1.2};
}

void smma_svg_power(smma_svg *svg, double x, double y, double size, int exponent) {
  add_label(svg, smma_svg_power_box(x, y, size, exponent));
  fprintf(svg->body,
          "<text x=\"%.6g\" y=\"%.6g\" font-size=\"%g\" font-family=\"" SANS
          "\" text-anchor=\"middle\">2"
          "<tspan dy=\"%g\" font-size=\"%g\">%d</tspan></text>\n",
          x, y, size, -EXPONENT_RISE * size, EXPONENT_SIZE * size, exponent);
}

void smma_svg_line(smma_svg *svg, double x1, double y1, double x2, double y2, const char *attributes) {
  fprintf(svg->body, "<line x1=\"%.6g\" y1=\"%.6g\" x2=\"%.6g\" y2=\"%.6g\" %s/>\n", x1, y1, x2, y2, attributes);
  reach(svg, (smma_svg_box){x2, y2, 0, 0});
}

void smma_svg_rectangle(smma_svg *svg, smma_svg_box box, const char *attributes) {
  fprintf(svg->body, "<rect x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" %s/>\n", box.x, box.y, box.width,
          box.height, attributes);
  reach(svg, box);
}

void smma_svg_blocks_begin(smma_svg *svg, const char *fill) { fprintf(svg->body, "<path fill=\"%s\" d=\"", fill); }

void smma_svg_block(smma_svg *svg, smma_svg_box box) {
  fprintf(svg->body, "M%.6g %.6gh%.6gv%.6gh%.6gz", box.x, box.y, box.width, box.height, -box.width);
  reach(svg, box);
}

void smma_svg_blocks_end(smma_svg *svg) { fputs("\"/>\n", svg->body); }

void smma_svg_group_begin(smma_svg *svg, const char *kind, const char *title) {
  fprintf(svg->body, "<g class=\"%s\"><title>", kind);
  put_escaped(svg->body, title);
  fputs("</title>\n", svg->body);
}

void smma_svg_group_end(smma_svg *svg) { fputs("</g>\n", svg->body); }

bool smma_svg_boxes_meet(smma_svg_box one, smma_svg_box other) {
  return one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height &&
         other.y < one.y + one.height;
}
