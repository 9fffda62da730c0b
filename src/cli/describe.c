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
  char value[32];
  for (int p = 0; smma_parameter(rule, p, &name, value, sizeof value); p++)
    json_object_set_new(object, name, parameter_value(value));
  return object;
}

json_t *smma_instruction_json(const smma_instruction *i) {
  char scale[32];
  json_t *aliases = json_array();
  smma_each_alias(i, append_alias, aliases);
  return json_pack("{s:s, s:s, s:o, s:i, s:i, s:i, s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "arch",
                   smma_architectures[i->arch].name, "name", i->name, "aliases", aliases, "m", i->m, "n", i->n, "k",
                   i->k, "a", smma_format_text(i->a), "b", smma_format_text(i->b), "c", smma_format_text(i->c), "d",
                   smma_format_text(i->d), "scale",
                   i->scale_block ? json_string(smma_scale_text(i, scale)) : json_null(), "model",
                   smma_model_name(&i->rule->rule), "parameters", parameters(&i->rule->rule), "evidence",
                   texts(i->rule->evidence), "questions", texts(i->rule->questions));
}
