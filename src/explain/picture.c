#include "explain/picture.h"

#include <stdlib.h>
#include <string.h>

#include "explain/lines.h"
#include "host/locale.h"

/* The colours of one kind of bits. They are from Okabe and Ito's palette, which colour-blind readers can
   distinguish. */
typedef struct {
  const char *one, *zero; /* of bits that are 1, and pale tints for bits that are 0 */
} shade;

static const shade kept = {"#0072b2", "#cfe3f0"}, cut = {"url(#cut-one)", "url(#cut-zero)"},
                   total = {"#009e73", "#cdece2"}, carry = {"#56b4e9", "#dff0fb"}, guard = {"#e69f00", "#fae8c3"},
                   rest = {"#b8ab00", "#fbf8c9"}, result = {"#333333", "#dddddd"};
static const char mark_colour[] = "#a0407a"; /* reddish purple, darker so that text reads well */
static const char window_style[] = "fill=\"#f0f0f0\"";
static const char limit_line[] = "stroke=\"#d55e00\" stroke-width=\"1.4\" stroke-dasharray=\"3 1.5\"";

#define MARGIN 16.0
#define GAP 12.0              /* distance between columns of the table */
#define OVERHANG 10.0         /* how far labels and frames extend beyond the bits */
#define LEAST_WIDTH 700.0     /* least width of the legend */
#define ENCODING_CELL 10.0    /* width of a bit of an encoding */
#define MOST_CELLS 150        /* a picture with more cells on its axis shows fewer of the truncated bits */
#define ROWS_FOR_LOW_LINES 40 /* number of rows from which on rows are lower */
#define BITS_WIDTH 900.0      /* greatest width of all bits of a line */
#define WIDEST_CELL 9.0       /* greatest width of a cell */
#define NARROWEST_CELL 2.5    /* least width of a cell */
#define LEGIBLE_CELL 6.0      /* a picture with limited width leaves out columns until cells are this wide */

/* Whether a picture has the columns of remarks, factors and values. Without values, it also leaves out exponents and
   the lines of results. */
typedef struct {
  bool remarks, factors, values;
} picture_detail;

static const picture_detail details[] = {{true, true, true}, {false, true, true}, {false, false, true}, {false}};

typedef struct {
  smma_svg *svg;
  double width; /* maximum x of everything that is drawn, without the right margin; 0 if there is no limit */
  picture_detail with;
  const smma_lines *lines;
  smma_axis axis;
  double cell, row, y; /* width of a cell; height of a row; top of the current line */
  double label_x, factors_x, value_x, exponent_x, sign_x, bits_x; /* value and exponent end at their positions */
  smma_svg_font mono, sans;
} picture;

/* ---- Layout ---- */

static bool is_tabular(smma_line_kind kind) {
  return kind == SMMA_LINE_AXIS || kind == SMMA_LINE_TERM || kind == SMMA_LINE_SUM || kind == SMMA_LINE_NORMALISED ||
         kind == SMMA_LINE_RESULT || kind == SMMA_LINE_ENCODING;
}

static double wider(const picture *p, double width, const char *text) {
  double other = smma_svg_text_width(&p->mono, text);
  return other > width ? other : width;
}

/* Writes the text after the bits: the number of bits that are not drawn, and the line's own remark. */
static void remark_text(const smma_line *line, char *text, size_t size) {
  const smma_drawn *x = &line->bits;
  text[0] = 0;
  if (!x->zero && x->top < line->floor)
    snprintf(text, size, "%d places below the limit", line->limit - x->top);
  else if (!x->zero && x->bottom < line->floor)
    snprintf(text, size, "+ %d bit%s", line->floor - x->bottom, line->floor - x->bottom > 1 ? "s" : "");
  if (line->remark[0]) snprintf(text + strlen(text), size - strlen(text), "%s%s", text[0] ? "; " : "", line->remark);
}

