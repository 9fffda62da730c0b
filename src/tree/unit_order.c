#include "tree/unit_order.h"

#include <stdlib.h>
#include <string.h>

#include "host/count.h"
#include "isa/catalogue.h"
#include "isa/format_name.h"
#include "tree/text.h"

/* ---- Finding ---- */

static bool find_planned(const smma_unit_order_request *r, smma_unit_order *o, smma_error *error) {
  const smma_operation operation = smma_operation_of(r->instruction);
  smma_error why;
  if (r->k < 1 || r->k > SMMA_MOST_ORDER_K)
    return smma_fail(error, "k is %zu: the order of a plan is that of a K from 1 to %d", r->k, SMMA_MOST_ORDER_K);
  if (smma_schedule_make(r->plan, &operation, r->k, &o->schedule, &why) != SMMA_OK)
    return smma_fail_as(error, why.status, "%s: %s", r->plan_name, why.text);
  if (!smma_planned_tree_make(&o->schedule, r->plan->starts_from_c, &o->planned) ||
      !(o->line = smma_planned_lines(&o->planned, &o->lines)))
    return smma_no_memory(error);
  return true;
}

bool smma_find_unit_order(const smma_unit_order_request *r, smma_unit_order *o, smma_error *error) {
  smma_error why;
  memset(o, 0, sizeof *o);
  if (r->plan && !find_planned(r, o, error)) return false;
  switch (smma_find_tree(r->unit, r->instruction, &o->tree, &why)) {
    case SMMA_TREE_FOUND: return true;
    case SMMA_TREE_HIDDEN: return smma_fail(error, "cannot tell the order: %s", why.text);
    case SMMA_TREE_FAILED: break;
  }
  return smma_fail(error, "%s", why.text);
}

void smma_unit_order_free(smma_unit_order *o) {
  free(o->line);
  smma_planned_tree_free(&o->planned);
  smma_schedule_free(&o->schedule);
}

/* ---- Words ---- */

const char *smma_unit_order_words(const smma_unit_order_request *r, const smma_unit_order *o, char text[512]) {
  const size_t calls = o->schedule.steps, chains = o->planned.chains, additions = o->planned.additions;
  char epilogue[64] = "";
  if (!r->plan) return smma_tree_words(&o->tree, text);
  if (r->plan->epilogues)
    snprintf(epilogue, sizeof epilogue, "; then an epilogue, %zu operation%s", r->plan->epilogues,
             smma_plural(r->plan->epilogues));
  snprintf(text, 512, "%zu call%s in %zu chain%s, %zu addition%s%s; D in %s", calls, smma_plural(calls), chains,
           smma_plural(chains), additions, smma_plural(additions), epilogue,
           smma_format_text(smma_plan_d_format(r->plan, r->instruction)));
  return text;
}

/* ---- Data ---- */

static smma_datum *range_datum(size_t first, size_t last) {
  return smma_datum_list_of(2, smma_datum_count((int64_t)first), smma_datum_count((int64_t)last));
}

/* Returns a node as data: a summand as k, [first k, last k] or "c", and a sum as a record. */
static smma_datum *node_datum(const smma_tree *t, int node) {
  int child[SMMA_MOST_SUMMANDS];
  const int count = smma_tree_children(t, node, child), products = t->summands.products;
  const smma_sum_kind kind = smma_kind_of_sum(t, node);
  smma_datum *terms, *record;
  if (node == t->summands.count - 1) return smma_datum_text("c");
  if (smma_tree_is_leaf(t, node))
    return products == 1 ? smma_datum_count(node)
                         : range_datum((size_t)(node * products), (size_t)((node + 1) * products - 1));
  terms = smma_datum_list();
  for (int i = 0; i < count; i++) smma_datum_append(terms, node_datum(t, child[i]));
  record = smma_datum_record();
  smma_datum_put(record, "fused",
                 kind == SMMA_SUM_OF_BLOCKS ? smma_datum_null() : smma_datum_flag(kind == SMMA_FUSED_SUM));
  smma_put_flag(record, "exact", t->exact[node]);
  smma_put_flag(record, "cut_alike", !t->uneven[node]);
  smma_put_flag(record, "stages_hidden", t->hidden[node]);
  smma_datum_put(record, "terms", terms);
  return record;
}

