#include "explain/curves.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "explain/svg.h"
#include "host/locale.h"

#define LEFT 96.0
#define TOP 74.0
#define WIDTH 760.0
#define HEIGHT 380.0
#define LEGEND_ROW 18.0

/* Number of columns of points. Of each, only the first, the least, the greatest and the last point are drawn. */
#define COLUMNS 1520

/* Colours of the curves, from Okabe and Ito's palette. The first curves are solid; when all colours are used, curves
   are dashed. */
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};
enum { COLOURS = sizeof colours / sizeof *colours, MOST_TICKS = 64 };

static const char axis_line[] = "stroke=\"#404040\" stroke-width=\"1\"";
static const char grid_line[] = "stroke=\"#e0e0e0\" stroke-width=\"1\"";

typedef struct {
  const smma_curves *curves;
  smma_svg svg;
  double x_end;        /* x goes from 0 to this value */
  double linear;       /* y is linear up to this value */
  double below, above; /* the ends of the y axis, as values of `scaled` */
  smma_svg_font font;
} plot;

/* ---- The axes ---- */

/* Returns the position of y on the axis: y / linear in the linear range, and outside of it a logarithm, with one unit
   for each decade. */
static double scaled(const plot *p, double y) {
  const double size = fabs(y) / p->linear;
  return copysign(size <= 1 ? size : 1 + log10(size), y);
}

static double place_x(const plot *p, double x) { return LEFT + WIDTH * x / p->x_end; }
static double place_y(const plot *p, double y) {
  return TOP + HEIGHT * (p->above - scaled(p, y)) / (p->above - p->below);
}

/* Returns the greatest finite magnitude of a curve. */
static double reach_of(const smma_curve *c) {
  double reach = 0;
  for (size_t i = 0; i < c->count; i++)
    if (isfinite(c->point[i].y) && fabs(c->point[i].y) > reach) reach = fabs(c->point[i].y);
  return reach;
}

static void find_ends(plot *p) {
  double least = INFINITY, most = 0, below = 0, above = 0;
  p->x_end = 0;
  for (size_t i = 0; i < p->curves->count; i++) {
    const smma_curve *c = &p->curves->curve[i];
    const double reach = reach_of(c);
    if (reach > 0 && reach < least) least = reach;
    if (reach > most) most = reach;
    if (c->count && c->point[c->count - 1].x > p->x_end) p->x_end = c->point[c->count - 1].x;
  }
  p->linear = most > 10 * least ? least : most;
  if (!(p->linear >= DBL_MIN)) p->linear = 1;
  if (!(p->x_end > 0)) p->x_end = 1;
  for (size_t i = 0; i < p->curves->count; i++)
    for (size_t j = 0; j < p->curves->curve[i].count; j++) {
      const double y = p->curves->curve[i].point[j].y;
      if (isfinite(y) && y < below) below = y;
      if (isfinite(y) && y > above) above = y;
    }
  p->below = scaled(p, below), p->above = scaled(p, above);
  if (p->above == p->below) p->below = -1, p->above = 1;
  const double room = 0.05 * (p->above - p->below);
  p->below -= room, p->above += room;
}

/* Returns a distance of ticks near `distance`: 1, 2 or 5 times a power of ten. */
static double tick_step(double distance) {
  const double power = pow(10, floor(log10(distance))), times = distance / power;
  return power * (times < 1.5 ? 1 : times < 3.5 ? 2 : times < 7.5 ? 5 : 10);
}

static void draw_tick_y(plot *p, double y) {
  const double at = place_y(p, y);
  char text[32];
  if (at < TOP || at > TOP + HEIGHT) return;
  snprintf(text, sizeof text, "%.4g", y);
  smma_svg_line(&p->svg, LEFT, at, LEFT + WIDTH, at, y == 0 ? axis_line : grid_line);
  p->font.anchor = SMMA_SVG_END;
  smma_svg_text(&p->svg, LEFT - 8, at + 4, &p->font, text);
}