/* Sets the positions of the columns. Returns the width of the remarks. */
static double set_columns(picture *p) {
  double label = 0, factors = 0, value = 0, exponent = 0, name = 0, remark = 0;
  for (int i = 0; i < p->lines->count; i++) {
    const smma_line *line = &p->lines->line[i];
    char text[128];
    remark_text(line, text, sizeof text);
    if (line->kind != SMMA_LINE_ENCODING) {
      label = wider(p, label, line->label);
      if (p->with.remarks && is_tabular(line->kind)) remark = wider(p, remark, text);
    } else if (p->with.values) {
      name = wider(p, name, line->label);
    }
    if (p->with.factors) factors = wider(p, factors, line->factors);
    if (p->with.values) value = wider(p, value, line->value);
    if (p->with.values) exponent = wider(p, exponent, line->exponent);
  }
  p->label_x = MARGIN + GAP;
  if (name > label + GAP + factors) label = name; /* names of results may reach into the column of factors */
  p->factors_x = p->label_x + label + GAP;
  p->value_x = p->factors_x + factors + (factors > 0 ? GAP : 0) + value;
  p->exponent_x = p->value_x + (exponent > 0 ? GAP + exponent : 0);
  p->sign_x = p->exponent_x + GAP;
  p->bits_x = p->sign_x + GAP;
  return remark > 0 ? GAP + remark : 0;
}

/* Chooses the columns and the width of a cell. If the picture's width is limited, takes the most columns that leave
   room for legible bits. */
static void fit(picture *p) {
  for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
    p->with = details[i];
    const double remarks = set_columns(p), room = p->width > 0 ? p->width - OVERHANG - p->bits_x - remarks : BITS_WIDTH;
    p->cell = (room < BITS_WIDTH ? room : BITS_WIDTH) / p->axis.cells;
    if (p->width == 0 || p->cell >= LEGIBLE_CELL) break;
  }
  if (p->cell > WIDEST_CELL) p->cell = WIDEST_CELL;
  if (p->cell < NARROWEST_CELL) p->cell = NARROWEST_CELL;
}

static void set_sizes(picture *p) {
  int rows = 0;
  for (int i = 0; i < p->lines->count; i++) rows += is_tabular(p->lines->line[i].kind);
  p->row = rows > ROWS_FOR_LOW_LINES ? 12 : 15;
  p->mono = (smma_svg_font){.size = rows > ROWS_FOR_LOW_LINES ? 9.5 : 11, .monospace = true};
  p->sans = (smma_svg_font){.size = rows > ROWS_FOR_LOW_LINES ? 10.5 : 12};
}

/* Makes the axis from the bits and marks of all lines. Returns false if memory runs out. */
static bool make_axis(picture *p) {
  int rows = 0, marks = 0;
  smma_axis_row *row = malloc(((size_t)p->lines->count + 1) * sizeof *row);
  int *mark = malloc((3 * (size_t)p->lines->count + 1) * sizeof *mark);
  for (int i = 0; row && mark && i < p->lines->count; i++) {
    const smma_line *line = &p->lines->line[i];
    if (!line->bits.zero) row[rows++] = (smma_axis_row){&line->bits, line->floor};
    for (int m = 0; m < line->mark_count; m++) mark[marks++] = line->marks[m];
    if (line->kind == SMMA_LINE_NORMALISED) mark[marks++] = line->limit;
  }
  if (row && mark) smma_axis_make(&p->axis, row, rows, mark, marks);
  free(row);
  free(mark);
  return row && mark;
}

static double cell_x(const picture *p, int cell) { return p->bits_x + cell * p->cell; }

static double base_line(const picture *p) { return p->y + 0.5 * p->row + 0.36 * p->mono.size; }

/* ---- Bits ---- */

/* Returns the shade of a bit of the line. */
static const shade *shade_of(const smma_line *line, int weight) {
  switch (line->kind) {
    case SMMA_LINE_TERM: return line->has_limit && weight < line->limit ? &cut : &kept;
    case SMMA_LINE_SUM: return weight > line->highest ? &carry : &total;
    case SMMA_LINE_NORMALISED: return weight >= line->limit ? &total : weight == line->limit - 1 ? &guard : &rest;
    default: return &result;
  }
}

static int lowest_drawn(const smma_line *line) {
  return line->bits.bottom > line->floor ? line->bits.bottom : line->floor;
}

/* Draws the bits of a line that have this shade and digit, as one path with a block for each bit. The bits in a gap
   have one block together, as wide as the gap. */