/* Returns the k of a call's products as ranges [[first k, last k], ...]. */
static smma_datum *call_datum(const smma_schedule *s, size_t step) {
  const size_t *k = s->k + step * s->k_per_step;
  smma_datum *ranges = smma_datum_list();
  for (size_t i = 0, end; i < s->k_per_step; i = end) {
    for (end = i + 1; end < s->k_per_step && k[i] != SMMA_NO_PRODUCT && k[end] == k[end - 1] + 1;) end++;
    if (k[i] != SMMA_NO_PRODUCT) smma_datum_append(ranges, range_datum(k[i], k[end - 1]));
  }
  return ranges;
}

static smma_datum *format_datum(int format) {
  return smma_datum_text(format == SMMA_STORED_AS_IS ? NULL : smma_format_text((smma_format)format));
}

static void put_calls(smma_datum *record, const smma_unit_order *o, const smma_planned_node *chain) {
  smma_datum *calls = smma_datum_list();
  for (size_t i = 0; i < chain->steps; i++) smma_datum_append(calls, call_datum(&o->schedule, chain->step + i));
  smma_datum_put(record, "calls", calls);
}

static smma_datum *planned_node_datum(const smma_unit_order *o, size_t node) {
  static const char *const with[] = {"add", "fma", "multiply-fma", "multiply-b-fma"};
  const smma_planned_node *n = &o->planned.node[node];
  smma_datum *record, *terms;
  if (n->kind == SMMA_PLANNED_ZERO || n->kind == SMMA_PLANNED_C)
    return smma_datum_text(n->kind == SMMA_PLANNED_C ? "c" : "+0");
  record = smma_datum_record(), terms = smma_datum_list();
  for (size_t c = n->child; c != SMMA_NO_NODE; c = o->planned.node[c].next)
    smma_datum_append(terms, planned_node_datum(o, c));
  if (n->kind == SMMA_PLANNED_ROUNDED) smma_datum_put(record, "rounded", format_datum(n->stored));
  if (n->kind == SMMA_PLANNED_CHAIN) put_calls(record, o, n);
  if (n->kind == SMMA_PLANNED_SUM) {
    smma_put_text(record, "with", with[n->with]);
    smma_datum_put(record, "stored", format_datum(n->stored));
    smma_datum_put(record, "total", format_datum(n->total));
  }
  smma_datum_put(record, n->kind == SMMA_PLANNED_CHAIN ? "begins_with" : "terms", terms);
  return record;
}

static void put_planned(smma_datum *record, const smma_unit_order_request *r, const smma_unit_order *o,
                        const char *words) {
  smma_put_text(record, "plan", r->plan_name);
  smma_put_count(record, "k", r->k);
  smma_put_count(record, "calls", o->schedule.steps);
  smma_put_count(record, "chains", o->planned.chains);
  smma_put_count(record, "additions", o->planned.additions);
  smma_put_text(record, "d", smma_format_text(smma_plan_d_format(r->plan, r->instruction)));
  smma_put_text(record, "order_of_call", words);
  smma_datum_put(record, "call", node_datum(&o->tree, o->tree.root));
  smma_datum_put(record, "tree", planned_node_datum(o, o->planned.root));
}

smma_datum *smma_unit_order_datum(const smma_unit_order_request *r, const smma_unit_order *o) {
  const smma_tree *t = &o->tree;
  smma_datum *record = smma_datum_record();
  char words[512];
  smma_tree_words(t, words);
  smma_put_text(record, "arch", smma_arch_name(r->instruction));
  smma_put_text(record, "instruction", r->instruction->name);
  smma_put_text(record, "unit", r->unit->name);
  if (r->plan) {
    put_planned(record, r, o, words);
    return record;
  }
  smma_put_text(record, "device", r->unit->description.device);
  smma_put_count(record, "k", (uint64_t)r->instruction->k);
  smma_put_text(record, "order", words);
  smma_put_count(record, "rows", t->rows);
  smma_put_count(record, "checks", t->checks);
  smma_put_count(record, "bits", (uint64_t)(t->summands.huge - t->summands.one));
  smma_datum_put(record, "tree", node_datum(t, t->root));
  return record;
}
