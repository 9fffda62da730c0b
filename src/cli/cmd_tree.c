#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/plans.h"
#include "cli/program.h"
#include "tree/find.h"
#include "tree/planned.h"
#include "tree/text.h"

/* Whether a sum is fused; null where that is not told. */
static json_t *fused_json(const smma_tree *t, int node) {
  const smma_sum_kind kind = smma_kind_of_sum(t, node);
  return kind == SMMA_SUM_OF_BLOCKS ? json_null() : json_boolean(kind == SMMA_FUSED_SUM);
}

/* A summand as k, [first k, last k] or "c"; a sum as an object. */
static json_t *node_json(const smma_tree *t, int node) {
  int child[SMMA_MOST_SUMMANDS];
  const int count = smma_tree_children(t, node, child), products = t->summands.products;
  json_t *terms;
  if (node == t->summands.count - 1) return json_string("c");
  if (smma_tree_is_leaf(t, node))
    return products == 1 ? json_integer(node) : json_pack("[i, i]", node * products, (node + 1) * products - 1);
  terms = json_array();
  for (int i = 0; i < count; i++) json_array_append_new(terms, node_json(t, child[i]));
  return json_pack("{s:o, s:b, s:b, s:b, s:o}", "fused", fused_json(t, node), "exact", t->exact[node], "cut_alike",
                   !t->uneven[node], "stages_hidden", t->hidden[node], "terms", terms);
}

static json_t *tree_json(const smma_unit *u, const smma_instruction *i, const smma_tree *t) {
  char words[512];
  return json_pack("{s:s, s:s, s:s, s:o, s:i, s:s, s:i, s:i, s:i, s:o}", "arch", smma_arch_name(i), "instruction",
                   i->name, "unit", u->name, "device", smma_json_text(u->description.device), "k", i->k, "order",
                   smma_tree_words(t, words), "rows", (int)t->rows, "checks", (int)t->checks, "bits",
                   t->summands.huge - t->summands.one, "tree", node_json(t, t->root));
}

static void print_text(const smma_unit *u, const smma_instruction *i, const smma_tree *t) {
  char words[512];
  printf("%s %s on %s\n%s\n\n", smma_arch_name(i), i->name, u->name, smma_tree_words(t, words));
  smma_print_tree(stdout, t);
  printf("\nrows=%zu checks=%zu; K^2/2 is %d\n", t->rows, t->checks, i->k * i->k / 2);
}

/* ---- With a plan ---- */

enum { MOST_K = 1 << 20 };

/* A product with a plan: its calls, each of which sums in the order of `call`. */
typedef struct {
  smma_target_plan plan;
  size_t k;
  smma_schedule schedule;
  smma_planned_tree tree;
  smma_planned_line *line;
  size_t lines;
} planned;

static planned require_planned(const char *text, const smma_instruction *i, long long k) {
  const smma_operation o = smma_operation_of(i);
  smma_error error;
  planned p;
  memset(&p, 0, sizeof p);
  smma_require_plans(text, &i, 1, &p.plan);
  if (!p.plan.plan) smma_die("--plan: none is one chain, which the tree without a plan is");
  if (k < 1 || k > MOST_K)
    smma_die("--k: the order of a plan is that of a K from 1 to %d; for example --k 4096", MOST_K);
  p.k = (size_t)k;
  if (smma_schedule_make(p.plan.plan, &o, p.k, &p.schedule, &error) != SMMA_OK)
    smma_die("--plan: %s: %s", text, error.text);
  if (!smma_planned_tree_make(&p.schedule, p.plan.plan->starts_from_c, &p.tree)) smma_die("out of memory");
  p.line = smma_planned_lines(&p.tree, &p.lines);
  if (!p.line) smma_die("out of memory");
  return p;
}

static void free_planned(planned *p) {
  free(p->line);
  smma_planned_tree_free(&p->tree);
  smma_schedule_free(&p->schedule);
  smma_plan_free(p->plan.plan);
}

/* "512 calls in 64 chains, 63 additions; then an epilogue of 2 operations; D in bf16" */
static const char *planned_words(const planned *p, const smma_instruction *i, char text[200]) {
  const size_t calls = p->schedule.steps, chains = p->tree.chains, operations = p->plan.plan->epilogues;
  char epilogue[64] = "";
  if (operations)
    snprintf(epilogue, sizeof epilogue, "; then an epilogue, %zu operation%s", operations, operations == 1 ? "" : "s");
  snprintf(text, 200, "%zu call%s in %zu chain%s, %zu addition%s%s; D in %s", calls, calls == 1 ? "" : "s", chains,
           chains == 1 ? "" : "s", p->tree.additions, p->tree.additions == 1 ? "" : "s", epilogue,
           smma_format_text(smma_plan_d_format(p->plan.plan, i)));
  return text;
}