static void draw_shade(picture *p, const smma_line *line, const shade *s, char digit) {
  bool is_open = false;
  int last_gap = -1;
  for (int weight = line->bits.top; weight >= lowest_drawn(line); weight--) {
    int cell = smma_axis_cell(&p->axis, weight), gap = smma_axis_gap(&p->axis, weight);
    double width = gap >= 0 ? SMMA_AXIS_GAP * p->cell : p->cell;
    if (shade_of(line, weight) != s || smma_drawn_bit(&line->bits, weight) != digit) continue;
    if (gap >= 0 && gap == last_gap) continue;
    last_gap = gap;
    if (!is_open) smma_svg_blocks_begin(p->svg, digit == '1' ? s->one : s->zero);
    is_open = true;
    smma_svg_block(p->svg, (smma_svg_box){cell_x(p, gap >= 0 ? gap : cell) + 0.4, p->y + 1.5, width - 0.8, p->row - 3});
  }
  if (is_open) smma_svg_blocks_end(p->svg);
}

static void draw_bits(picture *p, const smma_line *line) {
  static const shade *const shades[] = {&kept, &cut, &carry, &total, &guard, &rest, &result};
  if (line->bits.zero) return;
  for (size_t i = 0; i < sizeof shades / sizeof *shades; i++) {
    draw_shade(p, line, shades[i], '1');
    draw_shade(p, line, shades[i], '0');
  }
}

/* Draws a frame around the last bit of the significand, which decides ties. */
static void draw_last(picture *p, const smma_line *line) {
  int cell = smma_axis_cell(&p->axis, line->limit);
  if (cell < 0) return;
  smma_svg_rectangle(p->svg, (smma_svg_box){cell_x(p, cell), p->y + 1, p->cell, p->row - 2},
                     "fill=\"none\" stroke=\"#000000\" stroke-width=\"1\"");
}

/* Draws the background of the bits that alignment retains, or that the significand has. */
static void draw_window(picture *p, const smma_line *line) {
  int first = smma_axis_cell(&p->axis, line->top), last = smma_axis_cell(&p->axis, line->limit);
  if (first < 0 || last < first) return;
  smma_svg_rectangle(p->svg, (smma_svg_box){cell_x(p, first), p->y, (last - first + 1) * p->cell, p->row + 0.5},
                     window_style);
}

static void draw_limit(picture *p, const smma_line *line) {
  int cell = smma_axis_cell(&p->axis, line->limit);
  double x = cell_x(p, cell + 1);
  if (cell >= 0) smma_svg_line(p->svg, x, p->y, x, p->y + p->row, limit_line);
}

/* Writes the label and the bits of a line, for its tooltip: "c: retained 101, truncated 01". */
static void digits_text(const smma_line *line, char *text, size_t size) {
  size_t length = (size_t)snprintf(text, size, "%s%s%s:", line->label, *line->factors ? " = " : "", line->factors);
  bool behind = false;
  if (line->bits.zero) {
    snprintf(text + length, size - length, " 0");
    return;
  }
  if (line->has_limit && line->bits.top >= line->limit)
    length += (size_t)snprintf(text + length, size - length, " retained");
  for (int weight = line->bits.top; weight >= line->bits.bottom && length + 8 < size; weight--) {
    if (weight == line->bits.top && (!line->has_limit || weight >= line->limit)) text[length++] = ' ';
    if (!behind && line->has_limit && weight < line->limit) {
      length += (size_t)snprintf(text + length, size - length, "%s ",
                                 weight == line->bits.top ? " truncated" : ", truncated");
      behind = true;
    }
    text[length++] = smma_drawn_bit(&line->bits, weight);
  }
  text[length] = 0;
}

/* ---- Lines ---- */

static void draw_text(picture *p, double x, const char *text, int anchor) {
  smma_svg_font font = p->mono;
  font.anchor = anchor;
  smma_svg_text(p->svg, x, base_line(p), &font, text);
}

static void draw_cells(picture *p, const smma_line *line) {
  draw_text(p, p->label_x, line->label, SMMA_SVG_START);
  if (p->with.factors) draw_text(p, p->factors_x, line->factors, SMMA_SVG_START);
  if (!p->with.values) return;
  draw_text(p, p->value_x, line->value, SMMA_SVG_END);
  draw_text(p, p->exponent_x, line->exponent, SMMA_SVG_END);
}

static void draw_remark(picture *p, const smma_line *line) {
  char text[128];
  remark_text(line, text, sizeof text);
  if (p->with.remarks) draw_text(p, cell_x(p, p->axis.cells) + GAP, text, SMMA_SVG_START);
}

