/* softmma custom: checks the file of a custom unit, or writes one from a modelled instruction. */
#include "cli/describe.h"
#include "cli/output.h"
#include "cli/target.h"
#include "explain/unit_words.h"
#include "io/custom_file.h"
#include "isa/compose.h"
#include "isa/custom.h"

static void print_words(const smma_instruction *i) {
  const smma_rule *rule = &i->rule->rule;
  const smma_instruction *twin = smma_catalogue_twin(i);
  if (twin) printf("%-14s%s %s\n", "the same as", smma_arch_name(twin), twin->name);
  if (rule->algorithm == SMMA_COMPOSITION) smma_print_composition(stdout, i);
}

static int check_file(const char *path, bool json) {
  smma_error error;
  const smma_instruction *i = smma_custom_load(path, &error);
  if (!i) return smma_complain("%s", error.text);
  if (json) {
    smma_print_datum(smma_instruction_datum(i));
  } else {
    smma_print_instruction(i);
    print_words(i);
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* Writes the instruction as a composition of steps. */
static int write_steps(const smma_instruction *i, const char *path) {
  const smma_operation o = smma_operation_of(i);
  smma_custom custom = smma_custom_of(i);
  custom.instruction.rule = &custom.named;
  custom.named.rule.algorithm = SMMA_COMPOSITION;
  if (!smma_compose(&o, &custom.named.rule.with.composition))
    smma_die("--steps: %s cannot be written in steps", i->name);
  return smma_write_unit(path, "-o", &custom.instruction);
}

int smma_command_custom(int argc, const char **argv) {
  const char *gpu = NULL, *output = "-", **paths;
  smma_choice choice = {.instr = NULL};
  const smma_instruction *i;
  smma_error error;
  int json = 0, steps = 0, needless = 0, status;
  struct poptOption options[] = {
      {"from", 0, POPT_ARG_STRING, &gpu, 0, "write the description of this target's instruction", "TARGET"},
      {"on", 0, POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, &gpu, 0, NULL, NULL},
      SMMA_CHOICE_OPTIONS(choice, ""),
      {"steps", 0, POPT_ARG_NONE, &steps, 0, "with --from: write it as a composition of steps", NULL},
      {"output", 'o', POPT_ARG_STRING, &output, 0,
       "with --from: the file to write (default: standard output); - is standard output", "FILE"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON what a file describes", NULL},
      {"check", 0, POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, &needless, 0, "what custom FILE does anyway", NULL},
      {"validate", 0, POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, &needless, 0, "what custom FILE does anyway", NULL},
      {"init", 0, POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, &needless, 0, "what custom TARGET does anyway", NULL},
      {"new", 0, POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, &needless, 0, "what custom TARGET does anyway", NULL},
      POPT_TABLEEND};
  paths = smma_parse_options(
      argc, argv, options, 0, 1,
      "FILE: a custom unit as JSON. Other commands accept the file as --on FILE, and as unit custom:FILE.\n"
      "TARGET: as with --from, its instruction is written as such a file.\n",
      &status);
  if (!paths) return status;
  if (!gpu) smma_require(smma_check_options("a file that is read", "json check validate", &error), &error);
  if (gpu && json) smma_die("--json: a description is JSON anyway; leave it out");
  if (gpu && *paths) smma_die("unexpected argument '%s': with --from a description is written, not read", *paths);
  if (gpu) {
    i = smma_choose_instruction(gpu, &choice, &error);
    smma_require(i, &error);
    return steps ? write_steps(i, output) : smma_write_unit(output, "-o", i);
  }
  if (!*paths) smma_die("a file or a target is missing: softmma custom FILE, or softmma custom TARGET");
  return check_file(*paths, json);
}
