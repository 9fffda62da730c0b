#include "cli/describe.h"

int smma_command_show(int argc, const char **argv) {
  const char *gpu = NULL, **names;
  const smma_instruction *found[SMMA_ARCH_COUNT];
  smma_error error;
  size_t count = 1;
  int json = 0;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &gpu, 0, "the GPU or architecture (default: every one that has NAME)", "GPU"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON: an object with --on, otherwise an array", NULL},
      POPT_TABLEEND};
  names = smma_parse_options(argc, argv, options, 1, 1,
                             "NAME: a canonical name as 'softmma list' prints it, or a PTX, SASS or AMD spelling.\n");
  if (gpu)
    found[0] = smma_require_instruction(gpu, names[0], NULL);
  else
    count = smma_resolve_everywhere(names[0], found, &error);
  if (count == 0) return smma_complain("%s (see 'softmma list')", error.text);
  if (json && gpu) {
    smma_print_datum(smma_instruction_datum(found[0]));
  } else if (json) {
    smma_datum *list = smma_datum_list();
    for (size_t i = 0; i < count; i++) smma_datum_append(list, smma_instruction_datum(found[i]));
    smma_print_datum(list);
  } else {
    for (size_t i = 0; i < count; i++) {
      if (i) putchar('\n');
      smma_print_instruction(found[i]);
    }
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}
