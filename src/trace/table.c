#include "trace/table.h"

#include <math.h>
#include <stdlib.h>

#include "explain/curves.h"
#include "host/load.h"
#include "host/order.h"
#include "numerics/compare.h"

/* Tables with at most this many lines are shown whole. Folds and the operations after the sum do not count. */
enum { MOST_LINES = 24 };

/* ---- Facts about a trace ---- */

double smma_trace_loss(const smma_trace *t, size_t event) {
  return t->event[event].error - (event ? t->event[event - 1].error : 0);
}

smma_trace_extremes smma_trace_extremes_of(const smma_trace *t) {
  smma_trace_extremes x = {SMMA_NO_EVENT, SMMA_NO_EVENT};
  double most_error = 0, most_loss = 0;
  for (size_t e = 0; e < t->events; e++) {
    const double error = fabs(t->event[e].error), loss = fabs(smma_trace_loss(t, e));
    if (error > most_error) most_error = error, x.error = e;
    if (loss > most_loss && t->event[e].kind != SMMA_TRACE_EPILOGUE) most_loss = loss, x.loss = e;
  }
  return x;
}

bool smma_trace_ulps(const smma_trace *t, uint64_t *ulps) {
  const size_t bytes = smma_format_bytes(t->d_format);
  uint64_t d = 0, best = 0;
  smma_comparison c;
  smma_store(bytes, &d, 0, t->d);
  smma_store(bytes, &best, 0, t->best);
  c = smma_compare_results(t->d_format, &d, &best, 1);
  *ulps = c.largest_ulps;
  return t->has_best && !c.special;
}

size_t smma_trace_event_at(const smma_trace *t, size_t products, bool folded) {
  size_t low = 0, high = t->events;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (t->event[middle].products < products)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == t->events || t->event[low].products != products || t->event[low].kind >= SMMA_TRACE_EPILOGUE)
    return SMMA_NO_EVENT;
  while (folded && low + 1 < t->events && t->event[low + 1].kind == SMMA_TRACE_FOLD &&
         t->event[low + 1].products == products)
    low++;
  return low;
}

bool smma_trace_folds_change(const smma_trace_result *x, size_t products) {
  for (size_t u = 0; u < x->request->targets; u++) {
    const smma_trace *t = &x->trace[u];
    const size_t before = smma_trace_event_at(t, products, false), behind = smma_trace_event_at(t, products, true);
    if (before != behind &&
        (t->event[before].value != t->event[behind].value || t->event[before].rest != t->event[behind].rest))
      return true;
  }
  return false;
}

static double last_exact(const smma_trace *t) { return t->events ? t->event[t->events - 1].exact : 0; }