/* Reports whether the y axis extends beyond the linear range by more than its margin. */
static bool has_logarithm(const plot *p) { return fmax(-p->below, p->above) > 1.2; }

static void draw_axis_y(plot *p) {
  const double reach = p->linear * pow(10, fmax(fmax(-p->below, p->above) - 1, 0));
  draw_tick_y(p, 0);
  if (!has_logarithm(p)) {
    const double step = tick_step((p->above - p->below) / 7 * p->linear);
    for (int i = 1; i <= MOST_TICKS && i * (step / 2) <= p->linear; i++)
      draw_tick_y(p, i * step), draw_tick_y(p, -i * step);
    return;
  }
  const int last = (int)floor(log10(fmin(reach, DBL_MAX))), whole = (int)ceil(log10(p->linear));
  const int first = whole - (pow(10, whole - 1) > 0.3 * p->linear), step = 1 + (last - first) / 6;
  for (int e = first; e <= last; e += step) draw_tick_y(p, pow(10, e)), draw_tick_y(p, -pow(10, e));
}

static void draw_axis_x(plot *p) {
  const double step = fmax(tick_step(p->x_end / 8), 1);
  p->font.anchor = SMMA_SVG_MIDDLE;
  for (int i = 0; i * step <= p->x_end; i++) {
    const double x = place_x(p, i * step);
    char text[32];
    snprintf(text, sizeof text, "%.10g", i * step);
    smma_svg_line(&p->svg, x, TOP, x, TOP + HEIGHT, i ? grid_line : axis_line);
    smma_svg_text(&p->svg, x, TOP + HEIGHT + 18, &p->font, text);
  }
  smma_svg_line(&p->svg, LEFT, TOP + HEIGHT, LEFT + WIDTH, TOP + HEIGHT, axis_line);
}

/* ---- The curves ---- */

static void draw_point(plot *p, smma_point point, bool *pen) {
  fprintf(p->svg.body, "%c%.6g %.6g", *pen ? 'L' : 'M', place_x(p, point.x), place_y(p, point.y));
  *pen = true;
}

/* Draws the points in the column of point `first`: of many points, only the first, the least, the greatest and the
   last. Returns the index of the next point. */
static size_t draw_column(plot *p, const smma_curve *c, size_t first, bool *pen) {
  const double column = floor(c->point[first].x / p->x_end * COLUMNS);
  size_t least = first, most = first, last = first;
  for (size_t i = first; i < c->count && floor(c->point[i].x / p->x_end * COLUMNS) == column; i++) {
    if (!isfinite(c->point[i].y)) break;
    if (c->point[i].y < c->point[least].y) least = i;
    if (c->point[i].y > c->point[most].y) most = i;
    last = i;
  }
  const size_t order[] = {first, least < most ? least : most, least < most ? most : least, last};
  for (size_t i = 0; i < 4; i++)
    if (i == 0 || order[i] != order[i - 1]) draw_point(p, c->point[order[i]], pen);
  return last + 1;
}

static void curve_style(size_t index, char style[160]) {
  snprintf(style, 160, "fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" stroke-linejoin=\"round\"%s",
           colours[index % COLOURS], index >= COLOURS ? " stroke-dasharray=\"5 3\"" : "");
}

static bool has_point(const smma_curve *c, size_t i) { return i < c->count && isfinite(c->point[i].y); }

/* Draws a dot for each point without a neighbour, which a line does not show. */
static void draw_lone_points(plot *p, size_t index) {
  const smma_curve *c = &p->curves->curve[index];
  for (size_t i = 0; i < c->count; i++) {
    if (!has_point(c, i) || has_point(c, i + 1) || (i > 0 && has_point(c, i - 1))) continue;
    fprintf(p->svg.body, "<circle cx=\"%.6g\" cy=\"%.6g\" r=\"2.5\" fill=\"%s\"/>\n", place_x(p, c->point[i].x),
            place_y(p, c->point[i].y), colours[index % COLOURS]);
  }
}

