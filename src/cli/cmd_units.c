#include "cli/cli.h"
#include "unit/unit.h"

/* What can be opened without arguments, and what the others take. */
static void print_unit(const smma_unit_kind *kind) {
  static const char *const form[] = {
      [SMMA_NO_ARGUMENTS] = "%s%s", [SMMA_OPTIONAL_ARGUMENTS] = "%s[:%s]", [SMMA_REQUIRED_ARGUMENTS] = "%s:%s"};
  smma_unit unit;
  smma_error error;
  char name[96];
  snprintf(name, sizeof name, form[kind->takes], kind->name, kind->arguments);
  printf("%-26s%s\n", name, kind->summary);
  if (kind->takes == SMMA_REQUIRED_ARGUMENTS) return;
  if (smma_unit_open(kind->name, &unit, &error)) {
    printf("%-26susable: %s%s%s\n", "", unit.description.device, *unit.description.driver ? ", " : "",
           unit.description.driver);
    smma_unit_close(&unit);
  } else {
    printf("%-26snot usable: %s\n", "", error.text);
  }
}

static json_t *unit_json(const smma_unit_kind *kind) {
  static const char *const takes[] = {
      [SMMA_NO_ARGUMENTS] = "none", [SMMA_OPTIONAL_ARGUMENTS] = "optional", [SMMA_REQUIRED_ARGUMENTS] = "required"};
  json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "unit", kind->name, "takes", takes[kind->takes], "arguments",
                             kind->arguments, "summary", kind->summary);
  smma_unit unit;
  smma_error error;
  if (kind->takes == SMMA_REQUIRED_ARGUMENTS) return object;
  if (smma_unit_open(kind->name, &unit, &error)) {
    json_object_set_new(object, "usable", json_true());
    json_object_set_new(object, "device", smma_json_text(unit.description.device));
    smma_unit_close(&unit);
  } else {
    json_object_set_new(object, "usable", json_false());
    json_object_set_new(object, "why", smma_json_text(error.text));
  }
  return object;
}

int smma_command_units(int argc, const char **argv) {
  json_t *array = json_array();
  int json = 0;
  struct poptOption options[] = {{"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL}, POPT_TABLEEND};
  smma_parse_options(argc, argv, options, 0, 0,
                     "A unit computes d = a_0 b_0 + ... + c for rows of operands. 'softmma campaign' compares units,\n"
                     "'softmma record' writes what one returns. docs/units.md says how to attach yours.\n");
  for (size_t i = 0; i < smma_unit_kind_count; i++) {
    if (json)
      json_array_append_new(array, unit_json(&smma_unit_kinds[i]));
    else
      print_unit(&smma_unit_kinds[i]);
  }
  if (json)
    smma_print_json(array);
  else
    json_decref(array);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}