static void draw_number(picture *p, const smma_line *line) {
  static const char *const kinds[] = {[SMMA_LINE_TERM] = "term",
                                      [SMMA_LINE_SUM] = "sum",
                                      [SMMA_LINE_NORMALISED] = "normalised",
                                      [SMMA_LINE_RESULT] = "result"};
  char title[320];
  digits_text(line, title, sizeof title);
  smma_svg_group_begin(p->svg, kinds[line->kind], title);
  draw_cells(p, line);
  if (!line->bits.zero) draw_text(p, p->sign_x, line->bits.negative ? "-" : "+", SMMA_SVG_MIDDLE);
  if (line->has_limit) draw_window(p, line);
  draw_bits(p, line);
  if (line->kind == SMMA_LINE_TERM && line->has_limit) draw_limit(p, line);
  if (line->kind == SMMA_LINE_NORMALISED) draw_last(p, line);
  draw_remark(p, line);
  smma_svg_group_end(p->svg);
  p->y += p->row;
}

/* ---- The axis ---- */

#define MOST_POWERS 64

typedef struct {
  smma_svg_box box[MOST_POWERS];
  int count;
} axis_labels;

/* Draws the label of a weight and its tick, if the label does not meet other labels. Returns whether it did. */
static bool label_weight(picture *p, axis_labels *labels, int weight) {
  int cell = smma_axis_cell(&p->axis, weight);
  double size = p->mono.size - 1, x = cell_x(p, cell) + p->cell / 2, bottom = p->y + 2 * p->row - 2;
  smma_svg_box box = smma_svg_power_box(x, p->y + p->row, size, weight), wide = box;
  wide.x -= 3;
  wide.width += 6;
  if (cell < 0 || labels->count == MOST_POWERS) return false;
  for (int i = 0; i < labels->count; i++)
    if (smma_svg_boxes_meet(wide, labels->box[i])) return false;
  labels->box[labels->count++] = box;
  smma_svg_power(p->svg, x, p->y + p->row, size, weight);
  smma_svg_line(p->svg, x, bottom - 5, x, bottom, "stroke=\"#000000\" stroke-width=\"1\"");
  return true;
}

static void draw_gap(picture *p, int gap) {
  double x = cell_x(p, gap), y = p->y + 2 * p->row - 2, step = SMMA_AXIS_GAP * p->cell / 4;
  fprintf(p->svg->body,
          "<path d=\"M%.6g %.6gl%.6g -4l%.6g 8l%.6g -8l%.6g 4\" fill=\"none\" stroke=\"#000000\" "
          "stroke-width=\"1\"/>\n",
          x, y, step, step, step, step);
}

static void draw_axis(picture *p, const smma_line *line) {
  axis_labels labels = {.count = 0};
  double y = p->y + 2 * p->row - 2;
  int from = 0;
  for (int i = 0; i < line->mark_count; i++) label_weight(p, &labels, line->marks[i]);
  for (int weight = p->axis.first; weight >= p->axis.last; weight--) {
    int gap = smma_axis_gap(&p->axis, weight);
    if (weight % 8 == 0 || weight == p->axis.first || smma_axis_gap(&p->axis, weight + 1) >= 0)
      label_weight(p, &labels, weight);
    if (gap < from) continue;
    if (gap > from)
      smma_svg_line(p->svg, cell_x(p, from), y, cell_x(p, gap), y, "stroke=\"#000000\" stroke-width=\"1\"");
    draw_gap(p, gap);
    from = gap + SMMA_AXIS_GAP;
  }
  if (from < p->axis.cells)
    smma_svg_line(p->svg, cell_x(p, from), y, cell_x(p, p->axis.cells), y, "stroke=\"#000000\" stroke-width=\"1\"");
  p->y += p->row * 0.8;
  draw_cells(p, line);
  p->y += p->row * 1.2;
}

/* ---- Results and words ---- */

/* Returns the width of a bit of an encoding: ENCODING_CELL, or less if the line would be too wide for the picture. */
static double encoding_cell(const picture *p, const char *bits, const char *remark) {
  const double room = p->width - p->sign_x - GAP - smma_svg_text_width(&p->mono, remark), count = (double)strlen(bits),
               digit = smma_svg_text_width(&p->mono, "0") + 0.2;
  if (p->width == 0 || count * ENCODING_CELL <= room) return ENCODING_CELL;
  return room / count > digit ? room / count : digit;
}

