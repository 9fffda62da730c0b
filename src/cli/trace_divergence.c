/* Prints the instruction at which two traced sums diverge, drawn bit by bit for both targets. */
#include <string.h>

#include "cli/output.h"
#include "cli/trace.h"
#include "rows/datum.h"

static const smma_trace *trace_of(const smma_trace_result *x, int side) {
  return &x->trace[x->divergence.target[side]];
}

static const char *name_of(const smma_trace_result *x, int side) { return x->name[x->divergence.target[side]]; }

/* Prints the instructions of one target at which the results diverge. */
static void print_alone(const smma_trace_result *x, int side) {
  const smma_explained_divergence *p = &x->divergence;
  const smma_trace *t = trace_of(x, side);
  const size_t count = smma_divergence_instructions(x, side);
  if (count > p->steps[side])
    printf("%s: the last %zu of %zu instructions between\n", name_of(x, side), p->steps[side], count);
  for (const smma_explained_step *step = p->step[side]; step < p->step[side] + p->steps[side]; step++) {
    char text[128], k[256];
    smma_event_text(t, &t->event[step->event], text, sizeof text);
    smma_k_text(t, t->event[step->event].index, k, sizeof k);
    printf("\n%s: %s, k = %s\n", name_of(x, side), text, k);
    smma_explain_print(stdout, &step->operation, &step->explanation, smma_terminal_width());
  }
}

/* Prints why the two targets cannot be drawn side by side, if they start from different sums. */
static void print_reason(const smma_trace_result *x) {
  char value[2][40];
  for (int s = 0; s < 2; s++)
    smma_value_text(trace_of(x, s)->operation.d, x->divergence.steps[s] ? x->divergence.step[s]->row.c : 0, value[s]);
  if (strcmp(value[0], value[1]) == 0)
    puts(":");
  else
    printf(": the former starts from %s, the latter from %s\n", value[0], value[1]);
}

static void print_folds(const smma_trace_result *x) {
  const smma_divergence *p = &x->divergence.found;
  for (int s = 0; s < 2; s++) {
    const smma_trace *t = trace_of(x, s);
    for (size_t e = p->first[s]; e <= p->last[s] && e < t->events; e++) {
      char text[128];
      smma_event_text(t, &t->event[e], text, sizeof text);
      printf("%s: %s: %.17g%s\n", name_of(x, s), text, t->event[e].value, t->event[e].rest != 0 ? " and more" : "");
    }
  }
}

static void print_together(const smma_trace_result *x) {
  const smma_trace *t = trace_of(x, 0);
  const smma_explained_step *const first = x->divergence.step[0], *const second = x->divergence.step[1];
  const smma_explained both[2] = {first->explained, second->explained};
  printf(", where k = %zu is a[0]*b[0]:\n", t->schedule.k[t->event[first->event].index * t->schedule.k_per_step]);
  smma_explain_print_two(stdout, both, smma_terminal_width());
}

void smma_trace_print_divergence(const smma_trace_result *x) {
  const smma_divergence *found = &x->divergence.found;
  if (!found->diverges) return;
  printf("\n%s and %s ", name_of(x, 0), name_of(x, 1));
  switch (found->kind) {
    case SMMA_TRACE_FOLD:
      printf("diverge after %zu products, where parts are folded:\n", found->products);
      print_folds(x);
      return;
    case SMMA_TRACE_EPILOGUE:
      printf("diverge after the sum, which is the same:\n");
      print_folds(x);
      return;
    default: break;
  }
  printf("diverge between %zu and %zu products", found->before, found->products);
  if (x->divergence.together) {
    print_together(x);
    return;
  }
  print_reason(x);
  for (int s = 0; s < 2; s++) print_alone(x, s);
}
