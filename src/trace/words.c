/* Writes the events of a trace as text: the products of an instruction, and operations on its sum. */
#include <stdio.h>

#include "isa/format_name.h"
#include "trace/trace.h"

void smma_k_text(const smma_trace *t, size_t instruction, char *text, size_t size) {
  const size_t each = t->schedule.k_per_step, *k = t->schedule.k + instruction * each;
  size_t used = (size_t)snprintf(text, size, "%s", k[0] == SMMA_NO_PRODUCT ? "-" : "");
  for (size_t i = 0, last; i < each && k[i] != SMMA_NO_PRODUCT && used < size; i = last + 1) {
    for (last = i; last + 1 < each && k[last + 1] == k[last] + 1;) last++;
    used += (size_t)snprintf(text + used, size - used, "%s%zu", i ? ", " : "", k[i]);
    if (last > i && used < size) used += (size_t)snprintf(text + used, size - used, "..%zu", k[last]);
  }
}

static void fold_text(const smma_task *task, char *text, size_t size) {
  static const char *const what[] = {[SMMA_WITH_ADD] = "added",
                                     [SMMA_WITH_FMA] = "scaled and added",
                                     [SMMA_WITH_MULTIPLY_FMA] = "scaled and added",
                                     [SMMA_WITH_MULTIPLY_B_FMA] = "scaled and added"};
  size_t used = (size_t)snprintf(text, size, "part %s", task->kind == SMMA_TASK_MOVE ? "moved" : what[task->with]);
  if (task->to == task->from) used = (size_t)snprintf(text, size, "C begins a total"); /* and is rounded */
  if (task->stored >= 0 && used < size)
    used += (size_t)snprintf(text + used, size - used, " in %s", smma_format_text((smma_format)task->stored));
  if (task->total >= 0 && used < size)
    snprintf(text + used, size - used, ", total to %s", smma_format_text((smma_format)task->total));
}

void smma_event_text(const smma_trace *t, const smma_trace_event *e, char *text, size_t size) {
  static const char *const names[] = {"alpha", "alpha x + beta c", "x + beta c", "bias", "scale-d", "relu", "round",
                                      "clamp"};
  const smma_epilogue *operation = &t->epilogue[e->kind == SMMA_TRACE_EPILOGUE ? e->index : 0];
  const bool to = operation->kind == SMMA_EPILOGUE_ROUND || operation->kind == SMMA_EPILOGUE_CLAMP;
  switch (e->kind) {
    case SMMA_TRACE_START: snprintf(text, size, "C"); break;
    case SMMA_TRACE_INSTRUCTION: snprintf(text, size, "instruction %zu", e->index); break;
    case SMMA_TRACE_FOLD: fold_text(&t->schedule.task[e->index], text, size); break;
    case SMMA_TRACE_EPILOGUE:
      snprintf(text, size, "%s%s%s", names[operation->kind], to ? " " : "",
               to ? smma_format_text(operation->format) : "");
      break;
    case SMMA_TRACE_STORE: snprintf(text, size, "stored in %s", smma_format_text(t->d_format)); break;
  }
}
