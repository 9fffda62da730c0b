/* softmma show: prints the model and the evidence of a GPU or an instruction. */
#include "cli/describe.h"
#include "cli/target.h"
#include "facts/gpu.h"

static smma_datum *instructions_datum(const smma_instruction *const *found, size_t count) {
  smma_datum *list = smma_datum_list();
  for (size_t i = 0; i < count; i++) smma_datum_append(list, smma_instruction_datum(found[i]));
  return list;
}

/* Shows the instructions of that name, in every architecture that has it. */
static int show_everywhere(const char *name, bool json) {
  const smma_instruction *found[SMMA_ARCH_COUNT];
  smma_error error;
  const size_t count = smma_resolve_everywhere(name, found, &error);
  if (count == 0 && smma_format_from_text(name) != SMMA_NO_FORMAT)
    return smma_complain("'%s' is a format; 'softmma list --formats %s' shows it", name, name);
  if (count == 0) return smma_complain("%s (see 'softmma list')", error.text);
  if (json) smma_print_datum(instructions_datum(found, count));
  for (size_t i = 0; !json && i < count; i++) {
    if (i) putchar('\n');
    smma_print_instruction(found[i]);
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

static int show_one(const smma_instruction *i, bool json) {
  if (json)
    smma_print_datum(smma_instruction_datum(i));
  else
    smma_print_instruction(i);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

static int show_gpu(const smma_target *target, bool json) {
  smma_datum *gpu = smma_gpu_datum(target->gpu);
  if (json) {
    smma_print_datum(gpu);
  } else {
    if (!smma_datum_is_complete(gpu)) smma_die("out of memory");
    smma_print_gpu(gpu, target->gpu);
    smma_datum_free(gpu);
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

int smma_command_show(int argc, const char **argv) {
  const char *on = NULL, **names;
  smma_choice choice = {.instr = NULL};
  const smma_instruction *chosen = NULL;
  smma_target target;
  smma_error error;
  int json = 0, status;
  struct poptOption options[] = {SMMA_ON_OPTION(&on, "the target (default: every GPU that has NAME)"),
                                 SMMA_CHOICE_OPTIONS(choice, ""),
                                 {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
                                 POPT_TABLEEND};
  names = smma_parse_options(argc, argv, options, 0, 1,
                             "NAME: a canonical name as 'softmma list' prints it, or a PTX, SASS or AMD spelling.\n"
                             "A GPU alone shows what its matrix unit computes, one line for each pair of formats.\n",
                             &status);
  if (!names) return status;
  if (*names && choice.instr) smma_die("--instr: '%s' already gives it; leave it out", *names);
  if (*names) choice.instr = *names;
  if (!on && !choice.instr) smma_die("a name is missing; for example softmma show H100, or show HMMA.16816.F32");
  if (!on) smma_require(smma_check_options("the name of an instruction", "instr json", &error), &error);
  if (!on) return show_everywhere(choice.instr, json);
  smma_require(smma_read_target(on, &target, &error) && smma_chosen(&target, &choice, &chosen, &error), &error);
  if (chosen) return show_one(chosen, json);
  return show_gpu(&target, json);
}
