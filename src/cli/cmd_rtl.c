/* softmma rtl: writes a rule as a SystemVerilog module. */
#include <stdlib.h>

#include "cli/output.h"
#include "cli/target.h"
#include "softmma/rtl.h"

int smma_command_rtl(int argc, const char **argv) {
  const char *on = NULL, *name = NULL, *path = "-";
  smma_choice choice = {.instr = NULL};
  const smma_instruction *i;
  smma_error error;
  size_t length = 0;
  char *text;
  int stages = 0, sva = 0, status;
  struct poptOption options[] = {
      SMMA_ON_OPTION(&on, "the target"),
      SMMA_CHOICE_OPTIONS(choice, ""),
      {"stages", 0, POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &stages, 0,
       "registers between the steps of the rule; with 0 the module is combinational", "N"},
      {"sva", 0, POPT_ARG_NONE, &sva, 0, "add a module NAME_check that compares a design with the reference", NULL},
      {"name", 0, POPT_ARG_STRING, &name, 0, "name of the module (default: the instruction's)", "NAME"},
      {"output", 'o', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &path, 0, "the file to write; - is standard output",
       "FILE"},
      POPT_TABLEEND};
  if (!smma_parse_options(argc, argv, options, 0, 0,
                          "Yosys, Verilator and Icarus Verilog read the module (docs/rtl.md).\n", &status))
    return status;
  smma_require((i = smma_choose_instruction(on, &choice, &error)) &&
                   (length = smma_rtl_text(i, name, stages, sva, NULL, 0, &error)),
               &error);
  text = malloc(length + 1);
  if (!text) smma_die("out of memory");
  smma_rtl_text(i, name, stages, sva, text, length + 1, &error);
  return smma_write_text(path, "-o", text);
}