static void draw_encoding(picture *p, const smma_line *line) {
  char bits[80], other[80];
  double x = p->sign_x;
  if (!p->with.values) return;
  draw_cells(p, line);
  smma_encoding_bits(bits, sizeof bits, line->format, line->encoding);
  smma_encoding_bits(other, sizeof other, line->format, line->other);
  const double cell = encoding_cell(p, bits, line->remark);
  for (int i = 0; bits[i]; i++) {
    char digit[2] = {bits[i], 0};
    if (bits[i] != other[i]) {
      char style[64];
      snprintf(style, sizeof style, "fill=\"#f6e3ee\" stroke=\"%s\" stroke-width=\"1.2\"", mark_colour);
      smma_svg_rectangle(p->svg, (smma_svg_box){x + 1, p->y + 1, cell - 2, p->row - 2}, style);
    }
    if (bits[i] != ' ') draw_text(p, x + cell / 2, digit, SMMA_SVG_MIDDLE);
    x += bits[i] == ' ' ? cell / 2 : cell;
  }
  draw_text(p, x + GAP, line->remark, SMMA_SVG_START);
  p->y += p->row;
}

/* Draws a text below p->y, on several lines if it is wider than the picture's maximum width. */
static void draw_wrapped(picture *p, double x, const smma_svg_font *font, const char *text) {
  char line[512] = "";
  for (size_t length; *text; text += length + strspn(text + length, " ")) {
    const size_t before = strlen(line);
    length = strcspn(text, " ");
    snprintf(line + before, sizeof line - before, "%s%.*s", before ? " " : "", (int)length, text);
    if (before == 0 || p->width == 0 || x + smma_svg_text_width(font, line) <= p->width) continue;
    line[before] = 0;
    smma_svg_text(p->svg, x, p->y + font->size, font, line);
    p->y += 1.3 * font->size;
    snprintf(line, sizeof line, "%.*s", (int)length, text);
  }
  smma_svg_text(p->svg, x, p->y + font->size, font, line);
  p->y += font->size;
}

/* Draws a line of words over the whole width, in the style of the line's kind. */
static void draw_words(picture *p, const smma_line *line) {
  smma_svg_font font = p->sans;
  bool title = line->kind == SMMA_LINE_TITLE, indented = line->kind == SMMA_LINE_NOTE;
  font.bold = line->kind == SMMA_LINE_UNIT || line->kind == SMMA_LINE_DIFFERENCE;
  if (line->kind == SMMA_LINE_UNIT) font.size += 3;
  if (line->kind == SMMA_LINE_UNIT || title) p->y += 0.6 * p->row;
  if (line->kind == SMMA_LINE_DIFFERENCE || line->marked) font.colour = mark_colour;
  p->y += 0.2 * p->row;
  draw_wrapped(p, indented ? p->label_x : MARGIN, &font, line->text);
  p->y += 0.3 * p->row;
}

static void draw_rule(picture *p) {
  smma_svg_line(p->svg, p->sign_x, p->y + 2, cell_x(p, p->axis.cells), p->y + 2,
                "stroke=\"#000000\" stroke-width=\"1\"");
  p->y += 4;
}

/* Marks the line between `top` and p->y: draws a frame around it and a pointer in the margin. */
static void draw_mark(picture *p, double top) {
  double right = cell_x(p, p->axis.cells) + 3, middle = (top + p->y) / 2;
  char style[64];
  snprintf(style, sizeof style, "fill=\"none\" stroke=\"%s\" stroke-width=\"1.4\"", mark_colour);
  smma_svg_rectangle(p->svg, (smma_svg_box){MARGIN + GAP / 2, top, right - MARGIN - GAP / 2, p->y - top}, style);
  fprintf(p->svg->body, "<path d=\"M%g %gl8 5l-8 5z\" fill=\"%s\"/>\n", MARGIN - 6, middle - 5, mark_colour);
}

static void draw_line(picture *p, const smma_line *line) {
  double top = p->y;
  bool words = false;
  switch (line->kind) {
    case SMMA_LINE_AXIS: draw_axis(p, line); break;
    case SMMA_LINE_RULE: draw_rule(p); break;
    case SMMA_LINE_ENCODING: draw_encoding(p, line); break;
    case SMMA_LINE_TERM:
    case SMMA_LINE_SUM:
    case SMMA_LINE_NORMALISED:
    case SMMA_LINE_RESULT: draw_number(p, line); break;
    default:
      draw_words(p, line);
      words = true;
      break;
  }
  if (line->marked && !words) draw_mark(p, top);
}

/* ---- The legend ---- */

