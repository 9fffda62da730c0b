#include "cli/describe.h"

#include <stdlib.h>

const char *smma_scale_text(const smma_instruction *i, char text[32]) {
  text[0] = 0;
  if (i->scale_block) snprintf(text, 32, "%s per %d", smma_format_text(i->scale), i->scale_block);
  return text;
}

static bool append_alias(const char *alias, void *context) {
  json_array_append_new(context, json_string(alias));
  return false;
}

static json_t *texts(const char *const *text) {
  json_t *array = json_array();
  for (; *text; text++) json_array_append_new(array, json_string(*text));
  return array;
}

/* A number where the parameter is one. */
static json_t *parameter_value(const char *text) {
  char *end;
  long number = strtol(text, &end, 10);
  return *end ? json_string(text) : json_integer(number);
}

static json_t *parameters(const smma_rule *rule) {
  json_t *object = json_object();
  const char *name;
  char value[SMMA_PARAMETER_SIZE];
  for (int p = 0; smma_parameter(rule, p, &name, value, sizeof value); p++)
    json_object_set_new(object, name, parameter_value(value));
  return object;
}

json_t *smma_instruction_json(const smma_instruction *i) {
  char scale[32];
  json_t *aliases = json_array();
  smma_each_alias(i, append_alias, aliases);
  return json_pack("{s:o, s:s, s:o, s:i, s:i, s:i, s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "arch",
                   smma_json_text(smma_arch_name(i)), "name", i->name, "aliases", aliases, "m", i->m, "n", i->n, "k",
                   i->k, "a", smma_format_text(i->a), "b", smma_format_text(i->b), "c", smma_format_text(i->c), "d",
                   smma_format_text(i->d), "scale",
                   i->scale_block ? json_string(smma_scale_text(i, scale)) : json_null(), "model",
                   smma_model_name(&i->rule->rule), "parameters", parameters(&i->rule->rule), "evidence",
                   texts(i->rule->evidence), "questions", texts(i->rule->questions));
}

static bool print_alias(const char *alias, void *context) {
  printf("%-14s%s\n", *(bool *)context ? "" : "also", alias);
  *(bool *)context = true;
  return false;
}

static void print_texts(const char *label, const char *const *text) {
  for (bool first = true; *text; text++, first = false) printf("%-14s%s\n", first ? label : "", *text);
}

static void print_architecture(const smma_architecture *arch) {
  printf("%-14s%s (%s %s)\n", "architecture", arch->name, arch->vendor, arch->title);
}

void smma_print_instruction(const smma_instruction *i) {
  char scale[32], parameters[SMMA_MAXIMUM_STEPS * SMMA_PARAMETER_SIZE];
  bool any_alias = false;
  smma_instruction_parameters(i, parameters, sizeof parameters);
  printf("%-14s%s\n", "instruction", i->name);
  if (i->origin)
    printf("%-14s%s (custom)\n", "file", i->origin);
  else
    print_architecture(&smma_architectures[i->arch]);
  printf("%-14s%d x %d x %d (M x N x K)\n", "shape", i->m, i->n, i->k);
  printf("%-14sa %s, b %s, c %s, d %s%s%s\n", "formats", smma_format_text(i->a), smma_format_text(i->b),
         smma_format_text(i->c), smma_format_text(i->d), i->scale_block ? ", scales " : "", smma_scale_text(i, scale));
  if (i->sparse) printf("%-14s%d of %d elements of A; k counts these\n", "sparse", i->sparse / 2, i->sparse);
  printf("%-14s%s%s%s\n", "model", smma_model_name(&i->rule->rule), *parameters ? ": " : "", parameters);
  printf("%-14s%s\n", "rule", i->rule->name);
  print_texts("evidence", i->rule->evidence);
  print_texts("open", i->rule->questions);
  smma_each_alias(i, print_alias, &any_alias);
}
