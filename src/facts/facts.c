#include "facts/facts.h"

#include <stdlib.h>
#include <string.h>

#include "isa/find.h"
#include "isa/formats.h"
#include "isa/id.h"
#include "isa/key.h"
#include "question/question.h"
#include "selftest/self_test.h"
#include "softmma/version.h"
#include "unit/unit.h"

const char *smma_scale_text(const smma_instruction *i, char text[32]) {
  text[0] = 0;
  if (i->scale_block) snprintf(text, 32, "%s per %d", smma_format_text(i->scale), i->scale_block);
  return text;
}

static bool append_alias(const char *alias, void *list) {
  smma_datum_append(list, smma_datum_text(alias));
  return false;
}

static smma_datum *texts(const char *const *text) {
  smma_datum *list = smma_datum_list();
  for (; *text; text++) smma_datum_append(list, smma_datum_text(*text));
  return list;
}

/* Returns a parameter as a number if it is one, otherwise as text. */
static smma_datum *parameter(const char *text) {
  char *end;
  const long number = strtol(text, &end, 10);
  return *end ? smma_datum_text(text) : smma_datum_count(number);
}

static smma_datum *parameters(const smma_rule *rule) {
  smma_datum *record = smma_datum_record();
  const char *name;
  char value[SMMA_PARAMETER_SIZE];
  for (int p = 0; smma_parameter(rule, p, &name, value, sizeof value); p++)
    smma_datum_put(record, name, parameter(value));
  return record;
}

static void put_id(smma_datum *record, const smma_instruction *i) {
  char text[SMMA_ID_SIZE];
  smma_put_text(record, "id", smma_instruction_id(i, text));
}

static void put_rule_id(smma_datum *record, const char *key, const smma_instruction *i) {
  char text[SMMA_ID_SIZE];
  smma_put_text(record, key, smma_rule_id(i, text));
}

static void put_instruction(smma_datum *record, const smma_instruction *i) {
  smma_datum *aliases = smma_datum_list();
  char scale[32];
  smma_each_alias(i, append_alias, aliases);
  smma_put_text(record, "arch", smma_arch_name(i));
  smma_put_text(record, "name", i->name);
  smma_datum_put(record, "aliases", aliases);
  smma_put_count(record, "m", (uint64_t)i->m);
  smma_put_count(record, "n", (uint64_t)i->n);
  smma_put_count(record, "k", (uint64_t)i->k);
  smma_put_text(record, "a", smma_format_text(i->a));
  smma_put_text(record, "b", smma_format_text(i->b));
  smma_put_text(record, "c", smma_format_text(i->c));
  smma_put_text(record, "d", smma_format_text(i->d));
  smma_put_text(record, "scale", i->scale_block ? smma_scale_text(i, scale) : NULL);
}

static void put_rule(smma_datum *record, const smma_named_rule *rule) {
  smma_put_text(record, "model", smma_model_name(&rule->rule));
  smma_datum_put(record, "parameters", parameters(&rule->rule));
  smma_datum_put(record, "evidence", texts(rule->evidence));
  smma_datum_put(record, "questions", texts(rule->questions));
}

smma_datum *smma_instruction_datum(const smma_instruction *i) {
  smma_datum *record = smma_datum_record();
  put_instruction(record, i);
  put_rule(record, i->rule);
  smma_put_text(record, "basis", smma_basis_name(smma_instruction_basis(i)));
  put_id(record, i);
  put_rule_id(record, "rule", i);
  return record;
}

smma_datum *smma_instructions_datum(const char *gpu, const smma_format_filter *filter) {
  const smma_arch_id only = gpu ? smma_find_arch(gpu) : SMMA_ARCH_COUNT;
  const char *prefixes = smma_prefixes_of(gpu);
  smma_datum *list = smma_datum_list();
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) {
    const smma_instruction_table *table = smma_architectures[a].table;
    if (gpu ? a != (int)only : !smma_architectures[a].listed) continue;
    for (size_t i = 0; i < table->count; i++)
      if (smma_has_a_prefix(table->row[i].name, prefixes) && smma_passes_filter(&table->row[i], filter))
        smma_datum_append(list, smma_instruction_datum(&table->row[i]));
  }
  return list;
}

/* Reports whether an instruction of the GPU passes the filter. */
static bool has_instruction(const char *gpu, smma_arch_id arch, const smma_format_filter *filter) {
  const smma_instruction_table *table = smma_architectures[arch].table;
  const char *prefixes = smma_prefixes_of(gpu);
  for (size_t i = 0; i < table->count; i++)
    if (smma_passes_filter(&table->row[i], filter) && smma_has_a_prefix(table->row[i].name, prefixes)) return true;
  return false;
}

smma_datum *smma_gpus_datum(smma_arch_id only, const smma_format_filter *filter) {
  smma_datum *list = smma_datum_list();
  for (size_t g = 0; g < smma_gpu_count; g++) {
    smma_datum *gpu;
    if (only != SMMA_ARCH_COUNT && smma_gpus[g].arch != only) continue;
    if (!has_instruction(smma_gpus[g].name, smma_gpus[g].arch, filter)) continue;
    gpu = smma_datum_record();
    smma_put_text(gpu, "arch", smma_architectures[smma_gpus[g].arch].name);
    smma_put_text(gpu, "name", smma_gpus[g].name);
    smma_datum_append(list, gpu);
  }
  return list;
}