static double draw_sample(picture *p, double x, const shade *s, const char *text) {
  smma_svg_font font = p->sans;
  smma_svg_box box = {x, p->y + 1.5, WIDEST_CELL, p->row - 3};
  smma_svg_blocks_begin(p->svg, s->one);
  smma_svg_block(p->svg, box);
  smma_svg_blocks_end(p->svg);
  box.x += WIDEST_CELL + 1;
  smma_svg_blocks_begin(p->svg, s->zero);
  smma_svg_block(p->svg, box);
  smma_svg_blocks_end(p->svg);
  x = box.x + WIDEST_CELL + 4;
  smma_svg_text(p->svg, x, base_line(p), &font, text);
  return x + smma_svg_text_width(&font, text) + GAP;
}

static bool uses(const picture *p, const shade *s) {
  for (int i = 0; i < p->lines->count; i++) {
    const smma_line *line = &p->lines->line[i];
    for (int weight = line->bits.top; !line->bits.zero && weight >= lowest_drawn(line); weight--)
      if (shade_of(line, weight) == s) return true;
  }
  return false;
}

static void draw_legend(picture *p) {
  static const struct {
    const shade *s;
    const char *text;
  } sample[] = {{&kept, "term"},       {&cut, "truncated by alignment, or flushed"},
                {&total, "sum"},       {&carry, "carry above the terms"},
                {&guard, "guard bit"}, {&rest, "rest"},
                {&result, "result"}};
  double x = MARGIN, right = cell_x(p, p->axis.cells);
  if (right < LEAST_WIDTH) right = LEAST_WIDTH;
  if (p->width > 0) right = p->width;
  p->y += 0.8 * p->row;
  for (size_t i = 0; i < sizeof sample / sizeof *sample; i++) {
    double width = 2 * WIDEST_CELL + 5 + smma_svg_text_width(&p->sans, sample[i].text);
    if (!uses(p, sample[i].s)) continue;
    if (x > MARGIN && x + width > right) x = MARGIN, p->y += p->row + 2;
    x = draw_sample(p, x, sample[i].s, sample[i].text);
  }
  p->y += p->row + 5;
  draw_wrapped(p, MARGIN, &p->sans,
               "Full colour: 1, faint: 0. Grey: bits that alignment keeps, or of the significand; dashed: its limit; "
               "framed: its last bit. Zigzag: left out.");
}

static bool has_bits(const picture *p) {
  for (int i = 0; i < p->lines->count; i++)
    if (!p->lines->line[i].bits.zero) return true;
  return false;
}

/* ---- The whole ---- */

static bool draw(picture *p, const smma_explained *unit, int count, bool brief) {
  smma_lines lines;
  bool done = smma_lines_make(&lines, unit, count, brief);
  p->lines = &lines;
  done = done && make_axis(p);
  if (done && !brief && p->axis.cells > MOST_CELLS) {
    smma_lines_free(&lines);
    return draw(p, unit, count, true);
  }
  if (done) {
    p->y = MARGIN;
    set_sizes(p);
    fit(p);
    for (int i = 0; i < lines.count; i++)
      if (p->with.values || i + 1 == lines.count || lines.line[i + 1].kind != SMMA_LINE_ENCODING)
        draw_line(p, &lines.line[i]);
    if (has_bits(p)) draw_legend(p);
  }
  smma_lines_free(&lines);
  return done && !p->svg->failed;
}

bool smma_picture_draw(smma_svg *svg, const smma_explained *unit, int count, double width) {
  picture *p = malloc(sizeof *p);
  bool done;
  if (!p) return false;
  p->svg = svg;
  p->width = width > 0 ? width - MARGIN : 0;
  done = draw(p, unit, count, false);
  free(p);
  return done;
}

bool smma_picture_write(FILE *stream, const smma_explained *unit, int count, double width) {
  char title[200];
  smma_svg svg;
  const smma_locale locale = smma_locale_enter();
  bool done = smma_svg_open(&svg) && smma_picture_draw(&svg, unit, count, width);
  snprintf(title, sizeof title, "d = %s on %.70s%s%.70s, bit by bit", smma_explain_sum_text(unit[0].operation),
           unit[0].unit, count > 1 ? " and " : "", count > 1 ? unit[1].unit : "");
  if (done) smma_svg_write(stream, &svg, title, MARGIN);
  smma_svg_close(&svg);
  smma_locale_leave(locale);
  return done;
}
