/* softmma units: lists the units that can compute on this machine. */
#include <string.h>

#include "cli/cli.h"
#include "facts/facts.h"

static void print_unit(const smma_datum *unit) {
  const char *name = smma_text_at(unit, "unit");
  const char *arguments = smma_text_at(unit, "arguments");
  const char *device = smma_text_at(unit, "device");
  const char *driver = smma_text_at(unit, "driver");
  const char *why = smma_text_at(unit, "why");
  const bool optional = strcmp(smma_text_at(unit, "takes"), "optional") == 0;
  char whole[96];
  snprintf(whole, sizeof whole, optional ? "%s[:%s]" : *arguments ? "%s:%s" : "%s", name, arguments);
  printf("%-26s%s\n", whole, smma_text_at(unit, "summary"));
  if (device) printf("%-26susable: %s%s%s\n", "", device, *driver ? ", " : "", driver);
  if (why) printf("%-26snot usable: %s\n", "", why);
}

int smma_command_units(int argc, const char **argv) {
  smma_datum *units;
  int json = 0, status;
  struct poptOption options[] = {{"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL}, POPT_TABLEEND};
  if (!smma_parse_options(
          argc, argv, options, 0, 0,
          "A unit computes d = a_0 b_0 + ... + c for test vectors of operands. 'softmma test' compares two\n"
          "units, and 'softmma vectors record' writes the results of one. docs/units.md: how to attach yours.\n",
          &status))
    return status;
  units = smma_units_datum();
  if (json) {
    smma_print_datum(units);
  } else {
    if (!smma_datum_is_complete(units)) smma_die("out of memory");
    for (size_t i = 0; i < smma_datum_size(units); i++) print_unit(smma_datum_at(units, i));
    smma_datum_free(units);
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}