smma_datum *smma_formats_datum(void) {
  smma_datum *list = smma_datum_list();
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++)
    if (smma_is_operand_format(smma_format_at(row))) smma_datum_append(list, smma_format_datum(smma_format_at(row)));
  return list;
}

smma_datum *smma_questions_datum(void) {
  smma_datum *list = smma_datum_list();
  for (size_t n = 0; n < SMMA_QUESTION_COUNT; n++) {
    const smma_question *q = smma_questions[n];
    smma_datum *record = smma_datum_record(), *candidates = smma_datum_list();
    for (const smma_candidate *c = q->candidates; c->text; c++) smma_datum_append(candidates, smma_datum_text(c->text));
    smma_put_text(record, "name", q->name);
    smma_put_text(record, "question", q->text);
    smma_datum_put(record, "candidates", candidates);
    smma_datum_append(list, record);
  }
  return list;
}

static smma_datum *unit_datum(const smma_unit_kind *kind) {
  static const char *const takes[] = {
      [SMMA_NO_ARGUMENTS] = "none", [SMMA_OPTIONAL_ARGUMENTS] = "optional", [SMMA_REQUIRED_ARGUMENTS] = "required"};
  smma_datum *record = smma_datum_record();
  smma_unit unit;
  smma_error error;
  smma_put_text(record, "unit", kind->name);
  smma_put_text(record, "takes", takes[kind->takes]);
  smma_put_text(record, "arguments", kind->arguments);
  smma_put_text(record, "summary", kind->summary);
  if (kind->takes == SMMA_REQUIRED_ARGUMENTS) return record;
  if (smma_unit_open(kind->name, &unit, &error)) {
    smma_put_flag(record, "usable", true);
    smma_put_text(record, "device", unit.description.device);
    smma_put_text(record, "driver", unit.description.driver);
    smma_unit_close(&unit);
  } else {
    smma_put_flag(record, "usable", false);
    smma_put_text(record, "why", error.text);
  }
  return record;
}

smma_datum *smma_units_datum(void) {
  smma_datum *list = smma_datum_list();
  for (size_t i = 0; i < smma_unit_kind_count; i++) smma_datum_append(list, unit_datum(&smma_unit_kinds[i]));
  return list;
}

/* ---- All facts in one record ---- */

static smma_datum *architectures(void) {
  smma_datum *list = smma_datum_list();
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) {
    smma_datum *record = smma_datum_record(), *gpus = smma_datum_list();
    for (size_t g = 0; g < smma_gpu_count; g++)
      if ((int)smma_gpus[g].arch == a) smma_datum_append(gpus, smma_datum_text(smma_gpus[g].name));
    smma_put_text(record, "id", smma_architectures[a].name);
    smma_put_text(record, "title", smma_architectures[a].title);
    smma_put_text(record, "vendor", smma_architectures[a].vendor);
    smma_datum_put(record, "gpus", gpus);
    smma_datum_append(list, record);
  }
  return list;
}

/* Reports whether a record of the list has this text. */
static bool has(const smma_datum *list, const char *key, const char *text) {
  for (size_t i = 0; i < smma_datum_size(list); i++)
    if (strcmp(smma_datum_text_of(smma_datum_get(smma_datum_at(list, i), key)), text) == 0) return true;
  return false;
}

/* Appends the instruction, and its rule and the formats of A and B if these are not there yet. */
static void append_facts(smma_datum *formats, smma_datum *rules, smma_datum *instructions, const smma_instruction *i) {
  smma_datum *record = smma_datum_record();
  if (!has(formats, "name", smma_format_text(i->a))) smma_datum_append(formats, smma_format_datum(i->a));
  if (!has(formats, "name", smma_format_text(i->b))) smma_datum_append(formats, smma_format_datum(i->b));
  char id[SMMA_ID_SIZE];
  put_id(record, i);
  put_rule_id(record, "rule", i);
  put_instruction(record, i);
  smma_datum_append(instructions, record);
  if (has(rules, "id", smma_rule_id(i, id))) return;
  record = smma_datum_record();
  smma_put_text(record, "id", id);
  put_rule(record, i->rule);
  smma_datum_append(rules, record);
}

smma_datum *smma_facts_datum(void) {
  smma_datum *facts = smma_datum_record(), *rules = smma_datum_list(), *instructions = smma_datum_list();
  smma_datum *formats = smma_formats_datum();
  for (int a = 0; a < SMMA_ARCH_COUNT; a++)
    for (size_t i = 0; i < smma_architectures[a].table->count; i++)
      append_facts(formats, rules, instructions, &smma_architectures[a].table->row[i]);
  smma_put_count(facts, "softmma-facts", SMMA_FACTS_VERSION);
  smma_put_text(facts, "softmma", smma_version());
  smma_datum_put(facts, "architectures", architectures());
  smma_datum_put(facts, "formats", formats);
  smma_datum_put(facts, "rules", rules);
  smma_datum_put(facts, "instructions", instructions);
  smma_datum_put(facts, "experiments", smma_questions_datum());
  smma_datum_put(facts, "recordings", smma_recordings_datum());
  return facts;
}
