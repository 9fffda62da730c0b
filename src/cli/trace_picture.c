#include <stdlib.h>

#include "cli/output.h"
#include "cli/trace.h"
#include "explain/curves.h"

/* Returns a target's error after each instruction, fold and operation. Operations after the sum are at its end. */
static smma_curve curve_of(const char *name, const smma_trace *t) {
  smma_point *point = malloc((t->events + 1) * sizeof *point);
  if (!point) smma_die("out of memory");
  for (size_t e = 0; e < t->events; e++) point[e] = (smma_point){(double)t->event[e].products, t->event[e].error};
  return (smma_curve){name, point, t->events};
}

void smma_trace_draw(const smma_command_trace_study *x, const char *path) {
  const smma_trace_result *r = &x->result;
  const size_t targets = r->request->targets;
  smma_curve curve[SMMA_MOST_TRACED];
  char title[128], subtitle[400], mark[200];
  smma_output output;
  bool drawn, in_order = true;
  for (size_t i = 0; i < targets; i++) {
    curve[i] = curve_of(r->name[i], &r->trace[i]);
    in_order = in_order && r->trace[i].in_order;
  }
  snprintf(title, sizeof title, "Error of D[%zu, %zu], K = %zu", r->at[0], r->at[1], r->request->k);
  snprintf(subtitle, sizeof subtitle, "%.150s times %.150s", x->path[0], x->path[1]);
  snprintf(mark, sizeof mark, "%s and %s part", r->name[r->parting.target[0]], r->name[r->parting.target[1]]);
  smma_curves c = {.title = title,
                   .subtitle = subtitle,
                   .x_title = in_order ? "products summed, k in order" : "products summed, in each plan's own order",
                   .y_title = "sum so far - exact sum",
                   .curve = curve,
                   .count = targets,
                   .mark = (double)r->parting.found.products,
                   .mark_text = r->parting.found.parted ? mark : NULL};
  smma_begin_output(path, "--svg", &output);
  drawn = smma_curves_write(output.stream, &c);
  for (size_t i = 0; i < targets; i++) free((void *)curve[i].point);
  if (!drawn) {
    smma_drop_output(&output);
    smma_die("out of memory");
  }
  if (smma_end_output(&output, "--svg") != SMMA_EXIT_EQUAL) exit(SMMA_EXIT_FAILED);
}