static void draw_curve(plot *p, size_t index) {
  const smma_curve *c = &p->curves->curve[index];
  char style[160];
  bool pen = false, any = false;
  curve_style(index, style);
  smma_svg_group_begin(&p->svg, "curve", c->name);
  for (size_t i = 0; i < c->count;) {
    if (!isfinite(c->point[i].y)) {
      pen = false, i++;
      continue;
    }
    if (!any) fputs("<path d=\"", p->svg.body);
    any = true;
    i = draw_column(p, c, i, &pen);
  }
  if (any) fprintf(p->svg.body, "\" %s/>\n", style);
  draw_lone_points(p, index);
  smma_svg_group_end(&p->svg);
}

static void draw_legend(plot *p) {
  double x = LEFT, y = TOP + HEIGHT + 58;
  p->font.anchor = SMMA_SVG_START;
  for (size_t i = 0; i < p->curves->count; i++) {
    const char *name = p->curves->curve[i].name;
    const double width = 30 + smma_svg_text_width(&p->font, name) + 24;
    char style[160];
    if (x > LEFT && x + width > LEFT + WIDTH) x = LEFT, y += LEGEND_ROW;
    curve_style(i, style);
    smma_svg_line(&p->svg, x, y - 4, x + 24, y - 4, style);
    smma_svg_text(&p->svg, x + 30, y, &p->font, name);
    x += width;
  }
}

static void draw_mark(plot *p) {
  const double x = place_x(p, p->curves->mark), middle = LEFT + WIDTH / 2;
  if (!p->curves->mark_text) return;
  smma_svg_line(&p->svg, x, TOP, x, TOP + HEIGHT, "stroke=\"#a0407a\" stroke-width=\"1.2\" stroke-dasharray=\"4 3\"");
  p->font.anchor = x < middle ? SMMA_SVG_START : SMMA_SVG_END;
  p->font.colour = "#a0407a";
  smma_svg_text(&p->svg, x + (x < middle ? 5 : -5), TOP + 13, &p->font, p->curves->mark_text);
  p->font.colour = NULL;
}

static void draw_titles(plot *p) {
  const smma_curves *c = p->curves;
  char y_title[200];
  const smma_svg_font bold = {.size = 15, .bold = true};
  smma_svg_text(&p->svg, LEFT, 24, &bold, c->title);
  p->font.anchor = SMMA_SVG_START;
  smma_svg_text(&p->svg, LEFT, 44, &p->font, c->subtitle);
  snprintf(y_title, sizeof y_title, "%.100s", c->y_title);
  if (has_logarithm(p))
    snprintf(y_title + strlen(y_title), sizeof y_title - strlen(y_title), "; beyond %.3g: its logarithm", p->linear);
  smma_svg_text(&p->svg, 12, TOP - 8, &p->font, y_title);
  p->font.anchor = SMMA_SVG_MIDDLE;
  smma_svg_text(&p->svg, LEFT + WIDTH / 2, TOP + HEIGHT + 36, &p->font, c->x_title);
}

bool smma_curves_write(FILE *stream, const smma_curves *curves) {
  plot p = {.curves = curves, .font = {.size = 12}};
  smma_locale locale;
  bool drawn;
  if (!smma_svg_open(&p.svg)) return false;
  locale = smma_locale_enter();
  find_ends(&p);
  draw_axis_x(&p);
  draw_axis_y(&p);
  for (size_t i = 0; i < curves->count; i++) draw_curve(&p, i);
  draw_mark(&p);
  draw_titles(&p);
  draw_legend(&p);
  drawn = !p.svg.failed;
  if (drawn) smma_svg_write(stream, &p.svg, curves->title, 16);
  smma_svg_close(&p.svg);
  smma_locale_leave(locale);
  return drawn;
}
