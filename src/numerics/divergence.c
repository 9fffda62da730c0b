/* Finds the point at which the traces of two products diverge. */
#include <math.h>

#include "numerics/trace.h"

static bool same(const smma_trace_event *x, const smma_trace_event *y) {
  if (isnan(x->value) || isnan(y->value)) return isnan(x->value) && isnan(y->value);
  return x->value == y->value && x->rest == y->rest && signbit(x->value) == signbit(y->value);
}

/* Returns the first event of an instruction, from `at` on, after which the summed products are exactly those of k = 0
   to products - 1. Returns the number of events if there is none. */
static size_t next_whole(const smma_trace *t, size_t at) {
  while (at < t->events && !(t->event[at].kind == SMMA_TRACE_INSTRUCTION && t->event[at].whole)) at++;
  return at;
}

/* Returns the last of the folds that directly follow event `at`; if none follows, returns `at`. */
static size_t last_fold(const smma_trace *t, size_t at) {
  while (at + 1 < t->events && t->event[at + 1].kind == SMMA_TRACE_FOLD) at++;
  return at;
}

/* Advances at[0] and at[1] to the next events after which both traces have summed the same products; the current events
   count, too. Returns false if there are no such events. */
static bool find_common(const smma_trace *const t[2], size_t at[2]) {
  for (int u = 0; u < 2; u++) at[u] = next_whole(t[u], at[u]);
  while (at[0] < t[0]->events && at[1] < t[1]->events) {
    const size_t n = t[0]->event[at[0]].products, m = t[1]->event[at[1]].products;
    const int behind = n > m;
    if (n == m) return true;
    at[behind] = next_whole(t[behind], at[behind] + 1);
  }
  return false;
}

static bool same_results(const smma_trace *const t[2]) {
  const smma_number d[2] = {smma_decode(smma_encoding_of(t[0]->d_format), t[0]->d),
                            smma_decode(smma_encoding_of(t[1]->d_format), t[1]->d)};
  if (d[0].kind == SMMA_NAN && d[1].kind == SMMA_NAN) return true;
  if (t[0]->d_format == t[1]->d_format) return t[0]->d == t[1]->d;
  return t[0]->events && t[1]->events && same(&t[0]->event[t[0]->events - 1], &t[1]->event[t[1]->events - 1]);
}

smma_divergence smma_find_divergence(const smma_trace *first, const smma_trace *second) {
  const smma_trace *const t[2] = {first, second};
  smma_divergence p = {.diverges = true};
  size_t at[2] = {0, 0};
  bool rest = false;
  while (find_common(t, at)) {
    const smma_trace_event *x = &first->event[at[0]], *y = &second->event[at[1]];
    p.products = x->products;
    p.kind = SMMA_TRACE_INSTRUCTION;
    for (int u = 0; u < 2; u++) p.last[u] = at[u];
    if (!same(x, y)) return p;
    p.kind = SMMA_TRACE_FOLD;
    for (int u = 0; u < 2; u++) p.last[u] = last_fold(t[u], at[u]);
    if (!same(&first->event[p.last[0]], &second->event[p.last[1]])) {
      for (int u = 0; u < 2; u++) p.first[u] = at[u];
      return p;
    }
    p.before = p.products;
    for (int u = 0; u < 2; u++) p.first[u] = at[u] = p.last[u] + 1;
  }
  for (int u = 0; u < 2; u++) {
    for (size_t e = p.first[u]; e < t[u]->events; e++) rest = rest || t[u]->event[e].kind == SMMA_TRACE_INSTRUCTION;
    p.last[u] = t[u]->events ? t[u]->events - 1 : 0;
    if (t[u]->events && t[u]->event[p.last[u]].products > p.products) p.products = t[u]->event[p.last[u]].products;
  }
  p.kind = rest ? SMMA_TRACE_INSTRUCTION : SMMA_TRACE_EPILOGUE;
  p.diverges = !same_results(t);
  return p;
}
