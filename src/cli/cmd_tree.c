/* softmma tree: finds and prints the order in which a unit adds its products. */
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/target.h"
#include "tree/text.h"
#include "tree/unit_order.h"

/* ---- Text ---- */

static void print_text(const smma_unit_order_request *r, const smma_unit_order *o) {
  const smma_instruction *i = r->instruction;
  char words[512];
  printf("%s %s on %s", smma_arch_name(i), i->name, r->unit->name);
  if (r->plan) printf(", plan %s, K = %zu", r->plan_name, r->k);
  printf("\n%s\n\n", smma_unit_order_words(r, o, words));
  if (r->plan) {
    smma_print_planned_lines(stdout, o->line, o->lines);
    printf("\neach call: %s\n", smma_tree_words(&o->tree, words));
    return;
  }
  smma_print_tree(stdout, &o->tree);
  printf("\nrows=%zu checks=%zu; K^2/2 is %d\n", o->tree.rows, o->tree.checks, i->k * i->k / 2);
}

/* ---- Files ---- */

typedef struct {
  const smma_unit_order_request *request;
  const smma_unit_order *order;
  char title[1200];
} drawing;

static bool write_graph(FILE *stream, const void *content, smma_error *error) {
  const drawing *d = content;
  char words[512];
  (void)error;
  if (d->request->plan)
    smma_write_planned_graph(stream, d->order->line, d->order->lines, d->title,
                             smma_unit_order_words(d->request, d->order, words));
  else
    smma_write_tree_graph(stream, &d->order->tree, d->title);
  return true;
}

static int write_svg(const char *path, const drawing *d) {
  smma_error error;
  return smma_draw_file(&smma_graphviz, write_graph, d, path, &error) ? SMMA_EXIT_EQUAL
                                                                      : smma_complain("--svg: %s", error.text);
}

static int write_files(const smma_unit_order_request *r, const smma_unit_order *o, const char *svg, const char *dot) {
  const smma_instruction *i = r->instruction;
  const bool model = r->unit->methods == &smma_unit_model;
  drawing d = {r, o, ""};
  int status = SMMA_EXIT_EQUAL, used;
  used = snprintf(d.title, sizeof d.title, "%s (%.200s%s%s)", i->name,
                  i->origin ? i->origin : smma_architectures[i->arch].title, model ? "" : ", computed by ",
                  model ? "" : r->unit->name);
  if (r->plan) snprintf(d.title + used, sizeof d.title - (size_t)used, ", plan %s, K = %zu", r->plan_name, r->k);
  if (dot) status = smma_write_output(dot, "--dot", write_graph, &d);
  if (svg && status == SMMA_EXIT_EQUAL) status = write_svg(svg, &d);
  return status;
}

static bool is_drawn_on_stdout(const char *svg, const char *dot) {
  return (svg && smma_is_standard_output(svg)) || (dot && smma_is_standard_output(dot));
}

/* Finds errors in the options of output files before the unit computes. */
static void check_files(const char *svg, const char *dot, bool json) {
  smma_error error;
  if (json && svg) smma_require(smma_check_file(svg, "--svg", "the JSON", &error), &error);
  if (json && dot) smma_require(smma_check_file(dot, "--dot", "the JSON", &error), &error);
  if (svg && dot && smma_is_standard_output(svg))
    smma_require(smma_check_file(dot, "--dot", "the picture of --svg", &error), &error);
  if (svg && !smma_program_is_there(&smma_graphviz, &error)) smma_die("--svg: %s", error.text);
  if (svg) smma_require(smma_check_writable(svg, "--svg", &error), &error);
  if (dot) smma_require(smma_check_writable(dot, "--dot", &error), &error);
}

static void require_planned(const char *text, const smma_instruction *i, long long k, smma_target_plan *plan) {
  smma_error error;
  smma_require(smma_target_plans(text, &i, 1, plan, &error), &error);
  if (!plan->plan) smma_die("--plan: none is one chain, which the tree without a plan is");
  if (k < 1 || k > SMMA_MOST_ORDER_K)
    smma_die("--k: the order of a plan is that of a K from 1 to %d; for example --k 4096", SMMA_MOST_ORDER_K);
  smma_require(smma_check_target_plan(plan, i, (size_t)k, &error), &error);
}

int smma_command_tree(int argc, const char **argv) {
  const char *unit_name = "model", *gpu = NULL, *svg = NULL, *dot = NULL, *plan = NULL;
  smma_choice choice = {.instr = NULL};
  const smma_instruction *i;
  smma_unit_order_request request;
  static smma_unit_order order;
  smma_target_plan product = {"", NULL};
  smma_unit unit;
  smma_error error;
  long long k = 0;
  int json = 0, status;
  struct poptOption options[] = {
      SMMA_ON_OPTION(&gpu, "the target"),
      SMMA_CHOICE_OPTIONS(choice, ""),
      {"unit", 'u', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &unit_name, 0,
       "the unit to examine: model, x86, cuda, hip, plugin:FILE, pipe:COMMAND", "UNIT"},
      {"plan", 0, POPT_ARG_STRING, &plan, 0,
       "examine a product of K as in --k, which the library around the instruction sums (docs/plans.md)", "FILE|NAME"},
      {"k", 'k', POPT_ARG_LONGLONG, &k, 0,
       "with --plan: the K of the product; without it, a multiple of the instruction's K", "K"},
      {"svg", 0, POPT_ARG_STRING, &svg, 0, "draw the tree into this file (needs Graphviz); - writes it instead of text",
       "FILE"},
      {"dot", 0, POPT_ARG_STRING, &dot, 0, "write the tree for Graphviz into this file; - writes it instead of text",
       "FILE"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print the tree as JSON", NULL},
      POPT_TABLEEND};
  if (!smma_parse_options(
          argc, argv, options, 0, 0,
          "The unit sums +M, -M and ones. M is so large that a one added to it is lost, so the number of ones\n"
          "in the result shows which terms are added late. Exit status 2: the results do not show the order.\n",
          &status))
    return status;
  if (!choice.instr) gpu = smma_target_of_unit(gpu, unit_name, &choice);
  i = smma_choose_instruction(gpu, &choice, &error);
  smma_require(i, &error);
  if (!smma_unit_open(unit_name, &unit, &error)) smma_die("--unit: %s", error.text);
  if (smma_unit_is_recording(&unit)) smma_die("--unit: %s knows only the rows that were recorded", unit_name);
  if (!smma_unit_computes(&unit, i, &error)) smma_die("--unit: %s", error.text);
  if (k && !plan && (k < 1 || k % i->k))
    smma_die("--k: %lld is not a multiple of the instruction's K, %d; a product of any K is that of a --plan", k, i->k);
  if (k > i->k && !plan)
    smma_note("the tree is that of one call, with K = %d; K = %lld takes %lld calls, each with the previous sum as c",
              i->k, k, k / i->k);
  if (plan) require_planned(plan, i, k, &product);
  check_files(svg, dot, json);
  request = (smma_unit_order_request){&unit, i, product.plan, product.text, (size_t)k};
  smma_require(smma_find_unit_order(&request, &order, &error), &error);
  status = write_files(&request, &order, svg, dot);
  if (status == SMMA_EXIT_EQUAL && json)
    smma_print_datum(smma_unit_order_datum(&request, &order));
  else if (status == SMMA_EXIT_EQUAL && !is_drawn_on_stdout(svg, dot))
    print_text(&request, &order);
  smma_unit_order_free(&order);
  smma_plan_free(product.plan);
  smma_unit_close(&unit);
  return smma_finish_output(status);
}