static bool same_exact(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

/* Reports whether all targets have the same exact sum at each line and at the end. */
static bool have_one_exact(const smma_trace_result *x, const smma_trace_table *table) {
  for (size_t u = 1; u < x->request->targets; u++)
    if (!same_exact(last_exact(&x->trace[u]), last_exact(&x->trace[0]))) return false;
  for (size_t i = 0; i < table->count; i++) {
    const smma_trace_event *first = NULL;
    for (size_t u = 0; u < x->request->targets; u++) {
      const size_t e = smma_trace_event_at(&x->trace[u], table->line[i].products, false);
      if (e == SMMA_NO_EVENT) continue;
      if (first && !same_exact(x->trace[u].event[e].exact, first->exact)) return false;
      if (!first) first = &x->trace[u].event[e];
    }
  }
  return true;
}

/* ---- Choice of the lines ---- */

/* A list of numbers of products, each of which stands for a line of the table. */
typedef struct {
  size_t *products, count; /* the numbers; how many there are */
} numbers;

static void add(numbers *n, size_t products) { n->products[n->count++] = products; }

/* Lists the numbers of products after which every target has a sum of an instruction. */
static void list_common(const smma_trace_result *x, numbers *all) {
  const smma_trace *first = &x->trace[0];
  for (size_t e = 0; e < first->events; e++) {
    const size_t n = first->event[e].products;
    bool everywhere = first->event[e].kind == SMMA_TRACE_INSTRUCTION;
    for (size_t u = 1; everywhere && u < x->request->targets; u++)
      everywhere = smma_trace_event_at(&x->trace[u], n, false) != SMMA_NO_EVENT;
    if (everywhere) add(all, n);
  }
}

/* Chooses numbers from a long list: the first two and the last two, those at indices near powers of two, and those
   around `middle` unless that is 0. */
static void choose(const numbers *all, size_t middle, numbers *chosen) {
  for (size_t i = 0; i < 2; i++) add(chosen, all->products[i]), add(chosen, all->products[all->count - 1 - i]);
  for (size_t step = 1; step < all->count; step *= 2 + 2 * (all->count > 4096)) add(chosen, all->products[step - 1]);
  for (size_t i = 0; middle && i < all->count; i++) {
    if (all->products[i] < middle) continue;
    if (i) add(chosen, all->products[i - 1]);
    add(chosen, all->products[i]);
    if (i + 1 < all->count) add(chosen, all->products[i + 1]);
    break;
  }
}

/* Adds the numbers of products at the greatest error and the greatest loss of each target, and at the last events, at
   most four on each side, before two targets diverge. */
static void add_events(const smma_trace_result *x, numbers *chosen) {
  const smma_divergence *p = &x->divergence.found;
  for (size_t u = 0; u < x->request->targets; u++) {
    const smma_trace *t = &x->trace[u];
    const smma_trace_extremes e = smma_trace_extremes_of(t);
    if (e.error != SMMA_NO_EVENT && t->event[e.error].products) add(chosen, t->event[e.error].products);
    if (e.loss != SMMA_NO_EVENT && t->event[e.loss].products) add(chosen, t->event[e.loss].products);
  }
  for (int side = 0; p->diverges && side < 2; side++) {
    const smma_trace *t = &x->trace[x->divergence.target[side]];
    const size_t last = p->last[side], first = p->first[side];
    for (size_t e = last >= first + 4 ? last - 3 : first; e <= last && e < t->events; e++)
      if (t->event[e].products) add(chosen, t->event[e].products);
  }
}

/* Sorts the chosen numbers, and makes a line for each different number. */
static void make_lines(const numbers *all, numbers *chosen, smma_trace_table *table) {
  size_t at = 0;
  qsort(chosen->products, chosen->count, sizeof *chosen->products, smma_order_sizes);
  for (size_t i = 0; i < chosen->count; i++) {
    const size_t products = chosen->products[i];
    if (i && chosen->products[i - 1] == products) continue;
    table->line[table->count] = (smma_trace_line){products, at < all->count && all->products[at] < products};
    while (at < all->count && all->products[at] < products) at++;
    at += at < all->count && all->products[at] == products;
    table->count++;
  }
}

bool smma_trace_table_of(const smma_trace_result *x, smma_trace_table *table, smma_error *error) {
  enum { MOST_CHOSEN = 2 * MOST_LINES + 200 };
  numbers all = {.products = malloc((x->trace[0].events + 1) * sizeof *all.products)};
  numbers chosen = {.products = malloc(MOST_CHOSEN * sizeof *chosen.products)};
  *table = (smma_trace_table){.line = malloc(MOST_CHOSEN * sizeof *table->line)};
  const bool done = all.products && chosen.products && table->line;
  if (done) {
    list_common(x, &all);
    if (all.count > MOST_LINES)
      choose(&all, x->divergence.found.diverges ? x->divergence.found.products : 0, &chosen);
    else
      for (size_t i = 0; i < all.count; i++) add(&chosen, all.products[i]);
    add_events(x, &chosen);
    make_lines(&all, &chosen, table);
    table->one_exact = have_one_exact(x, table);
  }
  free(all.products), free(chosen.products);
  return done || smma_no_memory(error);
}

/* ---- The picture ---- */

bool smma_trace_draw(FILE *stream, const smma_trace_result *x, const char *subtitle) {
  const size_t targets = x->request->targets;
  smma_curve curve[SMMA_MOST_TRACED] = {{NULL, NULL, 0}};
  char title[128], mark[200];
  bool drawn = true, in_order = true;
  for (size_t i = 0; i < targets && drawn; i++) { /* the points of operations after the sum are at the end of the sum */
    const smma_trace *t = &x->trace[i];
    smma_point *point = malloc((t->events + 1) * sizeof *point);
    for (size_t e = 0; point && e < t->events; e++)
      point[e] = (smma_point){(double)t->event[e].products, t->event[e].error};
    curve[i] = (smma_curve){x->name[i], point, t->events};
    in_order = in_order && t->in_order;
    drawn = point;
  }
  snprintf(title, sizeof title, "Error of D[%zu, %zu], K = %zu", x->at[0], x->at[1], x->request->k);
  snprintf(mark, sizeof mark, "%s and %s diverge", x->name[x->divergence.target[0]], x->name[x->divergence.target[1]]);
  const smma_curves c = {
      .title = title,
      .subtitle = subtitle,
      .x_title = in_order ? "products summed, k in order" : "products summed, in each plan's own order",
      .y_title = "sum so far - exact sum",
      .curve = curve,
      .count = targets,
      .mark = (double)x->divergence.found.products,
      .mark_text = x->divergence.found.diverges ? mark : NULL};
  drawn = drawn && smma_curves_write(stream, &c);
  for (size_t i = 0; i < targets; i++) free((void *)curve[i].point);
  return drawn;
}
