#include "cli/trace.h"
#include "cli/values.h"

static json_t *event_json(const smma_trace *t, const smma_trace_event *e) {
  static const char *const kinds[] = {"start", "instruction", "fold", "epilogue", "store"};
  const smma_format format = e->kind == SMMA_TRACE_STORE ? t->d_format : t->outer;
  char hex[24], text[1024];
  json_t *object;
  smma_event_text(t, e, text, sizeof text);
  object = json_pack("{s:s, s:s, s:I, s:s, s:o, s:o, s:o}", "kind", kinds[e->kind], "what", text, "products",
                     (json_int_t)e->products, "there", smma_hex_text(format, e->encoding, hex), "sum",
                     smma_json_value(e->value), "exact", smma_json_value(e->exact), "error", smma_json_value(e->error));
  if (e->kind != SMMA_TRACE_INSTRUCTION) return object;
  smma_k_text(t, e->index, text, sizeof text);
  json_object_set_new(object, "k", json_string(text));
  return object;
}

static json_t *target_json(const smma_traced *u, size_t every) {
  const smma_trace *t = &u->trace;
  char hex[24];
  json_t *steps = json_array(), *object;
  for (size_t e = 0; e < t->events; e++)
    if ((e + 1) % every == 0 || e + 1 == t->events) json_array_append_new(steps, event_json(t, &t->event[e]));
  object = json_pack("{s:o, s:o, s:o, s:s, s:s, s:o, s:I, s:I, s:b, s:s, s:s, s:o}", "name", smma_json_text(u->name),
                     "on", smma_json_text(u->label), "arch", smma_json_text(smma_arch_name(u->instruction)),
                     "instruction", u->instruction->name, "in", u->inputs, "plan",
                     u->plan->plan ? smma_json_text(u->plan->text) : json_null(), "instructions",
                     (json_int_t)t->schedule.steps, "folds", (json_int_t)t->folds, "in_order", t->in_order, "out",
                     smma_format_text(t->d_format), "d", smma_hex_text(t->d_format, t->d, hex), "value",
                     smma_json_value(smma_format_decode(t->d_format, t->d)));
  json_object_set_new(object, "exact",
                      t->has_best ? json_string(smma_hex_text(t->d_format, t->best, hex)) : json_null());
  json_object_set_new(object, "all_steps", json_integer((json_int_t)t->events));
  json_object_set_new(object, "every", json_integer((json_int_t)every));
  json_object_set_new(object, "steps", steps);
  return object;
}

static json_t *own_json(const smma_traced_element *x, const smma_own_result *own) {
  json_t *as = json_array(), *differ = json_array();
  char hex[24];
  for (size_t i = 0; i < x->units; i++) {
    if (smma_same_element(x->d_format, own->element, x->unit[i].trace.d))
      json_array_append_new(as, smma_json_text(x->unit[i].name));
    if (x->whole) json_array_append_new(differ, json_integer((json_int_t)own->differ[i]));
  }
  return json_pack("{s:o, s:s, s:o, s:o, s:o}", "file", smma_json_text(own->path), "d",
                   smma_hex_text(x->d_format, own->element, hex), "value",
                   smma_json_value(smma_format_decode(x->d_format, own->element)), "as", as, "different", differ);
}

void smma_trace_print_json(const smma_traced_element *x, size_t every) {
  json_t *targets = json_array(), *owns = json_array();
  for (size_t i = 0; i < x->units; i++) json_array_append_new(targets, target_json(&x->unit[i], every));
  for (size_t r = 0; r < x->owns; r++) json_array_append_new(owns, own_json(x, &x->own[r]));
  smma_print_json(json_pack("{s:I, s:I, s:I, s:[I, I], s:o, s:o, s:o, s:o}", "m", (json_int_t)x->m, "n",
                            (json_int_t)x->n, "k", (json_int_t)x->k, "element", (json_int_t)x->at[0],
                            (json_int_t)x->at[1], "why", smma_json_text(x->why), "targets", targets, "results", owns,
                            "parting", smma_trace_parting_json(x)));
}
