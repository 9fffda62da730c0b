/* Converts traces to data. */
#include "explain/datum.h"

#include "isa/format_name.h"
#include "rows/datum.h"
#include "trace/table.h"

static smma_datum *event_datum(const smma_trace *t, const smma_trace_event *e) {
  static const char *const kinds[] = {"start", "instruction", "fold", "epilogue", "store"};
  const smma_format format = e->kind == SMMA_TRACE_STORE ? t->d_format : t->outer;
  char hex[24], text[1024];
  smma_datum *record = smma_datum_record();
  smma_event_text(t, e, text, sizeof text);
  smma_put_text(record, "kind", kinds[e->kind]);
  smma_put_text(record, "what", text);
  smma_put_count(record, "products", e->products);
  smma_put_text(record, "there", smma_hex_text(format, e->encoding, hex));
  smma_put_real(record, "sum", e->value);
  smma_put_real(record, "exact", e->exact);
  smma_put_real(record, "error", e->error);
  if (e->kind != SMMA_TRACE_INSTRUCTION) return record;
  smma_k_text(t, e->index, text, sizeof text);
  smma_put_text(record, "k", text);
  return record;
}

/* Puts a record with an amount and the number of products after `event`, or null if `event` is SMMA_NO_EVENT. */
static void put_extreme(smma_datum *record, const char *key, const smma_trace *t, size_t event, double amount) {
  smma_datum *extreme = event == SMMA_NO_EVENT ? smma_datum_null() : smma_datum_record();
  if (event != SMMA_NO_EVENT) {
    smma_put_real(extreme, "error", amount);
    smma_put_count(extreme, "products", t->event[event].products);
  }
  smma_datum_put(record, key, extreme);
}

/* Puts the distance of D from the exact result, and the largest error and the largest loss of the sums. */
static void put_facts(smma_datum *record, const smma_trace *t) {
  const smma_trace_extremes e = smma_trace_extremes_of(t);
  uint64_t ulps;
  smma_datum_put(record, "ulp", smma_trace_ulps(t, &ulps) ? smma_datum_count((int64_t)ulps) : smma_datum_null());
  put_extreme(record, "largest_error", t, e.error, e.error == SMMA_NO_EVENT ? 0 : t->event[e.error].error);
  put_extreme(record, "most_lost", t, e.loss, e.loss == SMMA_NO_EVENT ? 0 : smma_trace_loss(t, e.loss));
}

static smma_datum *target_datum(const smma_trace_result *x, size_t target, size_t every) {
  const smma_product_target *of = &x->request->target[target];
  const smma_trace *t = &x->trace[target];
  smma_datum *record = smma_datum_record(), *steps = smma_datum_list();
  char hex[24];
  for (size_t e = 0; e < t->events; e++)
    if ((e + 1) % every == 0 || e + 1 == t->events) smma_datum_append(steps, event_datum(t, &t->event[e]));
  smma_put_text(record, "name", x->name[target]);
  smma_put_target(record, of);
  smma_put_text(record, "plan", of->product.plan ? of->plan : NULL);
  smma_put_count(record, "instructions", t->schedule.steps);
  smma_put_count(record, "folds", t->folds);
  smma_put_flag(record, "in_order", t->in_order);
  smma_put_text(record, "out", smma_format_text(t->d_format));
  smma_put_text(record, "d", smma_hex_text(t->d_format, t->d, hex));
  smma_put_real(record, "value", smma_format_decode(t->d_format, t->d));
  smma_put_text(record, "exact", t->has_best ? smma_hex_text(t->d_format, t->best, hex) : NULL);
  put_facts(record, t);
  smma_put_count(record, "all_steps", t->events);
  smma_put_count(record, "every", every);
  smma_datum_put(record, "steps", steps);
  smma_put_alpha(record, of);
  return record;
}

static smma_datum *own_datum(const smma_trace_result *x, size_t own) {
  smma_datum *record = smma_datum_record(), *as = smma_datum_list(), *differ = smma_datum_list();
  char hex[24];
  for (size_t i = 0; i < x->request->targets; i++) {
    if (smma_same_element(x->d_format, x->own[own], x->trace[i].d)) smma_datum_append(as, smma_datum_text(x->name[i]));
    if (x->whole) smma_datum_append(differ, smma_datum_count((int64_t)x->own_differ[own][i]));
  }
  smma_put_text(record, "file", x->request->own[own].name);
  smma_put_text(record, "d", smma_hex_text(x->d_format, x->own[own], hex));
  smma_put_real(record, "value", smma_format_decode(x->d_format, x->own[own]));
  smma_datum_put(record, "as", as);
  smma_datum_put(record, "different", differ);
  return record;
}

static smma_datum *divergence_datum(const smma_trace_result *x) {
  static const char *const kinds[] = {
      [SMMA_TRACE_INSTRUCTION] = "instruction", [SMMA_TRACE_FOLD] = "fold", [SMMA_TRACE_EPILOGUE] = "epilogue"};
  const smma_explained_divergence *p = &x->divergence;
  smma_datum *record, *targets, *explanations;
  if (!p->found.diverges) return smma_datum_null();
  record = smma_datum_record(), targets = smma_datum_list(), explanations = smma_datum_list();
  for (int s = 0; s < 2; s++) {
    smma_datum_append(targets, smma_datum_text(x->name[p->target[s]]));
    for (size_t i = 0; i < p->steps[s]; i++)
      smma_datum_append(explanations, smma_explanation_datum(&p->step[s][i].explained));
  }
  smma_datum_put(record, "targets", targets);
  smma_put_text(record, "at", kinds[p->found.kind]);
  smma_put_count(record, "after", p->found.before);
  smma_put_count(record, "products", p->found.products);
  if (p->together) {
    const smma_explained both[2] = {p->step[0]->explained, p->step[1]->explained};
    smma_put_text(record, "first_difference", smma_find_difference(both).text);
  } else {
    smma_put_text(record, "first_difference", NULL);
  }
  smma_datum_put(record, "explanations", explanations);
  return record;
}

smma_datum *smma_trace_datum(const smma_trace_result *x, size_t every) {
  const smma_trace_request *r = x->request;
  smma_datum *record = smma_datum_record(), *element = smma_datum_list(), *targets = smma_datum_list(),
             *owns = smma_datum_list();
  for (int i = 0; i < 2; i++) smma_datum_append(element, smma_datum_count((int64_t)x->at[i]));
  for (size_t i = 0; i < r->targets; i++) smma_datum_append(targets, target_datum(x, i, every));
  for (size_t o = 0; o < r->owns; o++) smma_datum_append(owns, own_datum(x, o));
  smma_put_count(record, "m", r->m);
  smma_put_count(record, "n", r->n);
  smma_put_count(record, "k", r->k);
  smma_datum_put(record, "element", element);
  smma_put_text(record, "why", x->why);
  smma_datum_put(record, "targets", targets);
  smma_datum_put(record, "results", owns);
  smma_datum_put(record, "parting", divergence_datum(x));
  return record;
}