static void print_planned(const smma_unit *u, const smma_instruction *i, const smma_tree *t, const planned *p) {
  char words[512];
  printf("%s %s on %s, plan %s, K = %zu\n%s\n\n", smma_arch_name(i), i->name, u->name, p->plan.text, p->k,
         planned_words(p, i, words));
  smma_print_planned_lines(stdout, p->line, p->lines);
  printf("\neach call: %s\n", smma_tree_words(t, words));
}

/* [[first k, last k], ...] of a call. */
static json_t *call_json(const smma_schedule *s, size_t step) {
  const size_t *k = s->k + step * s->k_per_step;
  json_t *ranges = json_array();
  for (size_t i = 0, end; i < s->k_per_step; i = end) {
    for (end = i + 1; end < s->k_per_step && k[i] != SMMA_NO_PRODUCT && k[end] == k[end - 1] + 1;) end++;
    if (k[i] == SMMA_NO_PRODUCT) continue;
    json_array_append_new(ranges, json_pack("[I, I]", (json_int_t)k[i], (json_int_t)k[end - 1]));
  }
  return ranges;
}

static json_t *format_json(int format) {
  return format == SMMA_STORED_AS_IS ? json_null() : json_string(smma_format_text((smma_format)format));
}

static json_t *planned_node_json(const planned *p, size_t node) {
  static const char *const with[] = {"add", "fma", "multiply-fma"};
  const smma_planned_node *n = &p->tree.node[node];
  json_t *terms = json_array(), *calls;
  for (size_t c = n->child; c != SMMA_NO_NODE; c = p->tree.node[c].next)
    json_array_append_new(terms, planned_node_json(p, c));
  switch (n->kind) {
    case SMMA_PLANNED_ZERO:
    case SMMA_PLANNED_C: json_decref(terms); return json_string(n->kind == SMMA_PLANNED_C ? "c" : "+0");
    case SMMA_PLANNED_ROUNDED: return json_pack("{s:o, s:o}", "rounded", format_json(n->stored), "terms", terms);
    case SMMA_PLANNED_SUM:
      return json_pack("{s:s, s:o, s:o, s:o}", "with", with[n->with], "stored", format_json(n->stored), "total",
                       format_json(n->total), "terms", terms);
    case SMMA_PLANNED_CHAIN: break;
  }
  calls = json_array();
  for (size_t i = 0; i < n->steps; i++) json_array_append_new(calls, call_json(&p->schedule, n->step + i));
  return json_pack("{s:o, s:o}", "calls", calls, "begins_with", terms);
}

static json_t *planned_json(const smma_unit *u, const smma_instruction *i, const smma_tree *t, const planned *p) {
  char words[512];
  return json_pack("{s:s, s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:s, s:s, s:o, s:o}", "arch", smma_arch_name(i),
                   "instruction", i->name, "unit", u->name, "plan", smma_json_text(p->plan.text), "k", (json_int_t)p->k,
                   "calls", (json_int_t)p->schedule.steps, "chains", (json_int_t)p->tree.chains, "additions",
                   (json_int_t)p->tree.additions, "d", smma_format_text(smma_plan_d_format(p->plan.plan, i)),
                   "order_of_call", smma_tree_words(t, words), "call", node_json(t, t->root), "tree",
                   planned_node_json(p, p->tree.root));
}

/* ---- Files ---- */

/* What is drawn: the tree of an instruction, or (not NULL) of a product with a plan. */
typedef struct {
  const smma_instruction *instruction;
  const smma_tree *tree;
  const planned *planned;
  char title[1200];
} drawing;

static void write_graph(FILE *stream, const drawing *d) {
  char words[200];
  if (d->planned)
    smma_write_planned_graph(stream, d->planned->line, d->planned->lines, d->title,
                             planned_words(d->planned, d->instruction, words));
  else
    smma_write_tree_graph(stream, d->tree, d->title);
}

static int write_dot(const char *path, const drawing *d) {
  smma_output output;
  smma_begin_output(path, "--dot", &output);
  write_graph(output.stream, d);
  return smma_end_output(&output, "--dot");
}

static int write_svg(const char *path, const drawing *d) {
  FILE *graph = tmpfile();
  smma_error error;
  bool drawn;
  if (!graph) return smma_complain("--svg: cannot make a temporary file: %s", strerror(errno));
  write_graph(graph, d);
  drawn = smma_draw_file(&smma_graphviz, graph, path, &error);
  fclose(graph);
  return drawn ? SMMA_EXIT_EQUAL : smma_complain("--svg: %s", error.text);
}

