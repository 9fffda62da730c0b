#include "facts/facts.h"

#include <stdlib.h>

#include "isa/formats.h"
#include "isa/key.h"
#include "question/question.h"
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

smma_datum *smma_instruction_datum(const smma_instruction *i) {
  smma_datum *record = smma_datum_record(), *aliases = smma_datum_list();
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
  smma_put_text(record, "model", smma_model_name(&i->rule->rule));
  smma_datum_put(record, "parameters", parameters(&i->rule->rule));
  smma_datum_put(record, "evidence", texts(i->rule->evidence));
  smma_datum_put(record, "questions", texts(i->rule->questions));
  smma_put_text(record, "basis", smma_basis_name(smma_instruction_basis(i)));
  return record;
}

smma_datum *smma_instructions_datum(smma_arch_id only) {
  smma_datum *list = smma_datum_list();
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) {
    const smma_instruction_table *table = smma_architectures[a].table;
    if (only == SMMA_ARCH_COUNT ? !smma_architectures[a].listed : a != (int)only) continue;
    for (size_t i = 0; i < table->count; i++) smma_datum_append(list, smma_instruction_datum(&table->row[i]));
  }
  return list;
}

smma_datum *smma_gpus_datum(smma_arch_id only) {
  smma_datum *list = smma_datum_list();
  for (size_t g = 0; g < smma_gpu_count; g++) {
    smma_datum *gpu;
    if (only != SMMA_ARCH_COUNT && smma_gpus[g].arch != only) continue;
    gpu = smma_datum_record();
    smma_put_text(gpu, "arch", smma_architectures[smma_gpus[g].arch].name);
    smma_put_text(gpu, "name", smma_gpus[g].name);
    smma_datum_append(list, gpu);
  }
  return list;
}

smma_datum *smma_format_datum(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const bool integer = f.specials == SMMA_SPECIALS_INTEGER;
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "name", smma_format_text(format));
  smma_put_count(record, "bits", (uint64_t)f.bits);
  smma_datum_put(record, "exponent_bits", integer ? smma_datum_null() : smma_datum_count(f.exponent_bits));
  smma_datum_put(record, "fraction_bits", integer ? smma_datum_null() : smma_datum_count(f.fraction_bits));
  smma_datum_put(record, "bias", integer ? smma_datum_null() : smma_datum_count(f.bias));
  return record;
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
