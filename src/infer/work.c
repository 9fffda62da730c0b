/* What all parts of a search do: ask the unit, learn from its results, report, and see whether the search must end. */
#include <stdarg.h>
#include <stdio.h>

#include "infer/inference.h"

uint64_t smma_inference_rows_asked(const smma_inference_work *x) { return x->asking.computed + x->asking.taken; }

bool smma_inference_are_rows_asked(const smma_inference_work *x) {
  return x->request->most_rows && smma_inference_rows_asked(x) >= x->request->most_rows;
}

bool smma_inference_is_budget_spent(const smma_inference_work *x) {
  return smma_fit_computed(&x->fit) >= x->request->budget;
}

bool smma_inference_must_end(const smma_inference_work *x) {
  return smma_units_stopped() || smma_inference_are_rows_asked(x);
}

static bool must_fit_end(void *context) {
  const smma_inference_work *x = context;
  return smma_inference_must_end(x) || smma_inference_is_budget_spent(x);
}

smma_fit_watch smma_inference_watch(smma_inference_work *x) { return (smma_fit_watch){must_fit_end, x}; }

void smma_inference_tell(const smma_inference_work *x, const char *format, ...) {
  char line[512];
  va_list arguments;
  if (!x->request->tell) return;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  x->request->tell(line, x->request->context);
}

bool smma_inference_ask(smma_inference_work *x, smma_rows *rows, size_t count) {
  return smma_asking_run(&x->asking, rows, count);
}

bool smma_inference_learn(smma_inference_work *x, smma_rows *rows, size_t count) {
  return smma_inference_ask(x, rows, count) &&
         (smma_samples_add(&x->samples, rows, 0, count) || smma_no_memory(x->error));
}