static int write_files(const smma_unit *u, drawing *d, const char *svg, const char *dot) {
  const smma_instruction *i = d->instruction;
  const bool model = u->methods == &smma_unit_model;
  int status = SMMA_EXIT_EQUAL, used;
  used = snprintf(d->title, sizeof d->title, "%s (%.200s%s%s)", i->name,
                  i->origin ? i->origin : smma_architectures[i->arch].title, model ? "" : ", computed by ",
                  model ? "" : u->name);
  if (d->planned)
    snprintf(d->title + used, sizeof d->title - (size_t)used, ", plan %s, K = %zu", d->planned->plan.text,
             d->planned->k);
  if (dot) status = write_dot(dot, d);
  if (svg && status == SMMA_EXIT_EQUAL) status = write_svg(svg, d);
  return status;
}

static bool is_drawn_on_stdout(const char *svg, const char *dot) {
  return (svg && smma_is_standard_output(svg)) || (dot && smma_is_standard_output(dot));
}

/* What would be known only after the unit was asked. */
static void check_files(const char *svg, const char *dot, bool json) {
  smma_error error;
  if (json && svg) smma_require_file(svg, "--svg", "the JSON");
  if (json && dot) smma_require_file(dot, "--dot", "the JSON");
  if (svg && dot && smma_is_standard_output(svg)) smma_require_file(dot, "--dot", "the picture of --svg");
  if (svg && !smma_program_is_there(&smma_graphviz, &error)) smma_die("--svg: %s", error.text);
  if (svg) smma_require_writable(svg, "--svg");
  if (dot) smma_require_writable(dot, "--dot");
}

int smma_command_tree(int argc, const char **argv) {
  const char *unit_name = "model", *gpu = NULL, *name = NULL, *svg = NULL, *dot = NULL, *plan = NULL;
  const smma_instruction *i;
  smma_unit unit;
  smma_tree tree;
  smma_error error;
  long long k = 0;
  planned product;
  drawing d;
  int json = 0, status;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &gpu, 0, "the GPU or architecture", "GPU"},
      {"instr", 0, POPT_ARG_STRING, &name, 0, "the instruction, by name or alias", "NAME"},
      {"unit", 'u', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &unit_name, 0,
       "what computes: model, x86, cuda, hip, plugin:FILE, pipe:COMMAND", "UNIT"},
      {"plan", 0, POPT_ARG_STRING, &plan, 0,
       "of a product of --k: how the library around the instruction sums (docs/plans.md)", "FILE|NAME"},
      {"k", 'k', POPT_ARG_LONGLONG, &k, 0, "with --plan: the K of the product", "K"},
      {"svg", 0, POPT_ARG_STRING, &svg, 0, "draw the tree into this file (needs Graphviz); -: instead of text", "FILE"},
      {"dot", 0, POPT_ARG_STRING, &dot, 0, "write the tree for Graphviz into this file; -: instead of text", "FILE"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print the tree as JSON", NULL},
      POPT_TABLEEND};
  smma_parse_options(argc, argv, options, 0, 0,
                     "The unit is asked for sums of +M, -M and ones, M so large that ones vanish beside it; how many\n"
                     "ones are left tells which summands are added late. Exit status 2: the results do not tell.\n"
                     "Example: softmma tree --on H100 --instr mma.m16n8k16.f32.f16.f16.f32 --svg tree.svg\n");
  gpu = smma_require_option(gpu, "--on", "H100");
  i = smma_require_instruction(gpu, name, "--instr");
  if (!smma_unit_open(unit_name, &unit, &error)) smma_die("--unit: %s", error.text);
  if (smma_unit_is_recording(&unit)) smma_die("--unit: %s knows only the rows that were recorded", unit_name);
  if (!smma_unit_computes(&unit, i, &error)) smma_die("--unit: %s", error.text);
  if (k && !plan) smma_die("--k: it is for a plan's product; give --plan, too");
  if (plan) product = require_planned(plan, i, k);
  check_files(svg, dot, json);
  status = smma_find_tree(&unit, i, &tree, &error);
  if (status != SMMA_TREE_FOUND)
    smma_die("%s%s", status == SMMA_TREE_HIDDEN ? "cannot tell the order: " : "", error.text);
  d = (drawing){.instruction = i, .tree = &tree, .planned = plan ? &product : NULL};
  status = write_files(&unit, &d, svg, dot);
  if (status == SMMA_EXIT_EQUAL && json)
    smma_print_json(plan ? planned_json(&unit, i, &tree, &product) : tree_json(&unit, i, &tree));
  else if (status == SMMA_EXIT_EQUAL && !is_drawn_on_stdout(svg, dot) && plan)
    print_planned(&unit, i, &tree, &product);
  else if (status == SMMA_EXIT_EQUAL && !is_drawn_on_stdout(svg, dot))
    print_text(&unit, i, &tree);
  if (plan) free_planned(&product);
  smma_unit_close(&unit);
  return smma_finish_output(status);
}
