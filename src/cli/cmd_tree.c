#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/program.h"
#include "tree/find.h"
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
  return json_pack("{s:o, s:b, s:o}", "fused", fused_json(t, node), "exact", t->exact[node], "terms", terms);
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

static int write_dot(const char *path, const smma_tree *t, const char *title) {
  smma_output output;
  smma_begin_output(path, "--dot", &output);
  smma_write_tree_graph(output.stream, t, title);
  return smma_end_output(&output, "--dot");
}

static int write_svg(const char *path, const smma_tree *t, const char *title) {
  FILE *graph = tmpfile();
  smma_error error;
  bool drawn;
  if (!graph) return smma_complain("--svg: cannot make a temporary file: %s", strerror(errno));
  smma_write_tree_graph(graph, t, title);
  drawn = smma_draw_file(&smma_graphviz, graph, path, &error);
  fclose(graph);
  return drawn ? SMMA_EXIT_EQUAL : smma_complain("--svg: %s", error.text);
}

static int write_files(const smma_unit *u, const smma_instruction *i, const smma_tree *t, const char *svg,
                       const char *dot) {
  const bool model = u->methods == &smma_unit_model;
  char title[600];
  int status = SMMA_EXIT_EQUAL;
  snprintf(title, sizeof title, "%s (%s%s%s)", i->name, i->origin ? i->origin : smma_architectures[i->arch].title,
           model ? "" : ", computed by ", model ? "" : u->name);
  if (dot) status = write_dot(dot, t, title);
  if (svg && status == SMMA_EXIT_EQUAL) status = write_svg(svg, t, title);
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
  const char *unit_name = "model", *gpu = NULL, *name = NULL, *svg = NULL, *dot = NULL;
  const smma_instruction *i;
  smma_unit unit;
  smma_tree tree;
  smma_error error;
  int json = 0, status;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &gpu, 0, "the GPU or architecture", "GPU"},
      {"instr", 0, POPT_ARG_STRING, &name, 0, "the instruction, by name or alias", "NAME"},
      {"unit", 'u', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &unit_name, 0,
       "what computes: model, x86, cuda, hip, plugin:FILE, pipe:COMMAND", "UNIT"},
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
  check_files(svg, dot, json);
  status = smma_find_tree(&unit, i, &tree, &error);
  if (status != SMMA_TREE_FOUND)
    smma_die("%s%s", status == SMMA_TREE_HIDDEN ? "cannot tell the order: " : "", error.text);
  status = write_files(&unit, i, &tree, svg, dot);
  if (status == SMMA_EXIT_EQUAL && json)
    smma_print_json(tree_json(&unit, i, &tree));
  else if (status == SMMA_EXIT_EQUAL && !is_drawn_on_stdout(svg, dot))
    print_text(&unit, i, &tree);
  smma_unit_close(&unit);
  return smma_finish_output(status);
}
